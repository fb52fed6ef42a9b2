// SPDX-License-Identifier: Apache-2.0
//
// mae_sbox_rom: applies SubBytes to Bytes bytes, and doubles the results in GF(2^8), by reading
// ROMs that FPGA tools place in block RAM.
//
// out_o is SubBytes of in_i, twice_o its product with x (02), which MixColumns needs, too. A ROM
// has two read ports of 16 bits, as a block RAM of 18 Kbit has: bytes 2 i and 2 i + 1 share one.
// The read registers have no enable, reset or clear, so that the tools can use those of the block
// RAM.
// Latency: 1 clock.
// Throughput: Bytes bytes a clock.
// Reset and clear: none; a byte that was read leaves when the next one is read.
// Parameters: Legal: Bytes >= 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §4.2.1, §5.1.1 table 4.

`include "mae_assert.svh"

module mae_sbox_rom #(
    parameter int unsigned Bytes = 16
) (
    input  logic                  clk_i,
    input  logic [Bytes-1:0][7:0] in_i,
    output logic [Bytes-1:0][7:0] out_o,
    output logic [Bytes-1:0][7:0] twice_o
);
  import mae_sbox_table_pkg::*;
  import mae_round_pkg::*;

  `MAE_PARAM(BytesLegal, Bytes >= 1)

  for (genvar i = 0; i < Bytes; i += 2) begin : gen_pair
    localparam int unsigned Ports = (i + 1 < Bytes) ? 2 : 1;
    (* rom_style = "block" *)
    logic [15:0] rom[256];
    initial for (int unsigned x = 0; x < 256; x++) rom[x] = {8'(xtime(32'(Fwd[x]))), Fwd[x]};

    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic [15:0] read_q;
      always_ff @(posedge clk_i) read_q <= rom[in_i[i+p]];
      assign {twice_o[i+p], out_o[i+p]} = read_q;
    end
  end

endmodule
