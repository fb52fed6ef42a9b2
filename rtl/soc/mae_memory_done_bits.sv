// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_done_bits: a bit for each row of the memory: "the block that begins here is already
// done".
//
// The bits are a small RAM beside the memory (one bit a 128), so the logic does not grow with a
// job. They are 0 whenever no job runs: whoever sets one is followed by the job, which clears it.
// After reset and clear_i a walk makes them 0, a row a clock: 2^RowBits clocks without ready_o.
// Latency: 1 clock from address to mark. A write and a read in one clock: one address only.
// Legal: RowBits 1 and more. No secrets.

`include "mae_assert.svh"

module mae_memory_done_bits #(
    parameter int unsigned RowBits = 13
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    output logic ready_o,  // all marks are what was written; only then are they used

    input  logic [RowBits-1:0] row_i,
    input  logic               write_i,
    input  logic               mark_i,
    output logic               mark_o    // of row_i a clock ago
);

  logic marks_q[2**RowBits];
  logic [RowBits-1:0] walk_q, row;
  logic walking_q, write;

  assign ready_o = !walking_q;
  assign row = walking_q ? walk_q : row_i;
  assign write = walking_q || write_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (clear_i) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (walking_q) begin
      walking_q <= walk_q != '1;
      walk_q    <= walk_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (write) marks_q[row] <= mark_i && !walking_q;
    mark_o <= marks_q[row];
  end

  `MAE_ASSERT(NotWhileWalking, !write_i || ready_o || clear_i)

endmodule
