# Needs a Rust toolchain, JDK 17 with Maven, Python >= 3.10 with venv, a C compiler and cmake; fetches the rest.

PYTHON ?= python3
# Steps print their name, that they still run, and how long they took. On a terminal cargo draws its own progress.
STEP := $(CURDIR)/scripts/step
CARGO := cargo $(shell [ -t 2 ] || echo --quiet)
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

.PHONY: tools
tools: ## List the tools that are missing, with the package that has each
	@scripts/check-tools

.PHONY: setup
setup: .venv/stamp ## Make the Python environment in .venv (Rust and Java need none)

# Rebuilt from scratch when the requirements change, so that it contains nothing else.
.venv/stamp: python/pyproject.toml python/requirements-dev.txt conformance/pyproject.toml conformance/requirements.txt
	@scripts/check-tools
	@$(STEP) "Python: make the environment .venv" sh -ec '$(PYTHON) -m venv --clear .venv; \
		$(BIN)/pip install --quiet --disable-pip-version-check -r python/requirements-dev.txt -r conformance/requirements.txt \
		--editable "python[arrow]" --editable conformance'
	@touch $@

# Plots, for the benchmarks and their tests.
.venv/bench-stamp: .venv/stamp bench/requirements.txt
	@$(STEP) "Python: install what plots need" $(BIN)/pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	@touch $@

.PHONY: schema
schema: ## Generate the code of all languages from schema/faro.fbs
	schema/generate

.PHONY: schema-check
schema-check: ## Fail if the generated code does not fit the schema
	@$(STEP) --progress "Schema: build flatc, compare the generated code" schema/generate --check

.PHONY: kaitai
kaitai: ## Generate the Kaitai parser from schema/faro.ksy
	schema/kaitai/generate

.PHONY: kaitai-check
kaitai-check: ## Fail if the Kaitai parser does not fit its description
	@$(STEP) "Schema: compare the Kaitai parser" schema/kaitai/generate --check

.PHONY: map
map: .venv/stamp ## Rebuild docs/map.md: from each clause to its code and its cases
	$(BIN)/python scripts/map

.PHONY: map-check
map-check: .venv/stamp ## Fail if docs/map.md is stale, or a library names a normative clause nowhere
	@$(STEP) "Docs: compare the map of clauses" $(BIN)/python scripts/map --check

.PHONY: api-check
api-check: .venv/stamp ## Fail if docs/api.md names what is not public in Python, or lacks a public name of it
	@$(STEP) "Docs: compare the page of the three APIs" $(BIN)/python scripts/api-check

.PHONY: prose
prose: .venv/stamp ## Check the English of pages, comments and messages
	@$(STEP) "Docs: habits of our English" $(BIN)/python scripts/prose

# The documentation site. Its generator needs Python 3.11.
SITE_BIN := $(CURDIR)/site/.venv/bin
SITE_PYTHON := env PYTHONPATH=site $(SITE_BIN)/python
SITE_WITHOUT_API := $(filter no,$(SITE_API))
SITE_WITHOUT_VIEWER := $(filter no,$(SITE_VIEWER))
site/.venv/stamp: site/requirements.txt
	@$(STEP) "Site: make the environment site/.venv" sh -ec '$(PYTHON) -m venv --clear site/.venv; \
		$(SITE_BIN)/pip install --quiet --disable-pip-version-check -r site/requirements.txt'
	@touch $@

site/.venv/api-stamp: site/.venv/stamp site/requirements-api.txt python/requirements-dev.txt python/pyproject.toml
	@# pip takes no constraints with extras.
	@grep --invert-match '\[' python/requirements-dev.txt >site/.venv/constraints.txt
	@$(STEP) "Site: install what Python's API documentation needs" $(SITE_BIN)/pip install --quiet --disable-pip-version-check \
		-r site/requirements-api.txt --constraint site/.venv/constraints.txt --editable "python[arrow,fsspec]"
	@touch $@

site/.venv/check-stamp: site/.venv/stamp site/requirements-check.txt
	@$(STEP) "Site: install what drives a browser" $(SITE_BIN)/pip install --quiet --disable-pip-version-check -r site/requirements-check.txt
	@touch $@

site/.venv/viewer-stamp: site/.venv/stamp site/requirements-viewer.txt
	@$(STEP) "Site: install a C compiler for WebAssembly" $(SITE_BIN)/pip install --quiet --disable-pip-version-check -r site/requirements-viewer.txt
	@touch $@

