// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_dma_h2d: moves chunks from host memory to device memory, decrypts them, and verifies
// their tags.
//
// Exactly the bytes of a chunk are read from its host address, decrypted and written to device
// memory. moved_* ends a chunk, in order, when every beat has arrived, every write was accepted and
// the tag over AAD and ciphertext was compared. Data written before that are not verified: the
// region is locked meanwhile (docs/protocol.md, H8: quarantine). beat_error: a beat was an error
// response, or they did not have `length` bytes (H9). At most Chunks are in progress: a chunk of
// 16 KiB is read in fewer clocks than the memory takes to answer and the tag to be compared, so
// with two the bus would wait for the end of the oldest. gcm_*: to a mae_guard_chunk_gcm.
// Latency: 4 clocks from start to AR, 6 from the last row of a chunk to moved_*; from start to
// moved_* 17 clocks more than mae_dma_host_read and mae_dma_device_write alone, 7 from 1 KiB on.
// Throughput: one row a clock, one clock lost a chunk; for chunks of 16 KiB and more
// up to a memory latency of 300 clocks.
// Reset and clear: halt_i: no chunk starts. clear_i erases data: assert mover_rst_ni before it
// and release it; clearing_o is high while the buffers are erased.
// Parameters: PullRows is the number of buffered rows a chunk. Legal: PullRows as RowsPerContext,
// Chunks as Jobs of mae_dma_host_read.
// Security: timing depends on addresses and lengths only; no masking.
// Source: docs/protocol.md, section 5 (H1: no tag is revealed; H9, H17: exact beats and chunks).

