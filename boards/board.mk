# SPDX-License-Identifier: Apache-2.0
# Shared by the boards' Makefiles. They set SYNTH (Yosys' command), and the rules from
# $(OUT)/net.json to the bitstream $(OUT)/$(BOARD).$(SUFFIX). BENCH, which tests/boards reads, names the
# top's clock and its period in ns, reset and its active level, serial input and output, LED and its lit level.
BOARD := $(notdir $(CURDIR))
ROOT := ../..
BIN := $(ROOT)/.venv/bin
OUT := $(ROOT)/build/boards/$(BOARD)
SOURCES := $(BOARD).v ../aes_uart.v
PASSES = read_verilog $(OUT)/core.v $(SOURCES); $(SYNTH) -top $(BOARD) -json $@

.PHONY: all
all: $(OUT)/$(BOARD).$(SUFFIX)

$(OUT)/net.json: $(OUT)/core.v $(SOURCES)
	$(BIN)/python -c 'from pyosys import libyosys as y; d = y.Design(); [y.run_pass(p, d) for p in "$(PASSES)".split("; ")]' \
	  > $(OUT)/yosys.log

$(OUT)/core.v: $(ROOT)/.venv/.ready-boards
	mkdir -p $(OUT)
	$(BIN)/python -m maeslant.cli files mae_cipher_min_area --plain -G Dirs=DirsEncrypt -G MaxKeyLen=Aes128 > $@

$(ROOT)/.venv/.ready-boards:
	$(MAKE) -C $(ROOT) setup-boards

.PHONY: clean
clean:
	rm -rf $(OUT)
