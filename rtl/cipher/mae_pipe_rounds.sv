// SPDX-License-Identifier: Apache-2.0
//
// mae_pipe_rounds: one lane: the unrolled rounds of AES, fed from a key memory outside.
//
// Latency: Nr * RegsPerRound + 1 clocks from request to answer. Throughput: one block a clock.
// Legal: KeyBanks 1..4; Dirs, MaxKeyLen, Sbox any; RegsPerRound 1..3 (mae_sub_bytes says where the
// second and third stand); Flush 0 or 1; CtxBits 0..8, the bits of the context that come back, the
// others are 0.
// Requests and answers: the contract in mae_aes_pkg. req_ready_o depends combinationally on
// req_i.bank and req_i.dir. used_o[b]: a block of bank b enters in this clock.
// keys_i[b][i] is round key i of bank b, enc_keys_i[b][r] its round key Nr - r.
// clear_i: no block is left in the next clock. With Flush = 0 no data are left one clock later: each
// register is reset and cleared where there is no block. With Flush = 1 the data registers are bare,
// which saves a fifth of their area: only zeros enter where no block does, and what clear_i or reset
// left is pushed out in Nr * RegsPerRound + 1 clocks.
// Source: FIPS 197 §5.1, §5.3; P4. Constant-time: yes. Masked: no.
//
// Positions in the pipeline are numbered by the clocks that remain until the answer: round r from
// the end begins at position r * RegsPerRound, and position 0 is the answer. So a block enters at
// position Nr * RegsPerRound of its key length, the last round is in the same place for all, and
// decryption finds round key r - 1 there for each of them. A block of a shorter key waits until
// nothing is above its entry, which keeps the order.

