# Two commands a newcomer needs: `make demo` and `make test`. Everything happens in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUERY ?= how are results fused and ranked

.PHONY: demo test lint types build figures clean

demo: $(VENV)/installed  ## index this repository and search it
	$(BIN)/graphrag-mcp index
	$(BIN)/graphrag-mcp search "$(QUERY)" --limit 3

test: $(VENV)/installed-dev  ## run the tests
	$(BIN)/pytest

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/installed-dev
	$(BIN)/mypy

build: $(VENV)/installed-dev  ## build the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --group dev
	touch $@
