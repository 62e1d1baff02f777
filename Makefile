# Two commands a newcomer needs: `make demo` and `make test`. Everything happens in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUERY ?= how is a file written atomically
DIST ?= dist
CLIENTS := tests/clients
NPM_PACKAGES := $(CLIENTS)/node_modules/.package-lock.json
REGISTRY_VALIDATOR := $(CLIENTS)/target/validate-server-json
REGISTRY := github.com/modelcontextprotocol/registry@v1.8.7

IN_PARALLEL = $(BIN)/pytest -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist loadfile --no-loadscope-reorder

# Each of the many processes that the tests start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-servers test-qdrant test-clients test-ui soak lint types tables docs pictures build bundle clean

demo: $(VENV)/installed  ## index this repository, and ask where, who calls and how
	@$(BIN)/graphrag-mcp index
	$(BIN)/graphrag-mcp search "$(QUERY)" --limit 1 --format concise --no-graph --token-budget 400
	$(BIN)/graphrag-mcp trace base_score
	$(BIN)/graphrag-mcp trace --from run_search --to bring_up_to_date

test: $(VENV)/installed-dev  ## run what a change needs, in a process per core and one more: some tests wait
	$(IN_PARALLEL)

test-all: test  ## run the slow tests too, in short form, whose limits allow for a busy machine
	$(IN_PARALLEL) -m slow

test-servers: $(VENV)/installed-dev  ## run the tests that need servers, against a Neo4j from Maven Central
	$(BIN)/pytest -m server

test-qdrant: $(VENV)/installed-dev  ## run the tests of servers against a Qdrant built from QDRANT_SOURCE: needs Cargo and protoc
	@test -n "$(QDRANT_SOURCE)" || { echo "give the folder of Qdrant's sources: make test-qdrant QDRANT_SOURCE=PATH"; exit 1; }
	cargo build --manifest-path $(QDRANT_SOURCE)/Cargo.toml --bin qdrant
	$(BIN)/python -m tests.servers.qdrant_server $(QDRANT_SOURCE)/target/debug/qdrant \
	  $(BIN)/pytest -W error -m "server or not server" tests/contracts tests/index tests/servers

test-clients: $(VENV)/installed-clients $(NPM_PACKAGES) $(REGISTRY_VALIDATOR)  ## check server and manifests with the clients and validators of others: needs npm and Go
	$(BIN)/pytest -m clients

test-ui: $(VENV)/installed-dev  ## run the tests of the page, in a Chromium from Debian's packages
	$(BIN)/python -m tests.serving.get_browser
	$(BIN)/pytest tests/serving -m browser

soak: $(VENV)/installed-dev  ## run the reliability tests at full length: more than an hour
	$(BIN)/pytest tests/reliability -m '' --soak -s

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/installed-dev
	$(BIN)/mypy

tables: $(VENV)/installed-dev  ## write what pages take from elsewhere: settings, arguments, figures, the tests of requirements
	$(BIN)/python -m tests.docs.tables
	$(BIN)/python -m tests.docs.figures
	$(BIN)/python -m tests.docs.requirements

docs: $(VENV)/installed-dev  ## write the tables, and record what the pages show of the program
	$(BIN)/python -m tests.docs.record

pictures: $(VENV)/installed-dev  ## draw the terminal of README.md, and take the pictures of docs/page.md in the Chromium of test-ui
	$(BIN)/python -m tests.serving.get_browser
	$(BIN)/python -m tests.docs.terminal
	$(BIN)/python -m tests.docs.pictures

build: $(VENV)/installed-dev  ## build the wheel into dist/
	rm -rf $(DIST)
	$(BIN)/python -m build --wheel --outdir $(DIST) .

bundle: build $(NPM_PACKAGES)  ## pack the wheel as an MCP bundle, dist/graphrag-mcp.mcpb: needs npm
	mkdir $(DIST)/bundle
	cp packaging/mcpb/* $(DIST)/*.whl $(DIST)/bundle
	$(CLIENTS)/node_modules/.bin/mcpb pack $(DIST)/bundle $(DIST)/graphrag-mcp.mcpb

clean:
	rm -rf $(VENV) dist tests/servers/target tests/serving/target $(CLIENTS)/node_modules $(CLIENTS)/target src/graphrag_mcp/serving/static/vendor
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis

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
	$(BIN)/python -m pip install --quiet --group dev --editable '.[servers,fastembed]'
	touch $@

$(VENV)/installed-clients: $(VENV)/installed-dev pyproject.toml
	$(BIN)/python -m pip install --quiet --group clients
	touch $@

$(NPM_PACKAGES): $(CLIENTS)/package.json $(CLIENTS)/package-lock.json
	cd $(CLIENTS) && npm ci --no-progress --loglevel=error
	touch $@

# The registry's validators are an internal package of its module, so our command is built inside a copy of it.
$(REGISTRY_VALIDATOR): $(CLIENTS)/validate_server_json.go
	rm -rf $(CLIENTS)/target
	mkdir $(CLIENTS)/target
	cp -r "$$(go mod download -json $(REGISTRY) | $(PYTHON) -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')" $(CLIENTS)/target/registry
	chmod -R u+w $(CLIENTS)/target/registry
	mkdir $(CLIENTS)/target/registry/cmd/validate
	cp $< $(CLIENTS)/target/registry/cmd/validate/main.go
	cd $(CLIENTS)/target/registry && go build -buildvcs=false -o ../validate-server-json ./cmd/validate
	rm -rf $(CLIENTS)/target/registry
