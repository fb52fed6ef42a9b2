// SPDX-License-Identifier: Apache-2.0
//
// mae_pipe_rounds: encrypts and decrypts AES blocks in one unrolled pipeline, with round keys from
// an external key memory.
//
// Requests and results: see the interface in mae_aes_pkg. req_ready_o depends combinationally on
// req_i.bank and req_i.dir. used_o[b] tells that a block of bank b enters in this clock.
// keys_i[b][i] is round key i of bank b, enc_keys_i[b][r] its round key Nr - r.
//
// Positions in the pipeline are numbered by the clocks that remain until the result: the round with
// r rounds to go begins at position r * RegsPerRound, and position 0 is the result. A block enters
// at position Nr * RegsPerRound of its key length. So the last round is at the same position for
// all key lengths, and decryption needs round key r - 1 there for each of them. A block of a
// shorter key waits until no block is above its entry position, which keeps the order. With two
// rounds a register, rounds r and r - 1 (r even) are at position r / 2, and a block is at its entry
// position in the clock in which it arrives.
// Latency: Nr * RegsPerRound + 1 clocks from request to result; Nr / 2 with RoundsPerReg = 2.
// Throughput: one block a clock.
// Reset and clear: clear_i removes all blocks by the next clock. With Flush = 0 all data are erased
// one clock later: each register is reset, and cleared when it holds no block. With Flush = 1 the
// data registers have neither reset nor clear, which saves a fifth of their area: zeros enter where
// no block enters, and the data left by clear_i or reset are shifted out in Nr * RegsPerRound + 1
// clocks.
// Parameters: RegsPerRound is the number of registers a round (positions: mae_sub_bytes).
// RoundsPerReg = 2 places a register behind every second round and none in front of the first one,
// for the least energy; a block then needs all round keys when it enters, so enc_ready_i must wait
// for them. CtxBits is the number of context bits that are returned; the others are 0. Legal:
// KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of key_len_e; Sbox any of sbox_impl_e;
// RegsPerRound 1..3; RoundsPerReg 1, or 2 with RegsPerRound = 1; Flush 0 or 1; CtxBits 0..8.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.3; Dong et al..