`include "mae_assert.svh"

module mae_pipe_rounds
  import mae_aes_pkg::*;
#(
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Flush = 1'b0,
    parameter int unsigned CtxBits = CtxWidth,
    localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       clear_i,
    input  logic        [KeyBanks-1:0] enc_ready_i,
    input  logic        [KeyBanks-1:0] dec_ready_i,
    input  key_len_e                   len_i      [KeyBanks],
    input  block_t                     keys_i     [KeyBanks][Rounds+1],
    input  block_t                     enc_keys_i [KeyBanks][  Rounds],
    output logic        [KeyBanks-1:0] used_o,
    input  logic                       req_valid_i,
    output logic                       req_ready_o,
    input  cipher_req_t                req_i,
    output logic                       rsp_valid_o,
    output cipher_rsp_t                rsp_o
);

  `MAE_PARAM(RegsPerRoundLegal, RegsPerRound inside {[1 : 3]})
  `MAE_PARAM(CtxBitsLegal, CtxBits <= CtxWidth)

  localparam int unsigned Positions = Rounds * RegsPerRound;  // the highest one
  localparam int unsigned BankBits = (KeyBanks > 1) ? $clog2(KeyBanks) : 1;

  typedef struct packed {
    ctx_t  ctx;
    bank_t bank;
    dir_e  dir;
  } tag_t;

  // What a build cannot need is a constant in it.
  localparam ctx_t CtxMask = ctx_t'((1 << CtxBits) - 1);
  logic data_rst_n;
  assign data_rst_n = Flush ? 1'b1 : rst_ni;

  logic   [ Positions:0] valid_q;
  tag_t                  tag_q   [Positions+1];
  block_t                state_q [   Rounds+1];

  // Entry.
  logic   [BankBits-1:0] bank;
  logic bank_ready, above_free, enter;
  key_len_e len;
  assign bank = (KeyBanks > 1) ? req_i.bank[BankBits-1:0] : '0;
  always_comb begin
    bank_ready = 1'b0;
    len        = Aes128;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (req_i.bank == bank_t'(b)) begin
        if (req_i.dir == Encrypt) bank_ready = Dirs != DirsDecrypt && enc_ready_i[b];
        else bank_ready = Dirs != DirsEncrypt && dec_ready_i[b];
        len = (MaxKeyLen == Aes128) ? Aes128 : len_i[b];
      end
    end
  end
  always_comb begin
    above_free = 1'b1;
    for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
      if (len == key_len_e'(l)) above_free = (valid_q >> ((10 + 2 * l) * RegsPerRound + 1)) == '0;
    end
  end
  assign req_ready_o = bank_ready && above_free;
  assign enter       = req_valid_i && req_ready_o;
  always_comb begin
    for (int unsigned b = 0; b < KeyBanks; b++) used_o[b] = enter && req_i.bank == bank_t'(b);
  end

  // AddRoundKey before the first round: round key 0, or Nr for decryption.
  block_t first;
  always_comb begin
    first = 'x;
    if (enter) begin
      if (req_i.dir == Encrypt) first = req_i.block ^ keys_i[bank][0];
      else first = req_i.block ^ keys_i[bank][num_rounds(len)];
    end
  end

  // Who is where.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (clear_i) valid_q <= '0;
    else begin
      valid_q <= valid_q >> 1;
      for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
        if (enter && len == key_len_e'(l)) valid_q[(10+2*l)*RegsPerRound] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Positions; p++) tag_q[p] <= tag_q[p+1];
    for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
      if (enter && len == key_len_e'(l)) begin
        tag_q[(10+2*l)*RegsPerRound] <= '{
            ctx: req_i.ctx & CtxMask,
            bank: req_i.bank,
            dir: req_i.dir
        };
      end
    end
  end

  // The rounds.
  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    // Steps of this round: step s is at position r * RegsPerRound - s.
    localparam int unsigned End = (r - 1) * RegsPerRound + 1;
    logic [RegsPerRound-1:0] valid, dir;
    for (genvar s = 0; s < RegsPerRound; s++) begin : gen_step
      assign valid[s] = Flush || valid_q[r*RegsPerRound-s];
      assign dir[s]   = tag_q[r*RegsPerRound-s].dir;
    end

    block_t key, result;
    logic [BankBits-1:0] key_bank;
    assign key_bank = (KeyBanks > 1) ? tag_q[End].bank[BankBits-1:0] : '0;
    always_comb begin
      key = 'x;
      if (valid[RegsPerRound-1]) begin
        if (Dirs == DirsDecrypt || (Dirs == DirsBoth && tag_q[End].dir == Decrypt)) begin
          key = keys_i[key_bank][r-1];
        end else begin
          key = enc_keys_i[key_bank][r-1];
        end
      end
    end

    mae_round #(
        .Dirs(Dirs),
        .Sbox(Sbox),
        .Regs(RegsPerRound - 1)
    ) u_round (
        .clk_i,
        .rst_ni (data_rst_n),
        .valid_i(valid),
        .dir_i  (dir),
        .last_i (r == 1),
        .key_i  (key),
        .state_i(state_q[r]),
        .state_o(result)
    );

    // Some key length enters behind this round.
    localparam bit IsEntry = r - 1 >= 10 && r % 2 == 1;
    always_ff @(posedge clk_i or negedge data_rst_n) begin
      if (!data_rst_n) state_q[r-1] <= '0;
      else if (IsEntry && enter && 32'(num_rounds(len)) == r - 1) state_q[r-1] <= first;
      else if (valid[RegsPerRound-1]) state_q[r-1] <= result;
      else state_q[r-1] <= '0;
    end
  end

  always_ff @(posedge clk_i or negedge data_rst_n) begin
    if (!data_rst_n) state_q[Rounds] <= '0;
    else if (enter && len == MaxKeyLen) state_q[Rounds] <= first;
    else state_q[Rounds] <= '0;
  end

  assign rsp_valid_o = valid_q[0];
  assign rsp_o       = '{ctx: tag_q[0].ctx, block: state_q[0]};

  `MAE_ASSERT(DirBuilt,
              !req_valid_i || Dirs == DirsBoth || (req_i.dir == Decrypt) == (Dirs == DirsDecrypt))
  `MAE_ASSERT(EntryFree, !enter || !valid_q[Positions] || len == MaxKeyLen)

endmodule
