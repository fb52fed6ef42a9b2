// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_key_table: derives the keys of each epoch and delivers them to the AES-GCM engines. It
// limits the number of blocks under each key.
//
// The four keys of an epoch are derived one after the other (mae_guard_kdf) and loaded into the
// engines' bank given by the epoch's lowest bit; they are not stored elsewhere. Each key has a
// budget of blocks, which counts 1 for its hash key; a request that would exceed it is refused and
// does not count (docs/protocol.md, H12: limits). The bank of an epoch is overwritten by the next
// epoch but one, or by erase_i, which sets its keys to zero and its budget to 0 (H13: rekey).
//
// Latency: an epoch is ready 4 * 333 clocks after derive_i if the engines accept their keys at
// once; erasing takes 8 clocks. spend_ok_o is combinational.
// Throughput: one derivation at a time; one spend request a clock.
// Reset and clear: clear_i drops all keys in progress and all budgets by the next clock, reset after
// the first clock in it; clear the engines together with it.
// Constraint: give derive_i and erase_i only while busy_o is low. key_valid_o and its fields hold
// until key_ready_i.
// Parameters: Legal: Budget 1..2^35 - 1; Sbox any of sbox_impl_e.
// Security: constant-time; no masking.
// Source: docs/protocol.md, sections 2, 8 and 9.

`include "mae_assert.svh"

module mae_guard_key_table
  import mae_aes_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxTable,
    parameter longint unsigned Budget = BlocksPerKey  // blocks a key, with the one for its hash key
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  session_t session_i,  // must hold while busy_o
    input  logic     derive_i,   // derive the keys of epoch_i
    input  logic     erase_i,    // erase the bank of epoch_i
    input  epoch_t   epoch_i,    // must hold while busy_o
    output logic     busy_o,

    output logic       key_valid_o,
    input  logic       key_ready_i,
    output class_e     key_class_o,
    output logic       key_bank_o,
    output class_key_t key_o,

    input  logic          spend_valid_i,   // spend_ok_o tells whether it is granted
    input  class_e        spend_class_i,
    input  logic          spend_bank_i,
    input  logic   [16:0] spend_blocks_i,  // of the message or chunk, plus 1
    output logic          spend_ok_o
);
  `MAE_PARAM(BudgetLegal, Budget >= 1 && Budget < 64'd1 << 35)

  typedef logic [34:0] count_t;

  typedef enum logic [1:0] {
    Idle,
    Start,
    Derive,
    Give
  } state_e;

  state_e state_q;
  logic erasing_q;
  logic [1:0] class_q;  // less 1
  class_key_t key_q, derived;
  count_t left_q[8];  // remaining blocks of a key: {class less 1, bank}
  logic kdf_done, unused_kdf_busy, given;
  logic [2:0] spend_place;
  class_e class_code;

  assign class_code = class_e'(8'(class_q) + 8'd1);
  assign busy_o = state_q != Idle;
  assign given = state_q == Give && key_ready_i;
  assign spend_place = {2'(spend_class_i - 8'd1), spend_bank_i};
  assign spend_ok_o = count_t'(spend_blocks_i) <= left_q[spend_place];

  assign key_valid_o = state_q == Give;
  assign key_class_o = class_code;
  assign key_bank_o = epoch_i[0];
  assign key_o = key_q;

  mae_guard_kdf #(
      .Sbox(Sbox)
  ) u_kdf (
      .clk_i,
      .rst_ni,
      .clear_i,
      .start_i(state_q == Start && !erasing_q),
      .busy_o (unused_kdf_busy),
      .session_i,
      .class_i(class_code),
      .epoch_i,
      .done_o (kdf_done),
      .key_o  (derived)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      erasing_q <= 1'b0;
      class_q   <= '0;
      left_q    <= '{default: '0};
    end else if (clear_i) begin
      state_q <= Idle;
      left_q  <= '{default: '0};
    end else begin
      if (spend_valid_i && spend_ok_o) begin
        left_q[spend_place] <= left_q[spend_place] - count_t'(spend_blocks_i);
      end
      unique case (state_q)
        Idle: begin
          class_q   <= '0;
          erasing_q <= erase_i;
          if (derive_i || erase_i) state_q <= Start;
        end
        Start: begin
          // The old key has no budget while the new one is derived.
          left_q[{class_q, epoch_i[0]}] <= '0;
          state_q <= erasing_q ? Give : Derive;
        end
        Derive: if (kdf_done) state_q <= Give;
        default:
        if (given) begin
          if (!erasing_q) left_q[{class_q, epoch_i[0]}] <= count_t'(Budget - 64'd1);
          class_q <= class_q + 1'b1;
          state_q <= (class_q == 2'd3) ? Idle : Start;
        end
      endcase
    end
  end

  // Erased by a synchronous reset, which costs no LUT.
  always_ff @(posedge clk_i) begin
    if (clear_i || given || state_q == Idle) key_q <= '0;
    else if (kdf_done) key_q <= derived;
  end

  `MAE_ASSERT(OneCommand, !(derive_i && erase_i))
  `MAE_STREAM_HOLDS(KeyHolds, key_valid_o, key_ready_i || clear_i, {key_class_o, key_bank_o, key_o})

endmodule
