// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_chunk_memory: stores one row of data for each queued DMA chunk, in a memory that can be
// erased.
//
// Latency: read data come in the clock after the row number.
// Throughput: one row written and one read a clock.
// Reset and clear: the memory is erased in Rows clocks from the end of clear_i; busy_o is high
// meanwhile, and no row may be written.
// Parameters: Legal: Rows 2..1024; Width >= 1.
// Security: constant-time in data; no masking.
// Source: docs/protocol.md, section 5, SCRUB.

`include "mae_assert.svh"

module mae_guard_chunk_memory #(
    parameter int unsigned Rows = 32,
    parameter int unsigned Width = 360,
    localparam int unsigned RowWidth = $clog2(Rows)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic busy_o,

    input logic                write_i,
    input logic [RowWidth-1:0] write_row_i,
    input logic [   Width-1:0] write_data_i,

    input  logic [RowWidth-1:0] read_row_i,
    output logic [   Width-1:0] read_data_o
);
  `MAE_PARAM(RowsLegal, Rows >= 2 && Rows <= 1024)
  `MAE_PARAM(WidthLegal, Width >= 1)

  logic [Width-1:0] rows_q[Rows];
  logic [RowWidth-1:0] walk_q;
  logic walking_q;

  assign busy_o = walking_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (clear_i) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (walking_q) begin
      walk_q    <= walk_q + 1'b1;
      walking_q <= walk_q != RowWidth'(Rows - 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (walking_q || write_i) begin
      rows_q[walking_q?walk_q : write_row_i] <= walking_q ? '0 : write_data_i;
    end
    read_data_o <= rows_q[read_row_i];
  end

  `MAE_ASSERT(WriteOutsideWalk, !write_i || !walking_q)

endmodule
