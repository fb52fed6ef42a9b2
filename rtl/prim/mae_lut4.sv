// SPDX-License-Identifier: Apache-2.0
//
// mae_lut4: computes a function of four bits, given by its 16 values, for Width bits each.
//
// Its boundary is preserved in FPGAs of four-input LUTs, which gives each function a LUT of its own
// (docs/adr/0042). In a flow that flattens the design first it is optimized like other logic.
// Bit i of out_o is bit {in_i[3][i], in_i[2][i], in_i[1][i], in_i[0][i]} of Values.
// Latency: 0 clocks.
// Throughput: one function a clock.
// Parameters: Legal: Width >= 1; Values any.

(* keep_hierarchy *)
module mae_lut4 #(
    parameter int unsigned Width = 1,
    parameter logic [15:0] Values = 16'h8000
) (
    input  logic [      3:0][Width-1:0] in_i,
    output logic [Width-1:0]            out_o
);

  for (genvar i = 0; i < Width; i++) begin : gen_bit
    assign out_o[i] = Values[{in_i[3][i], in_i[2][i], in_i[1][i], in_i[0][i]}];
  end

endmodule
