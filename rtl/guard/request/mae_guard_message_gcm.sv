// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_message_gcm: decrypts and verifies requests, and encrypts responses, with AES-256-GCM.
// It opens or seals one message at a time.
//
// A request is read from a locked store of 16-byte rows: header, body, tag. Header and IV are built
// from place_i, the device's own state. From the received header only the kind is used; all of it
// is compared together with the tag, in one verdict (docs/protocol.md, H2, H5, H15: the receiver
// builds the IV, the next number only, constant-time comparison). The body is output as it is
// decrypted; do not use it before opened_ok_o. A response is read from a store of its own and
// output as header, ciphertext, tag. Each key is in bank {class 2, bit 0 of the epoch}, with its IV
// mask; a message whose bank has no key waits. Ready and valid come from registers, except that
// key_ready_o depends on key_bank_i.
// Latency: a message of n blocks is opened n + 23 clocks after open_valid_i. For a response the
// header leaves a clock later, then one row a clock if accepted; the tag leaves n + 24 clocks after
// seal_valid_i; with Small = 1 16 * n + 49 and 16 * n + 50 clocks. The stores give data in the clock
// after the row number.
// Throughput: one message at a time, as above.
// Reset and clear: both drop the current message and erase keys, masks and data within two clocks.
// Parameters: MaxBlocks is the largest number of blocks of a body; Small = 1 takes mae_gcm_iter in
// the place of mae_gcm_stream. Legal: MaxBlocks 4..64; Sbox any of sbox_impl_e; Small 0 or 1.
// Security: constant-time, the verdict too; no masking.
// Source: docs/protocol.md, sections 2 and 3; SP 800-38D.

