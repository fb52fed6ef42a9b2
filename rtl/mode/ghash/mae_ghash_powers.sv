// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_powers: computes the powers 1 to Powers of the hash key H for KeyBanks keys, with one
// multiplier.
//
// H^(base + j) = H^base * H^j, with base the greatest power of two below the exponent. The square
// is the first product of its base, so that the next base begins at most 4 clocks later; from base
// 4 on there is no wait.
// Latency: all powers are valid two clocks after ready_o[bank] rises. 12 powers are valid 20 clocks
// after H.
// Throughput: one product a clock; from the clock that selects its factors to the one in which the
// product can be selected, it takes four clocks.
// Reset and clear: both erase all powers by the next clock and all factors 3 clocks later.
// Constraint: give h_valid_i only while h_ready_o is high.
// Parameters: Legal: Powers >= 2; KeyBanks 1..4.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3; Ghosh et al., section 4.1.

`include "mae_assert.svh"

module mae_ghash_powers
  import mae_aes_pkg::*;
#(
    parameter int unsigned Powers   = 12,
    parameter int unsigned KeyBanks = 2
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  clear_i,
    input  logic                  h_valid_i,
    output logic                  h_ready_o,
    input  bank_t                 h_bank_i,
    input  block_t                h_i,
    output logic   [KeyBanks-1:0] ready_o,
    output block_t                power_o  [KeyBanks][Powers+1]  // [b][k]: H^k; k = 0 is not used
);

  `MAE_PARAM(KeyBanksLegal, KeyBanks inside {[1 : 4]})
  `MAE_PARAM(PowersLegal, Powers >= 2)

  typedef logic [$clog2(Powers+1)-1:0] power_t;
  localparam int unsigned Latency = 3;  // clocks from the selection of the factors to the product

  block_t power_q[KeyBanks][Powers+1];
  assign power_o = power_q;

  // ---- The next product: base_q and j_q, which counts down to 1. wait_q: clocks until the square
  // of half this base is valid.
  logic run_q, issue_q, issue, last;
  logic [1:0] wait_q;
  logic [KeyBanks-1:0] bank_q;  // one-hot
  power_t base_q, j_q, base_next, rest;
  assign issue     = issue_q && wait_q == '0;
  assign base_next = base_q << 1;
  assign rest      = power_t'(Powers) - base_next;
  assign last      = j_q == power_t'(1) && 32'(base_q) * 2 >= Powers;

  // Destination of a product in progress: power and bank.
  typedef struct packed {
    logic   valid;
    logic   last;
    power_t to;
  } way_t;
  way_t way_q[Latency];
  logic [KeyBanks-1:0] ready_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {run_q, issue_q} <= '0;
      wait_q           <= '0;
      bank_q           <= '0;
      base_q           <= '0;
      j_q              <= '0;
      way_q            <= '{default: '0};
      ready_q          <= '0;
    end else if (clear_i) begin
      {run_q, issue_q} <= '0;
      wait_q           <= '0;
      bank_q           <= '0;
      base_q           <= '0;
      j_q              <= '0;
      way_q            <= '{default: '0};
      ready_q          <= '0;
    end else begin
      if (wait_q != '0) wait_q <= wait_q - 2'd1;
      if (issue) begin
        j_q <= j_q - power_t'(1);
        if (j_q == power_t'(1)) begin
          base_q  <= base_next;
          j_q     <= (rest < base_next) ? rest : base_next;
          issue_q <= !last;
          // The next square was started base_q - 1 clocks ago.
          wait_q  <= (32'(base_q) == 1) ? 2'd3 : (32'(base_q) == 2) ? 2'd2 : 2'd0;
        end
      end
      way_q[0] <= '{valid: issue, last: issue && last, to: base_q + j_q};
      for (int unsigned i = 1; i < Latency; i++) way_q[i] <= way_q[i-1];
      if (way_q[Latency-1].last) run_q <= 1'b0;
      if (way_q[0].last) ready_q <= ready_q | bank_q;
      if (h_valid_i) begin
        run_q   <= 1'b1;
        issue_q <= 1'b1;
        wait_q  <= '0;
        base_q  <= power_t'(1);
        j_q     <= power_t'(1);
        for (int unsigned b = 0; b < KeyBanks; b++) begin
          bank_q[b] <= h_bank_i == bank_t'(b);
          if (h_bank_i == bank_t'(b)) ready_q[b] <= 1'b0;
        end
      end
    end
  end
  assign h_ready_o = !run_q;
  assign ready_o   = ready_q;

  // ---- The factors, in registers, and the product.
  block_t high, low, high_q, low_q, product;
  logic unused_valid;
  always_comb begin
    high = '0;
    low  = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      for (int unsigned k = 1; k < Powers; k++) begin
        if (2 ** $clog2(k) == k) begin
          high |= power_q[b][k] & {128{issue && bank_q[b] && 32'(base_q) == k}};
        end
        low |= power_q[b][k] & {128{issue && bank_q[b] && 32'(j_q) == k}};
      end
    end
  end
  always_ff @(posedge clk_i) begin
    high_q <= high;
    low_q  <= low;
  end
  mae_gf128_mul u_mul (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i  (way_q[0].valid),
      .a_i      (high_q),
      .b_i      (low_q),
      .valid_o  (unused_valid),
      .product_o(product)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned b = 0; b < KeyBanks; b++) power_q[b] <= '{default: '0};
    end else if (clear_i) begin
      for (int unsigned b = 0; b < KeyBanks; b++) power_q[b] <= '{default: '0};
    end else begin
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (h_valid_i && h_bank_i == bank_t'(b)) power_q[b][1] <= h_i;
        for (int unsigned k = 2; k <= Powers; k++) begin
          if (way_q[Latency-1].valid && bank_q[b] && 32'(way_q[Latency-1].to) == k) begin
            power_q[b][k] <= product;
          end
        end
      end
    end
  end

  `MAE_ASSERT(OneExpansion, !h_valid_i || h_ready_o)

endmodule
