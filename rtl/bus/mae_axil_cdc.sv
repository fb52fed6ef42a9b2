// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_cdc: transfers AXI4-Lite accesses with 32-bit data between two clocks of any phase and
// frequency ratio.
//
// Each channel is a mae_fifo_async; no combinational path crosses. A word is set to zero in the
// crossing once it has left, because keys are written through it.
// Latency: one clock of the source side and two to three clocks of the destination side, for each
// channel; so an access takes about four clocks of each side longer.
// Throughput: up to two writes and two reads outstanding; about one access of each kind in six
// clocks of the slower side.
// Reset: the reset of either side resets the whole crossing (mae_cdc_reset_ctrl); no ready is high
// during it.
// Parameters: AddrWidth is the width of the addresses. Legal: AddrWidth >= 1.
// Source: ARM IHI 0022 (AXI4-Lite).

module mae_axil_cdc #(
    parameter int unsigned AddrWidth = 12
) (
    input logic test_mode_i,  // high: resets not synchronized (mae_reset_sync)

    // subordinate side
    input  logic                 s_clk_i,
    input  logic                 s_rst_ni,
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
    // manager side
    input  logic                 m_clk_i,
    input  logic                 m_rst_ni,
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
  logic s_rst_n, m_rst_n;

  mae_cdc_reset_ctrl u_resets (
      .s_clk_i,
      .s_rst_ni,
      .s_rst_no(s_rst_n),
      .m_clk_i,
      .m_rst_ni,
      .m_rst_no(m_rst_n),
      .test_mode_i
  );

  mae_fifo_async #(
      .Width   (AddrWidth + 3),
      .LogDepth(1)
  ) u_aw (
      .in_clk_i   (s_clk_i),
      .in_rst_ni  (s_rst_n),
      .in_valid_i (s_axil_awvalid),
      .in_ready_o (s_axil_awready),
      .in_data_i  ({s_axil_awaddr, s_axil_awprot}),
      .out_clk_i  (m_clk_i),
      .out_rst_ni (m_rst_n),
      .out_valid_o(m_axil_awvalid),
      .out_ready_i(m_axil_awready),
      .out_data_o ({m_axil_awaddr, m_axil_awprot})
  );

  mae_fifo_async #(
      .Width   (32 + 4),
      .LogDepth(1)
  ) u_w (
      .in_clk_i   (s_clk_i),
      .in_rst_ni  (s_rst_n),
      .in_valid_i (s_axil_wvalid),
      .in_ready_o (s_axil_wready),
      .in_data_i  ({s_axil_wdata, s_axil_wstrb}),
      .out_clk_i  (m_clk_i),
      .out_rst_ni (m_rst_n),
      .out_valid_o(m_axil_wvalid),
      .out_ready_i(m_axil_wready),
      .out_data_o ({m_axil_wdata, m_axil_wstrb})
  );

  mae_fifo_async #(
      .Width   (2),
      .LogDepth(1)
  ) u_b (
      .in_clk_i   (m_clk_i),
      .in_rst_ni  (m_rst_n),
      .in_valid_i (m_axil_bvalid),
      .in_ready_o (m_axil_bready),
      .in_data_i  ({m_axil_bresp}),
      .out_clk_i  (s_clk_i),
      .out_rst_ni (s_rst_n),
      .out_valid_o(s_axil_bvalid),
      .out_ready_i(s_axil_bready),
      .out_data_o ({s_axil_bresp})
  );

  mae_fifo_async #(
      .Width   (AddrWidth + 3),
      .LogDepth(1)
  ) u_ar (
      .in_clk_i   (s_clk_i),
      .in_rst_ni  (s_rst_n),
      .in_valid_i (s_axil_arvalid),
      .in_ready_o (s_axil_arready),
      .in_data_i  ({s_axil_araddr, s_axil_arprot}),
      .out_clk_i  (m_clk_i),
      .out_rst_ni (m_rst_n),
      .out_valid_o(m_axil_arvalid),
      .out_ready_i(m_axil_arready),
      .out_data_o ({m_axil_araddr, m_axil_arprot})
  );

  mae_fifo_async #(
      .Width   (32 + 2),
      .LogDepth(1)
  ) u_r (
      .in_clk_i   (m_clk_i),
      .in_rst_ni  (m_rst_n),
      .in_valid_i (m_axil_rvalid),
      .in_ready_o (m_axil_rready),
      .in_data_i  ({m_axil_rdata, m_axil_rresp}),
      .out_clk_i  (s_clk_i),
      .out_rst_ni (s_rst_n),
      .out_valid_o(s_axil_rvalid),
      .out_ready_i(s_axil_rready),
      .out_data_o ({s_axil_rdata, s_axil_rresp})
  );

endmodule