`include "mae_assert.svh"

module mae_guard_message_gcm
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter int unsigned MaxBlocks = 64,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    localparam int unsigned RowWidth = $clog2(MaxBlocks + 2)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             key_valid_i,
    output logic             key_ready_o,
    input  logic       [1:0] key_bank_i,
    input  class_key_t       key_i,

    input place_t place_i,  // of the message; must hold until it is opened or sealed

    input  logic                  open_valid_i,   // pulse, only when idle
    input  logic   [RowWidth-1:0] open_blocks_i,  // of the body; must hold
    output logic                  opened_o,       // pulse
    output logic                  opened_ok_o,    // valid with opened_o
    output logic   [         7:0] opened_kind_o,  // valid with opened_o
    output logic                  body_valid_o,
    output logic   [RowWidth-1:0] body_index_o,
    output block_t                body_o,

    input  logic          seal_valid_i,    // pulse, only when idle
    input  logic   [ 7:0] seal_kind_i,     // must hold, as the following ones
    input  logic   [10:0] seal_bytes_i,    // of the body, >= 1
    output logic          sealed_valid_o,
    input  logic          sealed_ready_i,
    output block_t        sealed_o,
    output logic          sealed_last_o,   // the tag

    output logic idle_o,
    // row of the request, 0 is the header; or of the response body
    output logic [RowWidth-1:0] row_o,
    input block_t open_row_i,
    input block_t seal_row_i
);
  `MAE_PARAM(MaxBlocksLegal, MaxBlocks >= 4 && MaxBlocks <= 64)

  typedef enum logic [3:0] {
    Idle,
    Announce,    // with the tag of a request
    AskHeader,
    TakeHeader,
    SendHeader,  // of a response
    Beats,       // sends header and body to the engine
    Verdict,
    SendTag
  } state_e;

  typedef logic [RowWidth-1:0] row_t;

  state_e state_q;
  logic sealing_q, header_ok_q;
  logic [7:0] kind_q;
  block_t tag_q;
  logic [3:0][95:0] mask_q;
  row_t blocks;
  logic [10:0] bytes;
  class_e class_code;
  block_t header;
  bank_t bank;

  assign idle_o = state_q == Idle;
  assign class_code = sealing_q ? ClassResponse : ClassRequest;
  assign bank = {sealing_q, place_i.epoch[0]};
  assign header = header_of(class_code, kind_q, place_i);
  assign bytes = sealing_q ? seal_bytes_i : 11'(open_blocks_i) << 4;
  assign blocks = row_t'((bytes + 11'd15) >> 4);

  // Rows from the store: requested while there is space for waiting and requested rows.
  row_t asked_q, sent_q, given_q;
  logic arriving_q, ask, row_valid, row_ready, unused_room;
  logic [2:0] waiting;
  block_t row;

  assign ask = state_q == Beats && asked_q != blocks && waiting + 3'(arriving_q) < 3'd3;

  always_comb begin
    row_o = '0;
    if (state_q inside {Idle, Announce}) row_o = open_blocks_i + 1'b1;
    if (state_q == Beats) row_o = sealing_q ? asked_q : asked_q + 1'b1;
  end

  mae_fifo #(
      .Width(128),
      .Depth(4)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (arriving_q),
      .in_ready_o (unused_room),
      .in_data_i  (sealing_q ? seal_row_i : open_row_i),
      .out_valid_o(row_valid),
      .out_ready_i(row_ready),
      .out_data_o (row),
      .count_o    (waiting)
  );

  // The engine.
  gcm_msg_t msg;
  gcm_verdict_t verdict;
  logic msg_ready, in_valid, in_ready, in_last, out_valid, out_ready, out_last, tag_valid, tag_take;
  logic [4:0] in_bytes, out_bytes;
  logic header_sent_q;
  block_t in_data, out_data;

  assign msg = '{
          bank: bank,
          dir: sealing_q ? Encrypt : Decrypt,
          iv: iv_of(mask_q[bank], class_code, place_i),
          iv_bytes: gcm_length_t'(12),
          aad_bytes: gcm_length_t'(16),
          data_bytes: gcm_length_t'(bytes),
          tag_bytes: 5'd16,
          tag: open_row_i
      };
  assign in_valid = state_q == Beats && (!header_sent_q || row_valid);
  assign in_data = header_sent_q ? row : header;
  assign in_last = header_sent_q && sent_q + 1'b1 == blocks;
  assign in_bytes = (in_last && bytes[3:0] != '0) ? {1'b0, bytes[3:0]} : 5'd16;
  assign row_ready = header_sent_q && state_q == Beats && in_ready;

  cipher_key_t engine_key;
  assign engine_key = '{bank: key_bank_i, len: Aes256, key: key_i.key};

  if (Small) begin : gen_iter
    mae_gcm_iter #(
        .KeyBanks(4),
        .Sbox    (Sbox)
    ) u_gcm (
        .clk_i,
        .rst_ni,
        .clear_i,
        .abort_i    (1'b0),
        .key_valid_i,
        .key_ready_o,
        .key_i      (engine_key),
        .msg_valid_i(state_q == Announce),
        .msg_ready_o(msg_ready),
        .msg_i      (msg),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_data_i  (in_data),
        .in_bytes_i (in_bytes),
        .in_last_i  (in_last),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out_data),
        .out_bytes_o(out_bytes),
        .out_last_o (out_last),
        .tag_valid_o(tag_valid),
        .tag_ready_i(tag_take),
        .tag_o      (verdict)
    );
  end else begin : gen_stream
    mae_gcm_stream #(
        .Lanes   (1),
        .KeyBanks(4),
        .Sbox    (Sbox),
        .MsgDepth(2)
    ) u_gcm (
        .clk_i,
        .rst_ni,
        .clear_i,
        .abort_i    (1'b0),
        .key_valid_i,
        .key_ready_o,
        .key_i      (engine_key),
        .msg_valid_i(state_q == Announce),
        .msg_ready_o(msg_ready),
        .msg_i      (msg),
        .in_valid_i (in_valid),
        .in_ready_o (in_ready),
        .in_data_i  (in_data),
        .in_bytes_i (in_bytes),
        .in_last_i  (in_last),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o (out_data),
        .out_bytes_o(out_bytes),
        .out_last_o (out_last),
        .tag_valid_o(tag_valid),
        .tag_ready_i(tag_take),
        .tag_o      (verdict)
    );
  end

  assign body_valid_o = out_valid && !sealing_q;
  assign body_index_o = given_q;
  assign body_o = out_data;
  // The tag of a response waits until the rows before it have left.
  assign tag_take = state_q == Verdict && tag_valid && (!sealing_q || given_q == blocks);
  assign opened_o = tag_take && !sealing_q;
  assign opened_ok_o = opened_o && verdict.ok && header_ok_q;
  assign opened_kind_o = kind_q;

  assign sealed_valid_o = state_q inside {SendHeader, SendTag} || (out_valid && sealing_q);
  assign sealed_o = (state_q == SendHeader) ? header : (state_q == SendTag) ? tag_q : out_data;
  assign sealed_last_o = state_q == SendTag;
  assign out_ready = !sealing_q || sealed_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      sealing_q     <= 1'b0;
      header_ok_q   <= 1'b0;
      header_sent_q <= 1'b0;
      kind_q        <= '0;
      tag_q         <= '0;
      mask_q        <= '0;
      asked_q       <= '0;
      sent_q        <= '0;
      given_q       <= '0;
      arriving_q    <= 1'b0;
    end else if (clear_i) begin
      state_q    <= Idle;
      tag_q      <= '0;
      mask_q     <= '0;
      arriving_q <= 1'b0;
    end else begin
      if (key_valid_i && key_ready_o) mask_q[key_bank_i] <= key_i.mask;
      arriving_q <= ask;
      if (ask) asked_q <= asked_q + 1'b1;
      if (row_valid && row_ready) sent_q <= sent_q + 1'b1;
      if (out_valid && out_ready) given_q <= given_q + 1'b1;
      unique case (state_q)
        Idle: begin
          header_sent_q <= 1'b0;
          asked_q       <= '0;
          sent_q        <= '0;
          given_q       <= '0;
          tag_q         <= '0;
          if (open_valid_i || seal_valid_i) begin
            sealing_q <= seal_valid_i;
            kind_q    <= seal_kind_i;
            state_q   <= Announce;
          end
        end
        Announce:   if (msg_ready) state_q <= sealing_q ? SendHeader : AskHeader;
        AskHeader:  state_q <= TakeHeader;
        TakeHeader: begin
          kind_q      <= open_row_i[103:96];
          header_ok_q <= open_row_i == header_of(ClassRequest, open_row_i[103:96], place_i);
          state_q     <= Beats;
        end
        SendHeader: if (sealed_ready_i) state_q <= Beats;
        Beats: begin
          if (in_valid && in_ready) header_sent_q <= 1'b1;
          if (in_valid && in_ready && in_last) state_q <= Verdict;
        end
        Verdict:
        if (tag_take) begin
          tag_q   <= sealing_q ? verdict.tag : '0;
          state_q <= sealing_q ? SendTag : Idle;
        end
        default:    if (sealed_ready_i) state_q <= Idle;
      endcase
    end
  end

  logic unused;
  assign unused = ^{out_bytes, out_last};

endmodule
