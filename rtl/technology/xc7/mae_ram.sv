// SPDX-License-Identifier: Apache-2.0
//
// mae_ram: stores words in a memory with one write port and one read port. View for 7-series and
// UltraScale.
//
// Ports, parameters, latency and throughput: rtl/prim/mae_ram.sv. ReadReg = 0 is LUT RAM, which
// is all that can be read in the same clock; ReadReg = 1 is block RAM, whatever its size.
// Source: AMD UG901 (ram_style).

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

  if (ReadReg) begin : gen_reg
    (* ram_style = "block" *)
    logic [Width-1:0] words_q[Depth];
    logic [Width-1:0] read_q;

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Parts; i++) begin
        if (write_i[i])
          words_q[write_addr_i][i*WriteBits+:WriteBits] <= write_data_i[i*WriteBits+:WriteBits];
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i) read_q <= '0;
      else if (read_i) read_q <= words_q[read_addr_i];
    end
    assign read_data_o = read_q;
  end else begin : gen_direct
    logic [Width-1:0] words_q[Depth];
    logic unused;

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < Parts; i++) begin
        if (write_i[i])
          words_q[write_addr_i][i*WriteBits+:WriteBits] <= write_data_i[i*WriteBits+:WriteBits];
      end
    end
    assign read_data_o = words_q[read_addr_i];
    assign unused = read_i ^ clear_i;
  end

endmodule
