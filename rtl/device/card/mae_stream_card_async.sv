// SPDX-License-Identifier: Apache-2.0
//
// mae_stream_card_async: adds clock-domain crossings to mae_stream_card, so that its buses have a
// clock of their own.
//
// Registers, memory bus and interrupt belong to bus_clk_i, everything else to clk_i; the clocks may
// have any ratio and phase.
// Latency: the crossings add about four clocks of each side to a register access or a burst.
// Throughput: one beat a clock of the slower side.
// Wipe: as mae_stream_card; write data in the crossing are erased at most 40 clocks of each side
// later.
// Reset: a reset of either side resets the whole card.
// Test mode: as mae_stream_card.
// Parameters: Legal: as mae_stream_card.

module mae_stream_card_async
  import mae_aes_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 4,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Gcm = 1'b1,
    parameter int unsigned IdWidth = 8,
    localparam int unsigned DataWidth = 128 * Lanes
) (
    input logic clk_i,
    input logic rst_ni,
    input logic bus_clk_i,
    input logic bus_rst_ni,
    input logic test_mode_i,

    input  logic                    s_axil_awvalid,
    output logic                    s_axil_awready,
    input  logic [RegAddrWidth-1:0] s_axil_awaddr,
    input  logic [             2:0] s_axil_awprot,
    input  logic                    s_axil_wvalid,
    output logic                    s_axil_wready,
    input  logic [            31:0] s_axil_wdata,
    input  logic [             3:0] s_axil_wstrb,
    output logic                    s_axil_bvalid,
    input  logic                    s_axil_bready,
    output logic [             1:0] s_axil_bresp,
    input  logic                    s_axil_arvalid,
    output logic                    s_axil_arready,
    input  logic [RegAddrWidth-1:0] s_axil_araddr,
    input  logic [             2:0] s_axil_arprot,
    output logic                    s_axil_rvalid,
    input  logic                    s_axil_rready,
    output logic [            31:0] s_axil_rdata,
    output logic [             1:0] s_axil_rresp,
    output logic                    irq_o,

    output logic                   m_axi_awvalid,
    input  logic                   m_axi_awready,
    output logic [    IdWidth-1:0] m_axi_awid,
    output logic [           63:0] m_axi_awaddr,
    output logic [            7:0] m_axi_awlen,
    output logic [            2:0] m_axi_awsize,
    output logic [            1:0] m_axi_awburst,
    output logic                   m_axi_awlock,
    output logic [            3:0] m_axi_awcache,
    output logic [            2:0] m_axi_awprot,
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
    output logic [           63:0] m_axi_araddr,
    output logic [            7:0] m_axi_arlen,
    output logic [            2:0] m_axi_arsize,
    output logic [            1:0] m_axi_arburst,
    output logic                   m_axi_arlock,
    output logic [            3:0] m_axi_arcache,
    output logic [            2:0] m_axi_arprot,
    input  logic                   m_axi_rvalid,
    output logic                   m_axi_rready,
    input  logic [    IdWidth-1:0] m_axi_rid,
    input  logic [  DataWidth-1:0] m_axi_rdata,
    input  logic [            1:0] m_axi_rresp,
    input  logic                   m_axi_rlast
);

  logic bus_rst_n, core_rst_n;

  mae_cdc_reset_ctrl u_resets (
      .s_clk_i (bus_clk_i),
      .s_rst_ni(bus_rst_ni),
      .s_rst_no(bus_rst_n),
      .m_clk_i (clk_i),
      .m_rst_ni(rst_ni),
      .m_rst_no(core_rst_n),
      .test_mode_i
  );

  // Register bus in the domain of clk_i.
  logic axil_awvalid, axil_awready, axil_wvalid, axil_wready, axil_bvalid, axil_bready;
  logic axil_arvalid, axil_arready, axil_rvalid, axil_rready;
  logic [RegAddrWidth-1:0] axil_awaddr, axil_araddr;
  logic [2:0] axil_awprot, axil_arprot;
  logic [31:0] axil_wdata, axil_rdata;
  logic [3:0] axil_wstrb;
  logic [1:0] axil_bresp, axil_rresp;

  mae_axil_cdc #(
      .AddrWidth(RegAddrWidth)
  ) u_axil (
      .test_mode_i,
      .s_clk_i       (bus_clk_i),
      .s_rst_ni      (bus_rst_n),
      .m_clk_i       (clk_i),
      .m_rst_ni      (core_rst_n),
      .m_axil_awvalid(axil_awvalid),
      .m_axil_awready(axil_awready),
      .m_axil_awaddr (axil_awaddr),
      .m_axil_awprot (axil_awprot),
      .m_axil_wvalid (axil_wvalid),
      .m_axil_wready (axil_wready),
      .m_axil_wdata  (axil_wdata),
      .m_axil_wstrb  (axil_wstrb),
      .m_axil_bvalid (axil_bvalid),
      .m_axil_bready (axil_bready),
      .m_axil_bresp  (axil_bresp),
      .m_axil_arvalid(axil_arvalid),
      .m_axil_arready(axil_arready),
      .m_axil_araddr (axil_araddr),
      .m_axil_arprot (axil_arprot),
      .m_axil_rvalid (axil_rvalid),
      .m_axil_rready (axil_rready),
      .m_axil_rdata  (axil_rdata),
      .m_axil_rresp  (axil_rresp),
      .*
  );

  // Memory bus in the domain of clk_i.
  logic axi_awvalid, axi_awready, axi_wvalid, axi_wready, axi_wlast, axi_bvalid, axi_bready;
  logic axi_arvalid, axi_arready, axi_rvalid, axi_rready, axi_rlast;
  logic [IdWidth-1:0] axi_awid, axi_bid, axi_arid, axi_rid;
  logic [63:0] axi_awaddr, axi_araddr;
  logic [7:0] axi_awlen, axi_arlen;
  logic [2:0] axi_awsize, axi_arsize;
  logic [1:0] axi_awburst, axi_arburst, axi_bresp, axi_rresp;
  logic [DataWidth-1:0] axi_wdata, axi_rdata;
  logic [DataWidth/8-1:0] axi_wstrb;
  logic crossed_wvalid, crossed_wready, crossed_wlast;
  logic [  DataWidth-1:0] crossed_wdata;
  logic [DataWidth/8-1:0] crossed_wstrb;

  mae_axi_cdc #(
      .DataWidth(DataWidth),
      .IdWidth  (IdWidth),
      .AddrWidth(64)
  ) u_axi (
      .test_mode_i,
      .s_clk_i      (clk_i),
      .s_rst_ni     (core_rst_n),
      .m_clk_i      (bus_clk_i),
      .m_rst_ni     (bus_rst_n),
      .s_axi_awvalid(axi_awvalid),
      .s_axi_awready(axi_awready),
      .s_axi_awid   (axi_awid),
      .s_axi_awaddr (axi_awaddr),
      .s_axi_awlen  (axi_awlen),
      .s_axi_awsize (axi_awsize),
      .s_axi_awburst(axi_awburst),
      .s_axi_wvalid (axi_wvalid),
      .s_axi_wready (axi_wready),
      .s_axi_wdata  (axi_wdata),
      .s_axi_wstrb  (axi_wstrb),
      .s_axi_wlast  (axi_wlast),
      .s_axi_bvalid (axi_bvalid),
      .s_axi_bready (axi_bready),
      .s_axi_bid    (axi_bid),
      .s_axi_bresp  (axi_bresp),
      .s_axi_arvalid(axi_arvalid),
      .s_axi_arready(axi_arready),
      .s_axi_arid   (axi_arid),
      .s_axi_araddr (axi_araddr),
      .s_axi_arlen  (axi_arlen),
      .s_axi_arsize (axi_arsize),
      .s_axi_arburst(axi_arburst),
      .s_axi_rvalid (axi_rvalid),
      .s_axi_rready (axi_rready),
      .s_axi_rid    (axi_rid),
      .s_axi_rdata  (axi_rdata),
      .s_axi_rresp  (axi_rresp),
      .s_axi_rlast  (axi_rlast),
      .m_axi_wvalid (crossed_wvalid),
      .m_axi_wready (crossed_wready),
      .m_axi_wdata  (crossed_wdata),
      .m_axi_wstrb  (crossed_wstrb),
      .m_axi_wlast  (crossed_wlast),
      .*
  );

  // A wipe purges the write data in the crossing. The card gives the first new beat only after it
  // has read a descriptor, so draining has fallen on this side before.
  logic draining, bus_draining;

  mae_sync u_draining (
      .clk_i (bus_clk_i),
      .rst_ni(bus_rst_n),
      .data_i(draining),
      .data_o(bus_draining)
  );

  mae_axi_w_purge #(
      .DataWidth(DataWidth)
  ) u_purge (
      .clk_i       (bus_clk_i),
      .rst_ni      (bus_rst_n),
      .purge_i     (bus_draining),
      .s_axi_wvalid(crossed_wvalid),
      .s_axi_wready(crossed_wready),
      .s_axi_wdata (crossed_wdata),
      .s_axi_wstrb (crossed_wstrb),
      .s_axi_wlast (crossed_wlast),
      .*
  );

  // Attributes are constants of the card, see mae_stream_card.
  logic unused_awlock, unused_arlock;
  logic [3:0] unused_awcache, unused_arcache;
  logic [2:0] unused_awprot, unused_arprot;

  assign m_axi_awlock  = 1'b0;
  assign m_axi_arlock  = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_arprot  = 3'b000;

  logic irq;

  mae_stream_card #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .KeySlots    (KeySlots),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .Gcm         (Gcm),
      .IdWidth     (IdWidth)
  ) u_card (
      .clk_i,
      .rst_ni        (core_rst_n),
      .test_mode_i,
      .s_axil_awvalid(axil_awvalid),
      .s_axil_awready(axil_awready),
      .s_axil_awaddr (axil_awaddr),
      .s_axil_awprot (axil_awprot),
      .s_axil_wvalid (axil_wvalid),
      .s_axil_wready (axil_wready),
      .s_axil_wdata  (axil_wdata),
      .s_axil_wstrb  (axil_wstrb),
      .s_axil_bvalid (axil_bvalid),
      .s_axil_bready (axil_bready),
      .s_axil_bresp  (axil_bresp),
      .s_axil_arvalid(axil_arvalid),
      .s_axil_arready(axil_arready),
      .s_axil_araddr (axil_araddr),
      .s_axil_arprot (axil_arprot),
      .s_axil_rvalid (axil_rvalid),
      .s_axil_rready (axil_rready),
      .s_axil_rdata  (axil_rdata),
      .s_axil_rresp  (axil_rresp),
      .irq_o         (irq),
      .draining_o    (draining),
      .m_axi_awvalid (axi_awvalid),
      .m_axi_awready (axi_awready),
      .m_axi_awid    (axi_awid),
      .m_axi_awaddr  (axi_awaddr),
      .m_axi_awlen   (axi_awlen),
      .m_axi_awsize  (axi_awsize),
      .m_axi_awburst (axi_awburst),
      .m_axi_wvalid  (axi_wvalid),
      .m_axi_wready  (axi_wready),
      .m_axi_wdata   (axi_wdata),
      .m_axi_wstrb   (axi_wstrb),
      .m_axi_wlast   (axi_wlast),
      .m_axi_bvalid  (axi_bvalid),
      .m_axi_bready  (axi_bready),
      .m_axi_bid     (axi_bid),
      .m_axi_bresp   (axi_bresp),
      .m_axi_arvalid (axi_arvalid),
      .m_axi_arready (axi_arready),
      .m_axi_arid    (axi_arid),
      .m_axi_araddr  (axi_araddr),
      .m_axi_arlen   (axi_arlen),
      .m_axi_arsize  (axi_arsize),
      .m_axi_arburst (axi_arburst),
      .m_axi_rvalid  (axi_rvalid),
      .m_axi_rready  (axi_rready),
      .m_axi_rid     (axi_rid),
      .m_axi_rdata   (axi_rdata),
      .m_axi_rresp   (axi_rresp),
      .m_axi_rlast   (axi_rlast),
      .m_axi_awlock  (unused_awlock),
      .m_axi_awcache (unused_awcache),
      .m_axi_awprot  (unused_awprot),
      .m_axi_arlock  (unused_arlock),
      .m_axi_arcache (unused_arcache),
      .m_axi_arprot  (unused_arprot)
  );

  // The interrupt is a level that holds until the host clears it. The card makes it of several
  // registers: the one here keeps what it passes through from the crossing.
  logic irq_q;

  always_ff @(posedge clk_i or negedge core_rst_n) begin
    if (!core_rst_n) irq_q <= 1'b0;
    else irq_q <= irq;
  end

  mae_sync u_irq (
      .clk_i (bus_clk_i),
      .rst_ni(bus_rst_n),
      .data_i(irq_q),
      .data_o(irq_o)
  );

endmodule
