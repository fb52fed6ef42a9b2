// SPDX-License-Identifier: Apache-2.0
//
// mae_ntt_twiddles: stores the twiddle factors of a number-theoretic transform and outputs those of
// a stage. They are the powers of a root of unity.
//
// The table is SEAL's: entry m + i (m = 2^stage, i < m) is the power that the butterflies of group
// i take, in Montgomery form, Lanes entries a word. In constant geometry butterfly k belongs to
// group k mod m, so one word of the table serves Lanes neighbouring butterflies. The inverse
// transform takes entry m + (m - 1 - i), the negated inverse of entry m + i; Gentleman and Sande's
// butterfly with v - u in place of u - v takes the sign back.
//
// Latency: 2 clocks from stage_i, word_i, inverse_i. Throughput: a word a clock. write_i writes a
// word. clear_i zeroes the registers and, at row write_word_i, the table. Time depends on no data.

module mae_ntt_twiddles #(
    parameter int unsigned LogN = 12,
    parameter int unsigned Width = 37,
    parameter int unsigned Lanes = 16,
    localparam int unsigned WordBits = LogN - $clog2(Lanes),
    localparam int unsigned StageBits = $clog2(LogN)
) (
    input logic clk_i,
    input logic clear_i,

    input logic                           write_i,
    input logic [WordBits-1:0]            write_word_i,
    input logic [   Lanes-1:0][Width-1:0] write_data_i,

    input  logic [StageBits-1:0]            stage_i,
    input  logic [ WordBits-2:0]            word_i,     // of butterflies
    input  logic                            inverse_i,
    output logic [    Lanes-1:0][Width-1:0] powers_o
);
  localparam int unsigned LaneBits = $clog2(Lanes);

  logic [Lanes-1:0][Width-1:0] table_q[2**WordBits];
  logic [Lanes-1:0][Width-1:0] word_q;
  logic [WordBits-1:0] first, group, address;
  logic wide;  // the stage has a word of powers or more
  logic [LaneBits-1:0] mask, base;
  logic [LaneBits-1:0] mask_q, base_q;
  logic inverse_q;

  assign wide = stage_i >= StageBits'(LaneBits);
  assign first = wide ? WordBits'(1) << (stage_i - StageBits'(LaneBits)) : '0;
  assign group = {1'b0, word_i} & (first - 1'b1);
  assign address = wide ? first + (inverse_i ? first - 1'b1 - group : group) : '0;
  // Lane l of a narrow stage: entry m + (l mod m), m a power of two below Lanes.
  assign base = wide ? '0 : LaneBits'(1) << stage_i;
  assign mask = wide ? '1 : base - 1'b1;

  always_ff @(posedge clk_i) begin
    if (clear_i || write_i) table_q[write_word_i] <= clear_i ? '0 : write_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      word_q <= '0;
      powers_o <= '0;
      {mask_q, base_q, inverse_q} <= '0;
    end else begin
      word_q <= table_q[address];
      {mask_q, base_q, inverse_q} <= {mask, base, inverse_i};
      for (int unsigned l = 0; l < Lanes; l++) begin
        powers_o[l] <= word_q[base_q|((inverse_q?~LaneBits'(l) : LaneBits'(l))&mask_q)];
      end
    end
  end

endmodule
