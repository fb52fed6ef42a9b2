// SPDX-License-Identifier: Apache-2.0
//
// mae_bytes_pkg: the one conversion between the two byte orders of the project.
//
// Inside cipher/ and mode/ a block has byte 0 (FIPS 197 in0) in bits 127:120. On AXI byte 0 is in
// bits 7:0. The conversion is its own inverse and costs wires only.

package mae_bytes_pkg;

  // Reverse the 16 bytes of a block.
  function automatic logic [127:0] swap_block(input logic [127:0] block);
    logic [127:0] swapped;
    for (int unsigned i = 0; i < 16; i++) swapped[8*i+:8] = block[8*(15-i)+:8];
    return swapped;
  endfunction

endpackage
