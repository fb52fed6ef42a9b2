// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_serial: encrypts AES-128 blocks a byte a clock with one S-box, in the fewest gates.
//
// A block begins in a clock in which req_valid_i and req_ready_o are 1. In the next 16 clocks
// (take_o) a byte of block_i and one of key_i are taken a clock, without a pause, in the order of
// FIPS 197 (byte 0 first); the key comes with each block. The result's bytes leave in that order in
// 16 clocks in a row (rsp_valid_o). rsp_o is 0 elsewhere.
// State and round key are shift registers that never stand still. 16 clocks of a round add the
// round key and substitute; a column is mixed in the clock in which its first byte leaves, and rows
// are shifted in the last clock. 16 more make the next round key, while the state goes round once.
// Latency: the result's first byte 321 clocks after the request, its last one 336.
// Throughput: a block in 337 clocks.
// Reset and clear: zeros come in behind the bytes of a result, so nothing is left of a block.
// clear_i and reset end a block, and 16 clocks later it is erased; req_ready_o waits for that.
// Parameters: Legal: Sbox any of sbox_impl_e.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.2.

`include "mae_assert.svh"

module mae_cipher_serial
  import mae_aes_pkg::*;
  import mae_round_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxBoolean
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       clear_i,
    input  logic       req_valid_i,
    output logic       req_ready_o,
    output logic       take_o,
    input  logic [7:0] block_i,
    input  logic [7:0] key_i,
    output logic       rsp_valid_o,
    output logic [7:0] rsp_o
);

  typedef enum logic [1:0] {
    Idle,  // or being emptied
    Round,
    NextKey,
    Answer
  } phase_e;

  localparam logic [3:0] Rounds = 4'd10;

  phase_e phase_q, phase;
  logic [3:0] count_q, round_q;  // of bytes; of rounds and keys
  logic last, first_round;

  assign last = count_q == '1;
  assign first_round = round_q == '0;
  assign req_ready_o = phase_q == Idle && last && !clear_i;
  assign take_o = phase_q == Round && first_round;
  assign rsp_valid_o = phase_q == Answer;

  always_comb begin
    phase = phase_q;
    if (phase_q == Idle) begin
      if (req_valid_i && req_ready_o) phase = Round;
    end else if (last) begin
      unique case (phase_q)
        Round:   phase = NextKey;
        NextKey: phase = (round_q == Rounds - 1) ? Answer : Round;
        default: phase = Idle;
      endcase
    end
    if (clear_i) phase = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= Idle;
      count_q <= '0;
      round_q <= '0;
    end else begin
      phase_q <= phase;
      if (clear_i) count_q <= '0;
      else if (!(last && phase == Idle)) count_q <= count_q + 1;  // it waits empty
      if (phase == Idle) round_q <= '0;
      else if (phase_q == NextKey && last) round_q <= round_q + 1;
    end
  end

  // The constant of a key, FIPS 197 §5.2: x^round in GF(2^8).
  function automatic logic [7:0] constant(input logic [3:0] round);
    unique case (round)
      4'd8:    return 8'h1b;
      4'd9:    return 8'h36;
      default: return 8'h01 << round[2:0];
    endcase
  endfunction

  block_t state_q, state, rk_q;
  column_t mixed;
  logic [7:0] added, substituted, asked, state_in, key_in;

  // What leaves, with the round key.
  assign mixed = mix_column(state_q[127:96]);
  logic mix;
  assign mix = phase_q == Round && !first_round && count_q[1:0] == '0;
  always_comb begin
    added = (mix ? mixed[31:24] : state_q[127:120]) ^ rk_q[127:120];
    if (take_o) added = block_i ^ key_i;
  end
  assign rsp_o = {8{rsp_valid_o}} & added;

  // A word of the key is substituted in the order 1, 2, 3, 0 of its bytes (RotWord).
  always_comb begin
    asked = added;
    if (phase_q == NextKey) asked = (count_q[1:0] == '1) ? rk_q[55:48] : rk_q[23:16];
  end
  mae_sbox #(
      .Kind (DirsEncrypt),
      .Impl (Sbox),
      .Regs (0),
      .Bytes(1)
  ) u_sbox (
      .clk_i,
      .rst_ni,
      .en_i     (1'b1),
      .inverse_i(1'b0),
      .in_i     (asked),
      .out_o    (substituted)
  );

  always_comb begin
    state_in = '0;
    key_in   = '0;
    unique case (phase_q)
      Round: begin
        state_in = substituted;
        key_in   = take_o ? key_i : rk_q[127:120];
      end
      NextKey: begin
        state_in = state_q[127:120];
        // The byte of the word before, or for the first word of the last one, substituted.
        key_in   = rk_q[127:120] ^ ((count_q[3:2] == '0) ? substituted : rk_q[31:24]);
        if (count_q == '0) key_in ^= constant(round_q);
      end
      default: ;
    endcase
    state = {mix ? mixed[23:0] : state_q[119:96], state_q[95:0], state_in};
    if (phase_q == Round && last) state = shift_rows(state);
  end

  // Without a reset: zeros come in for as long as one lasts.
  always_ff @(posedge clk_i) begin
    state_q <= state;
    rk_q    <= {rk_q[119:0], key_in};
  end

endmodule
