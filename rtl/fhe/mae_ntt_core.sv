// SPDX-License-Identifier: Apache-2.0
//
// mae_ntt_core: computes Lanes butterflies a clock of a number-theoretic transform in constant
// geometry. The powers come from its table (mae_ntt_twiddles) or from w_i.
//
// stage_i, word_i, inverse_i come 2 clocks before their operands. table_i chooses the table's
// powers for w. gs_i and halve_i must hold while butterflies are under way (mae_ntt_butterfly).
//
// Latency: butterfly_clocks of mae_fhe_pkg from the operands. Throughput: a word of u and one of v
// a clock. clear_i erases the table and its registers; operands flow out of the butterflies by
// themselves.

module mae_ntt_core
  import mae_fhe_pkg::*;
#(
    parameter int unsigned LogN = 12,
    parameter int unsigned Width = 37,
    parameter int unsigned Lanes = 16,
    localparam int unsigned Digit = LogN + 1,
    localparam int unsigned WordBits = LogN - $clog2(Lanes),
    localparam int unsigned StageBits = $clog2(LogN)
) (
    input logic                   clk_i,
    input logic                   clear_i,
    input logic [Width-Digit-1:0] q_high_i,

    input logic                           write_i,
    input logic [WordBits-1:0]            write_word_i,
    input logic [   Lanes-1:0][Width-1:0] write_data_i,

    input logic [StageBits-1:0] stage_i,
    input logic [ WordBits-2:0] word_i,
    input logic                 inverse_i,

    input  logic                        table_i,
    input  logic                        gs_i,
    input  logic                        halve_i,
    input  logic [Lanes-1:0][Width-1:0] u_i,
    input  logic [Lanes-1:0][Width-1:0] v_i,
    input  logic [Lanes-1:0][Width-1:0] w_i,
    output logic [Lanes-1:0][Width-1:0] upper_o,
    output logic [Lanes-1:0][Width-1:0] lower_o
);
  logic [Lanes-1:0][Width-1:0] powers;

  mae_ntt_twiddles #(
      .LogN (LogN),
      .Width(Width),
      .Lanes(Lanes)
  ) u_twiddles (
      .powers_o(powers),
      .*
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    mae_ntt_butterfly #(
        .Width(Width),
        .Digit(Digit)
    ) u_butterfly (
        .clk_i,
        .q_high_i,
        .gs_i,
        .halve_i,
        .u_i(u_i[l]),
        .v_i(v_i[l]),
        .w_i(table_i ? powers[l] : w_i[l]),
        .upper_o(upper_o[l]),
        .lower_o(lower_o[l])
    );
  end

endmodule
