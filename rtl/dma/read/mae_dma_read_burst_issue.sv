// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read_burst_issue: splits the memory segments of all contexts into AXI4 read bursts of the
// DMA read engine.
//
// After an event of a context (a new segment, a page given back, a committed burst) the context
// is examined, one context a clock, round-robin. It gets a burst if it may have a page for it,
// and is examined again. A burst ends at the latest at the next address that is a multiple of
// BurstBeats beats, so none crosses 4 KiB, and needs at most one page more than its context has.
// Its rows are reserved here, so that its data can always be accepted. The bytes of a job are
// packed from byte 0 of the first row of a page. At most Window beats are requested ahead: more
// would only wait in the memory, and the rows reserved for them with them. Ready and valid
// towards AXI come from registers.
// Latency: 3 clocks from segment to AR.
// Throughput: one burst a clock.
// Parameters: Legal: as in mae_dma_read_engine; burst_t and final_t are its types.

`include "mae_assert.svh"

module mae_dma_read_burst_issue
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned Pages = 256,
    parameter int unsigned PageRows = 8,
    parameter int unsigned BurstBeats = 8,
    parameter int unsigned Window = 256,
    parameter int unsigned NumIds = 128,
    parameter type burst_t = logic,
    parameter type final_t = logic,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned PageWidth = $clog2(Pages),
    localparam int unsigned RowWidth = $clog2(2 * Pages * PageRows)  // of counted rows
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

    output logic                ar_valid_o,
    input  logic                ar_ready_i,
    input  logic                r_valid_i,   // a beat has come
    output logic  [IdWidth-1:0] ar_id_o,
    output addr_t               ar_addr_o,
    output logic  [        7:0] ar_len_o,

    // a burst was requested
    output logic burst_valid_o,
    output logic [$clog2(NumIds)-1:0] burst_id_o,
    output burst_t burst_o,
    output logic [RowWidth-1:0] burst_stop_row_o,  // first row that is not complete after it
    input logic id_busy_i,  // burst_id_o is still in use

    // all bursts of a context's job are requested
    output logic   final_valid_o,
    output final_t final_o,

    // the context that is examined
    output logic [ CtxWidth-1:0] look_ctx_o,
    input  logic                 open_i,      // it has bursts that are not committed
    input  logic                 ended_i,     // final, and not yet output
    input  logic                 room_i,      // it may have one more page
    input  logic [PageWidth-1:0] page_i,      // that page
    input  logic [PageWidth-1:0] tail_i,      // the newest page it has
    output logic                 take_o,      // it takes the page
    input  logic [ Contexts-1:0] rooms_i,     // contexts that may have one more page
    input  logic [ Contexts-1:0] wake_i
);
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned LaneWidth = $clog2(Bytes);
  localparam int unsigned BurstBytes = BurstBeats * Bytes;
  localparam int unsigned BurstWidth = $clog2(BurstBytes);
  localparam int unsigned PosWidth = RowWidth + LaneWidth;
  localparam int unsigned InWidth = $clog2(PageRows) + LaneWidth;  // a byte of a page
  localparam int unsigned AskedWidth = $clog2(Window + 1);

  // Positions count bytes of a context's rows, modulo twice the buffer's size.
  logic [PosWidth-1:0] alloc_q[Contexts];  // next byte to be reserved
  logic [$clog2(NumIds)-1:0] id_q;
  logic [AskedWidth-1:0] asked_q;  // beats that have not arrived

  // stage 0: choose a context
  logic [Contexts-1:0] wake_q;
  logic [Contexts-1:0] starved_q;  // waits for a page
  logic [Contexts-1:0] rooms_q;
  logic [Contexts-1:0] look_hot;
  logic [Contexts-1:0] unused_grant;
  logic [CtxWidth-1:0] pick_ctx;
  logic pick_valid;
  logic step;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (wake_q & ~(starved_q & ~rooms_q)),
      .advance_i(step),
      .grant_o  (unused_grant),
      .index_o  (pick_ctx),
      .valid_o  (pick_valid)
  );

  // stage 1: examine it
  logic                 look_valid_q;
  logic  [CtxWidth-1:0] look_ctx_q;
  logic                 head_valid;
  addr_t                head_addr;
  logic  [        31:0] head_bytes;
  logic                 head_last;
  logic                 head_abort;

  logic                 issue;  // a burst is issued
  logic                 whole;  // it is the last one of the job
  logic                 abort;  // the job ends with the bytes that are present
  logic                 blocked;
  logic                 looks;
  logic                 fresh;  // the next byte is the first one of a page
  logic                 crosses;  // the burst takes one more page
  logic                 starves;
  logic  [BurstWidth:0] to_boundary;
  logic  [BurstWidth:0] bytes;  // bytes of the burst
  logic  [PosWidth-1:0] pos;
  logic  [PosWidth-1:0] stop;  // first byte after the burst
  logic  [PosWidth-1:0] stop_last;  // last byte of the burst
  logic  [   InWidth:0] base;  // position of lane 0 of the first beat in the burst's two pages
  logic  [BurstWidth:0] bus_last;  // last byte, counted from lane 0 of the first beat
  logic  [PosWidth-1:0] end_pos;  // a byte of the job's last row
  logic  [RowWidth-1:0] end_row;
  logic  [PosWidth-1:0] end_page;  // position after its page

  assign to_boundary = (BurstWidth + 1)'(BurstBytes) - {1'b0, head_addr[BurstWidth-1:0]};
  assign bytes = (head_bytes < 32'(to_boundary)) ? head_bytes[BurstWidth:0] : to_boundary;
  assign pos = alloc_q[look_ctx_q];
  assign stop = pos + PosWidth'(bytes);
  assign stop_last = stop - 1'b1;
  assign base = pos[InWidth:0] - (InWidth + 1)'(head_addr[LaneWidth-1:0]);
  assign bus_last = (BurstWidth + 1)'(head_addr[LaneWidth-1:0]) + bytes - 1'b1;
  assign fresh = pos[InWidth-1:0] == '0;
  assign crosses = fresh || stop_last[InWidth] != pos[InWidth];

  assign blocked = ar_valid_o && !ar_ready_i || id_busy_i || 32'(asked_q) + BurstBeats > Window;
  assign looks = look_valid_q && !blocked;
  assign starves = head_valid && !ended_i && crosses && !room_i;
  assign issue = looks && head_valid && !ended_i && !starves;
  assign take_o = issue && crosses;
  assign whole = head_last && head_bytes == 32'(bytes);
  assign abort = looks && head_abort && !ended_i && !open_i;
  assign step = !look_valid_q || !blocked;
  assign look_hot = Contexts'(looks) << look_ctx_q;
  assign end_pos = head_valid ? stop_last : pos;
  assign end_row = end_pos[PosWidth-1:LaneWidth];
  assign end_page = {end_pos[PosWidth-1:InWidth] + 1'b1, InWidth'(0)};

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
      .take_valid_i(issue),
      .take_bytes_i(32'(bytes)),
      .abort_take_i(abort)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wake_q       <= '0;
      starved_q    <= '0;
      rooms_q      <= '0;
      look_valid_q <= 1'b0;
      look_ctx_q   <= '0;
    end else begin
      // An event in the clock in which the context is examined wakes it again.
      wake_q <= (wake_q & ~((issue || starves) ? '0 : look_hot)) | wake_i
                | (Contexts'(seg_valid_i || seg_abort_i) << seg_ctx_i[CtxWidth-1:0]);
      starved_q <= (starved_q & ~look_hot) | (starves ? look_hot : '0);
      rooms_q <= rooms_i;
      if (step) begin
        look_valid_q <= pick_valid;
        if (pick_valid) look_ctx_q <= pick_ctx;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      alloc_q <= '{default: '0};
      id_q    <= '0;
      asked_q <= '0;
    end else begin
      if (issue) id_q <= id_q + 1'b1;
      asked_q <= asked_q - AskedWidth'(r_valid_i)
                 + (issue ? AskedWidth'(bus_last >> LaneWidth) + 1'b1 : '0);
      if (issue && !whole) alloc_q[look_ctx_q] <= stop;
      else if (issue || abort) alloc_q[look_ctx_q] <= fresh && !issue ? pos : end_page;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_valid_o <= 1'b0;
      ar_id_o    <= '0;
      ar_addr_o  <= '0;
      ar_len_o   <= '0;
    end else if (issue) begin
      ar_valid_o <= 1'b1;
      ar_id_o    <= IdWidth'(id_q);
      ar_addr_o  <= {head_addr[63:LaneWidth], LaneWidth'(0)};
      ar_len_o   <= 8'(bus_last >> LaneWidth);
    end else if (ar_ready_i) begin
      ar_valid_o <= 1'b0;
    end
  end

  assign burst_valid_o = issue;
  assign burst_id_o = id_q;
  assign burst_stop_row_o = whole ? end_page[PosWidth-1:LaneWidth] : stop[PosWidth-1:LaneWidth];
  always_comb begin
    burst_o       = '0;
    burst_o.ctx   = look_ctx_q;
    // Where the burst lies in one page, the other one is not written.
    burst_o.pages = {2{page_i}};
    if (!fresh) burst_o.pages[pos[InWidth]] = tail_i;
    burst_o.row    = base[InWidth:LaneWidth];
    burst_o.offset = base[LaneWidth-1:0];
    burst_o.first  = head_addr[LaneWidth-1:0];
    burst_o.last   = bus_last[LaneWidth-1:0];
  end

  // An aborted job ends with a row of its own: the bytes that do not fill a row, or one zero byte.
  assign final_valid_o = issue && whole || abort;
  always_comb begin
    final_o         = '0;
    final_o.ctx     = look_ctx_q;
    final_o.row     = end_row;
    final_o.aborted = abort;
    final_o.zero    = abort && pos[LaneWidth-1:0] == '0;
    if (!abort) final_o.bytes = (LaneWidth + 1)'(end_pos[LaneWidth-1:0]) + 1'b1;
    else if (final_o.zero) final_o.bytes = (LaneWidth + 1)'(1);
    else final_o.bytes = (LaneWidth + 1)'(pos[LaneWidth-1:0]);
  end

  `MAE_STREAM_HOLDS(ArHolds, ar_valid_o, ar_ready_i, {ar_id_o, ar_addr_o, ar_len_o})
  `MAE_ASSERT(ArWithin4K,
              !ar_valid_o || 32'(ar_addr_o[11:0]) + (32'(ar_len_o) + 1) * Bytes <= 32'd4096)

endmodule
