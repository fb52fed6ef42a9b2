// SPDX-License-Identifier: Apache-2.0
//
// mae_soc_memory: stores 2^RowBits rows of one block (16 bytes), as the memory of the PicoRV32
// system, with one port.
//
// Byte 0 of a row is in bits 7:0; a write changes the bytes whose strobe is set.
// Latency: data come in the clock after the address.
// Throughput: one access a clock.
// Reset: the contents survive a reset. Without Image, a program is loaded into rows_q from outside.
// Parameters: Image: a file for $readmemh with the contents at power-on. Legal: RowBits 1..28.

`include "mae_assert.svh"

module mae_soc_memory #(
    parameter int unsigned RowBits = 13,
    parameter string Image = ""
) (
    input logic clk_i,

    input  logic               valid_i,
    input  logic               write_i,
    input  logic [RowBits-1:0] row_i,
    input  logic [       15:0] strb_i,
    input  logic [      127:0] wdata_i,
    output logic [      127:0] rdata_o   // holds until the next access
);

  `MAE_PARAM(LegalRowBits, RowBits >= 1 && RowBits <= 28)

  logic [127:0] rows_q[2**RowBits];

  if (Image != "") begin : gen_image
    initial $readmemh(Image, rows_q);
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && write_i) begin
      for (int unsigned i = 0; i < 16; i++) begin
        if (strb_i[i]) rows_q[row_i][8*i+:8] <= wdata_i[8*i+:8];
      end
    end
    if (valid_i && !write_i) rdata_o <= rows_q[row_i];
  end

endmodule
