// SPDX-License-Identifier: Apache-2.0
//
// mae_bytes_pkg: converts a 128-bit block between the two byte orders that the RTL uses.
//
// In cipher/ and mode/, bits 127:120 of a block hold byte 0 (in0 of FIPS 197). On AXI, bits 7:0
// hold byte 0. The conversion is its own inverse and needs no logic.

package mae_bytes_pkg;

  // Reverses the order of the 16 bytes of a block.
  function automatic logic [127:0] swap_block(input logic [127:0] block);
    logic [127:0] swapped;
    for (int unsigned i = 0; i < 16; i++) swapped[8*i+:8] = block[8*(15-i)+:8];
    return swapped;
  endfunction

endpackage
