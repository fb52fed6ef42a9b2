// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_lanes_systolic: encrypts in Lanes unrolled AES pipelines on one key expansion, for
// chips in which a wire across all lanes takes longer than a round.
//
// Round keys, clear and the permission to take blocks pass from each lane to the next one through
// registers: lane i has them i + 1 clocks after the key memory, and no wire but clock and reset is
// longer than two lanes. That costs a lane one register for each bit of a round key, and one for
// each bit of a block at its port.
//
// Requests and results: see the interface in mae_aes_pkg, an index for each lane; bank 0 and
// encryption alone are ever ready.
// Keys: a key is accepted Nr * RegsPerRound + Lanes + 2 clocks after it is offered: then no block
// is in flight. Lane i takes blocks from Nr * KeyClocks + i + 2 clocks after that on.
// Latency: Nr * RegsPerRound + 2 clocks from request to result.
// Throughput: Lanes blocks a clock.
// Reset and clear: clear_i erases the keys of the key memory in its second clock, and the blocks of
// lane i in its clock i + 3: until then this lane takes and returns blocks. Data and the lanes'
// copies of the round keys are shifted out: all is erased Nr * RegsPerRound + Lanes + 4 clocks
// after clear_i or reset.
// Parameters: KeyLen is the length of all keys: another one is an error of the user. KeyClocks is
// the number of clocks for a round key. Legal: Lanes 1..16; KeyLen any of key_len_e; Sbox any of
// sbox_impl_e; RegsPerRound 1..3; KeyClocks 1..RegsPerRound; CtxBits 0..8.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1; Dong et al. (one key expansion for all cores).

`include "mae_assert.svh"

module mae_cipher_lanes_systolic
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes        = 10,
    parameter key_len_e    KeyLen       = Aes128,
    parameter sbox_impl_e  Sbox         = SboxLowDepth,
    parameter int unsigned RegsPerRound = 3,
    parameter int unsigned KeyClocks    = 3,
    parameter int unsigned CtxBits      = 0
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    clear_i,
    input  logic                    key_valid_i,
    output logic                    key_ready_o,
    input  cipher_key_t             key_i,
    input  logic        [Lanes-1:0] req_valid_i,
    output logic        [Lanes-1:0] req_ready_o,
    input  cipher_req_t [Lanes-1:0] req_i,
    output logic        [Lanes-1:0] rsp_valid_o,
    output cipher_rsp_t [Lanes-1:0] rsp_o
);

  `MAE_PARAM(LanesLegal, Lanes inside {[1 : 16]})

  localparam int unsigned Rounds = 10 + 2 * int'(KeyLen);
  // Clocks from the offer of a key until the last lane's last block has left.
  localparam int unsigned Empty = Rounds * RegsPerRound + Lanes + 2;
  localparam int unsigned CountBits = $clog2(Empty + 1);

  logic [CountBits-1:0] waited_q;
  logic empty_q;
  logic [Lanes:0] clear_q;  // of the key memory, then of each lane
  logic [Lanes-1:0] open_q;  // a lane has all round keys
  logic whole, key_taken;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waited_q <= '0;
      empty_q  <= 1'b0;
      clear_q  <= '0;
      open_q   <= '0;
    end else begin
      empty_q <= key_valid_i && !key_taken && waited_q >= CountBits'(Empty - 1);
      if (!key_valid_i || key_taken) waited_q <= '0;
      else if (waited_q != CountBits'(Empty)) waited_q <= waited_q + 1'b1;
      clear_q <= (Lanes + 1)'({clear_q, clear_i});
      open_q  <= Lanes'({open_q, whole && !key_valid_i});
    end
  end

  key_len_e unused_mem_len[1];
  logic [0:0] unused_enc_ready;
  block_t keys[1][Rounds+1];

  mae_round_key_mem #(
      .KeyBanks   (1),
      .MaxKeyLen  (KeyLen),
      .RoundClocks(RegsPerRound),
      .StepClocks (KeyClocks),
      .Sbox       (Sbox)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i    (clear_q[0]),
      .key_valid_i(key_valid_i && empty_q),
      .key_ready_o(key_taken),
      .key_i,
      .used_i     (1'b0),                    // a key comes only when no lane holds a block
      .enc_ready_o(unused_enc_ready),
      .dec_ready_o(whole),
      .len_o      (unused_mem_len),
      .keys_o     (keys)
  );
  assign key_ready_o = key_taken;

  key_len_e len[1];
  assign len[0] = KeyLen;

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    // Neither reset nor clear: what the key memory holds is here i + 1 clocks later.
    block_t keys_q[1][Rounds+1];
    if (i == 0) begin : gen_first
      always_ff @(posedge clk_i) keys_q <= keys;
    end else begin : gen_next
      always_ff @(posedge clk_i) keys_q <= gen_lane[i-1].keys_q;
    end

    // Round key Nr - r, with r rounds to go.
    block_t enc_keys[1][Rounds];
    always_comb begin
      for (int unsigned r = 0; r < Rounds; r++) enc_keys[0][r] = keys_q[0][Rounds-r];
    end

    logic enter_q;
    cipher_req_t entering_q;
    logic open;
    assign open = open_q[i] && req_i[i].bank == '0 && req_i[i].dir == Encrypt;
    assign req_ready_o[i] = open;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) enter_q <= 1'b0;
      else enter_q <= req_valid_i[i] && open && !clear_q[i+1];
    end
    always_ff @(posedge clk_i) begin
      entering_q <= '{ctx: '0, bank: '0, dir: Encrypt, block: '0};
      if (open_q[i]) begin
        entering_q <= '{ctx: req_i[i].ctx, bank: '0, dir: Encrypt, block: req_i[i].block};
      end
    end

    logic unused_ready;
    logic [0:0] unused_used;
    mae_pipe_rounds #(
        .KeyBanks    (1),
        .Dirs        (DirsEncrypt),
        .MaxKeyLen   (KeyLen),
        .Sbox        (Sbox),
        .RegsPerRound(RegsPerRound),
        .Flush       (1'b1),
        .CtxBits     (CtxBits)
    ) u_rounds (
        .clk_i,
        .rst_ni,
        .clear_i    (clear_q[i+1]),
        .enc_ready_i(1'b1),
        .dec_ready_i(1'b0),
        .len_i      (len),
        .keys_i     (keys_q),
        .enc_keys_i (enc_keys),
        .used_o     (unused_used),
        .req_valid_i(enter_q),
        .req_ready_o(unused_ready),
        .req_i      (entering_q),
        .rsp_valid_o(rsp_valid_o[i]),
        .rsp_o      (rsp_o[i])
    );
  end

  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len == KeyLen)

endmodule
