// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_interleaved: computes GHASH of many interleaved messages, one row of Lanes blocks of
// any context a clock.
//
// Each context stores its hash Y, each key slot its powers H^1 .. H^Lanes. A row of n blocks
// computes Y := Y * H^n ^ X_1 * H^n ^ X_2 * H^(n-1) ^ ... ^ X_n * H, with the powers of the slot
// that is named beside it. Bytes beyond row_bytes_i count as 0. A product takes two clocks, so
// full rows of one context in successive clocks add up to two sums by turns, the one in Y, the
// other in odd_q; a row multiplies the older sum by H^(2 * Lanes), and Y := older * H^Lanes ^
// newer joins both (fold). One context at a time has two sums: they are joined for an operation
// or a short row of that context, and for another context whose full rows follow each other.
// Operations (op_*) have priority over rows: OpSetH and OpClear take one clock, OpPower and
// OpBlock as long as a row of one block. Make the powers of one slot at a time, and use them
// from two clocks after the last one on. Read look_o, or clear its context by look_clear_i, only
// after an operation on it. row_ready_o is combinational in row_ctx_i, row_bytes_i and the
// operation, op_ready_o in op_i and op_ctx_i.
// Latency: the hash is in its register 2 clocks after the row, or 2 clocks after the sums are joined.
// Throughput: one row a clock. The third of successive rows of a context waits one clock, in which
// its H^(2 * Lanes) is computed; joining the sums takes 2 clocks, one of them from other contexts.
// Reset and clear: wipe_i erases context and slot wipe_index_i, if there are such, while everything
// else is stalled. erase_valid_i erases the powers of a slot within two clocks, also those that are
// being computed; hashes that use them are wrong from then on. The memories have no reset.
// Parameters: Small = 1 is for few LUTs of an FPGA: hashes and powers are in memories with one write
// port (mae_ghash_memories), and the products of the lanes (mae_clmul32_luts) are added before one
// reduction. Rows then wait while an OpClear is offered, and for a clock behind a look_clear_i in
// whose clock a hash was written; look_clear_i may come every 3 clocks. OpSetH and OpPower wait
// until an erasure has ended, which takes up to 2 clocks, in addition to the ones before it. Legal:
// Lanes 1..16; Contexts 1..256; KeySlots 1..64; Small 0 or 1.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.4.

