// SPDX-License-Identifier: Apache-2.0
//
// mae_ram: stores words in a memory with one write port and one read port. View for standard cells.
//
// Ports, parameters, latency and throughput: rtl/prim/mae_ram.sv. The words are flip-flops. A clock
// gate for each part of each word takes the place of a multiplexer in front of each flip-flop.
// Where a compiled memory is at hand, replace this view by a wrapper around it.

`include "mae_assert.svh"

module mae_ram #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 2,
    parameter int unsigned WriteBits = Width,
    parameter bit ReadReg = 1'b0,
    localparam int unsigned Parts = Width / WriteBits,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,

    input logic [    Parts-1:0] write_i,
    input logic [AddrWidth-1:0] write_addr_i,
    input logic [    Width-1:0] write_data_i,

    input  logic                 read_i,
    input  logic                 clear_i,
    input  logic [AddrWidth-1:0] read_addr_i,
    output logic [    Width-1:0] read_data_o
);
  `MAE_PARAM(PartsLegal, Parts >= 1 && Parts * WriteBits == Width)

  logic [Width-1:0] words_q[Depth];

  for (genvar w = 0; w < Depth; w++) begin : gen_word
    for (genvar p = 0; p < Parts; p++) begin : gen_part
      logic part_clk;

      // Not mae_clock_gate, of which a view may leave the clock on: the words rely on this one.
      CLKGATETST_X1 u_gate (
          .CK (clk_i),
          .E  (write_i[p] && 32'(write_addr_i) == w),
          .SE (1'b0),
          .GCK(part_clk)
      );

      always_ff @(posedge part_clk) begin
        words_q[w][p*WriteBits+:WriteBits] <= write_data_i[p*WriteBits+:WriteBits];
      end
    end
  end

  if (ReadReg) begin : gen_reg
    logic [Width-1:0] read_q;

    always_ff @(posedge clk_i) begin
      if (clear_i) read_q <= '0;
      else if (read_i) read_q <= words_q[read_addr_i];
    end
    assign read_data_o = read_q;
  end else begin : gen_direct
    logic unused;

    assign read_data_o = words_q[read_addr_i];
    assign unused = read_i ^ clear_i;
  end

endmodule
