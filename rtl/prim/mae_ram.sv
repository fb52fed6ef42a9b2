// SPDX-License-Identifier: Apache-2.0
//
// mae_ram: stores words in a memory with one write port and one read port.
//
// This is the generic view; rtl/technology has others of the same name (docs/adr/0040).
// Latency: a word that is written in a clock can be read in the next one; in the same clock its old
// value is read. With ReadReg = 0 read_data_o follows read_addr_i in the same clock, and read_i and
// clear_i are not used: LUT RAM of an FPGA. With ReadReg = 1 it is a register, which takes the word
// at read_addr_i with read_i and zero with clear_i: block RAM.
// Throughput: one write and one read a clock.
// Reset: none. To erase the memory, write zeros: one word a clock.
// Parameters: Width is the word width in bits, Depth the number of words; WriteBits bits of a word
// are written together, those of bit i of write_i at i * WriteBits. Legal: Width and Depth >= 1;
// WriteBits a divisor of Width; ReadReg 0 or 1.

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

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Parts; i++) begin
      if (write_i[i])
        words_q[write_addr_i][i*WriteBits+:WriteBits] <= write_data_i[i*WriteBits+:WriteBits];
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