`include "mae_assert.svh"

module mae_ghash_interleaved
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_ghash_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned KeySlots = 16,
    parameter bit Small = 1'b0,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1),
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned SlotWidth = (KeySlots > 1) ? $clog2(KeySlots) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic       wipe_i,
    input logic [7:0] wipe_index_i,

    input logic                 erase_valid_i,
    input logic [SlotWidth-1:0] erase_slot_i,

    input  logic                    row_valid_i,    // may depend on row_ready_o
    output logic                    row_ready_o,
    input  logic                    row_offered_i,  // row_valid_i will be high if row_ready_o is
    input  logic   [IndexWidth-1:0] row_ctx_i,
    input  logic   [ SlotWidth-1:0] row_slot_i,     // of the context's key
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,

    input  logic                       op_valid_i,
    output logic                       op_ready_o,
    input  ghash_op_e                  op_i,
    input  logic      [IndexWidth-1:0] op_ctx_i,    // for OpBlock, OpClear
    input  logic      [ SlotWidth-1:0] op_slot_i,   // for OpSetH, OpPower, OpBlock
    input  logic      [           4:0] op_power_i,  // for OpPower: which power, 2 or more
    input  block_t                     op_block_i,  // for OpSetH: H; for OpBlock: the block

    input  logic   [IndexWidth-1:0] look_ctx_i,
    input  logic                    look_clear_i,  // sets that hash to 0
    output block_t                  look_o         // the hash of look_ctx_i
);
  `MAE_PARAM(LanesLegal, Lanes inside {[1 : 16]})
  `MAE_PARAM(ContextsLegal, Contexts inside {[1 : 256]})
  `MAE_PARAM(KeySlotsLegal, KeySlots inside {[1 : MaxKeySlots]})

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [SlotWidth-1:0] slot_t;

  // The context with two sums; the product in progress.
  logic pair_q, newer_odd_q;  // newer_odd: the newer sum is odd_q
  index_t pair_ctx_q;
  slot_t  pair_slot_q;
  block_t odd_q, double_q;  // double: H^(2 * Lanes)
  logic product_q, to_odd_q, start_q, fold_q;
  index_t product_ctx_q;
  slot_t product_slot_q;
  logic [4:0] product_power_q;  // 0: the hash, otherwise that power
  logic op_product, op_hash, op_take, row_take, pair_free, row_pairs, full, row_ok, start;
  logic fold_op, fold_row, fold, hash_product;
  // Small: a hash or the powers of a slot are still to be erased; OpClear is offered, and may be
  // taken.
  logic busy, erasing, clear_waits, clear_ready;

  assign op_product = op_i inside {OpPower, OpBlock};
  assign op_hash = op_i inside {OpBlock, OpClear};
  assign hash_product = product_q && product_power_q == '0;
  assign op_take = op_valid_i && op_ready_o;

  always_comb begin
    op_ready_o = !wipe_i && !(product_q && product_power_q != '0);
    if (op_hash) begin
      op_ready_o = !wipe_i && !(hash_product && product_ctx_q == op_ctx_i) &&
          !(pair_q && pair_ctx_q == op_ctx_i);
    end else if (erasing) op_ready_o = 1'b0;
    if (busy || (clear_waits && !clear_ready)) op_ready_o = 1'b0;
  end

  assign full = 32'(row_bytes_i) > 16 * (Lanes - 1);
  assign row_pairs = pair_q && pair_ctx_q == row_ctx_i;
  always_comb begin
    row_ok = 1'b1;
    start  = 1'b0;
    if (row_pairs) row_ok = full && !start_q && !fold_q;
    else if (hash_product && product_ctx_q == row_ctx_i) begin
      start  = full && !pair_q;
      row_ok = start;
    end
  end

  // The sums are joined in a clock in which the row that waits, if any, cannot be taken.
  assign pair_free = !wipe_i && !busy && pair_q && !(hash_product && product_ctx_q == pair_ctx_q);
  assign fold_op = pair_free && op_valid_i && op_hash && op_ctx_i == pair_ctx_q;
  assign fold_row = pair_free && !op_take && row_offered_i && !row_ok && (row_pairs || full);
  assign fold = fold_op || fold_row;
  assign row_ready_o = !wipe_i && !busy && !clear_waits && !op_take && !fold_op && row_ok;
  assign row_take = row_valid_i && row_ready_o;

  // Operands: the last block is always multiplied by H, so a short row is right-aligned.
  index_t ctx;
  slot_t  slot;
  block_t hash, older, factor;
  block_t [Lanes-1:0] powers, masked, operand;
  logic [Lanes-1:0] used;
  logic used_hash;

  assign ctx  = op_take ? op_ctx_i : fold ? pair_ctx_q : row_ctx_i;
  assign slot = op_take ? op_slot_i : fold ? pair_slot_q : row_slot_i;

  always_comb begin
    operand   = '0;
    used      = '0;
    used_hash = 1'b0;
    older     = hash;
    factor    = powers[Lanes-1];
    for (int unsigned i = 0; i < Lanes; i++) begin
      masked[i] = row_data_i[i];
      if (32'(row_bytes_i) <= 16 * i) masked[i] = '0;
      else if (32'(row_bytes_i) < 16 * (i + 1)) masked[i] &= first_bytes(row_bytes_i[3:0]);
    end
    if (op_take && op_product) begin
      used[Lanes-1]    = 1'b1;
      used_hash        = op_i == OpBlock;
      operand[Lanes-1] = op_block_i;
      factor           = powers[0];
      if (op_i == OpPower) begin
        operand[Lanes-1] = '0;
        for (int unsigned k = 2; k <= Lanes; k++)
        if (32'(op_power_i) == k) operand[Lanes-1] = powers[k-2];
      end
    end else if (fold) begin
      used_hash = 1'b1;
      if (!newer_odd_q) older = odd_q;
    end else if (row_take) begin
      used_hash = 1'b1;
      for (int unsigned n = 1; n <= Lanes; n++) begin
        if ((32'(row_bytes_i) + 15) / 16 == n) begin
          factor = powers[n-1];
          for (int unsigned i = 0; i < n; i++) begin
            used[Lanes-n+i]    = 1'b1;
            operand[Lanes-n+i] = masked[i];
          end
        end
      end
      if (start) older = powers[Lanes-1];
      if (row_pairs) begin
        factor = double_q;
        if (!newer_odd_q) older = odd_q;
      end
    end
  end

  block_t sum, scaled;  // sum: of the row; scaled: the older sum times its power of H

  if (Small) begin : gen_added
    ghash_partial_t [Lanes-1:0] partial;
    ghash_partial_t added, scale_partial;
    logic unused_used;

    assign unused_used = ^used;  // other operands are 0
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      mae_gf128_partial_products #(
          .Luts(1'b1)
      ) u_partial (
          .clk_i,
          .a_i      (operand[i]),
          .b_i      (powers[Lanes-1-i]),
          .partial_o(partial[i])
      );
    end

    mae_gf128_partial_products #(
        .Luts(1'b1)
    ) u_scale (
        .clk_i,
        .a_i      (used_hash ? older : '0),
        .b_i      (factor),
        .partial_o(scale_partial)
    );

    always_comb begin
      added = '0;
      for (int unsigned i = 0; i < Lanes; i++) added ^= partial[i];
    end
    assign sum    = ghash_join(added);
    assign scaled = ghash_join(scale_partial);
  end else begin : gen_reduced
    block_t [Lanes-1:0] products;
    logic [Lanes-1:0] unused_valid;
    logic unused_scaled_valid;

    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      mae_gf128_mul #(
          .OutReg(1'b0)
      ) u_mul (
          .clk_i,
          .rst_ni,
          .clear_i  (wipe_i),
          .valid_i  (used[i]),
          .a_i      (operand[i]),
          .b_i      (powers[Lanes-1-i]),
          .valid_o  (unused_valid[i]),
          .product_o(products[i])
      );
    end

    mae_gf128_mul #(
        .OutReg(1'b0)
    ) u_scale (
        .clk_i,
        .rst_ni,
        .clear_i  (wipe_i),
        .valid_i  (used_hash),
        .a_i      (older),
        .b_i      (factor),
        .valid_o  (unused_scaled_valid),
        .product_o(scaled)
    );

    always_comb begin
      sum = '0;
      for (int unsigned i = 0; i < Lanes; i++) sum ^= products[i];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      product_q                   <= 1'b0;
      product_ctx_q               <= '0;
      product_slot_q              <= '0;
      product_power_q             <= '0;
      {to_odd_q, start_q, fold_q} <= '0;
      {pair_q, newer_odd_q}       <= '0;
      pair_ctx_q                  <= '0;
      pair_slot_q                 <= '0;
    end else begin
      product_q       <= (op_take && op_product) || row_take || fold;
      product_ctx_q   <= ctx;
      product_slot_q  <= slot;
      product_power_q <= (op_take && op_i == OpPower) ? op_power_i : '0;
      to_odd_q        <= row_take && row_pairs && !newer_odd_q;
      start_q         <= row_take && start;
      fold_q          <= fold;
      if (row_take && start) begin
        {pair_q, newer_odd_q} <= 2'b11;
        pair_ctx_q            <= row_ctx_i;
        pair_slot_q           <= row_slot_i;
      end else if (row_take && row_pairs) newer_odd_q <= !newer_odd_q;
      if (fold_q || (wipe_i && wipe_index_i == 8'(pair_ctx_q))) pair_q <= 1'b0;
    end
  end

  // A product that was in progress in the clock of an erasure is written in the next clock.
  logic  erase_again_q;
  slot_t erase_slot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {erase_again_q, erase_slot_q} <= '0;
    else {erase_again_q, erase_slot_q} <= {erase_valid_i, erase_slot_i};
  end

  logic   sum_valid;
  block_t hash_sum;

  assign sum_valid = hash_product && !to_odd_q && !start_q;
  assign hash_sum  = sum ^ scaled ^ (fold_q ? odd_q : '0);

  always_ff @(posedge clk_i) begin
    if (fold && !newer_odd_q) odd_q <= hash;
    if (to_odd_q) odd_q <= sum ^ scaled;
    if (start_q) {odd_q, double_q} <= {sum, scaled};
    if (fold_q || (wipe_i && wipe_index_i == 8'(pair_ctx_q))) {odd_q, double_q} <= '0;
    if (erase_valid_i && erase_slot_i == pair_slot_q) double_q <= '0;
    if (erase_again_q && erase_slot_q == pair_slot_q) double_q <= '0;
  end

  if (Small) begin : gen_memories
    assign clear_waits = op_valid_i && op_i == OpClear;

    mae_ghash_memories #(
        .Lanes   (Lanes),
        .Contexts(Contexts),
        .KeySlots(KeySlots)
    ) u_memories (
        .clk_i,
        .rst_ni,
        .wipe_i,
        .wipe_index_i,
        .ctx_i        (ctx),
        .hash_o       (hash),
        .look_ctx_i,
        .look_o,
        .sum_valid_i  (sum_valid),
        .sum_ctx_i    (product_ctx_q),
        .sum_i        (hash_sum),
        .clear_ready_o(clear_ready),
        .clears_now_i (op_take && op_i == OpClear),
        .look_clear_i,
        .busy_o       (busy),
        .slot_i       (slot),
        .powers_o     (powers),
        .h_valid_i    (op_take && op_i == OpSetH),
        .h_slot_i     (op_slot_i),
        .h_i          (op_block_i),
        .power_valid_i(product_q && product_power_q != '0),
        .power_i      (product_power_q),
        .power_slot_i (product_slot_q),
        .power_block_i(sum),
        .erase_valid_i,
        .erase_slot_i,
        .erasing_o    (erasing)
    );
  end else begin : gen_regs
    // Without reset; the user erases them after reset (wipe_i).
    block_t hash_q[Contexts];
    block_t [Lanes-1:0] power_q[KeySlots];  // [s][k]: H^(k+1)

    assign {busy, erasing, clear_waits} = '0;
    assign clear_ready = 1'b1;
    assign hash = hash_q[ctx];
    assign look_o = hash_q[look_ctx_i];
    assign powers = power_q[slot];

    always_ff @(posedge clk_i) begin
      if (sum_valid) hash_q[product_ctx_q] <= hash_sum;
      for (int unsigned k = 2; k <= Lanes; k++) begin
        if (product_q && 32'(product_power_q) == k) power_q[product_slot_q][k-1] <= sum;
      end
      if (op_take && op_i == OpSetH) power_q[op_slot_i][0] <= op_block_i;
      if (op_take && op_i == OpClear) hash_q[op_ctx_i] <= '0;
      if (look_clear_i) hash_q[look_ctx_i] <= '0;
      if (erase_valid_i) power_q[erase_slot_i] <= '0;
      if (erase_again_q) power_q[erase_slot_q] <= '0;
      if (wipe_i && 32'(wipe_index_i) < Contexts) hash_q[index_t'(wipe_index_i)] <= '0;
      if (wipe_i && 32'(wipe_index_i) < KeySlots) power_q[slot_t'(wipe_index_i)] <= '0;
    end
  end

  logic unsettled;  // a sum of the looked-at context is on its way

  assign unsettled = (hash_product && product_ctx_q == look_ctx_i) ||
      (pair_q && pair_ctx_q == look_ctx_i);

  `MAE_ASSERT(ClearSettled, !look_clear_i || !unsettled)
  `MAE_ASSERT(PowerLegal, !op_valid_i || op_i != OpPower || 32'(op_power_i) inside {[2 : Lanes]})
  `MAE_ASSERT(RowLegal, !row_valid_i || (row_bytes_i != '0 && 32'(row_bytes_i) <= 16 * Lanes))

endmodule
