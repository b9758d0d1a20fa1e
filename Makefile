# Every command makes its own environment in .venv and needs Python 3.11 or newer, a C++20 compiler, make and a
# package index; cmake and ninja come from the index. `make help` lists the commands.
#
#   make test PYTHON=python3.12        use another Python (in a new .venv)
#   make test ARGS="-k subset -x"      pass arguments on to pytest

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check bench browser sanitize fuzz wheel test-wheel format clean distclean

VENV ?= .venv
SANITIZE_VENV ?= .venv-sanitize
ARGS ?=
FUZZ_SECONDS ?= 20
FUZZ_SEED ?= 1
CXX ?= c++

# The first of these that is Python 3.11 or newer, unless PYTHON says which.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	if $$python -c "$(NEW_ENOUGH)" 2>/dev/null; then echo $$python; break; fi; done)
endif

BUILD_TOOLS := "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.20" "ninja>=1.10"
NATIVE := $(wildcard native/*.cpp native/*.hpp)
SOURCES := CMakeLists.txt pyproject.toml $(NATIVE)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

help:
	@echo "make demo        a story on data that comes with the package"
	@echo "make test        every test: units, slow twins, laws, golden files, documents"
	@echo "make check       format, lint, types, import contracts, executed documents"
	@echo "make bench       speed and memory of the engine, of learning, of fragments, of sequences and of the parser, and the cost of the import"
	@echo "make browser     install Debian's Chromium, and look at the pages of explanations in it"
	@echo "make sanitize    the core under address, undefined-behaviour and thread sanitizers, and a fuzz run"
	@echo "make format      format Python and C++"
	@echo "make wheel       a wheel and a source archive in dist/"
	@echo "make test-wheel  build a wheel for PYTHON and test it in an empty environment"
	@echo "make clean       remove what was built; make distclean removes the environments too"

# Environments ---------------------------------------------------------------------------------------------

define make_venv
	@test -n "$(PYTHON)" || { echo "Espalier needs Python 3.11 or newer, and none was found." \
		"Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c "$(NEW_ENOUGH)" || { echo "Espalier needs Python 3.11 or newer, but $(PYTHON) is" \
		"$$($(PYTHON) --version 2>&1). Name another: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Making $(1) with $$($(PYTHON) --version)."
	@$(PYTHON) -m venv $(1) || { echo "Making a virtual environment failed. Some systems pack the venv module" \
		"apart, for example as python3-venv." >&2; exit 1; }
endef

$(VENV)/.made:
	$(call make_venv,$(VENV))
	@$(PIP) install $(BUILD_TOOLS)
	@touch $@

# One stamp per set of extras. The install is editable: Python sources are used where they stand, and a change
# of the core rebuilds only what it touches, because the build tools live in the environment.
$(VENV)/.installed-%: $(VENV)/.made $(SOURCES)
	@echo "Installing Espalier$(if $(filter-out plain,$*), with the extras of '$*')."
	@CMAKE_GENERATOR=Ninja $(PIP) install --no-build-isolation --editable ".$(if $(filter-out plain,$*),[$*])"
	@touch $@

# Commands -------------------------------------------------------------------------------------------------

demo: $(VENV)/.installed-plain
	$(BIN)/espalier demo $(ARGS)

# The profile makes the random tests the same on every run.
test: $(VENV)/.installed-test
	$(BIN)/python -m pytest --hypothesis-profile=ci $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(NATIVE) $(wildcard native/tests/*.cpp native/tests/*.hpp)
	$(BIN)/python -m pytest --hypothesis-profile=ci tests/docs src/espalier

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(NATIVE) $(wildcard native/tests/*.cpp native/tests/*.hpp)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.import_time
	$(BIN)/python -m benchmarks.engine $(ARGS)
	$(BIN)/python -m benchmarks.learning
	$(BIN)/python -m benchmarks.fragments
	$(BIN)/python -m benchmarks.sequences
	$(BIN)/python -m benchmarks.parsing

# Sanitizers -----------------------------------------------------------------------------------------------

# First the core alone, without Python; then the Python module, whose process must load the sanitizer's library
# (and C++'s, whose exceptions it wraps) before all others. Python itself leaks on purpose: no leak check there.
SANITIZER_LIBRARIES = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)
SANITIZED = env LD_PRELOAD="$(SANITIZER_LIBRARIES)" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1 ESPALIER_SANITIZED=1

define build_core
	@$(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DESPALIER_MODULE=OFF \
		-DESPALIER_CORE_TESTS=ON -DESPALIER_SANITIZE=$(2) >build/$(1).log || { cat build/$(1).log; exit 1; }
	@$(BIN)/cmake --build build/$(1)
endef

# Needs Debian or one of its children, and the right to install packages.
browser: $(VENV)/.installed-test
	command -v chromium >/dev/null || apt-get install --yes --no-install-recommends chromium
	$(BIN)/python -m pytest tests/unit/explain -k browser -rs $(ARGS)

sanitize: fuzz $(SANITIZE_VENV)/.installed
	$(SANITIZED) ESPALIER_FUZZ_SECONDS=$(FUZZ_SECONDS) $(SANITIZE_VENV)/bin/python -m pytest \
		--hypothesis-profile=ci -p no:cacheprovider tests/unit tests/reference tests/properties tests/golden $(ARGS)

fuzz: $(VENV)/.made
	@mkdir -p build
	$(call build_core,sanitize-address,address\,undefined)
	build/sanitize-address/core_tests
	build/sanitize-address/fragment_tests
	build/sanitize-address/mining_tests
	build/sanitize-address/sequence_tests
	build/sanitize-address/smoothed_tree_tests
	build/sanitize-address/parsing_tests
	build/sanitize-address/tagging_tests
	build/sanitize-address/tagger_tests
	build/sanitize-address/dependency_subtree_tests
	build/sanitize-address/core_fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)
	$(call build_core,sanitize-thread,thread)
	build/sanitize-thread/core_tests
	build/sanitize-thread/fragment_tests
	build/sanitize-thread/mining_tests
	build/sanitize-thread/sequence_tests
	build/sanitize-thread/smoothed_tree_tests
	build/sanitize-thread/parsing_tests
	build/sanitize-thread/tagging_tests
	build/sanitize-thread/tagger_tests
	build/sanitize-thread/dependency_subtree_tests

$(SANITIZE_VENV)/.installed: $(SOURCES)
	$(call make_venv,$(SANITIZE_VENV))
	@$(SANITIZE_VENV)/bin/python -m pip --disable-pip-version-check --quiet install $(BUILD_TOOLS)
	@CMAKE_GENERATOR=Ninja $(SANITIZE_VENV)/bin/python -m pip --disable-pip-version-check --quiet install \
		--no-build-isolation --config-settings=build-dir=build/sanitize-module --config-settings=install.strip=false \
		--config-settings=cmake.define.ESPALIER_SANITIZE=address,undefined --editable ".[test]"
	@touch $@

# Wheels ---------------------------------------------------------------------------------------------------

wheel: $(VENV)/.made
	@$(PIP) install build
	$(BIN)/python -m build --outdir dist .
	@$(BIN)/python -m zipfile --list dist/espalier-*.whl

# A wheel, an environment that holds only it and what it asks for, and a copy of the tests without the sources.
test-wheel:
	rm -rf build/wheel-test
	@mkdir -p build/wheel-test
	$(call make_venv,build/wheel-test/venv)
	build/wheel-test/venv/bin/python -m pip --disable-pip-version-check --quiet wheel --no-deps \
		--wheel-dir build/wheel-test/dist .
	build/wheel-test/venv/bin/python -m pip --disable-pip-version-check --quiet install build/wheel-test/dist/*.whl
	cd build/wheel-test && venv/bin/espalier --help >/dev/null
	wheel=$$(echo build/wheel-test/dist/*.whl) && build/wheel-test/venv/bin/python -m pip \
		--disable-pip-version-check --quiet install "$$wheel[test]"
	cp -R tests docs examples *.md Makefile pyproject.toml build/wheel-test/
	cd build/wheel-test && ESPALIER_DATA="$(abspath $(or $(ESPALIER_DATA),../shared/data))" \
		venv/bin/python -m pytest --hypothesis-profile=ci -p no:cacheprovider tests --pyargs espalier $(ARGS)

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	rm -f $(VENV)/.installed-* $(SANITIZE_VENV)/.installed
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(SANITIZE_VENV)
