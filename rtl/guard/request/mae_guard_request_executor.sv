// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_request_executor: executes requests of the protected channel, from the doorbell to the
// sealed response in host memory.
//
// It contains mailboxes, request checks, batches, epochs, keys and responses: all of
// docs/protocol.md, section 5, except transfers and session states, which are separate. It arms
// transfers and seals their responses, outputs the keys of classes 3 and 4, and is told the session
// state. One message is opened or sealed at a time, responses first. fatal_valid_o stays high until
// clear_i; the session then gives halt_i (nothing new begins) and clear_i, which it holds for many
// clocks.
// Latency: from a doorbell to the response's number in host memory, if writes are acknowledged in
// the next clock: 61 clocks for a write, 63 for a read, 187 and 219 for 64 of them; with Small = 1
// 143, 160, 1,214 and 1,725.
// Throughput: one message at a time.
// Reset and clear: clear_i erases all registers, and the memories in further clocks (busy_o).
// Parameters: Legal: Queues 1..64; Depth 1..63; Operations 4..64; Sbox any of sbox_impl_e; Small 0
// or 1; Budget 1..2^35 - 1.
// Security: constant-time in secrets; no masking.
// Source: docs/protocol.md, sections 4 and 5.

`include "mae_assert.svh"

module mae_guard_request_executor
  import mae_aes_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    parameter int unsigned Operations = 64,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    parameter longint unsigned Budget = BlocksPerKey,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    input  logic halt_i,
    output logic busy_o,

    // The session.
    input  session_t session_i,      // must hold from install_i to the end of the session
    input  state_e   state_i,
    input  logic     install_i,      // pulse: derive epoch 0
    output logic     keys_ready_o,   // epoch 0 has its keys: state KEYED
    output logic     open_o,         // pulse: RUN
    output logic     close_o,        // pulse: the response to CLOSE was written
    output logic     fatal_valid_o,  // until clear_i
    output fatal_t   fatal_o,

    // Unprotected registers.
    input  logic                        write_valid_i,    // a whole word of a queue's page
    input  logic [QueueWidth-1:0]       write_queue_i,
    input  logic [          11:0]       write_offset_i,
    input  logic [          31:0]       write_data_i,
    output logic                        write_dropped_o,
    input  logic [    Queues-1:0][63:0] response_base_i,
    output logic [    Queues-1:0]       ready_o,
    output logic [    Queues-1:0][ 7:0] outstanding_o,
    output logic [    Queues-1:0][63:0] next_o,

    // The card's protected registers.
    output logic                  check_write_o,
    output logic [          31:0] check_offset_o,
    output logic [           1:0] check_log2_width_o,
    input  logic                  check_legal_i,       // in the same clock
    output logic                  reg_valid_o,
    output logic [QueueWidth-1:0] reg_queue_o,         // queue of the access, for bus monitors
    output logic                  reg_write_o,
    output logic [          31:0] reg_offset_o,
    output logic [           1:0] reg_log2_width_o,
    output logic [          63:0] reg_wdata_o,
    input  logic [          63:0] reg_rdata_i,         // in the next clock
    input  logic                  reg_error_i,
    input  logic [          63:0] runs_i,
    input  logic                  kernel_fault_i,

    // Keys of classes 3 (H2D) and 4 (D2H).
    output logic       key_valid_o,
    input  logic       key_ready_i,
    output class_e     key_class_o,
    output logic       key_bank_o,
    output class_key_t key_o,

    // Transfers.
    output logic                       arm_valid_o,
    output place_t                     arm_place_o,
    output logic                       arm_out_o,
    output transfer_t                  arm_o,
    input  logic                       arm_done_i,
    input  status_e                    arm_status_i,
    output logic                       arm_commit_o,
    output logic                       give_up_valid_o,
    output logic      [QueueWidth-1:0] give_up_queue_o,
    input  logic                       give_up_done_i,
    input  logic                       answer_valid_i,
    output logic                       answer_ready_o,
    input  answer_t                    answer_i,
    output logic                       answered_valid_o,
    output answered_t                  answered_o,

    // Response writes to host memory.
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
    output logic         irq_o
);
  // Requests.
  logic request_valid, request_ready, opened, opened_ok, body_valid;
  logic [QueueWidth-1:0] request_queue;
  logic [63:0] request_number;
  logic [31:0] request_blocks;
  logic [Queues-1:0] done;
  logic open_valid, open_ready, taken, batch, rekey;
  logic [6:0] open_blocks, body_index, batch_words;
  logic [7:0] opened_kind;
  logic [127:0] body;
  place_t place;
  epoch_t [Queues-1:0] epoch;

  // Responses of batches, epochs and requests.
  logic batch_answer_valid, batch_answer_ready, rekey_answer_valid, rekey_answer_ready;
  logic request_answer_valid, request_answer_ready;
  answer_t request_answer, batch_answer, rekey_answer;
  logic request_fatal_valid, batch_fatal_valid, answer_fatal_valid;
  fatal_t request_fatal, batch_fatal, answer_fatal;

  logic request_spend_valid, request_spend_bank, answer_spend_valid, answer_spend_bank, spend_ok;
  logic [16:0] request_spend_blocks, answer_spend_blocks;
  class_e request_spend_class;

  // Messages.
  logic seal_valid, seal_ready, sealing_q, messages_idle;
  logic sealed_valid, sealed_ready, sealed_last;
  logic [ 7:0] seal_kind;
  logic [10:0] seal_bytes;
  logic [ 6:0] row;
  logic [127:0] open_row, seal_row, sealed, words;
  place_t seal_place;
  logic [QueueWidth-1:0] words_queue;
  logic [4:0] words_row;
  answered_t answered, told;
  logic answered_valid, told_valid;

  // Keys.
  logic derive, erase, keys_busy, key_valid, messages_key, messages_key_ready;
  epoch_t keys_epoch;
  class_e key_class;
  class_key_t key;
  logic key_bank, mailbox_busy, batches_busy;

  assign busy_o = mailbox_busy || batches_busy;

  mae_guard_mailbox #(
      .Queues(Queues)
  ) u_mailbox (
      .clk_i,
      .rst_ni,
      .clear_i,
      .busy_o          (mailbox_busy),
      .open_i          ((state_i == StateKeyed || state_i == StateRun) && !halt_i),
      .write_valid_i,
      .write_queue_i,
      .write_offset_i,
      .write_data_i,
      .write_dropped_o,
      .ready_o,
      .next_o,
      .request_valid_o (request_valid),
      .request_ready_i (request_ready),
      .request_queue_o (request_queue),
      .request_number_o(request_number),
      .request_blocks_o(request_blocks),
      .done_i          (done),
      .row_queue_i     (QueueWidth'(place.queue_index)),
      .row_i           (row),
      .row_o           (open_row)
  );

  mae_guard_request_handler #(
      .Queues    (Queues),
      .Depth     (Depth),
      .Operations(Operations)
  ) u_requests (
      .clk_i,
      .rst_ni,
      .clear_i,
      .halt_i,
      .state_i,
      .capabilities_i  (session_i.capabilities),
      .open_o,
      .close_o,
      .fatal_valid_o   (request_fatal_valid),
      .fatal_o         (request_fatal),
      .outstanding_o,
      .request_valid_i (request_valid),
      .request_ready_o (request_ready),
      .request_queue_i (request_queue),
      .request_number_i(request_number),
      .request_blocks_i(request_blocks),
      .next_i          (next_o),
      .done_o          (done),
      .open_valid_o    (open_valid),
      .open_ready_i    (open_ready),
      .open_blocks_o   (open_blocks),
      .place_o         (place),
      .opened_i        (opened),
      .opened_ok_i     (opened_ok),
      .opened_kind_i   (opened_kind),
      .body_valid_i    (body_valid),
      .body_index_i    (body_index),
      .body_i          (body),
      .check_write_o,
      .check_offset_o,
      .check_log2_width_o,
      .check_legal_i,
      .spend_valid_o   (request_spend_valid),
      .spend_ready_i   (!answer_spend_valid),
      .spend_class_o   (request_spend_class),
      .spend_bank_o    (request_spend_bank),
      .spend_blocks_o  (request_spend_blocks),
      .spend_ok_i      (spend_ok),
      .arm_valid_o,
      .arm_out_o,
      .arm_o,
      .arm_done_i,
      .arm_status_i,
      .arm_commit_o,
      .give_up_valid_o,
      .give_up_queue_o,
      .give_up_done_i,
      .taken_o         (taken),
      .batch_o         (batch),
      .batch_words_o   (batch_words),
      .rekey_o         (rekey),
      .epoch_i         (epoch),
      .answer_valid_o  (request_answer_valid),
      .answer_ready_i  (request_answer_ready),
      .answer_o        (request_answer),
      .answered_valid_i(answered_valid),
      .answered_i      (answered),
      .told_valid_i    (told_valid),
      .told_i          (told)
  );

  assign arm_place_o = place;

  mae_guard_batch_executor #(
      .Queues(Queues)
  ) u_batches (
      .clk_i,
      .rst_ni,
      .clear_i,
      .halt_i,
      .busy_o          (batches_busy),
      .place_i         (place),
      .taken_i         (taken),
      .body_valid_i    (body_valid),
      .body_index_i    (body_index),
      .body_i          (body),
      .start_i         (batch),
      .blocks_i        (open_blocks),
      .words_i         (batch_words),
      .reg_valid_o,
      .reg_queue_o,
      .reg_write_o,
      .reg_offset_o,
      .reg_log2_width_o,
      .reg_wdata_o,
      .reg_rdata_i,
      .reg_error_i,
      .runs_i,
      .kernel_fault_i,
      .answer_valid_o  (batch_answer_valid),
      .answer_ready_i  (batch_answer_ready),
      .answer_o        (batch_answer),
      .answered_valid_i(answered_valid),
      .answered_i      (answered),
      .words_queue_i   (words_queue),
      .words_row_i     (words_row),
      .words_o         (words),
      .fatal_valid_o   (batch_fatal_valid),
      .fatal_o         (batch_fatal)
  );

  mae_guard_epoch_keys #(
      .Queues(Queues)
  ) u_epochs (
      .clk_i,
      .rst_ni,
      .clear_i,
      .halt_i,
      .install_i,
      .ready_o       (keys_ready_o),
      .place_i       (place),
      .taken_i       (taken),
      .rekey_i       (rekey),
      .epoch_o       (epoch),
      .answer_valid_o(rekey_answer_valid),
      .answer_ready_i(rekey_answer_ready),
      .answer_o      (rekey_answer),
      .told_valid_i  (told_valid),
      .told_i        (told),
      .derive_o      (derive),
      .erase_o       (erase),
      .keys_epoch_o  (keys_epoch),
      .keys_busy_i   (keys_busy)
  );

  mae_guard_response_sealer #(
      .Queues(Queues),
      .Askers(4)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .clear_i,
      .halt_i,
      .ask_valid_i({answer_valid_i, rekey_answer_valid, batch_answer_valid, request_answer_valid}),
      .ask_ready_o({answer_ready_o, rekey_answer_ready, batch_answer_ready, request_answer_ready}),
      .ask_i({answer_i, rekey_answer, batch_answer, request_answer}),
      .response_base_i,
      .spend_valid_o(answer_spend_valid),
      .spend_ready_i(1'b1),
      .spend_bank_o(answer_spend_bank),
      .spend_blocks_o(answer_spend_blocks),
      .spend_ok_i(spend_ok),
      .seal_valid_o(seal_valid),
      .seal_ready_i(seal_ready),
      .place_o(seal_place),
      .seal_kind_o(seal_kind),
      .seal_bytes_o(seal_bytes),
      .seal_row_i(row),
      .seal_row_o(seal_row),
      .sealed_valid_i(sealed_valid),
      .sealed_ready_o(sealed_ready),
      .sealed_i(sealed),
      .sealed_last_i(sealed_last),
      .words_queue_o(words_queue),
      .words_row_o(words_row),
      .words_i(words),
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
      .told_valid_o(told_valid),
      .told_o(told),
      .answered_valid_o(answered_valid),
      .answered_o(answered),
      .irq_o,
      .fatal_valid_o(answer_fatal_valid),
      .fatal_o(answer_fatal)
  );

  assign answered_valid_o = answered_valid;
  assign answered_o = answered;

  // One message at a time, responses first.
  assign seal_ready = messages_idle;
  assign open_ready = messages_idle && !seal_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sealing_q <= 1'b0;
    else if (messages_idle) sealing_q <= seal_valid;
  end

  assign messages_key = key_class == ClassRequest || key_class == ClassResponse;

  mae_guard_message_gcm #(
      .MaxBlocks(64),
      .Sbox     (Sbox),
      .Small    (Small)
  ) u_messages (
      .clk_i,
      .rst_ni,
      .clear_i,
      .key_valid_i   (key_valid && messages_key),
      .key_ready_o   (messages_key_ready),
      .key_bank_i    ({key_class == ClassResponse, key_bank}),
      .key_i         (key),
      .place_i       (sealing_q ? seal_place : place),
      .open_valid_i  (open_valid && open_ready),
      .open_blocks_i (open_blocks),
      .opened_o      (opened),
      .opened_ok_o   (opened_ok),
      .opened_kind_o (opened_kind),
      .body_valid_o  (body_valid),
      .body_index_o  (body_index),
      .body_o        (body),
      .seal_valid_i  (seal_valid && seal_ready),
      .seal_kind_i   (seal_kind),
      .seal_bytes_i  (seal_bytes),
      .sealed_valid_o(sealed_valid),
      .sealed_ready_i(sealed_ready),
      .sealed_o      (sealed),
      .sealed_last_o (sealed_last),
      .idle_o        (messages_idle),
      .row_o         (row),
      .open_row_i    (open_row),
      .seal_row_i    (seal_row)
  );

  mae_guard_key_table #(
      .Sbox  (Sbox),
      .Budget(Budget)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i,
      .session_i,
      .derive_i      (derive),
      .erase_i       (erase),
      .epoch_i       (keys_epoch),
      .busy_o        (keys_busy),
      .key_valid_o   (key_valid),
      .key_ready_i   (messages_key ? messages_key_ready : key_ready_i),
      .key_class_o   (key_class),
      .key_bank_o    (key_bank),
      .key_o         (key),
      .spend_valid_i (request_spend_valid || answer_spend_valid),
      .spend_class_i (answer_spend_valid ? ClassResponse : request_spend_class),
      .spend_bank_i  (answer_spend_valid ? answer_spend_bank : request_spend_bank),
      .spend_blocks_i(answer_spend_valid ? answer_spend_blocks : request_spend_blocks),
      .spend_ok_o    (spend_ok)
  );

  assign key_valid_o = key_valid && !messages_key;
  assign key_class_o = key_class;
  assign key_bank_o = key_bank;
  assign key_o = key;

  // The first failure halts everything; of several in one clock any is reported.
  assign fatal_valid_o = request_fatal_valid || batch_fatal_valid || answer_fatal_valid;
  always_comb begin
    fatal_o = answer_fatal;
    if (batch_fatal_valid) fatal_o = batch_fatal;
    if (request_fatal_valid) fatal_o = request_fatal;
  end

endmodule
