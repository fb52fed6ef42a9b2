// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_stream: AES-GCM over a stream of Lanes blocks a clock, encryption and decryption.
//
// A message is announced (msg_*: key bank, direction, IV, lengths, tag to compare with); its beats
// follow on in_*, messages in order: the IV if it has not 12 bytes, then the AAD, then the data, each
// from a beat of its own on, block 0 first, byte 0 of a block in bits 127:120. A part of no bytes has
// no beat, and an empty message none at all. in_bytes_i is 16 * Lanes except in the last beat of a
// part, where bytes beyond it are not looked at; in_last_i marks the last beat of the message. Of
// data, out_* gives the same beats back, in the clock after; bytes beyond the length are 0. tag_*
// ends each message, in order. Whoever decrypts keeps the data back until the verdict.
// Throughput: a beat every clock, in a message and from one to the next, also of the other bank, if
// the message was announced Nr + 4 clocks before its first beat, its IV has 12 bytes and its key is
// as long as the one before; up to MsgDepth messages are under way. To and fro between key lengths
// costs 0.4 to 1 clock a change (a shorter key waits for the stages above its entry); bypasses there,
// 2 or 4 rounds a lane, would cost none but give every message the longest key's latency.
// Latency: first data beat Nr + 3 clocks after its announcement, out_* 1 clock after in_*, the tag 6
// clocks after the last beat. From the key to the first beat Nr + 2 * ceil(log2(2 * Lanes)) + 1.
// in_ready_o is combinational in out_ready_i, key_ready_o in key_i.bank, msg_ready_o in msg_i.bank
// and the key port.
//
// A key is taken when no message of its bank is under way; while it is offered, no more are let in.
// Messages of a bank that has no key are not taken; one announced with its key is under that key.
// abort_i: for one clock; in the next clock no message, beat or tag is left, one later none of their
// data; keys stay. clear_i: they do not.
// Legal: Lanes 1..16; KeyBanks 1..4; MaxKeyLen, Sbox any. iv_bytes >= 1; data_bytes <= 2^36 - 32. A
// tag of 0 bytes is refused.
// Source: SP 800-38D §7; P0 §4.1. Constant-time: yes, the verdict too. Masked: no.

