// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_bench: connects mae_mode_engine, mae_key_cache and the cipher, with flat ports.

module mae_mode_bench
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter bit Parallel = 1'b1,
    parameter int unsigned SlotRows = 4,
    parameter int unsigned FlightRows = 32,
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 2,
    parameter int unsigned MinResidence = 256,
    parameter bit Iter = 1'b0,
    parameter bit Small = 1'b0,  // with Iter: mae_cipher_min_area, one key
    parameter int unsigned RegsPerRound = 1,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      cfg_valid_i,
    output logic      cfg_ready_o,
    input  ctx_t      cfg_ctx_i,
    input  mode_e     cfg_mode_i,
    input  dir_e      cfg_dir_i,
    input  logic      cfg_init_i,
    input  logic      cfg_serial_i,
    input  key_slot_t cfg_key_slot_i,
    input  key_slot_t cfg_tweak_slot_i,
    input  block_t    cfg_iv_i,

    output logic [Contexts-1:0] room_o,

    input  logic                  row_valid_i,
    output logic                  row_ready_o,
    input  ctx_t                  row_ctx_i,
    input  logic [ 128*Lanes-1:0] row_data_i,
    input  logic [BytesWidth-1:0] row_bytes_i,
    input  logic                  row_last_i,

    output logic                  out_valid_o,
    input  logic                  out_ready_i,
    output ctx_t                  out_ctx_o,
    output logic [ 128*Lanes-1:0] out_data_o,
    output logic [BytesWidth-1:0] out_bytes_o,
    output logic                  out_last_o,
    output logic                  out_key_lost_o,

    input  logic                     write_valid_i,
    output logic                     write_ready_o,
    input  key_slot_t                write_slot_i,
    input  logic                     write_erase_i,
    input  key_len_e                 write_len_i,
    input  key_t                     write_key_i,
    output logic      [KeySlots-1:0] slot_valid_o,

    output logic             key_valid_o,
    output logic             key_ready_o,
    output logic [Lanes-1:0] req_valid_o,
    output logic [Lanes-1:0] req_ready_o
);
  key_state_t              keys;
  key_demand_t             demand;
  cipher_key_t             key;
  cipher_req_t [Lanes-1:0] req;
  logic        [Lanes-1:0] rsp_valid;
  cipher_rsp_t [Lanes-1:0] rsp;

  mae_mode_engine #(
      .Lanes(Lanes),
      .Contexts(Contexts),
      .Parallel(Parallel),
      .SlotRows(SlotRows),
      .FlightRows(FlightRows)
  ) u_engine (
      .clk_i,
      .rst_ni,
      .clear_i,
      .cfg_valid_i,
      .cfg_ready_o,
      .cfg_ctx_i,
      .cfg_i(
      '{
          mode: cfg_mode_i,
          dir: cfg_dir_i,
          init: cfg_init_i,
          serial: cfg_serial_i,
          key_slot: cfg_key_slot_i,
          tweak_slot: cfg_tweak_slot_i,
          iv: cfg_iv_i
      }
      ),
      .room_o,
      .waits_i('1),
      .row_valid_i,
      .row_ready_o,
      .row_ctx_i,
      .row_data_i,
      .row_bytes_i,
      .row_last_i,
      .out_valid_o,
      .out_ready_i,
      .out_ctx_o,
      .out_data_o,
      .out_bytes_o,
      .out_last_o,
      .out_key_lost_o,
      .keys_i(keys),
      .demand_o(demand),
      .req_valid_o,
      .req_ready_i(req_ready_o),
      .req_o(req),
      .rsp_valid_i(rsp_valid),
      .rsp_i(rsp)
  );

  cipher_key_t unused_look;

  mae_key_cache #(
      .KeySlots(KeySlots),
      .KeyBanks(KeyBanks),
      .MinResidence(MinResidence)
  ) u_cache (
      .clk_i,
      .rst_ni,
      .clear_i,
      .write_valid_i,
      .write_ready_o,
      .write_i('{slot: write_slot_i, erase: write_erase_i, len: write_len_i, key: write_key_i}),
      .slot_valid_o,
      .look_slot_i  ('0),
      .look_key_o   (unused_look),
      .keys_o(keys),
      .demand_i(demand),
      .key_valid_o,
      .key_ready_i(key_ready_o),
      .key_o(key)
  );

  if (Small) begin : gen_small
    mae_cipher_min_area u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i(key_valid_o),
        .key_ready_o,
        .key_i(key),
        .req_valid_i(req_valid_o),
        .req_ready_o,
        .req_i(req),
        .rsp_valid_o(rsp_valid),
        .rsp_o(rsp)
    );
  end else if (Iter) begin : gen_iter
    mae_cipher_iter #(
        .Units(Lanes),
        .KeyBanks(KeyBanks)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i(key_valid_o),
        .key_ready_o,
        .key_i(key),
        .req_valid_i(req_valid_o),
        .req_ready_o,
        .req_i(req),
        .rsp_valid_o(rsp_valid),
        .rsp_o(rsp)
    );
  end else begin : gen_lanes
    mae_cipher_lanes #(
        .Lanes(Lanes),
        .KeyBanks(KeyBanks),
        .RegsPerRound(RegsPerRound)
    ) u_cipher (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i(key_valid_o),
        .key_ready_o,
        .key_i(key),
        .req_valid_i(req_valid_o),
        .req_ready_o,
        .req_i(req),
        .rsp_valid_o(rsp_valid),
        .rsp_o(rsp)
    );
  end
endmodule
