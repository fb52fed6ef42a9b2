// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_chunk_queues: tracks for each request queue which DMA chunks wait, have started and are
// answered. It also tracks which transfer is open.
//
// A queue is a ring of slots: head_o is the oldest unanswered chunk, next_o the oldest one that was
// not started, tail_o the slot of the next armed one. One action at a time, of queue queue_i.
// peek_o is the transfer (the entry of its region) of the chunk at next_o, once that was looked up.
// Latency: an action takes effect in the next clock.
// Throughput: one action a clock.
// Reset and clear: all queues are empty.
// Parameters: Legal: Queues 1..64; Depth 1..63; EntryWidth >= 1.
// Security: constant-time in data; holds no secrets.
// Source: docs/protocol.md, section 5.

`include "mae_assert.svh"

module mae_guard_chunk_queues #(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    parameter int unsigned EntryWidth = 3,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1,
    localparam int unsigned SlotWidth = (Depth > 1) ? $clog2(Depth) : 1,
    localparam int unsigned CountWidth = SlotWidth + 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic [QueueWidth-1:0] queue_i,
    input logic [EntryWidth-1:0] entry_i,       // entry of the chunk or transfer of the action
    input logic                  push_i,        // a chunk is armed
    input logic                  push_first_i,
    input logic                  push_last_i,
    input logic                  peek_i,        // the chunk at next_o was looked up
    input logic                  start_i,       // the chunk at next_o was started
    input logic                  start_out_i,
    input logic                  answer_i,      // the chunk at head_o was answered
    input logic                  end_i,         // a transfer was aborted
    input logic                  end_front_i,   // chunks at head_o, else before tail_o
    input logic [CountWidth-1:0] end_count_i,

    output logic [Queues-1:0][ SlotWidth-1:0] head_o,
    output logic [Queues-1:0][ SlotWidth-1:0] next_o,
    output logic [Queues-1:0][ SlotWidth-1:0] tail_o,
    output logic [Queues-1:0][CountWidth-1:0] held_o,        // chunks that are not answered
    output logic [Queues-1:0][CountWidth-1:0] waiting_o,     // chunks that are not started
    output logic [Queues-1:0]                 out_o,         // direction of the last started chunk
    output logic [Queues-1:0]                 peeked_o,
    output logic [Queues-1:0][EntryWidth-1:0] peek_o,
    output logic [Queues-1:0]                 open_o,
    output logic [Queues-1:0][EntryWidth-1:0] open_entry_o,
    // chunks of the open transfer that are not answered
    output logic [Queues-1:0][CountWidth-1:0] left_o
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)
  `MAE_PARAM(DepthLegal, Depth >= 1 && Depth <= 63)

  typedef logic [SlotWidth-1:0] slot_t;
  typedef logic [CountWidth-1:0] count_t;
  typedef logic [EntryWidth-1:0] entry_t;

  typedef struct packed {
    slot_t  head;
    slot_t  next;
    slot_t  tail;
    count_t held;
    count_t waiting;
    logic   out;
    logic   peeked;
    entry_t peek;
    logic   open;
    entry_t open_entry;
    count_t left;
  } queue_t;

  queue_t [Queues-1:0] queue_q;
  queue_t was, now;

  assign was = queue_q[queue_i];

  always_comb begin
    now = was;
    if (push_i) begin
      now.tail       = was.tail + 1'b1;
      now.held       = was.held + 1'b1;
      now.waiting    = was.waiting + 1'b1;
      now.open       = !push_last_i;
      now.open_entry = entry_i;
      now.left       = (push_first_i ? '0 : was.left) + 1'b1;
      if (was.waiting == '0) begin
        now.peeked = 1'b1;
        now.peek   = entry_i;
      end
    end
    if (peek_i) begin
      now.peeked = 1'b1;
      now.peek   = entry_i;
    end
    if (start_i) begin
      now.next    = was.next + 1'b1;
      now.waiting = was.waiting - 1'b1;
      now.out     = start_out_i;
      now.peeked  = 1'b0;
    end
    if (answer_i) begin
      now.head = was.head + 1'b1;
      now.held = was.held - 1'b1;
      if (was.open && was.open_entry == entry_i) now.left = was.left - 1'b1;
    end
    if (end_i) begin
      now.held = was.held - end_count_i;
      if (was.open_entry == entry_i) now.open = 1'b0;
      if (end_front_i) begin
        now.head    = was.head + slot_t'(end_count_i);
        now.next    = now.head;
        now.waiting = was.waiting - end_count_i;
        now.peeked  = 1'b0;
      end else begin
        now.tail = was.tail - slot_t'(end_count_i);
        if (was.waiting <= end_count_i) begin
          now.next    = now.tail;
          now.waiting = '0;
          now.peeked  = 1'b0;
        end else now.waiting = was.waiting - end_count_i;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) queue_q <= '0;
    else if (clear_i) queue_q <= '0;
    else if (push_i || peek_i || start_i || answer_i || end_i) queue_q[queue_i] <= now;
  end

  always_comb begin
    for (int unsigned q = 0; q < Queues; q++) begin
      head_o[q]       = queue_q[q].head;
      next_o[q]       = queue_q[q].next;
      tail_o[q]       = queue_q[q].tail;
      held_o[q]       = queue_q[q].held;
      waiting_o[q]    = queue_q[q].waiting;
      out_o[q]        = queue_q[q].out;
      peeked_o[q]     = queue_q[q].peeked;
      peek_o[q]       = queue_q[q].peek;
      open_o[q]       = queue_q[q].open;
      open_entry_o[q] = queue_q[q].open_entry;
      left_o[q]       = queue_q[q].left;
    end
  end

  `MAE_ASSERT(OneAction, $onehot0({push_i, peek_i, start_i, answer_i, end_i}))
  `MAE_ASSERT(PushHasRoom, !push_i || 32'(was.held) < Depth)
  `MAE_ASSERT(StartWaits, !start_i || (was.waiting != '0 && was.peeked))
  `MAE_ASSERT(AnswerStarted, !answer_i || was.held > was.waiting)
  `MAE_ASSERT(EndOfHeld, !end_i || end_count_i <= was.held)

endmodule
