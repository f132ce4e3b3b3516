# One command for each thing that one does with a clone. `make help` lists them.
# Needed beforehand: git, make, and python3 (3.11 or later) with venv. All that is installed goes into .venv,
# except for the servers and the browser that tests need, which `make test` takes from Debian when it runs as root.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
CODE := scheduler collector slo control dashboard tests bench examples

.DEFAULT_GOAL := help
.PHONY: help setup up test lint bench soak lock clean

help: ## what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | column -t -s "$$(printf '\t')"

setup: $(VENV)/.runtime ## the environment alone, in .venv

up: $(VENV)/.runtime ## start Tepat on examples/noc; options go in ARGS, as in `make up ARGS="--help"`
	@exec $(BIN)/tepat up examples/noc $(ARGS)

test: $(VENV)/.dev ## all tests, with the servers and the browser they need; TESTS="tests/architecture -k clock" for some
	@./tests/install_servers.sh
	$(BIN)/python -m pytest $(TESTS)

lint: $(VENV)/.dev ## ruff, mypy, and how long files and functions are
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/architecture/sizes.py

bench: $(VENV)/.dev ## every measurement in bench/, one table after the other
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

soak: $(VENV)/.dev ## the tests that run for long, which `make test` leaves out
	$(BIN)/python -m pytest -m soak $(TESTS)

# The options keep index hosts out of the locks: whoever installs decides where packages come from; the hashes decide what.
COMPILE = CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe \
	--strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options
lock: $(VENV)/.dev ## newer versions into requirements.lock and requirements-dev.lock
	$(COMPILE) --build-deps-for editable --output-file requirements.lock pyproject.toml
	$(COMPILE) --output-file requirements-dev.lock requirements-dev.in

clean: ## remove what make made; ./var, with its data, stays
	rm -rf $(VENV) *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Tepat needs Python 3.11 or later, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
		echo "Install one, or name it: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "'$(PYTHON)' can make no virtual environment. On Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# setuptools stands in the lock, so the editable install builds without fetching anything unlocked.
$(VENV)/.runtime: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@
