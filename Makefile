# Two commands a newcomer needs: `make demo` and `make test`. Everything happens in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUERY ?= how are results fused and ranked

.PHONY: demo test test-servers soak lint types tables build clean

demo: $(VENV)/installed  ## index this repository and search it
	$(BIN)/graphrag-mcp index
	$(BIN)/graphrag-mcp search "$(QUERY)" --limit 3

test: $(VENV)/installed-dev  ## run the tests
	$(BIN)/pytest

test-servers: $(VENV)/installed-dev  ## run the tests that need servers, against a Neo4j from Maven Central
	$(BIN)/pytest -m server

soak: $(VENV)/installed-dev  ## run the reliability tests at full length: more than an hour
	$(BIN)/pytest tests/reliability --soak -s

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/installed-dev
	$(BIN)/mypy

tables: $(VENV)/installed-dev  ## write the README's tables of settings and arguments anew
	$(BIN)/python -m tests.readme_tables

build: $(VENV)/installed-dev  ## build the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .

clean:
	rm -rf $(VENV) dist tests/servers/target .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Stamps, so that a step that failed half-way is done again.
$(VENV)/created:
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or later is needed: make demo PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/installed: $(VENV)/created pyproject.toml
	@echo "installing into $(VENV); this takes a minute"
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --group dev --editable '.[servers]'
	touch $@
