# Everything from nothing on a fresh Debian 12: `make demo` shows it, `make test` proves it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

# $(call configure,PRESET), $(call compile,PRESET[,TARGETS]), $(call run,PRESET)
# Several files as one: half the time from nothing. `cmake --preset release` alone is for those who change them.
configure = cmake --preset $(1) --log-level=NOTICE -DBRAID_UNITY_MODULES=ON >/dev/null
compile = cmake --build --preset $(1) --parallel $(JOBS) $(if $(2),--target $(2))
run = ctest --preset $(1) --parallel $(JOBS)

##@ Use

.PHONY: build
build: packages ## set up, compile the program, leave it at ./braid
	@tools/setup models & models=$$!; trap 'kill $$models 2>/dev/null || true' EXIT; \
	$(call configure,release); \
	$(call compile,release,braid); \
	wait $$models || echo "make: going on without the built-in models ('make models' tries again)" >&2
	@if [ -x build/release/bin/braid ]; then ln -sfn build/release/bin/braid braid; fi

.PHONY: demo
demo: build ## build, then a short tour of what braid does
	@if [ -x tools/demo ]; then tools/demo; else echo "make: tools/demo is not there yet"; fi

.PHONY: install
install: build ## install program, library and models under PREFIX (default /usr/local)
	@$(call compile,release,braid_archive braid_texts)
	@cmake --install build/release --prefix "$(PREFIX)"

.PHONY: wheel
wheel: packages ## the Python package as a wheel, with runtime and models, into build/dist
	@tools/setup models || echo "make: the wheel will lack the built-in models" >&2
	@tools/setup python
	@build/venv/bin/python -m pip --disable-pip-version-check wheel --no-deps -w build/dist .

##@ Check

.PHONY: test
test: build python-package ## all fast tests, then those that handle raw memory under AddressSanitizer
	@tools/setup browser
	@$(call configure,asan)
	@# Tests wait now and then: meanwhile the compiler works for the next ones.
	@nice $(call compile,asan) >build/asan/compile.log 2>&1 & compiling=$$!; \
	trap 'kill $$compiling 2>/dev/null || true' EXIT; \
	$(call run,release); \
	wait $$compiling || { cat build/asan/compile.log; exit 1; }
	@$(call run,asan)

.PHONY: test-long
test-long: build python-package ## slow tests, all unit tests under AddressSanitizer, ThreadSanitizer, fuzz corpora
	@$(call compile,release,header_probes)
	@$(call run,slow)
	@$(call configure,asan)
	@$(call compile,asan-all)
	@$(call run,asan-all)
	@for preset in tsan fuzz; do \
	    $(call configure,$$preset); $(call compile,$$preset); $(call run,$$preset); \
	done

.PHONY: test-cluster
test-cluster: packages ## the backend over three nodes of OpenSearch, started and stopped here
	@$(call configure,release)
	@$(call compile,release,cluster_tests)
	@tests/cluster/run

.PHONY: lint
lint: python ## format and clang-tidy, files changed since the branch left main
	@tools/lint

.PHONY: lint-all
lint-all: python ## format and clang-tidy, all files
	@tools/lint --all

.PHONY: format
format: python ## rewrite all C++ files in the project's format
	@tools/lint --format

##@ Measure

.PHONY: bench-sparse
bench-sparse: build ## search by words against Lucene, tantivy, PISA, bm25s, Qdrant Edge; ARGS=--quick for a trial
	@bench/run sparse $(ARGS)

.PHONY: bench-dense
bench-dense: build ## search by vectors against hnswlib, usearch, Faiss, zvec, Qdrant Edge
	@bench/run dense $(ARGS)

.PHONY: bench-hybrid
bench-hybrid: build ## whole answers against Qdrant Edge, zvec, LanceDB
	@bench/run hybrid $(ARGS)

.PHONY: bench-store
bench-store: build ## durable indexing against LanceDB, Chroma, Qdrant Edge, zvec
	@bench/run store $(ARGS)

.PHONY: bench-open
bench-open: build ## opening a database, the first search, CPU of commands; ARGS='--docs 3000000'
	@$(call compile,release,open_bench)
	@bench/opening $(ARGS)

.PHONY: bench-http
bench-http: build ## what HTTP costs: braid serve beside the library
	@$(call compile,release,http_bench)
	@build/release/bench/http/http_bench $(ARGS)

.PHONY: bench-seeds
bench-seeds: build ## the founding documents' latency and throughput, each figure beside its bar
	@$(call compile,release,seeds_bench)
	@build/release/bench/http/seeds_bench $(ARGS)

.PHONY: bench-cluster
bench-cluster: build ## what a cluster costs: the same chunks in a folder and on 1, 2, 3 nodes
	@$(call compile,release,cluster_bench)
	@bench/cluster/run $(ARGS)

.PHONY: bench-ingest
bench-ingest: build ## storing files: model start, chunks/s, memory, chunkers; each beside its bar
	@$(call compile,release,ingest_bench)
	@build/release/bench/ingest/ingest_bench $(ARGS)
	@bench/ingest/chunkers

.PHONY: quality
quality: build python ## nDCG and recall on judged sets, into docs/quality.md
	@build/venv/bin/python tools/quality

.PHONY: bench-compare
bench-compare: packages ## what a change did: BASE=commit, FILTER=regex, INSTRUCTIONS=1 for callgrind
	@bench/compare '$(or $(BASE),HEAD)' --filter '$(or $(FILTER),.)' $(if $(INSTRUCTIONS),--instructions)

.PHONY: bench-micro
bench-micro: packages ## micro-benchmarks; FILTER=regex chooses
	@$(call configure,bench)
	@$(call compile,bench)
	@for source in $$(grep -l '<benchmark/benchmark.h>' bench/micro/*_bench.cpp); do \
	    build/bench/bench/micro/$$(basename "$$source" .cpp) --benchmark_filter='$(or $(FILTER),.)'; \
	done

##@ Parts

.PHONY: packages
packages: ## install missing Debian packages (root or sudo only if one is missing)
	@tools/setup packages

.PHONY: models
models: packages ## fetch the embedding models and their runtime into build/models
	@tools/setup models

.PHONY: python
python: packages ## make build/venv with what tests and linter need
	@tools/setup python

.PHONY: python-if-possible
python-if-possible: packages
	@tools/setup python || echo "make: going on without build/venv; tests that need it are skipped" >&2

.PHONY: python-package
python-package: python-if-possible # in build/release/python, where what it takes is there
	@cmake --preset release --log-level=NOTICE -DBRAID_PYTHON_BINDINGS=ON >/dev/null
	@$(call compile,release)

.PHONY: clean
clean: ## remove what was built; keeps models and build/venv
	@rm -rf braid build/release build/asan build/tsan build/bench build/lint build/wheel build/dist

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} \
	    /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	    /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile
