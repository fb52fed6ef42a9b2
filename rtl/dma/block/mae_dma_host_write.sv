// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_host_write: writes rows to byte ranges of host memory over AXI4.
//
// A job is an address and a number of bytes; its rows follow in the order of the jobs, packed from
// its first byte on, the last one marked. Bytes beyond row_bytes_i must be zero, because they are
// put on the bus. done_valid_o pulses once a job, in order, after all its write responses;
// done_error_o: one of them was an error. Jobs alternate among Jobs contexts of a
// mae_dma_write_engine, so that rows of the next job are accepted while the last one waits for its
// write responses. job_ready_o and row_ready_o come from registers; w_ready_i has a combinational
// path to the read enable of the buffer.
// Latency: 6 clocks from the last row of a burst to its first W beat, 4 from the last write
// response to done_valid_o.
// Throughput: one row a clock, also from job to job.
// Reset and clear: clear_i, given after a reset, erases the stored rows; see mae_dma_write_engine.
// Parameters: Legal: DataWidth 128, 256, 512, 1024; IdWidth >= 2; Jobs 2, 4, 8...; job_bytes_i
// 1..2^32 - 1; the others as mae_dma_write_engine.
// Security: not constant-time, no masking: holds no secret but the data it moves.
// Source: docs/protocol.md, section 5, FILL.

`include "mae_assert.svh"

module mae_dma_host_write
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth      = 512,
    parameter  int unsigned IdWidth        = 8,
    parameter  int unsigned Jobs           = 2,
    parameter  int unsigned RowsPerContext = 64,
    parameter  int unsigned BurstBeats     = 8,
    localparam int unsigned BytesWidth     = $clog2(DataWidth / 8 + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,    // erases the buffer; only when idle
    output logic clearing_o,

    input  logic         job_valid_i,
    output logic         job_ready_o,
    input  addr_t        job_addr_i,
    input  logic  [31:0] job_bytes_i,

    input  logic                  row_valid_i,
    output logic                  row_ready_o,
    input  logic [ DataWidth-1:0] row_data_i,
    input  logic [BytesWidth-1:0] row_bytes_i,
    input  logic                  row_last_i,

    output logic done_valid_o,  // pulse
    output logic done_error_o,

    // AXI4 write channels
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,     // top bit 0
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    output logic                    b_ready_o,   // constant 1
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
  `MAE_PARAM(JobsLegal, Jobs >= 2 && 2 ** $clog2(Jobs) == Jobs)

  localparam int unsigned CtxWidth = $clog2(Jobs);
  typedef logic [CtxWidth-1:0] index_t;

  logic [Jobs-1:0] busy_q;  // from the job to done
  logic [Jobs-1:0] open_q;  // from the job to its last row
  logic [Jobs-1:0] ended_q, failed_q;  // complete, but an earlier job is not
  index_t job_q, row_q, done_q;  // contexts in turn: of the next job, row, done
  logic job_take, row_take, writer_ready, end_valid, end_error, end_now;
  logic [Jobs-1:0] seg_ready;  // a context without a job can accept one
  logic [Jobs-1:0] unused_room;
  index_t end_index;
  dma_ctx_t end_ctx;
  status_e end_status;
  logic [31:0] unused_bytes;

  assign job_ready_o = !busy_q[job_q];
  assign job_take    = job_valid_i && job_ready_o;
  assign row_ready_o = open_q[row_q] && writer_ready;
  assign row_take    = row_valid_i && row_ready_o;

  mae_dma_write_engine #(
      .DataWidth     (DataWidth),
      .Contexts      (Jobs),
      .IdWidth       (IdWidth),
      .RowsPerContext(RowsPerContext),
      .BurstBeats    (BurstBeats)
  ) u_write (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o,
      .seg_ready_o    (seg_ready),
      .seg_valid_i    (job_take),
      .seg_abort_i    (1'b0),
      .seg_ctx_i      (dma_ctx_t'(job_q)),
      .seg_addr_i     (job_addr_i),
      .seg_bytes_i    (job_bytes_i),
      .seg_last_i     (1'b1),
      .done_valid_o   (end_valid),
      .done_ready_i   (1'b1),
      .done_ctx_o     (end_ctx),
      .done_status_o  (end_status),
      .done_bytes_o   (unused_bytes),
      .row_valid_i    (row_valid_i && open_q[row_q]),
      .row_ready_o    (writer_ready),
      .row_ctx_i      (dma_ctx_t'(row_q)),
      .row_data_i,
      .row_bytes_i,
      .row_last_i,
      .row_room_o     (unused_room),
      .reserve_valid_i(1'b0),
      .reserve_ctx_i  ('0),
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

  // A short job may be complete before an earlier long one.
  assign end_index    = index_t'(end_ctx);
  assign end_error    = end_status != StatusOk;
  assign end_now      = end_valid && end_index == done_q;
  assign done_valid_o = ended_q[done_q] || end_now;
  assign done_error_o = ended_q[done_q] ? failed_q[done_q] : end_error;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= '0;
      open_q   <= '0;
      ended_q  <= '0;
      failed_q <= '0;
      job_q    <= '0;
      row_q    <= '0;
      done_q   <= '0;
    end else begin
      if (end_valid && !end_now) begin
        ended_q[end_index]  <= 1'b1;
        failed_q[end_index] <= end_error;
      end
      if (done_valid_o) begin
        busy_q[done_q]  <= 1'b0;
        ended_q[done_q] <= 1'b0;
        done_q          <= done_q + 1'b1;
      end
      if (row_take && row_last_i) begin
        open_q[row_q] <= 1'b0;
        row_q         <= row_q + 1'b1;
      end
      if (job_take) begin
        busy_q[job_q] <= 1'b1;
        open_q[job_q] <= 1'b1;
        job_q         <= job_q + 1'b1;
      end
    end
  end

  `MAE_ASSERT(RoomForTheJob, !job_take || seg_ready[job_q])
  `MAE_ASSERT(DoneOfAJob,
              !end_valid || 32'(end_ctx) < Jobs && busy_q[end_index] && !open_q[end_index])

endmodule
