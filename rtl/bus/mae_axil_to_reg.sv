// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_to_reg: converts AXI4-Lite accesses to register accesses with a valid/done handshake.
//
// A write is presented (write_valid_o) once both its address and its data have been received. A
// write or read is held until write_done_i or read_done_i, which may be high in the first clock;
// write_error_i, or read_data_i and read_error_i, are sampled with it. Reads and writes are
// independent: neither waits for the response of the other to be accepted. A write without any
// strobe is answered but not presented. All bus outputs come from registers (no combinational path
// between inputs and outputs, IHI 0022 A3.2.1), whatever *_done_i depends on. Data are erased when
// they have left.
// Latency: an access is presented in the clock after it was accepted; its response is on the bus in
// the clock after *_done_i. A write or read takes 2 clocks if done is immediate.
// Throughput: one write and one read a clock.
// Parameters: AddrWidth is the width of the addresses. Legal: AddrWidth 2..32.
// Source: ARM IHI 0022 (AXI4-Lite).

`include "mae_assert.svh"

module mae_axil_to_reg
  import mae_axi_pkg::*;
#(
    parameter int unsigned AddrWidth = 12
) (
    input logic clk_i,
    input logic rst_ni,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,

    output logic                 write_valid_o,
    input  logic                 write_done_i,
    output logic [AddrWidth-1:0] write_addr_o,
    output logic [         31:0] write_data_o,
    output logic [          3:0] write_strb_o,
    input  logic                 write_error_i,  // high: respond with SLVERR

    output logic                 read_valid_o,
    input  logic                 read_done_i,
    output logic [AddrWidth-1:0] read_addr_o,
    input  logic [         31:0] read_data_i,
    input  logic                 read_error_i
);
  `MAE_PARAM(AddrWidthLegal, AddrWidth >= 2 && AddrWidth <= 32)

  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  logic unused_addr;
  assign unused_addr = ^{axil_i.aw_addr >> AddrWidth, axil_i.ar_addr >> AddrWidth};

  logic aw_valid, w_valid, b_room, r_room, strobed, wrote, read_valid, read;

  mae_stream_reg #(
      .Width(AddrWidth)
  ) u_aw (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (axil_i.aw_valid),
      .in_ready_o (axil_o.aw_ready),
      .in_data_i  (AddrWidth'(axil_i.aw_addr)),
      .out_valid_o(aw_valid),
      .out_ready_i(wrote),
      .out_data_o (write_addr_o)
  );

  mae_stream_reg #(
      .Width(36),
      .Zero (1'b1)
  ) u_w (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (axil_i.w_valid),
      .in_ready_o (axil_o.w_ready),
      .in_data_i  ({axil_i.w_data, axil_i.w_strb}),
      .out_valid_o(w_valid),
      .out_ready_i(wrote),
      .out_data_o ({write_data_o, write_strb_o})
  );

  mae_stream_reg #(
      .Width(AddrWidth)
  ) u_ar (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (axil_i.ar_valid),
      .in_ready_o (axil_o.ar_ready),
      .in_data_i  (AddrWidth'(axil_i.ar_addr)),
      .out_valid_o(read_valid),
      .out_ready_i(read),
      .out_data_o (read_addr_o)
  );

  assign strobed = write_strb_o != '0;
  assign write_valid_o = aw_valid && w_valid && b_room && strobed;
  assign wrote = aw_valid && w_valid && b_room && (write_done_i || !strobed);
  assign read_valid_o = read_valid && r_room;
  assign read = read_valid_o && read_done_i;

  mae_stream_reg #(
      .Width(2)
  ) u_b (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (wrote),
      .in_ready_o (b_room),
      .in_data_i  (write_error_i && strobed ? SlvErr : Okay),
      .out_valid_o(axil_o.b_valid),
      .out_ready_i(axil_i.b_ready),
      .out_data_o (axil_o.b_resp)
  );

  mae_stream_reg #(
      .Width(34),
      .Zero (1'b1)
  ) u_r (
      .clk_i,
      .rst_ni,
      .clear_i    (1'b0),
      .in_valid_i (read),
      .in_ready_o (r_room),
      .in_data_i  (read_error_i ? {32'd0, SlvErr} : {read_data_i, Okay}),
      .out_valid_o(axil_o.r_valid),
      .out_ready_i(axil_i.r_ready),
      .out_data_o ({axil_o.r_data, axil_o.r_resp})
  );

  `MAE_STREAM_HOLDS(WriteHolds, write_valid_o, write_done_i, {write_addr_o, write_data_o,
                                                              write_strb_o})
  `MAE_STREAM_HOLDS(ReadHolds, read_valid_o, read_done_i, read_addr_o)
  `MAE_STREAM_HOLDS(BHolds, axil_o.b_valid, axil_i.b_ready, axil_o.b_resp)
  `MAE_STREAM_HOLDS(RHolds, axil_o.r_valid, axil_i.r_ready, {axil_o.r_data, axil_o.r_resp})

endmodule
