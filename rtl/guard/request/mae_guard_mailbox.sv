// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_mailbox: stores the request that the OS writes for each queue, and locks it with the
// queue's doorbell.
//
// A mailbox accepts whole words while its queue is ready. The doorbell locks it: later writes are
// dropped, so the message that is verified is the one that is used (docs/protocol.md, H7). The
// queue's sequence number is spent in the same clock, whatever becomes of the message (H5); its
// request then waits for its turn, round-robin among the queues. done_i makes the queue ready
// again. write_dropped_o tells in the clock of a write that the write has no effect.
// Latency: a doorbell gives request_valid_o in the next clock if no other request waits; the data
// of a row come in the clock after its number.
// Throughput: one word written and one row read a clock.
// Reset and clear: no request, every queue ready at number 1; all mailboxes are erased in 128 *
// Queues clocks, in which every write is dropped (busy_o).
// Parameters: Legal: Queues 1..64.
// Security: constant-time in data; holds only what the OS wrote.
// Source: docs/protocol.md, sections 4 and 5.

`include "mae_assert.svh"

module mae_guard_mailbox
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic busy_o,

    input  logic                  open_i,          // accept doorbells (states KEYED and RUN)
    input  logic                  write_valid_i,   // a whole word of a queue's page
    input  logic [QueueWidth-1:0] write_queue_i,
    input  logic [          11:0] write_offset_i,
    input  logic [          31:0] write_data_i,
    output logic                  write_dropped_o,

    output logic [Queues-1:0]       ready_o,
    output logic [Queues-1:0][63:0] next_o,   // the next sequence number of each queue

    output logic                  request_valid_o,
    input  logic                  request_ready_i,
    output logic [QueueWidth-1:0] request_queue_o,
    output logic [          63:0] request_number_o,
    output logic [          31:0] request_blocks_o,  // as written to the doorbell, legal or not

    input logic [Queues-1:0] done_i,  // the queue is ready again

    input  logic [QueueWidth-1:0] row_queue_i,
    input  logic [           6:0] row_i,
    output logic [         127:0] row_o         // byte 0 in bits 127:120
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)

  localparam int unsigned Rows = 66;  // header, 64 blocks, tag
  localparam logic [11:0] DoorbellOffset = 12'h420;
  localparam int unsigned PlaceWidth = QueueWidth + 7;
  typedef logic [PlaceWidth-1:0] place_index_t;

  logic [Queues-1:0] ready_q, rung_q, grant;
  logic [Queues-1:0][63:0] next_q;
  logic [Queues-1:0][31:0] blocks_q;
  logic [QueueWidth-1:0] chosen;
  logic chosen_valid, queue_exists, to_box, doorbell;

  assign queue_exists = 32'(write_queue_i) < Queues;
  assign to_box = write_valid_i && queue_exists && !busy_o && ready_q[write_queue_i] &&
      32'(write_offset_i[11:4]) < Rows && write_offset_i[1:0] == '0;
  assign doorbell = write_valid_i && queue_exists && !busy_o && ready_q[write_queue_i] && open_i &&
      write_offset_i == DoorbellOffset;
  assign write_dropped_o = write_valid_i && !to_box && !doorbell;
  assign ready_o = busy_o ? '0 : ready_q;
  assign next_o = next_q;

  // Requests, round-robin.
  mae_rr_arb #(
      .N(Queues)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (rung_q),
      .advance_i(request_valid_o && request_ready_i),
      .grant_o  (grant),
      .index_o  (chosen),
      .valid_o  (chosen_valid)
  );

  assign request_valid_o  = chosen_valid;
  assign request_queue_o  = chosen;
  assign request_number_o = next_q[chosen] - 64'd1;
  assign request_blocks_o = blocks_q[chosen];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_q  <= '1;
      rung_q   <= '0;
      next_q   <= {Queues{64'd1}};
      blocks_q <= '0;
    end else if (clear_i) begin
      ready_q  <= '1;
      rung_q   <= '0;
      next_q   <= {Queues{64'd1}};
      blocks_q <= '0;
    end else begin
      ready_q <= ready_q | done_i;
      if (request_valid_o && request_ready_i) rung_q[chosen] <= 1'b0;
      if (doorbell) begin
        ready_q[write_queue_i]  <= 1'b0;
        rung_q[write_queue_i]   <= 1'b1;
        next_q[write_queue_i]   <= next_q[write_queue_i] + 64'd1;
        blocks_q[write_queue_i] <= write_data_i;
      end
    end
  end

  // The mailboxes: 128 rows each, of which the first 66 are used.
  logic [127:0] rows_q[2**PlaceWidth];
  place_index_t walk_q, place;
  logic walking_q;
  logic [3:0] word;

  assign busy_o = walking_q;
  assign place  = walking_q ? walk_q : {write_queue_i, write_offset_i[10:4]};
  assign word   = walking_q ? '1 : to_box ? 4'b1000 >> write_offset_i[3:2] : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (clear_i) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (walking_q) begin
      walk_q    <= walk_q + 1'b1;
      walking_q <= walk_q != place_index_t'(128 * Queues - 1);
    end
  end

  // Words are in the order of the bus, byte 0 in bits 7:0.
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (word[i]) begin
        rows_q[place][32*i+:32] <= walking_q ? '0 : {
          write_data_i[7:0], write_data_i[15:8], write_data_i[23:16], write_data_i[31:24]
        };
      end
    end
    row_o <= rows_q[{row_queue_i, row_i}];
  end

  logic unused;
  assign unused = ^grant;

  `MAE_ASSERT(DoneOfBusy, (done_i & ready_q) == '0 || busy_o)
  `MAE_STREAM_HOLDS(RequestHolds, request_valid_o, request_ready_i || clear_i, {
                    request_queue_o, request_number_o, request_blocks_o})

endmodule
