// SPDX-License-Identifier: Apache-2.0
//
// os_registers_bench: gives mae_guard_os_registers a port for each AXI4-Lite signal.

module os_registers_bench
  import mae_axi_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter int unsigned Queues = 4,
    parameter int unsigned AddrWidth = 20,
    localparam int unsigned QueueWidth = (Queues > 1) ? $clog2(Queues) : 1
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

    input logic clear_i,

    // the session
    output logic           reset_o,             // the OS resets the device
    output logic   [  7:0] host_nonce_write_o,
    output logic   [ 31:0] host_nonce_word_o,
    input  state_e         state_i,
    input  fatal_t         cause_i,
    input  logic   [255:0] device_nonce_i,
    input  logic   [ 63:0] capabilities_i,

    // the mailboxes
    output logic                  write_valid_o,   // a word of a queue's page
    output logic [QueueWidth-1:0] write_queue_o,
    output logic [          11:0] write_offset_o,
    output logic [          31:0] write_data_o,

    // the queues
    input  logic [Queues-1:0]       ready_i,
    input  logic [Queues-1:0][ 7:0] outstanding_i,
    input  logic [Queues-1:0][63:0] next_i,
    output logic [Queues-1:0][63:0] response_base_o
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

  mae_guard_os_registers #(
      .Queues   (Queues),
      .AddrWidth(AddrWidth)
  ) u_registers (
      .axil_i(axil_req),
      .axil_o(axil_rsp),
      .*
  );

endmodule
