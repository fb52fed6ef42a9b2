// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_stream: encrypts and decrypts AES-GCM messages at Lanes blocks a clock.
//
// A message is announced at msg_* (key bank, direction, IV, lengths, expected tag). Its beats
// follow at in_*, messages in order: an IV whose length is not 12 bytes, the AAD, the data. Each
// part begins in a new beat, block 0 first, byte 0 of a block in bits 127:120. An empty part has no
// beat. in_bytes_i is 16 * Lanes except in the last beat of a part, in which bytes beyond it are
// ignored; in_last_i marks the last beat of the message. The data beats are output at out_* with
// zeros beyond the length. tag_* ends each message, in order, whether or not the last beat at out_*
// (Deep, OneMul: last two) was accepted. When decrypting, do not use the data before the verdict.
//
// A key is accepted when no message of its bank is in progress; while it is offered, no further
// message of the bank is accepted. Messages of a bank without a key are not accepted; a message
// announced together with its key uses that key. in_ready_o is combinational in out_ready_i,
// key_ready_o in key_i.bank, msg_ready_o in msg_i.bank and the key port. With Deep or OneMul such a
// message is accepted in a later clock, key_ready_o and in_ready_o depend on registers, abort_i and
// clear_i only, msg_ready_o on these, msg_i.bank and the key port.
// Latency (Nr stands for Nr * RegsPerRound), Deep = 0: out_* 1 clock after in_*; the tag 6 clocks
// after the last beat, of a message without data not before its mask, Nr + 4 clocks after the
// announcement; the first data beat is accepted Nr + 3 clocks after it; from the key to the first
// beat Nr + 2 * ceil(log2(2 * Lanes)) + 1 clocks. Deep = 1: out_* 2 clocks after in_*; the tag 13
// clocks after the last beat, of a message without data not before Nr + 7 clocks after the
// announcement; the first beat is accepted without a wait Nr + 5 clocks after it; from the key to
// the first beat Nr + 22 clocks for 4 lanes.
// Throughput: one beat a clock, also from one message to the next and between banks, if the message
// was announced Nr + 4 clocks before its first beat, its IV has 12 bytes and its key is as long as
// the previous one. A change of key length costs 0.4 to 1 clock: a shorter key waits for the stages
// above its entry. Deep = 1 needs MsgDepth >= Nr + 25 for short messages.
// Reset and clear: abort_i (one clock) removes all messages, beats and tags by the next clock and
// their data one clock later (OneMul: 6), except lengths, and keeps the keys. clear_i and reset
// also erase the keys. Deep: data, and what blocks in the pipelines hold of a key, leave Nr *
// RegsPerRound + 2 clocks later. Small: within twice the depth of the deepest FIFO, which is
// MsgDepth or, for the longest key, Nr * RegsPerRound + 6; after a reset counted from its end.
// Parameters: MsgDepth is the number of messages in progress; OneKeyLen = 1: all keys have
// MaxKeyLen. Deep = 1, for a high clock, registers the ports and the outputs of the FIFOs and uses
// mae_ghash_pipelined. Small = 1 is for the fewest LUTs, with one key: tag masks and H go through
// the pipelines of the rows, so a message costs one clock more, and its first beat comes one later;
// half the MsgDepth suffices. FIFOs are memories, pipelines have no clear (Flush), and GHASH
// computes the powers of H one by one: from the key to the first beat at most Nr + 4 * Lanes + 1
// clocks. RomSboxes = 1 places the S-boxes of the rounds in block RAMs, with the same clocks, one
// more if RegsPerRound = 2; Sbox is then that of the key expansion. OneMul = 1 is for one lane:
// GHASH has one multiplier for two (mae_ghash_one_multiplier), a message's last beat takes two
// clocks, and ports have registers. out_* comes 1 clock later, a message's first beat 1, the tag 5,
// the first beat after a key 7. Legal: Lanes 1..16; KeyBanks 1..4; MaxKeyLen any of key_len_e;
// OneKeyLen, Deep 0 or 1; Sbox any of sbox_impl_e; RegsPerRound 1..3; Small 0, or 1 with KeyBanks =
// 1, Deep = 0, MsgDepth >= 2; RomSboxes 0, or 1 with Small = 1 and RegsPerRound 1 or 2; OneMul 0,
// or 1 with Small = 1, Lanes = 1; iv_bytes >= 1; data_bytes <= 2^36 - 32. A 0-byte tag is refused.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7; Ghosh et al., section 4.1.

