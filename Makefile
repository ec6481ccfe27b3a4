# Needs a Rust toolchain, JDK 17 with Maven, Python >= 3.10 with venv, a C compiler and cmake; fetches the rest.

PYTHON ?= python3
CARGO := cargo --quiet
MVN := mvn --batch-mode -Dstyle.color=never --quiet --no-transfer-progress --file java/pom.xml
BIN := $(CURDIR)/.venv/bin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
# A test whose output is kept by tee must still fail.
.SHELLFLAGS := -o pipefail -c

.PHONY: help
help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: setup
setup: .venv/stamp ## Make the Python environment in .venv (Rust and Java need none)

# Made anew when what it holds changes, so that it holds nothing else.
.venv/stamp: python/pyproject.toml python/requirements-dev.txt conformance/pyproject.toml conformance/requirements.txt
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r python/requirements-dev.txt -r conformance/requirements.txt \
		--editable 'python[arrow]' --editable conformance
	touch $@

# Plots, for the benchmarks and their tests.
.venv/bench-stamp: .venv/stamp bench/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	touch $@

.PHONY: schema
schema: ## Generate the code of all languages from schema/faro.fbs
	schema/generate

.PHONY: schema-check
schema-check: ## Fail if the generated code does not fit the schema
	schema/generate --check

.PHONY: kaitai
kaitai: ## Generate the Kaitai parser from schema/faro.ksy
	schema/kaitai/generate

.PHONY: kaitai-check
kaitai-check: ## Fail if the Kaitai parser does not fit its description
	schema/kaitai/generate --check

