# make demo: set everything up and watch a tagger teach itself
# make test: set everything up, check the code and run the tests
# make test-slow: run the long tests
# make docs: set everything up and build the documentation in site/
# make release: build the package and the list of its components in dist/
# make bundle: collect all that an installation without the network needs in dist/bundle.tar.gz
# make lock, make licences: write the lock, the list of licences of what it names
# make audit: look for known vulnerabilities of what the lock names (needs the network)

VENV := .venv
BIN := $(VENV)/bin
# Test processes: one for each processor.
WORKERS := auto
# The first of these that is 3.11 to 3.13 makes the environment: gensim has no wheels for 3.14.
PYTHONS := python3 python3.13 python3.12 python3.11
# The versions of all packages, with hashes: a file for each environment.
LOCK := .ci/lock
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: demo test test-slow check docs release bundle sbom lock licences audit clean

demo: $(VENV)/.run
	@$(BIN)/bootstrap demo

test: check
	$(BIN)/pytest -n $(WORKERS)

test-slow: $(VENV)/.dev $(VENV)/.tools
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -n $(WORKERS) -m slow

check: $(VENV)/.dev
	$(BIN)/pip --disable-pip-version-check check
	$(BIN)/python .ci/licences.py --check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(BIN)/python:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then \
	    echo "making an environment in $(VENV) with $$($$python --version)"; \
	    exec $$python -m venv $(VENV); \
	  fi; \
	done; echo "no Python 3.11, 3.12 or 3.13 was found, for which the packages are locked (tried: $(PYTHONS))" >&2; exit 1

# Of packages that the lock does not name, nothing is installed, and the project is built with those
# that it names (build.txt). Wheels alone are installed, since building one of a package would install
# whatever that package asks for.
define install
@$(PIP) --require-hashes --only-binary :all: -r $(LOCK)/build.txt -r $(LOCK)/$(1).txt
@$(PIP) --no-build-isolation --no-deps --editable .
endef

$(VENV)/.run: pyproject.toml $(LOCK)/run.txt $(LOCK)/build.txt | $(BIN)/python
	@echo "installing what bootstrap needs (once)"
	$(call install,run)
	@touch $@

$(VENV)/.dev: pyproject.toml $(LOCK)/dev.txt $(LOCK)/build.txt | $(BIN)/python
	@echo "installing what bootstrap and its tests need (once)"
	$(call install,dev)
	@touch $@ $(VENV)/.run

$(VENV)/.docs: pyproject.toml $(LOCK)/docs.txt $(LOCK)/build.txt | $(BIN)/python
	@echo "installing what the documentation needs (once)"
	$(call install,docs)
	@touch $@ $(VENV)/.run

$(VENV)/.tools: $(LOCK)/tools.txt | $(BIN)/python
	@echo "installing what releases need (once)"
	@$(PIP) --require-hashes --only-binary :all: -r $(LOCK)/tools.txt
	@touch $@

# The lock is made by uv alone, since it resolves for all platforms and versions of Python at once, and
# read by pip, since every Python has it. All packages are resolved together, so that the environments
# agree and can be installed into one folder. If possible, a package has one version for all versions
# of Python, so that results and type checks are the same. Versions stay as they are unless
# pyproject.toml asks for others, or `make lock UPGRADE=--upgrade` for the newest ones.
UPGRADE :=
COMPILE = $(BIN)/uv --quiet pip compile --universal --python-version 3.11 --fork-strategy fewest \
  --generate-hashes --no-strip-extras --only-binary :all: --no-emit-index-url --no-emit-find-links --no-annotate \
  --custom-compile-command "make lock"
TOGETHER := build/lock.txt
RELEASE := dist

lock: $(VENV)/.tools
	@mkdir -p build
	cat $(LOCK)/*.txt > $(TOGETHER)
	$(COMPILE) pyproject.toml --all-extras --group build --group tools $(UPGRADE) -o $(TOGETHER)
	$(COMPILE) pyproject.toml -c $(TOGETHER) -o $(LOCK)/run.txt
	$(COMPILE) pyproject.toml --extra dev --extra neural -c $(TOGETHER) -o $(LOCK)/dev.txt
	$(COMPILE) pyproject.toml --extra docs -c $(TOGETHER) -o $(LOCK)/docs.txt
	$(COMPILE) --group pyproject.toml:build -c $(TOGETHER) -o $(LOCK)/build.txt
	$(COMPILE) --group pyproject.toml:tools -c $(TOGETHER) -o $(LOCK)/tools.txt

licences: $(VENV)/.dev $(VENV)/.docs $(VENV)/.tools
	$(BIN)/python .ci/licences.py

audit: $(VENV)/.tools
	$(BIN)/python .ci/audit.py

sbom: $(VENV)/.tools
	$(BIN)/python .ci/sbom.py $(RELEASE)

release: sbom $(VENV)/.run
	$(BIN)/python -m hatchling build --directory $(RELEASE)

# The wheels of this platform and version of Python, of which the lock has the hashes.
BUNDLE := $(RELEASE)/bundle

bundle: $(VENV)/.run
	rm -rf $(BUNDLE) && mkdir -p $(BUNDLE)
	$(BIN)/pip --disable-pip-version-check download --quiet --require-hashes --only-binary :all: -r $(LOCK)/run.txt -d $(BUNDLE)
	$(BIN)/python -m hatchling build --target wheel --directory $(BUNDLE)
	tar -czf $(BUNDLE).tar.gz -C $(RELEASE) bundle
	@echo "$(BUNDLE).tar.gz: unpack it elsewhere, and pip install --no-index --find-links bundle bootstrap-ner"

clean:
	rm -rf $(VENV) build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
