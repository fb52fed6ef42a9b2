// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_write_burst_plan: splits the memory segments of all contexts into AXI4 write bursts, once
// the data of a burst are complete.
//
// After an event of a context (a new segment or row, a write response) the context is examined, one
// context a clock, round-robin. A burst ends at the latest at the next address that is a multiple
// of BurstBeats beats, so none crosses 4 KiB, and is planned when all its bytes have arrived. If
// the rows end before the segments, or the segments before the rows, the rest is dropped. When both
// have ended and every burst has its response, the job is finished.
// Latency: 2 clocks from the last row of a burst to its plan.
// Throughput: one burst a clock.
// Parameters: Legal: as in mae_dma_write_engine; burst_t is its type.

`include "mae_assert.svh"

module mae_dma_write_burst_plan
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned PageRows = 8,
    parameter int unsigned RowWidth = 12,  // of counted rows
    parameter int unsigned BurstBeats = 8,
    parameter int unsigned NumIds = 128,
    parameter type burst_t = logic,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned InWidth = $clog2(PageRows),
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    output logic     [Contexts-1:0] seg_ready_o,
    input  logic                    seg_valid_i,
    input  logic                    seg_abort_i,
    input  dma_ctx_t                seg_ctx_i,
    input  addr_t                   seg_addr_i,
    input  logic     [        31:0] seg_bytes_i,
    input  logic                    seg_last_i,

    // the context that is examined, and its rows
    output logic [  CtxWidth-1:0] look_ctx_o,
    input  logic [  RowWidth-1:0] look_row_i,
    input  logic                  look_ended_i,
    input  logic [BytesWidth-1:0] look_bytes_i,
    input  logic [  Contexts-1:0] wake_i,        // rows have arrived

    // bursts: to the address channel and to the sender; dropped rows to the sender only
    input  logic          ready_i,
    output logic          aw_valid_o,
    output addr_t         aw_addr_o,
    output logic          burst_valid_o,
    output burst_t        burst_o,
    output logic   [31:0] burst_bytes_o,

    // write responses
    input logic                b_valid_i,
    input logic [CtxWidth-1:0] b_ctx_i,

    output logic finish_valid_o  // the job of look_ctx_o is finished
);
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned LaneWidth = $clog2(Bytes);
  localparam int unsigned BurstBytes = BurstBeats * Bytes;
  localparam int unsigned BurstWidth = $clog2(BurstBytes);
  localparam int unsigned PosWidth = RowWidth + LaneWidth;
  localparam int unsigned CountWidth = $clog2(NumIds) + 1;

  // Positions count bytes of a context's rows, modulo twice the buffer's size.
  logic [PosWidth-1:0] plan_q[Contexts];  // next byte to be planned
  logic [CountWidth-1:0] sent_q[Contexts];  // bursts planned
  logic [CountWidth-1:0] answered_q[Contexts];  // bursts with a response
  logic [Contexts-1:0] seg_ended_q;  // the job has no further segments

  // stage 0: choose a context
  logic [Contexts-1:0] wake_q;
  logic [Contexts-1:0] sleep_hot;
  logic [Contexts-1:0] unused_grant;
  logic [CtxWidth-1:0] pick_ctx;
  logic pick_valid;
  logic step;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (wake_q),
      .advance_i(step),
      .grant_o  (unused_grant),
      .index_o  (pick_ctx),
      .valid_o  (pick_valid)
  );

  // stage 1: examine it
  logic                       look_valid_q;
  logic  [      CtxWidth-1:0] look_ctx_q;
  logic                       head_valid;
  addr_t                      head_addr;
  logic  [              31:0] head_bytes;
  logic                       head_last;
  logic                       head_abort;

  logic                       look;
  logic                       send;  // a burst is sent
  logic                       skip;  // the rest of a segment is dropped
  logic                       drop;  // the remaining rows are dropped
  logic                       abort;
  logic                       seg_taken;
  logic  [              31:0] take_bytes;
  logic                       seg_ended;
  logic  [      PosWidth-1:0] pos;
  logic  [      PosWidth-1:0] there;  // position after the bytes that have arrived
  logic  [      PosWidth-1:0] avail;
  logic  [      PosWidth-1:0] stop;  // position after the burst
  logic  [      PosWidth-1:0] base;  // position of lane 0 of the first beat
  logic  [      RowWidth-1:0] last_row;
  logic  [RowWidth-1:InWidth] after_page;  // oldest page that is needed after the burst
  logic  [RowWidth-1:InWidth] next_page;  // the one after the job's last row
  logic  [      BurstWidth:0] to_boundary;
  logic  [      BurstWidth:0] wanted;  // bytes up to the next burst boundary
  logic  [      BurstWidth:0] bytes;  // bytes of the burst
  logic  [      BurstWidth:0] bus_last;  // last byte, counted from lane 0 of the first beat

  assign to_boundary = (BurstWidth + 1)'(BurstBytes) - {1'b0, head_addr[BurstWidth-1:0]};
  assign wanted = (head_bytes < 32'(to_boundary)) ? head_bytes[BurstWidth:0] : to_boundary;
  assign pos = plan_q[look_ctx_q];
  assign last_row = look_row_i - 1'b1;
  assign there       = look_ended_i ? {last_row, LaneWidth'(0)} + PosWidth'(look_bytes_i)
                                    : {look_row_i, LaneWidth'(0)};
  assign avail = there - pos;
  assign bytes = (32'(avail) < 32'(wanted)) ? (BurstWidth + 1)'(avail) : wanted;
  assign stop = pos + PosWidth'(bytes);
  assign base = pos - PosWidth'(head_addr[LaneWidth-1:0]);
  assign bus_last = (BurstWidth + 1)'(head_addr[LaneWidth-1:0]) + bytes - 1'b1;
  assign next_page = last_row[RowWidth-1:InWidth] + 1'b1;
  assign seg_ended = seg_ended_q[look_ctx_q];

  assign look = look_valid_q && ready_i;
  assign send = look && head_valid && bytes != '0 && (bytes == wanted || look_ended_i);
  assign skip = look && head_valid && avail == '0 && look_ended_i;
  assign abort = look && head_abort && !seg_ended;
  assign drop = look && seg_ended && avail != '0;
  assign take_bytes = skip ? head_bytes : 32'(bytes);
  assign seg_taken = (send || skip) && head_last && take_bytes == head_bytes;

  assign finish_valid_o = look && seg_ended && look_ended_i && avail == '0
                          && sent_q[look_ctx_q] == answered_q[look_ctx_q];
  assign step = !look_valid_q || ready_i;
  assign sleep_hot = Contexts'(look && !(send || skip || abort || drop)) << look_ctx_q;
  assign look_ctx_o = look_ctx_q;

  mae_dma_segment_queue #(
      .Contexts(Contexts)
  ) u_segments (
      .clk_i,
      .rst_ni,
      .seg_ready_o,
      .seg_valid_i,
      .seg_abort_i,
      .seg_ctx_i,
      .seg_addr_i,
      .seg_bytes_i,
      .seg_last_i,
      .head_ctx_i  (look_ctx_q),
      .head_valid_o(head_valid),
      .head_addr_o (head_addr),
      .head_bytes_o(head_bytes),
      .head_last_o (head_last),
      .head_abort_o(head_abort),
      .take_valid_i(send || skip),
      .take_bytes_i(take_bytes),
      .abort_take_i(abort)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wake_q       <= '0;
      look_valid_q <= 1'b0;
      look_ctx_q   <= '0;
    end else begin
      // An event in the clock in which the context is examined wakes it again.
      wake_q <= (wake_q & ~sleep_hot) | wake_i | (Contexts'(b_valid_i) << b_ctx_i)
                | (Contexts'(seg_valid_i || seg_abort_i) << seg_ctx_i[CtxWidth-1:0]);
      if (step) begin
        look_valid_q <= pick_valid;
        if (pick_valid) look_ctx_q <= pick_ctx;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      plan_q      <= '{default: '0};
      sent_q      <= '{default: '0};
      answered_q  <= '{default: '0};
      seg_ended_q <= '0;
    end else begin
      if (send) sent_q[look_ctx_q] <= sent_q[look_ctx_q] + 1'b1;
      if (b_valid_i) answered_q[b_ctx_i] <= answered_q[b_ctx_i] + 1'b1;
      // The next job begins in the next page.
      if (finish_valid_o) plan_q[look_ctx_q] <= {next_page, (InWidth + LaneWidth)'(0)};
      else if (drop) plan_q[look_ctx_q] <= there;
      else if (send) plan_q[look_ctx_q] <= stop;
      if (finish_valid_o) seg_ended_q[look_ctx_q] <= 1'b0;
      else if (seg_taken || abort) seg_ended_q[look_ctx_q] <= 1'b1;
    end
  end

  assign aw_valid_o    = send;
  assign aw_addr_o     = {head_addr[63:LaneWidth], LaneWidth'(0)};
  assign burst_valid_o = send || drop;
  assign burst_bytes_o = 32'(bytes);
  always_comb begin
    // The job's last page is free with its last byte.
    if (look_ended_i && (drop || stop == there)) after_page = next_page;
    else if (drop) after_page = there[PosWidth-1:InWidth+LaneWidth];
    else after_page = stop[PosWidth-1:InWidth+LaneWidth];
    burst_o = '0;
    burst_o.ctx = look_ctx_q;
    burst_o.drop = drop;
    // Row 0 is that of the oldest page, the one of pos.
    burst_o.row = {
      base[InWidth+LaneWidth] ^ pos[InWidth+LaneWidth], base[InWidth+LaneWidth-1:LaneWidth]
    };
    burst_o.offset = base[LaneWidth-1:0];
    burst_o.len = 8'(bus_last >> LaneWidth);
    burst_o.first = head_addr[LaneWidth-1:0];
    burst_o.last = bus_last[LaneWidth-1:0];
    burst_o.pages = ($bits(burst_o.pages))'(after_page - pos[PosWidth-1:InWidth+LaneWidth]);
  end

  `MAE_ASSERT(OneJob, !(look_valid_q && seg_ended && head_valid))
  `MAE_ASSERT(AnswerExpected, !b_valid_i || sent_q[b_ctx_i] != answered_q[b_ctx_i])

endmodule
