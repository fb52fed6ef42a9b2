// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_ring_manager: fetches descriptors from the submission ring, runs their jobs and writes
// completions. It checks them, dispatches jobs to the client and the walkers and collects the
// results.
//
// Jobs of one context are dispatched in the order of the ring. A descriptor whose context has a job
// in flight is held, and those behind it overtake it (mae_dma_descriptor_hold); jobs of different
// contexts run concurrently and complete in any order.
// An illegal descriptor gets a completion of its own and moves no data. Of several errors, the
// completion has the first one in the order: source list, destination list, read, write, client. If
// the client reports StatusBadTag, the destination is walked a second time and overwritten by
// mae_dma_zero_fill; only then is the job completed, whatever its status. Other jobs may complete
// while a job waits for mae_dma_zero_fill. cfg_valid_o does not depend on cfg_ready_i.
//
// enable, rising: both rings begin at index 0 and ring_error is cleared. enable, falling: no
// descriptor is taken any more, jobs in flight and held descriptors end, fetched ones are dropped
// (sub_head tells which). abort: jobs
// in flight end early if their walkers can, and all of them and the fetched descriptors complete
// with StatusAborted; then nothing happens until enable falls. abort does not end an overwrite: a
// completed job with a wrong tag, also a decryption cut short, never leaves plaintext that was not
// verified (SP 800-38D §7.2).
// Latency: 2 clocks from the last beat of a descriptor to cfg_valid_o, 1 more to the walkers; 3
// from the last report of a job to the address of its completion.
// Throughput: one job a clock.
// Parameters: BeatWidth is the width of control reads, min(DataWidth, 512). Legal: Contexts 1..256;
// the others as in mae_dma.

