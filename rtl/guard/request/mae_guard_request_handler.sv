// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_request_handler: checks requests one after the other and dispatches each one to the
// unit that executes it.
//
// The checks are those of docs/protocol.md, section 5, in their order: doorbell, budget, verdict (a
// failure is fatal: there is no response and fatal_valid_o stays high until clear_i), then kind,
// state, length, body and those of the kind. The body is checked as it is decrypted and used after
// its verdict. A legal request goes to batches, transfers (armed, charged, committed) or epochs. An
// illegal one is answered; if it was an H2D or D2H, its queue's open transfer is aborted before.
// The next request is accepted as soon as this one is dispatched, so that queues do not wait for
// each other's work.
//
// A queue is ready again (done_o) when its response is in host memory or, for a chunk, once it is
// armed, if fewer than Depth chunks of the queue are outstanding. A request is outstanding from its
// doorbell to answered_*.
// Latency: n + 25 clocks from request_valid_i to the dispatch of a legal request of n blocks, if
// all its neighbours are ready.
// Throughput: one request at a time.
// Reset and clear: halt_i: nothing new begins; clear_i follows and erases all state.
// Parameters: Legal: Queues 1..64; Depth 1..63; Operations 4..64.
// Security: constant-time in secrets: the clocks depend on kind, length and result; no masking.
// Source: docs/protocol.md, section 5.

