// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_sg_walker: converts the addresses and scatter-gather lists of jobs to memory segments for
// a DMA engine. It serves one direction and all contexts concurrently.
//
// A job without a list is treated as one entry that was already read. Up to two blocks of 64 bytes
// (8 entries) of a list are read ahead for each context; the position of an entry in the store is
// its address modulo 128, so that no alignment is needed. Segments end at multiples of 4 KiB at the
// latest, as AXI bursts must, so that an abort takes effect soon. A list that fails (unreadable,
// wrong sum of lengths, abort) ends its job by seg_abort_o, as does a job of no bytes; nothing
// beyond the job's length or the list's entries is ever pushed. Each job reports once at done_*. A
// segment is pushed only if seg_ready_i was high. The segment outputs come from registers, through
// the memory that holds the state of the contexts.
// Latency: 2 clocks from job_valid_i to the first segment of a job without a list.
// Throughput: one segment a clock in all contexts together, one in two clocks in a single context.
// Reset: drops all jobs; the memories have no reset, and are read only after they were written.
// Parameters: BeatWidth is the width of a beat of a list. Legal: Contexts 1..256; BeatWidth 128,
// 256, 512.

`include "mae_assert.svh"

module mae_dma_sg_walker
  import mae_dma_pkg::*;
#(
    parameter int unsigned Contexts  = 64,
    parameter int unsigned BeatWidth = 512
) (
    input logic clk_i,
    input logic rst_ni,

    input logic      job_valid_i,  // always accepted: its context is idle
    input dma_ctx_t  job_ctx_i,
    input walk_job_t job_i,
    input logic      abort_i,      // ends all jobs but those with `keeps`

    input  logic     [Contexts-1:0] seg_ready_i,
    output logic                    seg_valid_o,
    output logic                    seg_abort_o,
    output dma_ctx_t                seg_ctx_o,
    output addr_t                   seg_addr_o,
    output logic     [        31:0] seg_bytes_o,
    output logic                    seg_last_o,

    output logic     done_valid_o,
    output dma_ctx_t done_ctx_o,
    output status_e  done_status_o,

    output logic        ar_valid_o,
    input  logic        ar_ready_i,
    output control_ar_t ar_o,

    input logic                         r_valid_i,  // always accepted
    input control_tag_t                 r_tag_i,
    input logic         [          1:0] r_beat_i,
    input logic         [BeatWidth-1:0] r_data_i,
    input logic                         r_error_i,
    input logic                         r_last_i
);
  localparam int unsigned Beats = 8 * BlockBytes / BeatWidth;
  localparam int unsigned Tags = 2 ** $bits(control_tag_t);  // list reads in flight
  localparam int unsigned PieceBytes = 4096;
  localparam int unsigned PieceWidth = $clog2(PieceBytes);
  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  `MAE_PARAM(BeatWidthLegal, BeatWidth inside {128, 256, 512})

  typedef logic [CtxWidth-1:0] ctx_t;
  typedef logic [$clog2(2*Contexts)-1:0] place_t;  // context, half
  typedef logic [Contexts-1:0] set_t;  // a bit for each context

  typedef struct packed {
    addr_t       addr;     // of the current entry
    logic [31:0] bytes;
    logic [15:0] entries;  // not yet read from the store
    logic [2:0]  place;    // position of the next one of them in the store
    logic [31:0] rest;     // bytes of the job that have not been pushed
  } step_t;

  typedef struct packed {
    logic [57:0] block;   // address / 64 of the next block
    logic [14:0] blocks;  // number of blocks to read
  } fetch_t;

  // The state of a context is in three memories, each with one writer: a new job is read from
  // job_q, later from the memory that the step or the fetch wrote.
  walk_job_t job_q[Contexts];
  step_t step_q[Contexts];
  fetch_t fetch_q[Contexts];
  status_e fail_status_q[Contexts];
  logic [8*BlockBytes-1:0] store_q[2*Contexts];

  set_t active_d, active_q;  // has a job
  set_t fresh_step_d, fresh_step_q;  // no step was made
  set_t fresh_fetch_d, fresh_fetch_q;  // no block was read
  set_t hand_d, hand_q;  // an entry is present
  set_t half_d, half_q;  // the half of the store with the next entry
  set_t more_d, more_q;  // there are blocks to read
  set_t fetch_half_d, fetch_half_q;  // the destination of the next block
  set_t keeps_d, keeps_q;  // continues after an abort
  set_t failed_d, failed_q;  // ends as soon as its reads have returned
  set_t [1:0] used_d, used_q;  // the half is being read or full
  set_t [1:0] full_d, full_q;
  set_t [1:0] error_d, error_q;

  // The context that steps next: it has a segment to push, or it failed and may end.
  set_t entry_ready, reading, step_grant, step_busy_q, step_request;
  logic pick, pick_q;
  ctx_t pick_ctx, ctx_q;

  assign entry_ready = hand_q | (half_q & full_q[1]) | (~half_q & full_q[0]);
  assign reading = (used_q[0] & ~full_q[0]) | (used_q[1] & ~full_q[1]);
  assign step_request = ~step_busy_q &
      ((active_q & ~failed_q & seg_ready_i & (entry_ready | (abort_i ? ~keeps_q : '0))) |
       (failed_q & ~reading));

  mae_rr_arb #(
      .N(Contexts)
  ) u_step_arb (
      .clk_i,
      .rst_ni,
      .req_i    (step_request),
      .advance_i(1'b1),
      .grant_o  (step_grant),
      .index_o  (pick_ctx),
      .valid_o  (pick)
  );

  // The step itself.
  walk_job_t job;
  step_t now, next;
  sg_entry_t entry;
  logic hand, half, finish, taken, final_entry, whole, ok, last, empty;
  logic [31:0] piece;
  logic [PieceWidth:0] to_boundary;
  status_e reason;

  always_comb begin
    job    = job_q[ctx_q];
    now    = step_q[ctx_q];
    hand   = hand_q[ctx_q];
    half   = half_q[ctx_q];
    finish = failed_q[ctx_q];
    if (fresh_step_q[ctx_q]) begin
      now.addr    = job.addr;
      now.bytes   = job.length;
      now.entries = job.list ? job.entries : '0;
      now.place   = job.addr[6:4];
      now.rest    = job.length;
    end
    entry = store_q[place_t'({ctx_q, half})][128*32'(now.place[1:0])+:128];
    if (hand) entry = '{reserved: '0, length: now.bytes, addr: now.addr};
    taken = !hand;
    empty = fresh_step_q[ctx_q] && job.length == '0;
    final_entry = now.entries == 16'(taken);

    reason = StatusOk;
    if (abort_i && !job.keeps) reason = StatusAborted;
    else if (taken && error_q[half][ctx_q]) reason = StatusListFetch;
    else if (entry.reserved != '0) reason = StatusBadOp;
    else if (final_entry ? entry.length != now.rest : entry.length > now.rest)
      reason = StatusBadLength;
    ok = reason == StatusOk;

    to_boundary = (PieceWidth + 1)'(PieceBytes) - (PieceWidth + 1)'(entry.addr[PieceWidth-1:0]);
    piece = (entry.length > 32'(to_boundary)) ? 32'(to_boundary) : entry.length;
    whole = piece == entry.length;
    last = piece == now.rest;

    next.addr = entry.addr + addr_t'(piece);
    next.bytes = entry.length - piece;
    next.entries = now.entries - 16'(taken);
    next.place = now.place + 3'(taken);
    next.rest = now.rest - piece;
  end

  assign seg_valid_o   = pick_q && !finish && ok && piece != '0;
  assign seg_abort_o   = pick_q && !finish && (empty || (!ok && now.rest != '0));
  assign seg_ctx_o     = dma_ctx_t'(ctx_q);
  assign seg_addr_o    = entry.addr;
  assign seg_bytes_o   = piece;
  assign seg_last_o    = last;
  assign done_valid_o  = pick_q && (finish || (ok && whole && final_entry));
  assign done_ctx_o    = dma_ctx_t'(ctx_q);
  assign done_status_o = finish ? fail_status_q[ctx_q] : StatusOk;

  // The context that reads a block next. The space of the block is reserved at once; its address
  // follows one clock later.
  set_t fetch_request, fetch_grant, fetch_busy_q;  // busy: the context whose address is computed
  logic fetch_pick, fetch_valid_q, fetch_move;
  ctx_t fetch_pick_ctx, fetch_ctx_q;
  logic   fetch_half_at_q;
  fetch_t fetch_now;
  logic [Tags-1:0] tag_used_d, tag_used_q;
  control_tag_t tag_free;
  ctx_t tag_ctx_q[Tags];
  logic [Tags-1:0] tag_half_q;
  logic ar_valid_q;
  control_ar_t ar_q;

  assign fetch_request = more_q & ~failed_q & ~fetch_busy_q &
      ~((fetch_half_q & used_q[1]) | (~fetch_half_q & used_q[0]));
  assign fetch_move = fetch_valid_q && (!ar_valid_q || ar_ready_i) && tag_used_q != '1;

  mae_rr_arb #(
      .N(Contexts)
  ) u_fetch_arb (
      .clk_i,
      .rst_ni,
      .req_i    ((!fetch_valid_q || fetch_move) ? fetch_request : '0),
      .advance_i(1'b1),
      .grant_o  (fetch_grant),
      .index_o  (fetch_pick_ctx),
      .valid_o  (fetch_pick)
  );

  logic [59:0] list_place;  // address / 16
  logic [15:0] list_entries;
  always_comb begin
    list_place = job_q[fetch_ctx_q].addr[63:4];
    list_entries = job_q[fetch_ctx_q].entries;
    fetch_now = fetch_q[fetch_ctx_q];
    if (fresh_fetch_q[fetch_ctx_q]) begin
      fetch_now.block  = list_place[59:2];
      fetch_now.blocks = 15'((17'(list_place[1:0]) + 17'(list_entries) + 17'd3) >> 2);
    end
    tag_free = '0;
    for (int i = int'(Tags) - 1; i >= 0; i--) if (!tag_used_q[i]) tag_free = control_tag_t'(i);
  end

  ctx_t r_ctx;
  logic r_half;
  assign r_ctx  = tag_ctx_q[r_tag_i];
  assign r_half = tag_half_q[r_tag_i];

  ctx_t job_ctx;
  assign job_ctx = ctx_t'(job_ctx_i);

  always_comb begin
    active_d      = active_q;
    fresh_step_d  = fresh_step_q;
    fresh_fetch_d = fresh_fetch_q;
    hand_d        = hand_q;
    half_d        = half_q;
    more_d        = more_q;
    fetch_half_d  = fetch_half_q;
    keeps_d       = keeps_q;
    failed_d      = failed_q;
    used_d        = used_q;
    full_d        = full_q;
    error_d       = error_q;
    tag_used_d    = tag_used_q;
    if (job_valid_i) begin
      active_d[job_ctx]      = 1'b1;
      fresh_step_d[job_ctx]  = 1'b1;
      fresh_fetch_d[job_ctx] = 1'b1;
      keeps_d[job_ctx]       = job_i.keeps;
      hand_d[job_ctx]        = !job_i.list;
      half_d[job_ctx]        = job_i.addr[6];
      more_d[job_ctx]        = job_i.list;
      fetch_half_d[job_ctx]  = job_i.addr[6];
    end
    used_d[0] |= fetch_grant & ~fetch_half_q;
    used_d[1] |= fetch_grant & fetch_half_q;
    error_d[0] &= ~(fetch_grant & ~fetch_half_q);
    error_d[1] &= ~(fetch_grant & fetch_half_q);
    fetch_half_d ^= fetch_grant;
    if (fetch_move) begin
      tag_used_d[tag_free]       = 1'b1;
      fresh_fetch_d[fetch_ctx_q] = 1'b0;
      if (fetch_now.blocks == 15'd1) more_d[fetch_ctx_q] = 1'b0;
    end
    if (r_valid_i) begin
      if (r_error_i) error_d[r_half][r_ctx] = 1'b1;
      if (r_last_i) begin
        full_d[r_half][r_ctx] = 1'b1;
        tag_used_d[r_tag_i]   = 1'b0;
      end
    end
    if (pick_q) begin
      fresh_step_d[ctx_q] = 1'b0;
      if (!finish && ok) begin
        hand_d[ctx_q] = !whole;
        half_d[ctx_q] = next.place[2];
        // An entry leaves its block when its first segment is pushed.
        if (taken && (now.place[1:0] == 2'd3 || final_entry)) begin
          used_d[half][ctx_q] = 1'b0;
          full_d[half][ctx_q] = 1'b0;
        end
      end
      if (!finish && !ok) begin
        failed_d[ctx_q] = 1'b1;
        more_d[ctx_q]   = 1'b0;
      end
      if (done_valid_o) begin
        active_d[ctx_q]  = 1'b0;
        failed_d[ctx_q]  = 1'b0;
        used_d[0][ctx_q] = 1'b0;
        used_d[1][ctx_q] = 1'b0;
        full_d[0][ctx_q] = 1'b0;
        full_d[1][ctx_q] = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q      <= '0;
      fresh_step_q  <= '0;
      fresh_fetch_q <= '0;
      hand_q        <= '0;
      half_q        <= '0;
      more_q        <= '0;
      fetch_half_q  <= '0;
      keeps_q       <= '0;
      failed_q      <= '0;
      used_q        <= '0;
      full_q        <= '0;
      error_q       <= '0;
      tag_used_q    <= '0;
      pick_q        <= 1'b0;
      step_busy_q   <= '0;
      fetch_busy_q  <= '0;
      ctx_q         <= '0;
      fetch_valid_q <= 1'b0;
      fetch_ctx_q   <= '0;
      ar_valid_q    <= 1'b0;
      ar_q          <= '0;
    end else begin
      active_q      <= active_d;
      fresh_step_q  <= fresh_step_d;
      fresh_fetch_q <= fresh_fetch_d;
      hand_q        <= hand_d;
      half_q        <= half_d;
      more_q        <= more_d;
      fetch_half_q  <= fetch_half_d;
      keeps_q       <= keeps_d;
      failed_q      <= failed_d;
      used_q        <= used_d;
      full_q        <= full_d;
      error_q       <= error_d;
      tag_used_q    <= tag_used_d;
      pick_q        <= pick;
      step_busy_q   <= step_grant;
      if (pick) ctx_q <= pick_ctx;
      if (!fetch_valid_q || fetch_move) begin
        fetch_valid_q <= fetch_pick;
        fetch_busy_q  <= fetch_grant;
        if (fetch_pick) fetch_ctx_q <= fetch_pick_ctx;
      end
      if (ar_ready_i) ar_valid_q <= 1'b0;
      if (fetch_move) begin
        ar_valid_q <= 1'b1;
        ar_q       <= '{tag: tag_free, block: fetch_now.block};
      end
    end
  end

  // The memories have no reset: they are read only after they were written.
  always_ff @(posedge clk_i) begin
    if (job_valid_i) job_q[job_ctx] <= job_i;
    if (pick_q) step_q[ctx_q] <= next;
    if (pick_q && !finish && !ok) fail_status_q[ctx_q] <= reason;
    if (fetch_pick) fetch_half_at_q <= fetch_half_q[fetch_pick_ctx];
    if (fetch_move) begin
      fetch_q[fetch_ctx_q].block  <= fetch_now.block + 1'b1;
      fetch_q[fetch_ctx_q].blocks <= fetch_now.blocks - 1'b1;
      tag_ctx_q[tag_free]         <= fetch_ctx_q;
      tag_half_q[tag_free]        <= fetch_half_at_q;
    end
    for (int unsigned i = 0; i < Beats; i++) begin
      if (r_valid_i && r_beat_i == 2'(i))
        store_q[place_t'({r_ctx, r_half})][BeatWidth*i+:BeatWidth] <= r_data_i;
    end
  end

  assign ar_valid_o = ar_valid_q;
  assign ar_o = ar_q;

  `MAE_ASSERT(JobForIdle, !job_valid_i || (32'(job_ctx_i) < Contexts && !active_q[job_ctx]))
  `MAE_ASSERT(OneEnd, !(seg_valid_o && seg_abort_o))
  `MAE_ASSERT(PushWhereReady, !(seg_valid_o || seg_abort_o) || seg_ready_i[ctx_q])
  `MAE_ASSERT(AnswerAwaited, !r_valid_i || (used_q[r_half][r_ctx] && !full_q[r_half][r_ctx]))
  `MAE_STREAM_HOLDS(ArHolds, ar_valid_o, ar_ready_i, ar_o)

endmodule
