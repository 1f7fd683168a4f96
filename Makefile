# `make grade` sets everything up and grades the sample class; `make test` sets up and passes
# everything.  Both work from a clean clone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUBMISSIONS ?= tests/sample_class
RESULTS ?= results
# Two processes, each with one file of tests at a time, share the two processors that CI has; more
# of them need more memory.
TEST_PROCESSES ?= 2
# The CPU build of torch.  Its local label keeps pip from taking a CUDA build in its place; where
# pip knows no index of CPU builds, give its address (see PyTorch's "Get started" page) as
# TORCH_INDEX.
TORCH := $(shell uname -s | grep -q Linux && echo 'torch==2.13.0+cpu' || echo 'torch==2.13.0')
TORCH_INDEX ?=
TORCH_OPTIONS := $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))

.PHONY: setup grade test test-slow lint format bench soak wheel clean

setup: $(VENV)/.ready

$(VENV)/.torch:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-cache-dir $(TORCH_OPTIONS) '$(TORCH)' || \
	  { echo "The CPU build of torch was not found. Run: make $(MAKECMDGOALS) TORCH_INDEX=ADDRESS," \
	    "with the address of PyTorch's index of CPU builds."; exit 1; }
	touch $@

$(VENV)/.ready: $(VENV)/.torch pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

grade: setup
	$(BIN)/grade $(SUBMISSIONS) --out $(RESULTS)

test: setup lint
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -m slow

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python -m benchmarks

# Classes of 100, 1,000 and 10,000 submissions: some seven minutes.
soak: setup
	$(BIN)/python -m benchmarks.growth

wheel: setup
	$(BIN)/python -m build --no-isolation --wheel

clean:
	rm -rf $(VENV) build dist results .pytest_cache .mypy_cache .ruff_cache