`include "mae_assert.svh"

module mae_guard_request_handler
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    parameter int unsigned Operations = 64,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic halt_i,

    // The session.
    input  state_e                   state_i,
    input  logic   [      63:0]      capabilities_i,
    output logic                     open_o,          // pulse: the response to OPEN is OK
    output logic                     close_o,         // pulse: the response to CLOSE was written
    output logic                     fatal_valid_o,   // until clear_i
    output fatal_t                   fatal_o,
    output logic   [Queues-1:0][7:0] outstanding_o,   // armed chunks without response

    // The mailboxes.
    input  logic                        request_valid_i,
    output logic                        request_ready_o,
    input  logic [QueueWidth-1:0]       request_queue_i,
    input  logic [          63:0]       request_number_i,
    input  logic [          31:0]       request_blocks_i,
    input  logic [    Queues-1:0][63:0] next_i,            // the next sequence number of each queue
    output logic [    Queues-1:0]       done_o,

    // The current message.
    output logic           open_valid_o,   // holds until ready: begin to open it
    input  logic           open_ready_i,
    output logic   [  6:0] open_blocks_o,
    output place_t         place_o,        // of the current request
    input  logic           opened_i,
    input  logic           opened_ok_i,
    input  logic   [  7:0] opened_kind_i,
    input  logic           body_valid_i,
    input  logic   [  6:0] body_index_i,
    input  logic   [127:0] body_i,

    // Legality of a register access: answered in the same clock.
    output logic        check_write_o,
    output logic [31:0] check_offset_o,
    output logic [ 1:0] check_log2_width_o,
    input  logic        check_legal_i,

    // Budget of a key; spend_ok_i is valid with spend_ready_i.
    output logic          spend_valid_o,
    input  logic          spend_ready_i,
    output class_e        spend_class_o,
    output logic          spend_bank_o,
    output logic   [16:0] spend_blocks_o,
    input  logic          spend_ok_i,

    // Transfers, of place_o. Valid holds until done.
    output logic                       arm_valid_o,
    output logic                       arm_out_o,
    output transfer_t                  arm_o,
    input  logic                       arm_done_i,
    input  status_e                    arm_status_i,
    output logic                       arm_commit_o,     // pulse: the budget is charged
    output logic                       give_up_valid_o,
    output logic      [QueueWidth-1:0] give_up_queue_o,
    input  logic                       give_up_done_i,

    // Batches and epochs, of place_o.
    output logic                taken_o,        // pulse: a request was accepted
    output logic                batch_o,        // pulse: execute the batch
    output logic   [       6:0] batch_words_o,  // number of its READs
    output logic                rekey_o,        // pulse: switch epoch, respond
    input  epoch_t [Queues-1:0] epoch_i,

    // Responses.
    output logic      answer_valid_o,
    input  logic      answer_ready_i,
    output answer_t   answer_o,
    input  logic      answered_valid_i,  // pulse
    input  answered_t answered_i,
    input  logic      told_valid_i,      // pulse: the host may know of the response
    input  answered_t told_i
);
  `MAE_PARAM(QueuesLegal, Queues >= 1 && Queues <= 64)
  `MAE_PARAM(DepthLegal, Depth >= 1 && Depth <= 63)
  `MAE_PARAM(OperationsLegal, Operations >= 4 && Operations <= 64)

  typedef enum logic [3:0] {
    Waiting,
    Spending,   // class 1
    Opening,
    Listening,
    Judging,
    Arming,
    Charging,   // class 3 or 4
    GivingUp,
    Answering,
    Closing,
    Failed
  } step_e;

  typedef logic [QueueWidth-1:0] queue_t;

  step_e step_q;
  place_t place_q;
  logic [6:0] blocks_q;
  logic [7:0] kind_q;
  logic taken_q;
  cause_e cause_q;
  status_e status_q;
  logic [63:0] value_q;

  logic moves, refused;
  queue_t queue;

  assign queue = queue_t'(place_q.queue_index);
  assign moves = kind_q == KindH2d || kind_q == KindD2h;

  // The body, checked as it arrives.
  transfer_t transfer;
  logic body_all_zero, tag_zero, fields_zero;
  logic [6:0] reads;
  status_e operations_status;
  logic [5:0] at_fault;

  mae_guard_request_parser #(
      .Queues(Queues)
  ) u_body (
      .clk_i,
      .rst_ni,
      .clear_i            (clear_i || step_q == Waiting),
      .place_i            (place_q),
      .row_valid_i        (body_valid_i && step_q == Listening),
      .row_index_i        (body_index_i),
      .row_i              (body_i),
      .check_write_o,
      .check_offset_o,
      .check_log2_width_o,
      .check_legal_i,
      .all_zero_o         (body_all_zero),
      .transfer_o         (transfer),
      .tag_zero_o         (tag_zero),
      .fields_zero_o      (fields_zero),
      .reads_o            (reads),
      .operations_status_o(operations_status),
      .at_fault_o         (at_fault)
  );

  // Outstanding requests.
  logic commit, alone;

  assign commit = step_q == Charging && spend_ready_i && spend_ok_i && !halt_i;

  mae_guard_credits #(
      .Queues(Queues),
      .Depth (Depth)
  ) u_outstanding (
      .clk_i,
      .rst_ni,
      .clear_i,
      .next_i,
      .taken_i      (request_valid_i && request_ready_o),
      .taken_queue_i(request_queue_i),
      .armed_i      (commit),
      .armed_queue_i(queue),
      .answered_valid_i,
      .answered_i,
      .told_valid_i,
      .told_i,
      .done_o,
      .chunks_o     (outstanding_o),
      .alone_o      (alone)
  );

  // Checks 6 to 10.
  status_e status;
  logic [63:0] value;

  always_comb begin
    status = StatusOk;
    value  = '0;
    if (kind_q < KindOpen || kind_q > KindClose) status = StatusKind;
    else if ((kind_q == KindOpen) != (state_i == StateKeyed)) status = StatusState;
    else if ((kind_q == KindOpen || kind_q == KindClose) && queue != '0) status = StatusState;
    else if (kind_q == KindClose && !alone) status = StatusState;
    else if (moves) begin
      if (blocks_q != 7'd4) status = StatusLength;
      else if (kind_q == KindD2h && !tag_zero) status = StatusBody;
    end else if (kind_q == KindBatch) begin
      if (!fields_zero) status = StatusBody;
      else begin
        status = operations_status;
        value  = 64'(at_fault);
      end
    end else if (blocks_q != 7'd1) status = StatusLength;
    else if (!body_all_zero) status = StatusBody;
    else if (kind_q == KindOpen) value = capabilities_i;
  end

  assign refused = status != StatusOk;

  // Doorbells, budgets.
  logic doorbell_legal;
  logic [31:0] chunk_blocks;

  assign doorbell_legal = request_blocks_i != '0 && request_blocks_i <= Operations;
  assign chunk_blocks = (transfer.length + 32'd15) >> 4;

  assign request_ready_o = step_q == Waiting && !halt_i;
  assign spend_valid_o = (step_q == Spending || step_q == Charging) && !halt_i;
  assign spend_bank_o = place_q.epoch[0];
  assign open_valid_o = !halt_i &&
      (step_q == Opening || (step_q == Spending && spend_ready_i && spend_ok_i));
  assign open_blocks_o = blocks_q;

  always_comb begin
    spend_class_o  = ClassRequest;
    spend_blocks_o = 17'(blocks_q) + 17'd1;
    if (step_q == Charging) begin
      spend_class_o  = (kind_q == KindH2d) ? ClassDmaIn : ClassDmaOut;
      spend_blocks_o = chunk_blocks[16:0] + 17'd1;
    end
  end

  assign place_o = place_q;
  assign taken_o = taken_q;
  assign arm_valid_o = step_q == Arming && !halt_i;
  assign arm_out_o = kind_q == KindD2h;
  assign arm_o = transfer;
  assign arm_commit_o = commit;
  assign give_up_valid_o = step_q == GivingUp && !halt_i;
  assign give_up_queue_o = queue;
  assign batch_o = step_q == Judging && kind_q == KindBatch && !refused && !halt_i;
  assign batch_words_o = reads;
  assign rekey_o = step_q == Judging && kind_q == KindRekey && !refused && !halt_i;

  assign answer_valid_o = step_q == Answering && !halt_i;
  assign answer_o = '{
          place: place_q,
          kind: kind_q,
          status: status_q,
          executed: 16'(status_q == StatusOk),
          value: value_q,
          words: (kind_q == KindBatch) ? reads : '0,
          words_done: '0,
          tag: '0
      };
  assign open_o = answer_valid_o && answer_ready_i && kind_q == KindOpen && status_q == StatusOk;
  // Write acknowledgements of earlier responses may come after the CLOSE was verified.
  assign close_o = step_q == Closing && answered_valid_i && answered_i.place == place_q && !halt_i;
  assign fatal_valid_o = step_q == Failed;
  assign fatal_o = '{
          cause: cause_q,
          queue_index: place_q.queue_index,
          sequence_number: place_q.sequence_number
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q   <= Waiting;
      place_q  <= '0;
      blocks_q <= '0;
      kind_q   <= '0;
      taken_q  <= 1'b0;
      cause_q  <= CauseNone;
      status_q <= StatusNone;
      value_q  <= '0;
    end else if (clear_i) begin
      step_q   <= Waiting;
      place_q  <= '0;
      blocks_q <= '0;
      kind_q   <= '0;
      taken_q  <= 1'b0;
      cause_q  <= CauseNone;
      status_q <= StatusNone;
      value_q  <= '0;
    end else begin
      taken_q <= 1'b0;
      if (!halt_i) begin
        unique case (step_q)
          Waiting:
          if (request_valid_i) begin
            place_q <= '{
                queue_index: 8'(request_queue_i),
                epoch: epoch_i[request_queue_i],
                sequence_number: request_number_i
            };
            blocks_q <= request_blocks_i[6:0];
            taken_q <= 1'b1;
            cause_q <= CauseDoorbell;
            step_q <= doorbell_legal ? Spending : Failed;
          end
          Spending:
          if (spend_ready_i) begin
            cause_q <= CauseBudget;
            step_q  <= !spend_ok_i ? Failed : open_ready_i ? Listening : Opening;
          end
          Opening:  if (open_ready_i) step_q <= Listening;
          Listening:
          if (opened_i) begin
            kind_q  <= opened_kind_i;
            cause_q <= CauseTag;
            step_q  <= opened_ok_i ? Judging : Failed;
          end
          Judging: begin
            status_q <= status;
            value_q  <= value;
            if (refused) step_q <= moves ? GivingUp : Answering;
            else if (moves) step_q <= Arming;
            else if (kind_q == KindSkip) step_q <= GivingUp;
            else step_q <= (kind_q == KindBatch || kind_q == KindRekey) ? Waiting : Answering;
          end
          Arming:
          if (arm_done_i) begin
            status_q <= arm_status_i;
            step_q   <= (arm_status_i == StatusOk) ? Charging : GivingUp;
          end
          Charging:
          if (spend_ready_i) begin
            cause_q <= CauseBudget;
            step_q  <= spend_ok_i ? Waiting : Failed;
          end
          GivingUp: if (give_up_done_i) step_q <= Answering;
          Answering:
          if (answer_ready_i) begin
            step_q <= (kind_q == KindClose && status_q == StatusOk) ? Closing : Waiting;
          end
          default:  ;
        endcase
      end
    end
  end

  logic unused;
  assign unused = ^chunk_blocks[31:17];

  `MAE_ASSERT(OnlyWhenAsked, !(opened_i && step_q != Listening) || halt_i || clear_i)
  `MAE_STREAM_HOLDS(AnswerHolds, answer_valid_o || halt_i, answer_ready_i || halt_i || clear_i,
                    answer_o)
  `MAE_STREAM_HOLDS(ArmHolds, arm_valid_o || halt_i, arm_done_i || halt_i || clear_i, {arm_out_o,
                                                                                       arm_o})

endmodule
