// SPDX-License-Identifier: Apache-2.0
//
// mae_soc_memory: the memory of the PicoRV32 system: 2^RowBits rows of a block (16 bytes), one
// port.
//
// Latency: data in the clock after the address. Throughput: an access a clock. Byte 0 of a row is
// in bits 7:0; a write changes the bytes whose strobe is set. The contents outlive a reset, and a
// program image is put into rows_q from outside. Legal: RowBits 1..28.

`include "mae_assert.svh"

module mae_soc_memory #(
    parameter int unsigned RowBits = 13
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

  always_ff @(posedge clk_i) begin
    if (valid_i && write_i) begin
      for (int unsigned i = 0; i < 16; i++) begin
        if (strb_i[i]) rows_q[row_i][8*i+:8] <= wdata_i[8*i+:8];
      end
    end
    if (valid_i && !write_i) rdata_o <= rows_q[row_i];
  end

endmodule
