// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_wait_conditions: decides whether the condition of a WAIT operation in a batch has
// passed, failed or is still open.
//
// It stores for each queue the last accepted number and the results of the last 64: answered, and
// passed (OK, and not to a SKIP). A WAIT stays open for a number that was not accepted or not
// answered; it fails for one that did not pass or is more than 64 numbers back, answered or not;
// otherwise it passes. A WAIT for the kernel stays open until that many runs are complete, and
// fails if the kernel has stopped with a fault before (docs/protocol.md, H16: dependencies between
// queues).
// Latency: an accepted number or a response counts from the next clock; passes_o, fails_o and
// status_o are combinational.
// Throughput: one WAIT a clock.
// Reset and clear: the state at the start of a session.
// Parameters: Legal: Queues 1..64.
// Security: holds no secrets.
// Source: docs/protocol.md, section 5, BATCH.

`include "mae_assert.svh"

module mae_guard_wait_conditions
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input place_t    place_i,           // of the current request
    input logic      taken_i,           // pulse: its number is spent
    input logic      answered_valid_i,  // pulse
    input answered_t answered_i,

    input logic [63:0] runs_i,         // completed kernel runs
    input logic        kernel_fault_i,

    input  logic    [31:0] wait_for_i,     // an existing queue, or the kernel
    input  logic    [63:0] wait_number_i,
    output logic           passes_o,
    output logic           fails_o,
    output status_e        status_o        // valid with fails_o
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)

  localparam logic [31:0] Kernel = 32'hffff_ffff;

  logic [Queues-1:0][63:0] last_q;  // last accepted number
  logic [Queues-1:0][63:0] answered_q, passed_q;  // indexed by the lowest bits of the number
  logic spent, too_old, answered, passed;
  logic [QueueWidth-1:0] queue;

  assign queue = QueueWidth'(wait_for_i);
  assign spent = wait_number_i <= last_q[queue];
  assign too_old = last_q[queue] - wait_number_i >= 64'd64;
  assign answered = answered_q[queue][wait_number_i[5:0]];
  assign passed = passed_q[queue][wait_number_i[5:0]];

  always_comb begin
    passes_o = spent && !too_old && answered && passed;
    fails_o  = spent && (too_old || (answered && !passed));
    status_o = StatusWait;
    if (wait_for_i == Kernel) begin
      passes_o = runs_i >= wait_number_i;
      fails_o  = !passes_o && kernel_fault_i;
      status_o = StatusAfter;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q     <= '0;
      answered_q <= '0;
      passed_q   <= '0;
    end else if (clear_i) begin
      last_q     <= '0;
      answered_q <= '0;
      passed_q   <= '0;
    end else begin
      for (int unsigned q = 0; q < Queues; q++) begin
        // A response more than 64 numbers late: its entry now belongs to another number.
        if (answered_valid_i && 32'(answered_i.place.queue_index) == q &&
            last_q[q] - answered_i.place.sequence_number < 64'd64) begin
          answered_q[q][answered_i.place.sequence_number[5:0]] <= 1'b1;
          passed_q[q][answered_i.place.sequence_number[5:0]]   <= answered_i.passed;
        end
        if (taken_i && 32'(place_i.queue_index) == q) begin
          last_q[q] <= place_i.sequence_number;
          answered_q[q][place_i.sequence_number[5:0]] <= 1'b0;
        end
      end
    end
  end

  logic unused;
  assign unused = ^{place_i.epoch, answered_i.place.epoch};

endmodule
