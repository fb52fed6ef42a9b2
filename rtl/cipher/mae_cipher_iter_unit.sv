// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_iter_unit: encrypts or decrypts one AES block at a time, one round a clock. The one
// round of hardware is used Nr times, with round keys from an external key memory.
//
// Requests and results: see the interface in mae_aes_pkg. req_ready_o depends combinationally on
// req_i.bank and req_i.dir. used_o[b] tells that a block of bank b is accepted. keys_i[b][i] is
// round key i of bank b.
// Latency: Nr clocks. A block accepted in clock t gives its result in clock t + Nr, combinationally
// from the last round; the next block is accepted in that clock.
// Throughput: one block in 10, 12 or 14 clocks for AES-128, -192, -256.
// Reset and clear: clear_i erases all data by the next clock.
// Parameters: Legal: KeyBanks 1..4; Dirs any of dirs_e; MaxKeyLen any of key_len_e; Sbox any of
// sbox_impl_e.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.3; Kumar et al.; Kale et al., sections 2.3 and 2.4.

`include "mae_assert.svh"

module mae_cipher_iter_unit
  import mae_aes_pkg::*;
#(
    parameter int unsigned KeyBanks = 1,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       clear_i,
    input  logic        [KeyBanks-1:0] enc_ready_i,
    input  logic        [KeyBanks-1:0] dec_ready_i,
    input  key_len_e                   len_i      [KeyBanks],
    input  block_t                     keys_i     [KeyBanks][Rounds+1],
    output logic        [KeyBanks-1:0] used_o,
    input  logic                       req_valid_i,
    output logic                       req_ready_o,
    input  cipher_req_t                req_i,
    output logic                       rsp_valid_o,
    output cipher_rsp_t                rsp_o
);

  localparam int unsigned BankBits = (KeyBanks > 1) ? $clog2(KeyBanks) : 1;
  typedef logic [BankBits-1:0] bank_index_t;

  logic [3:0] left_q;  // rounds to go; 0 when idle
  logic last, busy;
  block_t      state_q;
  ctx_t        ctx_q;
  bank_index_t bank_q;
  dir_e        dir_q;
  assign busy = left_q != 4'd0;
  assign last = left_q == 4'd1;

  // Accepts a block; its AddRoundKey before the first round.
  bank_index_t bank;
  logic bank_ready, enter;
  key_len_e len;
  assign bank = (KeyBanks > 1) ? req_i.bank[BankBits-1:0] : '0;
  always_comb begin
    bank_ready = 1'b0;
    len        = Aes128;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (req_i.bank == bank_t'(b)) begin
        if (req_i.dir == Encrypt) bank_ready = Dirs != DirsDecrypt && enc_ready_i[b];
        else bank_ready = Dirs != DirsEncrypt && dec_ready_i[b];
        len = len_i[b];
      end
    end
  end
  assign req_ready_o = bank_ready && (!busy || last);
  assign enter       = req_valid_i && req_ready_o;
  always_comb begin
    for (int unsigned b = 0; b < KeyBanks; b++) used_o[b] = enter && req_i.bank == bank_t'(b);
  end

  // Index of the round key: Nr - left + 1 for encryption, left - 1 for decryption.
  logic [3:0] key_index;
  block_t key, result;
  always_comb begin
    if (dir_q == Encrypt) key_index = num_rounds(len_i[bank_q]) - left_q + 4'd1;
    else key_index = left_q - 4'd1;
    key = '0;
    if (busy) key = keys_i[bank_q][key_index];
  end

  mae_round #(
      .Dirs(Dirs),
      .Sbox(Sbox),
      .Regs(0)
  ) u_round (
      .clk_i,
      .rst_ni,
      .valid_i(busy),
      .dir_i  (dir_q),
      .last_i (last),
      .key_i  (key),
      .state_i(state_q),
      .state_o(result)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      state_q <= '0;
      ctx_q   <= '0;
      bank_q  <= '0;
      dir_q   <= Encrypt;
    end else if (clear_i) begin
      left_q  <= '0;
      state_q <= '0;
    end else if (enter) begin
      left_q  <= num_rounds(len);
      state_q <= req_i.block ^ keys_i[bank][(req_i.dir==Encrypt)?4'd0 : num_rounds(len)];
      ctx_q   <= req_i.ctx;
      bank_q  <= bank;
      dir_q   <= req_i.dir;
    end else if (busy) begin
      left_q  <= left_q - 4'd1;
      state_q <= last ? '0 : result;
    end
  end

  assign rsp_valid_o = last;
  assign rsp_o       = '{ctx: ctx_q, block: last ? result : '0};

  `MAE_ASSERT(DirBuilt,
              !req_valid_i || Dirs == DirsBoth || (req_i.dir == Decrypt) == (Dirs == DirsDecrypt))

endmodule
