// SPDX-License-Identifier: Apache-2.0
//
// mae_unprotected_dma: moves data between host memory and device memory without encryption. Each
// direction has one channel and its DMA engines.
//
// It is a part of mae_unprotected_card. A job is given to both engines of its direction in the same
// clock.
// Latency: that of mae_dma_host_read plus mae_dma_device_write (into the device), and of
// mae_dma_device_read plus mae_dma_host_write (out of it).
// Throughput: 64 bytes a clock in each direction at the same time.
// Parameters: Legal: ReadRows as Depth of mae_dma_device_read; others as mae_unprotected_dma_queue.
// Security: holds no secret but the data.

module mae_unprotected_dma
  import mae_dma_pkg::*;
#(
    parameter int unsigned MemoryBits = 21,
    parameter int unsigned ReadRows = 8,  // of device memory, on their way
    parameter int unsigned Depth = 8
) (
    input logic clk_i,
    input logic rst_ni,

    // registers of the channels
    input  logic        in_write_i,
    input  logic        out_write_i,
    input  logic [ 4:0] write_offset_i,
    input  logic [31:0] write_data_i,
    input  logic [ 4:0] read_offset_i,
    output logic [31:0] in_data_o,
    output logic [31:0] out_data_o,
    output logic        in_complete_o,   // pulse
    output logic        out_complete_o,

    // device memory
    output logic         write_valid_o,
    input  logic         write_ready_i,
    output logic [ 34:0] write_granule_o,
    output logic [ 63:0] write_strb_o,
    output logic [511:0] write_data_o,
    output logic         read_valid_o,
    input  logic         read_ready_i,
    output logic [ 34:0] read_granule_o,
    input  logic         read_rvalid_i,
    input  logic [511:0] read_rdata_i,
    input  logic         write_error_i,    // pulses
    input  logic         read_error_i,

    // AXI4
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
  // Transfers from host to device.
  logic in_valid, in_ready, pull_ready, store_ready, pulled, pull_error, stored;
  logic in_row_valid, in_row_ready, in_row_last, unused_pull_clearing;
  logic [ 63:0] in_host;
  logic [ 34:0] in_granule;
  logic [ 31:0] in_bytes;
  logic [511:0] in_row;
  logic [  6:0] in_row_bytes;

  assign in_ready = pull_ready && store_ready;

  mae_unprotected_dma_queue #(
      .MemoryBits(MemoryBits),
      .Depth     (Depth)
  ) u_in (
      .clk_i,
      .rst_ni,
      .write_i      (in_write_i),
      .offset_i     (write_offset_i),
      .data_i       (write_data_i),
      .shown_i      (read_offset_i),
      .data_o       (in_data_o),
      .job_valid_o  (in_valid),
      .job_ready_i  (in_ready),
      .job_host_o   (in_host),
      .job_granule_o(in_granule),
      .job_bytes_o  (in_bytes),
      .first_done_i (pulled),
      .second_done_i(stored),
      .error_i      ((pulled && pull_error) || write_error_i),
      .complete_o   (in_complete_o)
  );

  mae_dma_host_read u_pull (
      .clk_i,
      .rst_ni,
      .clear_i     (1'b0),
      .clearing_o  (unused_pull_clearing),
      .job_valid_i (in_valid && store_ready),
      .job_ready_o (pull_ready),
      .job_addr_i  (in_host),
      .job_bytes_i (in_bytes),
      .row_valid_o (in_row_valid),
      .row_ready_i (in_row_ready),
      .row_data_o  (in_row),
      .row_bytes_o (in_row_bytes),
      .row_last_o  (in_row_last),
      .done_valid_o(pulled),
      .done_error_o(pull_error),
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
      .clear_i      (1'b0),
      .job_valid_i  (in_valid && pull_ready),
      .job_ready_o  (store_ready),
      .job_granule_i(in_granule),
      .job_bytes_i  (in_bytes),
      .row_valid_i  (in_row_valid),
      .row_ready_o  (in_row_ready),
      .row_data_i   (in_row),
      .row_bytes_i  (in_row_bytes),
      .row_last_i   (in_row_last),
      .mem_valid_o  (write_valid_o),
      .mem_ready_i  (write_ready_i),
      .mem_granule_o(write_granule_o),
      .mem_strb_o   (write_strb_o),
      .mem_data_o   (write_data_o),
      .done_valid_o (stored)
  );

  // Transfers from device to host.
  logic out_valid, out_ready, push_ready, load_ready, pushed, push_error;
  logic out_row_valid, out_row_ready, out_row_last, unused_push_clearing;
  logic [ 63:0] out_host;
  logic [ 34:0] out_granule;
  logic [ 31:0] out_bytes;
  logic [511:0] out_row;
  logic [  6:0] out_row_bytes;

  assign out_ready = push_ready && load_ready;

  mae_unprotected_dma_queue #(
      .MemoryBits(MemoryBits),
      .Depth     (Depth)
  ) u_out (
      .clk_i,
      .rst_ni,
      .write_i      (out_write_i),
      .offset_i     (write_offset_i),
      .data_i       (write_data_i),
      .shown_i      (read_offset_i),
      .data_o       (out_data_o),
      .job_valid_o  (out_valid),
      .job_ready_i  (out_ready),
      .job_host_o   (out_host),
      .job_granule_o(out_granule),
      .job_bytes_o  (out_bytes),
      .first_done_i (pushed),
      .second_done_i(pushed),
      .error_i      ((pushed && push_error) || read_error_i),
      .complete_o   (out_complete_o)
  );

  mae_dma_device_read #(
      .Depth(ReadRows)
  ) u_load (
      .clk_i,
      .rst_ni,
      .clear_i      (1'b0),
      .job_valid_i  (out_valid && push_ready),
      .job_ready_o  (load_ready),
      .job_granule_i(out_granule),
      .job_bytes_i  (out_bytes),
      .mem_valid_o  (read_valid_o),
      .mem_ready_i  (read_ready_i),
      .mem_granule_o(read_granule_o),
      .mem_rvalid_i (read_rvalid_i),
      .mem_rdata_i  (read_rdata_i),
      .row_valid_o  (out_row_valid),
      .row_ready_i  (out_row_ready),
      .row_data_o   (out_row),
      .row_bytes_o  (out_row_bytes),
      .row_last_o   (out_row_last)
  );

  mae_dma_host_write u_push (
      .clk_i,
      .rst_ni,
      .clear_i     (1'b0),
      .clearing_o  (unused_push_clearing),
      .job_valid_i (out_valid && load_ready),
      .job_ready_o (push_ready),
      .job_addr_i  (out_host),
      .job_bytes_i (out_bytes),
      .row_valid_i (out_row_valid),
      .row_ready_o (out_row_ready),
      .row_data_i  (out_row),
      .row_bytes_i (out_row_bytes),
      .row_last_i  (out_row_last),
      .done_valid_o(pushed),
      .done_error_o(push_error),
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
