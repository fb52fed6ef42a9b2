// SPDX-License-Identifier: Apache-2.0
//
// mae_stream_card_narrow: puts mae_stream_card on a memory bus of fewer data bits than its lanes
// take, such as one of 64 bits behind one lane.
//
// Latency: one or two clocks on each channel (mae_axi_narrow) more than mae_stream_card.
// Throughput: a beat of the bus a clock in each direction, as far as the lanes keep up.
// Wipe: as mae_stream_card; parts of reads that the bus never ends are erased within 2^IdWidth
// clocks more.
// Parameters: Legal: BusWidth a power of two, 32 <= BusWidth < 128 * Lanes; others as
// mae_stream_card.
// Source: Fernando et al. (its bus of 64 bits).

`include "mae_assert.svh"

module mae_stream_card_narrow
  import mae_aes_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned Lanes = 1,
    parameter int unsigned BusWidth = 64,
    parameter int unsigned Contexts = 16,
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 4,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Gcm = 1'b1,
    parameter int unsigned IdWidth = 8
) (
    input logic clk_i,
    input logic rst_ni,

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

    output logic                  m_axi_awvalid,
    input  logic                  m_axi_awready,
    output logic [   IdWidth-1:0] m_axi_awid,
    output logic [          63:0] m_axi_awaddr,
    output logic [           7:0] m_axi_awlen,
    output logic [           2:0] m_axi_awsize,
    output logic [           1:0] m_axi_awburst,
    output logic                  m_axi_awlock,
    output logic [           3:0] m_axi_awcache,
    output logic [           2:0] m_axi_awprot,
    output logic                  m_axi_wvalid,
    input  logic                  m_axi_wready,
    output logic [  BusWidth-1:0] m_axi_wdata,
    output logic [BusWidth/8-1:0] m_axi_wstrb,
    output logic                  m_axi_wlast,
    input  logic                  m_axi_bvalid,
    output logic                  m_axi_bready,
    input  logic [   IdWidth-1:0] m_axi_bid,
    input  logic [           1:0] m_axi_bresp,
    output logic                  m_axi_arvalid,
    input  logic                  m_axi_arready,
    output logic [   IdWidth-1:0] m_axi_arid,
    output logic [          63:0] m_axi_araddr,
    output logic [           7:0] m_axi_arlen,
    output logic [           2:0] m_axi_arsize,
    output logic [           1:0] m_axi_arburst,
    output logic                  m_axi_arlock,
    output logic [           3:0] m_axi_arcache,
    output logic [           2:0] m_axi_arprot,
    input  logic                  m_axi_rvalid,
    output logic                  m_axi_rready,
    input  logic [   IdWidth-1:0] m_axi_rid,
    input  logic [  BusWidth-1:0] m_axi_rdata,
    input  logic [           1:0] m_axi_rresp,
    input  logic                  m_axi_rlast
);
  `MAE_PARAM(BusWidthLegal, BusWidth >= 32)

  localparam int unsigned DataWidth = 128 * Lanes;

  // The card's bus.
  logic axi_awvalid, axi_awready, axi_wvalid, axi_wready, axi_wlast, axi_bvalid, axi_bready;
  logic axi_arvalid, axi_arready, axi_rvalid, axi_rready, axi_rlast, draining;
  logic [IdWidth-1:0] axi_awid, axi_bid, axi_arid, axi_rid;
  logic [63:0] axi_awaddr, axi_araddr;
  logic [7:0] axi_awlen, axi_arlen;
  logic [2:0] axi_awsize, axi_arsize;
  logic [1:0] axi_awburst, axi_arburst, axi_bresp, axi_rresp;
  logic [DataWidth-1:0] axi_wdata, axi_rdata;
  logic [DataWidth/8-1:0] axi_wstrb;
  // Its write data, narrow.
  logic parts_wvalid, parts_wready, parts_wlast;
  logic [  BusWidth-1:0] parts_wdata;
  logic [BusWidth/8-1:0] parts_wstrb;

  mae_axi_narrow #(
      .SWidth   (DataWidth),
      .MWidth   (BusWidth),
      .IdWidth  (IdWidth),
      .AddrWidth(64)
  ) u_narrow (
      .purge_i      (draining),
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
      .m_axi_wvalid (parts_wvalid),
      .m_axi_wready (parts_wready),
      .m_axi_wdata  (parts_wdata),
      .m_axi_wstrb  (parts_wstrb),
      .m_axi_wlast  (parts_wlast),
      .*
  );

  mae_axi_w_purge #(
      .DataWidth(BusWidth)
  ) u_purge (
      .purge_i     (draining),
      .s_axi_wvalid(parts_wvalid),
      .s_axi_wready(parts_wready),
      .s_axi_wdata (parts_wdata),
      .s_axi_wstrb (parts_wstrb),
      .s_axi_wlast (parts_wlast),
      .*
  );

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
      .draining_o   (draining),
      .m_axi_awvalid(axi_awvalid),
      .m_axi_awready(axi_awready),
      .m_axi_awid(axi_awid),
      .m_axi_awaddr(axi_awaddr),
      .m_axi_awlen(axi_awlen),
      .m_axi_awsize(axi_awsize),
      .m_axi_awburst(axi_awburst),
      .m_axi_wvalid(axi_wvalid),
      .m_axi_wready(axi_wready),
      .m_axi_wdata(axi_wdata),
      .m_axi_wstrb(axi_wstrb),
      .m_axi_wlast(axi_wlast),
      .m_axi_bvalid(axi_bvalid),
      .m_axi_bready(axi_bready),
      .m_axi_bid(axi_bid),
      .m_axi_bresp(axi_bresp),
      .m_axi_arvalid(axi_arvalid),
      .m_axi_arready(axi_arready),
      .m_axi_arid(axi_arid),
      .m_axi_araddr(axi_araddr),
      .m_axi_arlen(axi_arlen),
      .m_axi_arsize(axi_arsize),
      .m_axi_arburst(axi_arburst),
      .m_axi_rvalid(axi_rvalid),
      .m_axi_rready(axi_rready),
      .m_axi_rid(axi_rid),
      .m_axi_rdata(axi_rdata),
      .m_axi_rresp(axi_rresp),
      .m_axi_rlast(axi_rlast),
      .*
  );

endmodule
