// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_rom: applies SubBytes to Bytes bytes by reading ROMs that FPGA tools place in block RAM.
//
// A ROM has two read ports, as a block RAM has: bytes 2 i and 2 i + 1 share one. The read registers
// have no enable, reset or clear, so that the tools can use those of the block RAM.
// Latency: 1 clock.
// Throughput: Bytes bytes a clock.
// Reset and clear: none; a byte that was read leaves when the next one is read.
// Parameters: Legal: Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1.1 table 4.

`include "mae_assert.svh"

module mae_sbox_rom #(
    parameter int unsigned Bytes = 16
) (
    input  logic                  clk_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o
);
  import mae_sbox_table_pkg::*;

  `MAE_PARAM(BytesLegal, Bytes >= 1)

  for (genvar i = 0; i < Bytes; i += 2) begin : gen_pair
    localparam int unsigned Ports = (i + 1 < Bytes) ? 2 : 1;
    (* rom_style = "block" *)
    logic [7:0] rom[256];
    initial for (int unsigned x = 0; x < 256; x++) rom[x] = Fwd[x];

    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic [7:0] out_q;
      always_ff @(posedge clk_i) out_q <= rom[in_i[i+p]];
      assign out_o[i+p] = out_q;
    end
  end

endmodule
