// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_transfer_engine: queues and schedules the chunks of DMA transfers, starts the DMA
// engines, and answers each chunk.
//
// A chunk is armed if its request is in range, in order and its region is free. It waits in its
// queue until the required number of kernel runs is complete; then its region is locked and it is
// moved. Chunks of a queue are moved in order: chunks of one direction without a gap, a chunk of
// the other direction after all earlier ones are answered. The queues are served round-robin. Every
// failure of a chunk is fatal. A transfer is aborted when the requester asks for it, or when it
// waits for a kernel run that will never occur; data already written for it are then erased and
// never visible. The DMA engines accept a chunk_t and report the end of each chunk in order. Every
// kernel access is checked in the clock in which it enters the memory, so a region that is closed
// is quiet in the next clock. The tag of a chunk leaves by the DMA engine or the sealed response
// only.
// Latency: armed 2 clocks after arm_valid_i; start_*_valid_o 4 after arm_commit_i, if its turn has
// come; answer_valid_o 3 after moved_*_valid_i.
// Throughput: one action (start, look-up, answer) in 2 clocks.
// Reset and clear: halt_i: nothing new begins. clear_i erases registers and tags at once, and the
// memory in further clocks (busy_o).
// Parameters: Legal: Queues 1..64; Depth 1..63; Regions 1..16; MemoryBits 12..40; ChunkBits 12..20;
// KernelPorts >= 1.
// Security: constant-time in data; no masking.
// Source: docs/protocol.md, section 5 (H1, H8, H9, H16, H17).

