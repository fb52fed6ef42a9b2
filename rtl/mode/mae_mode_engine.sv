// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_engine: every mode of operation on N cipher lanes, for many messages at once.

module mae_mode_engine
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter bit Parallel = 1'b1,
    parameter int unsigned SlotRows = 4,
    parameter int unsigned FlightRows = 32,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      cfg_valid_i,
    output logic      cfg_ready_o,
    input  ctx_t      cfg_ctx_i,
    input  mode_cfg_t cfg_i,

    output logic [Contexts-1:0] room_o,

    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  ctx_t                    row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,
    output logic                    out_key_lost_o,  // key changed under the job: data is zero

    input  key_state_t  keys_i,
    output key_demand_t demand_o,

    output logic        [Lanes-1:0] req_valid_o,
    input  logic        [Lanes-1:0] req_ready_i,
    output cipher_req_t [Lanes-1:0] req_o,
    input  logic        [Lanes-1:0] rsp_valid_i,
    input  cipher_rsp_t [Lanes-1:0] rsp_i
);
endmodule
