// SPDX-License-Identifier: Apache-2.0
//
// mae_block_bench: connects the DMA engines between host and device memory, with flat ports.

module mae_block_bench
  import mae_dma_pkg::*;
#(
    parameter int unsigned Jobs = 2,
    parameter int unsigned PullRows = 1024,
    parameter int unsigned Window = 384,
    parameter int unsigned PushRows = 64,
    parameter int unsigned LoadDepth = 8
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic clearing_o,

    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  addr_t        in_host_i,
    input  logic  [34:0] in_granule_i,
    input  logic  [31:0] in_bytes_i,
    output logic         pulled_o,
    output logic         pull_error_o,
    output logic         stored_o,

    input  logic         out_valid_i,
    output logic         out_ready_o,
    input  addr_t        out_host_i,
    input  logic  [34:0] out_granule_i,
    input  logic  [31:0] out_bytes_i,
    output logic         pushed_o,
    output logic         push_error_o,

    output logic         wr_valid_o,
    input  logic         wr_ready_i,
    output logic [ 34:0] wr_granule_o,
    output logic [ 63:0] wr_strb_o,
    output logic [511:0] wr_data_o,
    output logic         rd_valid_o,
    input  logic         rd_ready_i,
    output logic [ 34:0] rd_granule_o,
    input  logic         rd_rvalid_i,
    input  logic [511:0] rd_rdata_i,

    output logic          ar_valid_o,
    input  logic          ar_ready_i,
    output logic  [  7:0] ar_id_o,
    output addr_t         ar_addr_o,
    output logic  [  7:0] ar_len_o,
    input  logic          r_valid_i,
    output logic          r_ready_o,
    input  logic  [  7:0] r_id_i,
    input  logic  [511:0] r_data_i,
    input  logic  [  1:0] r_resp_i,
    input  logic          r_last_i,
    output logic          aw_valid_o,
    input  logic          aw_ready_i,
    output logic  [  7:0] aw_id_o,
    output addr_t         aw_addr_o,
    output logic  [  7:0] aw_len_o,
    output logic          w_valid_o,
    input  logic          w_ready_i,
    output logic  [511:0] w_data_o,
    output logic  [ 63:0] w_strb_o,
    output logic          w_last_o,
    input  logic          b_valid_i,
    output logic          b_ready_o,
    input  logic  [  7:0] b_id_i,
    input  logic  [  1:0] b_resp_i
);
  logic pull_ready, store_ready, load_ready, push_ready, pull_clearing, push_clearing;
  logic in_row_valid, in_row_ready, in_row_last, out_row_valid, out_row_ready, out_row_last;
  logic [511:0] in_row_data, out_row_data;
  logic [6:0] in_row_bytes, out_row_bytes;

  assign in_ready_o  = pull_ready && store_ready;
  assign out_ready_o = load_ready && push_ready;
  assign clearing_o  = pull_clearing || push_clearing;

  mae_dma_host_read #(
      .Jobs          (Jobs),
      .RowsPerContext(PullRows),
      .Window        (Window)
  ) u_pull (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o  (pull_clearing),
      .job_valid_i (in_valid_i && store_ready),
      .job_ready_o (pull_ready),
      .job_addr_i  (in_host_i),
      .job_bytes_i (in_bytes_i),
      .row_valid_o (in_row_valid),
      .row_ready_i (in_row_ready),
      .row_data_o  (in_row_data),
      .row_bytes_o (in_row_bytes),
      .row_last_o  (in_row_last),
      .done_valid_o(pulled_o),
      .done_error_o(pull_error_o),
      .ar_valid_o,
      .ar_ready_i,
      .ar_id_o,
      .ar_addr_o,
      .ar_len_o,
      .r_valid_i,
      .r_ready_o,
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i
  );

  mae_dma_device_write u_store (
      .clk_i,
      .rst_ni,
      .clear_i,
      .job_valid_i  (in_valid_i && pull_ready),
      .job_ready_o  (store_ready),
      .job_granule_i(in_granule_i),
      .job_bytes_i  (in_bytes_i),
      .row_valid_i  (in_row_valid),
      .row_ready_o  (in_row_ready),
      .row_data_i   (in_row_data),
      .row_bytes_i  (in_row_bytes),
      .row_last_i   (in_row_last),
      .mem_valid_o  (wr_valid_o),
      .mem_ready_i  (wr_ready_i),
      .mem_granule_o(wr_granule_o),
      .mem_strb_o   (wr_strb_o),
      .mem_data_o   (wr_data_o),
      .done_valid_o (stored_o)
  );

  mae_dma_device_read #(
      .Depth(LoadDepth)
  ) u_load (
      .clk_i,
      .rst_ni,
      .clear_i,
      .job_valid_i  (out_valid_i && push_ready),
      .job_ready_o  (load_ready),
      .job_granule_i(out_granule_i),
      .job_bytes_i  (out_bytes_i),
      .mem_valid_o  (rd_valid_o),
      .mem_ready_i  (rd_ready_i),
      .mem_granule_o(rd_granule_o),
      .mem_rvalid_i (rd_rvalid_i),
      .mem_rdata_i  (rd_rdata_i),
      .row_valid_o  (out_row_valid),
      .row_ready_i  (out_row_ready),
      .row_data_o   (out_row_data),
      .row_bytes_o  (out_row_bytes),
      .row_last_o   (out_row_last)
  );

  mae_dma_host_write #(
      .Jobs          (Jobs),
      .RowsPerContext(PushRows)
  ) u_push (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clearing_o  (push_clearing),
      .job_valid_i (out_valid_i && load_ready),
      .job_ready_o (push_ready),
      .job_addr_i  (out_host_i),
      .job_bytes_i (out_bytes_i),
      .row_valid_i (out_row_valid),
      .row_ready_o (out_row_ready),
      .row_data_i  (out_row_data),
      .row_bytes_i (out_row_bytes),
      .row_last_i  (out_row_last),
      .done_valid_o(pushed_o),
      .done_error_o(push_error_o),
      .aw_valid_o,
      .aw_ready_i,
      .aw_id_o,
      .aw_addr_o,
      .aw_len_o,
      .w_valid_o,
      .w_ready_i,
      .w_data_o,
      .w_strb_o,
      .w_last_o,
      .b_valid_i,
      .b_ready_o,
      .b_id_i,
      .b_resp_i
  );

endmodule
