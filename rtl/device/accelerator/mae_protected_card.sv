// SPDX-License-Identifier: Apache-2.0
//
// mae_protected_card: integrates an accelerator kernel and its memory behind the guard. So data of
// an application in an enclave cross an untrusted host only encrypted and authenticated.
//
// Requests and data are verified before the kernel can use them, and sealed before they leave
// (Ghosh et al., figure 1). Host registers: regs/mae_guard.rdl; registers behind the guard:
// mae_kernel_registers. mae_unprotected_card is the same card without the guard. install_*:
// provisioning port, for the unit that agrees on the secret (such as SPDM). nonce_i comes from a
// random source, which alone tells a session from those before a power-off. irq_o pulses when a
// response is in host memory.
// Latency: see mae_guard and results/figures.md.
// Throughput: 64 bytes a clock in each direction at the same time.
// Parameters: Budget below its default is for tests only. Legal: as mae_guard; MemoryLatency as
// Latency of mae_card_memory; Kernel any of kernel_e.
// Security: constant-time in keys and data; the kernel's time depends on its commands; no masking.
// Source: docs/protocol.md; Ghosh et al..

module mae_protected_card
  import mae_aes_pkg::*;
  import mae_guard_pkg::*;
  import mae_kernel_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned Depth = 8,
    parameter int unsigned ChunkBits = 20,
    parameter int unsigned Operations = 64,
    parameter int unsigned MemoryBits = 21,
    parameter bit AxiMemory = 1'b0,  // device memory behind m_axi_mem, not on the chip
    parameter int unsigned MemoryLatency = 2,  // clocks of a read of device memory on the chip
    parameter int unsigned Regions = 8,
    parameter kernel_e Kernel = KernelNn,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter bit Small = 1'b0,
    parameter bit RomSboxes = 1'b0,
    parameter bit Shared = 1'b0,
    parameter longint unsigned Budget = BlocksPerKey,  // blocks a key; lower for tests only
    localparam int unsigned AddrWidth = 20
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic         install_valid_i,
    output logic         install_ready_o,
    input  logic [255:0] install_secret_i,
    input  logic [127:0] install_session_id_i,
    input  logic [191:0] nonce_i,
    output logic         nonce_take_o,

    input  logic                 s_axil_awvalid,
    output logic                 s_axil_awready,
    input  logic [AddrWidth-1:0] s_axil_awaddr,
    input  logic [          2:0] s_axil_awprot,
    input  logic                 s_axil_wvalid,
    output logic                 s_axil_wready,
    input  logic [         31:0] s_axil_wdata,
    input  logic [          3:0] s_axil_wstrb,
    output logic                 s_axil_bvalid,
    input  logic                 s_axil_bready,
    output logic [          1:0] s_axil_bresp,
    input  logic                 s_axil_arvalid,
    output logic                 s_axil_arready,
    input  logic [AddrWidth-1:0] s_axil_araddr,
    input  logic [          2:0] s_axil_arprot,
    output logic                 s_axil_rvalid,
    input  logic                 s_axil_rready,
    output logic [         31:0] s_axil_rdata,
    output logic [          1:0] s_axil_rresp,
    output logic                 irq_o,

    output logic         m_axi_awvalid,
    input  logic         m_axi_awready,
    output logic [  7:0] m_axi_awid,
    output logic [ 63:0] m_axi_awaddr,
    output logic [  7:0] m_axi_awlen,
    output logic [  2:0] m_axi_awsize,
    output logic [  1:0] m_axi_awburst,
    output logic         m_axi_awlock,
    output logic [  3:0] m_axi_awcache,
    output logic [  2:0] m_axi_awprot,
    output logic         m_axi_wvalid,
    input  logic         m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [ 63:0] m_axi_wstrb,
    output logic         m_axi_wlast,
    input  logic         m_axi_bvalid,
    output logic         m_axi_bready,
    input  logic [  7:0] m_axi_bid,
    input  logic [  1:0] m_axi_bresp,
    output logic         m_axi_arvalid,
    input  logic         m_axi_arready,
    output logic [  7:0] m_axi_arid,
    output logic [ 63:0] m_axi_araddr,
    output logic [  7:0] m_axi_arlen,
    output logic [  2:0] m_axi_arsize,
    output logic [  1:0] m_axi_arburst,
    output logic         m_axi_arlock,
    output logic [  3:0] m_axi_arcache,
    output logic [  2:0] m_axi_arprot,
    input  logic         m_axi_rvalid,
    output logic         m_axi_rready,
    input  logic [  7:0] m_axi_rid,
    input  logic [511:0] m_axi_rdata,
    input  logic [  1:0] m_axi_rresp,
    input  logic         m_axi_rlast,

    output logic         m_axi_mem_awvalid,
    input  logic         m_axi_mem_awready,
    output logic         m_axi_mem_awid,
    output logic [ 31:0] m_axi_mem_awaddr,
    output logic [  7:0] m_axi_mem_awlen,
    output logic [  2:0] m_axi_mem_awsize,
    output logic [  1:0] m_axi_mem_awburst,
    output logic         m_axi_mem_awlock,
    output logic [  3:0] m_axi_mem_awcache,
    output logic [  2:0] m_axi_mem_awprot,
    output logic         m_axi_mem_wvalid,
    input  logic         m_axi_mem_wready,
    output logic [511:0] m_axi_mem_wdata,
    output logic [ 63:0] m_axi_mem_wstrb,
    output logic         m_axi_mem_wlast,
    input  logic         m_axi_mem_bvalid,
    output logic         m_axi_mem_bready,
    input  logic         m_axi_mem_bid,
    input  logic [  1:0] m_axi_mem_bresp,
    output logic         m_axi_mem_arvalid,
    input  logic         m_axi_mem_arready,
    output logic         m_axi_mem_arid,
    output logic [ 31:0] m_axi_mem_araddr,
    output logic [  7:0] m_axi_mem_arlen,
    output logic [  2:0] m_axi_mem_arsize,
    output logic [  1:0] m_axi_mem_arburst,
    output logic         m_axi_mem_arlock,
    output logic [  3:0] m_axi_mem_arcache,
    output logic [  2:0] m_axi_mem_arprot,
    input  logic         m_axi_mem_rvalid,
    output logic         m_axi_mem_rready,
    input  logic         m_axi_mem_rid,
    input  logic [511:0] m_axi_mem_rdata,
    input  logic [  1:0] m_axi_mem_rresp,
    input  logic         m_axi_mem_rlast
);

  logic clear, memory_busy, kernel_busy;
  logic check_write, check_legal, reg_valid, reg_write, reg_error, kernel_fault, unused_done;
  logic [31:0] check_offset, reg_offset;
  logic [1:0] check_log2_width, reg_log2_width;
  logic [63:0] reg_wdata, reg_rdata, runs;
  logic [1:0] judge_write, judge_fault;
  logic [1:0][63:0] judge_address;
  logic write_valid, write_ready, scrub_valid, scrub_ready, read_valid, read_ready, read_rvalid;
  logic [34:0] write_granule, scrub_granule, read_granule;
  logic [63:0] write_strb;
  logic [511:0] write_data, read_rdata;
  logic mem_valid, mem_ready, mem_rvalid, mem_fault;
  memory_request_t mem_request;
  row_t mem_rdata;
  logic mem_wide, mem_settled, memory_write_error, memory_read_error;
  logic [511:0] mem_row, mem_answer;

  mae_axi_pkg::axil_req_t axil_req;
  mae_axi_pkg::axil_rsp_t axil_rsp;

  mae_axil_port_to_struct #(
      .AddrWidth(AddrWidth)
  ) u_axil (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_guard #(
      .Queues    (Queues),
      .Depth     (Depth),
      .ChunkBits (ChunkBits),
      .Operations(Operations),
      .MemoryBits(MemoryBits),
      .Regions   (Regions),
      .ReadRows  (AxiMemory ? AxiReadRows : read_rows(MemoryLatency)),
      .Sbox      (Sbox),
      .Small     (Small),
      .RomSboxes (RomSboxes),
      .Shared    (Shared),
      .Budget    (Budget)
  ) u_guard (
      .axil_i            (axil_req),
      .axil_o            (axil_rsp),
      .ar_valid_o        (m_axi_arvalid),
      .ar_ready_i        (m_axi_arready),
      .ar_id_o           (m_axi_arid),
      .ar_addr_o         (m_axi_araddr),
      .ar_len_o          (m_axi_arlen),
      .r_valid_i         (m_axi_rvalid),
      .r_ready_o         (m_axi_rready),
      .r_id_i            (m_axi_rid),
      .r_data_i          (m_axi_rdata),
      .r_resp_i          (m_axi_rresp),
      .r_last_i          (m_axi_rlast),
      .aw_valid_o        (m_axi_awvalid),
      .aw_ready_i        (m_axi_awready),
      .aw_id_o           (m_axi_awid),
      .aw_addr_o         (m_axi_awaddr),
      .aw_len_o          (m_axi_awlen),
      .w_valid_o         (m_axi_wvalid),
      .w_ready_i         (m_axi_wready),
      .w_data_o          (m_axi_wdata),
      .w_strb_o          (m_axi_wstrb),
      .w_last_o          (m_axi_wlast),
      .b_valid_i         (m_axi_bvalid),
      .b_ready_o         (m_axi_bready),
      .b_id_i            (m_axi_bid),
      .b_resp_i          (m_axi_bresp),
      .clear_o           (clear),
      .busy_i            (memory_busy || kernel_busy),
      .check_write_o     (check_write),
      .check_offset_o    (check_offset),
      .check_log2_width_o(check_log2_width),
      .check_legal_i     (check_legal),
      .reg_valid_o       (reg_valid),
      .reg_write_o       (reg_write),
      .reg_offset_o      (reg_offset),
      .reg_log2_width_o  (reg_log2_width),
      .reg_wdata_o       (reg_wdata),
      .reg_rdata_i       (reg_rdata),
      .reg_error_i       (reg_error),
      .runs_i            (runs),
      .kernel_fault_i    (kernel_fault),
      .memory_error_i    (memory_write_error || memory_read_error),
      .judge_write_i     (judge_write),
      .judge_address_i   (judge_address),
      .judge_fault_o     (judge_fault),
      .write_valid_o     (write_valid),
      .write_ready_i     (write_ready),
      .write_granule_o   (write_granule),
      .write_strb_o      (write_strb),
      .write_data_o      (write_data),
      .scrub_valid_o     (scrub_valid),
      .scrub_ready_i     (scrub_ready),
      .scrub_granule_o   (scrub_granule),
      .read_valid_o      (read_valid),
      .read_ready_i      (read_ready),
      .read_granule_o    (read_granule),
      .read_rvalid_i     (read_rvalid),
      .read_rdata_i      (read_rdata),
      .*
  );

  // INCR bursts of whole rows, bufferable and modifiable, unprivileged secure data.
  assign m_axi_awsize  = 3'd6;
  assign m_axi_arsize  = 3'd6;
  assign m_axi_awburst = 2'b01;
  assign m_axi_arburst = 2'b01;
  assign m_axi_awlock  = 1'b0;
  assign m_axi_arlock  = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_arprot  = 3'b000;

  mae_device_memory #(
      .Axi       (AxiMemory),
      .MemoryBits(MemoryBits),
      .Latency   (MemoryLatency)
  ) u_memory (
      .clk_i,
      .rst_ni,
      .clear_i         (clear),
      .busy_o          (memory_busy),
      .write_valid_i   (write_valid),
      .write_ready_o   (write_ready),
      .write_granule_i (write_granule),
      .write_strb_i    (write_strb),
      .write_data_i    (write_data),
      .scrub_valid_i   (scrub_valid),
      .scrub_ready_o   (scrub_ready),
      .scrub_granule_i (scrub_granule),
      .read_valid_i    (read_valid),
      .read_ready_o    (read_ready),
      .read_granule_i  (read_granule),
      .read_rvalid_o   (read_rvalid),
      .read_rdata_o    (read_rdata),
      .kernel_valid_i  (mem_valid),
      .kernel_ready_o  (mem_ready),
      .kernel_request_i(mem_request),
      .kernel_wide_i   (mem_wide),
      .kernel_row_i    (mem_row),
      .kernel_row_o    (mem_answer),
      .kernel_rvalid_o (mem_rvalid),
      .kernel_rdata_o  (mem_rdata),
      .kernel_fault_o  (mem_fault),
      .judge_write_o   (judge_write),
      .judge_address_o (judge_address),
      .judge_fault_i   (judge_fault),
      .write_error_o   (memory_write_error),
      .read_error_o    (memory_read_error),
      .kernel_settled_o(mem_settled),
      .*
  );

  mae_kernel_registers #(
      .Kernel(Kernel)
  ) u_kernel (
      .clk_i,
      .rst_ni,
      .clear_i           (clear),
      .busy_o            (kernel_busy),
      .check_write_i     (check_write),
      .check_offset_i    (check_offset),
      .check_log2_width_i(check_log2_width),
      .check_legal_o     (check_legal),
      .reg_valid_i       (reg_valid),
      .reg_write_i       (reg_write),
      .reg_offset_i      (reg_offset),
      .reg_log2_width_i  (reg_log2_width),
      .reg_wdata_i       (reg_wdata),
      .reg_rdata_o       (reg_rdata),
      .reg_error_o       (reg_error),
      .runs_o            (runs),
      .fault_o           (kernel_fault),
      .done_o            (unused_done),
      .mem_valid_o       (mem_valid),
      .mem_ready_i       (mem_ready),
      .mem_request_o     (mem_request),
      .mem_wide_o        (mem_wide),
      .mem_row_o         (mem_row),
      .mem_row_i         (mem_answer),
      .mem_rvalid_i      (mem_rvalid),
      .mem_rdata_i       (mem_rdata),
      .mem_fault_i       (mem_fault),
      .mem_settled_i     (mem_settled)
  );

endmodule