.PHONY: site-viewer
site-viewer: site/.venv/viewer-stamp ## Compile the command to WebAssembly, and make the page into which files are dropped in out/site-viewer
	@$(STEP) --progress "Site: the viewer, with WebAssembly" site/viewer/build out/site-viewer

# A compiler that cannot be fetched is not a fault of the code (3).
.PHONY: site-viewer-sample
site-viewer-sample: ## Fail if the command does not compile to WebAssembly; its C code is left out
	@$(STEP) --progress "Site: the command as WebAssembly, without C code" sh -c 'site/viewer/check || [ $$? -eq 3 ]'

.PHONY: site
site: site/.venv/stamp $(if $(SITE_WITHOUT_API),,site/.venv/api-stamp) $(if $(SITE_WITHOUT_VIEWER),,site-viewer) ## Build the documentation site in out/site; SITE_API=no and SITE_VIEWER=no leave parts out
	@$(if $(SITE_WITHOUT_API),,$(STEP) "Site: API documentation of three languages" env PATH="$(SITE_BIN):$$PATH" site/api out/site-api)
	@$(STEP) "Site: build, check links, anchors and texts" site/build out/site $(if $(SITE_WITHOUT_API),,--api out/site-api) $(if $(SITE_WITHOUT_VIEWER),,--viewer out/site-viewer) $(if $(CONFORMANCE),--conformance $(CONFORMANCE))

.PHONY: site-sample
site-sample: site/.venv/stamp ## Test what builds the site, and build it without API documentation and browser
	@cd site && $(STEP) "Site: tests" $(SITE_BIN)/pytest --quiet
	@$(STEP) "Site: build, check links, anchors and texts" site/build out/site-sample

.PHONY: site-check
site-check: site faro site/.venv/check-stamp .venv/stamp ## Look at the site in Debian's chromium; SITE_API=no is quicker
	@cd site && $(STEP) "Site: style and types" sh -ec '$(BIN)/ruff check --quiet; $(BIN)/ruff format --quiet --check; $(BIN)/mypy --python-executable $(SITE_BIN)/python'
	@$(STEP) "Site: every page, search and screenshots in chromium" $(SITE_PYTHON) -m faro_site.browser out/site out/site-screenshots --faro $(FARO)

.PHONY: site-equal
site-equal: site/.venv/stamp ## Fail if two builds of the site differ
	@rm -rf out/site-equal && mkdir -p out/site-equal
	@$(STEP) "Site: build it twice" sh -ec 'for n in 1 2; do site/build out/site-equal/$$n; done; diff -r out/site-equal/1 out/site-equal/2'

.PHONY: site-conformance
site-conformance: site/.venv/stamp ## Summarize out/conformance.json, of `make conformance`, in site/conformance.json
	$(SITE_PYTHON) -m faro_site.conformance out/conformance.json site/conformance.json

.PHONY: lint
lint: lint-rust lint-python ## Check style, lints and types

.PHONY: lint-rust
lint-rust: ## Check style and lints of Rust, and build its documentation
	@cd rust && cargo fmt --check
	@cd rust && $(STEP) --progress "Rust: lints" $(CARGO) clippy --locked --workspace --all-targets --all-features -- --deny warnings
	@cd rust && RUSTDOCFLAGS='--deny warnings' $(STEP) --progress "Rust: documentation" $(CARGO) doc --locked --workspace --all-features --no-deps

