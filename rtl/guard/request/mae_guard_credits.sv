// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_credits: counts the outstanding requests of each queue, and tells when a queue is ready
// for the next one.
//
// A request is outstanding from its doorbell until its response is in host memory, and its queue is
// not ready meanwhile. The request of an armed chunk frees its queue at once if fewer than Depth
// chunks are outstanding, otherwise when one of them is answered. For CLOSE, a request counts as
// answered as soon as the number of its response is on the bus (told_*), because the host may act
// on it before the write is acknowledged.
// Latency: done_o comes in the clock of a response, or in the clock after armed_i.
// Throughput: one event of each kind a clock.
// Reset and clear: nothing is outstanding.
// Parameters: Legal: Queues 1..64; Depth 1..63.
// Security: holds no secrets.
// Source: docs/protocol.md, section 5, "Queue" and CLOSE.

`include "mae_assert.svh"

module mae_guard_credits
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic      [    Queues-1:0][63:0] next_i,            // next number of each queue
    input logic                             taken_i,           // pulses
    input logic      [QueueWidth-1:0]       taken_queue_i,
    input logic                             armed_i,
    input logic      [QueueWidth-1:0]       armed_queue_i,
    input logic                             answered_valid_i,
    input answered_t                        answered_i,
    input logic                             told_valid_i,
    input answered_t                        told_i,

    output logic [Queues-1:0]      done_o,    // pulse: ready for a request
    output logic [Queues-1:0][7:0] chunks_o,  // armed chunks without response
    output logic                   alone_o    // nothing is outstanding but one request of queue 0
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)
  `MAE_PARAM(DepthLegal, Depth >= 1 && Depth <= 63)

  logic [Queues-1:0][7:0] told_q;  // number of responses sent
  logic [Queues-1:0][7:0] chunks_q;
  logic [Queues-1:0] held_q, armed_q, taken, armed, answered, ends, as_alone;

  assign chunks_o = chunks_q;
  assign alone_o  = as_alone == '1;

  always_comb begin
    for (int unsigned q = 0; q < Queues; q++) begin
      taken[q] = taken_i && 32'(taken_queue_i) == q;
      armed[q] = armed_i && 32'(armed_queue_i) == q;
      answered[q] = answered_valid_i && 32'(answered_i.place.queue_index) == q;
      ends[q]     = answered[q] && held_q[q] && !armed_q[q] &&
          answered_i.place.sequence_number == next_i[q] - 64'd1;
      done_o[q] = ends[q] || (held_q[q] && armed_q[q] && 32'(chunks_q[q]) < Depth);
      as_alone[q] = next_i[q][7:0] - 8'd1 - told_q[q] == 8'(q == 0);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      told_q   <= '0;
      chunks_q <= '0;
      held_q   <= '0;
      armed_q  <= '0;
    end else if (clear_i) begin
      told_q   <= '0;
      chunks_q <= '0;
      held_q   <= '0;
      armed_q  <= '0;
    end else begin
      for (int unsigned q = 0; q < Queues; q++) begin
        told_q[q]   <= told_q[q] + 8'(told_valid_i && 32'(told_i.place.queue_index) == q);
        chunks_q[q] <= chunks_q[q] + 8'(armed[q]) - 8'(answered[q] && !ends[q]);
        held_q[q]   <= taken[q] || (held_q[q] && !done_o[q]);
        armed_q[q]  <= armed[q] || (armed_q[q] && !done_o[q]);
      end
    end
  end

  logic unused;
  assign unused = ^{answered_i.passed, answered_i.place.epoch, told_i};

  `MAE_ASSERT(TakenOfReady, (taken & held_q) == '0)
  `MAE_ASSERT(ArmedOfHeld, (armed & ~held_q) == '0)

endmodule
