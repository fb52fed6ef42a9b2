// SPDX-License-Identifier: Apache-2.0
//
// mae_pipe_rounds_luts: encrypts and decrypts AES blocks in one unrolled pipeline, with few LUTs of
// an FPGA, and round keys of one bank from an external key memory.
//
// It is mae_pipe_rounds with one bank, both directions, one register a round, S-boxes in LUTs
// (mae_round_luts) and Flush = 1, and has its clocks; see there for positions, order and erasure.
// keys_i[i] is round key i, enc_keys_i[r] round key Nr - r, last_key_i round key Nr.
// Latency: Nr + 1 clocks from request to result.
// Throughput: one block a clock.
// Reset and clear: clear_i removes all blocks by the next clock. The data registers have neither
// reset nor clear: zeros enter where no block enters, and the data left by clear_i or reset are
// shifted out in Nr + 1 clocks.
// Parameters: Legal: MaxKeyLen any of key_len_e.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.3; Dong et al..

`include "mae_assert.svh"

module mae_pipe_rounds_luts
  import mae_aes_pkg::*;
#(
    parameter key_len_e MaxKeyLen = Aes256,
    localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        clear_i,
    input  logic        enc_ready_i,
    input  logic        dec_ready_i,
    input  key_len_e    len_i,
    input  block_t      keys_i     [Rounds+1],
    input  block_t      enc_keys_i [  Rounds],
    input  block_t      last_key_i,
    output logic        used_o,
    input  logic        req_valid_i,
    output logic        req_ready_o,
    input  cipher_req_t req_i,
    output logic        rsp_valid_o,
    output cipher_rsp_t rsp_o
);
  typedef struct packed {
    ctx_t ctx;
    logic decrypt;
  } tag_t;

  localparam block_t Added = {16{8'h05}};  // in decryption, see mae_round_luts

  logic   [Rounds:0] valid_q;
  tag_t              tag_q   [Rounds+1];
  block_t            state_q [Rounds+1];

  // Entry of a block, at position Nr of its key.
  logic above_free, enter, decrypt;
  block_t first;

  assign decrypt = req_i.dir == Decrypt;
  always_comb begin
    above_free = 1'b1;
    for (int unsigned l = 0; l <= int'(MaxKeyLen); l++) begin
      if (len_i == key_len_e'(l)) above_free = (valid_q >> (10 + 2 * l + 1)) == '0;
    end
  end
  assign req_ready_o = (decrypt ? dec_ready_i : enc_ready_i) && above_free && req_i.bank == '0;
  assign enter       = req_valid_i && req_ready_o;
  assign used_o      = enter;
  assign first       = enter ? req_i.block ^ (decrypt ? last_key_i ^ Added : keys_i[0]) : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (clear_i) valid_q <= '0;
    else begin
      valid_q <= valid_q >> 1;
      if (enter) valid_q[num_rounds(len_i)] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Rounds; p++) tag_q[p] <= tag_q[p+1];
    if (enter) tag_q[num_rounds(len_i)] <= '{ctx: req_i.ctx, decrypt: decrypt};
  end

  // The rounds.
  always_ff @(posedge clk_i) state_q[Rounds] <= (len_i == MaxKeyLen) ? first : '0;

  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    block_t result;

    mae_round_luts #(
        .Last(r == 1)
    ) u_round (
        .clk_i,
        .rst_ni,
        .decrypt_i(tag_q[r].decrypt),
        .enc_key_i(enc_keys_i[r-1]),
        .dec_key_i(keys_i[r-1]),
        .state_i  (state_q[r]),
        .state_o  (result)
    );

    // Blocks of some key length enter behind this round.
    localparam bit IsEntry = r - 1 >= 10 && r % 2 == 1;
    logic enters;
    assign enters = IsEntry && enter && 32'(num_rounds(len_i)) == r - 1;
    always_ff @(posedge clk_i) state_q[r-1] <= enters ? first : result;
  end

  assign rsp_valid_o = valid_q[0];
  assign rsp_o       = '{ctx: tag_q[0].ctx, block: state_q[0]};

  `MAE_ASSERT(EntryFree, !enter || !valid_q[Rounds] || len_i == MaxKeyLen)

endmodule
