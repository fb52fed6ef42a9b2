// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_iter: encrypts and decrypts AES-GCM messages in a small area: one message at a time, block
// by block, with an iterative cipher and a digit-serial multiplier.
//
// Ports: as mae_gcm_stream with one lane; IVs have 12 bytes, and all keys KeyLen. The keys wait in a
// table of KeyBanks; each message computes H anew. A key is accepted in any clock but while a message
// of its bank is in progress; a message may be announced in the clock of its key.
// msg_ready_o is combinational in msg_i.bank, key_ready_o in key_i.bank, in_ready_o in out_ready_i,
// all three in clear_i and abort_i.
// Latency: the first data beat is accepted 3 * Nr + 4 clocks after the announcement, its output
// comes a clock later; the tag 18 clocks after the last beat.
// Throughput: one beat in Nr + 2 clocks, of AAD in 9.
// Reset and clear: abort_i, clear_i and the verdict erase what belongs to the message by the next
// clock, clear_i also the keys; reset erases all after the first clock in it in which no key is
// offered.
// Parameters: Legal: KeyBanks 1..4; KeyLen Aes128 or Aes256; Sbox any of sbox_impl_e. A tag of 0 bytes
// is refused.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7.

`include "mae_assert.svh"

module mae_gcm_iter
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned KeyBanks = 1,
    parameter key_len_e KeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxBoolean
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               clear_i,
    input  logic               abort_i,
    input  logic               key_valid_i,
    output logic               key_ready_o,
    input  cipher_key_t        key_i,
    input  logic               msg_valid_i,
    output logic               msg_ready_o,
    input  gcm_msg_t           msg_i,
    input  logic               in_valid_i,
    output logic               in_ready_o,
    input  block_t             in_data_i,
    input  logic         [4:0] in_bytes_i,
    input  logic               in_last_i,
    output logic               out_valid_o,
    input  logic               out_ready_i,
    output block_t             out_data_o,
    output logic         [4:0] out_bytes_o,
    output logic               out_last_o,
    output logic               tag_valid_o,
    input  logic               tag_ready_i,
    output gcm_verdict_t       tag_o
);
  `MAE_PARAM(KeyBanksLegal, KeyBanks >= 1 && KeyBanks <= 4)

  typedef enum logic [2:0] {
    Idle,
    MakeH,     // E(0)
    MakeMask,  // E(J0)
    Beats,
    Lengths,   // into the hash
    Tag,       // waits for the hash
    Verdict
  } state_e;

  state_e state_q;
  logic flush, forget, finish;
  gcm_msg_t msg_q;
  assign flush  = clear_i || abort_i;
  assign finish = tag_valid_o && tag_ready_i;
  assign forget = flush || finish;

  // ---- Keys.
  key_t [KeyBanks-1:0] table_q;
  key_t key;
  logic [KeyBanks-1:0] known_q;
  logic known;

  always_comb begin
    known = 1'b0;
    key   = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (msg_i.bank == bank_t'(b)) known = known_q[b];
      if (msg_q.bank == bank_t'(b)) key = table_q[b];
    end
  end
  assign key_ready_o = !flush && (state_q == Idle || key_i.bank != msg_q.bank);
  assign msg_ready_o = !flush && state_q == Idle && known;

  for (genvar b = 0; b < KeyBanks; b++) begin : gen_bank
    logic take_key;
    assign take_key = key_valid_i && key_ready_o && key_i.bank == bank_t'(b);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) known_q[b] <= 1'b0;
      else if (clear_i) known_q[b] <= 1'b0;
      else if (take_key) known_q[b] <= 1'b1;
    end
    always_ff @(posedge clk_i) begin
      if (clear_i || !(known_q[b] || take_key)) table_q[b] <= '0;
      else if (take_key) table_q[b] <= key_i.key;
    end
  end

  // ---- Blocks of the cipher: H, the tag mask, then keystream, a block ahead of its beat.
  logic asked_q, stream_valid_q, ask, ask_ready, answered;
  logic [31:0] count_q;
  block_t h_q, mask_q, stream_q, answer;
  gcm_length_t aad_left_q, data_left_q;

  assign ask = !asked_q && (state_q inside {MakeH, MakeMask} ||
                            (state_q == Beats && data_left_q != '0 && !stream_valid_q));

  mae_cipher_per_block_key #(
      .KeyLen(KeyLen),
      .Sbox  (Sbox)
  ) u_cipher (
      .clk_i,
      .rst_ni,
      .clear_i(forget),
      .valid_i(ask),
      .ready_o(ask_ready),
      .key_i  (key),
      .block_i((state_q == MakeH) ? '0 : {msg_q.iv, count_q}),
      .valid_o(answered),
      .block_o(answer)
  );

  // ---- The beat at the port. odd: the beats do not have the announced lengths.
  logic is_aad, part_last, msg_last, take, odd_q;
  gcm_length_t left;
  logic [4:0] bytes;
  block_t keep, text, crypted, hashed;

  assign is_aad    = aad_left_q != '0;
  assign left      = is_aad ? aad_left_q : data_left_q;
  assign part_last = left <= gcm_length_t'(16);
  assign msg_last  = part_last && (!is_aad || data_left_q == '0);
  assign bytes     = part_last ? left[4:0] : 5'd16;
  assign take      = in_valid_i && in_ready_o;
  always_comb for (int unsigned i = 0; i < 16; i++) keep[127-8*i-:8] = {8{i < 32'(bytes)}};
  assign text    = in_data_i & keep;
  assign crypted = (in_data_i ^ stream_q) & keep;
  assign hashed  = (is_aad || msg_q.dir == Decrypt) ? text : crypted;

  // ---- The hash.
  logic hashing_q, hash, hash_done;
  block_t sum_q, word, product;

  assign hash = take || (state_q == Lengths && !hashing_q && !flush);
  assign word = (state_q == Lengths) ?
      {25'd0, msg_q.aad_bytes, 3'd0, 25'd0, msg_q.data_bytes, 3'd0} : hashed;
  assign in_ready_o = state_q == Beats && left != '0 && !hashing_q && !flush &&
      (is_aad || (stream_valid_q && (!out_valid_o || out_ready_i)));

  mae_gf128_mul_digit_serial #(
      .Digit(16)
  ) u_hash (
      .clk_i,
      .rst_ni,
      .clear_i  (forget),
      .valid_i  (hash),
      .a_i      (sum_q ^ word),
      .b_i      (h_q),
      .valid_o  (hash_done),
      .product_o(product)
  );

  // ---- The verdict.
  block_t full_tag, tag_keep;
  gcm_verdict_t verdict, verdict_q;
  assign full_tag = product ^ mask_q;
  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      tag_keep[127-8*i-:8] = {8{i < 32'(msg_q.tag_bytes)}};
    end
    verdict = '{ok: !odd_q, tag: '0};
    if (msg_q.dir == Encrypt) verdict.tag = full_tag;
    else if (msg_q.tag_bytes == '0 || ((full_tag ^ msg_q.tag) & tag_keep) != '0) begin
      verdict.ok = 1'b0;
    end
  end
  assign tag_valid_o = state_q == Verdict;
  assign tag_o       = verdict_q;

  logic announced;
  assign announced = msg_valid_i && msg_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q                                     <= Idle;
      {asked_q, stream_valid_q, hashing_q, odd_q} <= '0;
    end else if (forget) begin
      state_q                                     <= Idle;
      {asked_q, stream_valid_q, hashing_q, odd_q} <= '0;
    end else begin
      if (ask && ask_ready) asked_q <= 1'b1;
      else if (answered) asked_q <= 1'b0;
      if (hash) hashing_q <= 1'b1;
      else if (hash_done) hashing_q <= 1'b0;
      if (take) odd_q <= odd_q || in_bytes_i != bytes || in_last_i != msg_last;
      if (take && !is_aad) stream_valid_q <= 1'b0;
      else if (answered && state_q == Beats) stream_valid_q <= 1'b1;
      unique case (state_q)
        Idle: if (announced) state_q <= MakeH;
        MakeH: if (answered) state_q <= MakeMask;
        MakeMask:
        if (answered) state_q <= (aad_left_q == '0 && data_left_q == '0) ? Lengths : Beats;
        Beats: if (take && msg_last) state_q <= Lengths;
        Lengths: if (hash) state_q <= Tag;
        Tag: if (hash_done) state_q <= Verdict;
        default: ;
      endcase
    end
  end

  // What belongs to the message is erased by synchronous resets, which cost no LUT.
  always_ff @(posedge clk_i) begin
    if (forget || (state_q == Idle && !announced)) begin
      msg_q                                   <= '0;
      {h_q, mask_q, stream_q, sum_q, count_q} <= '0;
      {aad_left_q, data_left_q}               <= '0;
      verdict_q                               <= '0;
    end else begin
      if (state_q == Idle) begin
        msg_q       <= msg_i;
        aad_left_q  <= msg_i.aad_bytes;
        data_left_q <= msg_i.data_bytes;
        count_q     <= 32'd1;
      end
      if (answered && state_q == MakeH) h_q <= answer;
      if (answered && state_q == MakeMask) mask_q <= answer;
      if (answered && state_q == Beats) stream_q <= answer;
      else if (take && !is_aad) stream_q <= '0;
      if (answered && state_q != MakeH) count_q <= count_q + 1'b1;
      if (hash_done) sum_q <= product;
      if (take && is_aad) aad_left_q <= part_last ? '0 : aad_left_q - gcm_length_t'(16);
      if (take && !is_aad) data_left_q <= part_last ? '0 : data_left_q - gcm_length_t'(16);
      if (hash_done && state_q == Tag) verdict_q <= verdict;
    end
  end

  logic put;
  assign put = take && !is_aad;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_o <= 1'b0;
    else if (flush) out_valid_o <= 1'b0;
    else if (put) out_valid_o <= 1'b1;
    else if (out_ready_i) out_valid_o <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (flush || (!put && (out_ready_i || !out_valid_o))) begin
      out_last_o  <= 1'b0;
      out_data_o  <= '0;
      out_bytes_o <= '0;
    end else if (put) begin
      out_last_o  <= part_last;
      out_data_o  <= crypted;
      out_bytes_o <= bytes;
    end
  end

  logic unused;
  assign unused = &{1'b0, msg_q.iv_bytes, key_i.len};

  `MAE_ASSERT(BankExists, !msg_valid_i || 32'(msg_i.bank) < KeyBanks)
  `MAE_ASSERT(KeyBankExists, !key_valid_i || 32'(key_i.bank) < KeyBanks)
  `MAE_ASSERT(DataLength, !msg_valid_i || msg_i.data_bytes <= 36'hf_ffff_ffe0)
  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len == KeyLen)
  `MAE_ASSERT(IvLength, !msg_valid_i || msg_i.iv_bytes == gcm_length_t'(12))
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || flush, {out_data_o, out_bytes_o,
                                                                  out_last_o})
  `MAE_STREAM_HOLDS(TagHolds, tag_valid_o, tag_ready_i || flush, tag_o)

endmodule
