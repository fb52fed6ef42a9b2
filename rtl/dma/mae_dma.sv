// SPDX-License-Identifier: Apache-2.0
//
// mae_dma: a DMA engine that carries one stream client, AES or not, over an AXI4 master.
//
// The host writes descriptors (mae_dma_pkg) to a submission ring and its tail to the doorbell. The
// ring dispatches them in order, the walkers turn addresses and scatter-gather lists into
// segments, the read mover packs the source into rows for the client, the write mover puts the
// client's rows to the destination, and a completion is written when the last write response has
// come. Transfers of different contexts run at once and complete in any order.
//
// Rows are in AXI byte order (byte 0 in bits 7:0), packed; only a job's last row is partial.
// cfg_status_i is taken with cfg_ready_i: anything but StatusOk refuses the job.
// Legal: DataWidth 128, 256, 512 or 1024; Contexts 1..256; IdWidth >= 8; Prefetch 2..32 (2^n).

`include "mae_assert.svh"

module mae_dma
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned Prefetch = 32,  // descriptors fetched ahead
    localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    // registers
    input  dma_ctrl_t   ctrl_i,
    output dma_status_t status_o,
    output logic        irq_o,     // level, until acknowledged
    input  logic        irq_ack_i, // pulse

    // client: a job begins, before its first row
    output logic     cfg_valid_o,
    input  logic     cfg_ready_i,
    output dma_ctx_t cfg_ctx_o,
    output desc_t    cfg_desc_o,
    input  status_e  cfg_status_i,

    // client: rows from memory
    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o,
    input  logic     [  Contexts-1:0] client_room_i, // the client can take a row of this context

    // client: rows to memory
    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,

    // AXI4 master, INCR bursts
    output logic                    ar_valid_o,
    input  logic                    ar_ready_i,
    output logic  [    IdWidth-1:0] ar_id_o,
    output addr_t                   ar_addr_o,
    output logic  [            7:0] ar_len_o,
    output logic  [            2:0] ar_size_o,
    input  logic                    r_valid_i,
    output logic                    r_ready_o,
    input  logic  [    IdWidth-1:0] r_id_i,
    input  logic  [  DataWidth-1:0] r_data_i,
    input  logic  [            1:0] r_resp_i,
    input  logic                    r_last_i,
    output logic                    aw_valid_o,
    input  logic                    aw_ready_i,
    output logic  [    IdWidth-1:0] aw_id_o,
    output addr_t                   aw_addr_o,
    output logic  [            7:0] aw_len_o,
    output logic  [            2:0] aw_size_o,
    output logic                    w_valid_o,
    input  logic                    w_ready_i,
    output logic  [  DataWidth-1:0] w_data_o,
    output logic  [DataWidth/8-1:0] w_strb_o,
    output logic                    w_last_o,
    input  logic                    b_valid_i,
    output logic                    b_ready_o,
    input  logic  [    IdWidth-1:0] b_id_i,
    input  logic  [            1:0] b_resp_i
);
endmodule
