// SPDX-License-Identifier: Apache-2.0
//
// mae_stream_reg_opt: registers a stream with a mae_stream_reg (Cut = 1) or passes it through wires
// (Cut = 0).
//
// Latency: Cut clocks.
// Throughput: one word a clock.
// Reset and clear: as mae_stream_reg; without effect if Cut = 0.
// Parameters: Legal: Width >= 1, Cut 0 or 1.

module mae_stream_reg_opt #(
    parameter int unsigned Width = 8,
    parameter bit          Cut   = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic             in_valid_i,
    output logic             in_ready_o,
    input  logic [Width-1:0] in_data_i,

    output logic             out_valid_o,
    input  logic             out_ready_i,
    output logic [Width-1:0] out_data_o
);

  if (Cut) begin : gen_reg
    mae_stream_reg #(
        .Width(Width)
    ) u_reg (
        .clk_i,
        .rst_ni,
        .clear_i,
        .in_valid_i,
        .in_ready_o,
        .in_data_i,
        .out_valid_o,
        .out_ready_i,
        .out_data_o
    );
  end else begin : gen_wires
    logic unused;
    assign unused      = &{1'b0, clk_i, rst_ni, clear_i};
    assign in_ready_o  = out_ready_i;
    assign out_valid_o = in_valid_i;
    assign out_data_o  = in_data_i;
  end

endmodule
