// SPDX-License-Identifier: Apache-2.0
//
// mae_per_block_key_rounds: encrypts Blocks AES blocks a clock under a key that arrives together
// with them. The rounds are unrolled beside an unrolled key schedule.
//
// There is no ready and no stall: the result is valid for one clock. user_i is returned with the
// result. A block of a shorter key waits in the last stages. Stages without a block hold 0.
// Latency: Nr + 1 clocks with the Nr of MaxKeyLen, for every key length.
// Throughput: one key with its blocks every clock.
// Reset and clear: clear_i erases everything by the next clock.
// Parameters: Legal: Blocks >= 1; UserWidth >= 1; MaxKeyLen any of key_len_e, len_i at most
// MaxKeyLen; Sbox any of sbox_impl_e.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.2; Ghosh et al., figure 8.

module mae_per_block_key_rounds
  import mae_aes_pkg::*;
#(
    parameter int unsigned Blocks    = 3,
    parameter int unsigned UserWidth = 8,
    parameter key_len_e    MaxKeyLen = Aes256,
    parameter sbox_impl_e  Sbox      = SboxTable
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     clear_i,
    input  logic                     valid_i,
    input  key_len_e                 len_i,
    input  key_t                     key_i,
    input  block_t   [   Blocks-1:0] blocks_i,
    input  logic     [UserWidth-1:0] user_i,
    output logic                     valid_o,
    output block_t   [   Blocks-1:0] blocks_o,
    output logic     [UserWidth-1:0] user_o
);

  localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen);

  // Index [s]: after round s.
  typedef struct packed {
    logic                 valid;
    key_len_e             len;
    logic [UserWidth-1:0] user;
    block_t [Blocks-1:0]  blocks;
  } stage_t;
  stage_t stage_q[Rounds+1], stage_d[Rounds+1];
  key_t window_q[Rounds], window_d[Rounds+1];

  always_comb begin
    stage_d[0]  = '0;
    window_d[0] = '0;
    if (valid_i) begin
      stage_d[0].valid = 1'b1;
      stage_d[0].len   = len_i;
      stage_d[0].user  = user_i;
      for (int unsigned i = 0; i < Blocks; i++) stage_d[0].blocks[i] = blocks_i[i] ^ key_i[255:128];
      window_d[0] = key_i;
      if (len_i == Aes128) window_d[0][127:0] = '0;
      else if (len_i == Aes192) window_d[0][63:0] = '0;
    end
  end

  for (genvar r = 1; r <= Rounds; r++) begin : gen_round
    stage_t prior;
    logic used;  // the key length has this round
    key_t window;
    block_t result[Blocks];
    assign prior = stage_q[r-1];
    assign used  = prior.valid && num_rounds(prior.len) >= 4'(r);

    mae_key_schedule_step #(
        .Step     (r),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox)
    ) u_step (
        .clk_i,
        .rst_ni,
        .valid_i (used),
        .len_i   (prior.len),
        .window_i(window_q[r-1]),
        .window_o(window)
    );

    for (genvar i = 0; i < Blocks; i++) begin : gen_block
      mae_round #(
          .Dirs(DirsEncrypt),
          .Sbox(Sbox),
          .Regs(0)
      ) u_round (
          .clk_i,
          .rst_ni,
          .valid_i(used),
          .dir_i  (1'b0),
          .last_i (num_rounds(prior.len) == 4'(r)),
          .key_i  (window[255:128]),
          .state_i(prior.blocks[i]),
          .state_o(result[i])
      );
    end

    always_comb begin
      stage_d[r]  = prior;
      window_d[r] = '0;
      if (used) begin
        for (int unsigned i = 0; i < Blocks; i++) stage_d[r].blocks[i] = result[i];
        if (num_rounds(prior.len) != 4'(r)) window_d[r] = window;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q  <= '{default: stage_t'('0)};
      window_q <= '{default: '0};
    end else if (clear_i) begin
      stage_q  <= '{default: stage_t'('0)};
      window_q <= '{default: '0};
    end else begin
      stage_q <= stage_d;
      for (int unsigned r = 0; r < Rounds; r++) window_q[r] <= window_d[r];
    end
  end

  assign valid_o  = stage_q[Rounds].valid;
  assign blocks_o = stage_q[Rounds].blocks;
  assign user_o   = stage_q[Rounds].user;

endmodule
