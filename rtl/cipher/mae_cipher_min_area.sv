// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_min_area: encrypts and decrypts AES blocks in the smallest area at one round a clock,
// with one key. Its round keys are computed in the clock that uses them (mae_key_on_the_fly).
//
// Ports: see the interface in mae_aes_pkg, with one lane and bank 0. req_ready_o depends
// combinationally on the request's bank and direction and on key_valid_i and key_i.bank,
// key_ready_o on key_i.bank. The results depend combinationally on registers only. For encryption a
// round begins with AddRoundKey; for decryption AddRoundKey follows the S-boxes. So two additions
// suffice: the one before the S-boxes adds the first round key and those of encryption, the one
// after them adds the last round key and those of decryption.
// Latency: 10, 12 or 14 clocks for AES-128, -192, -256. A key is accepted in any clock in which no
// block is in progress, or in the clock of its result. The first decryption under a key is accepted
// Nr clocks after the key; after that neither direction waits.
// Throughput: one block in 10, 12 or 14 clocks. The next block is accepted in the clock of the
// result, in either direction, and may depend on it.
// Reset and clear: clear_i erases key and data by the next clock; reset does so after the first
// clock in it.
// Parameters: Fewest = 1 stores data inverted, which takes fewer standard cells (an FPGA gains
// nothing). CtxBits is the number of context bits that are returned; the others are 0. Legal: Dirs
// any of dirs_e; MaxKeyLen any of key_len_e (longer keys are not accepted); Sbox any of sbox_impl_e;
// Fewest 0 or 1; CtxBits 0..8.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.3.

`include "mae_assert.svh"

module mae_cipher_min_area
  import mae_aes_pkg::*;
  import mae_round_pkg::*;
#(
    parameter dirs_e       Dirs      = DirsBoth,
    parameter key_len_e    MaxKeyLen = Aes256,
    parameter sbox_impl_e  Sbox      = SboxBoolean,
    parameter bit          Fewest    = 1'b0,
    parameter int unsigned CtxBits   = CtxWidth
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              clear_i,
    input  logic              key_valid_i,
    output logic              key_ready_o,
    input  cipher_key_t       key_i,
    input  logic        [0:0] req_valid_i,
    output logic        [0:0] req_ready_o,
    input  cipher_req_t [0:0] req_i,
    output logic        [0:0] rsp_valid_o,
    output cipher_rsp_t [0:0] rsp_o
);

  localparam ctx_t CtxMask = ctx_t'((1 << CtxBits) - 1);

  logic   busy_q;  // a block is in progress
  ctx_t   ctx_q;
  block_t state_q;

  logic loaded, known, first, last, free, offered, dir_ready, enter, answer, backward;
  dir_e dir;
  block_t key, next_key;

  assign free        = (!busy_q || last) && !clear_i;
  assign offered     = key_valid_i && key_i.bank == '0;
  assign key_ready_o = free && key_i.bank == '0;
  always_comb begin
    if (req_i[0].dir == Encrypt) dir_ready = Dirs != DirsDecrypt;
    else dir_ready = Dirs != DirsEncrypt && known;
  end
  assign req_ready_o[0] = free && loaded && dir_ready && !offered && req_i[0].bank == '0;
  assign enter          = req_valid_i[0] && req_ready_o[0];

  mae_key_on_the_fly #(
      .Dirs     (Dirs),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox),
      .Fewest   (Fewest)
  ) u_walk (
      .clk_i,
      .rst_ni,
      .clear_i,
      .load_i  (offered && key_ready_o),
      .len_i   (key_i.len),
      .key_i   (key_i.key),
      .loaded_o(loaded),
      .known_o (known),
      .start_i (enter),
      .dir_i   (req_i[0].dir),
      .dir_o   (dir),
      .first_o (first),
      .last_o  (last),
      .key_o   (key),
      .next_o  (next_key)
  );

  // The round. The direction is a constant if the configuration supports only one.
  block_t substituted, shifted, keyed, mixed;
  assign backward = (Dirs == DirsBoth) ? dir == Decrypt : Dirs == DirsDecrypt;

  mae_sbox #(
      .Kind (Dirs),
      .Impl (Sbox),
      .Regs (0),
      .Bytes(16)
  ) u_sbox (
      .clk_i,
      .rst_ni,
      .en_i     (1'b1),
      .inverse_i(backward),
      .in_i     (state_q ^ ((!backward || first) ? key : '0)),
      .out_o    (substituted)
  );
  assign shifted = backward ? inv_shift_rows(substituted) : shift_rows(substituted);
  // In the last round of an encryption nobody uses mixed, so that a core for encryption alone needs
  // no gate that takes the round key away in the others.
  localparam bit Forward = Fewest && Dirs == DirsEncrypt;
  assign keyed = shifted ^ ((Forward || backward || last) ? next_key : '0);
  assign mixed = mix_columns(Forward ? shifted : backward ? inv_mix_columns_prepare(keyed) : keyed);

  // The state is 0 without a block; this also clears and resets it. An AND-OR of standard cells
  // inverts: with Fewest = 1 the registers store what comes out of it.
  block_t stored_q;
  assign state_q = Fewest ? ~stored_q : stored_q;
  always_ff @(posedge clk_i) begin
    stored_q <= {128{Fewest}} ^
        (({128{enter}} & req_i[0].block) | ({128{busy_q && !last && !clear_i}} & mixed));
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      ctx_q  <= '0;
    end else begin
      busy_q <= enter || (busy_q && !last && !clear_i);
      if (enter) ctx_q <= req_i[0].ctx & CtxMask;
    end
  end

  assign answer         = busy_q && last;
  assign rsp_valid_o[0] = answer;
  assign rsp_o[0]       = '{ctx: ctx_q, block: {128{answer}} & keyed};

  `MAE_ASSERT(BankExists, !key_valid_i || key_i.bank == '0)
  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len <= MaxKeyLen)
  `MAE_ASSERT(
      DirBuilt,
      !req_valid_i || Dirs == DirsBoth || (req_i[0].dir == Decrypt) == (Dirs == DirsDecrypt))

endmodule
