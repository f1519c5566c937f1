# Two commands on a fresh machine: `make demo` and `make test`. Both build .venv from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test faults check format lock clean fidelity eval-local peers kits

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/.ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with make PYTHON=...")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: .venv/.ready  ## consolidate the example session, without a key and without a model
	@$(BIN)/python examples/demo.py

test: .venv/.ready  ## run the tests
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

faults: .venv/.ready  ## the fault suite in full: every step, with the waiting times of a real service
	AFTERTURN_TEST_FAULTS=full $(BIN)/python -m pytest tests/faults $(ARGS)

check: .venv/.ready  ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.ready  ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fidelity: .venv/.ready  ## what 1, 10 and 50 consolidations leave of planted truths, with helpful and hostile models
	PYTHONPATH=bench $(BIN)/python -m fidelity $(ARGS)

eval-local: .venv/.ready  ## everything with a real model: AFTERTURN_EVAL_MODEL, AFTERTURN_EVAL_API_BASE
	PYTHONPATH=bench:examples $(BIN)/python -m eval_local $(ARGS)

peers: .venv/.ready  ## the same sessions through other libraries and ours; makes an environment for each
	PYTHONPATH=bench $(BIN)/python -m peers $(ARGS)

kits: .venv/.ready  ## public kits that judge compaction, on ours, with their own scoring
	PYTHONPATH=bench $(BIN)/python -m peers.kits $(ARGS)

lock: .venv/.ready  ## resolve pyproject.toml anew into requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes \
		--no-emit-index-url --no-header --output-file requirements.lock pyproject.toml

clean:  ## remove what the other targets made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