.PHONY: lint
lint: .venv/bench-stamp ## Check style, lints and types
	cd rust && $(CARGO) fmt --check
	cd rust && $(CARGO) clippy --locked --workspace --all-targets --all-features -- --deny warnings
	cd rust && RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --locked --workspace --all-features --no-deps
	cd python && $(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check && $(BIN)/mypy
	@! grep --extended-regexp --invert-match '^(#|$$)|==' */requirements*.txt fuzz/*/requirements*.txt /dev/null || { echo "not pinned by =="; exit 1; }
	$(BIN)/ruff check --quiet demo spec spec/build scripts/audit scripts/flink-distribution scripts/flink-guide-check scripts/flink-jar-check scripts/readme-check scripts/totals examples
	cd conformance && $(BIN)/ruff check --quiet faro_conformance bounds detection faults races generate tests skeleton_testee.py
	cd conformance && $(BIN)/ruff format --quiet --check faro_conformance bounds detection faults races generate tests skeleton_testee.py && $(BIN)/mypy
	cd fuzz && $(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check && $(BIN)/mypy
	cd fuzz/python && $(BIN)/mypy
	cd bench && $(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check && $(BIN)/mypy

.PHONY: test-rust
test-rust: ## Test the Rust library and programs
	@mkdir -p out
	cd rust && $(CARGO) test --locked --workspace --all-features 2>&1 | tee ../out/test-rust.txt

.PHONY: tsan
tsan: ## Run the Rust tests of many threads under ThreadSanitizer (needs a nightly compiler with its source)
	scripts/tsan

.PHONY: miri
miri: ## Run the Rust unit tests that need no C code in Miri (needs a nightly compiler with it)
	scripts/miri

.PHONY: test-java
test-java: ## Test the Java library
	$(MVN) verify

# What Flink's SQL jobs read.
out/tpch-0.1/stamp: .venv/demo-stamp
	$(BIN)/tpchgen-cli --scale-factor 0.1 --output-dir $(@D)
	touch $@

.PHONY: test-flink
test-flink: out/tpch-0.1/stamp ## Test the adapter for Flink, with FLINK=1.20.5 or 2.3.0; CI runs it with both, `make test` does not
	@# What was compiled against another Flink may not run.
	rm -rf java/faro-flink/target
	$(MVN) test --activate-profiles flink --projects :faro-flink --also-make -Dsurefire.failIfNoSpecifiedTests=false \
		-Dtest='dev.faro.flink.*Test' -Dfaro.tpch=$(CURDIR)/$(<D) $(if $(FLINK),-Dflink.version=$(FLINK))

.PHONY: flink-jar
flink-jar: ## Make the jar for the lib/ of Flink, with FLINK=1.20.5 or 2.3.0
	@# As above.
	rm -rf java/faro-flink/target
	$(MVN) package -DskipTests --activate-profiles flink --projects :faro-flink --also-make $(if $(FLINK),-Dflink.version=$(FLINK))

.PHONY: flink-jar-check
flink-jar-check: .venv/stamp flink-jar ## Fail if that jar has what Flink has, or lacks a class or a licence (fetches a whole Flink)
	$(BIN)/python scripts/flink-distribution $(or $(FLINK),2.3.0)
	$(BIN)/python scripts/flink-jar-check $(or $(FLINK),2.3.0)

.PHONY: flink-guide-check
flink-guide-check: .venv/stamp faro ## Do what docs/flink.md says with a whole Flink of the version FLINK
	$(BIN)/python scripts/flink-distribution $(or $(FLINK),2.3.0)
	$(BIN)/python scripts/flink-guide-check $(or $(FLINK),2.3.0)

.PHONY: flink-damage
flink-damage: ## Damage the files of Flink's own shuffle and Faro's: makes the table of the version FLINK in docs/flink-damage.md (a long run)
	@# As above.
	rm -rf java/faro-flink/target
	$(MVN) test-compile dependency:build-classpath -Dmdep.outputFile=target/classpath -Dmdep.includeScope=test \
		--activate-profiles flink --projects :faro-flink --also-make $(if $(FLINK),-Dflink.version=$(FLINK))
	cd java/faro-flink && java -classpath "target/test-classes:target/classes:$$(cat target/classpath)" dev.faro.flink.DamageTable

.PHONY: test-python
test-python: .venv/stamp ## Test the Python library
	@mkdir -p out
	cd python && $(BIN)/pytest --quiet --junitxml ../out/test-python.xml

.PHONY: test-runner
test-runner: .venv/stamp ## Test the conformance runner itself
	cd conformance && $(BIN)/pytest --quiet

.PHONY: test-fuzz
test-fuzz: .venv/stamp ## Test the fuzz suite itself
	cd fuzz && $(BIN)/pytest --quiet
	cd fuzz/python && $(BIN)/pytest --quiet

.PHONY: test-bench
test-bench: .venv/bench-stamp ## Test the harness of the benchmarks
	cd bench && $(BIN)/pytest --quiet

.PHONY: testees
testees: .venv/stamp ## Build what the conformance runner runs
	cd rust && $(CARGO) build --locked --release --package faro-testee
	$(MVN) package -DskipTests

.PHONY: conformance
conformance: testees ## Run the conformance cases, and a sample of the sweeps, with all implementations
	conformance/run --html out/conformance.html --junit out/conformance.xml --json out/conformance.json
	conformance/run sweep
	conformance/run detection --quick

out/faults/shim.so: conformance/faults/shim.c
	@mkdir -p $(@D)
	cc -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -o $@.new $< -ldl
	mv $@.new $@

.PHONY: faults
faults: testees out/faults/shim.so ## Kills and a sample of the other faults, with all implementations
	conformance/run faults --json out/faults/sample.json

.PHONY: faults-all
faults-all: testees out/faults/shim.so ## Every fault at every system call of the implementations, after kills (a long run)
	conformance/run faults --kills $(or $(KILLS),100) --share 1 $(if $(SEED),--seed $(SEED)) --json out/faults/all.json

.PHONY: kills
kills: testees out/faults/shim.so ## Kill a writer in each language KILLS times, with SEED if it is given
	conformance/run faults kills --kills $(or $(KILLS),500) $(if $(SEED),--seed $(SEED)) --json out/faults/kills.json

.PHONY: races
races: testees ## Let writers and readers of all languages race for one name, ROUNDS times (10,000), with SEED if it is given
	conformance/run races --rounds $(or $(ROUNDS),10000) $(if $(SEED),--seed $(SEED)) --json out/races.json

.PHONY: races-short
races-short: testees ## A sample of the races; part of `make test`
	conformance/run races --rounds 500

.PHONY: sweep
sweep: testees ## Run the sweeps whole: every value of every byte
	conformance/run sweep --all

# The inputs of the corpus for at most 12 s, then a stream of 9 s, whose seed is printed.
.PHONY: fuzz-short
fuzz-short: testees ## Ask again about the findings and the corpus of the fuzz suite, and about a few seconds of new files
	fuzz/run --replay fuzz/findings --corpus fuzz/corpus --corpus-minutes 0.2 --minutes 0.15

# Half of the time compares the implementations. The rest is shared by nine targets in each of three languages.
.PHONY: fuzz
fuzz: testees ## Fuzz for MINUTES in all (5): the implementations compared, with SEED if it is given, then each language's targets
	@half=$$(awk 'BEGIN { print $(or $(MINUTES),5) / 2 }'); each=$$(awk 'BEGIN { print $(or $(MINUTES),5) / 54 }'); status=0; \
	fuzz/run --replay fuzz/findings --minutes $$half $(if $(SEED),--seed $(SEED)) || status=1; \
	for language in rust java python; do \
		$(MAKE) --no-print-directory fuzz-$$language MINUTES=$$each || status=1; \
	done; exit $$status

.PHONY: test-fuzz-rust
test-fuzz-rust: ## Replay the fuzz corpus through the Rust targets, with a stable compiler
	cd fuzz/rust && $(CARGO) fmt --package faro-fuzz --package faro-fuzz-logic --check
	cd fuzz/rust && $(CARGO) clippy --locked --package faro-fuzz-logic --all-targets -- --deny warnings
	cd fuzz/rust && $(CARGO) test --locked --package faro-fuzz-logic

.PHONY: verdicts
verdicts: testees ## Replay the fuzz corpus through the targets of all languages, and compare what they see
	cd fuzz/rust && $(CARGO) build --locked --package faro-fuzz-logic --bin verdicts
	fuzz/verdicts

# The fuzzer's own tools need a nightly compiler; they are pinned, and installed for this project alone.
CARGO_FUZZ := 0.13.2
out/tools/bin/cargo-fuzz:
	$(CARGO) install --locked --root out/tools --version $(CARGO_FUZZ) cargo-fuzz

.PHONY: fuzz-rust
fuzz-rust: .venv/stamp out/tools/bin/cargo-fuzz ## Run each target of cargo-fuzz for MINUTES, one after another
	fuzz/rust/run --minutes $(or $(MINUTES),1) $(TARGETS)

.PHONY: fuzz-java
fuzz-java: .venv/stamp ## Run each Java target under Jazzer for MINUTES, one after another
	@mkdir -p out/fuzz/java
	$(MVN) package -DskipTests --activate-profiles jazzer --projects :faro-fuzz --also-make \
		-Dclasspath.file=$(CURDIR)/out/fuzz/java/classpath
	fuzz/java/run --minutes $(or $(MINUTES),1) $(TARGETS)

out/tools/atheris/stamp: python/requirements-dev.txt fuzz/python/requirements.txt
	$(PYTHON) -m venv --clear out/tools/atheris
	out/tools/atheris/bin/pip install --quiet --disable-pip-version-check $(addprefix -r ,$^)
	touch $@

.PHONY: fuzz-python
fuzz-python: .venv/stamp out/tools/atheris/stamp ## Run each Python target under Atheris for MINUTES, one after another
	fuzz/python/run --minutes $(or $(MINUTES),1) $(TARGETS)

.PHONY: audit
audit: ## Ask what is known against the dependencies (needs the advisory databases; says what it could not ask)
	scripts/audit

.PHONY: detection
detection: testees ## Measure what damage is detected: makes spec/detection.json (a long run)
	conformance/run detection
	$(MAKE) spec

.PHONY: bounds-short
bounds-short: testees ## Hostile files in their small sizes
	conformance/run bounds

.PHONY: bounds
bounds: testees ## Put hostile files before all implementations, under an address-space limit
	conformance/run bounds --all

.venv/demo-stamp: .venv/stamp demo/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r demo/requirements.txt
	touch $@

.PHONY: bench-programs
bench-programs: .venv/bench-stamp .venv/demo-stamp ## Build what the benchmarks run, with FLINK=1.20.5 or 2.3.0
	cd rust && $(CARGO) build --locked --release --package faro-bench
	@# What was compiled against another Flink may not run.
	rm -rf java/faro-flink/target
	$(MVN) package -DskipTests --activate-profiles benchmarks,flink --projects :faro-benchmarks,:faro-flink --also-make $(if $(FLINK),-Dflink.version=$(FLINK))

.PHONY: bench
bench: bench-programs ## Measure all, or PARTS="write read": makes bench.json, BENCHMARKS.md, docs/bench/ (ARGS=--quick to try)
	bench/run $(PARTS) $(ARGS)

# A part: bench-write, bench-read, bench-python, ... The other parts' results stay as they are.
.PHONY: $(addprefix bench-,write read python flink-jobs broadcast index scheduler small-blocks growth memory)
bench-write bench-read bench-python bench-flink-jobs bench-broadcast bench-index bench-scheduler bench-small-blocks bench-growth bench-memory: bench-programs
	bench/run $(@:bench-%=%) --keep $(ARGS)

.PHONY: faro
faro: ## Build the faro command
	cd rust && $(CARGO) build --locked --release --package faro-cli

.PHONY: spec
spec: .venv/stamp faro ## Rebuild the parts of spec/ that are made: schema text and examples
	$(BIN)/python spec/build

.PHONY: spec-check
spec-check: .venv/stamp faro ## Fail if the made parts of spec/ are stale
	$(BIN)/python spec/build --check

.PHONY: readme-check
readme-check: testees ## Run the README's examples
	$(BIN)/python scripts/readme-check

.PHONY: demo
demo: .venv/demo-stamp faro testees ## Real data in, checked out in three languages, one byte damaged
	$(BIN)/python demo/run.py

.PHONY: test
test: schema-check kaitai-check lint test-rust test-java test-python test-runner test-fuzz test-bench test-fuzz-rust verdicts spec-check readme-check conformance bounds-short faults races-short fuzz-short ## Everything that has to pass
	@scripts/totals
