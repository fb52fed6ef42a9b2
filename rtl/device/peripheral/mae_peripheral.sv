// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral: encrypts and decrypts blocks that software writes to registers behind AXI4-Lite.
//
// It is mae_peripheral_core without the port to a memory, so that all its ports are bus signals.
// Registers: regs/mae_peripheral.rdl.
// Latency: as mae_peripheral_core.
// Throughput: as mae_peripheral_core.
// Parameters: Legal: as mae_peripheral_core.
// Security: constant-time; no masking.
// Source: Kale et al., section 2.

module mae_peripheral
  import mae_aes_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned KeySlots = 4,
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned Depth = 4,
    parameter bit Auth = 1'b1,
    parameter int unsigned Digit = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    s_axil_awvalid,
    output logic                    s_axil_awready,
    input  logic [RegAddrWidth-1:0] s_axil_awaddr,
    input  logic [             2:0] s_axil_awprot,
    input  logic                    s_axil_wvalid,
    output logic                    s_axil_wready,
    input  logic [            31:0] s_axil_wdata,
    input  logic [             3:0] s_axil_wstrb,
    output logic                    s_axil_bvalid,
    input  logic                    s_axil_bready,
    output logic [             1:0] s_axil_bresp,
    input  logic                    s_axil_arvalid,
    output logic                    s_axil_arready,
    input  logic [RegAddrWidth-1:0] s_axil_araddr,
    input  logic [             2:0] s_axil_arprot,
    output logic                    s_axil_rvalid,
    input  logic                    s_axil_rready,
    output logic [            31:0] s_axil_rdata,
    output logic [             1:0] s_axil_rresp,

    output logic irq_o
);

  mae_memory_job_pkg::memory_job_t unused_job;
  mae_memory_job_pkg::memory_out_t unused_memory;

  mae_axi_pkg::axil_req_t axil_req;
  mae_axi_pkg::axil_rsp_t axil_rsp;

  mae_axil_port_to_struct #(
      .AddrWidth(RegAddrWidth)
  ) u_axil (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_peripheral_core #(
      .KeySlots (KeySlots),
      .KeyBanks (KeyBanks),
      .Dirs     (Dirs),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox),
      .Depth    (Depth),
      .Auth     (Auth),
      .Digit    (Digit),
      .Memory   (1'b0)
  ) u_core (
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .memory_job_o(unused_job),
      .memory_error_i(ErrNone),
      .memory_o(unused_memory),
      .memory_i('0),
      .*
  );

endmodule
