# SPDX-License-Identifier: Apache-2.0
# Shared by the boards' Makefiles. They set SYNTH (Yosys' command), AFTER (passes after it), and the rules from
# $(OUT)/net.json to the bitstream $(OUT)/$(TOP).$(SUFFIX). BENCH, which tests/boards reads, names the
# top's clock and its period in ns, reset and its active level, serial input and output, LED and its lit level.
# The top is $(BOARD).v, which holds aes_uart, unless the Makefile sets TOP, with PART, the module of rtl/ that
# it holds, and SOURCES, its own files: SystemVerilog, which Yosys reads through slang. PROGRAM, a C program for
# mae_soc: its image is the top's parameter Image. EXTRAS: what of `make setup-...` it takes.
BOARD := $(notdir $(CURDIR))
TOP ?= $(BOARD)
EXTRAS ?= boards
ROOT := ../..
BIN := $(ROOT)/.venv/bin
ifneq ($(word 2,$(MAESLANT_BUILD)),)
$(error MAESLANT_BUILD: make takes no space in a path)
endif
OUT := $(or $(abspath $(MAESLANT_BUILD)),$(ROOT)/build)/boards/$(TOP)
ifdef PART
CORE := $(OUT)/core.f
IMAGE := $(if $(PROGRAM),$(OUT)/program.hex)
READ = read_slang -D SYNTHESIS -f $(CORE) $(SOURCES) --top $(TOP) $(if $(IMAGE),-G Image=\"$(IMAGE)\")
else
PART := mae_cipher_min_area --plain -G Dirs=DirsEncrypt -G MaxKeyLen=Aes128
SOURCES := $(BOARD).v ../aes_uart.v ../uart_tx.v
CORE := $(OUT)/core.v
READ = read_verilog $(CORE) $(SOURCES)
endif
PASSES = $(READ); $(SYNTH) -top $(TOP)$(AFTER); write_json $@

.DELETE_ON_ERROR:
.PHONY: all FORCE
all: $(OUT)/$(TOP).$(SUFFIX)

$(OUT)/net.json: $(CORE) $(SOURCES) $(IMAGE)
	$(BIN)/python -c 'from pyosys import libyosys as y; d = y.Design(); [y.run_pass(p, d) for p in "$(PASSES)".split("; ")]' \
	  > $(OUT)/yosys.log

$(CORE): $(EXTRAS:%=$(ROOT)/.venv/.ready-%)
	mkdir -p $(OUT)
	$(BIN)/python -m maeslant.cli files $(PART) > $@

# Always asked, for PROGRAM may be another one; an image that stays the same is not written.
$(OUT)/program.hex: $(CORE) FORCE
	$(BIN)/python -m maeslant.build.firmware $(PROGRAM) $@

$(ROOT)/.venv/.ready-%:
	$(MAKE) -C $(ROOT) setup-$*

.PHONY: clean
clean:
	rm -rf $(OUT)
