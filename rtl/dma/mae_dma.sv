// SPDX-License-Identifier: Apache-2.0
//
// mae_dma: moves data between host memory and one client, such as AES, as descriptor rings in host
// memory demand. The client may be any core; the memory is behind an AXI4 manager.
//
// The host writes descriptors (mae_dma_pkg) to a submission ring and the index after the last one
// to a doorbell register. The ring manager dispatches them, those of one context in order; two walkers convert addresses
// and scatter-gather lists to segments, the read engine packs the source into rows for the client,
// the write engine writes the client's rows to the destination, and a completion is written after
// the last write response. Transfers of different contexts run concurrently and complete in any
// order.
//
// Rows are in AXI byte order (byte 0 in bits 7:0) and packed; only the last row of a job may be
// partial. cfg_status_i is sampled with cfg_ready_i: any value but StatusOk refuses the job. A
// client may accept jobs of no bytes: it then gets one row, marked last, whose byte must be
// ignored. The rows of every job must be returned to the write engine, also of jobs whose rows
// are dropped (cfg_accept_i.sinks). A job with a client report is completed after the report; a
// job with a wrong tag only after its destination was overwritten with zeros. r_ready_o and
// b_ready_o are constant; w_ready_i has a combinational path to the read enable of the write
// buffer; addresses come from registers.
// Latency: 1 clock from the doorbell to the first descriptor's address; then as the parts.
// Throughput: one beat a clock in each direction. The rows of both buffers are lent to the
// transfers that can use them (docs/adr/0021): with the default parameters one transfer alone
// has 528 of the 2,048 rows of the read buffer, and keeps the bus full while reads take 250
// clocks on average.
// Reset and clear: reset drops all transfers; the buffers keep the data they carried until these
// are overwritten, or erased by clear_i. To end all transfers on a bus that may never answer:
// halt_i at any time, one clock later engine_rst_ni low (the client with it), and with halt_i
// still high engine_rst_ni high and then clear_i. Then only the bus's bookkeeping is left:
// draining_o is high until each outstanding burst has ended, whose read data are dropped and
// whose write data are zeros without strobes; set ctrl_i.enable after that. The write beat that
// was offered when halt_i rose stays on the bus until it is taken, as AXI demands.
// Parameters: RecordSlots, FirstSlot, MaxKeyBytes and KeptOp: see mae_dma_key_records; 0 slots: the
// client's own keys only. Legal: DataWidth 128, 256, 512, 1024; Contexts 1..256; IdWidth >= 8;
// Prefetch a power of 2, 2..64; RowsPerContext, BurstBeats as in mae_dma_read_engine and
// mae_dma_write_engine.
// Source: Fernando et al. (its I/O subsystem).

