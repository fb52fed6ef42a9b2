// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_response_writer: writes responses to their slots in host memory, and the number of each
// after its response is acknowledged.
//
// A response is one burst of up to 9 lines. When it is acknowledged, its plain number follows as
// one beat; when that is acknowledged, too, answered_* tells so (docs/protocol.md, H18). Up to four
// responses are in progress; room_o tells that one more may begin. Responses, numbers and
// answered_* keep the order in which they began. A number has priority over a waiting response. A
// bus error is fatal: nothing more of this response is written, and fatal_valid_o stays high until
// clear_i. aw_* and w_* of a burst may be accepted independently; the next burst begins after both.
// write_done_i acknowledges the bursts in order.
// Latency: 1 clock from the first line to its burst, 2 from its acknowledgement to the number's
// burst, 1 from the number's acknowledgement to answered_*.
// Throughput: one line a clock, one clock between bursts.
// Reset and clear: halt_i: no burst is shown any more; clear_i follows and drops everything.
// Security: constant-time in data.
// Source: docs/protocol.md, section 4.

`include "mae_assert.svh"

module mae_guard_response_writer
  import mae_guard_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic halt_i,

    output logic             room_o,
    input  logic             begin_i,   // pulse: a response begins; its lines follow
    input  answered_t        answer_i,
    input  logic      [57:0] slot_i,    // host address of the slot, in units of 64 bytes
    input  logic      [ 3:0] beats_i,   // lines of the response
    output logic             written_o, // pulse: its lines were accepted; the next may begin

    input  logic         line_valid_i,
    output logic         line_ready_o,
    input  logic [511:0] line_i,
    input  logic [ 63:0] line_strb_i,
    input  logic         line_last_i,

    output logic         aw_valid_o,
    input  logic         aw_ready_i,
    output logic [ 63:0] aw_address_o,
    output logic [  3:0] aw_beats_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [511:0] w_data_o,
    output logic [ 63:0] w_strb_o,
    input  logic         write_done_i,
    input  logic         write_error_i,

    output logic      told_valid_o,      // pulse: its number is on the bus, the host may know it
    output answered_t told_o,
    output logic      answered_valid_o,  // pulse
    output answered_t answered_o,
    output logic      fatal_valid_o,     // until clear_i
    output place_t    fatal_place_o
);
  localparam int unsigned Places = 4;

  typedef logic [1:0] index_t;
  typedef logic [2:0] count_t;

  typedef struct packed {
    answered_t   answer;
    logic [57:0] slot;
    logic [3:0]  beats;
  } entry_t;

  typedef enum logic [1:0] {
    Choose,
    Response,
    Number
  } burst_e;

  entry_t [Places-1:0] entry_q;
  entry_t response, numbered, retired;
  // The next response to begin, to be acknowledged, to get its number, to be complete.
  index_t begun_q, acknowledged_q, numbered_q, retired_q;
  count_t count_q, owed_q, unused_bursts;
  burst_e burst_q;
  logic aw_sent_q, w_sent_q, issue, last_beat, ends;
  logic is_number, order_valid, order_room, response_done, number_done;
  logic   failed_q;
  place_t fatal_place_q;

  assign response = entry_q[begun_q];
  assign numbered = entry_q[numbered_q];
  assign retired  = entry_q[retired_q];
  assign room_o   = count_q != count_t'(Places) && !failed_q;

  // Kinds of the bursts that were not acknowledged.
  mae_fifo #(
      .Width(1),
      .Depth(4)
  ) u_order (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (issue),
      .in_ready_o (order_room),
      .in_data_i  (burst_q == Number),
      .out_valid_o(order_valid),
      .out_ready_i(write_done_i),
      .out_data_o (is_number),
      .count_o    (unused_bursts)
  );

  assign response_done = write_done_i && order_valid && !is_number && !write_error_i;
  assign number_done = write_done_i && order_valid && is_number && !write_error_i;

  assign aw_valid_o = burst_q != Choose && !aw_sent_q && !halt_i;
  assign aw_address_o = {(burst_q == Number) ? numbered.slot : response.slot, 6'h0};
  assign aw_beats_o = (burst_q == Number) ? 4'd1 : response.beats;
  assign w_valid_o = burst_q != Choose && !w_sent_q && !halt_i &&
      (burst_q == Number || line_valid_i);
  assign line_ready_o = burst_q == Response && !w_sent_q && w_ready_i && !halt_i;
  assign issue = aw_valid_o && aw_ready_i;
  assign last_beat = w_valid_o && w_ready_i && (burst_q == Number || line_last_i);
  assign ends = (aw_sent_q || issue) && (w_sent_q || last_beat);
  assign written_o = ends && burst_q == Response;

  always_comb begin
    w_data_o = line_i;
    w_strb_o = line_strb_i;
    if (burst_q == Number) begin
      w_data_o = '0;
      for (int unsigned i = 0; i < 8; i++) begin
        w_data_o[8*i+:8] = numbered.answer.place.sequence_number[8*(7-i)+:8];
      end
      w_strb_o = 64'hffff;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      entry_q          <= '0;
      begun_q          <= '0;
      acknowledged_q   <= '0;
      numbered_q       <= '0;
      retired_q        <= '0;
      count_q          <= '0;
      owed_q           <= '0;
      burst_q          <= Choose;
      aw_sent_q        <= 1'b0;
      w_sent_q         <= 1'b0;
      told_valid_o     <= 1'b0;
      told_o           <= '0;
      answered_valid_o <= 1'b0;
      answered_o       <= '0;
      failed_q         <= 1'b0;
      fatal_place_q    <= '0;
    end else if (clear_i) begin
      told_valid_o     <= 1'b0;
      told_o           <= '0;
      entry_q          <= '0;
      begun_q          <= '0;
      acknowledged_q   <= '0;
      numbered_q       <= '0;
      retired_q        <= '0;
      count_q          <= '0;
      owed_q           <= '0;
      burst_q          <= Choose;
      aw_sent_q        <= 1'b0;
      w_sent_q         <= 1'b0;
      answered_valid_o <= 1'b0;
      answered_o       <= '0;
      failed_q         <= 1'b0;
      fatal_place_q    <= '0;
    end else begin
      count_q <= count_q + count_t'(begin_i) - count_t'(number_done);
      owed_q  <= owed_q + count_t'(response_done) - count_t'(burst_q == Number && ends);
      if (begin_i) entry_q[begun_q] <= '{answer: answer_i, slot: slot_i, beats: beats_i};
      if (written_o) begun_q <= begun_q + 1'b1;
      if (response_done) acknowledged_q <= acknowledged_q + 1'b1;
      if (number_done) retired_q <= retired_q + 1'b1;
      told_valid_o     <= burst_q == Number && ends;
      told_o           <= numbered.answer;
      answered_valid_o <= number_done;
      answered_o       <= retired.answer;

      if (write_done_i && write_error_i && !failed_q) begin
        failed_q      <= 1'b1;
        fatal_place_q <= is_number ? retired.answer.place : entry_q[acknowledged_q].answer.place;
      end

      if (burst_q == Choose) begin
        aw_sent_q <= 1'b0;
        w_sent_q  <= 1'b0;
        if (order_room && !failed_q && !halt_i) begin
          if (owed_q != '0) burst_q <= Number;
          else if (line_valid_i) burst_q <= Response;
        end
      end else begin
        if (issue) aw_sent_q <= 1'b1;
        if (last_beat) w_sent_q <= 1'b1;
        if (ends) burst_q <= Choose;
        if (ends && burst_q == Number) numbered_q <= numbered_q + 1'b1;
      end
    end
  end

  assign fatal_valid_o = failed_q;
  assign fatal_place_o = fatal_place_q;

  logic unused;
  assign unused = ^{response, numbered, retired};

  `MAE_ASSERT(DoneOfSome, !write_done_i || order_valid || clear_i)
  `MAE_ASSERT(BeginsInRoom, !begin_i || room_o)
  `MAE_STREAM_HOLDS(AwHolds, aw_valid_o || halt_i, aw_ready_i || halt_i || clear_i, {aw_address_o,
                                                                                     aw_beats_o})
  `MAE_STREAM_HOLDS(WHolds, w_valid_o || halt_i, w_ready_i || halt_i || clear_i, {
                    w_data_o, w_strb_o})

endmodule
