// SPDX-License-Identifier: Apache-2.0
//
// copy_bench: connects mae_dma to mae_dma_copy_client, as in a copy card without registers.

module copy_bench
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned Prefetch = 64,
    parameter int unsigned RowsPerContext = 32,
    parameter int unsigned BurstBeats = 8
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic clearing_o,

    input  dma_ctrl_t   ctrl_i,
    output dma_status_t status_o,
    output logic        irq_o,
    input  logic        irq_ack_i,

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
  localparam int unsigned BytesWidth = $clog2(DataWidth / 8 + 1);

  logic cfg_valid, cfg_ready;
  dma_ctx_t unused_cfg_ctx;  // the copy client keeps nothing per context
  desc_t cfg_desc;
  status_e cfg_status;
  logic [Contexts-1:0] client_room;

  // rows: 0 from memory, 1 to memory
  logic [1:0] row_valid, row_ready, row_last;
  dma_ctx_t [1:0] row_ctx;
  logic [1:0][DataWidth-1:0] row_data;
  logic [1:0][BytesWidth-1:0] row_bytes;

  logic unused_draining;

  mae_dma #(
      .DataWidth,
      .Contexts,
      .IdWidth,
      .Prefetch,
      .RowsPerContext,
      .BurstBeats
  ) u_dma (
      .engine_rst_ni (rst_ni),
      .halt_i        (1'b0),
      .draining_o    (unused_draining),
      .table_i       ('0),
      .forgetting_o  (),
      .key_valid_o   (),
      .key_ready_i   (1'b1),
      .key_o         (),
      .cfg_valid_o   (cfg_valid),
      .cfg_ready_i   (cfg_ready),
      .cfg_ctx_o     (unused_cfg_ctx),
      .cfg_desc_o    (cfg_desc),
      .cfg_status_i  (cfg_status),
      .cfg_accept_i  ('0),
      .report_valid_i(1'b0),
      .report_i      ('0),
      .row_valid_o   (row_valid[0]),
      .row_ready_i   (row_ready[0]),
      .row_ctx_o     (row_ctx[0]),
      .row_data_o    (row_data[0]),
      .row_bytes_o   (row_bytes[0]),
      .row_last_o    (row_last[0]),
      .client_room_i (client_room),
      .row_waits_o   (),
      .row_valid_i   (row_valid[1]),
      .row_ready_o   (row_ready[1]),
      .row_ctx_i     (row_ctx[1]),
      .row_data_i    (row_data[1]),
      .row_bytes_i   (row_bytes[1]),
      .row_last_i    (row_last[1]),
      .*
  );

  mae_dma_copy_client #(
      .DataWidth,
      .Contexts
  ) u_copy (
      .clk_i,
      .rst_ni,
      .cfg_valid_i  (cfg_valid),
      .cfg_ready_o  (cfg_ready),
      .cfg_desc_i   (cfg_desc),
      .cfg_status_o (cfg_status),
      .row_valid_i  (row_valid[0]),
      .row_ready_o  (row_ready[0]),
      .row_ctx_i    (row_ctx[0]),
      .row_data_i   (row_data[0]),
      .row_bytes_i  (row_bytes[0]),
      .row_last_i   (row_last[0]),
      .client_room_o(client_room),
      .row_valid_o  (row_valid[1]),
      .row_ready_i  (row_ready[1]),
      .row_ctx_o    (row_ctx[1]),
      .row_data_o   (row_data[1]),
      .row_bytes_o  (row_bytes[1]),
      .row_last_o   (row_last[1])
  );

endmodule
