// SPDX-License-Identifier: Apache-2.0
//
// mae_axi_w_purge: replaces AXI4 write data that wait for the bus by zeros on a purge. So a bus
// that never takes them holds no data of a device back.
//
// While purge_i is low, beats pass combinationally. While it is high, the offered beat stays on the
// manager side until it is taken (IHI 0022 A3.2.1); all others are taken from the subordinate side,
// at most Beats ahead of the bus, and sent as zeros without strobes and with their WLAST. Beats pass
// again when purge_i is low and all of these were taken.
// Latency: 0 clocks; 1 clock while purge_i is high.
// Throughput: one beat a clock.
// Reset and clear: reset drops all beats; each beat is erased when it has left.
// Parameters: Legal: DataWidth a power of two from 8 to 1024, Beats >= 1.
// Source: ARM IHI 0022 (AXI4).

`include "mae_assert.svh"

module mae_axi_w_purge #(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Beats = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic purge_i,

    input  logic                   s_axi_wvalid,
    output logic                   s_axi_wready,
    input  logic [  DataWidth-1:0] s_axi_wdata,
    input  logic [DataWidth/8-1:0] s_axi_wstrb,
    input  logic                   s_axi_wlast,
    output logic                   m_axi_wvalid,
    input  logic                   m_axi_wready,
    output logic [  DataWidth-1:0] m_axi_wdata,
    output logic [DataWidth/8-1:0] m_axi_wstrb,
    output logic                   m_axi_wlast
);
  `MAE_PARAM(DataWidthLegal, DataWidth >= 8 && DataWidth <= 1024 && $onehot(DataWidth))
  `MAE_PARAM(BeatsLegal, Beats >= 1)

  logic purge_q;
  logic held_q;  // the beat that was on the bus when purge_i rose
  logic [DataWidth-1:0] data_q;
  logic [DataWidth/8-1:0] strb_q;
  logic last_q;
  logic pass, ready, owed, owed_last;
  logic [$clog2(Beats+1)-1:0] unused_count;

  assign pass = !purge_q && !held_q && !owed;
  assign s_axi_wready = pass ? m_axi_wready || purge_i : purge_q && ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      purge_q <= 1'b0;
      held_q  <= 1'b0;
      data_q  <= '0;
      strb_q  <= '0;
      last_q  <= 1'b0;
    end else begin
      purge_q <= purge_i;
      if (pass && purge_i && s_axi_wvalid && !m_axi_wready) begin
        held_q <= 1'b1;
        data_q <= s_axi_wdata;
        strb_q <= s_axi_wstrb;
        last_q <= s_axi_wlast;
      end else if (m_axi_wready) begin
        held_q <= 1'b0;
        data_q <= '0;
      end
    end
  end

  mae_fifo #(
      .Width(1),
      .Depth(Beats)
  ) u_owed (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (s_axi_wvalid && purge_q),
      .in_ready_o (ready),
      .in_data_i  (s_axi_wlast),
      .out_valid_o(owed),
      .out_ready_i(m_axi_wready && !held_q),
      .out_data_o (owed_last),
      .count_o    (unused_count)
  );

  always_comb begin
    m_axi_wvalid = owed || held_q;
    m_axi_wdata  = data_q;
    m_axi_wstrb  = held_q ? strb_q : '0;
    m_axi_wlast  = held_q ? last_q : owed_last;
    if (pass) begin
      m_axi_wvalid = s_axi_wvalid;
      m_axi_wdata  = s_axi_wdata;
      m_axi_wstrb  = s_axi_wstrb;
      m_axi_wlast  = s_axi_wlast;
    end
  end

  `MAE_STREAM_HOLDS(WHolds, m_axi_wvalid, m_axi_wready, {m_axi_wdata, m_axi_wstrb, m_axi_wlast})

endmodule
