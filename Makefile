# Needs a Rust toolchain, JDK 17 with Maven, Python >= 3.10 with venv, a C compiler and cmake; fetches the rest.

PYTHON ?= python3
CARGO := cargo --quiet
MVN := mvn --batch-mode -Dstyle.color=never --quiet --no-transfer-progress --file java/pom.xml
BIN := $(CURDIR)/.venv/bin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: setup
setup: .venv/stamp ## Make the Python environment in .venv (Rust and Java need none)

# Made anew when what it holds changes, so that it holds nothing else.
.venv/stamp: python/pyproject.toml python/requirements-dev.txt
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r python/requirements-dev.txt --editable 'python[arrow]'
	touch $@

.PHONY: schema
schema: ## Generate the code of all languages from schema/faro.fbs
	schema/generate

.PHONY: schema-check
schema-check: ## Fail if the generated code does not fit the schema
	schema/generate --check

.PHONY: lint
lint: .venv/stamp ## Check style, lints and types
	cd rust && $(CARGO) fmt --check
	cd rust && $(CARGO) clippy --locked --workspace --all-targets --all-features -- --deny warnings
	cd python && $(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check && $(BIN)/mypy

.PHONY: test-rust
test-rust: ## Test the Rust library and programs
	cd rust && $(CARGO) test --locked --workspace --all-features

.PHONY: test-java
test-java: ## Test the Java library
	$(MVN) verify

.PHONY: test-python
test-python: .venv/stamp ## Test the Python library
	cd python && $(BIN)/pytest --quiet

.PHONY: test
test: schema-check lint test-rust test-java test-python ## Everything that has to pass
