// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_chunk_scheduler: which queue's next chunk may start now, and which one waits in vain.
//
// A chunk may start when the kernel has run as often as its transfer names (runs_i at least
// after_i), when those of its queue that are under way go its direction, and when its mover has
// room. Queues in turns. A chunk waits in vain when the kernel stands with a fault before that run.
//
// Latency: runs_i and kernel_fault_i count from the next clock, the rest in the same; a transfer's
// after_i must stand for two clocks before its first chunk is armed. Throughput: a turn a clock.
// clear_i: nothing of a transfer is remembered. No secrets. Constant-time in data: yes.
// Legal: Queues 1..64, Entries 1..16, CountWidth 1 and more.
// Source: docs/protocol.md §5, "Chunks of a queue are moved" 1; H16.

`include "mae_assert.svh"

module mae_guard_chunk_scheduler #(
    parameter int unsigned Queues = 4,
    parameter int unsigned Entries = 8,
    parameter int unsigned CountWidth = 4,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1,
    localparam int unsigned EntryWidth = (Entries > 1) ? $clog2(Entries) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic [       63:0]       runs_i,
    input logic                     kernel_fault_i,
    input logic [Entries-1:0][63:0] after_i,
    input logic [Entries-1:0]       out_i,
    input logic [        1:0]       room_i,          // of the movers in and out

    input logic [Queues-1:0][CountWidth-1:0] held_i,
    input logic [Queues-1:0][CountWidth-1:0] waiting_i,
    input logic [Queues-1:0]                 moving_out_i,
    input logic [Queues-1:0]                 peeked_i,
    input logic [Queues-1:0][EntryWidth-1:0] peek_i,

    input logic                  giving_i,        // nothing of this transfer starts
    input logic [QueueWidth-1:0] giving_queue_i,
    input logic [EntryWidth-1:0] giving_entry_i,

    output logic                  turn_valid_o,
    output logic                  turn_start_o,  // start its next chunk; else look it up
    output logic [QueueWidth-1:0] turn_o,
    input  logic                  started_i,     // the turn has passed

    output logic [   Entries-1:0] late_o,        // the run it waits for fails to come
    output logic                  late_valid_o,
    output logic [QueueWidth-1:0] late_queue_o   // whose oldest chunk waits for such
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)
  `MAE_PARAM(EntriesLegal, Entries >= 1 && Entries <= 16)

  logic [Entries-1:0] runnable_q, late_q;
  logic [Queues-1:0] startable, unknown, late, grant;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {runnable_q, late_q} <= '0;
    else if (clear_i) {runnable_q, late_q} <= '0;
    else begin
      for (int unsigned i = 0; i < Entries; i++) begin
        runnable_q[i] <= runs_i >= after_i[i];
        late_q[i]     <= kernel_fault_i && runs_i < after_i[i];
      end
    end
  end

  always_comb begin
    for (int unsigned q = 0; q < Queues; q++) begin
      startable[q] = waiting_i[q] != '0 && peeked_i[q] && runnable_q[peek_i[q]] &&
          !(giving_i && giving_queue_i == QueueWidth'(q) && giving_entry_i == peek_i[q]) &&
          (held_i[q] == waiting_i[q] || moving_out_i[q] == out_i[peek_i[q]]) &&
          room_i[out_i[peek_i[q]]];
      unknown[q] = waiting_i[q] != '0 && !peeked_i[q];
      late[q] = waiting_i[q] != '0 && peeked_i[q] && held_i[q] == waiting_i[q] && late_q[peek_i[q]];
    end
    late_queue_o = '0;
    for (int unsigned q = Queues; q > 0; q--) if (late[q-1]) late_queue_o = QueueWidth'(q - 1);
  end

  mae_rr_arb #(
      .N(Queues)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (startable | unknown),
      .advance_i(started_i),
      .grant_o  (grant),
      .index_o  (turn_o),
      .valid_o  (turn_valid_o)
  );

  assign turn_start_o = (grant & startable) != '0;
  assign late_o = late_q;
  assign late_valid_o = late != '0;

endmodule
