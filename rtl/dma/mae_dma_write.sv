// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_write: the write mover. It gathers the client's rows per context and writes them to the
// segments of the context in AXI4 bursts that are announced only when all their data is there.

module mae_dma_write
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth      = 512,
    parameter  int unsigned Contexts       = 64,
    parameter  int unsigned IdWidth        = 8,
    parameter  int unsigned RowsPerContext = 32,
    parameter  int unsigned BurstBeats     = 8,
    localparam int unsigned BytesWidth     = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    // segments to write
    output logic     [Contexts-1:0] seg_ready_o,  // room for one more of this context
    input  logic                    seg_valid_i,
    input  logic                    seg_abort_i,  // pulse: the job has no further segments
    input  dma_ctx_t                seg_ctx_i,
    input  addr_t                   seg_addr_i,
    input  logic     [        31:0] seg_bytes_i,
    input  logic                    seg_last_i,

    // jobs that are written
    output logic            done_valid_o,
    input  logic            done_ready_i,
    output dma_ctx_t        done_ctx_o,
    output status_e         done_status_o,
    output logic     [31:0] done_bytes_o,   // bytes written

    // rows from the client
    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] row_room_o,       // may a row be given to the client?
    // a row was given to the client (the read mover's row_valid_o && row_ready_i, its row_ctx_o)
    input  logic                      reserve_valid_i,
    input  dma_ctx_t                  reserve_ctx_i,

    // AXI4 write channels
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,     // top bit 0
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    output logic                    b_ready_o,   // constant 1
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
endmodule
