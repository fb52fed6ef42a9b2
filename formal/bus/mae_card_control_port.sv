// SPDX-License-Identifier: Apache-2.0
//
// mae_card_control_port: gives mae_card_control a port for each AXI4-Lite signal, for its proof.

module mae_card_control_port
  import mae_axi_pkg::*;
  import mae_dma_pkg::*;
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

    input dma_status_t dma_status_i,
    input logic        draining_i,
    input logic        wiping_i,
    input logic        write_ready_i,
    input logic [15:0] slot_valid_i,
    input logic        row_i,
    input logic [ 6:0] row_bytes_i,
    input logic        read_beat_i,
    input logic        write_beat_i
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

  mae_card_control u_control (
      .axil_i       (axil_req),
      .axil_o       (axil_rsp),
      .irq_o        (),
      .dma_ctrl_o   (),
      .dma_irq_ack_o(),
      .halt_o       (),
      .job_rst_no   (),
      .clear_o      (),
      .write_valid_o(),
      .write_o      (),
      .*
  );

endmodule
