// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read_engine: reads memory segments of every context with AXI4 bursts and outputs them in
// rows to the client.
//
// Read data may come in any order and interleaved. A job of a context begins with its first
// segment and ends with the segment marked last, or with an abort; after an abort its last row
// contains the bytes that do not fill a row, or one zero byte. One job a context at a time: push
// the segments of the next one after done_*. Only aligned beats that contain bytes of a segment
// are read. A read error is reported with the end of the job; its data are output like any
// other. Space for read data is reserved before the request, so r_ready_o is constant and no
// context can block another. Every outstanding burst has its own ID, with top bit 0. The buffer
// has Contexts * RowsPerContext rows in pages of one burst each: two pages are guaranteed to
// each context, the others are lent to those that can use them (mae_dma_page_allocator).
// row_ready_i has a combinational path to the read address of the buffer; all other paths are
// registered.
// Latency: 3 clocks from segment to AR, 5 from the last R beat of a burst to its first row.
// Throughput: one beat and one row a clock if the memory latency in clocks is less than each of:
// the rows that the active contexts may have (one alone: half of those that are lent), Window,
// and BurstBeats times the number of IDs.
// Reset and clear: reset drops all jobs and takes back all pages; clear_i, given only when idle,
// erases the buffer (mae_dma_page_buffer).
// Parameters: Window is the number of beats requested ahead. Legal: DataWidth 128, 256, 512,
// 1024; Contexts 1..256; IdWidth >= 2; BurstBeats a power of 2, BurstBeats * DataWidth / 8 <=
// 4096 bytes; RowsPerContext a power of 2, > BurstBeats, >= 4; Window >= BurstBeats.
// Security: not constant-time, no masking: holds no secret but the data it moves.
// Source: Fernando et al. (its I/O subsystem); docs/adr/0021.

