# Every command makes its own environment in .venv and needs Python 3.11 or newer, a C++20 compiler, make and a
# package index; cmake and ninja come from the index. `make help` lists the commands.
#
#   make test PYTHON=python3.12        use another Python (in a new .venv)
#   make test ARGS="-k subset -x"      pass arguments on to pytest
#   make test ARGS="-n 0"              in one process; otherwise there is a worker for each core

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-core check bench browser sanitize sanitize-core sanitize-threads fuzz fuzz-core wheel \
	test-wheel format stubs clean distclean

VENV ?= .venv
SANITIZE_VENV ?= .venv-sanitize
ARGS ?=
FUZZ_SECONDS ?= 20
FUZZ_SEED ?= 1
WHEEL_TESTS ?= tests --pyargs espalier
CXX ?= c++

# The first of these that is Python 3.11 or newer, unless PYTHON says which.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	if $$python -c "$(NEW_ENOUGH)" 2>/dev/null; then echo $$python; break; fi; done)
endif

BUILD_TOOLS := "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.20" "ninja>=1.10"
NATIVE := $(wildcard native/*/*.cpp native/*/*.hpp)
SOURCES := CMakeLists.txt pyproject.toml experiments/pyproject.toml $(filter-out native/tests/%,$(NATIVE))
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
COMMA := ,
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The profile makes the random tests the same on every run. A worker starts with a block of neighbouring tests, which
# share their fixtures, and takes over from the others when it is done.
PYTEST := -m pytest --hypothesis-profile=ci --numprocesses=auto --dist=worksteal

help:
	@echo "make demo              a story on data that comes with the package"
	@echo "make test              every test: units, slow twins, laws, golden files, documents"
	@echo "make test-core         the tests of the C++ core alone"
	@echo "make check             format, lint, types, import contracts, workflow files, links and commands of the documents"
	@echo "make bench             speed and memory of the engine, of learning, of learning classes, of fragments, of sequences and of the parsers, the cost of threads and of the import"
	@echo "make browser           install Debian's Chromium, and look at the pages of explanations in it"
	@echo "make sanitize          everything under the address and undefined-behaviour sanitizers, the core under that of threads"
	@echo "make sanitize-core     the tests of the core under the address and undefined-behaviour sanitizers"
	@echo "make fuzz              every reader and loader given damaged input, for FUZZ_SECONDS each"
	@echo "make fuzz-core         the reader of brackets given input that clang's libFuzzer finds, for FUZZ_SECONDS"
	@echo "make format            format Python and C++"
	@echo "make stubs             write the types of the compiled core to src/espalier/_core.pyi"
	@echo "make wheel             a wheel and a source archive in dist/"
	@echo "make test-wheel        build a wheel for PYTHON and test it in an empty environment"
	@echo "make clean             remove what was built; make distclean removes the environments too"

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

# One stamp per set of extras. The installs are editable: Python sources are used where they stand, and a change
# of the core rebuilds only what it touches, because the build tools live in the environment.
$(VENV)/.installed-%: $(VENV)/.made $(SOURCES)
	@echo "Installing Espalier$(if $(filter-out plain,$*), with the extras of '$*')."
	@CMAKE_GENERATOR=Ninja $(PIP) install --no-build-isolation --editable ".$(if $(filter-out plain,$*),[$*])"
	@$(PIP) install --no-build-isolation --no-deps --editable ./experiments
	@touch $@

# Commands -------------------------------------------------------------------------------------------------

demo: $(VENV)/.installed-plain
	$(BIN)/espalier demo $(ARGS)
	@echo
	@echo "To go on: Espalier is installed in $(VENV). Run  . $(BIN)/activate  and then"
	@echo "  python examples/question_neighbours.py     a first script of 50 lines"
	@echo "  espalier --help                            the commands"
	@echo "or open docs/quickstart.md. 'pip install .' installs Espalier into an environment of your own."

