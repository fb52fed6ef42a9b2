// SPDX-License-Identifier: Apache-2.0
//
// sim_clocks: implements registers with two clocks and no DMA, to test the simulator.

module sim_clocks (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        bus_clk_i,
    input  logic        bus_rst_ni,
    output logic        irq_o,
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [11:0] s_axil_awaddr,
    input  logic [ 2:0] s_axil_awprot,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [ 3:0] s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [ 1:0] s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [11:0] s_axil_araddr,
    input  logic [ 2:0] s_axil_arprot,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp
);

  logic [31:0] clocks_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) clocks_q <= '0;
    else clocks_q <= clocks_q + 1;
  assign irq_o = clocks_q >= 1000;

  // Both halves of a write in one clock, a read's answer in the next; refuses every write.
  logic write;
  assign write = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  assign {s_axil_awready, s_axil_wready} = {2{write}};
  assign s_axil_arready = !s_axil_rvalid;
  assign s_axil_bresp = 2'b11;
  assign s_axil_rresp = 2'b00;
  always_ff @(posedge bus_clk_i or negedge bus_rst_ni) begin
    if (!bus_rst_ni) begin
      {s_axil_bvalid, s_axil_rvalid, s_axil_rdata} <= '0;
    end else begin
      if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (write) s_axil_bvalid <= 1'b1;
      if (s_axil_arvalid && s_axil_arready) {s_axil_rvalid, s_axil_rdata} <= {1'b1, clocks_q};
    end
  end

  logic unused;
  assign unused = ^{s_axil_awaddr, s_axil_awprot, s_axil_wdata, s_axil_wstrb, s_axil_araddr,
                    s_axil_arprot};

endmodule
