// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_dma_d2h: moves chunks from device memory to host memory, encrypts them, and returns
// their tags.
//
// Exactly the bytes of a chunk are read from device memory, encrypted and written to its host
// address; lanes without strobe are zero (docs/protocol.md, H19). moved_* ends a chunk, in order,
// when all write responses have arrived, with the tag over AAD and ciphertext. beat_error: a write
// response was an error, or the rows did not have `length` bytes. The region is locked against
// writes meanwhile (H8: quarantine). At most two chunks are in progress. gcm_*: to a
// mae_guard_chunk_gcm.
// Latency: 20 clocks from start to the first row, 5 from the last write response to moved_*; from
// start to moved_* 17 clocks more than mae_dma_device_read and mae_dma_host_write alone.
// Throughput: one row a clock, one clock lost a chunk; for chunks of 64 KiB up to a memory latency
// of 300 clocks.
// Reset and clear: halt_i: no chunk starts. clear_i erases data: assert mover_rst_ni before it
// and release it; clearing_o is high while the buffers are erased.
// Parameters: PushRows is the number of buffered rows a chunk. Legal: PushRows as RowsPerContext of
// mae_dma_host_write; ReadRows as Depth of mae_dma_device_read.
// Security: timing depends on addresses and lengths only; no masking.
// Source: docs/protocol.md, section 5.

`include "mae_assert.svh"

module mae_guard_dma_d2h
  import mae_guard_pkg::*;
#(
    parameter int unsigned ReadRows = 8,  // of device memory, on their way
    parameter int unsigned PushRows = 64  // buffered rows of a chunk
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
    input  logic   [127:0] gcm_tag_i,

    output logic         mem_valid_o,
    input  logic         mem_ready_i,
    output logic [ 34:0] mem_granule_o,
    input  logic         mem_rvalid_i,
    input  logic [511:0] mem_rdata_i,

    // AXI4 write channels, IDs with top bit 0
    output logic         aw_valid_o,
    input  logic         aw_ready_i,
    output logic [  7:0] aw_id_o,
    output logic [ 63:0] aw_addr_o,
    output logic [  7:0] aw_len_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [511:0] w_data_o,
    output logic [ 63:0] w_strb_o,
    output logic         w_last_o,
    input  logic         b_valid_i,
    output logic         b_ready_o,   // constant 1
    input  logic [  7:0] b_id_i,
    input  logic [  1:0] b_resp_i
);
  // A chunk is offered to each part until each one has accepted it.
  chunk_t chunk_q;
  logic to_load_q, to_chunk_q, to_push_q;
  logic [1:0] under_way_q;
  logic start, load_ready, push_ready;

  assign start_ready_o = !(to_load_q || to_chunk_q || to_push_q) && !under_way_q[1] && !halt_i;
  assign start = start_valid_i && start_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {to_load_q, to_chunk_q, to_push_q} <= '0;
      under_way_q                        <= '0;
      chunk_q                            <= '0;
    end else if (clear_i) begin
      {to_load_q, to_chunk_q, to_push_q} <= '0;
      under_way_q                        <= '0;
      chunk_q                            <= '0;
    end else begin
      under_way_q <= under_way_q + 2'(start) - 2'(moved_valid_o);
      if (start) begin
        {to_load_q, to_chunk_q, to_push_q} <= '1;
        chunk_q <= start_i;
      end else begin
        if (load_ready) to_load_q <= 1'b0;
        if (gcm_chunk_ready_i) to_chunk_q <= 1'b0;
        if (push_ready && !halt_i) to_push_q <= 1'b0;
      end
    end
  end

  logic pushed, push_error;

  assign gcm_chunk_valid_o = to_chunk_q;
  assign gcm_chunk_o       = chunk_q;
  assign gcm_tag_ready_o   = moved_valid_o;

  mae_dma_device_read #(
      .Depth(ReadRows)
  ) u_load (
      .clk_i,
      .rst_ni,
      .clear_i,
      .job_valid_i  (to_load_q),
      .job_ready_o  (load_ready),
      .job_granule_i(chunk_q.address[40:6]),
      .job_bytes_i  (chunk_q.length),
      .mem_valid_o,
      .mem_ready_i,
      .mem_granule_o,
      .mem_rvalid_i,
      .mem_rdata_i,
      .row_valid_o  (gcm_row_valid_o),
      .row_ready_i  (gcm_row_ready_i),
      .row_data_o   (gcm_row_data_o),
      .row_bytes_o  (gcm_row_bytes_o),
      .row_last_o   (gcm_row_last_o)
  );

  mae_dma_host_write #(
      .RowsPerContext(PushRows)
  ) u_push (
      .clk_i,
      .rst_ni      (mover_rst_ni),
      .clear_i,
      .clearing_o,
      .job_valid_i (to_push_q && !halt_i),
      .job_ready_o (push_ready),
      .job_addr_i  (chunk_q.host),
      .job_bytes_i (chunk_q.length),
      .row_valid_i (gcm_out_valid_i),
      .row_ready_o (gcm_out_ready_o),
      .row_data_i  (gcm_out_data_i),
      .row_bytes_i (gcm_out_bytes_i),
      .row_last_i  (gcm_out_last_i),
      .done_valid_o(pushed),
      .done_error_o(push_error),
      .aw_valid_o,
      .aw_ready_i,
      .aw_id_o,
      .aw_addr_o,
      .aw_len_o,
      .w_valid_o,
      .w_ready_i,
      .w_data_o,
      .w_strb_o,
      .w_last_o,
      .b_valid_i,
      .b_ready_o,
      .b_id_i,
      .b_resp_i
  );

  // Results of the chunks in progress, oldest first.
  logic push_ended, push_failed, unused_room;
  logic [1:0] unused_count;

  mae_fifo #(
      .Width(1),
      .Depth(2)
  ) u_pushed (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (pushed),
      .in_ready_o (unused_room),
      .in_data_i  (push_error),
      .out_valid_o(push_ended),
      .out_ready_i(moved_valid_o),
      .out_data_o (push_failed),
      .count_o    (unused_count)
  );

  assign moved_valid_o = gcm_tag_valid_i && push_ended;
  assign moved_o = '{
          beat_error: push_failed || !gcm_tag_ok_i,
          tag_ok: gcm_tag_ok_i && !push_failed,
          tag: gcm_tag_i
      };

  `MAE_ASSERT(NoMoreThanTwo, under_way_q != 2'd3)
  `MAE_ASSERT(StartsAtGranules, !start || {start_i.host[5:0], start_i.address[5:0]} == '0)
  `MAE_ASSERT(LengthLegal, !start || start_i.length != '0 && start_i.address[63:41] == '0)

endmodule
