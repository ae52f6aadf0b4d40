# Thin names over ordinary tools. Everything is installed into .venv; a second run finds it there.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check format clean

demo: $(VENV)/.runtime
	@$(BIN)/toolwire demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@$(or $(PYTHON),python3) -c 'import sys; sys.exit("Toolwire needs Python 3.11 or later, and this is %d.%d; name another: make PYTHON=/path/to/python3.11" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(or $(PYTHON),python3) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	@echo "installing what Toolwire needs into $(VENV) (once)"
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing what its tests need into $(VENV) (once)"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.runtime
