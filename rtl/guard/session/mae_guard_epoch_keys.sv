// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_epoch_keys: controls in which epoch each queue is, and when the keys of an epoch are
// derived and erased.
//
// At most two epochs are in use, in the banks given by their lowest bits. A REKEY request moves its
// queue to the next epoch, whose keys are derived for the first queue that goes there, if its bank
// is free. A bank is erased when all queues have left it and all its requests have been answered
// (told_*: as soon as the number of the response is on the bus, because the host may then act on
// it; docs/protocol.md, H13: rekey with data in flight). REKEYs are decided one after the other and
// answered when the keys are ready; nothing else waits for them.
// Latency: a decision takes 1 clock; with a derivation, that of mae_guard_key_table and 2. ready_o:
// the keys of epoch 0 are ready, after install_i.
// Throughput: one REKEY at a time.
// Reset and clear: halt_i: nothing new begins; clear_i follows and erases all state.
// Parameters: LastEpoch below 65535 is for tests only. Legal: Queues 1..64; LastEpoch 1..65535.
// Security: holds no secrets.
// Source: docs/protocol.md, section 5, REKEY; section 8.

`include "mae_assert.svh"

module mae_guard_epoch_keys
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned LastEpoch = 65_535,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic halt_i,

    input  logic install_i,  // pulse: a session begins
    output logic ready_o,

    input place_t place_i,  // of the current request
    input logic   taken_i,  // pulse: the request was accepted
    input logic   rekey_i,  // pulse: it is a legal REKEY

    output epoch_t [Queues-1:0] epoch_o,

    output logic    answer_valid_o,
    input  logic    answer_ready_i,
    output answer_t answer_o,

    input logic      told_valid_i,  // pulse: the number of a response is on the bus
    input answered_t told_i,

    // The keys.
    output logic   derive_o,      // pulse
    output logic   erase_o,       // pulse
    output epoch_t keys_epoch_o,  // holds while keys_busy_i
    input  logic   keys_busy_i
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)

  `MAE_PARAM(LastEpochLegal, LastEpoch >= 1 && LastEpoch <= 65_535)

  typedef enum logic [2:0] {
    Empty,
    Idle,
    Command,  // command to the key table
    Busy,
    Answer
  } step_e;

  typedef logic [QueueWidth-1:0] queue_t;

  step_e step_q;
  logic [Queues-1:0][15:0] epoch_q;
  logic [Queues-1:0][63:0] number_q;  // numbers of waiting REKEYs
  logic [Queues-1:0] wanted_q, at_newest, unused_grant;
  logic [1:0][15:0] unanswered_q;  // requests of each bank
  logic [15:0] newest_q;
  logic two_q;  // the previous epoch is still in use
  logic erasing_q, installing_q, decide, left;
  queue_t chosen, queue_q;
  status_e status_q;

  mae_rr_arb #(
      .N(Queues)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (wanted_q),
      .advance_i(answer_valid_o && answer_ready_i),
      .grant_o  (unused_grant),
      .index_o  (chosen),
      .valid_o  (decide)
  );

  always_comb begin
    for (int unsigned q = 0; q < Queues; q++) begin
      at_newest[q] = epoch_q[q] == newest_q;
      epoch_o[q]   = epoch_t'(epoch_q[q]);
    end
  end

  // No queue and no request is in the older epoch.
  assign left = two_q && at_newest == '1 && unanswered_q[!newest_q[0]] == '0;

  assign ready_o = step_q != Empty && !installing_q;
  assign derive_o = step_q == Command && !erasing_q && !keys_busy_i;
  assign erase_o = step_q == Command && erasing_q && !keys_busy_i;
  assign keys_epoch_o = epoch_t'(newest_q) - epoch_t'(erasing_q);

  // The response belongs to the epoch of its request, although the queue is in the next one.
  place_t answer_place_q;

  assign answer_valid_o = step_q == Answer && !halt_i;
  assign answer_o = '{
          place: answer_place_q,
          kind: KindRekey,
          status: status_q,
          executed: 16'(status_q == StatusOk),
          value: (status_q == StatusOk) ? 64'(epoch_q[queue_q]) : '0,
          words: '0,
          words_done: '0,
          tag: '0
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q         <= Empty;
      epoch_q        <= '0;
      number_q       <= '0;
      wanted_q       <= '0;
      unanswered_q   <= '0;
      newest_q       <= '0;
      two_q          <= 1'b0;
      erasing_q      <= 1'b0;
      installing_q   <= 1'b0;
      queue_q        <= '0;
      status_q       <= StatusNone;
      answer_place_q <= '0;
    end else if (clear_i) begin
      step_q         <= Empty;
      epoch_q        <= '0;
      number_q       <= '0;
      wanted_q       <= '0;
      unanswered_q   <= '0;
      newest_q       <= '0;
      two_q          <= 1'b0;
      erasing_q      <= 1'b0;
      installing_q   <= 1'b0;
      queue_q        <= '0;
      status_q       <= StatusNone;
      answer_place_q <= '0;
    end else begin
      for (int unsigned b = 0; b < 2; b++) begin
        unanswered_q[b] <= unanswered_q[b] + 16'(taken_i && place_i.epoch[0] == b[0]) -
            16'(told_valid_i && told_i.place.epoch[0] == b[0]);
      end
      if (rekey_i) begin
        wanted_q[queue_t'(place_i.queue_index)] <= 1'b1;
        number_q[queue_t'(place_i.queue_index)] <= place_i.sequence_number;
      end
      unique case (step_q)
        Empty:
        if (install_i) begin
          installing_q <= 1'b1;
          step_q       <= Command;
        end
        Idle:
        if (!halt_i && left) begin
          erasing_q <= 1'b1;
          two_q     <= 1'b0;
          step_q    <= Command;
        end else if (!halt_i && decide) begin
          queue_q <= chosen;
          answer_place_q <= '{
              queue_index: 8'(chosen),
              epoch: epoch_t'(epoch_q[chosen]),
              sequence_number: number_q[chosen]
          };
          if (32'(epoch_q[chosen]) == LastEpoch) begin
            status_q <= StatusLimit;
            step_q   <= Answer;
          end else if (at_newest[chosen] && two_q) begin
            status_q <= StatusEpoch;
            step_q   <= Answer;
          end else begin
            status_q        <= StatusOk;
            two_q           <= 1'b1;
            epoch_q[chosen] <= epoch_q[chosen] + 16'd1;
            if (at_newest[chosen]) newest_q <= newest_q + 16'd1;
            step_q <= at_newest[chosen] ? Command : Answer;
          end
        end
        Command: if (!keys_busy_i) step_q <= Busy;
        Busy:
        if (!keys_busy_i) begin
          erasing_q    <= 1'b0;
          installing_q <= 1'b0;
          step_q       <= (erasing_q || installing_q) ? Idle : Answer;
        end
        default:
        if (answer_valid_o && answer_ready_i) begin
          wanted_q[queue_q] <= 1'b0;
          step_q            <= Idle;
        end
      endcase
    end
  end

  logic unused;
  assign unused = ^{told_i.passed, told_i.place, place_i};

  `MAE_ASSERT(OneCommand, !(derive_o && erase_o))
  `MAE_STREAM_HOLDS(AnswerHolds, answer_valid_o || halt_i, answer_ready_i || halt_i || clear_i,
                    answer_o)

endmodule