`include "mae_assert.svh"

module mae_gcm_stream
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter  int unsigned Lanes        = 4,
    parameter  int unsigned KeyBanks     = 2,
    parameter  key_len_e    MaxKeyLen    = Aes256,
    parameter  bit          OneKeyLen    = 1'b0,
    parameter  sbox_impl_e  Sbox         = SboxTable,
    parameter  int unsigned RegsPerRound = 1,
    parameter  bit          Deep         = 1'b0,
    parameter  bit          Small        = 1'b0,
    parameter  bit          RomSboxes    = 1'b0,
    parameter  bit          OneMul       = 1'b0,
    parameter  int unsigned MsgDepth     = 32,
    localparam int unsigned ByteWidth    = $clog2(16 * Lanes + 1)
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         clear_i,
    input  logic                         abort_i,
    input  logic                         key_valid_i,
    output logic                         key_ready_o,
    input  cipher_key_t                  key_i,
    input  logic                         msg_valid_i,
    output logic                         msg_ready_o,
    input  gcm_msg_t                     msg_i,
    input  logic                         in_valid_i,
    output logic                         in_ready_o,
    input  block_t       [    Lanes-1:0] in_data_i,
    input  logic         [ByteWidth-1:0] in_bytes_i,
    input  logic                         in_last_i,
    output logic                         out_valid_o,
    input  logic                         out_ready_i,
    output block_t       [    Lanes-1:0] out_data_o,
    output logic         [ByteWidth-1:0] out_bytes_o,
    output logic                         out_last_o,
    output logic                         tag_valid_o,
    input  logic                         tag_ready_i,
    output gcm_verdict_t                 tag_o
);

  localparam int unsigned CountWidth = $clog2(Lanes + 1);
  localparam bit LongHash = Deep || OneMul, PortRegs = LongHash;
  localparam int unsigned HashDepth = LongHash ? 16 : 8;
  localparam int unsigned HashClocks = LongHash ? 8 : 4;  // from a message's last beat to its hash
  `MAE_PARAM(OneMulLegal, !OneMul || (Small && Lanes == 1))
  // Deep: an abort or a clear takes effect one clock later; nothing passes in either clock.
  logic clear, abort, flush, stop;
  if (Deep) begin : gen_flush_reg
    logic clear_q, abort_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {clear_q, abort_q} <= '0;
      else {clear_q, abort_q} <= {clear_i, abort_i};
    end
    assign {clear, abort} = {clear_q, abort_q};
    assign stop           = clear_i || abort_i || flush;
  end else begin : gen_flush_wires
    assign {clear, abort} = {clear_i, abort_i};
    assign stop           = flush;
  end
  assign flush = clear || abort;

  // ---- Keys, and messages in progress: for the keystream, for the beats, for the tags.
  logic key_valid, key_ready, ctr_valid, ctr_ready, beats_valid, beats_ready;
  logic end_valid, end_room, done;
  cipher_key_t key;
  gcm_counter_t ctr;
  gcm_parts_t beats;
  gcm_end_t end_new;
  bank_t done_bank;
  mae_gcm_msg_dispatch #(
      .Lanes   (Lanes),
      .KeyBanks(KeyBanks),
      .MsgDepth(MsgDepth),
      .Cut     (PortRegs),
      .Small   (Small)
  ) u_announce (
      .clk_i,
      .rst_ni,
      .clear_i      (clear),
      .flush_i      (flush),
      .stop_i       (stop),
      .key_valid_i,
      .key_ready_o,
      .key_i,
      .key_valid_o  (key_valid),
      .key_ready_i  (key_ready),
      .key_o        (key),
      .msg_valid_i,
      .msg_ready_o,
      .msg_i,
      .ctr_valid_o  (ctr_valid),
      .ctr_ready_i  (ctr_ready),
      .ctr_o        (ctr),
      .parts_valid_o(beats_valid),
      .parts_ready_i(beats_ready),
      .parts_o      (beats),
      .end_valid_o  (end_valid),
      .end_ready_i  (end_room),
      .end_o        (end_new),
      .done_i       (done),
      .done_bank_i  (done_bank)
  );

  // ---- Keystream, masks and H, ahead of the beats.
  logic h_valid, h_ready, row_valid, row_ready, mask_valid, mask_ready;
  logic j0_valid, hash_valid, hash_user;
  logic [KeyBanks-1:0] h_pending, hash_ready, banks_ready;
  bank_t h_bank;
  block_t h, mask, hash;
  block_t [Lanes-1:0] row;
  assign j0_valid = hash_valid && hash_user;
  mae_gcm_keystream #(
      .Lanes       (Lanes),
      .KeyBanks    (KeyBanks),
      .MaxKeyLen   (MaxKeyLen),
      .OneKeyLen   (OneKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .Deep        (Deep),
      .Small       (Small),
      .RomSboxes   (RomSboxes),
      .MaskDepth   (MsgDepth)
  ) u_keystream (
      .clk_i,
      .rst_ni,
      .clear_i     (clear),
      .abort_i     (abort),
      .key_valid_i (key_valid),
      .key_ready_o (key_ready),
      .key_i       (key),
      .h_valid_o   (h_valid),
      .h_ready_i   (h_ready),
      .h_bank_o    (h_bank),
      .h_o         (h),
      .h_pending_o (h_pending),
      .msg_valid_i (ctr_valid),
      .msg_ready_o (ctr_ready),
      .msg_i       (ctr),
      .j0_valid_i  (j0_valid),
      .j0_i        (hash),
      .row_valid_o (row_valid),
      .row_ready_i (row_ready),
      .row_o       (row),
      .mask_valid_o(mask_valid),
      .mask_ready_i(mask_ready),
      .mask_o      (mask)
  );

  if (Deep) begin : gen_ready_reg  // no beat comes in the clock after its key
    logic [KeyBanks-1:0] ready_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) ready_q <= '0;
      else ready_q <= hash_ready & ~h_pending;
    end
    assign banks_ready = ready_q;
  end else begin : gen_ready_wires
    assign banks_ready = hash_ready & ~h_pending;
  end

  // ---- Beats.
  logic in_valid, in_ready, in_room, in_last, take, row_out_ready;
  block_t [Lanes-1:0] in_data;
  logic [ByteWidth-1:0] in_bytes;
  mae_stream_reg_opt #(
      .Width(128 * Lanes + ByteWidth + 1),
      .Cut  (PortRegs)
  ) u_in_cut (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (in_valid_i && !stop),
      .in_ready_o (in_room),
      .in_data_i  ({in_data_i, in_bytes_i, in_last_i}),
      .out_valid_o(in_valid),
      .out_ready_i(in_ready),
      .out_data_o ({in_data, in_bytes, in_last})
  );
  assign in_ready_o = in_room && !stop;

  logic open, is_iv, is_data, first, part_last, msg_last, bank_ready, hash_used, odd;
  bank_t bank;
  dir_e dir;
  logic [ByteWidth-1:0] bytes;
  logic [16*Lanes-1:0] kept;
  block_t length;  // in bits
  mae_gcm_part_sequencer #(
      .Lanes(Lanes),
      .Cut  (OneMul)
  ) u_parts (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .msg_valid_i(beats_valid),
      .msg_ready_o(beats_ready),
      .msg_i      (beats),
      .take_i     (take),
      .open_o     (open),
      .bank_o     (bank),
      .dir_o      (dir),
      .is_iv_o    (is_iv),
      .is_data_o  (is_data),
      .first_o    (first),
      .part_last_o(part_last),
      .msg_last_o (msg_last),
      .bytes_o    (bytes),
      .keep_o     (kept),
      .length_o   (length)
  );

  logic odd_q;  // the lengths disagreed
  logic iv_busy_q;  // a J0 is being computed, or has not been used
  logic gap_q;  // OneMul: the clock after the last beat of a hash
  logic [$clog2(HashDepth+1)-1:0] hashes_q;  // hashes being computed, or not used yet
  assign odd = in_bytes != bytes || in_last != msg_last;
  always_comb begin
    bank_ready = 1'b0;
    for (int unsigned b = 0; b < KeyBanks; b++) if (bank == bank_t'(b)) bank_ready = banks_ready[b];
  end
  // Independent of flush, because flush empties the destination of a beat.
  assign in_ready = open && bank_ready && (!is_iv || !iv_busy_q) && !(OneMul && gap_q) &&
      (!msg_last || 32'(hashes_q) != HashDepth) && (!is_data || (row_valid && row_out_ready));
  assign take = in_valid && in_ready;
  assign row_ready = take && is_data;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {odd_q, iv_busy_q, gap_q} <= '0;
      hashes_q                  <= '0;
    end else if (flush) begin
      {odd_q, iv_busy_q, gap_q} <= '0;
      hashes_q                  <= '0;
    end else begin
      if (take) odd_q <= !msg_last && (odd_q || odd);
      if (ctr_valid && ctr_ready && ctr.iv_hashed) iv_busy_q <= 1'b0;
      if (take && is_iv && part_last) iv_busy_q <= 1'b1;
      gap_q <= take && (msg_last || (part_last && is_iv));
      hashes_q <= hashes_q + $bits(hashes_q)'(take && msg_last) - $bits(hashes_q)'(hash_used);
    end
  end

  // Bytes beyond the length are 0, for the hash and at the output.
  block_t [Lanes-1:0] keep, text, result;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      for (int unsigned k = 0; k < 16; k++) keep[i][127-8*k-:8] = {8{kept[16*i+k]}};
    end
    text   = in_data & keep;
    result = (in_data ^ row) & keep;
  end
  logic out_valid;
  if (PortRegs) begin : gen_out_reg
    mae_stream_reg #(
        .Width(128 * Lanes + ByteWidth + 1)
    ) u_out (
        .clk_i,
        .rst_ni,
        .clear_i    (flush),
        .in_valid_i (row_ready),
        .in_ready_o (row_out_ready),
        .in_data_i  ({result, bytes, msg_last}),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready_i && !(Deep && flush)),
        .out_data_o ({out_data_o, out_bytes_o, out_last_o})
    );
    assign out_valid_o = out_valid && !(Deep && flush);
  end else begin : gen_out
    assign row_out_ready = !out_valid || out_ready_i;
    assign out_valid_o   = out_valid;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        out_valid                             <= 1'b0;
        {out_data_o, out_bytes_o, out_last_o} <= '0;
      end else if (flush) begin
        out_valid                             <= 1'b0;
        {out_data_o, out_bytes_o, out_last_o} <= '0;
      end else if (row_ready) begin
        out_valid                             <= 1'b1;
        {out_data_o, out_bytes_o, out_last_o} <= {result, bytes, msg_last};
      end else if (out_ready_i) begin
        out_valid <= 1'b0;
      end
    end
  end

  // ---- The hash, one clock after the beat.
  typedef struct packed {
    bank_t                 bank;
    logic [CountWidth-1:0] blocks;
    logic                  first;
    logic                  last;
    logic                  is_iv;
    block_t                length;
  } hash_beat_t;
  logic                      hash_beat_valid_q;
  hash_beat_t                hash_beat_q;
  block_t     [   Lanes-1:0] hash_data_q;
  logic       [HashClocks:0] odd_line_q;  // delayed like the hash
  logic       [HashClocks:0] last_line_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hash_beat_valid_q <= 1'b0;
      hash_beat_q       <= '0;
      hash_data_q       <= '0;
      odd_line_q        <= '0;
      last_line_q       <= '0;
    end else if (flush) begin
      hash_beat_valid_q <= 1'b0;
      hash_beat_q       <= '0;
      hash_data_q       <= '0;
      odd_line_q        <= '0;
      last_line_q       <= '0;
    end else begin
      hash_beat_valid_q <= take;
      hash_beat_q       <= '0;
      hash_data_q       <= '0;
      if (take) begin
        hash_beat_q <= '{
            bank: bank,
            blocks: CountWidth'((32'(bytes) + 15) / 16),
            first: first,
            last: msg_last || (part_last && is_iv),
            is_iv: is_iv,
            length: length
        };
        hash_data_q <= (is_data && dir == Encrypt) ? result : text;
      end
      odd_line_q  <= {odd_line_q[HashClocks-1:0], odd_q || odd};
      last_line_q <= {last_line_q[HashClocks-1:0], msg_last};
    end
  end

  if (Deep) begin : gen_hash_deep
    mae_ghash_pipelined #(
        .Lanes   (Lanes),
        .KeyBanks(KeyBanks)
    ) u_hash (
        .clk_i,
        .rst_ni,
        .clear_i      (clear),
        .abort_i      (abort),
        .h_valid_i    (h_valid),
        .h_ready_o    (h_ready),
        .h_bank_i     (h_bank),
        .h_i          (h),
        .ready_o      (hash_ready),
        .beat_valid_i (hash_beat_valid_q),
        .beat_bank_i  (hash_beat_q.bank),
        .beat_data_i  (hash_data_q),
        .beat_blocks_i(hash_beat_q.blocks),
        .beat_first_i (hash_beat_q.first),
        .beat_last_i  (hash_beat_q.last),
        .beat_length_i(hash_beat_q.length),
        .beat_user_i  (hash_beat_q.is_iv),
        .hash_valid_o (hash_valid),
        .hash_user_o  (hash_user),
        .hash_o       (hash)
    );
  end else if (OneMul) begin : gen_hash_one
    mae_ghash_one_multiplier u_hash (
        .clk_i,
        .rst_ni,
        .clear_i      (clear),
        .abort_i      (abort),
        .h_valid_i    (h_valid),
        .h_ready_o    (h_ready),
        .h_bank_i     (h_bank),
        .h_i          (h),
        .ready_o      (hash_ready),
        .beat_valid_i (hash_beat_valid_q),
        .beat_bank_i  (hash_beat_q.bank),
        .beat_data_i  (hash_data_q),
        .beat_blocks_i(hash_beat_q.blocks),
        .beat_first_i (hash_beat_q.first),
        .beat_last_i  (hash_beat_q.last),
        .beat_length_i(hash_beat_q.length),
        .beat_user_i  (hash_beat_q.is_iv),
        .hash_valid_o (hash_valid),
        .hash_user_o  (hash_user),
        .hash_o       (hash)
    );
  end else begin : gen_hash
    mae_ghash #(
        .Lanes   (Lanes),
        .KeyBanks(KeyBanks),
        .Small   (Small)
    ) u_hash (
        .clk_i,
        .rst_ni,
        .clear_i      (clear),
        .abort_i      (abort),
        .h_valid_i    (h_valid),
        .h_ready_o    (h_ready),
        .h_bank_i     (h_bank),
        .h_i          (h),
        .ready_o      (hash_ready),
        .beat_valid_i (hash_beat_valid_q),
        .beat_bank_i  (hash_beat_q.bank),
        .beat_data_i  (hash_data_q),
        .beat_blocks_i(hash_beat_q.blocks),
        .beat_first_i (hash_beat_q.first),
        .beat_last_i  (hash_beat_q.last),
        .beat_length_i(hash_beat_q.length),
        .beat_user_i  (hash_beat_q.is_iv),
        .hash_valid_o (hash_valid),
        .hash_user_o  (hash_user),
        .hash_o       (hash)
    );
  end

  // ---- Tags.
  logic tag_valid;
  mae_gcm_tag_unit #(
      .MsgDepth (MsgDepth),
      .HashDepth(HashDepth),
      .Cut      (Deep),
      .Small    (Small)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .clear_i     (flush),
      .msg_valid_i (end_valid),
      .msg_ready_o (end_room),
      .msg_i       (end_new),
      .hash_valid_i(hash_valid && last_line_q[HashClocks]),
      .hash_odd_i  (odd_line_q[HashClocks]),
      .hash_i      (hash),
      .hash_used_o (hash_used),
      .mask_valid_i(mask_valid),
      .mask_ready_o(mask_ready),
      .mask_i      (mask),
      .done_o      (done),
      .done_bank_o (done_bank),
      .tag_valid_o (tag_valid),
      .tag_ready_i (tag_ready_i && !(Deep && flush)),
      .tag_o       (tag_o)
  );
  assign tag_valid_o = tag_valid && !(Deep && flush);

  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || stop, {
                    out_data_o, out_bytes_o, out_last_o})
  `MAE_STREAM_HOLDS(TagHolds, tag_valid_o, tag_ready_i || stop, tag_o)
  `MAE_ASSERT(SomeIv, !msg_valid_i || msg_i.iv_bytes != '0)
  `MAE_ASSERT(BankExists, !msg_valid_i || 32'(msg_i.bank) < KeyBanks)
  `MAE_ASSERT(DataLength, !msg_valid_i || msg_i.data_bytes <= 36'hf_ffff_ffe0)

endmodule
