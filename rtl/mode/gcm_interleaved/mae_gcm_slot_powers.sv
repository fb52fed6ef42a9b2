// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_slot_powers: computes the powers of the hash key H of a key slot when its key is written,
// with a small cipher of its own. It signals which slots have theirs.
//
// changed_*: a slot is written or erased. It has no powers from the next clock on; what is being
// made for it is dropped. A written slot gets its powers in turn: its key is read (key_slot_o,
// key_i), H = E(K, 0) is computed, then mae_ghash_interleaved gets OpSetH and OpPower for H^2 ..
// H^Lanes (op_*). The slot for which a message waits (want_*) comes first.
// Latency: with op_ready_i high, Nr + Lanes + 4 clocks from changed_i to have_o, if no other slot is
// before it. In a clock with changed_i no slot's turn begins.
// Throughput: one slot in Nr + 4 clocks.
// Reset and clear: no slot has powers or waits for some after either; the user erases the powers
// themselves.
// Parameters: Legal: Lanes 1..16; KeySlots 1..64; MaxKeyLen any of key_len_e; Sbox any of
// sbox_impl_e.
// Security: constant-time; no masking. Key and H are erased as soon as H is in its place.
// Source: SP 800-38D §7.1, step 1.

module mae_gcm_slot_powers
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned KeySlots = 16,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic                     changed_i,
    input  logic                     changed_erase_i,  // the slot is empty now
    input  key_slot_t                changed_slot_i,
    input  logic                     want_valid_i,
    input  key_slot_t                want_slot_i,
    output logic      [KeySlots-1:0] have_o,

    output key_slot_t   key_slot_o,
    input  cipher_key_t key_i,       // the key of slot key_slot_o, bank 0

    output logic            op_valid_o,
    input  logic            op_ready_i,
    output ghash_op_e       op_o,
    output key_slot_t       op_slot_o,
    output logic      [4:0] op_power_o,
    output block_t          op_block_o   // H
);
  localparam int unsigned SlotWidth = (KeySlots > 1) ? $clog2(KeySlots) : 1;
  typedef logic [SlotWidth-1:0] index_t;
  typedef logic [KeySlots-1:0] set_t;

  typedef enum logic [2:0] {
    Idle,
    Load,   // the cipher gets the key
    Ask,    // and the block
    Run,
    Answer  // H waits to be put in its place
  } state_e;

  set_t have_q;
  set_t due_q;  // the key was written, H is still to be computed
  state_e state_q;
  key_slot_t slot_q;
  block_t h_q;
  logic powers_q;  // powers of power_slot_q are being made
  key_slot_t power_slot_q;
  logic [4:0] power_q;

  // The next slot.
  logic turn_valid, want_due, changes, h_set, power_set, power_changes;
  index_t turn_slot;
  set_t   unused_grant;

  assign want_due = want_valid_i && due_q[index_t'(want_slot_i)];

  mae_rr_arb #(
      .N(KeySlots)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (due_q),
      .advance_i(state_q == Idle && !changed_i && !want_due),
      .grant_o  (unused_grant),
      .index_o  (turn_slot),
      .valid_o  (turn_valid)
  );

  // H.
  logic unused_key_ready, unused_req_ready, h_valid;
  cipher_req_t zero_block;
  cipher_rsp_t rsp;

  assign zero_block = '{ctx: '0, bank: '0, dir: Encrypt, block: '0};
  assign key_slot_o = slot_q;
  assign changes    = changed_i && changed_slot_i == slot_q && state_q != Idle;

  mae_cipher_min_area #(
      .Dirs     (DirsEncrypt),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox)
  ) u_cipher (
      .clk_i,
      .rst_ni,
      .clear_i    (clear_i || changes || state_q == Answer),
      .key_valid_i(state_q == Load),
      .key_ready_o(unused_key_ready),
      .key_i,
      .req_valid_i(state_q == Ask),
      .req_ready_o(unused_req_ready),
      .req_i      (zero_block),
      .rsp_valid_o(h_valid),
      .rsp_o      (rsp)
  );

  // Operations.
  assign have_o        = have_q;
  assign op_valid_o    = state_q == Answer || powers_q;
  assign op_o          = powers_q ? OpPower : OpSetH;
  assign op_slot_o     = powers_q ? power_slot_q : slot_q;
  assign op_power_o    = power_q;
  assign op_block_o    = h_q;
  assign h_set         = state_q == Answer && !powers_q && op_ready_i;
  assign power_set     = powers_q && op_ready_i;
  assign power_changes = changed_i && changed_slot_i == power_slot_q && powers_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {have_q, due_q, slot_q, h_q, powers_q, power_slot_q, power_q} <= '0;
      state_q <= Idle;
    end else if (clear_i) begin
      {have_q, due_q, slot_q, h_q, powers_q, power_slot_q, power_q} <= '0;
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: begin
          slot_q <= want_due ? want_slot_i : key_slot_t'(turn_slot);
          // In a clock of a change the chosen slot may be the one that changes.
          if (turn_valid && !changed_i) begin
            state_q <= Load;
            due_q[want_due?index_t'(want_slot_i) : turn_slot] <= 1'b0;
          end
        end
        Load: state_q <= Ask;
        Ask:  state_q <= Run;
        Run:
        if (h_valid) begin
          state_q <= Answer;
          h_q     <= rsp.block;
        end
        default:
        if (h_set) begin
          state_q <= Idle;
          h_q     <= '0;
        end
      endcase
      if (changes) begin
        state_q <= Idle;
        h_q     <= '0;
      end

      if (h_set && !changes) begin
        powers_q <= Lanes > 1;
        if (Lanes == 1) have_q[index_t'(slot_q)] <= 1'b1;
        power_slot_q <= slot_q;
        power_q <= 5'd2;
      end
      if (power_set) begin
        power_q <= power_q + 1'b1;
        if (32'(power_q) == Lanes) begin
          powers_q <= 1'b0;
          have_q[index_t'(power_slot_q)] <= 1'b1;
        end
      end
      if (power_changes) powers_q <= 1'b0;

      if (changed_i && 32'(changed_slot_i) < KeySlots) begin
        have_q[index_t'(changed_slot_i)] <= 1'b0;
        due_q[index_t'(changed_slot_i)]  <= !changed_erase_i;
      end
    end
  end

  logic unused;
  assign unused = ^{unused_grant, unused_key_ready, unused_req_ready, rsp.ctx};

endmodule
