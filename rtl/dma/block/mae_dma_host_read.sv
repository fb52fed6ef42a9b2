// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_host_read: reads byte ranges of host memory over AXI4 and outputs their data in order, in
// rows.
//
// A job is an address and a number of bytes; its rows are packed from its first byte on, the
// last one marked. The bytes of the last row beyond row_bytes_o are undefined. done_valid_o
// pulses once a job, in order, after its last row was accepted; done_error_o: a beat of the job
// was an error response. Jobs alternate among Jobs contexts of a mae_dma_read_engine, so that
// the bursts of the next job run while the last one ends. A job begins when all bursts of the
// job before it have been requested, and at most Window beats are requested ahead: otherwise two
// jobs could fill their buffers, above all when the memory answers in any order, and the bus
// would idle until the first buffer is empty. Give each context rows for at least twice Window.
// job_ready_o comes from registers; row_ready_i has a combinational path to the read address of
// the buffer.
// Latency: 3 clocks from job to AR, 5 from the last R beat of a burst to its first row, 3 from
// the last row to done_valid_o.
// Throughput: one row a clock, also from job to job, for a memory latency of up to Window - 10
// clocks.
// Reset and clear: clear_i, given after a reset, erases the stored rows; see
// mae_dma_read_engine.
// Parameters: Legal: DataWidth 128, 256, 512, 1024; IdWidth >= 2; Jobs 2, 4, 8...; job_bytes_i
// 1..2^32 - 1; the others as mae_dma_read_engine.
// Security: not constant-time, no masking: holds no secret but the data it moves.
// Source: docs/protocol.md, section 5, FILL.

`include "mae_assert.svh"

module mae_dma_host_read
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth      = 512,
    parameter  int unsigned IdWidth        = 8,
    parameter  int unsigned Jobs           = 2,
    parameter  int unsigned RowsPerContext = 1024,
    parameter  int unsigned BurstBeats     = 16,
    parameter  int unsigned Window         = 384,
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

    output logic                  row_valid_o,
    input  logic                  row_ready_i,
    output logic [ DataWidth-1:0] row_data_o,
    output logic [BytesWidth-1:0] row_bytes_o,
    output logic                  row_last_o,

    output logic done_valid_o,  // pulse
    output logic done_error_o,

    // AXI4 read channels
    output logic                  ar_valid_o,
    input  logic                  ar_ready_i,
    output logic  [  IdWidth-1:0] ar_id_o,     // top bit 0
    output addr_t                 ar_addr_o,
    output logic  [          7:0] ar_len_o,
    input  logic                  r_valid_i,
    output logic                  r_ready_o,   // constant 1
    input  logic  [  IdWidth-1:0] r_id_i,
    input  logic  [DataWidth-1:0] r_data_i,
    input  logic  [          1:0] r_resp_i,
    input  logic                  r_last_i
);
  `MAE_PARAM(JobsLegal, Jobs >= 2 && 2 ** $clog2(Jobs) == Jobs)

  localparam int unsigned CtxWidth = $clog2(Jobs);
  localparam int unsigned LaneWidth = $clog2(DataWidth / 8);
  localparam logic [32:0] Bytes = 33'(DataWidth / 8);
  typedef logic [CtxWidth-1:0] index_t;

  logic [Jobs-1:0] busy_q, unused_waits;
  index_t job_q, row_q, row_context;  // contexts in turn: of the next job, of the next row
  logic job_take, row_end;
  logic [Jobs-1:0] seg_ready;  // a context without a job can accept one
  dma_ctx_t row_ctx, done_ctx;
  status_e done_status;

  logic [31:0] to_ask_q, job_beats, ar_beats;  // beats of the last accepted job
  logic ask;

  assign job_beats    = 32'((33'(job_addr_i[LaneWidth-1:0]) + 33'(job_bytes_i) + Bytes - 33'd1)
                            >> LaneWidth);
  assign ar_beats = 32'(ar_len_o) + 32'd1;
  assign ask = ar_valid_o && ar_ready_i;
  assign job_ready_o = !busy_q[job_q] && to_ask_q == '0;
  assign job_take = job_valid_i && job_ready_o;
  // The next job's first row follows the last one of this in the next clock.
  assign row_end = row_valid_o && row_last_o;
  assign row_context = row_end ? row_q + 1'b1 : row_q;
  assign done_error_o = done_status != StatusOk;

  mae_dma_read_engine #(
      .DataWidth     (DataWidth),
      .Contexts      (Jobs),
      .IdWidth       (IdWidth),
      .RowsPerContext(RowsPerContext),
      .BurstBeats    (BurstBeats),
      .Window        (Window)
  ) u_read (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o,
      .seg_ready_o  (seg_ready),
      .seg_valid_i  (job_take),
      .seg_abort_i  (1'b0),
      .seg_ctx_i    (dma_ctx_t'(job_q)),
      .seg_addr_i   (job_addr_i),
      .seg_bytes_i  (job_bytes_i),
      .seg_last_i   (1'b1),
      .done_valid_o,
      .done_ready_i (1'b1),
      .done_ctx_o   (done_ctx),
      .done_status_o(done_status),
      .row_valid_o,
      .row_ready_i,
      .row_ctx_o    (row_ctx),
      .row_data_o,
      .row_bytes_o,
      .row_last_o,
      .client_room_i(Jobs'(1) << row_context),
      .row_waits_o  (unused_waits),
      .writer_room_i('1),
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= '0;
      job_q    <= '0;
      row_q    <= '0;
      to_ask_q <= '0;
    end else begin
      if (job_take) to_ask_q <= job_beats;
      else if (ask) to_ask_q <= to_ask_q - ar_beats;
      if (done_valid_o) busy_q[index_t'(done_ctx)] <= 1'b0;
      if (job_take) begin
        busy_q[job_q] <= 1'b1;
        job_q         <= job_q + 1'b1;
      end
      if (row_end && row_ready_i) row_q <= row_q + 1'b1;
    end
  end

  `MAE_ASSERT(RoomForTheJob, !job_take || seg_ready[job_q])
  `MAE_ASSERT(AsksForTheJob, !ask || ar_beats <= to_ask_q)
  `MAE_STREAM_HOLDS(ArHolds, ar_valid_o, ar_ready_i, ar_addr_o)
  `MAE_ASSERT(RowsInOrder, !row_valid_o || row_ctx == dma_ctx_t'(row_q))
  `MAE_ASSERT(DoneOfAJob, !done_valid_o || 32'(done_ctx) < Jobs && busy_q[index_t'(done_ctx)])

endmodule