`include "mae_assert.svh"

module mae_dma_ring_manager
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned BeatWidth = 512,  // of control reads: min(DataWidth, 512)
    parameter int unsigned Contexts = 64,
    parameter int unsigned Prefetch = 64,
    parameter int unsigned FirstSlot = 16,  // see mae_dma_descriptor_feed
    parameter int unsigned RecordSlots = 0,
    parameter int unsigned MaxKeyBytes = 32,
    parameter logic [7:0] KeptOp = 8'hff
) (
    input logic clk_i,
    input logic rst_ni,

    input  dma_ctrl_t     ctrl_i,
    output dma_status_t   status_o,
    output logic          irq_o,
    input  logic          irq_ack_i,
    input  key_table_t    table_i,
    output logic          forgetting_o,
    output logic          write_valid_o,  // a key record, to a key slot
    input  logic          write_ready_i,
    output record_write_t write_o,

    output logic     cfg_valid_o,
    input  logic     cfg_ready_i,
    output dma_ctx_t cfg_ctx_o,
    output desc_t    cfg_desc_o,
    input  status_e  cfg_status_i,
    input  accept_t  cfg_accept_i,    // with StatusOk
    input  logic     report_valid_i,  // always accepted
    input  report_t  report_i,

    // walkers (0: source, 1: destination) and engines (2: read, 3: write)
    output logic      [ 1:0] job_valid_o,
    output dma_ctx_t         job_ctx_o,
    output walk_job_t        job_src_o,
    output walk_job_t        job_dst_o,
    output logic             abort_o,
    input  logic      [ 3:0] done_valid_i,   // always accepted
    input  dma_ctx_t  [ 3:0] done_ctx_i,
    input  status_e   [ 3:0] done_status_i,
    input  logic      [31:0] done_bytes_i,   // of the write engine

    output logic            scrub_valid_o,  // the destination's walker starts in the next clock
    input  logic            scrub_ready_i,
    output dma_ctx_t        scrub_ctx_o,
    output logic     [31:0] scrub_bytes_o,

    output logic                         ar_valid_o,
    input  logic                         ar_ready_i,
    output control_ar_t                  ar_o,
    input  logic                         r_valid_i,
    input  control_tag_t                 r_tag_i,
    input  logic         [          1:0] r_beat_i,
    input  logic         [BeatWidth-1:0] r_data_i,
    input  logic                         r_error_i,
    input  logic                         r_last_i,

    output logic                              aw_valid_o,
    input  logic                              aw_ready_i,
    output completion_tag_t                   aw_tag_o,
    output addr_t                             aw_addr_o,
    output logic                              w_valid_o,
    input  logic                              w_ready_i,
    output logic            [  DataWidth-1:0] w_data_o,
    output logic            [DataWidth/8-1:0] w_strb_o,
    output logic                              w_last_o,
    input  logic                              b_valid_i,
    input  completion_tag_t                   b_tag_i,
    input  logic                              b_error_i
);
  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned Parts = 5;
  localparam int unsigned Writer = 3;
  localparam int unsigned Client = 4;
  `MAE_PARAM(ContextsLegal, Contexts inside {[1 : 256]})

  typedef logic [CtxWidth-1:0] ctx_t;
  typedef logic [Contexts-1:0] set_t;

  typedef struct packed {
    completion_t entry;
    logic        irq;
  } record_t;

  typedef struct packed {
    logic [31:0] cookie;
    logic [15:0] index;
    logic        irq;
    walk_job_t   dst;
  } job_t;

  typedef enum logic [1:0] {
    Off,
    Run,
    Drain,  // disabled: jobs in flight end
    Abort   // until all jobs are completed and enable is low
  } state_e;

  state_e state_d, state_q;
  logic start, aborting, quiet, fetch_empty, fetch_quiet, complete_idle;
  logic ring_error_q, irq_q, irq_event, write_error;
  logic [8:0] jobs_q;

  // Descriptors
  logic fetched_valid, fetched_ready, fetched_error, hold_empty;
  logic desc_valid, desc_ready, desc_error, accept, refuse, pick_move;
  ctx_t ctx_q;  // of the job that is completed
  desc_t fetched, desc;
  logic [15:0] fetched_index, desc_index;
  logic [15:0] sub_head;
  set_t busy_d, busy_q;

  mae_dma_descriptor_feed #(
      .BeatWidth  (BeatWidth),
      .Prefetch   (Prefetch),
      .Contexts   (Contexts),
      .FirstSlot  (FirstSlot),
      .RecordSlots(RecordSlots),
      .MaxKeyBytes(MaxKeyBytes),
      .KeptOp     (KeptOp)
  ) u_feed (
      .start_i     (start),
      .fetch_i     (state_q == Run && !ring_error_q),
      .give_i      ((state_q == Run && !ring_error_q) || aborting),
      .aborting_i  (aborting),
      .base_i      (ctrl_i.sub_base[63:6]),
      .log2_i      (ctrl_i.sub_log2),
      .tail_i      (ctrl_i.sub_tail),
      .head_o      (sub_head),
      .empty_o     (fetch_empty),
      .quiet_o     (fetch_quiet),
      .desc_valid_o(fetched_valid),
      .desc_ready_i(fetched_ready),
      .desc_o      (fetched),
      .desc_error_o(fetched_error),
      .desc_index_o(fetched_index),
      .accept_i    (accept),
      .refuse_i    (refuse),
      .job_slot_i  (desc.key_slot),
      .job_ctx_i   (desc.context_id),
      .report_i    (report_valid_i),
      .report_ctx_i(report_i.ctx),
      .finish_i    (pick_move),
      .finish_ctx_i(dma_ctx_t'(ctx_q)),
      .*
  );

  mae_dma_descriptor_hold #(
      .Contexts(Contexts)
  ) u_hold (
      .busy_i     (busy_q),
      .all_i      (aborting),
      .empty_o    (hold_empty),
      .in_valid_i (fetched_valid),
      .in_ready_o (fetched_ready),
      .in_desc_i  (fetched),
      .in_error_i (fetched_error),
      .in_index_i (fetched_index),
      .out_valid_o(desc_valid),
      .out_ready_i(desc_ready),
      .out_desc_o (desc),
      .out_error_o(desc_error),
      .out_index_o(desc_index),
      .*
  );

  // Errors of a descriptor that are found before the client sees it.
  status_e checked;
  logic src_list, dst_list;
  assign src_list = desc.flags[FlagSrcList];
  assign dst_list = desc.flags[FlagDstList];
  always_comb begin
    checked = StatusOk;
    if (desc.flags[7] || (RecordSlots == 0 && desc.flags[FlagRecord]) || desc.record_high != '0)
      checked = StatusBadOp;
    else if (32'(desc.context_id) >= Contexts) checked = StatusBadContext;
    else if (desc.flags[FlagRecord]) checked = StatusKeyRecord;
    else if ((src_list && desc.src_entries == '0) || (dst_list && desc.dst_entries == '0))
      checked = StatusBadLength;
    else if ((src_list && desc.src[3:0] != '0) || (dst_list && desc.dst[3:0] != '0))
      checked = StatusListFetch;
  end

  // Dispatch: to the client and the walkers, or directly to a completion.
  ctx_t desc_ctx;
  status_e verdict;
  logic offered_q;  // offered to the client: it can no longer be withdrawn
  logic refused_valid_q, refused_ready;
  logic [1:0] job_valid_q;
  record_t refused_q;
  dma_ctx_t job_ctx_q;
  walk_job_t job_src_q, job_dst_q;

  assign desc_ctx = ctx_t'(desc.context_id);

  // Jobs for the walkers: a job of no bytes, or whose rows are dropped, has no segments.
  walk_job_t new_src, new_dst;
  always_comb begin
    new_src = '{
        keeps: 1'b0,
        list: src_list && desc.length != '0,
        entries: desc.src_entries,
        addr: desc.src,
        length: desc.length
    };
    new_dst = '{
        keeps: 1'b0,
        list: dst_list && desc.length != '0,
        entries: desc.dst_entries,
        addr: desc.dst,
        length: desc.length
    };
    if (cfg_accept_i.sinks) new_dst = '0;
  end

  always_comb begin
    verdict = desc_error ? StatusDescFetch : (aborting ? StatusAborted : checked);
    if (offered_q) verdict = StatusOk;
    cfg_valid_o = desc_valid && verdict == StatusOk && !busy_q[desc_ctx] && !refused_valid_q;
    accept = cfg_valid_o && cfg_ready_i && cfg_status_i == StatusOk;
    refuse = (cfg_valid_o && cfg_ready_i && cfg_status_i != StatusOk) ||
        (desc_valid && verdict != StatusOk && !refused_valid_q);
    desc_ready = accept || refuse;
  end
  assign cfg_ctx_o  = desc.context_id;
  assign cfg_desc_o = desc;

  // A job is complete when both walkers, both engines and the client have reported.
  set_t [Parts-1:0] done_d, done_q;
  set_t finished, pick_grant;
  logic pick, pick_q, pick_next, put_back, scrub, scrub_move;
  set_t scrubbed_q;
  ctx_t pick_ctx;
  job_t job_table_q[Contexts];
  status_e part_status_q[Parts][Contexts];
  logic [31:0] bytes_q[Contexts];
  logic [127:0] tag_q[Contexts];
  record_t job_record;

  assign finished = done_q[0] & done_q[1] & done_q[2] & done_q[3] & done_q[4];

  mae_rr_arb #(
      .N(Contexts)
  ) u_done_arb (
      .clk_i,
      .rst_ni,
      .req_i    (pick_next ? finished : '0),
      .advance_i(1'b1),
      .grant_o  (pick_grant),
      .index_o  (pick_ctx),
      .valid_o  (pick)
  );

  always_comb begin
    job_record = '0;
    job_record.entry.cookie = job_table_q[ctx_q].cookie;
    job_record.entry.context_id = 8'(ctx_q);
    job_record.entry.index = job_table_q[ctx_q].index;
    job_record.entry.bytes = bytes_q[ctx_q];
    job_record.irq = job_table_q[ctx_q].irq;
    for (int i = int'(Parts) - 1; i >= 0; i--) begin
      if (part_status_q[i][ctx_q] != StatusOk) job_record.entry.status = part_status_q[i][ctx_q];
    end
    if (aborting) job_record.entry.status = StatusAborted;
    if (job_record.entry.status == StatusOk) job_record.entry.tag = tag_q[ctx_q];
  end

  // A destination whose data failed verification.
  assign scrub = pick_q && part_status_q[Client][ctx_q] == StatusBadTag && !scrubbed_q[ctx_q] &&
      job_table_q[ctx_q].dst.length != '0;
  assign scrub_valid_o = scrub && !accept;  // the walkers accept one job a clock
  assign scrub_move = scrub_valid_o && scrub_ready_i;
  assign put_back = scrub_valid_o && !scrub_ready_i;
  assign pick_next = !pick_q || pick_move || scrub_move || put_back;
  assign scrub_ctx_o = dma_ctx_t'(ctx_q);
  assign scrub_bytes_o = job_table_q[ctx_q].dst.length;

  // Completions: refused descriptors first, because they are rare.
  logic record_valid, record_ready, entry_valid, entry_ready;
  record_t record, entry;
  logic [2:0] records;

  assign record_valid = refused_valid_q || (pick_q && !scrub);
  assign record = refused_valid_q ? refused_q : job_record;
  assign refused_ready = record_ready;
  assign pick_move = pick_q && !scrub && record_ready && !refused_valid_q;

  mae_fifo #(
      .Width($bits(record_t)),
      .Depth(4),
      .Zero (1'b0)
  ) u_records (
      .clear_i    (1'b0),
      .in_valid_i (record_valid),
      .in_ready_o (record_ready),
      .in_data_i  (record),
      .out_valid_o(entry_valid),
      .out_ready_i(entry_ready),
      .out_data_o (entry),
      .count_o    (records),
      .*
  );

  mae_dma_completion_writer #(
      .DataWidth(DataWidth)
  ) u_complete (
      .start_i   (start),
      .base_i    (ctrl_i.comp_base[63:6]),
      .log2_i    (ctrl_i.comp_log2),
      .head_i    (ctrl_i.comp_head),
      .tail_o    (status_o.comp_tail),
      .idle_o    (complete_idle),
      .irq_o     (irq_event),
      .error_o   (write_error),
      .in_valid_i(entry_valid),
      .in_ready_o(entry_ready),
      .in_i      (entry.entry),
      .in_irq_i  (entry.irq),
      .*
  );

  always_comb begin
    busy_d = busy_q;
    if (accept) busy_d[desc_ctx] = 1'b1;
    for (int unsigned i = 0; i < Parts; i++) begin
      done_d[i] = done_q[i] & ~pick_grant;
      if (put_back) done_d[i][ctx_q] = 1'b1;
    end
    for (int unsigned i = 0; i < Client; i++) begin
      if (done_valid_i[i]) done_d[i][ctx_t'(done_ctx_i[i])] = 1'b1;
    end
    if (report_valid_i) done_d[Client][ctx_t'(report_i.ctx)] = 1'b1;
    if (accept && !cfg_accept_i.reports) done_d[Client][desc_ctx] = 1'b1;
    if (scrub_move) begin
      done_d[0][ctx_q]      = 1'b1;
      done_d[2][ctx_q]      = 1'b1;
      done_d[Client][ctx_q] = 1'b1;
    end
    if (pick_move) busy_d[ctx_q] = 1'b0;
  end

  // State of the ring.
  assign aborting = state_q == Abort;
  assign quiet = fetch_quiet && hold_empty && jobs_q == '0 && !refused_valid_q && records == '0 &&
      complete_idle;
  assign start = state_q == Off && ctrl_i.enable;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Off:   if (ctrl_i.enable) state_d = Run;
      Run: begin
        if (ctrl_i.abort) state_d = Abort;
        else if (!ctrl_i.enable) state_d = Drain;
      end
      Drain: begin
        if (ctrl_i.abort) state_d = Abort;
        else if (quiet) state_d = Off;
      end
      Abort: if (quiet && fetch_empty && !ctrl_i.enable) state_d = Off;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= Off;
      busy_q          <= '0;
      done_q          <= '0;
      offered_q       <= 1'b0;
      job_valid_q     <= '0;
      scrubbed_q      <= '0;
      refused_valid_q <= 1'b0;
      pick_q          <= 1'b0;
      ctx_q           <= '0;
      jobs_q          <= '0;
      ring_error_q    <= 1'b0;
      irq_q           <= 1'b0;
    end else begin
      state_q     <= state_d;
      busy_q      <= busy_d;
      done_q      <= done_d;
      offered_q   <= cfg_valid_o && !cfg_ready_i;
      job_valid_q <= {accept || scrub_move, accept};
      if (accept) scrubbed_q[desc_ctx] <= 1'b0;
      if (scrub_move) scrubbed_q[ctx_q] <= 1'b1;
      if (refused_ready) refused_valid_q <= 1'b0;
      if (refuse) refused_valid_q <= 1'b1;
      if (pick_next) begin
        pick_q <= pick;
        if (pick) ctx_q <= pick_ctx;
      end
      jobs_q <= jobs_q + 9'(accept) - 9'(pick_move);
      if (start) ring_error_q <= 1'b0;
      if (write_error) ring_error_q <= 1'b1;
      if (irq_ack_i) irq_q <= 1'b0;
      if (irq_event) irq_q <= 1'b1;
    end
  end

  // No reset: read only after they were written.
  always_ff @(posedge clk_i) begin
    if (refuse) begin
      refused_q <= '0;
      refused_q.entry.index <= desc_index;
      refused_q.entry.status <= cfg_valid_o ? cfg_status_i : verdict;
      if (!desc_error) begin
        refused_q.entry.cookie     <= desc.cookie;
        refused_q.entry.context_id <= desc.context_id;
      end
      // An unreadable descriptor may have requested an interrupt.
      refused_q.irq <= desc_error || desc.flags[FlagIrq];
    end
    if (accept) begin
      job_table_q[desc_ctx] <= '{
          cookie: desc.cookie,
          index: desc_index,
          irq: desc.flags[FlagIrq],
          dst: new_dst
      };
      job_ctx_q <= desc.context_id;
      job_src_q <= new_src;
      job_dst_q <= new_dst;
    end
    if (scrub_move) begin
      job_ctx_q <= dma_ctx_t'(ctx_q);
      job_dst_q <= job_table_q[ctx_q].dst;
      job_dst_q.keeps <= 1'b1;
    end
    if (accept) begin
      part_status_q[Client][desc_ctx] <= StatusOk;
      tag_q[desc_ctx]                 <= '0;
    end
    if (report_valid_i) begin
      part_status_q[Client][ctx_t'(report_i.ctx)] <= status_e'(report_i.status);
      tag_q[ctx_t'(report_i.ctx)]                 <= report_i.tag;
    end
    for (int unsigned i = 0; i < Client; i++) begin
      if (done_valid_i[i]) part_status_q[i][ctx_t'(done_ctx_i[i])] <= done_status_i[i];
    end
    if (done_valid_i[Writer]) bytes_q[ctx_t'(done_ctx_i[Writer])] <= done_bytes_i;
  end

  assign job_valid_o = job_valid_q;
  assign job_ctx_o = job_ctx_q;
  assign job_src_o = job_src_q;
  assign job_dst_o = job_dst_q;
  assign abort_o = aborting;
  assign irq_o = irq_q && ctrl_i.irq_enable;
  assign status_o.sub_head = sub_head;
  assign status_o.jobs = jobs_q;
  assign status_o.busy = !quiet || ((state_q == Run && !ring_error_q || aborting) && !fetch_empty);
  assign status_o.halted = aborting && quiet && fetch_empty;
  assign status_o.ring_error = ring_error_q;
  assign status_o.irq_pending = irq_q;

  for (genvar i = 0; i < Client; i++) begin : gen_part
    `MAE_ASSERT(
        DoneForBusy,
        !done_valid_i[i] || (busy_q[ctx_t'(done_ctx_i[i])] && !done_q[i][ctx_t'(done_ctx_i[i])]))
  end
  `MAE_ASSERT(
      ReportForBusy,
      !report_valid_i || (busy_q[ctx_t'(report_i.ctx)] && !done_q[Client][ctx_t'(report_i.ctx)]))
  `MAE_ASSERT(JobsMatch, 32'(jobs_q) == $countones(busy_q))
  `MAE_STREAM_HOLDS(CfgHolds, cfg_valid_o, cfg_ready_i, cfg_desc_o)

endmodule
