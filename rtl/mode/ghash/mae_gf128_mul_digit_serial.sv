// SPDX-License-Identifier: Apache-2.0
//
// mae_gf128_mul_digit_serial: the field multiplier of GCM for small builds, Digit bits of one
// operand a clock.
//
// Latency: 128 / Digit clocks: operands in clock t, product from a register in clock t + 128 /
// Digit, where the next operands may be given. b_i holds from t to the product. There is no ready:
// who asks counts, or waits for valid_o. product_o is 0 but in the clock of valid_o. A digit adds
// its multiple of b to the sum so far, moved on by Digit powers of x: one sum of Digit + 1 words of
// 128 bits and one reduction; the digit of the highest powers goes first.
// Legal: Digit a power of 2, 1..64.
// clear_i: nothing is left in the next clock.
// Source: SP 800-38D §6.3; bits as in mae_ghash_pkg. Constant-time: yes. Masked: no.

`include "mae_assert.svh"

module mae_gf128_mul_digit_serial
  import mae_aes_pkg::*;
#(
    parameter int unsigned Digit = 16
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    input  logic   clear_i,
    input  logic   valid_i,
    input  block_t a_i,
    input  block_t b_i,
    output logic   valid_o,
    output block_t product_o
);
  `MAE_PARAM(DigitLegal, Digit >= 1 && Digit <= 64 && 2 ** $clog2(Digit) == Digit)

  localparam int unsigned Clocks = 128 / Digit;
  localparam int unsigned CountWidth = $clog2(Clocks + 1);

  // One digit: bit 127 + Digit - k of `wide` is the coefficient of x^k; bit d of the digit stands
  // Digit - 1 - d powers above the digit's lowest one. The lowest Digit bits are x^128 and above:
  // x^128 = x^7 + x^2 + x + 1.
  function automatic block_t step(input block_t sum, input logic [Digit-1:0] digit,
                                  input block_t b);
    logic [127+Digit:0] wide;
    block_t over;
    wide = (128 + Digit)'(sum);
    for (int unsigned d = 0; d < Digit; d++) if (digit[d]) wide ^= (128 + Digit)'(b) << (d + 1);
    over = {wide[Digit-1:0], (128 - Digit)'(0)};
    return wide[127+Digit:Digit] ^ over ^ (over >> 1) ^ (over >> 2) ^ (over >> 7);
  endfunction

  block_t a_q, sum_q;
  logic [CountWidth-1:0] left_q;  // digits to go, and one for the product itself
  logic valid_q, work;

  assign work = left_q != '0;
  assign valid_o = valid_q;
  assign product_o = valid_q ? sum_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_q     <= '0;
      sum_q   <= '0;
      left_q  <= '0;
      valid_q <= 1'b0;
    end else if (clear_i) begin
      a_q     <= '0;
      sum_q   <= '0;
      left_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      valid_q <= 1'b0;
      if (valid_i) begin
        a_q     <= a_i >> Digit;
        sum_q   <= step('0, a_i[Digit-1:0], b_i);
        left_q  <= CountWidth'(Clocks - 1);
        valid_q <= Clocks == 1;
      end else if (work) begin
        a_q     <= a_q >> Digit;
        sum_q   <= step(sum_q, a_q[Digit-1:0], b_i);
        left_q  <= left_q - CountWidth'(1);
        valid_q <= left_q == CountWidth'(1);
      end else begin
        sum_q <= '0;
      end
    end
  end

  `MAE_ASSERT(OneAtATime, !valid_i || !work)

endmodule