# Folders of Python outside the library, each with its own settings.
SUITE := faro_conformance bounds detection faults generate partitioning races tests skeleton_testee.py
.PHONY: lint-python
lint-python: .venv/bench-stamp ## Check style, lints and types of Python, in all folders
	@$(STEP) "Python: style and types of the library" sh -ec 'cd python; $(BIN)/ruff check --quiet; $(BIN)/ruff format --quiet --check; $(BIN)/mypy'
	@! grep --extended-regexp --invert-match '^(#|$$)|==' */requirements*.txt fuzz/*/requirements*.txt /dev/null || { echo "not pinned by =="; exit 1; }
	@$(BIN)/ruff check --quiet demo scripts/spec scripts/spec/build scripts/audit scripts/flink-distribution scripts/flink-guide-check scripts/flink-jar-check scripts/guides.py scripts/spark-distribution scripts/spark-guide-check scripts/tpcds scripts/readme-check scripts/step scripts/totals scripts/map scripts/prose scripts/api-check scripts/with-s3 examples
	@$(STEP) "Python: style and types of the suites" sh -ec '(cd conformance; $(BIN)/ruff check --quiet $(SUITE); $(BIN)/ruff format --quiet --check $(SUITE); $(BIN)/mypy); \
		(cd fuzz; $(BIN)/ruff check --quiet; $(BIN)/ruff format --quiet --check; $(BIN)/mypy; cd python; $(BIN)/mypy); \
		cd bench; $(BIN)/ruff check --quiet; $(BIN)/ruff format --quiet --check; $(BIN)/mypy'

.PHONY: test-rust
test-rust: ## Test the Rust library and programs
	@mkdir -p out
	@cd rust && $(STEP) --progress "Rust: compile the tests" $(CARGO) test --locked --workspace --all-features --no-run
	@cd rust && $(STEP) "Rust: tests" cargo --quiet test --locked --workspace --all-features 2>&1 | tee ../out/test-rust.txt
	@cd rust && $(STEP) --progress "Rust: the library without each codec" sh -ec 'for codec in "" lz4 zstd; do \
		$(CARGO) clippy --quiet --locked --package faro-format --lib --no-default-features --features "$$codec" -- --deny warnings; \
		$(CARGO) test --quiet --locked --package faro-format --test without_codecs --no-default-features --features "$$codec"; done'

.PHONY: interleavings
interleavings: ## Draw more interleavings of the threads of the scheduler and of hybrid stores than the tests do: RUNS of each (5000; a long run)
	cd rust && FARO_INTERLEAVINGS=$(or $(RUNS),5000) $(CARGO) test --locked --package faro-format --lib interleavings

.PHONY: tsan
tsan: ## Run the Rust tests of many threads under ThreadSanitizer (needs a nightly compiler with its source)
	scripts/tsan

.PHONY: miri
miri: ## Run the Rust unit tests that need no C code in Miri (needs a nightly compiler with it)
	scripts/miri

.PHONY: least-rust
least-rust: ## Test the Rust library with the least compiler and versions (ARGS=--lib for a sample; installs the compiler)
	scripts/least-rust $(ARGS)
	scripts/one-arrow

# A compiler that cannot be fetched is not a fault of the code (3).
.PHONY: least-rust-lib
least-rust-lib:
	@$(STEP) --progress "Rust: least versions" sh -c 'scripts/least-rust --lib || [ $$? -eq 3 ]'

.PHONY: least-python
least-python: ## Test the Python library with the least version of each dependency (ARGS=tests/writer for a sample)
	scripts/least-python $(ARGS)

.PHONY: test-java
test-java: ## Test the Java library
	@$(STEP) "Java: compile, tests, documentation" $(MVN) verify

# WITHOUT="ClassTest OtherTest#method" leaves these tests of an engine out, here in Maven's notation.
COMMA := ,
OTHER_TESTS = $(subst $() ,,$(WITHOUT:%=$(COMMA)!%))
# The input of Flink's SQL jobs.
out/tpch-0.1/stamp: .venv/demo-stamp
	$(BIN)/tpchgen-cli --scale-factor 0.1 --output-dir $(@D)
	touch $@

.PHONY: test-flink
test-flink: out/tpch-0.1/stamp out/faults/shim.so ## Test the adapter for Flink, with FLINK=1.20.5 or 2.3.0; CI runs it with both, `make test` does not
	@# Classes that were compiled against another Flink may not run.
	rm -rf java/faro-flink/target
	@$(STEP) "Flink $(or $(FLINK),2.3.0): tests" \
		$(MVN) test --activate-profiles flink --projects :faro-flink --also-make -Dsurefire.failIfNoSpecifiedTests=false \
		-Dtest='dev.faro.flink.*Test$(OTHER_TESTS)' -Dfaro.tpch=$(CURDIR)/$(<D) \
		-Dfaro.shim=$(CURDIR)/out/faults/shim.so $(if $(FLINK),-Dflink.version=$(FLINK))

.PHONY: flink-evaluation
flink-evaluation: ## Measure the tables of docs/flink-hybrid.md: TABLES="makespan disk least batches"
	rm -rf java/faro-flink/target
	$(MVN) package -DskipTests --activate-profiles flink --projects :faro-flink --also-make
	java -Xmx2g -XX:MaxDirectMemorySize=4g -Dfaro.spec=$(CURDIR)/spec \
		-cp "java/faro-flink/target/test-classes:java/faro-flink/target/classes:$$(cat java/faro-flink/target/classpath)" \
		dev.faro.flink.HybridEvaluation out/evaluation $(TABLES)

# CI runs nearly everything with the newer line of each engine. With the older one it leaves out what takes long and
# hardly depends on the engine: `make test-flink FLINK=1.20.5` and `make test-spark SPARK=3.5.9 SCALA=2.12` run all.
.PHONY: test-flink-1-sample
test-flink-1-sample:
	@$(MAKE) --no-print-directory test-flink FLINK=1.20.5 WITHOUT="JobsBenchmarkTest TpchTest DisksTest#outputsOfADiskWithErrors* HybridJobsTest#parallelismOf200* HybridJobsTest#withOtherCodecs*"

# What a version of Spark needs: its line, and the Jackson that its Scala module insists on.
SPARK_ARGS = $(if $(SPARK),-Dspark.version=$(SPARK) -Dspark.line=$(firstword $(subst ., ,$(SPARK)))) $(if $(SCALA),-Dscala.line=$(SCALA)) \
	$(if $(filter 4.1.%,$(SPARK)),-Djackson.version=2.20.0)
# The input of Spark's SQL jobs.
out/tpch-parquet-0.1/stamp: .venv/demo-stamp
	$(BIN)/tpchgen-cli parquet --scale-factor 0.1 --overwrite --output-dir $(@D)
	touch $@

out/tpcds-0.1/stamp: .venv/stamp scripts/tpcds
	@# Newer versions of DuckDB fetch the generator of TPC-DS when it is used.
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade --target out/duckdb-1.1.3 duckdb==1.1.3
	PYTHONPATH=out/duckdb-1.1.3 $(BIN)/python scripts/tpcds $(@D)
	touch $@

.PHONY: test-spark
# The queries of TPC-DS take two minutes, and run with the default version only. EVERY=3 runs a third of all queries.
test-spark: out/tpch-parquet-0.1/stamp $(if $(SPARK),,out/tpcds-0.1/stamp) ## Test the adapter for Spark, with SPARK=4.2.0, or SPARK=3.5.9 and SCALA=2.12 or 2.13
	@# Classes that were compiled against another Spark may not run.
	rm -rf java/faro-spark/target java/faro-spark-merge/target
	@$(STEP) "Spark $(or $(SPARK),4.2.0): tests" \
		$(MVN) test --activate-profiles spark --projects :faro-spark,:faro-spark-merge --also-make \
		-Dsurefire.failIfNoSpecifiedTests=false -Dtest='dev.faro.spark.**.*Test$(OTHER_TESTS)' -Dfaro.tpch=$(CURDIR)/out/tpch-parquet-0.1 \
		$(if $(SPARK),,-Dfaro.tpcds=$(CURDIR)/out/tpcds-0.1) $(EVERY:%=-Dfaro.every=%) $(SPARK_ARGS)

# Hybrid stores beside ordinary writers: 10,000 drawn scripts in each language, a few minutes.
.PHONY: hybrid-interleavings
hybrid-interleavings: .venv/stamp ## Draw 10,000 interleavings of hybrid stores in each language; `make test` draws a sample
	cd rust && FARO_INTERLEAVINGS=10000 $(CARGO) test --release --locked --package faro-format --test hybrid
	$(MVN) test --projects :faro-format -Dtest="Hybrid*Test" -Dfaro.interleavings=10000
	cd python && FARO_INTERLEAVINGS=10000 $(BIN)/python -m pytest -q tests/test_hybrid.py

# A third of the queries, and no benchmark with push: the sample of the benchmarks runs without it.
.PHONY: test-spark-4-sample
test-spark-4-sample:
	@$(MAKE) --no-print-directory test-spark EVERY=3 WITHOUT="JobsBenchmarkTest#pushedShufflesHaveFewReads"

.PHONY: test-spark-3-sample
test-spark-3-sample:
	@$(MAKE) --no-print-directory test-spark SPARK=3.5.9 SCALA=2.12 \
		WITHOUT="ClusterTest HarmsTest JobsBenchmarkTest KilledServiceTest TpchTest"

# Each of 21 harms twelve times to Faro, on two kinds of shuffle service, and to stock Spark: about 25 minutes.
.PHONY: spark-harms
spark-harms: ## Harm pushed shuffles many times, also of stock Spark, and print what became of the jobs (HARM=one kind)
	rm -rf java/faro-spark/target java/faro-spark-merge/target
	$(MVN) test --activate-profiles spark --projects :faro-spark --also-make -Dsurefire.failIfNoSpecifiedTests=false \
		-Dtest=HarmsTest -Dfaro.harms=$(or $(HARMS),6) $(if $(HARM),-Dfaro.harm=$(HARM)) $(SPARK_ARGS)
	@cat java/faro-spark/target/harms.md

.PHONY: spark-jar
spark-jar: ## Make the jars for Spark and for its shuffle service, with SPARK and SCALA as above
	rm -rf java/faro-spark/target java/faro-spark-merge/target
	$(MVN) package -DskipTests --activate-profiles spark --projects :faro-spark --also-make $(SPARK_ARGS)

.PHONY: spark-guide-check
spark-guide-check: .venv/stamp faro ## Run the commands of docs/spark.md with a complete Spark of the version SPARK
	$(BIN)/python scripts/spark-distribution $(or $(SPARK),4.2.0)
	$(BIN)/python scripts/spark-guide-check $(or $(SPARK),4.2.0)

.PHONY: flink-jar
flink-jar: ## Make the jar for the lib/ of Flink, with FLINK=1.20.5 or 2.3.0
	@# As above.
	rm -rf java/faro-flink/target
	$(MVN) package -DskipTests --activate-profiles flink --projects :faro-flink --also-make $(if $(FLINK),-Dflink.version=$(FLINK))

.PHONY: flink-jar-check
flink-jar-check: .venv/stamp flink-jar ## Fail if that jar repeats a class of Flink, or lacks a class or a licence (fetches a complete Flink)
	$(BIN)/python scripts/flink-distribution $(or $(FLINK),2.3.0)
	$(BIN)/python scripts/flink-jar-check $(or $(FLINK),2.3.0)

.PHONY: flink-guide-check
flink-guide-check: .venv/stamp faro ## Run the commands of docs/flink.md with a complete Flink of the version FLINK
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
	@cd python && $(STEP) "Python: tests" $(BIN)/pytest --quiet --junitxml ../out/test-python.xml

.PHONY: test-runner
test-runner: .venv/stamp ## Test the conformance runner itself
	@cd conformance && $(STEP) "Conformance: tests of the runner itself" $(BIN)/pytest --quiet

.PHONY: test-fuzz
test-fuzz: .venv/stamp ## Test the fuzz suite itself
	@cd fuzz && $(STEP) "Fuzz: tests of the suite itself" $(BIN)/pytest --quiet
	@cd fuzz/python && $(STEP) "Fuzz: the corpus through Python's targets" $(BIN)/pytest --quiet

.PHONY: test-bench
test-bench: .venv/bench-stamp ## Test the harness of the benchmarks
	@cd bench && $(STEP) "Benchmarks: tests of the harness" $(BIN)/pytest --quiet

.PHONY: testees
testees: .venv/stamp $(if $(BUILT),,testee-rust testee-java) ## Build the testees that the conformance runner starts

# Always the same packages: with others, cargo chooses other features of their dependencies, and compiles these again.
PROGRAMS := --release --package faro-testee --package faro-cli
.PHONY: testee-rust
testee-rust:
	@cd rust && $(STEP) --progress "Rust: build the testee and the command" $(CARGO) build --locked $(PROGRAMS)

.PHONY: testee-java
testee-java:
	@$(STEP) "Java: build the testee" $(MVN) package -DskipTests

.PHONY: conformance
conformance: testees ## Run the conformance cases, and a sample of the sweeps, with all implementations
	@$(STEP) "Conformance: cases, all pairs of writers and readers" conformance/run --html out/conformance.html --junit out/conformance.xml --json out/conformance.json
	@$(STEP) "Conformance: outputs in other storages" conformance/run --no-pairs --testee rust-memory --testee rust-feed --testee java-memory --testee java-hadoop --testee python-memory
	@$(STEP) "Conformance: opening through a server of S3" conformance/run --no-pairs --testee python-s3 -k OPN
	@$(STEP) "Conformance: writing through a server of S3" conformance/run --no-pairs --testee python-s3 -k WRT
	@$(STEP) "Conformance: a sample of the sweeps" conformance/run sweep
	@$(STEP) "Conformance: a sample of damaged files" conformance/run detection --quick

# Its client of S3 takes minutes to build, so it is not in `testees`.
.PHONY: testee-rust-s3
testee-rust-s3:
	@cd rust/faro-s3-check && $(STEP) --progress "Rust: build the testee on S3" $(CARGO) build --locked --release

# Its client of S3 is 600 MB.
.PHONY: testee-java-s3
testee-java-s3:
	@$(STEP) "Java: build the testee on S3" $(MVN) package -DskipTests -P s3a --projects :faro-testee --also-make

.PHONY: conformance-stores
conformance-stores: testees testee-rust-s3 testee-java-s3 ## Run all cases through a server of S3 on this machine, in each language that has one
	@$(STEP) "Conformance: all cases through a server of S3" $(BIN)/python scripts/with-s3 conformance/run --no-pairs --testee python-s3 --testee rust-s3 --testee java-s3
	@cd rust/faro-s3-check && $(STEP) --progress "Rust: a server of S3" $(BIN)/python ../../scripts/with-s3 $(CARGO) test --locked --release -- --nocapture
	@$(STEP) "Java: a server of S3" $(BIN)/python scripts/with-s3 $(MVN) test -P s3a --projects :faro-hadoop --also-make -Dtest=S3aTest -Dsurefire.failIfNoSpecifiedTests=false

out/faults/shim.so: conformance/faults/shim.c
	@mkdir -p $(@D)
	cc -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -o $@.new $< -ldl
	mv $@.new $@

.PHONY: faults
faults: testees out/faults/shim.so ## Kills and a sample of the other faults, with all implementations
	@$(STEP) "Conformance: kills and a sample of the other faults" conformance/run faults --json out/faults/sample.json

.PHONY: faults-all
faults-all: testees out/faults/shim.so ## Every fault at every system call of the implementations, after kills (a long run)
	conformance/run faults --kills $(or $(KILLS),100) --share 1 $(if $(SEED),--seed $(SEED)) --json out/faults/all.json

.PHONY: kills
kills: testees out/faults/shim.so ## Kill a writer in each language KILLS times, with SEED if it is given
	@$(STEP) "Conformance: kills" conformance/run faults kills --kills $(or $(KILLS),500) $(if $(SEED),--seed $(SEED)) --json out/faults/kills.json

.PHONY: races
races: testees ## Let writers and readers of all languages race for one name, ROUNDS times (10,000), with SEED if it is given
	@$(STEP) --progress "Conformance: races" conformance/run races --rounds $(or $(ROUNDS),10000) $(if $(SEED),--seed $(SEED)) --json out/races.json

.PHONY: races-short
races-short: testees ## A sample of the races; part of `make test`
	@$(STEP) "Conformance: a sample of the races" conformance/run races --rounds 500

.PHONY: sweep
sweep: testees ## Run the sweeps whole: every value of every byte
	@$(STEP) "Conformance: the sweeps, whole" conformance/run sweep --all

# The inputs of the corpus for at most 12 s, then a stream of 9 s, whose seed is printed.
.PHONY: fuzz-short
fuzz-short: testees ## Replay the findings and the corpus of the fuzz suite, then try new files for a few seconds
	@$(STEP) "Fuzz: findings, corpus, and some seconds of new files" fuzz/run --replay fuzz/findings --corpus fuzz/corpus --corpus-minutes 0.2 --minutes 0.15

# Half of the time compares the implementations. Nine targets in each of three languages share the rest.
.PHONY: fuzz
fuzz: testees ## Fuzz for MINUTES in all (5): the implementations compared, with SEED if it is given, then each language's targets
	@half=$$(awk 'BEGIN { print $(or $(MINUTES),5) / 2 }'); each=$$(awk 'BEGIN { print $(or $(MINUTES),5) / 54 }'); status=0; \
	fuzz/run --replay fuzz/findings --minutes $$half $(if $(SEED),--seed $(SEED)) || status=1; \
	for language in rust java python; do \
		$(MAKE) --no-print-directory fuzz-$$language MINUTES=$$each || status=1; \
	done; exit $$status

.PHONY: test-fuzz-rust
test-fuzz-rust: ## Replay the fuzz corpus through the Rust targets, with a stable compiler
	@cd fuzz/rust && cargo fmt --package faro-fuzz --package faro-fuzz-properties --check
	@cd fuzz/rust && $(STEP) --progress "Fuzz: lints of Rust's targets" $(CARGO) clippy --locked --package faro-fuzz-properties --all-targets -- --deny warnings
	@cd fuzz/rust && $(STEP) --progress "Fuzz: the corpus through Rust's targets" $(CARGO) test --locked --package faro-fuzz-properties

.PHONY: verdicts
verdicts: testees ## Replay the fuzz corpus through the targets of all languages, and compare their verdicts
	@cd fuzz/rust && $(STEP) --progress "Fuzz: build the verdicts" $(CARGO) build --locked --package faro-fuzz-properties --bin verdicts
	@$(STEP) "Fuzz: the corpus, verdicts of all languages compared" fuzz/verdicts

# The fuzzer's tools need a nightly compiler. They are pinned, and installed for this project only.
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

.PHONY: api-compare
api-compare: ## Compare the public APIs with those of the last release (nothing to compare before the first)
	scripts/api-compare

.PHONY: audit
audit: ## Look up known problems of the dependencies (needs the advisory databases; lists the checks that it could not make)
	scripts/audit

.PHONY: detection
detection: testees ## Measure which damage is detected: makes conformance/detection/detection.json (a long run)
	conformance/run detection
	$(MAKE) spec

.PHONY: bounds-short
bounds-short: testees ## Hostile files in their small sizes
	@$(STEP) "Conformance: hostile files, small" conformance/run bounds

.PHONY: partitioning
partitioning: .venv/stamp faro ## Pack tables of every type, and compare each row's partition with DuckDB's, with ROWS and SEED if they are given
	@$(STEP) "Partitioning: faro pack beside DuckDB" conformance/run partitioning --faro $(FARO) $(if $(ROWS),--rows $(ROWS)) $(if $(SEED),--seed $(SEED))

.PHONY: bounds
bounds: testees ## Give hostile files to all implementations, under an address-space limit
	conformance/run bounds --all

.venv/demo-stamp: .venv/stamp demo/requirements.txt
	@$(STEP) "Python: install TPC-H's generator" $(BIN)/pip install --quiet --disable-pip-version-check -r demo/requirements.txt
	@touch $@

.PHONY: bench-programs
bench-programs: .venv/bench-stamp .venv/demo-stamp ## Build the programs of the benchmarks, with FLINK=1.20.5 or 2.3.0
	@cd rust && $(STEP) --progress "Rust: build the benchmarks" $(CARGO) build --locked $(PROGRAMS) --package faro-bench
	@# Classes that were compiled against another Flink may not run.
	rm -rf java/faro-flink/target java/faro-spark/target
	$(MVN) package -DskipTests --activate-profiles benchmarks,flink,spark --projects :faro-benchmarks,:faro-flink,:faro-spark \
		--also-make $(if $(FLINK),-Dflink.version=$(FLINK)) $(SPARK_ARGS)

.PHONY: bench
bench: bench-programs ## Measure all, or PARTS="write read": makes BENCHMARKS.md and bench/results/
	bench/run $(PARTS) $(ARGS)

.PHONY: bench-short
bench-short: bench-programs ## Measure the main cells in less than 15 minutes: adds this machine to the page
	bench/run --short $(ARGS)

# A change may be noise, so it is printed and does not fail; a program that fails does.
.PHONY: bench-check
bench-check: bench-programs ## Measure a sample, and print what is slower than in the committed results
	@$(STEP) "Benchmarks: a sample" bench/run --short --case partitions=64 --json out/bench-sample.json
	@bench/compare --allow-missing out/bench-sample.json || [ $$? -eq 1 ]

# A part: bench-write, bench-read, bench-python, ... The other parts' results stay as they are.
.PHONY: $(addprefix bench-,write read python flink-jobs flink-hybrid flink-queries flink-tiny spark-jobs spark-push broadcast index scheduler small-blocks tiny-outputs merge growth memory)
bench-write bench-read bench-python bench-flink-jobs bench-flink-hybrid bench-flink-queries bench-flink-tiny bench-spark-jobs bench-spark-push bench-broadcast bench-index bench-scheduler bench-small-blocks bench-tiny-outputs bench-merge bench-growth bench-memory: bench-programs
	bench/run $(@:bench-%=%) --keep $(ARGS)

FARO := rust/target/release/faro
ifdef IN_TEST
# A lane runs its steps one after another.
.NOTPARALLEL:
endif
.PHONY: faro
faro: ## Build the faro command
	@cd rust && $(STEP) --progress "Rust: build the faro command" $(CARGO) build --locked $(PROGRAMS)

.PHONY: spec
spec: .venv/stamp faro ## Rebuild the generated parts of spec/: schema text and examples
	$(BIN)/python scripts/spec/build

.PHONY: spec-check
spec-check: .venv/stamp faro ## Fail if the generated parts of spec/ are stale
	@$(STEP) "Spec: compare what is made from the code" $(BIN)/python scripts/spec/build --check --faro $(FARO)

.PHONY: readme-check
readme-check: testees ## Run the README's examples
	@$(STEP) "README: run its examples" $(BIN)/python scripts/readme-check

.PHONY: viewer-check
viewer-check: faro site/.venv/check-stamp .venv/stamp ## Open pages of `faro report` in Debian's chromium, with screenshots in out/viewer
	@$(STEP) "Report: style" $(BIN)/ruff check --quiet scripts/viewer-check
	@$(STEP) "Report: pages in chromium" $(SITE_PYTHON) scripts/viewer-check $(FARO)

.PHONY: viewer-pictures
viewer-pictures: faro site/.venv/check-stamp ## Make the screenshots of docs/viewer.md again, with the pages of `make viewer-check`
	@$(STEP) "Report: pages and pictures in chromium" $(SITE_PYTHON) scripts/viewer-check $(FARO) docs/pictures

# They build from the last commit, in a copy, and upload nothing: RELEASING.md.
.PHONY: packages
packages: ## Make the packages of a release in out/packages, for the registries of Rust, Python and Java, and for Debian (a long run)
	@packages/build

.PHONY: packages-check
packages-check: ## Install each of them in a fresh folder, and run the examples of their pages
	@packages/check

.PHONY: packages-sample
packages-sample: .venv/stamp ## A sample of both: versions, metadata, the package of Python, the content of the crates
	@$(STEP) "Packages: style, types and tests" sh -ec 'cd packages; $(BIN)/ruff check --quiet . build check sample version; $(BIN)/ruff format --quiet --check . build check sample version; \
		$(BIN)/mypy --strict --scripts-are-modules build check sample version; $(BIN)/pytest --quiet tests'
	@$(STEP) "Packages: a sample" packages/sample

.PHONY: demo
demo: tools .venv/demo-stamp faro testees ## Pack real data, read it in three languages, then damage one bit
	@$(BIN)/python demo/run.py

# The steps of `make test`, in lanes that use different tools, two at a time: most steps cannot use all cores.
LANE_RUST := lint-rust test-rust test-fuzz-rust testee-rust
LANE_OTHERS := map-check api-check prose schema-check kaitai-check lint-python test-java testee-java test-python test-fuzz test-runner test-bench
LANE_CASES := verdicts spec-check readme-check conformance fuzz-short
LANE_FAULTS := faults races-short partitioning bounds-short
LANES := rust others cases faults
# What takes too long for `make test`: steps that mostly use one core, and builds and engines.
LANE_DEEP := least-rust-lib kills demo packages-sample site-sample site-viewer-sample
LANE_ENGINES := api-compare test-flink test-flink-1-sample test-spark-4-sample test-spark-3-sample
.PHONY: $(addprefix lane-,$(LANES))
lane-rust: ; @$(MAKE) --no-print-directory IN_TEST=yes $(LANE_RUST)
lane-others: ; @$(MAKE) --no-print-directory IN_TEST=yes $(LANE_OTHERS)
lane-cases: ; @$(MAKE) --no-print-directory IN_TEST=yes $(LANE_CASES) BUILT=yes
lane-faults: ; @$(MAKE) --no-print-directory IN_TEST=yes $(LANE_FAULTS) BUILT=yes

.PHONY: lane-deep lane-engines
lane-deep: ; @$(MAKE) --no-print-directory IN_TEST=yes $(LANE_DEEP) BUILT=yes
lane-engines: ; @$(MAKE) --no-print-directory IN_TEST=yes $(LANE_ENGINES) BUILT=yes

# After `make test`, which has built what the lanes use.
.PHONY: test-more
test-more: .venv/demo-stamp out/tpch-0.1/stamp out/tpch-parquet-0.1/stamp ## After `make test`: more kills, the demo, least versions, samples of packages and site, Flink and Spark
	@FARO_LANES=1 $(MAKE) --no-print-directory -j2 lane-deep lane-engines

.PHONY: test
test: tools .venv/bench-stamp ## Everything that has to pass, in two lanes at a time
	@FARO_LANES=1 $(MAKE) --no-print-directory -j2 lane-rust lane-others
	@FARO_LANES=1 $(MAKE) --no-print-directory -j2 lane-cases lane-faults
	@scripts/totals
