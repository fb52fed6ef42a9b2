# SPDX-License-Identifier: Apache-2.0
# The front door. `make help` lists the targets from the comments behind them.
SHELL := /bin/bash
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
FILE ?=

.DEFAULT_GOAL := help
.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(READY): requirements.lock tools/setup.py
	@python3 tools/setup.py $(VENV)
	@touch $@

.PHONY: setup
setup: $(READY) ## Make the virtual environment and the simulator (once)

.PHONY: run
run: $(READY) ## Take FILE (or one found here) through the card and back, digits through the protected card, attack it
	@$(VENV)/bin/maeslant demo "$(FILE)"

.PHONY: test
test: $(READY) ## Run the tests, but for the long ones (TEST=... for some)
	@$(PY) -m pytest -n 2 $(TEST)

.PHONY: test-all
test-all: $(READY) ## Run the long tests too (TEST=... for some)
	@$(PY) -m pytest -n 2 -m "slow or not slow" $(TEST)

.PHONY: vectors
vectors: $(READY) ## Run every NIST vector, Monte Carlo included, on the peripheral and on the card
	@$(PY) -m pytest -n 2 -m "slow or not slow" tests/vectors

.PHONY: soak
soak: $(READY) ## Compare the GCM stream engine with OpenSSL over 100,000 messages (SOAK=... for more)
	@$(PY) -m maeslant.verify.soak $(SOAK)

.PHONY: torture
torture: $(READY) ## Torture the memory arbiter with a million accesses of a CPU (TORTURE=... for more)
	@$(PY) -m maeslant.verify.torture $(TORTURE)

.PHONY: prove
prove: $(READY) ## Prove formal/proofs.yml; try every state of the memory arbiter with small jobs
	@$(PY) -m maeslant.verify.prove
	@$(PY) -m maeslant.verify.arbiter_states

.PHONY: fuzz
fuzz: $(READY) ## Fuzz the protected driver, a minute a target (FUZZ=... seconds)
	@$(PY) -m maeslant.verify.driver_fuzz $(FUZZ)

.PHONY: tcb
tcb: $(READY) ## Count the lines of the protected driver that the enclave has to trust
	@$(PY) -m tools.count_tcb

.PHONY: mutations
mutations: $(READY) ## Break the RTL on purpose, place by place, and see the tests fail
	@$(PY) tools/mutate.py

.PHONY: check
check: $(READY) ## Check format, lint, layering, repository checks and that nothing generated is stale
	@$(PY) tools/check_layers.py
	@$(PY) tools/check_tests.py
	@$(PY) tools/check_readme.py
	@$(PY) tools/check_snippets.py
	@$(PY) tools/gen_figures.py --check
	@$(PY) tools/mutate.py --check
	@$(PY) tools/gen_regs.py --check
	@$(PY) tools/gen_schedules.py --check
	@$(PY) -m tools.docsite --check
	@$(PY) tools/lint.py

.PHONY: format
format: $(READY) ## Format every source file
	@$(PY) tools/lint.py --fix

.PHONY: core
core: $(READY) ## Make the FuseSoC core file from the RTL
	@$(PY) tools/gen_core.py

.PHONY: site
site: $(READY) ## Build the documentation site in build/site; fails on a broken link
	@$(PY) -m tools.docsite

.PHONY: schedules
schedules: $(READY) ## Record the GCM engines' timing diagrams in a simulation
	@$(PY) tools/gen_schedules.py

.PHONY: lock
lock: ## Pin the newest versions of requirements.in in requirements.lock
	python3 tools/lock.py

.PHONY: clean
clean: ## Remove everything that was built, keep the environment
	rm -rf build

.PHONY: regs regs-html
regs: $(READY) ## Make registers' RTL and C headers from regs/
	@$(PY) tools/gen_regs.py
regs-html: $(READY) ## Make browsable register pages in build/registers
	@$(PY) tools/gen_regs.py --html build/registers
