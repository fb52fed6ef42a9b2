// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_write_engine: collects rows from the DMA's client for each context and writes them to
// memory with AXI4 bursts.
//
// A burst is announced (AW) only when all its data are present. A job of a context ends when the
// client's last row and the segment marked last (or an abort) have arrived, everything is
// written and all write responses have arrived. Rows beyond the segments and segments beyond the
// rows are dropped. One job a context at a time: give segments and rows of the next one after
// done_*. Bytes outside the segments are never written. A write error is reported with the end
// of the job, and the job continues. AW and W are independent; W has no gap within a burst;
// every outstanding burst has its own ID, with top bit 0. b_ready_o is constant. Only the last
// row of a job may have fewer than DataWidth / 8 bytes. The buffer has Contexts * RowsPerContext
// rows in pages of one burst each (at least four rows): three pages are guaranteed to each
// context, the others are lent to those that can use them (mae_dma_page_allocator). row_ready_o is
// combinational in row_ctx_i (mae_dma_write_row_input); w_ready_i has a combinational path to
// the read enable of the buffer; all other paths are registered.
// Latency: 6 clocks from the last row of a burst to its first W beat.
// Throughput: one row and one beat a clock.
// Reset and clear: reset drops all jobs and takes back all pages; clear_i, given only when idle,
// erases the buffer (mae_dma_page_buffer).
// Parameters: Legal: DataWidth 128, 256, 512, 1024; Contexts 1..256; IdWidth >= 2; BurstBeats a
// power of 2, BurstBeats * DataWidth / 8 <= 4096 bytes; RowsPerContext a multiple of
// max(BurstBeats, 4), at least three times that.
// Security: not constant-time, no masking: holds no secret but the data it moves.
// Source: Fernando et al. (its I/O subsystem); docs/adr/0021.

