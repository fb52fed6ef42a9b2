// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_response_sealer: seals responses with AES-GCM and writes each one, followed by its
// number, to its slot in host memory.
//
// Responses come from several units and are sealed one at a time, round-robin, if the budget of
// class 2 allows it. The response to number s goes to slot s mod 64 of its queue:
// mae_guard_response_packer packs it, mae_guard_response_writer writes it. answered_* and irq_o
// tell that response and number are in host memory (docs/protocol.md, H18: the number is written
// last). Meanwhile the next ones are sealed: up to four are in progress; responses, numbers and
// answered_* keep the order in which they were accepted. An exhausted budget and bus errors are
// fatal: fatal_valid_o stays high until clear_i. The words of a BATCH come from
// mae_guard_batch_executor, in the clock after the row number; seal_row_o answers seal_row_i
// likewise.
// Latency: n + 27 clocks from a response with a body of n blocks to its last beat, one more with an
// odd word; then two write acknowledgements and 4 clocks.
// Throughput: one response in n + 28 clocks.
// Reset and clear: halt_i: nothing new begins; clear_i follows and erases all state in one clock.
// Parameters: Askers is the number of requesting units. Legal: Queues 1..64; Askers >= 1.
// Security: constant-time in data.
// Source: docs/protocol.md, sections 3, 4 and 5.

