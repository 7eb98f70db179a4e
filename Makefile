# make demo: set everything up and watch a tagger teach itself
# make test: set everything up, check the code and run the tests
# make test-slow: run the long tests
# make docs: set everything up and build the documentation in site/

VENV := .venv
BIN := $(VENV)/bin
# Test processes: one for each processor.
WORKERS := auto
# The first of these that is new enough makes the environment.
PYTHONS := python3 python3.13 python3.12 python3.11

.PHONY: demo test test-slow check docs clean

demo: $(VENV)/.run
	@$(BIN)/bootstrap demo

test: check
	$(BIN)/pytest -n $(WORKERS)

test-slow: $(VENV)/.dev
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -n $(WORKERS) -m slow

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(BIN)/python:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making an environment in $(VENV) with $$($$python --version)"; \
	    exec $$python -m venv $(VENV); \
	  fi; \
	done; echo "no Python 3.11 or newer was found (tried: $(PYTHONS))" >&2; exit 1

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo "installing what bootstrap needs (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing what bootstrap and its tests need (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,neural]'
	@touch $@ $(VENV)/.run

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "installing what the documentation needs (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