`include "mae_assert.svh"

module mae_dma_write_engine
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth      = 512,
    parameter  int unsigned Contexts       = 64,
    parameter  int unsigned IdWidth        = 8,
    parameter  int unsigned RowsPerContext = 32,                        // on average
    parameter  int unsigned BurstBeats     = 8,
    localparam int unsigned BytesWidth     = $clog2(DataWidth / 8 + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,    // erases the buffer; only when idle
    output logic clearing_o,

    // segments to write
    output logic     [Contexts-1:0] seg_ready_o,  // space for one more segment of this context
    input  logic                    seg_valid_i,
    input  logic                    seg_abort_i,  // pulse: the job has no further segments
    input  dma_ctx_t                seg_ctx_i,
    input  addr_t                   seg_addr_i,
    input  logic     [        31:0] seg_bytes_i,
    input  logic                    seg_last_i,

    // jobs that are written
    output logic            done_valid_o,
    input  logic            done_ready_i,
    output dma_ctx_t        done_ctx_o,
    output status_e         done_status_o,
    output logic     [31:0] done_bytes_o,   // bytes written

    // rows from the client
    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] row_room_o,       // space for one more client row
    // a row was given to the client (the read engine's row_valid_o && row_ready_i, its row_ctx_o)
    input  logic                      reserve_valid_i,
    input  dma_ctx_t                  reserve_ctx_i,

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
  `MAE_PARAM(ContextsLegal, Contexts >= 1 && Contexts <= 256)
  `MAE_PARAM(IdWidthLegal, IdWidth >= 2)
  `MAE_PARAM(BurstLegal, 2 ** $clog2(BurstBeats)
             == BurstBeats && BurstBeats <= 256 && BurstBeats * DataWidth / 8 <= 4096)

  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned PageRows = (BurstBeats > 4) ? BurstBeats : 4;
  `MAE_PARAM(RowsLegal, RowsPerContext % PageRows == 0 && RowsPerContext >= 3 * PageRows)
  localparam int unsigned Pages = Contexts * RowsPerContext / PageRows;
  localparam int unsigned PageWidth = $clog2(Pages);
  localparam int unsigned CountWidth = $clog2(Pages + 1);
  localparam int unsigned InWidth = $clog2(PageRows);
  localparam int unsigned RowWidth = $clog2(2 * Pages * PageRows);  // full is not empty
  localparam int unsigned LaneWidth = $clog2(DataWidth / 8);
  localparam int unsigned NumIds = (IdWidth > 8) ? 128 : 2 ** (IdWidth - 1);
  localparam int unsigned NumWidth = $clog2(NumIds);
  localparam int unsigned Planned = 4;  // planned bursts that have not been sent

  // A planned burst.
  typedef struct packed {
    logic [CtxWidth-1:0]   ctx;
    logic                  drop;    // nothing is sent, rows are freed
    logic [InWidth:0]      row;     // row of lane 0 of the first beat in the burst's two pages
    logic [LaneWidth-1:0]  offset;
    logic [7:0]            len;     // beats - 1
    logic [LaneWidth-1:0]  first;   // first lane of the first beat
    logic [LaneWidth-1:0]  last;    // last lane of the last beat
    logic [CountWidth-1:0] pages;   // pages that are free after it
  } burst_t;

  typedef struct packed {
    logic [NumWidth-1:0] id;
    addr_t               addr;
    logic [7:0]          len;
  } aw_t;

  logic   [  CtxWidth-1:0]               look_ctx;
  logic   [  RowWidth-1:0]               look_row;
  logic                                  look_ended;
  logic   [BytesWidth-1:0]               look_bytes;
  logic                                  finish_valid;
  logic                                  take_valid;
  logic   [  CtxWidth-1:0]               take_ctx;
  logic   [   InWidth-1:0]               take_row;
  logic                                  free_valid;

  logic   [           1:0]               page_claim;
  logic   [           1:0][CtxWidth-1:0] page_claim_ctx;
  logic                                  page_room;
  logic                                  unused_room;  // rooms tell
  logic   [  Contexts-1:0]               page_rooms;
  logic                                  page_put;
  logic   [ PageWidth-1:0]               page;
  logic   [ PageWidth-1:0]               page_tail;
  logic   [ PageWidth-1:0]               page_head;
  logic   [ PageWidth-1:0]               page_next;

  logic                                  plan_ready;
  logic                                  plan_valid;
  burst_t                                plan;
  logic   [          31:0]               plan_bytes;
  logic                                  plan_aw_valid;
  addr_t                                 plan_aw_addr;
  logic                                  burst_ready;
  logic                                  burst_taken;
  logic                                  burst_valid;
  burst_t                                burst;
  logic                                  aw_ready;
  aw_t                                   aw;

  logic                                  b_valid_q;
  logic   [  CtxWidth-1:0]               b_ctx_q;
  logic   [           1:0]               b_resp_q;

  logic                                  rd_enable;
  logic   [  CtxWidth-1:0]               rd_ctx;
  logic   [     InWidth:0]               rd_row;
  logic   [ LaneWidth-1:0]               rd_offset;
  logic   [ DataWidth-1:0]               rd_data;

  mae_dma_write_row_input #(
      .DataWidth(DataWidth),
      .Contexts (Contexts),
      .PageRows (PageRows),
      .RowWidth (RowWidth)
  ) u_take (
      .clk_i,
      .rst_ni,
      .row_valid_i,
      .row_ready_o,
      .row_ctx_i,
      .row_bytes_i,
      .row_last_i,
      .room_o        (row_room_o),
      .reserve_valid_i,
      .reserve_ctx_i,
      .claim_valid_o (page_claim),
      .claim_ctx_o   (page_claim_ctx),
      .claim_room_i  (page_room),
      .rooms_i       (page_rooms),
      .put_valid_o   (page_put),
      .wr_valid_o    (take_valid),
      .wr_ctx_o      (take_ctx),
      .wr_row_o      (take_row),
      .look_ctx_i    (look_ctx),
      .look_row_o    (look_row),
      .look_ended_o  (look_ended),
      .look_bytes_o  (look_bytes),
      .finish_valid_i(finish_valid)
  );

  // Room holds for the rows that a read mover has chosen, and for one page of somebody else.
  mae_dma_page_allocator #(
      .Contexts(Contexts),
      .Pages   (Pages),
      .Share   (3),
      .Margin  (6)
  ) u_pages (
      .clk_i,
      .rst_ni,
      .claim_valid_i(page_claim),
      .claim_ctx_i  (page_claim_ctx),
      .room_o       ({page_room, unused_room}),
      .rooms_o      (page_rooms),
      .put_valid_i  (page_put),
      .put_ctx_i    (take_ctx),
      .page_o       (page),
      .tail_o       (page_tail),
      .get_valid_i  (free_valid),
      .get_ctx_i    (rd_ctx),
      .head_o       (page_head),
      .next_o       (page_next)
  );

  mae_dma_page_buffer #(
      .DataWidth (DataWidth),
      .Pages     (Pages),
      .PageRows  (PageRows),
      .ByteWrites(1'b0)
  ) u_buffer (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o,
      .wr_valid_i (take_valid),
      .wr_pages_i ({2{page_put ? page : page_tail}}),
      .wr_row_i   ({1'b0, take_row}),
      .wr_offset_i('0),
      .wr_strobe_i('1),
      .wr_data_i  (row_data_i),
      .rd_enable_i(rd_enable),
      .rd_pages_i ({page_next, page_head}),
      .rd_row_i   (rd_row),
      .rd_offset_i(rd_offset),
      .rd_data_o  (rd_data)
  );

  mae_dma_write_burst_plan #(
      .DataWidth (DataWidth),
      .Contexts  (Contexts),
      .PageRows  (PageRows),
      .RowWidth  (RowWidth),
      .BurstBeats(BurstBeats),
      .NumIds    (NumIds),
      .burst_t   (burst_t)
  ) u_plan (
      .clk_i,
      .rst_ni,
      .seg_ready_o,
      .seg_valid_i,
      .seg_abort_i,
      .seg_ctx_i,
      .seg_addr_i,
      .seg_bytes_i,
      .seg_last_i,
      .look_ctx_o    (look_ctx),
      .look_row_i    (look_row),
      .look_ended_i  (look_ended),
      .look_bytes_i  (look_bytes),
      .wake_i        (Contexts'(take_valid) << take_ctx),
      .ready_i       (plan_ready),
      .aw_valid_o    (plan_aw_valid),
      .aw_addr_o     (plan_aw_addr),
      .burst_valid_o (plan_valid),
      .burst_o       (plan),
      .burst_bytes_o (plan_bytes),
      .b_valid_i     (b_valid_q),
      .b_ctx_i       (b_ctx_q),
      .finish_valid_o(finish_valid)
  );

  // IDs are used in turn; a response finds its context by its ID.
  logic [NumWidth-1:0] id_q;
  logic [  NumIds-1:0] busy_q;
  logic [CtxWidth-1:0] id_ctx_q[NumIds];

  assign b_ready_o  = 1'b1;
  assign plan_ready = burst_ready && aw_ready && !busy_q[id_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      id_q      <= '0;
      busy_q    <= '0;
      b_valid_q <= 1'b0;
      b_ctx_q   <= '0;
      b_resp_q  <= '0;
    end else begin
      b_valid_q <= b_valid_i;
      if (b_valid_i) begin
        b_ctx_q                      <= id_ctx_q[b_id_i[NumWidth-1:0]];
        b_resp_q                     <= b_resp_i;
        busy_q[b_id_i[NumWidth-1:0]] <= 1'b0;
      end
      if (plan_aw_valid) begin
        id_q         <= id_q + 1'b1;
        busy_q[id_q] <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) if (plan_aw_valid) id_ctx_q[id_q] <= plan.ctx;

  logic [$clog2(Planned+1)-1:0] unused_aw_count;
  logic [$clog2(Planned+1)-1:0] unused_burst_count;

  mae_fifo #(
      .Width($bits(aw_t)),
      .Depth(Planned),
      .Zero (1'b0)
  ) u_aw (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (plan_aw_valid),
      .in_ready_o (aw_ready),
      .in_data_i  ({id_q, plan_aw_addr, plan.len}),
      .out_valid_o(aw_valid_o),
      .out_ready_i(aw_ready_i),
      .out_data_o (aw),
      .count_o    (unused_aw_count)
  );

  mae_fifo #(
      .Width($bits(burst_t)),
      .Depth(Planned),
      .Zero (1'b0)
  ) u_bursts (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (plan_valid),
      .in_ready_o (burst_ready),
      .in_data_i  (plan),
      .out_valid_o(burst_valid),
      .out_ready_i(burst_taken),
      .out_data_o (burst),
      .count_o    (unused_burst_count)
  );

  assign aw_id_o   = IdWidth'(aw.id);
  assign aw_addr_o = aw.addr;
  assign aw_len_o  = aw.len;

  mae_dma_write_burst_send #(
      .DataWidth (DataWidth),
      .PageRows  (PageRows),
      .CountWidth(CountWidth),
      .CtxWidth  (CtxWidth),
      .burst_t   (burst_t)
  ) u_send (
      .clk_i,
      .rst_ni,
      .burst_valid_i(burst_valid),
      .burst_ready_o(burst_taken),
      .burst_i      (burst),
      .rd_enable_o  (rd_enable),
      .rd_ctx_o     (rd_ctx),
      .rd_row_o     (rd_row),
      .rd_offset_o  (rd_offset),
      .rd_data_i    (rd_data),
      .w_valid_o,
      .w_ready_i,
      .w_data_o,
      .w_strb_o,
      .w_last_o,
      .free_valid_o (free_valid)
  );

  mae_dma_job_status #(
      .Contexts(Contexts),
      .Slverr  (StatusWriteSlverr),
      .Decerr  (StatusWriteDecerr)
  ) u_done (
      .clk_i,
      .rst_ni,
      .resp_valid_i  (b_valid_q),
      .resp_ctx_i    (b_ctx_q),
      .resp_i        (b_resp_q),
      .finish_valid_i(finish_valid),
      .finish_ctx_i  (look_ctx),
      .done_valid_o,
      .done_ready_i,
      .done_ctx_o,
      .done_status_o
  );

  // bytes of each job; 0 if fresh
  logic [        31:0] bytes_q  [Contexts];
  logic [Contexts-1:0] fresh_q;
  logic [CtxWidth-1:0] done_ctx;

  assign done_ctx     = done_ctx_o[CtxWidth-1:0];
  assign done_bytes_o = fresh_q[done_ctx] ? '0 : bytes_q[done_ctx];

  always_ff @(posedge clk_i) begin
    if (plan_aw_valid)
      bytes_q[plan.ctx] <= (fresh_q[plan.ctx] ? '0 : bytes_q[plan.ctx]) + plan_bytes;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= '1;
    else begin
      if (done_valid_o && done_ready_i) fresh_q[done_ctx] <= 1'b1;
      if (plan_aw_valid) fresh_q[plan.ctx] <= 1'b0;
    end
  end

  `MAE_ASSERT(AnswerExpected, !b_valid_i || busy_q[b_id_i[NumWidth-1:0]] && !b_id_i[IdWidth-1])
  `MAE_STREAM_HOLDS(AwHolds, aw_valid_o, aw_ready_i, aw)
  `MAE_ASSERT(AwWithin4K,
              !aw_valid_o || 32'(aw.addr[11:0]) + (32'(aw.len) + 1) * DataWidth / 8 <= 32'd4096)

endmodule
