// SPDX-License-Identifier: Apache-2.0
//
// mae_key_cache: write-only key slots, and which of them sit in the banks of a cipher.

module mae_key_cache
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 2,
    parameter int unsigned MinResidence = 256
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic       write_valid_i,
    output logic       write_ready_o,
    input  key_write_t write_i,

    output logic [KeySlots-1:0] slot_valid_o,

    output key_state_t  keys_o,    // to mae_mode_engine
    input  key_demand_t demand_i,  // from mae_mode_engine

    output logic        key_valid_o,  // to the cipher
    input  logic        key_ready_i,
    output cipher_key_t key_o
);
endmodule
