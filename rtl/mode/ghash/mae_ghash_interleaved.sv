// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_interleaved: computes GHASH of many interleaved messages, one row of Lanes blocks of
// any context a clock.
//
// Each context stores its hash Y and its powers H^1 .. H^Lanes. A row of n blocks computes Y := (Y
// ^ X_1) * H^n ^ X_2 * H^(n-1) ^ ... ^ X_n * H. Bytes beyond row_bytes_i count as 0. Operations
// (op_*) have priority over rows: OpSetH takes one clock, OpPower and OpBlock take as long as a row
// of one block. row_ready_o is combinational in row_ctx_i and the operation, op_ready_o in
// op_ctx_i.
// Latency: the hash is in its register 2 clocks after the row.
// Throughput: one row a clock; rows of one context every second clock, because a product takes two.
// Reset and clear: wipe_i erases context wipe_ctx_i, while everything else is stalled; OpClear
// erases one context. The memories have no reset.
// Parameters: Legal: Lanes 1..16; Contexts 1..256.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.4.

`include "mae_assert.svh"

module mae_ghash_interleaved
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1),
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  wipe_i,
    input logic [IndexWidth-1:0] wipe_ctx_i,

    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  logic   [IndexWidth-1:0] row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,

    input  logic                       op_valid_i,
    output logic                       op_ready_o,
    input  ghash_op_e                  op_i,
    input  logic      [IndexWidth-1:0] op_ctx_i,
    input  logic      [           4:0] op_power_i,  // for OpPower: which power, 2 or more
    input  block_t                     op_block_i,  // for OpSetH: H; for OpBlock: the block

    input  logic   [IndexWidth-1:0] look_ctx_i,
    output block_t                  look_o       // the hash of look_ctx_i
);
  `MAE_PARAM(LanesLegal, Lanes inside {[1 : 16]})
  `MAE_PARAM(ContextsLegal, Contexts inside {[1 : 256]})

  typedef logic [IndexWidth-1:0] index_t;

  // Memories without reset; the user erases them after reset (wipe_i).
  block_t hash_q[Contexts];
  block_t [Lanes-1:0] power_q[Contexts];  // [c][k]: H^(k+1)

  // The product in progress.
  logic product_q;
  index_t product_ctx_q;
  logic [4:0] product_power_q;  // 0: the hash, otherwise that power
  logic op_product, op_take, row_take;

  assign op_product = op_i inside {OpPower, OpBlock};
  assign op_ready_o = !wipe_i && !(product_q && product_ctx_q == op_ctx_i);
  assign op_take = op_valid_i && op_ready_o;
  assign row_ready_o = !wipe_i && !op_valid_i && !(product_q && product_ctx_q == row_ctx_i);
  assign row_take = row_valid_i && row_ready_o;

  // Operands: the last block is always multiplied by H, so a short row is right-aligned.
  index_t ctx;
  block_t hash;
  block_t [Lanes-1:0] powers, masked, operand;
  logic [Lanes-1:0] used;

  assign ctx    = op_valid_i ? op_ctx_i : row_ctx_i;
  assign hash   = hash_q[ctx];
  assign powers = power_q[ctx];

  always_comb begin
    operand = '0;
    used    = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      masked[i] = row_data_i[i];
      if (32'(row_bytes_i) <= 16 * i) masked[i] = '0;
      else if (32'(row_bytes_i) < 16 * (i + 1)) masked[i] &= first_bytes(row_bytes_i[3:0]);
    end
    if (op_take && op_product) begin
      used[Lanes-1]    = 1'b1;
      operand[Lanes-1] = op_block_i ^ hash;
      if (op_i == OpPower) begin
        operand[Lanes-1] = '0;
        for (int unsigned k = 2; k <= Lanes; k++)
        if (32'(op_power_i) == k) operand[Lanes-1] = powers[k-2];
      end
    end else if (row_take) begin
      for (int unsigned n = 1; n <= Lanes; n++) begin
        if ((32'(row_bytes_i) + 15) / 16 == n) begin
          for (int unsigned i = 0; i < n; i++) begin
            used[Lanes-n+i]    = 1'b1;
            operand[Lanes-n+i] = masked[i];
          end
          operand[Lanes-n] ^= hash;
        end
      end
    end
  end

  block_t [Lanes-1:0] products;
  block_t sum;
  logic [Lanes-1:0] unused_valid;

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

  always_comb begin
    sum = '0;
    for (int unsigned i = 0; i < Lanes; i++) sum ^= products[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      product_q       <= 1'b0;
      product_ctx_q   <= '0;
      product_power_q <= '0;
    end else begin
      product_q       <= (op_take && op_product) || row_take;
      product_ctx_q   <= ctx;
      product_power_q <= (op_take && op_i == OpPower) ? op_power_i : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (product_q && product_power_q == '0) hash_q[product_ctx_q] <= sum;
    for (int unsigned k = 2; k <= Lanes; k++) begin
      if (product_q && 32'(product_power_q) == k) power_q[product_ctx_q][k-1] <= sum;
    end
    if (op_take && op_i == OpSetH) begin
      hash_q[op_ctx_i]     <= '0;
      power_q[op_ctx_i][0] <= op_block_i;
    end
    if (op_take && op_i == OpZero) hash_q[op_ctx_i] <= '0;
    if (op_take && op_i == OpClear) begin
      hash_q[op_ctx_i]  <= '0;
      power_q[op_ctx_i] <= '0;
    end
    if (wipe_i) begin
      hash_q[wipe_ctx_i]  <= '0;
      power_q[wipe_ctx_i] <= '0;
    end
  end

  assign look_o = hash_q[look_ctx_i];

  `MAE_ASSERT(PowerLegal, !op_valid_i || op_i != OpPower || 32'(op_power_i) inside {[2 : Lanes]})
  `MAE_ASSERT(RowLegal, !row_valid_i || (row_bytes_i != '0 && 32'(row_bytes_i) <= 16 * Lanes))

endmodule
