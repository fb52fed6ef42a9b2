// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_memories: stores the hashes of interleaved messages and the powers of H of their keys
// for mae_ghash_interleaved, in memories with one write port.
//
// They fit into LUT RAM of an FPGA. Two writes in one clock are made one after the other: a sum or
// a power of H that is computed is written at once; what is erased waits, and lets nothing that
// would need it begin. clears_now_i sets a hash to 0 and needs clear_ready_o. look_clear_i does so,
// too: at once, or as soon as no sum is written; busy_o is high until then. While erasing_o is
// high, powers of an erased slot are still there; give no h_valid_i, begin no power.
// Latency: a value that is written in one clock is read in the next. An erasure takes 2 clocks
// after a clock in which a sum or power is written.
// Throughput: one sum and one power a clock; a look_clear_i every 3 clocks.
// Reset and clear: wipe_i erases context and slot wipe_index_i, if there are such, and drops what
// else would be written in this clock. The memories have no reset.
// Parameters: Legal: Lanes 1..16; Contexts 1..256; KeySlots 1..64.

`include "mae_assert.svh"

module mae_ghash_memories
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned KeySlots = 16,
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned SlotWidth = (KeySlots > 1) ? $clog2(KeySlots) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic       wipe_i,
    input logic [7:0] wipe_index_i,

    input  logic   [IndexWidth-1:0] ctx_i,
    output block_t                  hash_o,
    input  logic   [IndexWidth-1:0] look_ctx_i,
    output block_t                  look_o,

    input  logic                    sum_valid_i,    // the hash of sum_ctx_i
    input  logic   [IndexWidth-1:0] sum_ctx_i,
    input  block_t                  sum_i,
    output logic                    clear_ready_o,
    input  logic                    clears_now_i,   // the hash of ctx_i
    input  logic                    look_clear_i,   // the hash of look_ctx_i
    output logic                    busy_o,         // let no sum begin

    input  logic   [SlotWidth-1:0] slot_i,
    output block_t [    Lanes-1:0] powers_o, // [k]: H^(k+1)

    input  logic                   h_valid_i,      // H of h_slot_i
    input  logic   [SlotWidth-1:0] h_slot_i,
    input  block_t                 h_i,
    input  logic                   power_valid_i,  // H^power_i of power_slot_i
    input  logic   [          4:0] power_i,
    input  logic   [SlotWidth-1:0] power_slot_i,
    input  block_t                 power_block_i,
    input  logic                   erase_valid_i,  // all powers of erase_slot_i
    input  logic   [SlotWidth-1:0] erase_slot_i,
    output logic                   erasing_o
);
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [SlotWidth-1:0] slot_t;

  // ---- The hashes.
  block_t hash_q[Contexts];
  logic later_q, write, wipes_hash;
  index_t later_ctx_q, write_ctx;

  assign wipes_hash = wipe_i && 32'(wipe_index_i) < Contexts;
  assign clear_ready_o = !sum_valid_i && !look_clear_i && !later_q;
  assign busy_o = later_q;
  assign write = wipe_i ? wipes_hash : sum_valid_i || clears_now_i || later_q || look_clear_i;
  assign hash_o = hash_q[ctx_i];
  assign look_o = hash_q[look_ctx_i];

  always_comb begin
    if (wipe_i) write_ctx = index_t'(wipe_index_i);
    else if (sum_valid_i) write_ctx = sum_ctx_i;
    else if (clears_now_i) write_ctx = ctx_i;
    else write_ctx = later_q ? later_ctx_q : look_ctx_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {later_q, later_ctx_q} <= '0;
    else if (wipe_i) {later_q, later_ctx_q} <= '0;
    else if (look_clear_i) {later_q, later_ctx_q} <= {sum_valid_i, look_ctx_i};
    else if (!sum_valid_i) later_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (write) hash_q[write_ctx] <= (wipe_i || !sum_valid_i) ? '0 : sum_i;
  end

  // ---- The powers of H. Those of a slot are erased together, in a clock without another write.
  logic [KeySlots-1:0] erase_q;
  logic erase, wipes_slot;
  slot_t erase_slot;

  assign wipes_slot = wipe_i && 32'(wipe_index_i) < KeySlots;
  assign erasing_o  = erase_q != '0;
  assign erase      = erasing_o && !power_valid_i;

  always_comb begin
    erase_slot = '0;
    for (int unsigned i = 0; i < KeySlots; i++) if (erase_q[i]) erase_slot = slot_t'(i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) erase_q <= '0;
    else begin
      if (wipes_slot) erase_q[slot_t'(wipe_index_i)] <= 1'b0;
      else if (!wipe_i && erase) erase_q[erase_slot] <= 1'b0;
      if (erase_valid_i) erase_q[erase_slot_i] <= 1'b1;
    end
  end

  for (genvar k = 0; k < Lanes; k++) begin : gen_power
    block_t power_q[KeySlots];
    logic makes;
    slot_t power_slot;
    block_t power;

    // H itself is given, the others are computed.
    assign makes = (k == 0) ? h_valid_i : power_valid_i && 32'(power_i) == k + 1;
    assign power = (k == 0) ? h_i : power_block_i;

    always_comb begin
      if (wipe_i) power_slot = slot_t'(wipe_index_i);
      else if (makes) power_slot = (k == 0) ? h_slot_i : power_slot_i;
      else power_slot = erase_slot;
    end

    always_ff @(posedge clk_i) begin
      if (wipe_i ? wipes_slot : makes || erase) begin
        power_q[power_slot] <= (!wipe_i && makes) ? power : '0;
      end
    end

    assign powers_o[k] = power_q[slot_i];
  end

  `MAE_ASSERT(ClearTaken, !clears_now_i || (clear_ready_o && !wipe_i))
  `MAE_ASSERT(LookClearsApart, !look_clear_i || !later_q || wipe_i)
  `MAE_ASSERT(NothingBegins, !erasing_o || !h_valid_i)

endmodule