`include "mae_assert.svh"

module mae_pipe_rounds
  import mae_aes_pkg::*;
#(
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter int unsigned RoundsPerReg = 1,
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
  `MAE_PARAM(RoundsPerRegLegal, RoundsPerReg == 1 || (RoundsPerReg == 2 && RegsPerRound == 1))
  `MAE_PARAM(CtxBitsLegal, CtxBits <= CtxWidth)

  localparam int unsigned Positions = Rounds * RegsPerRound / RoundsPerReg;  // the highest position
  // Entry position of each key length. With two rounds a register blocks enter in front of the
  // rounds.
  localparam bit Direct = RoundsPerReg > 1;
  localparam int unsigned Entry[3] = '{
      10 * RegsPerRound / RoundsPerReg,
      12 * RegsPerRound / RoundsPerReg,
      14 * RegsPerRound / RoundsPerReg
  };
  localparam int unsigned BankBits = (KeyBanks > 1) ? $clog2(KeyBanks) : 1;

  typedef struct packed {
    ctx_t  ctx;
    bank_t bank;
    dir_e  dir;
  } tag_t;

  // Signals that this configuration does not need are constants.
  localparam ctx_t CtxMask = ctx_t'((1 << CtxBits) - 1);
  logic data_rst_n;
  assign data_rst_n = Flush ? 1'b1 : rst_ni;

  logic   [ Positions:0] valid_q;
  tag_t                  tag_q   [Positions+1];
  block_t                state_q [   Rounds+1];
  block_t                state   [   Rounds+1];  // input of a round, in this clock

  // Entry of a block.
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
      if (len == key_len_e'(l)) above_free = (valid_q >> (Entry[l] + 32'(!Direct))) == '0;
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
    first = '0;
    if (enter) begin
      if (req_i.dir == Encrypt) first = req_i.block ^ keys_i[bank][0];
      else first = req_i.block ^ keys_i[bank][num_rounds(len)];
    end
  end

  // Occupancy of the positions.
  tag_t entering;
  logic [Positions:0] entered, valid;  // entered: positions with a block that no register holds yet
  assign entering = '{ctx: req_i.ctx & CtxMask, bank: req_i.bank, dir: req_i.dir};
  assign valid    = Direct ? valid_q | entered : valid_q;
  always_comb begin
    entered = '0;
    for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
      if (Direct && enter && len == key_len_e'(l)) entered[Entry[l]] = 1'b1;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (clear_i) valid_q <= '0;
    else begin
      valid_q <= valid >> 1;
      for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
        if (!Direct && enter && len == key_len_e'(l)) valid_q[Entry[l]] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Positions; p++) begin
      tag_q[p] <= (Direct && entered[p+1]) ? entering : tag_q[p+1];
    end
    for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
      if (!Direct && enter && len == key_len_e'(l)) tag_q[Entry[l]] <= entering;
    end
  end

  // The rounds.
  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    // Steps of this round: step s is at position Begin - s.
    localparam int unsigned Begin = Direct ? (r + 1) / 2 : r * RegsPerRound;
    localparam int unsigned End = Begin - (RegsPerRound - 1);
    logic [RegsPerRound-1:0] busy, dir;
    for (genvar s = 0; s < RegsPerRound; s++) begin : gen_step
      assign busy[s] = Flush || valid[Begin-s];
      assign dir[s]  = (Direct && entered[Begin-s]) ? entering.dir : tag_q[Begin-s].dir;
    end

    block_t key, result;
    logic [BankBits-1:0] key_bank;
    always_comb begin
      key_bank = '0;
      if (KeyBanks > 1) begin
        key_bank = (Direct && entered[End]) ? bank : tag_q[End].bank[BankBits-1:0];
      end
    end
    always_comb begin
      key = '0;
      if (busy[RegsPerRound-1]) begin
        if (Dirs == DirsDecrypt || (Dirs == DirsBoth && dir[RegsPerRound-1] == Decrypt)) begin
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
        .valid_i(busy),
        .dir_i  (dir),
        .last_i (r == 1),
        .key_i  (key),
        .state_i(state[r]),
        .state_o(result)
    );

    // Blocks of some key length enter behind this round.
    localparam bit IsEntry = r - 1 >= 10 && r % 2 == 1;
    logic enters;
    assign enters = IsEntry && enter && 32'(num_rounds(len)) == r - 1;
    if (Direct && r % 2 == 0) begin : gen_through
      assign state[r-1] = result;
      logic unused;
      assign unused = enters;
    end else begin : gen_reg
      always_ff @(posedge clk_i or negedge data_rst_n) begin
        if (!data_rst_n) state_q[r-1] <= '0;
        else if (!Direct && enters) state_q[r-1] <= first;
        else if (busy[RegsPerRound-1]) state_q[r-1] <= result;
        else state_q[r-1] <= '0;
      end
      assign state[r-1] = (Direct && enters) ? first : state_q[r-1];
    end
  end

  block_t top;
  assign top = (enter && len == MaxKeyLen) ? first : '0;
  if (Direct) begin : gen_direct
    assign state[Rounds] = top;
  end else begin : gen_top
    always_ff @(posedge clk_i or negedge data_rst_n) begin
      if (!data_rst_n) state_q[Rounds] <= '0;
      else state_q[Rounds] <= top;
    end
    assign state[Rounds] = state_q[Rounds];
  end

  assign rsp_valid_o = valid_q[0];
  assign rsp_o       = '{ctx: tag_q[0].ctx, block: state_q[0]};

  `MAE_ASSERT(DirBuilt,
              !req_valid_i || Dirs == DirsBoth || (req_i.dir == Decrypt) == (Dirs == DirsDecrypt))
  `MAE_ASSERT(EntryFree, !enter || !valid_q[Positions] || len == MaxKeyLen)

endmodule