`include "mae_assert.svh"

module mae_guard_response_sealer
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Askers = 3,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic halt_i,

    input  logic    [Askers-1:0] ask_valid_i,
    output logic    [Askers-1:0] ask_ready_o,
    input  answer_t [Askers-1:0] ask_i,

    input logic [Queues-1:0][63:0] response_base_i,

    output logic        spend_valid_o,   // of class 2; spend_ok_i is valid with spend_ready_i
    input  logic        spend_ready_i,
    output logic        spend_bank_o,
    output logic [16:0] spend_blocks_o,
    input  logic        spend_ok_i,

    // The current message.
    output logic           seal_valid_o,    // holds until ready: begin to seal
    input  logic           seal_ready_i,
    output place_t         place_o,
    output logic   [  7:0] seal_kind_o,
    output logic   [ 10:0] seal_bytes_o,
    input  logic   [  6:0] seal_row_i,      // requested row
    output logic   [127:0] seal_row_o,      // one clock later
    input  logic           sealed_valid_i,
    output logic           sealed_ready_o,
    input  logic   [127:0] sealed_i,
    input  logic           sealed_last_i,

    output logic [QueueWidth-1:0] words_queue_o,
    output logic [           4:0] words_row_o,
    input  logic [         127:0] words_i,

    output logic         aw_valid_o,
    input  logic         aw_ready_i,
    output logic [ 63:0] aw_address_o,
    output logic [  3:0] aw_beats_o,
    output logic         w_valid_o,
    input  logic         w_ready_i,
    output logic [511:0] w_data_o,
    output logic [ 63:0] w_strb_o,
    input  logic         write_done_i,  // pulse, in order
    input  logic         write_error_i, // valid with write_done_i

    output logic      told_valid_o,      // pulse: its number is on the bus, the host may know it
    output answered_t told_o,
    output logic      answered_valid_o,  // pulse
    output answered_t answered_o,
    output logic      irq_o,             // pulse
    output logic      fatal_valid_o,     // until clear_i
    output fatal_t    fatal_o
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)
  `MAE_PARAM(AskersLegal, Askers >= 1)

  localparam int unsigned AskerWidth = (Askers > 1) ? $clog2(Askers) : 1;

  typedef enum logic [2:0] {
    Idle,
    Spending,
    Starting,
    Sealing,
    Failed
  } step_e;

  step_e step_q;
  answer_t answer_q;
  logic [Askers-1:0] grant;
  logic [AskerWidth-1:0] asker;
  logic asked, take, began_q, room, written, slots_failed;
  logic [10:0] bytes;
  logic [5:0] blocks;
  place_t slots_place;

  mae_rr_arb #(
      .N(Askers)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (ask_valid_i),
      .advance_i(take),
      .grant_o  (grant),
      .index_o  (asker),
      .valid_o  (asked)
  );

  assign take = asked && step_q == Idle && room && !halt_i;
  assign ask_ready_o = take ? grant : '0;

  // The length follows from the request alone.
  always_comb begin
    bytes = 11'd16;
    if (answer_q.kind == KindBatch) bytes = 11'd16 + {1'b0, answer_q.words, 3'b0};
    if (answer_q.kind == KindD2h) bytes = 11'd32;
  end

  assign blocks = 6'((bytes + 11'd15) >> 4);
  assign spend_valid_o = step_q == Spending && !halt_i;
  assign spend_bank_o = answer_q.place.epoch[0];
  assign spend_blocks_o = 17'(blocks) + 17'd1;
  assign seal_valid_o = !halt_i &&
      (step_q == Starting || (step_q == Spending && spend_ready_i && spend_ok_i));
  assign place_o = answer_q.place;
  assign seal_kind_o = answer_q.kind;
  assign seal_bytes_o = bytes;

  // Rows of the body.
  logic [6:0] row_q, first_word;
  logic [127:0] words;

  assign words_queue_o = QueueWidth'(answer_q.place.queue_index);
  assign words_row_o = 5'(seal_row_i - 7'd1);
  assign first_word = {row_q[5:0] - 6'd1, 1'b0};
  assign words = {
    (first_word < answer_q.words_done) ? words_i[127:64] : 64'h0,
    (first_word + 7'd1 < answer_q.words_done) ? words_i[63:0] : 64'h0
  };

  always_comb begin
    seal_row_o = (answer_q.kind == KindD2h) ? answer_q.tag : words;
    if (row_q == '0) begin
      seal_row_o = {answer_q.status, answer_q.executed, 32'h0, answer_q.value};
    end
  end

  // The sealed rows: header, body, tag.
  logic [5:0] sealed_rows_q;
  logic short_row, line_valid, line_ready, line_last;
  logic [511:0] line;
  logic [ 63:0] line_strb;

  assign short_row = bytes[3] && sealed_rows_q == blocks;

  mae_guard_response_packer u_lines (
      .clk_i,
      .rst_ni,
      .clear_i,
      .begin_i     (began_q),
      .row_valid_i (sealed_valid_i),
      .row_ready_o (sealed_ready_o),
      .row_i       (sealed_i),
      .row_short_i (short_row),
      .row_last_i  (sealed_last_i),
      .line_valid_o(line_valid),
      .line_ready_i(line_ready),
      .line_o      (line),
      .line_strb_o (line_strb),
      .line_last_o (line_last)
  );

  mae_guard_response_writer u_slots (
      .clk_i,
      .rst_ni,
      .clear_i,
      .halt_i,
      .room_o(room),
      .begin_i(began_q),
      .answer_i(
      '{place: answer_q.place, passed: answer_q.status == StatusOk && answer_q.kind != KindSkip}
      ),
      .slot_i       (response_base_i[words_queue_o][63:6] +
                     {48'h0, answer_q.place.sequence_number[5:0], 4'h0}),
      .beats_i(4'((bytes + 11'd111) >> 6)),  // number, header and tag are 48 bytes
      .written_o(written),
      .line_valid_i(line_valid),
      .line_ready_o(line_ready),
      .line_i(line),
      .line_strb_i(line_strb),
      .line_last_i(line_last),
      .aw_valid_o,
      .aw_ready_i,
      .aw_address_o,
      .aw_beats_o,
      .w_valid_o,
      .w_ready_i,
      .w_data_o,
      .w_strb_o,
      .write_done_i,
      .write_error_i,
      .told_valid_o,
      .told_o,
      .answered_valid_o,
      .answered_o,
      .fatal_valid_o(slots_failed),
      .fatal_place_o(slots_place)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q        <= Idle;
      answer_q      <= '{status: StatusNone, default: '0};
      began_q       <= 1'b0;
      row_q         <= '0;
      sealed_rows_q <= '0;
    end else if (clear_i) begin
      step_q        <= Idle;
      answer_q      <= '{status: StatusNone, default: '0};
      began_q       <= 1'b0;
      row_q         <= '0;
      sealed_rows_q <= '0;
    end else begin
      began_q <= take;
      row_q   <= seal_row_i;
      if (sealed_valid_i && sealed_ready_o) sealed_rows_q <= sealed_rows_q + 6'd1;
      if (take) begin
        answer_q      <= ask_i[asker];
        sealed_rows_q <= '0;
        step_q        <= Spending;
      end else if (!halt_i) begin
        unique case (step_q)
          Spending:
          if (spend_ready_i) begin
            step_q <= !spend_ok_i ? Failed : seal_ready_i ? Sealing : Starting;
          end
          Starting: if (seal_ready_i) step_q <= Sealing;
          Sealing:  if (written) step_q <= Idle;
          default:  ;
        endcase
      end
    end
  end

  assign irq_o = answered_valid_o;
  assign fatal_valid_o = step_q == Failed || slots_failed;

  always_comb begin
    fatal_o = '{
        cause: CauseBudget,
        queue_index: answer_q.place.queue_index,
        sequence_number: answer_q.place.sequence_number
    };
    if (slots_failed) begin
      fatal_o = '{
          cause: CauseBeat,
          queue_index: slots_place.queue_index,
          sequence_number: slots_place.sequence_number
      };
    end
  end

  logic unused;
  assign unused = ^{slots_place, response_base_i};

  `MAE_ASSERT(AskerTaken, $onehot0(ask_ready_o))

endmodule
