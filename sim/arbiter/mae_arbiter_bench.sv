// SPDX-License-Identifier: Apache-2.0
//
// mae_arbiter_bench: connects memory arbiter, memory and peripheral, with separate ports for the
// CPU and the registers' bus, so that either can proceed while the other waits.

module mae_arbiter_bench
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
#(
    parameter int unsigned RowBits = 9,
    parameter int unsigned Depth = 4,
    parameter int unsigned KeySlots = 4,
    parameter int unsigned KeyBanks = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic               cpu_valid_i,
    output logic               cpu_ready_o,
    input  logic [RowBits+3:0] cpu_addr_i,
    input  logic [        3:0] cpu_strb_i,
    input  logic [       31:0] cpu_wdata_i,
    output logic [       31:0] cpu_rdata_o,

    input  logic                    awvalid_i,
    output logic                    awready_o,
    input  logic                    wvalid_i,
    output logic                    wready_o,
    output logic                    bvalid_o,
    output logic [             1:0] bresp_o,
    input  logic                    arvalid_i,
    output logic                    arready_o,
    output logic                    rvalid_o,
    output logic [             1:0] rresp_o,
    input  logic [RegAddrWidth-1:0] reg_addr_i,
    input  logic [            31:0] reg_wdata_i,
    output logic [            31:0] reg_rdata_o,
    output logic                    irq_o,

    // what passes inside
    output logic               started_o,
    output logic               cleared_o,
    output logic               done_o,
    output logic [       27:0] blocks_done_o,
    output logic               ram_write_o,
    output logic [RowBits-1:0] ram_row_o,
    output logic [       15:0] ram_strb_o
);

  memory_job_t job;
  error_e job_error;
  memory_out_t core;
  memory_in_t memory;
  logic ram_valid, ram_write;
  logic [127:0] ram_wdata, ram_rdata;

  assign started_o     = core.start;
  assign cleared_o     = core.clear;
  assign done_o        = memory.done;
  assign blocks_done_o = u_arbiter.progress.done;
  assign blocks_done_o = u_arbiter.progress.done;
  assign ram_write_o   = ram_valid && ram_write;

  axil_req_t axil_req;
  axil_rsp_t axil_rsp;

  assign axil_req = '{
          aw_valid: awvalid_i,
          aw_addr: 32'(reg_addr_i),
          w_valid: wvalid_i,
          w_data: reg_wdata_i,
          w_strb: '1,
          b_ready: 1'b1,
          ar_valid: arvalid_i,
          ar_addr: 32'(reg_addr_i),
          r_ready: 1'b1
      };
  assign awready_o = axil_rsp.aw_ready;
  assign wready_o = axil_rsp.w_ready;
  assign bvalid_o = axil_rsp.b_valid;
  assign bresp_o = axil_rsp.b_resp;
  assign arready_o = axil_rsp.ar_ready;
  assign rvalid_o = axil_rsp.r_valid;
  assign rresp_o = axil_rsp.r_resp;
  assign reg_rdata_o = axil_rsp.r_data;

  mae_peripheral_core #(
      .KeySlots(KeySlots),
      .KeyBanks(KeyBanks),
      .Depth   (Depth),
      .Memory  (1'b1)
  ) u_core (
      .clk_i,
      .rst_ni,
      .axil_i        (axil_req),
      .axil_o        (axil_rsp),
      .irq_o,
      .memory_job_o  (job),
      .memory_error_i(job_error),
      .memory_o      (core),
      .memory_i      (memory)
  );

  mae_memory_arbiter #(
      .RowBits(RowBits),
      .Depth  (Depth)
  ) u_arbiter (
      .clk_i,
      .rst_ni,
      .cpu_valid_i,
      .cpu_ready_o,
      .cpu_addr_i,
      .cpu_strb_i,
      .cpu_wdata_i,
      .cpu_rdata_o,
      .core_job_i  (job),
      .core_error_o(job_error),
      .core_i      (core),
      .core_o      (memory),
      .ram_valid_o (ram_valid),
      .ram_write_o (ram_write),
      .ram_row_o,
      .ram_strb_o,
      .ram_wdata_o (ram_wdata),
      .ram_rdata_i (ram_rdata)
  );

  mae_soc_memory #(
      .RowBits(RowBits)
  ) u_memory (
      .clk_i,
      .valid_i(ram_valid),
      .write_i(ram_write),
      .row_i  (ram_row_o),
      .strb_i (ram_strb_o),
      .wdata_i(ram_wdata),
      .rdata_o(ram_rdata)
  );

endmodule
