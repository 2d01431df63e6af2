# On a fresh machine with Python 3.11+, pip and make: `make demo` shows the product, `make test` proves it.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-full check dist requirements clean

demo: $(VENV)/.ready-runtime
	$(BIN)/python examples/demo.py

test: $(VENV)/.ready-dev check
	$(BIN)/python -m pytest -n 2 -m "not full"

test-full: $(VENV)/.ready-dev check
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

dist: $(VENV)/.ready-dev
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

$(VENV)/.ready-runtime: requirements/build.txt requirements/runtime.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements/build.txt -r requirements/runtime.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready-runtime requirements/dev.txt
	$(PIP) install --require-hashes -r requirements/dev.txt
	touch $@

# Pins with hashes for every platform; no index address is recorded.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --no-annotate pyproject.toml
requirements:
	rm -f requirements/*.txt
	$(COMPILE) --all-extras --group dev --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/runtime.txt
	printf 'hatchling\neditables\n' | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --output-file requirements/build.txt -

clean:
	rm -rf $(VENV) build dist
