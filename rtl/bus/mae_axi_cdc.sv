// SPDX-License-Identifier: Apache-2.0
//
// mae_axi_cdc: transfers all five AXI4 channels between two clocks of any phase and frequency
// ratio.
//
// Each channel is a mae_fifo_async, so ready and valid depend on registers of their own side only.
// The order within a channel is kept; the order between channels is not: a write address may arrive
// before or after its data. A beat is set to zero in the crossing once it has left. The signals
// AxLOCK, AxCACHE, AxPROT and AxQOS do not cross, because they are constants of the devices.
// Latency: one clock of the source side and two to three clocks of the destination side, for each
// channel.
// Throughput: one transfer a clock of the slower side on each channel if LogDepth >= 3.
// Reset: the reset of either side resets the whole crossing (mae_cdc_reset_ctrl); no ready is high
// during it.
// Parameters: each channel holds 2^LogDepth beats. Legal: DataWidth a power of two from 8 to 1024,
// IdWidth >= 1, AddrWidth >= 1, LogDepth >= 1.
// Source: ARM IHI 0022 (AXI4).

`include "mae_assert.svh"

module mae_axi_cdc #(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned IdWidth   = 8,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned LogDepth  = 3
) (
    input logic test_mode_i,  // high: resets not synchronized (mae_reset_sync)

    // subordinate side
    input  logic                   s_clk_i,
    input  logic                   s_rst_ni,
    input  logic                   s_axi_awvalid,
    output logic                   s_axi_awready,
    input  logic [    IdWidth-1:0] s_axi_awid,
    input  logic [  AddrWidth-1:0] s_axi_awaddr,
    input  logic [            7:0] s_axi_awlen,
    input  logic [            2:0] s_axi_awsize,
    input  logic [            1:0] s_axi_awburst,
    input  logic                   s_axi_wvalid,
    output logic                   s_axi_wready,
    input  logic [  DataWidth-1:0] s_axi_wdata,
    input  logic [DataWidth/8-1:0] s_axi_wstrb,
    input  logic                   s_axi_wlast,
    output logic                   s_axi_bvalid,
    input  logic                   s_axi_bready,
    output logic [    IdWidth-1:0] s_axi_bid,
    output logic [            1:0] s_axi_bresp,
    input  logic                   s_axi_arvalid,
    output logic                   s_axi_arready,
    input  logic [    IdWidth-1:0] s_axi_arid,
    input  logic [  AddrWidth-1:0] s_axi_araddr,
    input  logic [            7:0] s_axi_arlen,
    input  logic [            2:0] s_axi_arsize,
    input  logic [            1:0] s_axi_arburst,
    output logic                   s_axi_rvalid,
    input  logic                   s_axi_rready,
    output logic [    IdWidth-1:0] s_axi_rid,
    output logic [  DataWidth-1:0] s_axi_rdata,
    output logic [            1:0] s_axi_rresp,
    output logic                   s_axi_rlast,
    // manager side
    input  logic                   m_clk_i,
    input  logic                   m_rst_ni,
    output logic                   m_axi_awvalid,
    input  logic                   m_axi_awready,
    output logic [    IdWidth-1:0] m_axi_awid,
    output logic [  AddrWidth-1:0] m_axi_awaddr,
    output logic [            7:0] m_axi_awlen,
    output logic [            2:0] m_axi_awsize,
    output logic [            1:0] m_axi_awburst,
    output logic                   m_axi_wvalid,
    input  logic                   m_axi_wready,
    output logic [  DataWidth-1:0] m_axi_wdata,
    output logic [DataWidth/8-1:0] m_axi_wstrb,
    output logic                   m_axi_wlast,
    input  logic                   m_axi_bvalid,
    output logic                   m_axi_bready,
    input  logic [    IdWidth-1:0] m_axi_bid,
    input  logic [            1:0] m_axi_bresp,
    output logic                   m_axi_arvalid,
    input  logic                   m_axi_arready,
    output logic [    IdWidth-1:0] m_axi_arid,
    output logic [  AddrWidth-1:0] m_axi_araddr,
    output logic [            7:0] m_axi_arlen,
    output logic [            2:0] m_axi_arsize,
    output logic [            1:0] m_axi_arburst,
    input  logic                   m_axi_rvalid,
    output logic                   m_axi_rready,
    input  logic [    IdWidth-1:0] m_axi_rid,
    input  logic [  DataWidth-1:0] m_axi_rdata,
    input  logic [            1:0] m_axi_rresp,
    input  logic                   m_axi_rlast
);
  `MAE_PARAM(DataWidthLegal, DataWidth >= 8 && DataWidth <= 1024 && $onehot(DataWidth))

  localparam int unsigned AddressBits = IdWidth + AddrWidth + 8 + 3 + 2;

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
      .Width   (AddressBits),
      .LogDepth(LogDepth)
  ) u_aw (
      .in_clk_i   (s_clk_i),
      .in_rst_ni  (s_rst_n),
      .in_valid_i (s_axi_awvalid),
      .in_ready_o (s_axi_awready),
      .in_data_i  ({s_axi_awid, s_axi_awaddr, s_axi_awlen, s_axi_awsize, s_axi_awburst}),
      .out_clk_i  (m_clk_i),
      .out_rst_ni (m_rst_n),
      .out_valid_o(m_axi_awvalid),
      .out_ready_i(m_axi_awready),
      .out_data_o ({m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst})
  );

  mae_fifo_async #(
      .Width   (DataWidth + DataWidth / 8 + 1),
      .LogDepth(LogDepth)
  ) u_w (
      .in_clk_i   (s_clk_i),
      .in_rst_ni  (s_rst_n),
      .in_valid_i (s_axi_wvalid),
      .in_ready_o (s_axi_wready),
      .in_data_i  ({s_axi_wdata, s_axi_wstrb, s_axi_wlast}),
      .out_clk_i  (m_clk_i),
      .out_rst_ni (m_rst_n),
      .out_valid_o(m_axi_wvalid),
      .out_ready_i(m_axi_wready),
      .out_data_o ({m_axi_wdata, m_axi_wstrb, m_axi_wlast})
  );

  mae_fifo_async #(
      .Width   (IdWidth + 2),
      .LogDepth(LogDepth)
  ) u_b (
      .in_clk_i   (m_clk_i),
      .in_rst_ni  (m_rst_n),
      .in_valid_i (m_axi_bvalid),
      .in_ready_o (m_axi_bready),
      .in_data_i  ({m_axi_bid, m_axi_bresp}),
      .out_clk_i  (s_clk_i),
      .out_rst_ni (s_rst_n),
      .out_valid_o(s_axi_bvalid),
      .out_ready_i(s_axi_bready),
      .out_data_o ({s_axi_bid, s_axi_bresp})
  );

  mae_fifo_async #(
      .Width   (AddressBits),
      .LogDepth(LogDepth)
  ) u_ar (
      .in_clk_i   (s_clk_i),
      .in_rst_ni  (s_rst_n),
      .in_valid_i (s_axi_arvalid),
      .in_ready_o (s_axi_arready),
      .in_data_i  ({s_axi_arid, s_axi_araddr, s_axi_arlen, s_axi_arsize, s_axi_arburst}),
      .out_clk_i  (m_clk_i),
      .out_rst_ni (m_rst_n),
      .out_valid_o(m_axi_arvalid),
      .out_ready_i(m_axi_arready),
      .out_data_o ({m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst})
  );

  mae_fifo_async #(
      .Width   (IdWidth + DataWidth + 3),
      .LogDepth(LogDepth)
  ) u_r (
      .in_clk_i   (m_clk_i),
      .in_rst_ni  (m_rst_n),
      .in_valid_i (m_axi_rvalid),
      .in_ready_o (m_axi_rready),
      .in_data_i  ({m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast}),
      .out_clk_i  (s_clk_i),
      .out_rst_ni (s_rst_n),
      .out_valid_o(s_axi_rvalid),
      .out_ready_i(s_axi_rready),
      .out_data_o ({s_axi_rid, s_axi_rdata, s_axi_rresp, s_axi_rlast})
  );

endmodule
