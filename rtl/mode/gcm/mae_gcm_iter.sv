// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_iter: encrypts and decrypts AES-GCM messages in a small area: one message at a time, block
// by block, with an iterative cipher and a digit-serial multiplier.
//
// Ports: as mae_gcm_stream with one lane; IVs have 12 bytes. The keys wait in a table of KeyBanks;
// each message loads its key into the cipher and computes H anew, so a key is accepted in any clock,
// and a message has the key that its bank had when it was announced, or that came in that clock.
// msg_ready_o is combinational in msg_i.bank, in_ready_o in out_ready_i.
// Latency: the first data beat is accepted 3 * Nr + 5 clocks after the announcement, its output
// comes a clock later; the tag 18 clocks after the last beat.
// Throughput: one beat in Nr + 2 clocks, of AAD in 9.
// Reset and clear: abort_i, clear_i and the verdict erase what belongs to the message by the next
// clock; clear_i and reset also the keys.
// Parameters: Legal: KeyBanks 1..4; MaxKeyLen any of key_len_e; Sbox any of sbox_impl_e. A tag of 0
// bytes is refused.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7.

`include "mae_assert.svh"

module mae_gcm_iter
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter int unsigned KeyBanks = 1,
    parameter key_len_e MaxKeyLen = Aes256,
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
    LoadKey,
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
  cipher_key_t [KeyBanks-1:0] table_q;
  cipher_key_t key;
  logic [KeyBanks-1:0] known_q;
  logic known;

  always_comb begin
    known = 1'b0;
    key   = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (msg_i.bank == bank_t'(b)) known = known_q[b];
      if (msg_q.bank == bank_t'(b)) key = table_q[b];
    end
    key.bank = '0;
  end
  assign key_ready_o = !flush;
  assign msg_ready_o = !flush && state_q == Idle && known;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      table_q <= '0;
      known_q <= '0;
    end else if (clear_i) begin
      table_q <= '0;
      known_q <= '0;
    end else begin
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (key_valid_i && key_ready_o && key_i.bank == bank_t'(b)) begin
          table_q[b] <= key_i;
          known_q[b] <= 1'b1;
        end
      end
    end
  end

  // ---- Blocks of the cipher: H, the tag mask, then keystream, a block ahead of its beat.
  logic asked_q, stream_valid_q, ask, ask_ready, answered, unused_key_ready;
  logic [31:0] count_q;
  block_t h_q, mask_q, stream_q;
  cipher_req_t req;
  cipher_rsp_t rsp;
  gcm_length_t aad_left_q, data_left_q;

  assign ask = !asked_q && (state_q inside {MakeH, MakeMask} ||
                            (state_q == Beats && data_left_q != '0 && !stream_valid_q));
  assign req = '{
          ctx: '0,
          bank: '0,
          dir: Encrypt,
          block: (state_q == MakeH) ? '0 : {msg_q.iv, count_q}
      };

  mae_cipher_min_area #(
      .Dirs     (DirsEncrypt),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox)
  ) u_cipher (
      .clk_i,
      .rst_ni,
      .clear_i    (forget),
      .key_valid_i(state_q == LoadKey),
      .key_ready_o(unused_key_ready),
      .key_i      (key),
      .req_valid_i(ask),
      .req_ready_o(ask_ready),
      .req_i      (req),
      .rsp_valid_o(answered),
      .rsp_o      (rsp)
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q                                     <= Idle;
      {asked_q, stream_valid_q, hashing_q, odd_q} <= '0;
      {h_q, mask_q, stream_q, sum_q, count_q}     <= '0;
      {aad_left_q, data_left_q}                   <= '0;
      msg_q                                       <= '0;
      verdict_q                                   <= '0;
    end else if (forget) begin
      state_q                                     <= Idle;
      {asked_q, stream_valid_q, hashing_q, odd_q} <= '0;
      {h_q, mask_q, stream_q, sum_q, count_q}     <= '0;
      {aad_left_q, data_left_q}                   <= '0;
      msg_q                                       <= '0;
      verdict_q                                   <= '0;
    end else begin
      if (ask && ask_ready) asked_q <= 1'b1;
      else if (answered) asked_q <= 1'b0;
      if (answered && state_q inside {MakeMask, Beats}) count_q <= count_q + 1'b1;
      if (hash) hashing_q <= 1'b1;
      else if (hash_done) hashing_q <= 1'b0;
      if (hash_done) sum_q <= product;
      if (take) begin
        odd_q <= odd_q || in_bytes_i != bytes || in_last_i != msg_last;
        if (is_aad) aad_left_q <= part_last ? '0 : aad_left_q - gcm_length_t'(16);
        else begin
          data_left_q    <= part_last ? '0 : data_left_q - gcm_length_t'(16);
          stream_valid_q <= 1'b0;
          stream_q       <= '0;
        end
      end
      unique case (state_q)
        Idle:
        if (msg_valid_i && msg_ready_o) begin
          state_q     <= LoadKey;
          msg_q       <= msg_i;
          aad_left_q  <= msg_i.aad_bytes;
          data_left_q <= msg_i.data_bytes;
          count_q     <= 32'd1;
        end
        LoadKey: state_q <= MakeH;
        MakeH:
        if (answered) begin
          h_q     <= rsp.block;
          state_q <= MakeMask;
        end
        MakeMask:
        if (answered) begin
          mask_q  <= rsp.block;
          state_q <= (aad_left_q == '0 && data_left_q == '0) ? Lengths : Beats;
        end
        Beats: begin
          if (answered) begin
            stream_q       <= rsp.block;
            stream_valid_q <= 1'b1;
          end
          if (take && msg_last) state_q <= Lengths;
        end
        Lengths: if (hash) state_q <= Tag;
        Tag:
        if (hash_done) begin
          verdict_q <= verdict;
          state_q   <= Verdict;
        end
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {out_valid_o, out_last_o} <= '0;
      out_data_o                <= '0;
      out_bytes_o               <= '0;
    end else if (flush) begin
      {out_valid_o, out_last_o} <= '0;
      out_data_o                <= '0;
      out_bytes_o               <= '0;
    end else if (take && !is_aad) begin
      out_valid_o <= 1'b1;
      out_last_o  <= part_last;
      out_data_o  <= crypted;
      out_bytes_o <= bytes;
    end else if (out_ready_i) begin
      {out_valid_o, out_last_o} <= '0;
      out_data_o                <= '0;
      out_bytes_o               <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, msg_q.iv_bytes, unused_key_ready, rsp.ctx};

  `MAE_ASSERT(IvLength, !msg_valid_i || msg_i.iv_bytes == gcm_length_t'(12))
  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || flush, {out_data_o, out_bytes_o,
                                                                  out_last_o})
  `MAE_STREAM_HOLDS(TagHolds, tag_valid_o, tag_ready_i || flush, tag_o)

endmodule
