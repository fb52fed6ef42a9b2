// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_port_to_struct: packs the signals of an AXI4-Lite subordinate port into the structs in
// which AXI4-Lite travels inside a device (mae_axi_pkg).
//
// Wires only. Protection bits are dropped. Clock and reset serve the protocol checkers alone.
// Latency: 0 clocks.
// Throughput: that of the port.
// Parameters: AddrWidth is the width of the port's addresses. Legal: AddrWidth 2..32.
// Source: ARM IHI 0022 (AXI4-Lite).

`include "mae_assert.svh"

module mae_axil_port_to_struct
  import mae_axi_pkg::*;
#(
    parameter int unsigned AddrWidth = 12
) (
    input logic clk_i,
    input logic rst_ni,

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

    output axil_req_t axil_o,
    input  axil_rsp_t axil_i
);
  `MAE_PARAM(AddrWidthLegal, AddrWidth >= 2 && AddrWidth <= 32)

  logic unused;
  assign unused = ^{clk_i, rst_ni, s_axil_awprot, s_axil_arprot};

  assign axil_o.aw_valid = s_axil_awvalid;
  assign axil_o.aw_addr = 32'(s_axil_awaddr);
  assign axil_o.w_valid = s_axil_wvalid;
  assign axil_o.w_data = s_axil_wdata;
  assign axil_o.w_strb = s_axil_wstrb;
  assign axil_o.b_ready = s_axil_bready;
  assign axil_o.ar_valid = s_axil_arvalid;
  assign axil_o.ar_addr = 32'(s_axil_araddr);
  assign axil_o.r_ready = s_axil_rready;

  assign s_axil_awready = axil_i.aw_ready;
  assign s_axil_wready = axil_i.w_ready;
  assign s_axil_bvalid = axil_i.b_valid;
  assign s_axil_bresp = axil_i.b_resp;
  assign s_axil_arready = axil_i.ar_ready;
  assign s_axil_rvalid = axil_i.r_valid;
  assign s_axil_rdata = axil_i.r_data;
  assign s_axil_rresp = axil_i.r_resp;

endmodule
