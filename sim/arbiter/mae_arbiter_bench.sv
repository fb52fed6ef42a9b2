// SPDX-License-Identifier: Apache-2.0
//
// mae_arbiter_bench: connects memory arbiter, memory and one or two peripherals, with separate ports
// for the CPU and each peripheral's registers, so that each can proceed while the others wait.

module mae_arbiter_bench
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
#(
    parameter int unsigned RowBits = 9,
    parameter int unsigned Depth = 4,
    parameter int unsigned KeySlots = 4,
    parameter int unsigned KeyBanks = 2,
    parameter int unsigned Jobs = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic               cpu_valid_i,
    output logic               cpu_ready_o,
    input  logic [RowBits+3:0] cpu_addr_i,
    input  logic [        3:0] cpu_strb_i,
    input  logic [       31:0] cpu_wdata_i,
    output logic [       31:0] cpu_rdata_o,

    // of each peripheral
    input  logic [Jobs-1:0]                   awvalid_i,
    output logic [Jobs-1:0]                   awready_o,
    input  logic [Jobs-1:0]                   wvalid_i,
    output logic [Jobs-1:0]                   wready_o,
    output logic [Jobs-1:0]                   bvalid_o,
    output logic [Jobs-1:0][             1:0] bresp_o,
    input  logic [Jobs-1:0]                   arvalid_i,
    output logic [Jobs-1:0]                   arready_o,
    output logic [Jobs-1:0]                   rvalid_o,
    output logic [Jobs-1:0][             1:0] rresp_o,
    input  logic [Jobs-1:0][RegAddrWidth-1:0] reg_addr_i,
    input  logic [Jobs-1:0][            31:0] reg_wdata_i,
    output logic [Jobs-1:0][            31:0] reg_rdata_o,
    output logic [Jobs-1:0]                   irq_o,

    // what passes inside
    output logic [   Jobs-1:0]       started_o,
    output logic [   Jobs-1:0]       cleared_o,
    output logic [   Jobs-1:0]       done_o,
    output logic [   Jobs-1:0][27:0] blocks_done_o,
    output logic [   Jobs-1:0]       ram_write_o,    // by the peripherals' jobs
    output logic [RowBits-1:0]       ram_row_o,
    output logic [       15:0]       ram_strb_o
);

  memory_job_t [Jobs-1:0] job;
  error_e [Jobs-1:0] job_error;
  memory_out_t [Jobs-1:0] core;
  memory_in_t [Jobs-1:0] memory;
  logic ram_valid, ram_write;
  logic [127:0] ram_wdata, ram_rdata;

  assign ram_write_o = ram_write ? u_arbiter.taken : '0;

  for (genvar i = 0; i < Jobs; i++) begin : gen_peripheral
    axil_req_t axil_req;
    axil_rsp_t axil_rsp;

    assign started_o[i] = core[i].start;
    assign cleared_o[i] = core[i].clear;
    assign done_o[i] = memory[i].done;
    assign blocks_done_o[i] = u_arbiter.progress[i].done;

    assign axil_req = '{
            aw_valid: awvalid_i[i],
            aw_addr: 32'(reg_addr_i[i]),
            w_valid: wvalid_i[i],
            w_data: reg_wdata_i[i],
            w_strb: '1,
            b_ready: 1'b1,
            ar_valid: arvalid_i[i],
            ar_addr: 32'(reg_addr_i[i]),
            r_ready: 1'b1
        };
    assign awready_o[i] = axil_rsp.aw_ready;
    assign wready_o[i] = axil_rsp.w_ready;
    assign bvalid_o[i] = axil_rsp.b_valid;
    assign bresp_o[i] = axil_rsp.b_resp;
    assign arready_o[i] = axil_rsp.ar_ready;
    assign rvalid_o[i] = axil_rsp.r_valid;
    assign rresp_o[i] = axil_rsp.r_resp;
    assign reg_rdata_o[i] = axil_rsp.r_data;

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
        .irq_o         (irq_o[i]),
        .memory_job_o  (job[i]),
        .memory_error_i(job_error[i]),
        .memory_o      (core[i]),
        .memory_i      (memory[i])
    );
  end

  mae_memory_arbiter #(
      .RowBits(RowBits),
      .Depth  (Depth),
      .Jobs   (Jobs)
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
