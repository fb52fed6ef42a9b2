// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_slot_powers: computes the powers of the hash key H of a key slot when its first GCM
// message needs them. It signals which slots have theirs.
//
// want_*: a message waits for a slot's powers. They are made once: H = E(K, 0) is requested (ask_*,
// answer_*), then mae_ghash_interleaved gets OpSetH and OpPower for H^2 .. H^Lanes (op_*). A slot
// that is written or erased (changed_*) has none from the next clock on; what is being made for it
// is dropped.
// Latency: from want_valid_i to have_o: 1 clock, the answer, 2 * Lanes - 1 clocks.
// Throughput: one slot at a time.
// Reset and clear: no slot has powers after either; the user erases the powers themselves.
// Parameters: Legal: Lanes 1..16; KeySlots 1..64.
// Security: constant-time; H passes only from answer to operation, outside this module.

module mae_gcm_slot_powers
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned KeySlots = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic                     want_valid_i,
    input  key_slot_t                want_slot_i,
    input  logic                     changed_i,
    input  key_slot_t                changed_slot_i,
    output logic      [KeySlots-1:0] have_o,

    output logic      ask_valid_o,
    input  logic      ask_ready_i,
    output key_slot_t slot_o,          // of the request and of the operation
    input  logic      answer_valid_i,
    output logic      answer_taken_o,
    input  logic      answer_lost_i,   // the key was lost meanwhile

    output logic            op_valid_o,
    input  logic            op_ready_i,
    output ghash_op_e       op_o,
    output logic      [4:0] op_power_o
);
  localparam int unsigned SlotWidth = (KeySlots > 1) ? $clog2(KeySlots) : 1;
  typedef logic [SlotWidth-1:0] index_t;

  typedef enum logic [1:0] {
    Idle,
    Ask,
    Answer,
    Powers
  } state_e;

  state_e                   state_q;
  key_slot_t                slot_q;
  logic                     drop_q;  // the slot has changed since the request
  logic      [         4:0] power_q;
  logic      [KeySlots-1:0] have_q;
  logic                     changes;

  assign have_o = have_q;
  assign slot_o = slot_q;
  assign changes = changed_i && changed_slot_i == slot_q;
  assign ask_valid_o = state_q == Ask;
  assign op_valid_o = (answer_valid_i && !drop_q && !answer_lost_i) || state_q == Powers;
  assign op_o = (state_q == Powers) ? OpPower : OpSetH;
  assign op_power_o = power_q;
  assign answer_taken_o = answer_valid_i && (op_ready_i || !op_valid_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {slot_q, drop_q, power_q, have_q} <= '0;
      state_q <= Idle;
    end else if (clear_i) begin
      {slot_q, drop_q, power_q, have_q} <= '0;
      state_q <= Idle;
    end else begin
      if (changes) drop_q <= 1'b1;
      unique case (state_q)
        Idle: begin
          slot_q <= want_slot_i;
          drop_q <= 1'b0;
          if (want_valid_i && !have_q[index_t'(want_slot_i)] && !changed_i) state_q <= Ask;
        end
        Ask: if (ask_ready_i) state_q <= Answer;
        Answer: begin
          power_q <= 5'd2;
          if (answer_taken_o) begin
            state_q <= (op_valid_o && !changes && Lanes > 1) ? Powers : Idle;
            if (op_valid_o && Lanes == 1) have_q[index_t'(slot_q)] <= 1'b1;
          end
        end
        Powers: begin
          if (op_ready_i) begin
            power_q <= power_q + 1'b1;
            if (32'(power_q) == Lanes) begin
              state_q <= Idle;
              have_q[index_t'(slot_q)] <= !drop_q;
            end
          end
          if (changes || drop_q) state_q <= Idle;
        end
      endcase
      if (changed_i && 32'(changed_slot_i) < KeySlots) have_q[index_t'(changed_slot_i)] <= 1'b0;
    end
  end

endmodule