test: $(VENV)/.installed-test
	$(BIN)/python $(PYTEST) $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(NATIVE)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(wildcard .github/workflows/*.yml)
	$(BIN)/python -m pytest --quiet tests/docs/test_documents.py -k "links or commands"
	$(BIN)/python -m pytest --quiet tests/unit/test_core_stubs.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(NATIVE)

# The types of the compiled module, which a test compares with the file in the tree.
stubs: $(VENV)/.installed-dev
	$(BIN)/python native/bindings/stubs.py src/espalier/_core.pyi

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.import_time
	$(BIN)/python -m benchmarks.engine $(ARGS)
	$(BIN)/python -m benchmarks.learning
	$(BIN)/python -m benchmarks.tasks
	$(BIN)/python -m benchmarks.sparse
	$(BIN)/python -m benchmarks.classification
	$(BIN)/python -m benchmarks.fragments
	$(BIN)/python -m benchmarks.sequences
	$(BIN)/python -m benchmarks.parsing
	$(BIN)/python -m benchmarks.dependencies
	$(BIN)/python -m benchmarks.selection
	$(BIN)/python -m benchmarks.threads

# Sanitizers -----------------------------------------------------------------------------------------------

# First the core alone, without Python; then the Python module, whose process must load the sanitizer's library
# (and C++'s, whose exceptions it wraps) before all others. Python itself leaks on purpose: no leak check there.
SANITIZER_LIBRARIES = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)
SANITIZED = env LD_PRELOAD="$(SANITIZER_LIBRARIES)" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1 ESPALIER_SANITIZED=1
FUZZED = ESPALIER_FUZZ_SECONDS=$(FUZZ_SECONDS) ESPALIER_FUZZ_SEED=$(FUZZ_SEED)

define build_core
	@mkdir -p build
	@$(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DESPALIER_MODULE=OFF \
		-DESPALIER_CORE_TESTS=ON -DESPALIER_WERROR=ON $(2) >build/$(1).log || { cat build/$(1).log; exit 1; }
	@$(BIN)/cmake --build build/$(1)
endef

test-core: $(VENV)/.made
	$(call build_core,core,)
	$(BIN)/ctest --test-dir build/core --output-on-failure --parallel 2

sanitize-core: $(VENV)/.made
	$(call build_core,sanitize-address,-DESPALIER_SANITIZE=address$(COMMA)undefined)
	$(BIN)/ctest --test-dir build/sanitize-address --output-on-failure --parallel 2

sanitize-threads: $(VENV)/.made
	$(call build_core,sanitize-thread,-DESPALIER_SANITIZE=thread)
	$(BIN)/ctest --test-dir build/sanitize-thread --output-on-failure --parallel 2

sanitize: sanitize-core sanitize-threads $(SANITIZE_VENV)/.installed
	build/sanitize-address/core_fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)
	$(SANITIZED) $(FUZZED) $(SANITIZE_VENV)/bin/python $(PYTEST) -p no:cacheprovider \
		tests/unit tests/reference tests/properties tests/golden tests/experiments $(ARGS)

# The core's reader under the sanitizers; the readers and loaders of Python in the plain environment.
fuzz: $(VENV)/.installed-test
	$(call build_core,sanitize-address,-DESPALIER_SANITIZE=address$(COMMA)undefined)
	build/sanitize-address/core_fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)
	$(FUZZED) $(BIN)/python $(PYTEST) -m fuzz $(ARGS)

# libFuzzer looks for input that takes new paths, and keeps it in build/fuzz-corpus for the next run.
fuzz-core: $(VENV)/.made
	@command -v clang++ >/dev/null || { echo "libFuzzer is a part of clang, which was not found. On Debian:" \
		"apt-get install clang libclang-rt-14-dev" >&2; exit 1; }
	$(call build_core,fuzz-core,-DCMAKE_CXX_COMPILER=clang++ -DESPALIER_LIBFUZZER=ON)
	@mkdir -p build/fuzz-corpus
	build/fuzz-core/core_fuzz -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -max_len=4096 -timeout=10 \
		-artifact_prefix=build/ build/fuzz-corpus tests/corpus/brackets

# Needs Debian or one of its children, and the right to install packages.
browser: $(VENV)/.installed-test
	command -v chromium >/dev/null || apt-get install --yes --no-install-recommends chromium
	$(BIN)/python -m pytest tests/unit/explanations -k browser -rs $(ARGS)

$(SANITIZE_VENV)/.installed: $(SOURCES)
	$(call make_venv,$(SANITIZE_VENV))
	@$(SANITIZE_VENV)/bin/python -m pip --disable-pip-version-check --quiet install $(BUILD_TOOLS)
	@CMAKE_GENERATOR=Ninja $(SANITIZE_VENV)/bin/python -m pip --disable-pip-version-check --quiet install \
		--no-build-isolation --config-settings=build-dir=build/sanitize-module --config-settings=install.strip=false \
		--config-settings=cmake.define.ESPALIER_SANITIZE=address,undefined \
		--config-settings=cmake.define.ESPALIER_WERROR=ON --editable ".[test]"
	@$(SANITIZE_VENV)/bin/python -m pip --disable-pip-version-check --quiet install --no-build-isolation --no-deps \
		--editable ./experiments
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
		venv/bin/python $(PYTEST) -p no:cacheprovider $(WHEEL_TESTS) $(ARGS)

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	rm -f $(VENV)/.installed-* $(SANITIZE_VENV)/.installed
	find src experiments tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(SANITIZE_VENV)
