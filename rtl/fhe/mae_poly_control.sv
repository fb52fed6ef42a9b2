// SPDX-License-Identifier: Apache-2.0
//
// mae_poly_control: sequences operations on polynomials word by word, and transforms stage by
// stage. It does so for all polynomial engines at once.
//
// start_i begins; beat_o tells the engines each clock's work; for a pass source_word_o and lane_o
// say where the automorphism galois_i takes the word from (mae_automorphism). lane_o comes a clock
// after its beat, with the slots' data. busy_o falls when the last result is in its slot. Stages
// follow each other without a gap: N / (4 Lanes) must exceed butterfly_clocks + 2. transform_i and
// galois_i must hold while busy_o. clear_i and reset stop it.
//
// Clocks from start_i to the clock in which busy_o is low: pass N / Lanes + Tail, transform
// LogN N / (2 Lanes) + Tail, Tail = butterfly_clocks + 3. Time depends on no data.

`include "mae_assert.svh"

module mae_poly_control
  import mae_fhe_pkg::*;
#(
    parameter int unsigned LogN = 12,
    parameter int unsigned Width = 37,
    parameter int unsigned Lanes = 16,
    localparam int unsigned LaneBits = $clog2(Lanes),
    localparam int unsigned WordBits = LogN - LaneBits
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic          start_i,
    input  logic          transform_i,
    input  logic [LogN:0] galois_i,
    output logic          busy_o,

    output beat_t                              beat_o,
    output logic  [WordBits-1:0]               source_word_o,
    output logic  [   Lanes-1:0][LaneBits-1:0] lane_o
);
  localparam int unsigned Delay = butterfly_clocks(
      Width, LogN + 1
  ) + 2;  // from a beat to its write
  localparam int unsigned DrainBits = $clog2(Delay + 1);
  // The next stage reads a word at least 2^(WordBits - 2) clocks after the stage before asked for
  // it.
  `MAE_PARAM(StagesFollow, 2 ** (WordBits - 2) > Delay)

  logic running_q;
  logic [DrainBits-1:0] drain_q;
  logic [3:0] stage_q;
  logic [WordBits-1:0] word_q;
  logic row_end, last;
  logic [Lanes-1:0][LaneBits-1:0] lane;

  assign row_end = transform_i ? word_q[WordBits-2:0] == '1 : word_q == '1;
  assign last = row_end && (!transform_i || stage_q == 4'(LogN - 1));
  assign busy_o = running_q || drain_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {running_q, drain_q, stage_q, word_q, beat_o} <= '0;
    end else if (clear_i) begin
      {running_q, drain_q, stage_q, word_q, beat_o} <= '0;
    end else begin
      beat_o.valid <= running_q;
      beat_o.transform <= transform_i;
      beat_o.stage <= stage_q;
      beat_o.word <= 10'(word_q);
      if (drain_q != '0) drain_q <= drain_q - 1'b1;
      if (running_q) begin
        word_q <= word_q + 1'b1;
        if (row_end) begin
          word_q  <= '0;
          stage_q <= stage_q + 1'b1;
        end
        if (last) begin
          running_q <= 1'b0;
          drain_q   <= DrainBits'(Delay);
        end
      end
      if (start_i && !busy_o) begin
        running_q <= 1'b1;
        stage_q   <= '0;
        word_q    <= '0;
      end
    end
  end

  mae_automorphism #(
      .LogN (LogN),
      .Lanes(Lanes)
  ) u_automorphism (
      .clk_i,
      .galois_i,
      .word_i(word_q),
      .word_o(source_word_o),
      .lane_o(lane)
  );

  always_ff @(posedge clk_i) lane_o <= lane;

  `MAE_ASSERT(StartWhenIdle, !start_i || !busy_o)

endmodule
