// SPDX-License-Identifier: Apache-2.0
//
// mae_axi_narrow: connects an AXI4 manager to a bus of fewer data bits, of which each beat takes
// several.
//
// For each beat of the manager, Ratio beats of the bus follow, lowest bytes first. Reads of
// different IDs may interleave: what has come of a beat is held for each ID. A beat has the first
// error response of its parts. Bursts are of type INCR and of the manager's full width; an address
// is rounded down to a whole beat of the manager.
// All outputs come from registers.
// Latency: 1 clock for addresses and write responses, 2 clocks for write data, 1 clock for read
// data after the last of their parts.
// Throughput: a beat of the bus a clock in each direction.
// Reset and clear: reset drops all beats. Data are set to zero here once they have left, parts of
// reads as soon as their beat is whole. While purge_i is high, read data have no meaning, and the
// parts of reads that the bus never ends are erased within 2^IdWidth clocks without a read beat.
// Write data leave into what follows (mae_axi_w_purge).
// Parameters: Legal: SWidth and MWidth powers of two, 8 <= MWidth < SWidth <= 1024; IdWidth >= 1;
// AddrWidth >= 12. The manager's bursts have at most 256 / Ratio beats.
// Security: constant-time in data.
// Source: ARM IHI 0022 (AXI4).

