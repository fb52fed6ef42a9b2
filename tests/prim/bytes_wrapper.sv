// SPDX-License-Identifier: Apache-2.0
//
// bytes_wrapper: makes the function of mae_bytes_pkg accessible as ports, for its test.

module bytes_wrapper (
    input  logic [127:0] block_i,
    output logic [127:0] block_o
);
  assign block_o = mae_bytes_pkg::swap_block(block_i);
endmodule
