// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral_small: encrypts and decrypts blocks in ECB, CBC and CTR under one key, in the
// smallest area, that software writes to registers behind AXI4-Lite.
//
// It is mae_peripheral_small_core with bus signals as ports. Registers:
// regs/mae_peripheral_small.rdl.
// Latency: as mae_peripheral_small_core.
// Throughput: as mae_peripheral_small_core.
// Parameters: Legal: as mae_peripheral_small_core.
// Security: constant-time; no masking.
// Source: Kale et al., section 2. Tested by tests/device/peripheral/test_peripheral_small.py.

module mae_peripheral_small
  import mae_aes_pkg::*;
  import mae_device_pkg::*;
#(
    parameter bit Duplex = 1'b0,
    parameter bit Chain = 1'b1,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxLut
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

  mae_axi_pkg::axil_req_t axil_req;
  mae_axi_pkg::axil_rsp_t axil_rsp;

  mae_axil_port_to_struct #(
      .AddrWidth(RegAddrWidth)
  ) u_axil (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_peripheral_small_core #(
      .Duplex   (Duplex),
      .Chain    (Chain),
      .Dirs     (Dirs),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox)
  ) u_core (
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .*
  );

endmodule
