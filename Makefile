# Every target does its own set-up, asks no questions, and is quick the second time.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-vllm-versions test-vllm-conformance test-properties test-outputs test-long test-kills test-gpu lint format screenshots clean distclean

# Nothing installed outside .venv may take part.
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH
unexport PYTHONHOME

PROPERTY_TESTS := tests/collector/policies

help: ## Say what there is
	@echo "RadixFlow workbench. Targets:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST) \
	    | { if [ -e scripts/screenshots.py ]; then cat; else grep -v 'make screenshots'; fi; }
	@echo "PYTHON=/path/to/python3.12 chooses the interpreter, RADIXFLOW_ENGINE=cpu|gpu|none the engine."

setup: ## Make .venv with everything pinned, and find or install Chromium for the browser tests
	@scripts/setup

demo: ## Record the tiny hybrid model under two policies, write the report, start the app (NO_APP=1: no app)
	@scripts/setup --no-browser
	@scripts/demo

test: ## Lint, check types and arrows, run every test
	@scripts/setup
	@.venv/bin/python -I scripts/run_tests.py

test-vllm-versions: ## Run the scheduler tests over the other supported vLLM releases too (fetches them once)
	@scripts/setup --no-browser
	@.venv/bin/python scripts/vllm_versions/setup.py
	@.venv/bin/python scripts/vllm_versions/run_tests.py

test-vllm-conformance: ## Run vLLM's own scheduler tests over our scheduler classes (fetches them once; minutes)
	@scripts/setup --no-browser
	@.venv/bin/python scripts/vllm_conformance/run_tests.py

test-properties: ## Run the scheduler's property tests on 10,000 random states and 1,000 random streams (long)
	@scripts/setup --no-browser
	@RADIXFLOW_NUM_STATES=10000 RADIXFLOW_NUM_STREAMS=1000 .venv/bin/python -m pytest -n 2 --timeout 14400 $(PROPERTY_TESTS)

test-outputs: ## Audit the answers of every policy on the real engine (minutes)
	@scripts/setup --no-browser
	@.venv/bin/python -m pytest -m audit tests/collector/outputs

test-long: ## Record servers, odd runs and overhead on the real engine, and every policy's ledgers (many minutes)
	@scripts/setup --no-browser
	@.venv/bin/python -m pytest -m long tests
	@RADIXFLOW_NUM_STREAMS=100 .venv/bin/python -m pytest -n 2 tests/collector/streams/test_recorded_ledgers.py

test-kills: ## Kill recordings, whole engines and clients at random moments (minutes)
	@scripts/setup --no-browser
	@RADIXFLOW_NUM_KILLS=50 .venv/bin/python -m pytest tests/collector/odd_runs/test_kills.py
	@.venv/bin/python -m pytest -m kills tests/collector/odd_runs

test-gpu: ## Record a hybrid without weights on a CUDA device and check it, in 5 minutes at most (GPU_RUNS=FOLDER)
	@scripts/setup --no-browser
	@PYTHONPATH=.import_root .venv/bin/python -m tests.gpu.record_on_cuda --output $(or $(GPU_RUNS),runs/gpu)

lint: ## Lint, check types and arrows
	@scripts/setup --no-browser
	@.venv/bin/python -I scripts/run_tests.py --lint-only

format: ## Let ruff format and mend what it can
	@scripts/setup --no-browser
	@.venv/bin/ruff check --quiet --fix-only .
	@.venv/bin/ruff format .

ifneq ($(wildcard scripts/screenshots.py),)
screenshots: ## Take pictures of every page of the app
	@scripts/setup
	@.venv/bin/python scripts/screenshots.py
endif

clean: ## Remove caches and build outputs; keep .venv and runs
	@rm -rf build dist screenshots .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .cache/lock .cache/tests
	@find app collector schema tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove .venv as well; keep runs
	@rm -rf .venv .cache
