// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_inflight_fifo: stores the started DMA chunks of one direction in order, and the results
// of those whose data were moved.
//
// Chunks end in the order in which they started. A result arrives as a pulse and waits here, with
// queue and slot of its chunk, until it is accepted; chunk_* identifies the oldest chunk, moved or
// not.
// Latency: 1 clock from moved_valid_i to result_valid_o.
// Throughput: one chunk a clock.
// Reset and clear: both empty the FIFOs and erase the stored tags.
// Parameters: Legal: QueueWidth >= 1; SlotWidth >= 1.
// Source: docs/protocol.md, section 5, FILL and CHECK.

`include "mae_assert.svh"

module mae_guard_inflight_fifo
  import mae_guard_pkg::*;
#(
    parameter int unsigned QueueWidth = 2,
    parameter int unsigned SlotWidth  = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    output logic                  room_o,
    input  logic                  start_i,        // pulse, when there is room
    input  logic [QueueWidth-1:0] start_queue_i,
    input  logic [ SlotWidth-1:0] start_slot_i,

    input logic   moved_valid_i,  // pulse
    input moved_t moved_i,

    output logic                    any_o,
    output logic   [QueueWidth-1:0] chunk_queue_o,
    output logic   [ SlotWidth-1:0] chunk_slot_o,
    output logic                    result_valid_o,
    input  logic                    result_taken_i,
    output moved_t                  result_o
);
  // four in the DMA engine, one that waits for it, one that has moved
  localparam int unsigned Most = 6;

  logic result_room;
  logic [2:0] started, ended;

  mae_fifo #(
      .Width(QueueWidth + SlotWidth),
      .Depth(Most)
  ) u_started (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (start_i),
      .in_ready_o (room_o),
      .in_data_i  ({start_queue_i, start_slot_i}),
      .out_valid_o(any_o),
      .out_ready_i(result_taken_i),
      .out_data_o ({chunk_queue_o, chunk_slot_o}),
      .count_o    (started)
  );

  mae_fifo #(
      .Width($bits(moved_t)),
      .Depth(Most)
  ) u_ended (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (moved_valid_i),
      .in_ready_o (result_room),
      .in_data_i  (moved_i),
      .out_valid_o(result_valid_o),
      .out_ready_i(result_taken_i),
      .out_data_o (result_o),
      .count_o    (ended)
  );

  `MAE_ASSERT(StartHasRoom, !start_i || room_o)
  `MAE_ASSERT(EndOfStarted, !moved_valid_i || (result_room && ended < started))

endmodule
