// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_done_bits: stores one bit for each memory row whose block a memory job has computed
// out of order. The bit is called the mark.
//
// The bits are a small RAM beside the memory (one bit for 128), so that the logic does not grow
// with a job. All marks are 0 while no job runs: the job clears each mark that was set.
// Latency: 1 clock from address to mark.
// Throughput: one read and one write a clock, of the same row.
// Reset and clear: all marks are cleared in 2^RowBits clocks after reset and clear_i; ready_o is
// low meanwhile.
// Parameters: Legal: RowBits >= 1.
// Security: holds no secrets.

`include "mae_assert.svh"

module mae_memory_done_bits #(
    parameter int unsigned RowBits = 13
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    output logic ready_o,  // the marks are valid; use them only then

    input  logic [RowBits-1:0] row_i,
    input  logic               write_i,
    input  logic               mark_i,
    output logic               mark_o    // of row_i in the previous clock
);

  logic marks_q[2**RowBits];
  logic [RowBits-1:0] walk_q, row;
  logic walking_q, write, mark_q;

  assign ready_o = !walking_q;
  assign mark_o = mark_q;
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
    mark_q <= marks_q[row];
  end

  `MAE_ASSERT(NotWhileWalking, !write_i || ready_o || clear_i)

endmodule
