// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_fifo: buffers secret words of a GCM engine in first-in first-out order, in registers or,
// with Small = 1, in a memory.
//
// It is a mae_fifo_out_reg or a mae_fifo_scrubbed, which has a register behind it with Cut = 1; see
// there.
// Latency: 1 + Cut clocks.
// Throughput: one word a clock; with Depth = 1 one word in two clocks.
// Reset and clear: both empty it. They erase registers by the next clock, a memory as in
// mae_fifo_scrubbed.
// Parameters: Width is the word width in bits, Depth the number of words; with Cut = 1 it holds two
// more. Legal: Width >= 1; Depth >= 1, with Small >= 2; Cut and Small 0 or 1.

module mae_gcm_fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 2,
    parameter bit          Cut   = 1'b0,
    parameter bit          Small = 1'b0
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

  if (Small) begin : gen_memory
    logic valid, ready;
    logic [Width-1:0] data;
    mae_fifo_scrubbed #(
        .Width(Width),
        .Depth(Depth)
    ) u_fifo (
        .clk_i,
        .rst_ni,
        .clear_i,
        .in_valid_i,
        .in_ready_o,
        .in_data_i,
        .out_valid_o(valid),
        .out_ready_i(ready),
        .out_data_o (data)
    );
    mae_stream_reg_opt #(
        .Width(Width),
        .Cut  (Cut)
    ) u_cut (
        .clk_i,
        .rst_ni,
        .clear_i,
        .in_valid_i(valid),
        .in_ready_o(ready),
        .in_data_i (data),
        .out_valid_o,
        .out_ready_i,
        .out_data_o
    );
  end else begin : gen_regs
    mae_fifo_out_reg #(
        .Width(Width),
        .Depth(Depth),
        .Cut  (Cut)
    ) u_fifo (
        .*
    );
  end

endmodule
