// SPDX-License-Identifier: Apache-2.0
//
// mae_apb_to_axil: converts APB accesses to AXI4-Lite accesses (APB completer to AXI4-Lite
// manager).
//
// The AXI4-Lite request is sent in APB's setup phase; the response ends the access phase in the
// clock in which it arrives. All ready, valid and data signals are combinational between the two
// sides. Registers only remember which channels have already been accepted. Any AXI error response
// becomes pslverr. For APB3, which has neither pstrb nor pprot, tie pstrb to ones and pprot to
// zero.
// Latency: none is added. An access takes at least 2 clocks, the minimum of APB.
// Throughput: one access at a time, as APB requires.
// Parameters: AddrWidth is the width of the addresses. Legal: AddrWidth >= 1.
// Source: ARM IHI 0024 (APB), ARM IHI 0022 (AXI4-Lite).

`include "mae_assert.svh"

module mae_apb_to_axil #(
    parameter int unsigned AddrWidth = 12
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                 s_apb_psel,
    input  logic                 s_apb_penable,
    input  logic                 s_apb_pwrite,
    input  logic [AddrWidth-1:0] s_apb_paddr,
    input  logic [          2:0] s_apb_pprot,
    input  logic [         31:0] s_apb_pwdata,
    input  logic [          3:0] s_apb_pstrb,
    output logic                 s_apb_pready,
    output logic [         31:0] s_apb_prdata,
    output logic                 s_apb_pslverr,

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
    input  logic [          1:0] m_axil_bresp,
    output logic                 m_axil_arvalid,
    input  logic                 m_axil_arready,
    output logic [AddrWidth-1:0] m_axil_araddr,
    output logic [          2:0] m_axil_arprot,
    input  logic                 m_axil_rvalid,
    output logic                 m_axil_rready,
    input  logic [         31:0] m_axil_rdata,
    input  logic [          1:0] m_axil_rresp
);
  logic aw_sent_q, w_sent_q, ar_sent_q;
  logic write, read, access, done;

  assign write          = s_apb_psel && s_apb_pwrite;
  assign read           = s_apb_psel && !s_apb_pwrite;
  assign access         = s_apb_psel && s_apb_penable;

  assign m_axil_awvalid = write && !aw_sent_q;
  assign m_axil_awaddr  = s_apb_paddr;
  assign m_axil_awprot  = s_apb_pprot;
  assign m_axil_wvalid  = write && !w_sent_q;
  assign m_axil_wdata   = s_apb_pwdata;
  assign m_axil_wstrb   = s_apb_pstrb;
  assign m_axil_arvalid = read && !ar_sent_q;
  assign m_axil_araddr  = s_apb_paddr;
  assign m_axil_arprot  = s_apb_pprot;

  assign m_axil_bready  = access && s_apb_pwrite;
  assign m_axil_rready  = access && !s_apb_pwrite;
  assign done           = access && (s_apb_pwrite ? m_axil_bvalid : m_axil_rvalid);
  assign s_apb_pready   = done;
  assign s_apb_prdata   = done && !s_apb_pwrite ? m_axil_rdata : '0;
  assign s_apb_pslverr  = done && (s_apb_pwrite ? m_axil_bresp : m_axil_rresp) != 2'b00;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_sent_q <= 1'b0;
      w_sent_q  <= 1'b0;
      ar_sent_q <= 1'b0;
    end else begin
      aw_sent_q <= (aw_sent_q || m_axil_awvalid && m_axil_awready) && !done;
      w_sent_q  <= (w_sent_q || m_axil_wvalid && m_axil_wready) && !done;
      ar_sent_q <= (ar_sent_q || m_axil_arvalid && m_axil_arready) && !done;
    end
  end

  `MAE_STREAM_HOLDS(AwHolds, m_axil_awvalid, m_axil_awready, {m_axil_awaddr, m_axil_awprot})
  `MAE_STREAM_HOLDS(WHolds, m_axil_wvalid, m_axil_wready, {m_axil_wdata, m_axil_wstrb})
  `MAE_STREAM_HOLDS(ArHolds, m_axil_arvalid, m_axil_arready, {m_axil_araddr, m_axil_arprot})
  `MAE_ASSERT(AnswerAfterRequest, !done || (s_apb_pwrite ? aw_sent_q && w_sent_q : ar_sent_q))

endmodule