`include "mae_assert.svh"

module mae_guard_transfer_engine
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    parameter int unsigned Regions = 8,
    parameter int unsigned MemoryBits = 20,
    parameter int unsigned ChunkBits = 16,
    parameter int unsigned KernelPorts = 2,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    input  logic halt_i,
    output logic busy_o,

    // Requester: H2D and D2H, a refusal of them, and SKIP.
    input  logic                       arm_valid_i,      // must hold until arm_done_o
    input  place_t                     arm_place_i,
    input  logic                       arm_out_i,
    input  transfer_t                  arm_i,
    output logic                       arm_done_o,       // pulse
    // valid with arm_done_o: StatusOk, or the reason for the refusal
    output status_e                    arm_status_o,
    input  logic                       arm_commit_i,     // pulse after StatusOk
    input  logic                       give_up_valid_i,  // must hold until give_up_done_o
    input  logic      [QueueWidth-1:0] give_up_queue_i,
    output logic                       give_up_done_o,   // pulse

    // DMA engines.
    output logic   start_in_valid_o,
    input  logic   start_in_ready_i,
    output chunk_t start_in_o,
    output logic   start_out_valid_o,
    input  logic   start_out_ready_i,
    output chunk_t start_out_o,
    input  logic   moved_in_valid_i,   // pulse
    input  moved_t moved_in_i,
    input  logic   moved_out_valid_i,  // pulse
    input  moved_t moved_out_i,
    input  logic   beat_fault_i,       // pulse, from the bus

    output logic    answer_valid_o,
    input  logic    answer_ready_i,
    output answer_t answer_o,
    output logic    fatal_valid_o,   // until clear_i
    output fatal_t  fatal_o,

    // Kernel and device memory.
    input  logic [           63:0]       runs_i,
    input  logic                         kernel_fault_i,
    input  logic [KernelPorts-1:0]       judge_write_i,
    input  logic [KernelPorts-1:0][63:0] judge_address_i,
    output logic [KernelPorts-1:0]       judge_fault_o,
    output logic                         mem_valid_o,      // writes of zeros, whole granules
    input  logic                         mem_ready_i,
    output logic [           34:0]       mem_granule_o
);
  localparam int unsigned SlotWidth = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned CountWidth = SlotWidth + 1;
  localparam int unsigned EntryWidth = (Regions > 1) ? $clog2(Regions) : 1;
  localparam int unsigned GranuleWidth = MemoryBits - 6;
  typedef logic [QueueWidth-1:0] queue_t;
  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [CountWidth-1:0] count_t;
  typedef logic [EntryWidth-1:0] entry_t;

  // An action that needs the row of a chunk, or ends at once.
  typedef enum logic [2:0] {
    JobBeat,
    JobInward,
    JobOutward,
    JobAnswer,   // of a transfer that is aborted
    JobStart,
    JobPeek
  } job_e;

  logic stop, idle, pick, using_q;
  job_e job, job_q;
  queue_t job_queue, job_queue_q;
  slot_t  job_slot;
  chunk_t row;

  // Queues.
  queue_t act_queue, arm_queue, push_queue, turn;
  entry_t act_entry, row_entry;
  logic turn_valid, turn_start;
  logic push, push_first, push_last, do_peek, do_start, do_answer, do_end;
  logic [Queues-1:0][SlotWidth-1:0] head, next, tail;
  logic [Queues-1:0][CountWidth-1:0] held, waiting, left;
  logic [Queues-1:0] moving_out, peeked, open;
  logic [Queues-1:0][EntryWidth-1:0] peek, open_entry;

  // Transfers.
  logic arming, arm_held, push_ask;
  entry_t push_entry;
  logic [Regions-1:0] table_out, close, release_entry, quiet, late;
  logic [Regions-1:0][GranuleWidth-1:0] table_first, table_last;
  logic [Regions-1:0][63:0] table_after;

  // Abort.
  logic late_valid, vain, may_give, give_begin, give_late, give_release, give_answer, give_end;
  logic giving, giving_front, giving_late, giving_out, draining, drained, given, foreign, mine;
  logic give_done_q;
  queue_t late_queue, give_queue, giving_queue;
  entry_t give_entry, giving_entry;
  slot_t give_slot, giving_slot;
  count_t give_count, giving_answers, drained_q, begun;

  // Chunks in progress, H2D (0) and D2H (1).
  logic [1:0] room, any, ended, bad, taken, do_start_of, start_q, start_ready, moved_valid;
  logic [1:0][QueueWidth-1:0] chunk_queue;
  logic [1:0][ SlotWidth-1:0] chunk_slot;
  moved_t [1:0] moved, result;
  chunk_t [1:0] chunk_q;
  answer_t answer, answer_data_q;
  fatal_t fatal_data_q;
  logic answer_q, fatal_q, beat_q, no_chunk, start_out;

  assign stop = halt_i || clear_i || fatal_q;
  assign idle = !using_q && !stop && !busy_o;
  assign arm_queue = queue_t'(arm_place_i.queue_index);

  // One action at a time. Actions without a row:
  assign no_chunk = beat_q && any == '0;
  assign push = idle && !beat_q && push_ask;
  assign do_end = idle && !beat_q && !push_ask && give_end;
  assign may_give = idle && !beat_q && !push_ask && !giving;
  assign vain = late_valid && (!give_up_valid_i || give_done_q);
  assign give_queue = vain ? late_queue : give_up_queue_i;
  assign give_begin = may_give &&
      (vain ? !arming && !arm_valid_i : give_up_valid_i && !give_done_q && open[give_queue]);

  // Actions with a row, which take one clock more.
  assign bad[0] = result[0].beat_error || !result[0].tag_ok;
  assign bad[1] = result[1].beat_error;

  always_comb begin
    pick = idle && !no_chunk && !push && !do_end && !give_begin;
    job = JobPeek;
    job_queue = turn;
    job_slot = next[turn];
    if (beat_q) begin
      job = JobBeat;
      job_queue = chunk_queue[!any[0]];
      job_slot = chunk_slot[!any[0]];
    end else if (ended[0] && (bad[0] || !answer_q)) begin
      job = JobInward;
      job_queue = chunk_queue[0];
      job_slot = chunk_slot[0];
    end else if (ended[1] && (bad[1] || !answer_q)) begin
      job = JobOutward;
      job_queue = chunk_queue[1];
      job_slot = chunk_slot[1];
    end else if (give_answer && !answer_q) begin
      job = JobAnswer;
      job_queue = giving_queue;
      job_slot = giving_slot;
    end else if (turn_valid) begin
      if (turn_start) job = JobStart;
    end else pick = 1'b0;
  end

  // The action, when the row is available.
  assign mine = giving && giving_queue == job_queue_q && giving_entry == row_entry;
  assign start_out = table_out[row_entry];
  assign taken[0] = using_q && !stop && job_q == JobInward;
  assign taken[1] = using_q && !stop && job_q == JobOutward;
  assign do_answer = (taken & ~bad) != '0 && !mine;
  assign do_peek = using_q && !stop && job_q == JobPeek;
  assign do_start = using_q && !stop && job_q == JobStart;
  assign do_start_of = do_start ? {start_out, !start_out} : '0;
  assign given = using_q && !stop && job_q == JobAnswer && mine;
  assign foreign = using_q && !stop && job_q == JobAnswer && !mine;
  assign act_queue = using_q ? job_queue_q : push ? push_queue : giving_queue;
  assign act_entry = using_q ? row_entry : push ? push_entry : giving_entry;

  always_comb begin
    close = '0;
    if (pick && job == JobStart) close[peek[turn]] = 1'b1;
    release_entry = '0;
    if (give_release) release_entry[giving_entry] = 1'b1;
    if (do_answer && row.last) release_entry[row_entry] = 1'b1;
  end

  always_comb begin
    answer = '0;
    answer.place = row.place;
    answer.kind = (job_q == JobOutward || (job_q == JobAnswer && giving_out)) ? KindD2h : KindH2d;
    if (job_q == JobAnswer) answer.status = giving_late ? StatusAfter : StatusAborted;
    else begin
      answer.status = StatusOk;
      answer.executed = 16'd1;
      answer.value = 64'(row.length);
    end
    if (job_q == JobOutward) answer.tag = result[1].tag;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {using_q, start_q, answer_q, fatal_q, beat_q, give_done_q} <= '0;
      {job_queue_q, chunk_q, answer_data_q, fatal_data_q, drained_q} <= '0;
      job_q <= JobBeat;
    end else if (clear_i) begin
      {using_q, start_q, answer_q, fatal_q, beat_q, give_done_q} <= '0;
      {job_queue_q, chunk_q, answer_data_q, fatal_data_q, drained_q} <= '0;
      job_q <= JobBeat;
    end else begin
      using_q <= pick;
      job_q <= job;
      job_queue_q <= job_queue;

      // Requested by the requester: done, or there is nothing to abort.
      give_done_q <= (do_end && !giving_front) ||
          (may_give && !vain && give_up_valid_i && !give_done_q && !open[give_queue]);
      if (give_begin) drained_q <= '0;
      else if ((taken & ~bad) != '0 && mine) drained_q <= drained_q + 1'b1;

      for (int unsigned d = 0; d < 2; d++) begin
        if (start_ready[d] || halt_i) start_q[d] <= 1'b0;
        if (do_start_of[d]) {start_q[d], chunk_q[d]} <= {1'b1, row};
      end
      if (answer_ready_i || halt_i) answer_q <= 1'b0;
      if (do_answer || given) {answer_q, answer_data_q} <= {1'b1, answer};

      if (beat_fault_i) beat_q <= 1'b1;
      if (idle && no_chunk) {fatal_q, fatal_data_q} <= {1'b1, CauseBeat, 8'd0, 64'd0};
      if ((using_q && !stop && job_q == JobBeat) || (taken & bad) != '0) begin
        fatal_q <= 1'b1;
        fatal_data_q.cause <= (taken[0] && !result[0].beat_error) ? CauseChunk : CauseBeat;
        fatal_data_q.queue_index <= row.place.queue_index;
        fatal_data_q.sequence_number <= row.place.sequence_number;
      end
    end
  end

  assign start_ready = {start_out_ready_i, start_in_ready_i};
  assign moved_valid = {moved_out_valid_i, moved_in_valid_i};
  assign moved = {moved_out_i, moved_in_i};
  assign {start_out_valid_o, start_in_valid_o} = start_q;
  assign {start_out_o, start_in_o} = chunk_q;
  assign answer_valid_o = answer_q;
  assign answer_o = answer_data_q;
  assign fatal_valid_o = fatal_q;
  assign fatal_o = fatal_data_q;
  assign give_up_done_o = give_done_q;

  // The transfer to abort: the one whose kernel run will never occur, or the open one, at the end
  // of its queue.
  assign give_entry = vain ? peek[give_queue] : open_entry[give_queue];
  assign give_slot = vain ? head[give_queue] : tail[give_queue] - slot_t'(left[give_queue]);
  assign give_count = vain ? held[give_queue] : left[give_queue];
  assign give_late = vain || (late[give_entry] && waiting[give_queue] >= left[give_queue]);
  // drained_q of its started chunks have moved.
  assign begun = (giving_front || left[giving_queue] <= waiting[giving_queue]) ? '0 :
      left[giving_queue] - waiting[giving_queue];
  assign drained = draining && !using_q && begun == drained_q;

  assign arm_held = giving && giving_queue == arm_queue;

  mae_guard_transfer_table #(
      .Queues     (Queues),
      .SlotWidth  (SlotWidth),
      .Regions    (Regions),
      .MemoryBits (MemoryBits),
      .ChunkBits  (ChunkBits),
      .KernelPorts(KernelPorts)
  ) u_book (
      .clk_i,
      .rst_ni,
      .clear_i,
      .busy_o,
      .arm_valid_i,
      .arm_place_i,
      .arm_out_i,
      .arm_i,
      .arm_done_o,
      .arm_status_o,
      .arm_commit_i,
      .arm_held_i   (arm_held),
      .arming_o     (arming),
      .slot_i       (tail[arm_queue]),
      .open_i       (open[arm_queue]),
      .open_entry_i (open_entry[arm_queue]),
      .push_o       (push_ask),
      .push_taken_i (push),
      .push_queue_o (push_queue),
      .push_first_o (push_first),
      .push_last_o  (push_last),
      .push_entry_o (push_entry),
      .read_queue_i (job_queue),
      .read_slot_i  (job_slot),
      .chunk_o      (row),
      .chunk_entry_o(row_entry),
      .out_o        (table_out),
      .first_o      (table_first),
      .last_o       (table_last),
      .after_o      (table_after),
      .close_i      (close),
      .release_i    (release_entry),
      .quiet_o      (quiet),
      .judge_write_i,
      .judge_address_i,
      .judge_fault_o
  );

  mae_guard_chunk_queues #(
      .Queues    (Queues),
      .Depth     (Depth),
      .EntryWidth(EntryWidth)
  ) u_queues (
      .clk_i,
      .rst_ni,
      .clear_i,
      .queue_i     (act_queue),
      .entry_i     (act_entry),
      .push_i      (push),
      .push_first_i(push_first),
      .push_last_i (push_last),
      .peek_i      (do_peek),
      .start_i     (do_start),
      .start_out_i (start_out),
      .answer_i    (do_answer),
      .end_i       (do_end),
      .end_front_i (giving_front),
      .end_count_i (giving_answers),
      .head_o      (head),
      .next_o      (next),
      .tail_o      (tail),
      .held_o      (held),
      .waiting_o   (waiting),
      .out_o       (moving_out),
      .peeked_o    (peeked),
      .peek_o      (peek),
      .open_o      (open),
      .open_entry_o(open_entry),
      .left_o      (left)
  );

  mae_guard_transfer_abort #(
      .GranuleWidth(GranuleWidth),
      .EntryWidth  (EntryWidth),
      .QueueWidth  (QueueWidth),
      .SlotWidth   (SlotWidth)
  ) u_giving (
      .clk_i,
      .rst_ni,
      .clear_i,
      .halt_i         (halt_i || fatal_q),
      .begin_i        (give_begin),
      .begin_front_i  (vain),
      .begin_late_i   (give_late),
      .begin_out_i    (table_out[give_entry]),
      .begin_queue_i  (give_queue),
      .begin_entry_i  (give_entry),
      .begin_slot_i   (give_slot),
      .begin_count_i  (give_count),
      .begin_granule_i(table_first[give_entry]),
      .begin_last_i   (table_last[give_entry]),
      .busy_o         (giving),
      .front_o        (giving_front),
      .late_o         (giving_late),
      .out_o          (giving_out),
      .queue_o        (giving_queue),
      .entry_o        (giving_entry),
      .slot_o         (giving_slot),
      .answers_o      (giving_answers),
      .draining_o     (draining),
      .drained_i      (drained),
      .release_o      (give_release),
      .answer_o       (give_answer),
      .answered_i     (given),
      .foreign_i      (foreign),
      .end_o          (give_end),
      .ended_i        (do_end),
      .mem_valid_o,
      .mem_ready_i,
      .mem_granule_o
  );

  mae_guard_chunk_scheduler #(
      .Queues    (Queues),
      .Entries   (Regions),
      .CountWidth(CountWidth)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .clear_i,
      .runs_i,
      .kernel_fault_i,
      .after_i       (table_after),
      .out_i         (table_out),
      .room_i        (room & ~start_q),
      .held_i        (held),
      .waiting_i     (waiting),
      .moving_out_i  (moving_out),
      .peeked_i      (peeked),
      .peek_i        (peek),
      .giving_i      (giving),
      .giving_queue_i(giving_queue),
      .giving_entry_i(giving_entry),
      .turn_valid_o  (turn_valid),
      .turn_start_o  (turn_start),
      .turn_o        (turn),
      .started_i     (pick && job == JobStart),
      .late_o        (late),
      .late_valid_o  (late_valid),
      .late_queue_o  (late_queue)
  );

  for (genvar d = 0; d < 2; d++) begin : gen_direction
    mae_guard_inflight_fifo #(
        .QueueWidth(QueueWidth),
        .SlotWidth (SlotWidth)
    ) u_underway (
        .clk_i,
        .rst_ni,
        .clear_i,
        .room_o        (room[d]),
        .start_i       (do_start_of[d]),
        .start_queue_i (job_queue_q),
        .start_slot_i  (next[job_queue_q]),
        .moved_valid_i (moved_valid[d]),
        .moved_i       (moved[d]),
        .any_o         (any[d]),
        .chunk_queue_o (chunk_queue[d]),
        .chunk_slot_o  (chunk_slot[d]),
        .result_valid_o(ended[d]),
        .result_taken_i(taken[d]),
        .result_o      (result[d])
    );
  end

  logic unused;
  assign unused = ^{result[0].tag, result[1].tag_ok};

  `MAE_ASSERT(StartsQuiet, !do_start || quiet[row_entry])
  `MAE_ASSERT(StartsPeeked, !do_start || row_entry == peek[job_queue_q])
  `MAE_ASSERT(OneRequest, !(arm_valid_i && give_up_valid_i))
  `MAE_STREAM_HOLDS(InHolds, start_in_valid_o, start_in_ready_i || clear_i || halt_i, start_in_o)
  `MAE_STREAM_HOLDS(OutHolds, start_out_valid_o, start_out_ready_i || clear_i || halt_i,
                    start_out_o)
  `MAE_STREAM_HOLDS(AnswerHolds, answer_valid_o, answer_ready_i || clear_i || halt_i, answer_o)

endmodule
