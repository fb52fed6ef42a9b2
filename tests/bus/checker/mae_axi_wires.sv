// SPDX-License-Identifier: Apache-2.0
//
// mae_axi_wires: connects two AXI4 ports by wires alone, so that test_axi4_checker.py
// can break the rules of either side.

module mae_axi_wires #(
    parameter int unsigned AddrWidth = 16,
    parameter int unsigned DataWidth = 64,
    parameter int unsigned IdWidth   = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic s_axi_awvalid,
    output logic s_axi_awready,
    input logic [IdWidth-1:0] s_axi_awid,
    input logic [AddrWidth-1:0] s_axi_awaddr,
    input logic [7:0] s_axi_awlen,
    input logic [2:0] s_axi_awsize,
    input logic [1:0] s_axi_awburst,
    input logic s_axi_awlock,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [IdWidth-1:0] m_axi_awid,
    output logic [AddrWidth-1:0] m_axi_awaddr,
    output logic [7:0] m_axi_awlen,
    output logic [2:0] m_axi_awsize,
    output logic [1:0] m_axi_awburst,
    output logic m_axi_awlock,
    input logic s_axi_wvalid,
    output logic s_axi_wready,
    input logic [DataWidth-1:0] s_axi_wdata,
    input logic [DataWidth/8-1:0] s_axi_wstrb,
    input logic s_axi_wlast,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    output logic [DataWidth-1:0] m_axi_wdata,
    output logic [DataWidth/8-1:0] m_axi_wstrb,
    output logic m_axi_wlast,
    output logic s_axi_bvalid,
    input logic s_axi_bready,
    output logic [IdWidth-1:0] s_axi_bid,
    output logic [1:0] s_axi_bresp,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    input logic [IdWidth-1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    input logic s_axi_arvalid,
    output logic s_axi_arready,
    input logic [IdWidth-1:0] s_axi_arid,
    input logic [AddrWidth-1:0] s_axi_araddr,
    input logic [7:0] s_axi_arlen,
    input logic [2:0] s_axi_arsize,
    input logic [1:0] s_axi_arburst,
    input logic s_axi_arlock,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    output logic [IdWidth-1:0] m_axi_arid,
    output logic [AddrWidth-1:0] m_axi_araddr,
    output logic [7:0] m_axi_arlen,
    output logic [2:0] m_axi_arsize,
    output logic [1:0] m_axi_arburst,
    output logic m_axi_arlock,
    output logic s_axi_rvalid,
    input logic s_axi_rready,
    output logic [IdWidth-1:0] s_axi_rid,
    output logic [DataWidth-1:0] s_axi_rdata,
    output logic [1:0] s_axi_rresp,
    output logic s_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready,
    input logic [IdWidth-1:0] m_axi_rid,
    input logic [DataWidth-1:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast
);
  assign m_axi_awvalid = s_axi_awvalid;
  assign s_axi_awready = m_axi_awready;
  assign m_axi_awid = s_axi_awid;
  assign m_axi_awaddr = s_axi_awaddr;
  assign m_axi_awlen = s_axi_awlen;
  assign m_axi_awsize = s_axi_awsize;
  assign m_axi_awburst = s_axi_awburst;
  assign m_axi_awlock = s_axi_awlock;
  assign m_axi_wvalid = s_axi_wvalid;
  assign s_axi_wready = m_axi_wready;
  assign m_axi_wdata = s_axi_wdata;
  assign m_axi_wstrb = s_axi_wstrb;
  assign m_axi_wlast = s_axi_wlast;
  assign s_axi_bvalid = m_axi_bvalid;
  assign m_axi_bready = s_axi_bready;
  assign s_axi_bid = m_axi_bid;
  assign s_axi_bresp = m_axi_bresp;
  assign m_axi_arvalid = s_axi_arvalid;
  assign s_axi_arready = m_axi_arready;
  assign m_axi_arid = s_axi_arid;
  assign m_axi_araddr = s_axi_araddr;
  assign m_axi_arlen = s_axi_arlen;
  assign m_axi_arsize = s_axi_arsize;
  assign m_axi_arburst = s_axi_arburst;
  assign m_axi_arlock = s_axi_arlock;
  assign s_axi_rvalid = m_axi_rvalid;
  assign m_axi_rready = s_axi_rready;
  assign s_axi_rid = m_axi_rid;
  assign s_axi_rdata = m_axi_rdata;
  assign s_axi_rresp = m_axi_rresp;
  assign s_axi_rlast = m_axi_rlast;

endmodule
