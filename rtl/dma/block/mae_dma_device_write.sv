// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_device_write: writes rows of 64 bytes to byte ranges of the device memory.
//
// A job is the number of its first 64-byte granule, and its number of bytes; its rows follow in the
// order of the jobs. Exactly these bytes are written: the strobes of the last granule end with
// them, and lanes without strobe are zero (docs/protocol.md, H19: no data outside the strobes).
// done_valid_o pulses in the clock in which the last write of a job is accepted. row_ready_o is
// combinational in mem_ready_i.
// Latency: 1 clock from row to write; a job accepts rows 2 clocks after it was offered.
// Throughput: one row a clock, also from job to job.
// Reset and clear: both drop everything and erase the data.
// Parameters: Legal: job_bytes_i 1..2^32 - 1, within the memory.
// Security: timing depends on lengths only; no masking.
// Source: docs/protocol.md, section 5, FILL.

`include "mae_assert.svh"

module mae_dma_device_write (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic        job_valid_i,
    output logic        job_ready_o,
    input  logic [34:0] job_granule_i,
    input  logic [31:0] job_bytes_i,

    input  logic         row_valid_i,
    output logic         row_ready_o,
    input  logic [511:0] row_data_i,
    input  logic [  6:0] row_bytes_i,
    input  logic         row_last_i,

    output logic         mem_valid_o,
    input  logic         mem_ready_i,
    output logic [ 34:0] mem_granule_o,
    output logic [ 63:0] mem_strb_o,
    output logic [511:0] mem_data_o,

    output logic done_valid_o  // pulse
);
  logic [34:0] granule_q, next_granule;
  logic [31:0] left_q, next_bytes;
  logic active_q, last_q, last, take, step, next_valid, next_take;
  logic [ 63:0] strb;
  logic [511:0] data;
  logic [  1:0] unused_count;

  mae_fifo #(
      .Width(35 + 32),
      .Depth(2)
  ) u_jobs (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (job_valid_i),
      .in_ready_o (job_ready_o),
      .in_data_i  ({job_granule_i, job_bytes_i}),
      .out_valid_o(next_valid),
      .out_ready_i(next_take),
      .out_data_o ({next_granule, next_bytes}),
      .count_o    (unused_count)
  );

  assign step        = !mem_valid_o || mem_ready_i;
  assign row_ready_o = active_q && step;
  assign take        = row_valid_i && row_ready_o;
  assign last        = left_q <= 32'd64;
  assign next_take   = !active_q || (take && last);
  assign strb        = last ? {64{1'b1}} >> (7'd64 - left_q[6:0]) : '1;

  always_comb begin
    for (int unsigned i = 0; i < 64; i++) data[8*i+:8] = row_data_i[8*i+:8] & {8{strb[i]}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q  <= 1'b0;
      granule_q <= '0;
      left_q    <= '0;
    end else if (clear_i) begin
      active_q  <= 1'b0;
      granule_q <= '0;
      left_q    <= '0;
    end else if (next_take) begin
      active_q  <= next_valid;
      granule_q <= next_granule;
      left_q    <= next_bytes;
    end else if (take) begin
      granule_q <= granule_q + 1'b1;
      left_q    <= left_q - 32'd64;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mem_valid_o   <= 1'b0;
      mem_granule_o <= '0;
      mem_strb_o    <= '0;
      mem_data_o    <= '0;
      last_q        <= 1'b0;
    end else if (clear_i) begin
      mem_valid_o   <= 1'b0;
      mem_granule_o <= '0;
      mem_strb_o    <= '0;
      mem_data_o    <= '0;
      last_q        <= 1'b0;
    end else if (step) begin
      mem_valid_o <= take;
      mem_data_o  <= take ? data : '0;  // erased when unused
      if (take) begin
        mem_granule_o <= granule_q;
        mem_strb_o    <= strb;
        last_q        <= last;
      end
    end
  end

  assign done_valid_o = mem_valid_o && mem_ready_i && last_q;

  `MAE_STREAM_HOLDS(MemHolds, mem_valid_o, mem_ready_i || clear_i, {mem_granule_o, mem_strb_o,
                                                                    mem_data_o})
  `MAE_ASSERT(RowsAsTheJob, !take || row_last_i == last && 32'(row_bytes_i) == (last ? left_q : 64))

endmodule
