// SPDX-License-Identifier: Apache-2.0
//
// report_bench: connects mae_dma to a client whose answers and reports come from the test.

module report_bench
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Contexts = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned Prefetch = 64,
    parameter int unsigned RowsPerContext = 32
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic clearing_o,

    input  dma_ctrl_t   ctrl_i,
    output dma_status_t status_o,
    output logic        irq_o,
    input  logic        irq_ack_i,

    output logic     cfg_valid_o,
    input  logic     cfg_ready_i,
    output dma_ctx_t cfg_ctx_o,
    output desc_t    cfg_desc_o,
    input  status_e  cfg_status_i,
    input  accept_t  cfg_accept_i,
    input  logic     report_valid_i,
    input  report_t  report_i,

    // how far the client is
    output logic     row_last_o,  // a job's last row passes
    output dma_ctx_t row_ctx_o,

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
  logic row_valid, row_ready, row_last;
  dma_ctx_t row_ctx;
  logic [DataWidth-1:0] row_data;
  logic [$clog2(DataWidth/8+1)-1:0] row_bytes;

  // No register between: mae_dma holds a row until it takes it back.
  logic unused_draining;

  mae_dma #(
      .DataWidth,
      .Contexts,
      .IdWidth,
      .Prefetch,
      .RowsPerContext
  ) u_dma (
      .engine_rst_ni(rst_ni),
      .halt_i       (1'b0),
      .draining_o   (unused_draining),
      .table_i      ('0),
      .forgetting_o (),
      .key_valid_o  (),
      .key_ready_i  (1'b1),
      .key_o        (),
      .row_valid_o  (row_valid),
      .row_ready_i  (row_ready),
      .row_ctx_o    (row_ctx),
      .row_data_o   (row_data),
      .row_bytes_o  (row_bytes),
      .row_last_o   (row_last),
      .client_room_i('1),
      .row_waits_o  (),
      .row_valid_i  (row_valid),
      .row_ready_o  (row_ready),
      .row_ctx_i    (row_ctx),
      .row_data_i   (row_data),
      .row_bytes_i  (row_bytes),
      .row_last_i   (row_last),
      .*
  );

  assign row_last_o = row_valid && row_ready && row_last;
  assign row_ctx_o  = row_ctx;

endmodule