`include "mae_assert.svh"

module mae_guard_dma_h2d
  import mae_guard_pkg::*;
#(
    parameter int unsigned PullRows = 512,  // buffered rows of a chunk
    parameter int unsigned Chunks   = 4
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic mover_rst_ni,
    input  logic halt_i,
    input  logic clear_i,
    output logic clearing_o,

    input  logic   start_valid_i,
    output logic   start_ready_o,
    input  chunk_t start_i,
    output logic   moved_valid_o,  // pulse
    output moved_t moved_o,

    // mae_guard_chunk_gcm
    output logic           gcm_chunk_valid_o,
    input  logic           gcm_chunk_ready_i,
    output chunk_t         gcm_chunk_o,
    output logic           gcm_row_valid_o,
    input  logic           gcm_row_ready_i,
    output logic   [511:0] gcm_row_data_o,
    output logic   [  6:0] gcm_row_bytes_o,
    output logic           gcm_row_last_o,
    input  logic           gcm_out_valid_i,
    output logic           gcm_out_ready_o,
    input  logic   [511:0] gcm_out_data_i,
    input  logic   [  6:0] gcm_out_bytes_i,
    input  logic           gcm_out_last_i,
    input  logic           gcm_tag_valid_i,
    output logic           gcm_tag_ready_o,
    input  logic           gcm_tag_ok_i,

    output logic         mem_valid_o,
    input  logic         mem_ready_i,
    output logic [ 34:0] mem_granule_o,
    output logic [ 63:0] mem_strb_o,
    output logic [511:0] mem_data_o,

    // AXI4 read channels, IDs with top bit 0
    output logic         ar_valid_o,
    input  logic         ar_ready_i,
    output logic [  7:0] ar_id_o,
    output logic [ 63:0] ar_addr_o,
    output logic [  7:0] ar_len_o,
    input  logic         r_valid_i,
    output logic         r_ready_o,   // constant 1
    input  logic [  7:0] r_id_i,
    input  logic [511:0] r_data_i,
    input  logic [  1:0] r_resp_i,
    input  logic         r_last_i
);
  localparam int unsigned CountWidth = $clog2(Chunks + 1);
  typedef logic [CountWidth-1:0] count_t;

  // A chunk is offered to each part until each one has accepted it.
  chunk_t chunk_q;
  logic to_pull_q, to_chunk_q, to_store_q;
  count_t under_way_q;
  logic start, pull_ready, store_ready;

  assign start_ready_o = !(to_pull_q || to_chunk_q || to_store_q) &&
      under_way_q != count_t'(Chunks) && !halt_i;
  assign start = start_valid_i && start_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {to_pull_q, to_chunk_q, to_store_q} <= '0;
      under_way_q                         <= '0;
      chunk_q                             <= '0;
    end else if (clear_i) begin
      {to_pull_q, to_chunk_q, to_store_q} <= '0;
      under_way_q                         <= '0;
      chunk_q                             <= '0;
    end else begin
      under_way_q <= under_way_q + count_t'(start) - count_t'(moved_valid_o);
      if (start) begin
        {to_pull_q, to_chunk_q, to_store_q} <= '1;
        chunk_q <= start_i;
      end else begin
        if (pull_ready && !halt_i) to_pull_q <= 1'b0;
        if (gcm_chunk_ready_i) to_chunk_q <= 1'b0;
        if (store_ready) to_store_q <= 1'b0;
      end
    end
  end

  logic pulled, pull_error, stored;

  assign gcm_chunk_valid_o = to_chunk_q;
  assign gcm_chunk_o       = chunk_q;
  assign gcm_tag_ready_o   = moved_valid_o;

  mae_dma_host_read #(
      .Jobs          (Chunks),
      .RowsPerContext(PullRows)
  ) u_pull (
      .clk_i,
      .rst_ni      (mover_rst_ni),
      .clear_i,
      .clearing_o,
      .job_valid_i (to_pull_q && !halt_i),
      .job_ready_o (pull_ready),
      .job_addr_i  (chunk_q.host),
      .job_bytes_i (chunk_q.length),
      .row_valid_o (gcm_row_valid_o),
      .row_ready_i (gcm_row_ready_i),
      .row_data_o  (gcm_row_data_o),
      .row_bytes_o (gcm_row_bytes_o),
      .row_last_o  (gcm_row_last_o),
      .done_valid_o(pulled),
      .done_error_o(pull_error),
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .r_ready_o,
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i
  );

  mae_dma_device_write u_store (
      .clk_i,
      .rst_ni,
      .clear_i,
      .job_valid_i  (to_store_q),
      .job_ready_o  (store_ready),
      .job_granule_i(chunk_q.address[40:6]),
      .job_bytes_i  (chunk_q.length),
      .row_valid_i  (gcm_out_valid_i),
      .row_ready_o  (gcm_out_ready_o),
      .row_data_i   (gcm_out_data_i),
      .row_bytes_i  (gcm_out_bytes_i),
      .row_last_i   (gcm_out_last_i),
      .mem_valid_o,
      .mem_ready_i,
      .mem_granule_o,
      .mem_strb_o,
      .mem_data_o,
      .done_valid_o (stored)
  );

  // Results of the chunks in progress, oldest first.
  logic pull_ended, pull_failed, unused_room;
  count_t stored_q, unused_count;

  mae_fifo #(
      .Width(1),
      .Depth(Chunks)
  ) u_pulled (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (pulled),
      .in_ready_o (unused_room),
      .in_data_i  (pull_error),
      .out_valid_o(pull_ended),
      .out_ready_i(moved_valid_o),
      .out_data_o (pull_failed),
      .count_o    (unused_count)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stored_q <= '0;
    else if (clear_i) stored_q <= '0;
    else stored_q <= stored_q + count_t'(stored) - count_t'(moved_valid_o);
  end

  assign moved_valid_o = gcm_tag_valid_i && pull_ended && stored_q != '0;
  assign moved_o = '{beat_error: pull_failed, tag_ok: gcm_tag_ok_i && !pull_failed, tag: '0};

  `MAE_ASSERT(NoMoreThanChunks, 32'(under_way_q) <= Chunks && 32'(stored_q) <= Chunks)
  `MAE_ASSERT(StartsAtGranules, !start || {start_i.host[5:0], start_i.address[5:0]} == '0)
  `MAE_ASSERT(LengthLegal, !start || start_i.length != '0 && start_i.address[63:41] == '0)

endmodule
