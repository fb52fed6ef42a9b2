// SPDX-License-Identifier: Apache-2.0
//
// mae_gf128_mul_digit_serial: multiplies two elements of GF(2^128), the field of GCM, Digit bits of
// one a clock. It has a small area.
//
// Each clock adds the multiple of b for one digit to the sum times x^Digit: one sum of Digit + 1
// words of 128 bits and one reduction. The digit of the highest powers comes first. Hold b_i from
// the start to the product. There is no ready: count the clocks, or wait for valid_o. product_o is
// 0 except in the clock of valid_o.
// Latency: 128 / Digit clocks: operands in clock t give the product, from a register, in clock t +
// 128 / Digit.
// Throughput: one product in 128 / Digit clocks: the next operands may come in the clock of the
// product.
// Reset and clear: both erase everything by the next clock.
// Parameters: Legal: Digit a power of 2, 1..64.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3; order of bits as in mae_ghash_pkg.

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

  // One digit: bit 127 + Digit - k of `wide` is the coefficient of x^k; bit d of the digit is Digit
  // - 1 - d powers above the digit's lowest one. The lowest Digit bits are x^128 and above: x^128 =
  // x^7 + x^2 + x + 1.
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
  logic [CountWidth-1:0] left_q;  // digits to go, plus one for the product
  logic valid_q, work;
  block_t factor, sum;  // one step for both: the first digit of new operands, or the next one

  assign work   = left_q != '0;
  assign factor = valid_i ? a_i : a_q;
  assign sum    = step(valid_i ? '0 : sum_q, factor[Digit-1:0], b_i);
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
        a_q     <= factor >> Digit;
        sum_q   <= sum;
        left_q  <= CountWidth'(Clocks - 1);
        valid_q <= Clocks == 1;
      end else if (work) begin
        a_q     <= factor >> Digit;
        sum_q   <= sum;
        left_q  <= left_q - CountWidth'(1);
        valid_q <= left_q == CountWidth'(1);
      end else begin
        sum_q <= '0;
      end
    end
  end

  `MAE_ASSERT(OneAtATime, !valid_i || !work)

endmodule