`include "mae_assert.svh"

module mae_dma_read_engine
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth      = 512,
    parameter  int unsigned Contexts       = 64,
    parameter  int unsigned IdWidth        = 8,
    parameter  int unsigned RowsPerContext = 32,                        // on average
    parameter  int unsigned BurstBeats     = 8,
    parameter  int unsigned Window         = 256,                       // outstanding beats
    localparam int unsigned BytesWidth     = $clog2(DataWidth / 8 + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,    // erases the buffer; only when idle
    output logic clearing_o,

    // segments to read
    output logic     [Contexts-1:0] seg_ready_o,  // space for one more segment of this context
    input  logic                    seg_valid_i,
    input  logic                    seg_abort_i,  // pulse: the job has no further segments
    input  dma_ctx_t                seg_ctx_i,
    input  addr_t                   seg_addr_i,
    input  logic     [        31:0] seg_bytes_i,
    input  logic                    seg_last_i,

    // jobs that are read and output
    output logic     done_valid_o,
    input  logic     done_ready_i,
    output dma_ctx_t done_ctx_o,
    output status_e  done_status_o,

    // rows to the client
    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o,
    input  logic     [  Contexts-1:0] client_room_i,
    output logic     [  Contexts-1:0] row_waits_o,    // rows of this context are there, or may be
    input  logic     [  Contexts-1:0] writer_room_i,

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
  `MAE_PARAM(ContextsLegal, Contexts >= 1 && Contexts <= 256)
  `MAE_PARAM(IdWidthLegal, IdWidth >= 2)
  `MAE_PARAM(BurstLegal, 2 ** $clog2(BurstBeats)
             == BurstBeats && BurstBeats <= 256 && BurstBeats * DataWidth / 8 <= 4096)
  `MAE_PARAM(WindowLegal, Window >= BurstBeats)
  `MAE_PARAM(RowsLegal, RowsPerContext > BurstBeats && RowsPerContext >= 4 && 2 ** $clog2
             (RowsPerContext) == RowsPerContext)

  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned PageRows = (BurstBeats > 2) ? BurstBeats : 2;
  localparam int unsigned Pages = Contexts * RowsPerContext / PageRows;
  localparam int unsigned PageWidth = $clog2(Pages);
  localparam int unsigned InWidth = $clog2(PageRows);
  localparam int unsigned RowWidth = $clog2(2 * Pages * PageRows);  // full is not empty
  localparam int unsigned LaneWidth = $clog2(DataWidth / 8);
  localparam int unsigned NumIds = (IdWidth > 8) ? 128 : 2 ** (IdWidth - 1);

  // An outstanding burst.
  typedef struct packed {
    logic [CtxWidth-1:0]       ctx;
    logic [1:0][PageWidth-1:0] pages;   // that hold its bytes
    logic [InWidth:0]          row;     // row of lane 0 of its first beat in these pages
    logic [LaneWidth-1:0]      offset;
    logic [LaneWidth-1:0]      first;   // first lane of the first beat
    logic [LaneWidth-1:0]      last;    // last lane of the last beat
  } burst_t;

  // The last row of a job.
  typedef struct packed {
    logic [CtxWidth-1:0]   ctx;
    logic [RowWidth-1:0]   row;
    logic [BytesWidth-1:0] bytes;
    logic                  aborted;
    logic                  zero;     // it has no data: output zeros
  } final_t;

  logic                                       burst_valid;
  logic   [$clog2(NumIds)-1:0]                burst_id;
  burst_t                                     burst;
  logic   [      RowWidth-1:0]                burst_stop_row;
  logic                                       id_busy;
  logic                                       final_valid;
  final_t                                     final_row;
  logic   [      CtxWidth-1:0]                look_ctx;
  logic                                       look_ended;
  logic   [      CtxWidth-1:0]                pick_ctx;
  logic   [      RowWidth-1:0]                commit_row;
  logic   [      Contexts-1:0]                commit_hot;
  logic   [      Contexts-1:0]                open;
  logic                                       finish_valid;
  logic   [      CtxWidth-1:0]                finish_ctx;

  logic                                       page_take;
  logic                                       page_room;
  logic                                       unused_room;
  logic   [      Contexts-1:0]                page_rooms;
  logic   [     PageWidth-1:0]                page;
  logic   [     PageWidth-1:0]                page_tail;
  logic   [     PageWidth-1:0]                page_head;
  logic   [     PageWidth-1:0]                unused_page_next;
  logic                                       page_empties;

  logic                                       wr_valid;
  logic   [      CtxWidth-1:0]                wr_ctx;
  logic   [               1:0][PageWidth-1:0] wr_pages;
  logic   [         InWidth:0]                wr_row;
  logic   [     LaneWidth-1:0]                wr_offset;
  logic   [   DataWidth/8-1:0]                wr_strobe;
  logic   [     DataWidth-1:0]                wr_data;
  logic   [               1:0]                wr_resp;
  logic                                       rd_enable;
  logic   [       InWidth-1:0]                rd_row;
  logic   [     DataWidth-1:0]                rd_data;

  assign r_ready_o = 1'b1;

  mae_dma_read_burst_issue #(
      .DataWidth (DataWidth),
      .Contexts  (Contexts),
      .IdWidth   (IdWidth),
      .Pages     (Pages),
      .PageRows  (PageRows),
      .BurstBeats(BurstBeats),
      .Window    (Window),
      .NumIds    (NumIds),
      .burst_t   (burst_t),
      .final_t   (final_t)
  ) u_issue (
      .clk_i,
      .rst_ni,
      .seg_ready_o,
      .seg_valid_i,
      .seg_abort_i,
      .seg_ctx_i,
      .seg_addr_i,
      .seg_bytes_i,
      .seg_last_i,
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .burst_valid_o   (burst_valid),
      .burst_id_o      (burst_id),
      .burst_o         (burst),
      .burst_stop_row_o(burst_stop_row),
      .id_busy_i       (id_busy),
      .final_valid_o   (final_valid),
      .final_o         (final_row),
      .look_ctx_o      (look_ctx),
      .open_i          (open[look_ctx]),
      .ended_i         (look_ended),
      .room_i          (page_room),
      .page_i          (page),
      .tail_i          (page_tail),
      .take_o          (page_take),
      .rooms_i         (page_rooms),
      .wake_i          (commit_hot)
  );

  mae_dma_page_allocator #(
      .Contexts(Contexts),
      .Pages   (Pages),
      .Share   (2)
  ) u_pages (
      .clk_i,
      .rst_ni,
      .claim_valid_i({1'b0, page_take}),
      .claim_ctx_i  ({2{look_ctx}}),
      .room_o       ({unused_room, page_room}),
      .rooms_o      (page_rooms),
      .put_valid_i  (page_take),
      .put_ctx_i    (look_ctx),
      .page_o       (page),
      .tail_o       (page_tail),
      .get_valid_i  (page_empties),
      .get_ctx_i    (pick_ctx),
      .head_o       (page_head),
      .next_o       (unused_page_next)
  );

  mae_dma_read_reorder #(
      .DataWidth (DataWidth),
      .Contexts  (Contexts),
      .IdWidth   (IdWidth),
      .PageRows  (PageRows),
      .PageWidth (PageWidth),
      .RowWidth  (RowWidth),
      .BurstBeats(BurstBeats),
      .NumIds    (NumIds),
      .burst_t   (burst_t)
  ) u_land (
      .clk_i,
      .rst_ni,
      .burst_valid_i   (burst_valid),
      .burst_id_i      (burst_id),
      .burst_i         (burst),
      .burst_stop_row_i(burst_stop_row),
      .id_busy_o       (id_busy),
      .r_valid_i,
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i,
      .wr_valid_o      (wr_valid),
      .wr_ctx_o        (wr_ctx),
      .wr_pages_o      (wr_pages),
      .wr_row_o        (wr_row),
      .wr_offset_o     (wr_offset),
      .wr_strobe_o     (wr_strobe),
      .wr_data_o       (wr_data),
      .wr_resp_o       (wr_resp),
      .open_o          (open),
      .commit_o        (commit_hot),
      .row_ctx_i       (pick_ctx),
      .row_o           (commit_row)
  );

  mae_dma_page_buffer #(
      .DataWidth(DataWidth),
      .Pages    (Pages),
      .PageRows (PageRows)
  ) u_buffer (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o,
      .wr_valid_i (wr_valid),
      .wr_pages_i (wr_pages),
      .wr_row_i   (wr_row),
      .wr_offset_i(wr_offset),
      .wr_strobe_i(wr_strobe),
      .wr_data_i  (wr_data),
      .rd_enable_i(rd_enable),
      .rd_pages_i ({2{page_head}}),
      .rd_row_i   ({1'b0, rd_row}),
      .rd_offset_i('0),
      .rd_data_o  (rd_data)
  );

  mae_dma_read_row_arbiter #(
      .DataWidth(DataWidth),
      .Contexts (Contexts),
      .PageRows (PageRows),
      .RowWidth (RowWidth),
      .final_t  (final_t)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .final_valid_i (final_valid),
      .final_i       (final_row),
      .look_ctx_i    (look_ctx),
      .look_ended_o  (look_ended),
      .wake_i        (commit_hot),
      .room_i        (client_room_i & writer_room_i),
      .waits_o       (row_waits_o),
      .pick_ctx_o    (pick_ctx),
      .commit_row_i  (commit_row),
      .rd_enable_o   (rd_enable),
      .rd_row_o      (rd_row),
      .rd_empties_o  (page_empties),
      .rd_data_i     (rd_data),
      .row_valid_o,
      .row_ready_i,
      .row_ctx_o,
      .row_data_o,
      .row_bytes_o,
      .row_last_o,
      .finish_valid_o(finish_valid),
      .finish_ctx_o  (finish_ctx)
  );

  mae_dma_job_status #(
      .Contexts(Contexts),
      .Slverr  (StatusReadSlverr),
      .Decerr  (StatusReadDecerr)
  ) u_done (
      .clk_i,
      .rst_ni,
      .resp_valid_i  (wr_valid),
      .resp_ctx_i    (wr_ctx),
      .resp_i        (wr_resp),
      .finish_valid_i(finish_valid),
      .finish_ctx_i  (finish_ctx),
      .done_valid_o,
      .done_ready_i,
      .done_ctx_o,
      .done_status_o
  );

endmodule