`include "mae_assert.svh"

module mae_axi_narrow #(
    parameter int unsigned SWidth = 128,
    parameter int unsigned MWidth = 64,
    parameter int unsigned IdWidth = 8,
    parameter int unsigned AddrWidth = 64,
    localparam int unsigned Ratio = SWidth / MWidth
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 purge_i,        // from a register, until all bursts have ended
    // the manager's side
    input  logic                 s_axi_awvalid,
    output logic                 s_axi_awready,
    input  logic [  IdWidth-1:0] s_axi_awid,
    input  logic [AddrWidth-1:0] s_axi_awaddr,
    input  logic [          7:0] s_axi_awlen,
    input  logic [          2:0] s_axi_awsize,
    input  logic [          1:0] s_axi_awburst,
    input  logic                 s_axi_wvalid,
    output logic                 s_axi_wready,
    input  logic [   SWidth-1:0] s_axi_wdata,
    input  logic [ SWidth/8-1:0] s_axi_wstrb,
    input  logic                 s_axi_wlast,
    output logic                 s_axi_bvalid,
    input  logic                 s_axi_bready,
    output logic [  IdWidth-1:0] s_axi_bid,
    output logic [          1:0] s_axi_bresp,
    input  logic                 s_axi_arvalid,
    output logic                 s_axi_arready,
    input  logic [  IdWidth-1:0] s_axi_arid,
    input  logic [AddrWidth-1:0] s_axi_araddr,
    input  logic [          7:0] s_axi_arlen,
    input  logic [          2:0] s_axi_arsize,
    input  logic [          1:0] s_axi_arburst,
    output logic                 s_axi_rvalid,
    input  logic                 s_axi_rready,
    output logic [  IdWidth-1:0] s_axi_rid,
    output logic [   SWidth-1:0] s_axi_rdata,
    output logic [          1:0] s_axi_rresp,
    output logic                 s_axi_rlast,
    // the bus
    output logic                 m_axi_awvalid,
    input  logic                 m_axi_awready,
    output logic [  IdWidth-1:0] m_axi_awid,
    output logic [AddrWidth-1:0] m_axi_awaddr,
    output logic [          7:0] m_axi_awlen,
    output logic [          2:0] m_axi_awsize,
    output logic [          1:0] m_axi_awburst,
    output logic                 m_axi_wvalid,
    input  logic                 m_axi_wready,
    output logic [   MWidth-1:0] m_axi_wdata,
    output logic [ MWidth/8-1:0] m_axi_wstrb,
    output logic                 m_axi_wlast,
    input  logic                 m_axi_bvalid,
    output logic                 m_axi_bready,
    input  logic [  IdWidth-1:0] m_axi_bid,
    input  logic [          1:0] m_axi_bresp,
    output logic                 m_axi_arvalid,
    input  logic                 m_axi_arready,
    output logic [  IdWidth-1:0] m_axi_arid,
    output logic [AddrWidth-1:0] m_axi_araddr,
    output logic [          7:0] m_axi_arlen,
    output logic [          2:0] m_axi_arsize,
    output logic [          1:0] m_axi_arburst,
    input  logic                 m_axi_rvalid,
    output logic                 m_axi_rready,
    input  logic [  IdWidth-1:0] m_axi_rid,
    input  logic [   MWidth-1:0] m_axi_rdata,
    input  logic [          1:0] m_axi_rresp,
    input  logic                 m_axi_rlast
);
  `MAE_PARAM(SWidthLegal, SWidth <= 1024 && $onehot(SWidth))
  `MAE_PARAM(MWidthLegal, MWidth >= 8 && MWidth < SWidth && $onehot(MWidth))

  localparam int unsigned PartWidth = $clog2(Ratio);
  localparam int unsigned LaneWidth = $clog2(SWidth / 8);
  localparam logic [2:0] SSize = 3'(LaneWidth);
  localparam logic [2:0] MSize = 3'($clog2(MWidth / 8));
  localparam logic [1:0] Incr = 2'b01;
  typedef logic [PartWidth-1:0] part_t;

  // ---- Addresses and write responses.
  localparam int unsigned AddressWidth = IdWidth + AddrWidth - LaneWidth + 8 - PartWidth;

  mae_stream_reg #(
      .Width(AddressWidth)
  ) u_aw (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (s_axi_awvalid),
      .in_ready_o (s_axi_awready),
      .in_data_i  ({s_axi_awid, s_axi_awaddr[AddrWidth-1:LaneWidth], s_axi_awlen[7-PartWidth:0]}),
      .out_valid_o(m_axi_awvalid),
      .out_ready_i(m_axi_awready),
      .out_data_o ({m_axi_awid, m_axi_awaddr[AddrWidth-1:LaneWidth], m_axi_awlen[7:PartWidth]})
  );
  assign m_axi_awaddr[LaneWidth-1:0] = '0;
  assign m_axi_awlen[PartWidth-1:0]  = '1;
  assign m_axi_awsize                = MSize;
  assign m_axi_awburst               = Incr;

  mae_stream_reg #(
      .Width(AddressWidth)
  ) u_ar (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (s_axi_arvalid),
      .in_ready_o (s_axi_arready),
      .in_data_i  ({s_axi_arid, s_axi_araddr[AddrWidth-1:LaneWidth], s_axi_arlen[7-PartWidth:0]}),
      .out_valid_o(m_axi_arvalid),
      .out_ready_i(m_axi_arready),
      .out_data_o ({m_axi_arid, m_axi_araddr[AddrWidth-1:LaneWidth], m_axi_arlen[7:PartWidth]})
  );
  assign m_axi_araddr[LaneWidth-1:0] = '0;
  assign m_axi_arlen[PartWidth-1:0]  = '1;
  assign m_axi_arsize                = MSize;
  assign m_axi_arburst               = Incr;

  mae_stream_reg #(
      .Width(IdWidth + 2)
  ) u_b (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (m_axi_bvalid),
      .in_ready_o (m_axi_bready),
      .in_data_i  ({m_axi_bid, m_axi_bresp}),
      .out_valid_o(s_axi_bvalid),
      .out_ready_i(s_axi_bready),
      .out_data_o ({s_axi_bid, s_axi_bresp})
  );

  // ---- Write data: a beat of the manager in a register, whose parts leave in turn.
  logic write_q, last_q, write_ready;
  part_t write_part_q;
  logic [SWidth-1:0] data_q;
  logic [SWidth/8-1:0] strb_q;

  assign s_axi_wready = !write_q || (write_ready && write_part_q == '1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q      <= 1'b0;
      last_q       <= 1'b0;
      write_part_q <= '0;
      data_q       <= '0;
      strb_q       <= '0;
    end else if (s_axi_wready) begin
      write_q      <= s_axi_wvalid;
      last_q       <= s_axi_wlast;
      write_part_q <= '0;
      data_q       <= s_axi_wvalid ? s_axi_wdata : '0;
      strb_q       <= s_axi_wvalid ? s_axi_wstrb : '0;
    end else if (write_ready) begin
      write_part_q <= write_part_q + 1'b1;
      data_q       <= data_q >> MWidth;
      strb_q       <= strb_q >> (MWidth / 8);
    end
  end

  mae_stream_reg #(
      .Width(MWidth + MWidth / 8 + 1),
      .Zero (1'b1)
  ) u_w (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (write_q),
      .in_ready_o (write_ready),
      .in_data_i  ({data_q[MWidth-1:0], strb_q[MWidth/8-1:0], last_q && write_part_q == '1}),
      .out_valid_o(m_axi_wvalid),
      .out_ready_i(m_axi_wready),
      .out_data_o ({m_axi_wdata, m_axi_wstrb, m_axi_wlast})
  );

  // ---- Read data: of each ID the parts that have come, the newest highest.
  typedef struct packed {
    logic [1:0] resp;
    logic [SWidth-MWidth-1:0] data;
  } held_t;

  held_t store_q[2**IdWidth];
  part_t [2**IdWidth-1:0] parts_q;
  held_t held, held_new;
  part_t part;
  logic whole, take;
  logic [1:0] resp;

  assign part = parts_q[m_axi_rid];
  assign held = (part == '0) ? '0 : store_q[m_axi_rid];
  assign whole = part == '1;
  assign resp = (held.resp == '0) ? m_axi_rresp : held.resp;
  assign take = m_axi_rvalid && m_axi_rready;
  assign held_new.resp = resp;
  assign held_new.data = (SWidth - MWidth)'({m_axi_rdata, held.data} >> MWidth);

  logic [IdWidth-1:0] erase_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      parts_q <= '0;
      erase_q <= '0;
    end else begin
      if (take) parts_q[m_axi_rid] <= part + 1'b1;
      else if (purge_i) erase_q <= erase_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take || purge_i) store_q[take?m_axi_rid : erase_q] <= (whole || purge_i) ? '0 : held_new;
  end

  mae_stream_reg #(
      .Width(IdWidth + 3 + SWidth),
      .Zero (1'b1)
  ) u_read (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (m_axi_rvalid && whole),
      .in_ready_o (m_axi_rready),
      .in_data_i  ({m_axi_rid, resp, m_axi_rlast, m_axi_rdata, held.data}),
      .out_valid_o(s_axi_rvalid),
      .out_ready_i(s_axi_rready),
      .out_data_o ({s_axi_rid, s_axi_rresp, s_axi_rlast, s_axi_rdata})
  );

  // The manager's bursts are those that this module converts.
  function automatic logic converts(input logic [7:0] len, input logic [2:0] size,
                                    input logic [1:0] burst);
    return burst == Incr && size == SSize && 32'(len) < 256 / Ratio;
  endfunction
  `MAE_ASSERT(AwConverts, !s_axi_awvalid || converts(s_axi_awlen, s_axi_awsize, s_axi_awburst))
  `MAE_ASSERT(ArConverts, !s_axi_arvalid || converts(s_axi_arlen, s_axi_arsize, s_axi_arburst))

endmodule
