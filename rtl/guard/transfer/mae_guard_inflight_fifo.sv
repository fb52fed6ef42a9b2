// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_inflight_fifo: which chunks of a direction were started, and how those that moved
// ended.
//
// Chunks end in the order in which they started. An end comes as a pulse and waits here with its
// chunk's queue and slot until it is taken; chunk_* names the oldest chunk, moved or not.
// Latency: 1 clock from moved_valid_i to result_valid_o. Throughput: one a clock.
// clear_i: empty. Legal: QueueWidth, SlotWidth 1 and more. The store of tags is zeroed by clear_i.
// Source: docs/protocol.md §5 (FILL, CHECK).

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
  localparam int unsigned Most = 4;  // a mover's two, one that waits for it, one that is done

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
