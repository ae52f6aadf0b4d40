# Thin names over ordinary tools. Everything is installed into .venv; a second run finds it there.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SUITE_VERSION := 4.26.0
SUITE := $(VENV)/sources/jsonschema-$(SUITE_VERSION)
WORKLOAD_VERSION := 2026.3.23
WORKLOAD := $(VENV)/sources/bfcl-eval-$(WORKLOAD_VERSION)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SDKS := .venv-sdks
LOWEST := .venv-lowest
EXTRAS := pydantic httpx2 fetch ddgs
UV_VERSION := 0.13.9
BENCH := .venv-bench
FASTEST := agent_framework agno haystack
PEERS := $(FASTEST) strands openai_agents langchain pydantic_ai google_adk smolagents llama_index
SDK_VERSIONS := openai==3.57.0 anthropic==2.14.0 google-genai==3.6.1 httpx-sse==0.4.3

.PHONY: demo test check suite sdks lowest chaos bench bench-all workload format clean

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

# Optional, and not a part of `check`: both validators over the official JSON Schema test suite, which the sources of
# jsonschema carry. It is fetched once, into .venv.
suite: $(VENV)/.dev $(SUITE)
	JSON_SCHEMA_TEST_SUITE=$(SUITE)/json $(BIN)/python -m pytest -q tests/tools/test_validators_agree.py

$(SUITE): | $(VENV)/.dev
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary jsonschema \
		--dest $(VENV)/sources jsonschema==$(SUITE_VERSION)
	@tar -xzf $(VENV)/sources/jsonschema-$(SUITE_VERSION).tar.gz -C $(VENV)/sources

# Optional, and not a part of `check`: the providers' own SDKs read the recorded answers, and must find in them what our
# adapters find. They are installed into a venv of their own, which `benchmarks/streaming.py` needs too.
sdks: $(SDKS)/.ready
	$(SDKS)/bin/python -m pytest -q tests/models/test_official_sdks.py

$(SDKS)/.ready: pyproject.toml Makefile | $(BIN)/python
	@echo "installing Toolwire and the providers' SDKs into $(SDKS) (once)"
	@$(BIN)/python -m venv $(SDKS)
	@$(SDKS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' $(SDK_VERSIONS)
	@touch $@

# Optional, and not a part of `check`: the tests with the oldest of every dependency that pyproject.toml allows.
lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/python -m pytest -q

$(LOWEST)/.ready: pyproject.toml Makefile | $(VENV)/.dev
	@echo "installing Toolwire with the oldest dependencies that it allows into $(LOWEST) (once)"
	@$(BIN)/python -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(LOWEST)/bin/uv pip compile --quiet --python $(LOWEST) --resolution lowest-direct --no-deps --upgrade $(EXTRAS:%=--extra %) pyproject.toml \
		--output-file $(LOWEST)/oldest.txt > /dev/null
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST) --constraint $(LOWEST)/oldest.txt --editable '.[dev]'
	@touch $@

# Optional: this toolkit beside loops written by hand and other toolkits, each in a venv of its own. benchmarks/README.md.
bench: $(patsubst %,$(BENCH)/%/.ready,toolwire $(FASTEST))
	$(BENCH)/toolwire/bin/python -m benchmarks.comparison

bench-all: $(patsubst %,$(BENCH)/%/.ready,toolwire $(PEERS))
	$(BENCH)/toolwire/bin/python -m benchmarks.comparison --all

$(BENCH)/%/.ready: benchmarks/comparison/requirements/%.txt | $(BIN)/python
	@echo "installing $* into $(BENCH)/$* (once)"
	@$(BIN)/python -m venv $(BENCH)/$*
	@$(BENCH)/$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

.PRECIOUS: $(BENCH)/%/.ready

# Optional too: conversations and back ends of the package bfcl-eval, which is fetched once, without what it requires.
workload: $(VENV)/.dev $(WORKLOAD)
	BFCL_SOURCES=$(WORKLOAD) $(BIN)/python -m pytest -q tests/workload

$(WORKLOAD): | $(VENV)/.dev
	@$(PIP_INSTALL) --no-deps --target $@ bfcl-eval==$(WORKLOAD_VERSION) mpmath==1.3.0

# Optional, about fifteen minutes: 100,000 runs in which everything goes wrong that may, and the full size of what runs at
# the same time. docs/faults.md says what came of it.
chaos: $(VENV)/.dev
	CHAOS_SCENARIOS=50000 CHAOS_FULL=1 $(BIN)/python -m pytest -q -s tests/faults

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(SDKS) $(LOWEST) $(BENCH) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

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
