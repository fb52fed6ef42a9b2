// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_port: AXI4-Lite on one side, accesses to registers on the other.
//
// A write is shown once its address and its data are there; it and a read hold until *_done_i, which
// may come in the same clock, with the answer beside it. Both directions go on independently.
//
// Latency: an access is shown in the clock after it was taken, its answer is on the bus in the
// clock after *_done_i: 2 clocks a write or read with done at once. Throughput: one of each a clock.
// Ready is combinational from *_done_i and the bus's ready for answers. Legal: AddrWidth 2..64.
// Source: ARM IHI 0022 (AXI4-Lite).

`include "mae_assert.svh"

module mae_axil_port #(
    parameter int unsigned AddrWidth = 12
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                 s_axil_awvalid,
    output logic                 s_axil_awready,
    input  logic [AddrWidth-1:0] s_axil_awaddr,
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
    output logic                 s_axil_rvalid,
    input  logic                 s_axil_rready,
    output logic [         31:0] s_axil_rdata,
    output logic [          1:0] s_axil_rresp,

    output logic                 write_valid_o,
    input  logic                 write_done_i,
    output logic [AddrWidth-1:0] write_addr_o,
    output logic [         31:0] write_data_o,
    output logic [          3:0] write_strb_o,
    input  logic                 write_error_i,  // SLVERR

    output logic                 read_valid_o,
    input  logic                 read_done_i,
    output logic [AddrWidth-1:0] read_addr_o,
    input  logic [         31:0] read_data_i,
    input  logic                 read_error_i
);
  `MAE_PARAM(AddrWidthLegal, AddrWidth >= 2 && AddrWidth <= 64)

  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  logic aw_held_q, w_held_q, ar_held_q, wrote, read;
  logic [AddrWidth-1:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q;
  logic [ 3:0] wstrb_q;

  assign write_valid_o = aw_held_q && w_held_q && (!s_axil_bvalid || s_axil_bready);
  assign write_addr_o = awaddr_q;
  assign write_data_o = wdata_q;
  assign write_strb_o = wstrb_q;
  assign wrote = write_valid_o && write_done_i;
  assign s_axil_awready = !aw_held_q || wrote;
  assign s_axil_wready = !w_held_q || wrote;

  assign read_valid_o = ar_held_q && (!s_axil_rvalid || s_axil_rready);
  assign read_addr_o = araddr_q;
  assign read = read_valid_o && read_done_i;
  assign s_axil_arready = !ar_held_q || read;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_held_q, w_held_q, ar_held_q} <= '0;
      {awaddr_q, araddr_q, wdata_q, wstrb_q} <= '0;
      {s_axil_bvalid, s_axil_bresp, s_axil_rvalid, s_axil_rresp, s_axil_rdata} <= '0;
    end else begin
      if (wrote) {aw_held_q, w_held_q} <= '0;
      if (read) ar_held_q <= 1'b0;
      if (s_axil_awvalid && s_axil_awready) begin
        aw_held_q <= 1'b1;
        awaddr_q  <= s_axil_awaddr;
      end
      if (s_axil_wvalid && s_axil_wready) begin
        w_held_q <= 1'b1;
        wdata_q  <= s_axil_wdata;
        wstrb_q  <= s_axil_wstrb;
      end
      if (s_axil_arvalid && s_axil_arready) begin
        ar_held_q <= 1'b1;
        araddr_q  <= s_axil_araddr;
      end
      if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (wrote) begin
        s_axil_bvalid <= 1'b1;
        s_axil_bresp  <= write_error_i ? SlvErr : Okay;
      end
      if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (read) begin
        s_axil_rvalid <= 1'b1;
        s_axil_rresp  <= read_error_i ? SlvErr : Okay;
        s_axil_rdata  <= read_error_i ? '0 : read_data_i;
      end
    end
  end

  `MAE_STREAM_HOLDS(WriteHolds, write_valid_o, write_done_i, {write_addr_o, write_data_o,
                                                              write_strb_o})
  `MAE_STREAM_HOLDS(ReadHolds, read_valid_o, read_done_i, read_addr_o)
  `MAE_STREAM_HOLDS(BHolds, s_axil_bvalid, s_axil_bready, s_axil_bresp)
  `MAE_STREAM_HOLDS(RHolds, s_axil_rvalid, s_axil_rready, {s_axil_rdata, s_axil_rresp})

endmodule