`include "mae_assert.svh"

module mae_gcm_stream
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter  int unsigned Lanes     = 4,
    parameter  int unsigned KeyBanks  = 2,
    parameter  key_len_e    MaxKeyLen = Aes256,
    parameter  sbox_impl_e  Sbox      = SboxTable,
    parameter  int unsigned MsgDepth  = 32,
    localparam int unsigned ByteWidth = $clog2(16 * Lanes + 1)
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

  localparam gcm_length_t RowBytes = gcm_length_t'(16 * Lanes);
  localparam int unsigned CountWidth = $clog2(Lanes + 1);
  localparam int unsigned HashDepth = 8;

  logic flush;
  assign flush = clear_i || abort_i;

  // ---- Messages under way: for the keystream, for the beats, for the tags.
  typedef struct packed {
    bank_t       bank;
    dir_e        dir;
    gcm_length_t iv_bytes;
    gcm_length_t aad_bytes;
    gcm_length_t data_bytes;
  } beats_t;
  typedef struct packed {
    bank_t      bank;
    dir_e       dir;
    logic       has_beats;
    logic       empty;      // the tag is the mask alone
    logic [4:0] tag_bytes;
    block_t     tag;
  } end_t;

  logic ctr_valid, ctr_ready, ctr_room, beats_valid, beats_ready, beats_room;
  logic end_valid, end_ready, end_room, msg_take, bank_open, key_take;
  gcm_counter_t ctr, ctr_new;
  beats_t beats, beats_new;
  end_t end_msg, end_new;
  logic has_beats, iv_hashed, is_empty;

  logic [KeyBanks-1:0] loaded_q;
  logic [KeyBanks-1:0][$clog2(MsgDepth+1)-1:0] under_way_q;
  logic key_idle;
  always_comb begin
    key_idle = 1'b0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (key_i.bank == bank_t'(b)) key_idle = under_way_q[b] == '0;
    end
  end
  always_comb begin
    bank_open = 1'b0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (msg_i.bank == bank_t'(b)) bank_open = loaded_q[b];
    end
    if (key_valid_i && key_i.bank == msg_i.bank) bank_open = key_take;
  end

  assign iv_hashed = msg_i.iv_bytes != gcm_length_t'(12);
  assign is_empty = msg_i.aad_bytes == '0 && msg_i.data_bytes == '0;
  assign has_beats = iv_hashed || !is_empty;
  assign msg_ready_o = bank_open && ctr_room && beats_room && end_room && !flush;
  assign msg_take = msg_valid_i && msg_ready_o;
  assign ctr_new = '{
          bank: msg_i.bank,
          iv_hashed: iv_hashed,
          iv: msg_i.iv,
          data_bytes: msg_i.data_bytes
      };
  assign beats_new = '{
          bank: msg_i.bank,
          dir: msg_i.dir,
          iv_bytes: iv_hashed ? msg_i.iv_bytes : '0,
          aad_bytes: msg_i.aad_bytes,
          data_bytes: msg_i.data_bytes
      };
  assign end_new = '{
          bank: msg_i.bank,
          dir: msg_i.dir,
          has_beats: has_beats,
          empty: is_empty,
          tag_bytes: msg_i.tag_bytes,
          tag: msg_i.tag
      };

  logic [$clog2(MsgDepth+1)-1:0] unused_count[3];
  mae_fifo #(
      .Width($bits(gcm_counter_t)),
      .Depth(MsgDepth)
  ) u_counters (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (msg_take),
      .in_ready_o (ctr_room),
      .in_data_i  (ctr_new),
      .out_valid_o(ctr_valid),
      .out_ready_i(ctr_ready),
      .out_data_o (ctr),
      .count_o    (unused_count[0])
  );
  mae_fifo #(
      .Width($bits(beats_t)),
      .Depth(MsgDepth)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (msg_take && has_beats),
      .in_ready_o (beats_room),
      .in_data_i  (beats_new),
      .out_valid_o(beats_valid),
      .out_ready_i(beats_ready),
      .out_data_o (beats),
      .count_o    (unused_count[1])
  );
  mae_fifo #(
      .Width($bits(end_t)),
      .Depth(MsgDepth)
  ) u_ends (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (msg_take),
      .in_ready_o (end_room),
      .in_data_i  (end_new),
      .out_valid_o(end_valid),
      .out_ready_i(end_ready),
      .out_data_o (end_msg),
      .count_o    (unused_count[2])
  );

  assign key_take = key_valid_i && key_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q    <= '0;
      under_way_q <= '0;
    end else if (clear_i) begin
      loaded_q    <= '0;
      under_way_q <= '0;
    end else begin
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (key_take && key_i.bank == bank_t'(b)) loaded_q[b] <= 1'b1;
        under_way_q[b] <= under_way_q[b] + $bits(
            under_way_q[b]
        )'(msg_take && msg_i.bank == bank_t'(b)) - $bits(
            under_way_q[b]
        )'(end_valid && end_ready && end_msg.bank == bank_t'(b));
      end
      if (abort_i) under_way_q <= '0;
    end
  end

  // ---- Keystream, masks and H ahead of the beats.
  logic ks_key_ready, h_valid, h_ready, row_valid, row_ready, mask_valid;
  logic j0_valid, hash_valid, hash_user;
  logic [KeyBanks-1:0] h_pending, hash_ready;
  bank_t h_bank;
  block_t h, mask, hash;
  block_t [Lanes-1:0] row;

  assign key_ready_o = ks_key_ready && key_idle && !flush;
  assign j0_valid    = hash_valid && hash_user;
  mae_gcm_keystream #(
      .Lanes    (Lanes),
      .KeyBanks (KeyBanks),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox),
      .MaskDepth(MsgDepth)
  ) u_keystream (
      .clk_i,
      .rst_ni,
      .clear_i,
      .abort_i,
      .key_valid_i (key_valid_i && key_idle && !flush),
      .key_ready_o (ks_key_ready),
      .key_i,
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
      .mask_ready_i(end_valid && end_ready),
      .mask_o      (mask)
  );

  // ---- Beats.
  typedef enum logic [1:0] {
    PartIv,
    PartAad,
    PartData
  } part_e;

  logic open_q, first_q, odd_q;  // a message; its hash has no beat yet; lengths did not agree
  beats_t msg_q;
  part_e part_q;
  gcm_length_t left_q;
  logic iv_busy_q;  // a J0 is on its way, or not used yet
  logic [$clog2(HashDepth+1)-1:0] hashes_q;  // on their way, or not used yet

  logic take, is_data, part_last, msg_last, bank_ready, hash_used;
  logic [ByteWidth-1:0] bytes;
  logic odd;
  assign is_data   = part_q == PartData;
  assign part_last = left_q <= RowBytes;
  assign bytes     = part_last ? ByteWidth'(left_q) : ByteWidth'(RowBytes);
  assign odd       = in_bytes_i != bytes || in_last_i != msg_last;
  always_comb begin
    case (part_q)
      PartIv:  msg_last = part_last && msg_q.aad_bytes == '0 && msg_q.data_bytes == '0;
      PartAad: msg_last = part_last && msg_q.data_bytes == '0;
      default: msg_last = part_last;
    endcase
    bank_ready = 1'b0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (msg_q.bank == bank_t'(b)) bank_ready = hash_ready[b] && !h_pending[b];
    end
  end
  assign in_ready_o = open_q && bank_ready && !flush && (part_q != PartIv || !iv_busy_q) &&
      (!msg_last || 32'(hashes_q) != HashDepth) &&
      (!is_data || (row_valid && (!out_valid_o || out_ready_i)));
  assign take = in_valid_i && in_ready_o;
  assign row_ready = take && is_data;
  assign beats_ready = !open_q || (take && msg_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, first_q, odd_q, iv_busy_q} <= '0;
      msg_q    <= '0;
      part_q   <= PartIv;
      left_q   <= '0;
      hashes_q <= '0;
    end else if (flush) begin
      {open_q, first_q, odd_q, iv_busy_q} <= '0;
      msg_q    <= '0;
      part_q   <= PartIv;
      left_q   <= '0;
      hashes_q <= '0;
    end else begin
      if (take) begin
        first_q <= part_last && part_q == PartIv;
        odd_q   <= odd_q || odd;
        left_q  <= left_q - RowBytes;
        if (part_last) begin
          if (part_q == PartIv && msg_q.aad_bytes != '0) begin
            part_q <= PartAad;
            left_q <= msg_q.aad_bytes;
          end else begin
            part_q <= PartData;
            left_q <= msg_q.data_bytes;
          end
        end
      end
      if (beats_ready) begin
        open_q  <= beats_valid;
        first_q <= 1'b1;
        odd_q   <= 1'b0;
        if (beats_valid) begin
          msg_q <= beats;
          if (beats.iv_bytes != '0) begin
            part_q <= PartIv;
            left_q <= beats.iv_bytes;
          end else if (beats.aad_bytes != '0) begin
            part_q <= PartAad;
            left_q <= beats.aad_bytes;
          end else begin
            part_q <= PartData;
            left_q <= beats.data_bytes;
          end
        end
      end
      if (ctr_valid && ctr_ready && ctr.iv_hashed) iv_busy_q <= 1'b0;
      if (take && part_q == PartIv && part_last) iv_busy_q <= 1'b1;
      hashes_q <= hashes_q + $bits(hashes_q)'(take && msg_last) - $bits(hashes_q)'(hash_used);
    end
  end

  // Bytes beyond the length are 0, to the hash and at the output.
  block_t [Lanes-1:0] keep, text, result;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      for (int unsigned k = 0; k < 16; k++) begin
        keep[i][127-8*k-:8] = {8{16 * i + k < 32'(bytes)}};
      end
    end
    text   = in_data_i & keep;
    result = (in_data_i ^ row) & keep;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_o <= 1'b0;
      out_data_o  <= '0;
      out_bytes_o <= '0;
      out_last_o  <= 1'b0;
    end else if (flush) begin
      out_valid_o <= 1'b0;
      out_data_o  <= '0;
      out_bytes_o <= '0;
      out_last_o  <= 1'b0;
    end else if (take && is_data) begin
      out_valid_o <= 1'b1;
      out_data_o  <= result;
      out_bytes_o <= bytes;
      out_last_o  <= msg_last;
    end else if (out_ready_i) begin
      out_valid_o <= 1'b0;
    end
  end

  // ---- The hash, one clock behind the beat.
  typedef struct packed {
    bank_t                 bank;
    logic [CountWidth-1:0] blocks;
    logic                  first;
    logic                  last;
    logic                  is_iv;
    block_t                length;
    block_t [Lanes-1:0]    data;
  } hash_beat_t;
  logic             hash_beat_valid_q;
  hash_beat_t       hash_beat_q;
  logic       [4:0] odd_line_q;  // these go along with the hash
  logic       [4:0] last_line_q;

  block_t           length;  // in bits
  assign length = (part_q == PartIv) ? {64'd0, 64'(msg_q.iv_bytes)} << 3 :
      {64'(msg_q.aad_bytes) << 3, 64'(msg_q.data_bytes) << 3};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hash_beat_valid_q <= 1'b0;
      hash_beat_q       <= '0;
      odd_line_q        <= '0;
      last_line_q       <= '0;
    end else if (flush) begin
      hash_beat_valid_q <= 1'b0;
      hash_beat_q       <= '0;
      odd_line_q        <= '0;
      last_line_q       <= '0;
    end else begin
      hash_beat_valid_q <= take;
      hash_beat_q       <= '0;
      if (take) begin
        hash_beat_q <= '{
            bank: msg_q.bank,
            blocks: CountWidth'((32'(bytes) + 15) / 16),
            first: first_q,
            last: msg_last || (part_last && part_q == PartIv),
            is_iv: part_q == PartIv,
            length: length,
            data: (is_data && msg_q.dir == Encrypt) ? result : text
        };
      end
      odd_line_q  <= {odd_line_q[3:0], odd_q || odd};
      last_line_q <= {last_line_q[3:0], msg_last};
    end
  end

  mae_ghash #(
      .Lanes   (Lanes),
      .KeyBanks(KeyBanks)
  ) u_hash (
      .clk_i,
      .rst_ni,
      .clear_i,
      .abort_i,
      .h_valid_i    (h_valid),
      .h_ready_o    (h_ready),
      .h_bank_i     (h_bank),
      .h_i          (h),
      .ready_o      (hash_ready),
      .beat_valid_i (hash_beat_valid_q),
      .beat_bank_i  (hash_beat_q.bank),
      .beat_data_i  (hash_beat_q.data),
      .beat_blocks_i(hash_beat_q.blocks),
      .beat_first_i (hash_beat_q.first),
      .beat_last_i  (hash_beat_q.last),
      .beat_length_i(hash_beat_q.length),
      .beat_user_i  (hash_beat_q.is_iv),
      .hash_valid_o (hash_valid),
      .hash_user_o  (hash_user),
      .hash_o       (hash)
  );

  // ---- Tags: the hash of a message that has beats, and its mask. Of one that has but an IV, all
  // that counts is whether its beats agreed.
  logic tag_hash_valid, tag_hash_odd, tag_hash_new, unused_hash_ready;
  block_t tag_hash;
  logic [$clog2(HashDepth+1)-1:0] unused_hash_count;
  assign tag_hash_new = hash_valid && last_line_q[4];
  mae_fifo #(
      .Width(129),
      .Depth(HashDepth)
  ) u_hashes (
      .clk_i,
      .rst_ni,
      .clear_i    (flush),
      .in_valid_i (tag_hash_new),
      .in_ready_o (unused_hash_ready),
      .in_data_i  ({odd_line_q[4], hash}),
      .out_valid_o(tag_hash_valid),
      .out_ready_i(hash_used),
      .out_data_o ({tag_hash_odd, tag_hash}),
      .count_o    (unused_hash_count)
  );

  block_t full_tag, tag_keep;
  always_comb begin
    full_tag = end_msg.empty ? mask : mask ^ tag_hash;
    for (int unsigned k = 0; k < 16; k++) begin
      tag_keep[127-8*k-:8] = {8{k < 32'(end_msg.tag_bytes)}};
    end
    tag_o    = '0;
    tag_o.ok = !end_msg.has_beats || !tag_hash_odd;
    if (end_msg.dir == Encrypt) tag_o.tag = full_tag;
    else if (end_msg.tag_bytes == '0 || ((full_tag ^ end_msg.tag) & tag_keep) != '0) begin
      tag_o.ok = 1'b0;
    end
    if (!tag_valid_o) tag_o = '0;
  end
  assign tag_valid_o = end_valid && mask_valid && (!end_msg.has_beats || tag_hash_valid);
  assign end_ready   = tag_valid_o && tag_ready_i;
  assign hash_used   = end_ready && end_msg.has_beats;

  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || flush, {out_data_o, out_bytes_o,
                                                                  out_last_o})
  `MAE_STREAM_HOLDS(TagHolds, tag_valid_o, tag_ready_i || flush, tag_o)
  `MAE_ASSERT(HashHasPlace, !tag_hash_new || unused_hash_ready)
  `MAE_ASSERT(SomeIv, !msg_valid_i || msg_i.iv_bytes != '0)
  `MAE_ASSERT(BankExists, !msg_valid_i || 32'(msg_i.bank) < KeyBanks)
  `MAE_ASSERT(DataLength, !msg_valid_i || msg_i.data_bytes <= 36'hf_ffff_ffe0)

endmodule
