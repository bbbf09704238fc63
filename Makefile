# Every task of the project. `make demo` and `make test` need nothing but Python 3.11 or newer, git and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-slow check format docs bench bench-peers bench-scale reproduce lock lock-peers clean help

help:            ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 22

demo: $(VENV)/extras.stamp  ## publish the bundled places, ask questions, write the files
	$(BIN)/hushgrid demo

test: $(VENV)/test.stamp check  ## checks, then all tests but the slow ones
	$(BIN)/python -m tests.warm
	$(PYTEST) -n 2 -m "not slow"

test-slow: $(VENV)/test.stamp  ## statistics, audits, clusters, packaging, notebooks
	$(BIN)/python -m tests.warm
	$(PYTEST) -n 2 -m slow

check: $(VENV)/test.stamp  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/test.stamp  ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/test.stamp  ## speed and memory, as ratios in one run
	$(BIN)/python -m benchmarks

bench-scale: $(VENV)/test.stamp  ## a thousand to a billion points; needs 17 GB in the folder POINTS=...
	$(BIN)/python -m benchmarks.scale $(POINTS)
	$(BIN)/python -m benchmarks.cost $(POINTS)

bench-peers: $(VENV)/test.stamp  ## hushgrid beside what one would take instead, each in an environment of its own
	$(BIN)/python -m benchmarks.peers

docs: $(VENV)/test.stamp  ## the site, in docs/_build; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

reproduce: $(VENV)/test.stamp  ## the paper's evaluation: all trials, then tables, figures, the report, passages of docs
	$(BIN)/python -m experiments run
	$(BIN)/python -m experiments report
	$(BIN)/python -m experiments docs

lock:            ## resolve the pinned requirements anew (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url pyproject.toml --group build -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url pyproject.toml --group build --extra gis --extra plots --extra server \
	  -c requirements.lock -o requirements-extras.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url pyproject.toml --group build --group docs --group lint --group notebooks --group test \
	  -c requirements-extras.lock -o requirements-test.lock

lock-peers:      ## the same for the environments of bench-peers
	@echo '# The environments of `make bench-peers`, one after the other; `make lock-peers` resolves them anew.' \
	  > requirements-peers.lock
	@for name in diffprivlib duckdb numpy opendp tumult; do \
	  echo "# environment: $$name" >> requirements-peers.lock; \
	  uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --group peer-$$name >> requirements-peers.lock || exit 1; \
	done

clean:           ## remove the environment and all caches
	rm -rf $(VENV) .peers docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/core.stamp: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hushgrid needs Python 3.11 or newer; say which with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# What the tutorial and the pages after it need: polygons, pictures, the server.
$(VENV)/extras.stamp: $(VENV)/core.stamp requirements-extras.lock
	$(PIP) --require-hashes -r requirements-extras.lock
	@touch $@

$(VENV)/test.stamp: $(VENV)/core.stamp requirements-test.lock
	$(PIP) --require-hashes -r requirements-test.lock
	@touch $@
