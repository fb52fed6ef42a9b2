// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_device_read: reads byte ranges of the device memory and outputs them as rows of 64 bytes.
//
// A job is the number of its first 64-byte granule, and its number of bytes. Data return in the
// order of the reads, any number of clocks later, and always find space: at most as many reads are
// outstanding as Depth rows have space for. The last row of a job is marked; its bytes beyond the
// end are zero. job_ready_o is combinational in mem_ready_i; all other outputs come from registers.
// Latency: 1 clock from job to the first read, 1 from data to its row.
// Throughput: one row a clock, also from job to job, if data come at most Depth - 2 clocks after
// their read was accepted.
// Reset and clear: both drop everything and erase the data. Hold clear_i until the outstanding
// reads have returned.
// Parameters: Depth is the number of buffered rows. Legal: Depth >= 2 and not of the form 2^n - 1;
// job_bytes_i 1..2^32 - 1, within the memory.
// Security: timing depends on lengths only; no masking.
// Source: docs/protocol.md, section 5, FILL.

`include "mae_assert.svh"

module mae_dma_device_read #(
    parameter int unsigned Depth = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic        job_valid_i,
    output logic        job_ready_o,
    input  logic [34:0] job_granule_i,
    input  logic [31:0] job_bytes_i,

    output logic         mem_valid_o,
    input  logic         mem_ready_i,
    output logic [ 34:0] mem_granule_o,
    input  logic         mem_rvalid_i,
    input  logic [511:0] mem_rdata_i,

    output logic         row_valid_o,
    input  logic         row_ready_i,
    output logic [511:0] row_data_o,
    output logic [  6:0] row_bytes_o,
    output logic         row_last_o
);
  `MAE_PARAM(DepthLegal, Depth >= 2)

  typedef logic [$clog2(Depth+1)-1:0] count_t;

  logic [34:0] granule_q;
  logic [31:0] left_q;
  logic active_q, last, ask, give, room, data_ready, end_valid;
  logic [  6:0] bytes;
  logic [511:0] data;
  count_t asked, come;

  assign last          = left_q <= 32'd64;
  assign bytes         = last ? left_q[6:0] : 7'd64;
  assign mem_valid_o   = active_q && room;
  assign mem_granule_o = granule_q;
  assign ask           = mem_valid_o && mem_ready_i;
  assign give          = row_valid_o && row_ready_i;
  assign job_ready_o   = !active_q || (ask && last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q  <= 1'b0;
      granule_q <= '0;
      left_q    <= '0;
    end else if (clear_i) begin
      active_q  <= 1'b0;
      granule_q <= '0;
      left_q    <= '0;
    end else if (job_ready_o) begin
      active_q  <= job_valid_i;
      granule_q <= job_granule_i;
      left_q    <= job_bytes_i;
    end else if (ask) begin
      granule_q <= granule_q + 1'b1;
      left_q    <= left_q - 32'd64;
    end
  end

  // Requested rows, from the read until the row is accepted.
  mae_fifo #(
      .Width(8),
      .Depth(Depth)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (ask),
      .in_ready_o (room),
      .in_data_i  ({bytes, last}),
      .out_valid_o(end_valid),
      .out_ready_i(give),
      .out_data_o ({row_bytes_o, row_last_o}),
      .count_o    (asked)
  );

  mae_fifo #(
      .Width(512),
      .Depth(Depth)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (mem_rvalid_i),
      .in_ready_o (data_ready),
      .in_data_i  (mem_rdata_i),
      .out_valid_o(row_valid_o),
      .out_ready_i(row_ready_i),
      .out_data_o (data),
      .count_o    (come)
  );

  always_comb begin
    for (int unsigned i = 0; i < 64; i++) begin
      row_data_o[8*i+:8] = data[8*i+:8] & {8{i < 32'(row_bytes_o)}};
    end
  end

  `MAE_ASSERT(DataExpected, !mem_rvalid_i || clear_i || asked > come && data_ready)
  `MAE_ASSERT(RowHasItsEnd, !row_valid_o || end_valid)
  `MAE_STREAM_HOLDS(MemHolds, mem_valid_o, mem_ready_i || clear_i, mem_granule_o)

endmodule