`include "mae_assert.svh"

module mae_dma
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned Prefetch = 64,  // descriptors fetched ahead
    parameter int unsigned RowsPerContext = 32,  // in the buffer of each engine, on average
    parameter int unsigned BurstBeats = 8,
    parameter int unsigned FirstSlot = 16,  // see mae_dma_key_records
    parameter int unsigned RecordSlots = 0,
    parameter int unsigned MaxKeyBytes = 32,
    parameter logic [7:0] KeptOp = 8'hff,
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic engine_rst_ni,  // from a register: of all but the bookkeeping of the bus
    input logic halt_i,
    output logic draining_o,
    input logic clear_i,  // pulse, only when disabled and not busy: erases the buffers
    // from the next clock on, for Contexts * RowsPerContext / 2 + 1 clocks
    output logic clearing_o,

    // registers
    input  dma_ctrl_t   ctrl_i,
    output dma_status_t status_o,
    output logic        irq_o,     // level, until acknowledged
    input  logic        irq_ack_i, // pulse

    // key records, to key slots of the client
    input  key_table_t    table_i,
    output logic          forgetting_o,
    output logic          key_valid_o,
    input  logic          key_ready_i,
    output record_write_t key_o,

    // client: a job, before its first row
    output logic     cfg_valid_o,
    input  logic     cfg_ready_i,
    output dma_ctx_t cfg_ctx_o,
    output desc_t    cfg_desc_o,
    input  status_e  cfg_status_i,
    input  accept_t  cfg_accept_i,    // with StatusOk
    // client: result of a job for which it announced a report
    input  logic     report_valid_i,  // always accepted
    input  report_t  report_i,

    // client: rows from memory
    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o,
    input  logic     [  Contexts-1:0] client_room_i,  // the client can accept a row of this context
    output logic     [  Contexts-1:0] row_waits_o,    // rows of this context are there, or may be

    // client: rows to memory
    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,

    // AXI4 manager, INCR bursts
    output logic                    ar_valid_o,
    input  logic                    ar_ready_i,
    output logic  [    IdWidth-1:0] ar_id_o,
    output addr_t                   ar_addr_o,
    output logic  [            7:0] ar_len_o,
    output logic  [            2:0] ar_size_o,
    input  logic                    r_valid_i,
    output logic                    r_ready_o,
    input  logic  [    IdWidth-1:0] r_id_i,
    input  logic  [  DataWidth-1:0] r_data_i,
    input  logic  [            1:0] r_resp_i,
    input  logic                    r_last_i,
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic  [            2:0] aw_size_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    output logic                    b_ready_o,
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
  localparam int unsigned BeatWidth = (DataWidth < 8 * BlockBytes) ? DataWidth : 8 * BlockBytes;
  `MAE_PARAM(DataWidthLegal, DataWidth inside {128, 256, 512, 1024})

  // Control: ring manager and walkers.
  logic abort, scrub_valid, scrub_ready;
  logic [1:0] job_valid;
  dma_ctx_t scrub_ctx;
  logic [31:0] scrub_bytes;
  dma_ctx_t job_ctx;
  walk_job_t job_src, job_dst;
  logic [3:0] done_valid;
  dma_ctx_t [3:0] done_ctx;
  status_e [3:0] done_status;
  logic [31:0] done_bytes;

  logic [2:0] ctl_ar_valid, ctl_ar_ready, ctl_r_valid;
  control_ar_t [2:0] ctl_ar;
  control_tag_t ctl_r_tag;
  completion_tag_t ctl_aw_tag, ctl_b_tag;
  logic [1:0] ctl_r_beat;
  logic [BeatWidth-1:0] ctl_r_data;
  logic ctl_r_error, ctl_r_last;
  logic ctl_aw_valid, ctl_aw_ready, ctl_w_valid, ctl_w_ready, ctl_w_last, ctl_b_valid, ctl_b_error;
  addr_t ctl_aw_addr;
  logic [DataWidth-1:0] ctl_w_data;
  logic [DataWidth/8-1:0] ctl_w_strb;

  mae_dma_ring_manager #(
      .DataWidth(DataWidth),
      .BeatWidth(BeatWidth),
      .Contexts (Contexts),
      .Prefetch (Prefetch),
      .FirstSlot(FirstSlot),
      .RecordSlots(RecordSlots),
      .MaxKeyBytes(MaxKeyBytes),
      .KeptOp   (KeptOp)
  ) u_ring (
      .rst_ni       (engine_rst_ni),
      .write_valid_o(key_valid_o),
      .write_ready_i(key_ready_i),
      .write_o      (key_o),
      .job_valid_o  (job_valid),
      .job_ctx_o    (job_ctx),
      .job_src_o    (job_src),
      .job_dst_o    (job_dst),
      .abort_o      (abort),
      .done_valid_i (done_valid),
      .done_ctx_i   (done_ctx),
      .done_status_i(done_status),
      .done_bytes_i (done_bytes),
      .scrub_valid_o(scrub_valid),
      .scrub_ready_i(scrub_ready),
      .scrub_ctx_o  (scrub_ctx),
      .scrub_bytes_o(scrub_bytes),
      .ar_valid_o   (ctl_ar_valid[ReaderRing]),
      .ar_ready_i   (ctl_ar_ready[ReaderRing]),
      .ar_o         (ctl_ar[ReaderRing]),
      .r_valid_i    (ctl_r_valid[ReaderRing]),
      .r_tag_i      (ctl_r_tag),
      .r_beat_i     (ctl_r_beat),
      .r_data_i     (ctl_r_data),
      .r_error_i    (ctl_r_error),
      .r_last_i     (ctl_r_last),
      .aw_valid_o   (ctl_aw_valid),
      .aw_ready_i   (ctl_aw_ready),
      .aw_tag_o     (ctl_aw_tag),
      .aw_addr_o    (ctl_aw_addr),
      .w_valid_o    (ctl_w_valid),
      .w_ready_i    (ctl_w_ready),
      .w_data_o     (ctl_w_data),
      .w_strb_o     (ctl_w_strb),
      .w_last_o     (ctl_w_last),
      .b_valid_i    (ctl_b_valid),
      .b_tag_i      (ctl_b_tag),
      .b_error_i    (ctl_b_error),
      .*
  );

  // Segments of the source (0) and the destination (1).
  logic [1:0][Contexts-1:0] seg_ready;
  logic [1:0] seg_valid, seg_abort, seg_last;
  dma_ctx_t [1:0] seg_ctx;
  addr_t [1:0] seg_addr;
  logic [1:0][31:0] seg_bytes;

  for (genvar i = 0; i < 2; i++) begin : gen_walk
    localparam int unsigned Reader = (i == 0) ? 32'(ReaderSrcList) : 32'(ReaderDstList);
    mae_dma_sg_walker #(
        .Contexts (Contexts),
        .BeatWidth(BeatWidth)
    ) u_walk (
        .clk_i,
        .rst_ni       (engine_rst_ni),
        .job_valid_i  (job_valid[i]),
        .job_ctx_i    (job_ctx),
        .job_i        ((i == 0) ? job_src : job_dst),
        .abort_i      (abort),
        .seg_ready_i  (seg_ready[i]),
        .seg_valid_o  (seg_valid[i]),
        .seg_abort_o  (seg_abort[i]),
        .seg_ctx_o    (seg_ctx[i]),
        .seg_addr_o   (seg_addr[i]),
        .seg_bytes_o  (seg_bytes[i]),
        .seg_last_o   (seg_last[i]),
        .done_valid_o (done_valid[i]),
        .done_ctx_o   (done_ctx[i]),
        .done_status_o(done_status[i]),
        .ar_valid_o   (ctl_ar_valid[Reader]),
        .ar_ready_i   (ctl_ar_ready[Reader]),
        .ar_o         (ctl_ar[Reader]),
        .r_valid_i    (ctl_r_valid[Reader]),
        .r_tag_i      (ctl_r_tag),
        .r_beat_i     (ctl_r_beat),
        .r_data_i     (ctl_r_data),
        .r_error_i    (ctl_r_error),
        .r_last_i     (ctl_r_last)
    );
  end

  // Data: read engine and write engine.
  logic [Contexts-1:0] writer_room;
  logic mov_ar_valid, mov_ar_ready, mov_r_valid, mov_aw_valid, mov_aw_ready, mov_w_valid;
  logic mov_w_ready, mov_w_last, mov_b_valid;
  logic [IdWidth-1:0] mov_ar_id, mov_aw_id;
  addr_t mov_ar_addr, mov_aw_addr;
  logic [7:0] mov_ar_len, mov_aw_len;
  logic [  DataWidth-1:0] mov_w_data;
  logic [DataWidth/8-1:0] mov_w_strb;

  logic read_clearing, write_clearing;
  logic write_row_valid, write_row_ready, write_row_last;
  dma_ctx_t write_row_ctx;
  logic [DataWidth-1:0] write_row_data;
  logic [BytesWidth-1:0] write_row_bytes;

  assign clearing_o = read_clearing || write_clearing;

  mae_dma_read_engine #(
      .DataWidth(DataWidth),
      .Contexts(Contexts),
      .IdWidth(IdWidth),
      .RowsPerContext(RowsPerContext),
      .BurstBeats(BurstBeats)
  ) u_read (
      .clk_i,
      .rst_ni       (engine_rst_ni),
      .clear_i,
      .clearing_o   (read_clearing),
      .seg_ready_o  (seg_ready[0]),
      .seg_valid_i  (seg_valid[0]),
      .seg_abort_i  (seg_abort[0]),
      .seg_ctx_i    (seg_ctx[0]),
      .seg_addr_i   (seg_addr[0]),
      .seg_bytes_i  (seg_bytes[0]),
      .seg_last_i   (seg_last[0]),
      .done_valid_o (done_valid[2]),
      .done_ready_i (1'b1),
      .done_ctx_o   (done_ctx[2]),
      .done_status_o(done_status[2]),
      .row_valid_o,
      .row_ready_i,
      .row_ctx_o,
      .row_data_o,
      .row_bytes_o,
      .row_last_o,
      .client_room_i,
      .row_waits_o,
      .writer_room_i(writer_room),
      .ar_valid_o   (mov_ar_valid),
      .ar_ready_i   (mov_ar_ready),
      .ar_id_o      (mov_ar_id),
      .ar_addr_o    (mov_ar_addr),
      .ar_len_o     (mov_ar_len),
      .r_valid_i    (mov_r_valid),
      .r_ready_o,
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i
  );

  mae_dma_zero_fill #(
      .DataWidth(DataWidth),
      .Contexts (Contexts)
  ) u_scrub (
      .clk_i,
      .rst_ni       (engine_rst_ni),
      .scrub_valid_i(scrub_valid),
      .scrub_ready_o(scrub_ready),
      .scrub_ctx_i  (scrub_ctx),
      .scrub_bytes_i(scrub_bytes),
      .room_i       (writer_room),
      .row_valid_i,
      .row_ready_o,
      .row_ctx_i,
      .row_data_i,
      .row_bytes_i,
      .row_last_i,
      .row_valid_o  (write_row_valid),
      .row_ready_i  (write_row_ready),
      .row_ctx_o    (write_row_ctx),
      .row_data_o   (write_row_data),
      .row_bytes_o  (write_row_bytes),
      .row_last_o   (write_row_last)
  );

  mae_dma_write_engine #(
      .DataWidth(DataWidth),
      .Contexts(Contexts),
      .IdWidth(IdWidth),
      .RowsPerContext(RowsPerContext),
      .BurstBeats(BurstBeats)
  ) u_write (
      .clk_i,
      .rst_ni         (engine_rst_ni),
      .clear_i,
      .clearing_o     (write_clearing),
      .seg_ready_o    (seg_ready[1]),
      .seg_valid_i    (seg_valid[1]),
      .seg_abort_i    (seg_abort[1]),
      .seg_ctx_i      (seg_ctx[1]),
      .seg_addr_i     (seg_addr[1]),
      .seg_bytes_i    (seg_bytes[1]),
      .seg_last_i     (seg_last[1]),
      .done_valid_o   (done_valid[3]),
      .done_ready_i   (1'b1),
      .done_ctx_o     (done_ctx[3]),
      .done_status_o  (done_status[3]),
      .done_bytes_o   (done_bytes),
      .row_valid_i    (write_row_valid),
      .row_ready_o    (write_row_ready),
      .row_ctx_i      (write_row_ctx),
      .row_data_i     (write_row_data),
      .row_bytes_i    (write_row_bytes),
      .row_last_i     (write_row_last),
      .row_room_o     (writer_room),
      .reserve_valid_i(row_valid_o && row_ready_i),
      .reserve_ctx_i  (row_ctx_o),
      .aw_valid_o     (mov_aw_valid),
      .aw_ready_i     (mov_aw_ready),
      .aw_id_o        (mov_aw_id),
      .aw_addr_o      (mov_aw_addr),
      .aw_len_o       (mov_aw_len),
      .w_valid_o      (mov_w_valid),
      .w_ready_i      (mov_w_ready),
      .w_data_o       (mov_w_data),
      .w_strb_o       (mov_w_strb),
      .w_last_o       (mov_w_last),
      .b_valid_i      (mov_b_valid),
      .b_ready_o,
      .b_id_i,
      .b_resp_i
  );

  logic w_valid, w_ready, w_last;
  logic [  DataWidth-1:0] w_data;
  logic [DataWidth/8-1:0] w_strb;

  mae_dma_axi_mux #(
      .DataWidth(DataWidth),
      .IdWidth  (IdWidth),
      .BeatWidth(BeatWidth)
  ) u_axi (
      .clk_i,
      .rst_ni,
      .halt_i,
      .draining_o,
      .ctl_ar_valid_i(ctl_ar_valid),
      .ctl_ar_ready_o(ctl_ar_ready),
      .ctl_ar_i      (ctl_ar),
      .ctl_r_valid_o (ctl_r_valid),
      .ctl_r_tag_o   (ctl_r_tag),
      .ctl_r_beat_o  (ctl_r_beat),
      .ctl_r_data_o  (ctl_r_data),
      .ctl_r_error_o (ctl_r_error),
      .ctl_r_last_o  (ctl_r_last),
      .ctl_aw_valid_i(ctl_aw_valid),
      .ctl_aw_ready_o(ctl_aw_ready),
      .ctl_aw_tag_i  (ctl_aw_tag),
      .ctl_aw_addr_i (ctl_aw_addr),
      .ctl_w_valid_i (ctl_w_valid),
      .ctl_w_ready_o (ctl_w_ready),
      .ctl_w_data_i  (ctl_w_data),
      .ctl_w_strb_i  (ctl_w_strb),
      .ctl_w_last_i  (ctl_w_last),
      .ctl_b_valid_o (ctl_b_valid),
      .ctl_b_tag_o   (ctl_b_tag),
      .ctl_b_error_o (ctl_b_error),
      .mov_ar_valid_i(mov_ar_valid),
      .mov_ar_ready_o(mov_ar_ready),
      .mov_ar_id_i   (mov_ar_id),
      .mov_ar_addr_i (mov_ar_addr),
      .mov_ar_len_i  (mov_ar_len),
      .mov_r_valid_o (mov_r_valid),
      .mov_aw_valid_i(mov_aw_valid),
      .mov_aw_ready_o(mov_aw_ready),
      .mov_aw_id_i   (mov_aw_id),
      .mov_aw_addr_i (mov_aw_addr),
      .mov_aw_len_i  (mov_aw_len),
      .mov_w_valid_i (mov_w_valid),
      .mov_w_ready_o (mov_w_ready),
      .mov_w_data_i  (mov_w_data),
      .mov_w_strb_i  (mov_w_strb),
      .mov_w_last_i  (mov_w_last),
      .mov_b_valid_o (mov_b_valid),
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .ar_size_o,
      .r_valid_i,
      .r_id_i,
      .r_data_i,
      .r_error_i     (r_resp_i[1]),
      .r_last_i,
      .aw_valid_o,
      .aw_ready_i,
      .aw_id_o,
      .aw_addr_o,
      .aw_len_o,
      .aw_size_o,
      .w_valid_o     (w_valid),
      .w_ready_i     (w_ready),
      .w_data_o      (w_data),
      .w_strb_o      (w_strb),
      .w_last_o      (w_last),
      .b_valid_i,
      .b_id_i,
      .b_error_i     (b_resp_i[1])
  );

  mae_axi_w_purge #(
      .DataWidth(DataWidth)
  ) u_purge (
      .clk_i,
      .rst_ni,
      .purge_i     (halt_i || draining_o),
      .s_axi_wvalid(w_valid),
      .s_axi_wready(w_ready),
      .s_axi_wdata (w_data),
      .s_axi_wstrb (w_strb),
      .s_axi_wlast (w_last),
      .m_axi_wvalid(w_valid_o),
      .m_axi_wready(w_ready_i),
      .m_axi_wdata (w_data_o),
      .m_axi_wstrb (w_strb_o),
      .m_axi_wlast (w_last_o)
  );

  // The receivers of both engines and of the control side accept every response.
  `MAE_ASSERT(AnswersTaken, r_ready_o && b_ready_o)

  `MAE_ASSERT(ClearAtRest, !(clear_i || clearing_o) || !(ctrl_i.enable || status_o.busy))

endmodule
