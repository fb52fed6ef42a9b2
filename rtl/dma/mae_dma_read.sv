// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_read: the read mover. It turns the segments of every context into AXI4 read bursts, takes
// the answers in any order and interleaved, packs them and hands rows to the client.

module mae_dma_read
  import mae_dma_pkg::*;
#(
    parameter  int unsigned DataWidth        = 512,
    parameter  int unsigned Contexts         = 64,
    parameter  int unsigned IdWidth          = 8,
    parameter  int unsigned RowsPerContext   = 32,
    parameter  int unsigned BurstBeats       = 8,
    parameter  int unsigned BurstsPerContext = 8,
    localparam int unsigned BytesWidth       = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    // segments to read
    output logic     [Contexts-1:0] seg_ready_o,  // room for one more of this context
    input  logic                    seg_valid_i,
    input  logic                    seg_abort_i,  // pulse: the job has no further segments
    input  dma_ctx_t                seg_ctx_i,
    input  addr_t                   seg_addr_i,
    input  logic     [        31:0] seg_bytes_i,
    input  logic                    seg_last_i,

    // jobs that are read and handed over
    output logic     done_valid_o,
    input  logic     done_ready_i,
    output dma_ctx_t done_ctx_o,
    output status_e  done_status_o,

    // rows to the client
    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o,
    input  logic     [  Contexts-1:0] client_room_i,
    input  logic     [  Contexts-1:0] writer_room_i,

    // AXI4 read channels
    output logic                  ar_valid_o,
    input  logic                  ar_ready_i,
    output logic  [  IdWidth-1:0] ar_id_o,     // top bit 0
    output addr_t                 ar_addr_o,
    output logic  [          7:0] ar_len_o,
    input  logic                  r_valid_i,
    output logic                  r_ready_o,   // constant 1
    input  logic  [  IdWidth-1:0] r_id_i,
    input  logic  [DataWidth-1:0] r_data_i,
    input  logic  [          1:0] r_resp_i,
    input  logic                  r_last_i
);
endmodule
