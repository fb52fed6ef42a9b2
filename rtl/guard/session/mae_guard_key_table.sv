// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_key_table: the keys of a session's classes and epochs: who gets them, how much each may
// do.
//
// An epoch's four keys are derived one after the other (mae_guard_kdf) and handed to their engines,
// into the bank of the epoch's lowest bit; what is derived is kept nowhere else. Each key has a
// budget of blocks, counted from 1 for its hash key; a request that would pass the limit is refused
// and counts nothing (H12). An epoch's bank is overwritten by the next epoch but one, or zeroed by
// erase_i: its keys are then zeros, and all it may do is 0 blocks (H13).
//
// Epoch 0 tells a session from the last one: each class's digest is compared with the one that was
// made before, and kept in its place. replayed_o: all four were the same, so this session has the
// secret, session id and nonces, and so the keys, of the last one. The four words outlive clear_i
// and reset, not power; they are of no use to find a key.
//
// Latency: an epoch is ready 4 * 334 clocks after derive_i if the engines take their keys at once;
// erasing takes 8. A budget is answered in its clock. derive_i and erase_i: only when !busy_o.
// key_valid_o and what belongs to it hold until key_ready_i. clear_i: all keys on their way and all
// budgets are gone in the next clock; the engines are to be cleared with it. Legal: Budget 1..2^35
// - 1. Constant-time: yes. Masked: no. Source: docs/protocol.md §2, §8, §9.

`include "mae_assert.svh"

module mae_guard_key_table
  import mae_aes_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxTable,
    parameter longint unsigned Budget = BlocksPerKey  // of a key, that for its hash key included
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  session_t session_i,  // holds while busy
    input  logic     derive_i,   // the keys of epoch_i
    input  logic     erase_i,    // the bank of epoch_i
    input  epoch_t   epoch_i,    // holds while busy
    output logic     busy_o,
    output logic     replayed_o, // from the end of epoch 0's derivation to clear_i

    output logic       key_valid_o,
    input  logic       key_ready_i,
    output class_e     key_class_o,
    output logic       key_bank_o,
    output class_key_t key_o,

    input  logic          spend_valid_i,   // refused or not, the answer is in spend_ok_o
    input  class_e        spend_class_i,
    input  logic          spend_bank_i,
    input  logic   [16:0] spend_blocks_i,  // of the message or chunk, and 1
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
  count_t left_q[8];  // blocks that a key may still do: {class less 1, bank}
  logic kdf_done, unused_kdf_busy, given, first, same_q, same;
  digest_t digest;
  digest_t [3:0] last_q;  // of the last session
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
      .busy_o(unused_kdf_busy),
      .session_i,
      .class_i(class_code),
      .epoch_i,
      .done_o(kdf_done),
      .key_o(derived),
      .digest_o(digest)
  );

  assign first = state_q == Derive && kdf_done && epoch_i == '0;
  assign same  = (class_q == '0 || same_q) && (digest ^ last_q[class_q]) == '0;

  always_ff @(posedge clk_i) if (first) last_q[class_q] <= digest;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {same_q, replayed_o} <= '0;
    else if (clear_i) {same_q, replayed_o} <= '0;
    else if (first) {same_q, replayed_o} <= {same, same && class_q == 2'd3};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      erasing_q <= 1'b0;
      class_q   <= '0;
      key_q     <= '0;
      left_q    <= '{default: '0};
    end else if (clear_i) begin
      state_q <= Idle;
      key_q   <= '0;
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
          // The old key does nothing more while the new one is made.
          left_q[{class_q, epoch_i[0]}] <= '0;
          state_q <= erasing_q ? Give : Derive;
        end
        Derive:
        if (kdf_done) begin
          key_q   <= derived;
          state_q <= Give;
        end
        default:
        if (given) begin
          key_q <= '0;
          if (!erasing_q) left_q[{class_q, epoch_i[0]}] <= count_t'(Budget - 64'd1);
          class_q <= class_q + 1'b1;
          state_q <= (class_q == 2'd3) ? Idle : Start;
        end
      endcase
    end
  end

  `MAE_ASSERT(OneCommand, !(derive_i && erase_i))
  `MAE_STREAM_HOLDS(KeyHolds, key_valid_o, key_ready_i || clear_i, {key_class_o, key_bank_o, key_o})

endmodule
