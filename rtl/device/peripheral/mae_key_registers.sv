// SPDX-License-Identifier: Apache-2.0
//
// mae_key_registers: executes key commands from registers, which load a key into the key cache or
// erase a slot. A key is eight write-only words.
//
// Slot, size, operation and key are copied in the clock of go_i, so that later register writes
// cannot change a running command. clear_o erases the words in that clock, whatever the result of
// the command; the copy is erased once the key cache has accepted it. A command during another one,
// or while closed_i, is refused with ErrBusy.
// Latency: 1 clock, plus the wait of the key cache.
// Throughput: one command at a time.
// Reset and clear: both erase the copy of the key.
// Parameters: Legal: KeySlots 1..64; MaxKeyLen any of key_len_e.

`include "mae_assert.svh"

module mae_key_registers
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned KeySlots  = 16,
    parameter key_len_e    MaxKeyLen = Aes256
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic closed_i, // the key cache is being erased

    // from and to the registers
    input  logic                  go_i,     // pulse
    input  key_slot_t             slot_i,
    input  logic      [1:0]       len_i,
    input  logic                  erase_i,
    input  logic      [7:0][31:0] words_i,
    output logic                  clear_o,
    output logic                  busy_o,
    output error_e                error_o,  // of the last command

    // to mae_key_cache
    output logic       write_valid_o,
    input  logic       write_ready_i,
    output key_write_t write_o
);
  `MAE_PARAM(KeySlotsLegal, KeySlots >= 1 && KeySlots <= MaxKeySlots)

  logic       busy_q;
  error_e     error_q;
  key_write_t write_q;
  logic legal, start;

  assign legal = 7'(slot_i) < 7'(KeySlots) && (erase_i || len_i <= MaxKeyLen);
  assign start = go_i && !busy_q && !closed_i;
  assign write_valid_o = busy_q;
  assign write_o = write_q;
  assign clear_o = clear_i || go_i;
  assign busy_o = busy_q || go_i;
  assign error_o = error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      error_q <= ErrNone;
      write_q <= '0;
    end else begin
      if (start) begin
        busy_q  <= legal && !clear_i;
        error_q <= legal ? ErrNone : ErrBadKey;
        if (legal && !clear_i) begin
          write_q <= '{
              slot: slot_i,
              erase: erase_i,
              len: key_len_e'(len_i),
              key: erase_i ? '0 : key_of_words(words_i)
          };
        end
      end else begin
        if (go_i) error_q <= ErrBusy;
        if (write_ready_i || clear_i) begin
          busy_q  <= 1'b0;
          write_q <= '0;
        end
      end
    end
  end

  `MAE_STREAM_HOLDS(WriteHolds, write_valid_o, write_ready_i || clear_i, write_o)

endmodule
