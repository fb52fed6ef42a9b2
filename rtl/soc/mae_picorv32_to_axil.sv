// SPDX-License-Identifier: Apache-2.0
//
// mae_picorv32_to_axil: converts PicoRV32's native memory port to an AXI4-Lite manager, one access
// at a time.
//
// Address and data are offered at once, each until it is accepted; strb_i other than 0 is a write.
// valid_i and its payload must hold until ready_o, as those of PicoRV32 do. An error response
// counts as any other, because the CPU has no input for it.
// Latency: none is added: ready_o is high in the clock of the response.
// Throughput: one access at a time.
// Parameters: Legal: AddrWidth >= 1.
// Security: timing is that of the subordinate.

`include "mae_assert.svh"

module mae_picorv32_to_axil #(
    parameter int unsigned AddrWidth = 32
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                 valid_i,
    output logic                 ready_o,  // combinational from the response
    input  logic [AddrWidth-1:0] addr_i,
    input  logic [          3:0] strb_i,   // 0: read
    input  logic [         31:0] wdata_i,
    output logic [         31:0] rdata_o,

    output logic                 m_axil_awvalid,
    input  logic                 m_axil_awready,
    output logic [AddrWidth-1:0] m_axil_awaddr,
    output logic [          2:0] m_axil_awprot,
    output logic                 m_axil_wvalid,
    input  logic                 m_axil_wready,
    output logic [         31:0] m_axil_wdata,
    output logic [          3:0] m_axil_wstrb,
    input  logic                 m_axil_bvalid,
    output logic                 m_axil_bready,
    output logic                 m_axil_arvalid,
    input  logic                 m_axil_arready,
    output logic [AddrWidth-1:0] m_axil_araddr,
    output logic [          2:0] m_axil_arprot,
    input  logic                 m_axil_rvalid,
    output logic                 m_axil_rready,
    input  logic [         31:0] m_axil_rdata
);

  logic write, aw_sent_q, w_sent_q, ar_sent_q;

  assign write          = strb_i != '0;
  assign m_axil_awvalid = valid_i && write && !aw_sent_q;
  assign m_axil_wvalid  = valid_i && write && !w_sent_q;
  assign m_axil_arvalid = valid_i && !write && !ar_sent_q;
  assign m_axil_awaddr  = addr_i;
  assign m_axil_araddr  = addr_i;
  assign m_axil_wdata   = wdata_i;
  assign m_axil_wstrb   = strb_i;
  assign m_axil_awprot  = '0;
  assign m_axil_arprot  = '0;
  assign m_axil_bready  = 1'b1;
  assign m_axil_rready  = 1'b1;
  assign ready_o        = valid_i && (write ? m_axil_bvalid : m_axil_rvalid);
  assign rdata_o        = m_axil_rdata;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_sent_q <= 1'b0;
      w_sent_q  <= 1'b0;
      ar_sent_q <= 1'b0;
    end else begin
      aw_sent_q <= (aw_sent_q || (m_axil_awvalid && m_axil_awready)) && !ready_o;
      w_sent_q  <= (w_sent_q || (m_axil_wvalid && m_axil_wready)) && !ready_o;
      ar_sent_q <= (ar_sent_q || (m_axil_arvalid && m_axil_arready)) && !ready_o;
    end
  end

  `MAE_STREAM_HOLDS(Access, valid_i, ready_o, {addr_i, strb_i, wdata_i})
  `MAE_STREAM_HOLDS(Aw, m_axil_awvalid, m_axil_awready, m_axil_awaddr)
  `MAE_STREAM_HOLDS(W, m_axil_wvalid, m_axil_wready, {m_axil_wdata, m_axil_wstrb})
  `MAE_STREAM_HOLDS(Ar, m_axil_arvalid, m_axil_arready, m_axil_araddr)
  `MAE_ASSERT(AnswerToAddress, !ready_o || (write ? aw_sent_q && w_sent_q : ar_sent_q))

endmodule
