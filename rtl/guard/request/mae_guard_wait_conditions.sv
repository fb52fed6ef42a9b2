// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_wait_conditions: whether what a WAIT names has come to pass (H16).
//
// For each queue the number taken last and what became of the last 64: answered, and passed (OK,
// and not to a SKIP). A WAIT holds for a number that was not taken or not answered, fails for one
// that did not pass or is more than 64 numbers back (answered or not), else passes. A WAIT for the
// kernel holds until so many runs are complete, and fails if it stands with a fault before.
//
// Latency: a taken number or an answer counts from the next clock; passes_o, fails_o and status_o
// are combinational. clear_i: as in a new session. Legal: Queues 1..64. No secrets.
// Source: docs/protocol.md §5, BATCH.

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

    input place_t    place_i,           // of the request at hand
    input logic      taken_i,           // pulse: its number is spent
    input logic      answered_valid_i,  // pulse
    input answered_t answered_i,

    input logic [63:0] runs_i,         // of the kernel, complete
    input logic        kernel_fault_i,

    input  logic    [31:0] wait_for_i,     // an existing queue, or the kernel
    input  logic    [63:0] wait_number_i,
    output logic           passes_o,
    output logic           fails_o,
    output status_e        status_o        // if it fails
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)

  localparam logic [31:0] Kernel = 32'hffff_ffff;

  logic [Queues-1:0][63:0] last_q;  // taken
  logic [Queues-1:0][63:0] answered_q, passed_q;  // by the number's lowest bits
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
        // An answer that comes more than 64 numbers late: its bits are another number's by now.
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
