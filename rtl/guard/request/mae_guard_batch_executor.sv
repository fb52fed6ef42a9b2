// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_batch_executor: executes the register operations of batch requests, one operation a
// clock, round-robin among the queues.
//
// A body is stored as it is decrypted; start_i tells that it is authentic and every operation legal
// (docs/protocol.md, H7: a batch is verified before its first operation is executed). Operations
// access the card's registers in order; read data are stored for the response. A WAIT stalls its
// own batch only; for it, the results of the last 64 requests of every queue are stored, and a WAIT
// for an older one fails at once (H16: dependencies between queues). A bus error of a register is
// fatal: nothing is executed from then on, and fatal_valid_o stays high until clear_i. Registers:
// reg_valid_o is one access; its data and error come in the next clock.
// Latency: 2 clocks from start_i to the first operation, 1 from the last one to answer_valid_o, if
// no other batch is executing.
// Throughput: one operation a clock in all queues together; a stalled WAIT uses its turns.
// Reset and clear: halt_i stops further operations; clear_i follows, erases the registers in one
// clock and both memories in 64 * Queues clocks (busy_o).
// Parameters: Legal: Queues 1..64.
// Security: constant-time in data, except for the events that WAITs wait for.
// Source: docs/protocol.md, section 5.

`include "mae_assert.svh"

module mae_guard_batch_executor
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    input  logic halt_i,
    output logic busy_o,

    input place_t         place_i,       // of the current request
    input logic           taken_i,       // pulse: the request's number is spent
    input logic           body_valid_i,
    input logic   [  6:0] body_index_i,
    input logic   [127:0] body_i,
    input logic           start_i,       // pulse: execute the batch
    input logic   [  6:0] blocks_i,      // valid with start_i: number of operations, and of READs
    input logic   [  6:0] words_i,

    output logic                  reg_valid_o,
    output logic [QueueWidth-1:0] reg_queue_o,       // queue of the access, for bus monitors
    output logic                  reg_write_o,
    output logic [          31:0] reg_offset_o,
    output logic [           1:0] reg_log2_width_o,
    output logic [          63:0] reg_wdata_o,
    input  logic [          63:0] reg_rdata_i,
    input  logic                  reg_error_i,

    input logic [63:0] runs_i,         // completed kernel runs
    input logic        kernel_fault_i,

    output logic    answer_valid_o,
    input  logic    answer_ready_i,
    output answer_t answer_o,

    input logic      answered_valid_i,  // pulse
    input answered_t answered_i,

    input  logic [QueueWidth-1:0] words_queue_i,
    input  logic [           4:0] words_row_i,
    // data of the row given in the previous clock, two words
    output logic [         127:0] words_o,

    output logic   fatal_valid_o,  // until clear_i
    output fatal_t fatal_o
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)

  typedef logic [QueueWidth-1:0] queue_t;
  typedef logic [6:0] count_t;

  // The batches.
  logic [Queues-1:0] active_q, ended_q;
  place_t [Queues-1:0] place_q;
  count_t [Queues-1:0] at_q, blocks_q, words_q, done_q;
  status_e [Queues-1:0] status_q;
  queue_t starting, answering;

  assign starting = queue_t'(place_i.queue_index);

  // A batch is selected, its operation is read from memory and executed if it can continue.
  logic [Queues-1:0] unused_chosen_grant, unused_answer_grant;
  logic choosing, fetched_q, act, goes, ends, again;
  queue_t chosen, current_q;
  count_t fetch_at;
  operation_t operation;
  status_e outcome;

  mae_rr_arb #(
      .N(Queues)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (active_q),
      .advance_i(1'b1),
      .grant_o  (unused_chosen_grant),
      .index_o  (chosen),
      .valid_o  (choosing)
  );

  assign again = fetched_q && chosen == current_q;
  assign fetch_at = at_q[chosen] + count_t'(again);

  logic is_wait, passes, fails;

  assign is_wait = operation.op == OpWait;

  mae_guard_wait_conditions #(
      .Queues(Queues)
  ) u_outcomes (
      .clk_i,
      .rst_ni,
      .clear_i,
      .place_i,
      .taken_i,
      .answered_valid_i,
      .answered_i,
      .runs_i,
      .kernel_fault_i,
      .wait_for_i   (operation.offset),
      .wait_number_i(operation.data),
      .passes_o     (passes),
      .fails_o      (fails),
      .status_o     (outcome)
  );

  // An access takes one clock; after an error nothing is executed.
  logic access_q, read_q, narrow_q, failed_q, error;
  queue_t access_queue_q;
  count_t word_q;
  place_t fatal_place_q;

  assign error = access_q && reg_error_i;
  assign act = fetched_q && active_q[current_q] && !halt_i && !failed_q && !error;
  assign goes = act && (!is_wait || passes);
  assign ends = (act && is_wait && fails) ||
      (goes && at_q[current_q] + 1'b1 == blocks_q[current_q]);

  assign reg_valid_o = act && !is_wait;
  assign reg_queue_o = current_q;
  assign reg_write_o = operation.op == OpWrite;
  assign reg_offset_o = operation.offset;
  assign reg_log2_width_o = operation.log2_width[1:0];
  assign reg_wdata_o = operation.data;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q       <= '0;
      ended_q        <= '0;
      place_q        <= '0;
      at_q           <= '0;
      blocks_q       <= '0;
      words_q        <= '0;
      done_q         <= '0;
      status_q       <= {Queues{StatusNone}};
      fetched_q      <= 1'b0;
      current_q      <= '0;
      access_q       <= 1'b0;
      read_q         <= 1'b0;
      narrow_q       <= 1'b0;
      failed_q       <= 1'b0;
      access_queue_q <= '0;
      word_q         <= '0;
    end else if (clear_i) begin
      active_q       <= '0;
      ended_q        <= '0;
      place_q        <= '0;
      at_q           <= '0;
      blocks_q       <= '0;
      words_q        <= '0;
      done_q         <= '0;
      status_q       <= {Queues{StatusNone}};
      fetched_q      <= 1'b0;
      current_q      <= '0;
      access_q       <= 1'b0;
      read_q         <= 1'b0;
      narrow_q       <= 1'b0;
      failed_q       <= 1'b0;
      access_queue_q <= '0;
      word_q         <= '0;
    end else begin
      // An operation that was fetched for a stalled batch is dropped.
      fetched_q      <= choosing && (!again || (goes && !ends));
      current_q      <= chosen;
      access_q       <= reg_valid_o;
      read_q         <= reg_valid_o && !reg_write_o;
      narrow_q       <= !reg_log2_width_o[0];
      access_queue_q <= current_q;
      word_q         <= done_q[current_q];
      if (error) failed_q <= 1'b1;
      if (goes) begin
        at_q[current_q]   <= at_q[current_q] + 1'b1;
        done_q[current_q] <= done_q[current_q] + count_t'(operation.op == OpRead);
      end
      if (ends) begin
        active_q[current_q] <= 1'b0;
        ended_q[current_q]  <= 1'b1;
        status_q[current_q] <= goes ? StatusOk : outcome;
      end
      if (answer_valid_o && answer_ready_i) ended_q[answering] <= 1'b0;
      if (start_i) begin
        active_q[starting] <= 1'b1;
        place_q[starting]  <= place_i;
        at_q[starting]     <= '0;
        blocks_q[starting] <= blocks_i;
        words_q[starting]  <= words_i;
        done_q[starting]   <= '0;
      end
    end
  end

  assign fatal_valid_o = failed_q;
  assign fatal_o = '{
          cause: CauseAccess,
          queue_index: fatal_place_q.queue_index,
          sequence_number: fatal_place_q.sequence_number
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fatal_place_q <= '0;
    else if (clear_i) fatal_place_q <= '0;
    else if (error) fatal_place_q <= place_q[access_queue_q];
  end

  // Responses.
  logic answer_waits;

  mae_rr_arb #(
      .N(Queues)
  ) u_answer (
      .clk_i,
      .rst_ni,
      .req_i    (ended_q),
      .advance_i(answer_valid_o && answer_ready_i),
      .grant_o  (unused_answer_grant),
      .index_o  (answering),
      .valid_o  (answer_waits)
  );

  // The last operation may have failed in the previous clock.
  assign answer_valid_o = answer_waits && !failed_q && !error && !halt_i;
  assign answer_o = '{
          place: place_q[answering],
          kind: KindBatch,
          status: status_q[answering],
          executed: 16'(at_q[answering]),
          value: (status_q[answering] == StatusOk) ? '0 : 64'(at_q[answering]),
          words: words_q[answering],
          words_done: done_q[answering],
          tag: '0
      };

  // The bodies and the read data, in two memories that are erased row by row.
  localparam int unsigned PlaceWidth = QueueWidth + 6;
  typedef logic [PlaceWidth-1:0] row_t;

  logic [127:0] bodies_q[2**PlaceWidth];
  logic [63:0] even_q[2**(PlaceWidth-1)];
  logic [63:0] odd_q[2**(PlaceWidth-1)];
  row_t walk_q, body_row;
  logic [PlaceWidth-2:0] word_row;
  logic walking_q, word_even, word_odd;
  logic [63:0] word;

  assign busy_o = walking_q;
  assign body_row = walking_q ? walk_q : {starting, body_index_i[5:0]};
  assign word_row = walking_q ? walk_q[PlaceWidth-2:0] : {access_queue_q, word_q[5:1]};
  assign word_even = walking_q || (read_q && !word_q[0]);
  assign word_odd = walking_q || (read_q && word_q[0]);
  assign word = walking_q ? '0 : narrow_q ? {32'h0, reg_rdata_i[31:0]} : reg_rdata_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (clear_i) begin
      walking_q <= 1'b1;
      walk_q    <= '0;
    end else if (walking_q) begin
      walk_q    <= walk_q + 1'b1;
      walking_q <= walk_q != row_t'(64 * Queues - 1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (walking_q || body_valid_i) bodies_q[body_row] <= walking_q ? '0 : body_i;
    if (word_even) even_q[word_row] <= word;
    if (word_odd) odd_q[word_row] <= word;
    operation <= bodies_q[{chosen, fetch_at[5:0]}];
    words_o   <= {even_q[{words_queue_i, words_row_i}], odd_q[{words_queue_i, words_row_i}]};
  end

  logic unused;
  assign unused = ^{body_index_i[6], fetch_at[6], word_q[6], operation, fatal_place_q};

  `MAE_ASSERT(StartsIdle, !start_i || !(active_q[starting] || ended_q[starting]))
  `MAE_STREAM_HOLDS(AnswerHolds, answer_valid_o || halt_i || error || failed_q,
                    answer_ready_i || error || failed_q || halt_i || clear_i, answer_o)

endmodule
