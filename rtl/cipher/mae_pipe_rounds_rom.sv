// SPDX-License-Identifier: Apache-2.0
//
// mae_pipe_rounds_rom: encrypts AES blocks in one unrolled pipeline with S-boxes in block RAMs of
// an FPGA, and round keys from an external key memory.
//
// The ports are those of mae_pipe_rounds, without what decryption needs, and have the same clocks.
// first_key_i[b] is round key 0 of bank b, enc_keys_i[b][r] its round key Nr - r.
//
// Positions are numbered as in mae_pipe_rounds: the round with r rounds to go begins at position r.
// Where mae_pipe_rounds has the register of that position, and the S-boxes behind it, ROMs look up
// SubBytes of the register's next value and twice that: their read registers hold both. Without the
// doubling, a bit of MixColumns and AddRoundKey is one exclusive-or of six. A block RAM's output is
// slow: with a second register a round it has a clock of its own.
// Latency: Nr * RegsPerRound + 1 clocks from request to result.
// Throughput: one block a clock.
// Reset and clear: clear_i removes all blocks by the next clock. The registers of the data have
// neither reset nor clear: zeros enter where no block enters, and the data left by clear_i or reset
// are shifted out in Nr * RegsPerRound + 1 clocks.
// Parameters: CtxBits is the number of context bits that are returned; the others are 0. Legal:
// KeyBanks 1..4; MaxKeyLen any of key_len_e; RegsPerRound 1 or 2; CtxBits 0..8.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.

`include "mae_assert.svh"

module mae_pipe_rounds_rom
  import mae_aes_pkg::*;
#(
    parameter int unsigned KeyBanks = 1,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned CtxBits = CtxWidth,
    localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       clear_i,
    input  logic        [KeyBanks-1:0] enc_ready_i,
    input  key_len_e                   len_i      [KeyBanks],
    input  block_t                     first_key_i[KeyBanks],
    input  block_t                     enc_keys_i [KeyBanks][Rounds],
    output logic        [KeyBanks-1:0] used_o,
    input  logic                       req_valid_i,
    output logic                       req_ready_o,
    input  cipher_req_t                req_i,
    output logic                       rsp_valid_o,
    output cipher_rsp_t                rsp_o
);
  import mae_round_pkg::*;

  `MAE_PARAM(KeyBanksLegal, KeyBanks inside {[1 : 4]})
  `MAE_PARAM(RegsPerRoundLegal, RegsPerRound inside {[1 : 2]})
  `MAE_PARAM(CtxBitsLegal, CtxBits <= CtxWidth)

  localparam int unsigned BankBits = (KeyBanks > 1) ? $clog2(KeyBanks) : 1;
  localparam ctx_t CtxMask = ctx_t'((1 << CtxBits) - 1);

  typedef struct packed {
    ctx_t  ctx;
    bank_t bank;
  } tag_t;

  // Of the blocks, by the number of registers before them.
  localparam int unsigned Regs = Rounds * RegsPerRound;
  logic [Regs:0] valid_q;
  tag_t tag_q[Regs+1];
  block_t next[Rounds+1];  // state that is at a position in the next clock
  block_t result_q;

  // Entry of a block, at position Nr of its key.
  logic [BankBits-1:0] bank;
  logic bank_ready, above_free, enter;
  key_len_e len;
  block_t   first;
  assign bank = (KeyBanks > 1) ? req_i.bank[BankBits-1:0] : '0;
  always_comb begin
    bank_ready = 1'b0;
    len        = Aes128;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (req_i.bank == bank_t'(b)) begin
        bank_ready = enc_ready_i[b];
        len        = (MaxKeyLen == Aes128) ? Aes128 : len_i[b];
      end
    end
    above_free = 1'b1;
    for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
      if (len == key_len_e'(l)) above_free = (valid_q >> ((10 + 2 * l) * RegsPerRound + 1)) == '0;
    end
    for (int unsigned b = 0; b < KeyBanks; b++) used_o[b] = enter && req_i.bank == bank_t'(b);
  end
  assign req_ready_o = bank_ready && above_free;
  assign enter       = req_valid_i && req_ready_o;
  assign first       = enter ? req_i.block ^ first_key_i[bank] : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (clear_i) valid_q <= '0;
    else begin
      valid_q <= valid_q >> 1;
      if (enter) valid_q[32'(num_rounds(len))*RegsPerRound] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Regs; p++) tag_q[p] <= tag_q[p+1];
    if (enter) begin
      tag_q[32'(num_rounds(len))*RegsPerRound] <= '{ctx: req_i.ctx & CtxMask, bank: req_i.bank};
    end
  end

  // MixColumns of one column, FIPS 197 §5.1.3, from its bytes and their doubles: row i becomes 2
  // a[i] + 2 a[i+1] + a[i+1] + a[i+2] + a[i+3].
  function automatic column_t mix_doubled(input column_t a, input column_t twice);
    return twice ^ {twice[23:0], twice[31:24]} ^ {a[23:0], a[31:24]} ^ {a[15:0], a[31:16]} ^
        {a[7:0], a[31:8]};
  endfunction

  // The rounds.
  assign next[Rounds] = (len == MaxKeyLen) ? first : '0;
  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    block_t read, read_twice, substituted, twice, shifted, shifted_twice, mixed, result;
    logic [BankBits-1:0] key_bank;
    mae_sbox_rom #(
        .Bytes(16)
    ) u_sub (
        .clk_i,
        .in_i(next[r]),
        .out_o(read),
        .twice_o(read_twice)
    );
    if (RegsPerRound > 1) begin : gen_reg
      always_ff @(posedge clk_i) {substituted, twice} <= {read, read_twice};
    end else begin : gen_wires
      assign {substituted, twice} = {read, read_twice};
    end
    assign key_bank      = (KeyBanks > 1) ? tag_q[(r-1)*RegsPerRound+1].bank[BankBits-1:0] : '0;
    assign shifted       = shift_rows(substituted);
    assign shifted_twice = shift_rows(twice);
    always_comb begin
      mixed = shifted;
      for (int unsigned c = 0; r > 1 && c < 4; c++) begin
        mixed[32*c+:32] = mix_doubled(shifted[32*c+:32], shifted_twice[32*c+:32]);
      end
    end
    assign result = mixed ^ enc_keys_i[key_bank][r-1];

    // Blocks of some key length enter behind this round.
    localparam bit IsEntry = r - 1 >= 10 && r % 2 == 1;
    logic enters;
    assign enters    = IsEntry && enter && 32'(num_rounds(len)) == r - 1;
    assign next[r-1] = enters ? first : result;
  end
  always_ff @(posedge clk_i) result_q <= next[0];

  assign rsp_valid_o = valid_q[0];
  assign rsp_o       = '{ctx: tag_q[0].ctx, block: result_q};

  `MAE_ASSERT(DirBuilt, !req_valid_i || req_i.dir == Encrypt)
  `MAE_ASSERT(EntryFree, !enter || !valid_q[Regs] || len == MaxKeyLen)

endmodule
