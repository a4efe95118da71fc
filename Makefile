# Each target sets up what it needs by itself (tools/setup.py), once; `make` alone lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv/bin
SETUP := $(PYTHON) tools/setup.py
SYSROOT := $(CURDIR)/build/sysroot
# what `make test ARGS="-k histogram"` hands to pytest, `make demo ARGS=…` to wulf
ARGS ?=
ONLY ?=
SHARD ?=
SINCE ?=
SECONDS ?= 60

# Programs that the set-up put into the clone, where it could not install them.
ifneq ($(wildcard $(SYSROOT)),)
export WULF_SYSROOT := $(SYSROOT)
export PATH := $(PATH):$(SYSROOT)/usr/bin:$(SYSROOT)/usr/sbin:$(SYSROOT)/bin:$(SYSROOT)/sbin
endif

# Compiled modules are kept, whatever the environment says: hundreds of commands and test processes read them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo build test test-all test-changed native-test replay-reference cross fuzz faults change-faults bad-input lint format bench statistics scale wheel packages bundle source docs clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: ## survey a lab of four nodes, one behind a slow link, and write the report
	@$(SETUP) demo
	@$(VENV)/wulf demo $(or $(ARGS),--quick)

build: ## the virtual environment and the native probes
	@$(SETUP) build

# Many at a time, for tests wait half of their time; those that share a lab or a file stay together
# (tests/running/tiers.py).
PYTEST := $(VENV)/pytest -q -n auto -m "not full"

test: ## what a change may break, within ten minutes: native, unit, lab, browser (ARGS="-k name" for pytest)
	@$(SETUP) test
	@status=0; \
	if [ -x build/native/wulf-native-tests ]; then build/native/wulf-native-tests || status=1; \
	else echo "the native tests are not built: see what is missing, above"; status=1; fi; \
	$(VENV)/python -m tests.process.native.mpi_session || status=1; \
	$(PYTEST) $(ARGS) || status=1; \
	exit $$status

test-changed: ## the tests that a change can reach, the nearest first, in a minute (SINCE=HEAD~3, SECONDS=20, ARGS=-x)
	@began=$$(date +%s); $(SETUP) test && \
	$(VENV)/python -m tests.running.changed --began $$began --since "$(SINCE)" --seconds $(SECONDS) -- $(ARGS)

test-all: ## all the rest, in shards: tests/running/shards.toml (SHARD=labs for one of them, ARGS="-k name" for pytest)
	@$(SETUP) test-all
	@$(VENV)/python -m tests.running.shards $(SHARD) -- $(ARGS)

native-test: ## the native tests with gcc and clang, and under ASan, UBSan and TSan
	@$(SETUP) native-test
	@$(PYTHON) tools/native_test.py

replay-reference: ## ten thousand programs by chance: wulf-replay beside the brute-force reference, to the picosecond
	@$(SETUP) build
	@$(VENV)/python -m tests.reference.compare $(ARGS)

cross: ## the probes for aarch64, tried under qemu; nodes of that architecture then get theirs
	@$(SETUP) cross
	@$(PYTHON) tools/native_cross.py

fuzz: ## libFuzzer on session, wire header and /proc, ten minutes each (ARGS="--seconds 60 header")
	@$(SETUP) fuzz
	@$(PYTHON) tools/native_fuzz.py $(ARGS)

faults: ## the network probe under attacks and faults, a million packets long
	@$(SETUP) test
	@WULF_FAULTS=long $(VENV)/pytest -q tests/process/native/test_wulf_net_security.py \
	  tests/process/native/test_wulf_net_faults.py tests/lab/net/test_faults.py $(ARGS)

change-faults: ## changes of settings under kill -9, failing disks and meddlers, 420 campaigns (ARGS="--seed 2")
	@$(SETUP) test
	@$(VENV)/python -m tests.unit.agent.changes.faults --every-step $(ARGS)

bad-input: ## thousands of malformed options and files: each has to end as a clear error (ARGS="--sample 500 --seed 2")
	@$(SETUP) test
	@$(VENV)/python -m tests.process.cli.bad_input $(ARGS)

lint: ## ruff, mypy, import-linter; clang-format and clang-tidy
	@$(SETUP) lint
	@status=0; \
	$(VENV)/ruff check . || status=1; \
	$(VENV)/ruff format --check . || status=1; \
	$(VENV)/mypy || status=1; \
	$(VENV)/lint-imports || status=1; \
	$(PYTHON) tools/native_lint.py || status=1; \
	exit $$status

format: ## put Python and C++ sources into their format
	@$(SETUP) format
	@$(VENV)/ruff check -q --fix-only .
	@$(VENV)/ruff format .
	@$(VENV)/clang-format -i $$(find native -name '*.cpp' -o -name '*.hpp')

bench: ## wulf beside its peers (ONLY=net for a part)
	@$(SETUP) bench
	@$(VENV)/python -m bench $(ONLY) $(ARGS)

statistics: ## every statistical claim, simulated and in a lab: docs/explanation/statistics.md (ARGS=--quick)
	@$(SETUP) demo
	@$(VENV)/python -m bench.selftest.statistics $(ARGS)

scale: ## survey 1,000 simulated nodes, plan and analyse 10,000: time and memory beside their limits
	@$(SETUP) demo
	@$(VENV)/python -m bench.scale $(ARGS)

wheel: ## a wheel that carries the static probes, of x86_64 and aarch64: dist/wulf-*.whl
	@$(SETUP) wheel
	@$(PYTHON) tools/native_cross.py || echo "wulf: the wheel carries no probes of aarch64"
	@rm -f dist/wulf-*.whl
	@$(VENV)/python -m pip wheel -q --disable-pip-version-check --no-deps -w dist .
	@ls dist/wulf-*.whl

packages: wheel ## deb and rpm, of packaging/targets.toml: dist/wulf_* (ONLY="debian-12 el", ARGS="--arch aarch64")
	@$(SETUP) packages
	@$(PYTHON) tools/distribute.py packages $(ONLY) $(ARGS)

bundle: wheel ## wulf and all it depends on, for machines without a network (ONLY="3.11 3.13", ARGS="--arch aarch64")
	@$(PYTHON) tools/distribute.py bundle $(ONLY) $(ARGS)

source: ## the sources as one tar, with those of others that a build needs: what the recipe of Spack builds from
	@$(SETUP) wheel
	@$(PYTHON) tools/distribute.py source

docs: ## the documentation as a site that searches offline, its links checked: build/site/index.html
	@$(SETUP) docs
	@$(VENV)/python tools/docs.py build

clean: ## remove what was built
	rm -rf build dist src/wulf/programs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

distclean: clean ## remove the virtual environment too
	rm -rf .venv
