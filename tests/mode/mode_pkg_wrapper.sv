// SPDX-License-Identifier: Apache-2.0
//
// mode_pkg_wrapper: makes the functions of mae_mode_pkg accessible as ports, for their test.

module mode_pkg_wrapper
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
(
    input mode_e        mode_i,
    input dir_e         dir_i,
    input block_t       chain_i,
    input block_t       data_i,
    input block_t       out_i,
    input logic   [4:0] steps_i,
    input logic   [3:0] bytes_i,

    output block_t pre_o,
    output block_t mask_o,
    output block_t next_o,
    output block_t ahead_o,
    output block_t alpha_o,
    output block_t first_o,
    output dir_e   cipher_dir_o,
    output logic   chains_o,
    output logic   any_length_o,

    input  key_bank_t [MaxKeyBanks-1:0] banks_i,
    input  key_slot_t                   slot_i,
    output logic                        hit_o,
    output bank_t                       bank_o,
    output logic                        stays_o
);
  bank_hit_t found;

  always_comb begin
    pre_o        = mode_pre(mode_i, dir_i, chain_i, data_i);
    mask_o       = mode_mask(mode_i, dir_i, chain_i, data_i);
    next_o       = mode_next(mode_i, dir_i, chain_i, data_i, out_i);
    ahead_o      = mode_ahead(mode_i, chain_i, data_i, 32'(steps_i));
    alpha_o      = xts_times_alpha(chain_i, 32'(steps_i));
    first_o      = first_bytes(bytes_i);
    cipher_dir_o = mode_cipher_dir(mode_i, dir_i);
    chains_o     = mode_chains(mode_i, dir_i);
    any_length_o = mode_any_length(mode_i);
    found        = bank_lookup(banks_i, slot_i, dir_i);
    hit_o        = found.hit;
    bank_o       = found.bank;
    stays_o      = bank_stays(banks_i, slot_i, dir_i);
  end
endmodule
