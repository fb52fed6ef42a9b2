// SPDX-License-Identifier: Apache-2.0
//
// mae_axi_burst_merge: merges requests for consecutive granules of a memory into bursts.
//
// A request joins the burst before it if it is for the granule behind it, of the same source and in
// the same block of Beats granules. A burst ends with its block, with a request that does not join,
// or after Wait clocks without one. hit_o[i]: a granule of block_i[i] was accepted and has not left
// (combinational in block_i). in_ready_o is combinational in in_valid_i, in_granule_i, in_source_i
// and out_ready_i; a request may be withdrawn. The outputs of a burst come from registers.
// Latency: from a burst's last request to out_valid_o 2 clocks, 1 + Wait if nothing follows it.
// Throughput: one request a clock, also if none joins.
// Reset and clear: reset empties it.
// Parameters: GranuleWidth is the width of a granule's number, Checks the number of compared
// blocks. Legal: Beats a power of two from 2 on, with Beats granules in 4 KiB at most; Wait 1..15;
// Checks >= 1.
// Security: holds addresses only.
// Source: ARM IHI 0022, A3.4.1 (a burst does not cross 4 KiB).

`include "mae_assert.svh"

module mae_axi_burst_merge #(
    parameter  int unsigned GranuleWidth = 26,
    parameter  int unsigned Beats        = 8,
    parameter  int unsigned Wait         = 2,
    parameter  int unsigned Checks       = 1,
    localparam int unsigned LowBits      = $clog2(Beats),
    localparam int unsigned BlockWidth   = GranuleWidth - LowBits
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    in_valid_i,
    output logic                    in_ready_o,
    input  logic [GranuleWidth-1:0] in_granule_i,
    input  logic                    in_source_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output logic [GranuleWidth-1:0] out_granule_o,  // the first
    output logic [     LowBits-1:0] out_last_o,     // number of granules - 1
    output logic                    out_source_o,

    input  logic [Checks-1:0][BlockWidth-1:0] block_i,
    output logic [Checks-1:0]                 hit_o,
    output logic                              empty_o
);
  `MAE_PARAM(BeatsLegal, Beats >= 2 && (Beats & (Beats - 1)) == 0)
  `MAE_PARAM(WaitLegal, Wait >= 1 && Wait <= 15)

  typedef struct packed {
    logic [BlockWidth-1:0] block;
    logic [LowBits-1:0]    low;
    logic [LowBits-1:0]    last;
    logic                  source;
  } burst_t;

  burst_t open_q, out_q;
  logic open_valid_q, out_valid_q;
  logic [3:0] idle_q;
  logic [LowBits:0] next_low;
  logic timed_out, joins, ends, move, take;

  assign next_low = (LowBits + 1)'(open_q.low) + (LowBits + 1)'(open_q.last) + 1'b1;
  assign timed_out = idle_q == 4'(Wait);
  assign joins = open_valid_q && !timed_out && in_source_i == open_q.source &&
      in_granule_i[GranuleWidth-1:LowBits] == open_q.block &&
      {1'b0, in_granule_i[LowBits-1:0]} == next_low;
  assign ends = open_valid_q && (next_low[LowBits] || timed_out || (in_valid_i && !joins));
  assign move = ends && (!out_valid_q || out_ready_i);
  assign in_ready_o = !open_valid_q || joins || move;
  assign take = in_valid_i && in_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {open_valid_q, open_q, idle_q, out_valid_q, out_q} <= '0;
    else begin
      if (take && joins) begin
        open_q.last <= open_q.last + 1'b1;
        idle_q <= '0;
      end else if (take) begin
        open_valid_q <= 1'b1;
        open_q <= '{
            block: in_granule_i[GranuleWidth-1:LowBits],
            low: in_granule_i[LowBits-1:0],
            last: '0,
            source: in_source_i
        };
        idle_q <= '0;
      end else if (move) open_valid_q <= 1'b0;
      else if (open_valid_q && !timed_out) idle_q <= idle_q + 1'b1;
      if (move) begin
        out_valid_q <= 1'b1;
        out_q <= open_q;
      end else if (out_ready_i) out_valid_q <= 1'b0;
    end
  end

  assign out_valid_o = out_valid_q;
  assign out_granule_o = {out_q.block, out_q.low};
  assign out_last_o = out_q.last;
  assign out_source_o = out_q.source;
  assign empty_o = !open_valid_q && !out_valid_q;

  always_comb begin
    for (int unsigned i = 0; i < Checks; i++) begin
      hit_o[i] = (open_valid_q && open_q.block == block_i[i]) ||
          (out_valid_q && out_q.block == block_i[i]);
    end
  end

  `MAE_STREAM_HOLDS(BurstHolds, out_valid_o, out_ready_i, {out_granule_o, out_last_o, out_source_o})

endmodule
