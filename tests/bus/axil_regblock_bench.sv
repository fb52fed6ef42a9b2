// SPDX-License-Identifier: Apache-2.0
//
// axil_regblock_bench: gives mae_axil_regblock_adapter a port for each AXI4-Lite signal.

module axil_regblock_bench
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

    output logic                 req_o,
    output logic                 req_is_wr_o,
    output logic [AddrWidth-1:0] addr_o,
    output logic [         31:0] wr_data_o,
    output logic [         31:0] wr_biten_o,
    input  logic                 rd_ack_i,
    input  logic                 rd_err_i,
    input  logic [         31:0] rd_data_i,
    input  logic                 wr_ack_i,
    input  logic                 wr_err_i
);
  axil_req_t axil_req;
  axil_rsp_t axil_rsp;

  mae_axil_port_to_struct #(
      .AddrWidth(AddrWidth)
  ) u_pack (
      .axil_o(axil_req),
      .axil_i(axil_rsp),
      .*
  );

  mae_axil_regblock_adapter #(
      .AddrWidth(AddrWidth)
  ) u_adapter (
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .*
  );

endmodule
