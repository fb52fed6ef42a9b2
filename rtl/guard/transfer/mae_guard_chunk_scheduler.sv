// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_chunk_scheduler: selects the next chunk to start, and flags chunks whose kernel run
// will never occur.
//
// The next chunk of a queue may start when the kernel has completed the number of runs that its
// transfer requires (runs_i >= after_i), when the moving chunks of its queue have the same
// direction, and when the DMA engine of its direction has space. The queues are served round-robin.
// A chunk is late when the kernel has stopped with a fault before that run.
// Latency: runs_i and kernel_fault_i take effect in the next clock, the other inputs in the same
// one; after_i of a transfer must be stable two clocks before its first chunk is armed.
// Throughput: one selection a clock.
// Reset and clear: both forget the state of all transfers.
// Parameters: Legal: Queues 1..64; Entries 1..16; CountWidth >= 1.
// Security: constant-time in data; holds no secrets.
// Source: docs/protocol.md, section 5, step 1 of a chunk (H16: dependencies).

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
    input logic [        1:0]       room_i,          // DMA H2D and D2H can accept a chunk

    input logic [Queues-1:0][CountWidth-1:0] held_i,
    input logic [Queues-1:0][CountWidth-1:0] waiting_i,
    input logic [Queues-1:0]                 moving_out_i,
    input logic [Queues-1:0]                 peeked_i,
    input logic [Queues-1:0][EntryWidth-1:0] peek_i,

    input logic                  giving_i,        // this transfer is being aborted
    input logic [QueueWidth-1:0] giving_queue_i,
    input logic [EntryWidth-1:0] giving_entry_i,

    output logic                  turn_valid_o,
    output logic                  turn_start_o,  // start its next chunk; otherwise look it up
    output logic [QueueWidth-1:0] turn_o,
    input  logic                  started_i,     // the selection was used

    output logic [   Entries-1:0] late_o,        // the run will never occur
    output logic                  late_valid_o,
    output logic [QueueWidth-1:0] late_queue_o   // its oldest chunk is affected
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
