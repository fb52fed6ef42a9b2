# SPDX-License-Identifier: Apache-2.0
# The front door. `make help` lists the targets from the comments behind them.
SHELL := /bin/bash
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready-run
PYTHON ?= python3
# As maeslant/paths.py has it.
BUILD := $(or $(MAESLANT_BUILD),build)
EXTRAS := synth boards soc measure prove plot cluster fhe nn litex docs site test
FILE ?=
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
# A worker takes neighbours, which share simulators, and at the end what the other has left.
# With bytecode: the tests start hundreds of Python processes.
PYTEST = PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n 2 --dist worksteal
# Root would leave bytecode in the checkout that its owner cannot remove.
NO_BYTECODE = PYTHONDONTWRITEBYTECODE=1
INSTALL_TO = PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" DESTDIR="$(DESTDIR)" $(NO_BYTECODE)

.DEFAULT_GOAL := help
.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/:[^#]*## /\t/' | expand -t 14

SETUP := requirements.lock tools/packaging/setup.py maeslant/build/toolchain.py
# An environment outlives its Python: the system's is upgraded, or the checkout copied elsewhere.
.PHONY: again
again:
ifneq ($(shell $(PY) -c 'import pip' 2>/dev/null || echo broken),)
SETUP += again
endif
$(READY): $(SETUP)
	@$(NO_BYTECODE) $(PYTHON) tools/packaging/setup.py $(VENV) run
	@touch $@
$(EXTRAS:%=$(VENV)/.ready-%): $(VENV)/.ready-%: $(SETUP) | $(READY)
	@$(NO_BYTECODE) $(PYTHON) tools/packaging/setup.py $(VENV) $*
	@touch $@

.PHONY: setup setup-synth $(EXTRAS:%=setup-%)
setup: $(READY) ## Make the virtual environment with what `make run` needs (once)
setup-synth: ## Add synthesis to it; also setup-boards, -soc, -measure, -prove, -plot, -cluster, -litex, -docs, -test
$(EXTRAS:%=setup-%): setup-%: $(VENV)/.ready-%

.PHONY: run
run: $(READY) ## Take FILE (or one found here) through the card and back, digits through the protected card, attack it
	@$(VENV)/bin/maeslant demo "$(FILE)"

.PHONY: test
test: $(VENV)/.ready-test ## Run the first case of each test but the long ones (TEST=... for some, with all their cases)
	@$(PYTEST) $(if $(TEST),,--first) $(TEST)

.PHONY: test-full
test-full: $(VENV)/.ready-test ## Run all cases of all tests but those that take minutes (BUDGET=... minutes at most)
	@$(PYTEST) $(if $(BUDGET),--budget $(BUDGET) --timeout 0 -rs)

.PHONY: test-all
test-all: $(VENV)/.ready-test ## Run those that take minutes, too (TEST=... for some)
	@$(PYTEST) --timeout 7200 -m "slow or not slow" $(TEST)

.PHONY: linux
linux: $(VENV)/.ready-test ## Check the driver in Linux guests with a simulated card as PCI function (LINUX=... for options)
	@$(VENV)/bin/maeslant linux --check $(LINUX)

.PHONY: vectors
vectors: $(VENV)/.ready-test ## Run every NIST vector, Monte Carlo included, on the peripheral and on the card
	@$(PYTEST) --timeout 7200 -m "slow or not slow" tests/vectors

.PHONY: soak
soak: $(READY) ## Compare the GCM stream engine with OpenSSL over 100,000 messages (SOAK=... for more)
	@$(PY) -m maeslant.verify.soak $(SOAK)

.PHONY: soak-fhe
soak-fhe: $(VENV)/.ready-fhe ## Compare every CKKS operation with SEAL over 1,000 inputs (SOAK=... for others)
	@MAESLANT_OPTIMIZE="-O3 -march=native" $(PY) -m maeslant.fhe.soak $(SOAK)

.PHONY: torture
torture: $(READY) ## Torture the memory arbiter with a million accesses of a CPU (TORTURE=... for more)
	@$(PY) -m maeslant.verify.torture $(TORTURE)

.PHONY: prove
prove: $(VENV)/.ready-prove ## Prove formal/proofs.yml; try every state of the memory arbiter with small jobs
	@$(PY) -m maeslant.verify.prove
	@$(PY) -m maeslant.verify.arbiter_states

.PHONY: fuzz
fuzz: $(READY) ## Fuzz the protected driver, a minute a target (FUZZ=... seconds)
	@$(PY) -m maeslant.verify.driver_fuzz $(FUZZ)

.PHONY: tcb
tcb: $(READY) ## Count the lines of the protected driver that the enclave has to trust
	@$(PY) -m tools.count_tcb

.PHONY: mutations
mutations: $(VENV)/.ready-test ## Break the RTL on purpose, place by place, and see the tests fail
	@$(PY) tools/mutate.py

.PHONY: check
check: $(VENV)/.ready-test ## Check format, lint, layering, repository checks, bus ports, generated files
	@$(PY) tools/checks/check_layers.py
	@$(PY) tools/checks/check_tests.py
	@$(PY) tools/checks/check_ports.py
	@$(PY) -m maeslant.verify.prove --check
	@$(PY) tools/checks/check_pages.py
	@$(PY) tools/checks/check_snippets.py
	@$(PY) tools/gen_figures.py --check
	@$(PY) tools/gen_papers.py --check
	@$(PY) tools/mutate.py --check
	@$(PY) tools/gen_regs.py --check
	@$(PY) tools/gen_schedules.py --check
	@$(PY) -m tools.docsite --check
	@$(PY) tools/gen_core.py --check
	@$(PY) tools/lint.py

.PHONY: format
format: $(VENV)/.ready-test ## Format every source file
	@$(PY) tools/lint.py --fix

.PHONY: core
core: $(VENV)/.ready-docs ## Make the FuseSoC cores from the RTL
	@$(PY) tools/gen_core.py

.PHONY: site
site: $(VENV)/.ready-site ## Build the documentation site in build/site; fails on a broken link
	@$(PY) -m tools.docsite

.PHONY: schedules
schedules: $(VENV)/.ready-docs $(VENV)/.ready-measure ## Record the GCM engines' timing diagrams in a simulation
	@$(PY) tools/gen_schedules.py

.PHONY: lock
lock: ## Pin the newest versions of what pyproject.toml asks for in requirements.lock
	$(PYTHON) tools/packaging/lock.py --upgrade

.PHONY: install install-library uninstall
install: $(READY) ## Install the C library, headers, man page, completion (PREFIX=/usr/local DESTDIR=)
	@$(INSTALL_TO) $(PY) tools/packaging/install.py library documents
install-library: ## Install the C library and its headers alone; needs no virtual environment
	@$(INSTALL_TO) $(PYTHON) tools/packaging/install.py library
uninstall: ## Remove what make install put there, by the same PREFIX and DESTDIR
	@$(INSTALL_TO) $(PYTHON) tools/packaging/install.py uninstall

.PHONY: dist
dist: $(VENV)/.ready-synth ## Make the release archive in build/dist, with plain Verilog of the recommended builds
	@$(PY) tools/packaging/dist.py

.PHONY: clean
clean: ## Remove everything that was built in build/, keep the environment
	rm -rf "$$(readlink -f build)" build
	@$(if $(filter-out $(abspath build),$(abspath $(MAESLANT_BUILD))),echo 'what is in $(MAESLANT_BUILD) is left to you')

.PHONY: regs regs-html
regs: $(VENV)/.ready-docs ## Make registers' RTL and C headers from regs/
	@$(PY) tools/gen_regs.py
regs-html: $(VENV)/.ready-docs ## Make browsable register pages in build/registers
	@$(PY) tools/gen_regs.py --html "$(BUILD)/registers"
