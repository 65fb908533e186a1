# make demo — install and run the main job: a table and an HTML page in demo/
# make test — install everything the tests need and run the whole suite, in two processes
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo
# Processes that share the tests; with 0, all run in pytest's own.
WORKERS ?= 2
# One BLAS thread per process: two contended threads are slower, and change bits.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: help setup demo lowest dist browser test faults lint format docs bench picture clean

help:
	@echo "make demo    install, run the demonstration, write demo/index.html"
	@echo "make test    install, run the whole test suite in two processes; WORKERS=4 for four"
	@echo "make faults  attack files, runs, worlds and processes in full, and print one table"
	@echo "make lint    ruff, mypy --strict, import-linter"
	@echo "make format  let ruff rewrite the sources"
	@echo "make bench   measure and print every ratio in benchmarks/"
	@echo "make picture draw the pictures of the README and the examples, and make the notebooks, anew"
	@echo "make lowest  try the package with the lowest versions that it allows"
	@echo "make dist    build the sdist and the wheel, twice, and check them"
	@echo "make docs    build the documentation into site/"

setup: $(STAMP)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cmerl needs Python >= 3.11; run make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --no-compile --editable . --group test --group lint --group docs
	@$(BIN)/python -W ignore -m compileall -qq -j 0 $(VENV)/lib || true  # on all cores, where pip would use one
	@touch $(STAMP) $(DEMO_STAMP)

# The demo needs the package and its report, a tenth of what the tests need.
$(DEMO_STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[report]"
	@touch $(DEMO_STAMP)

demo: $(DEMO_STAMP)
	$(BIN)/python -m cmerl.demo

# The lowest versions that pyproject.toml allows, in an environment of their own.
lowest:
	$(PYTHON) tools/lowest.py

# The report is tested in a real browser, which is installed where that is allowed; else those tests say "NOT RUN".
browser:
	@{ command -v chromium || command -v google-chrome; } >/dev/null && command -v chromedriver >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	       && apt-get install -y -qq chromium chromium-driver >/dev/null; } \
	  || echo "no browser could be installed: the tests of the report's page in a browser will NOT be RUN"

# Each process takes whole files: their tests share fixtures, and only one of them may have a cluster.
test: setup browser
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile

faults: setup
	$(BIN)/python tests/faults/table.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	@for b in benchmarks/bench_*.py; do echo "== $$b"; $(BIN)/python $$b || exit 1; done

picture: setup browser
	$(BIN)/python benchmarks/pictures.py

dist: setup
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python tools/dist.py $(if $(ADDRESS),--address $(ADDRESS)) $(if $(TAG),--branch $(TAG))

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "documentation in site/index.html"

clean:
	rm -rf $(VENV) site demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
