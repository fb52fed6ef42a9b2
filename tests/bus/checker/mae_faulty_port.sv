// SPDX-License-Identifier: Apache-2.0
//
// mae_faulty_port: breaks one AXI4-Lite rule as a subordinate, which Fault selects as listed in
// test_bus_checks.py; 6: none.

module mae_faulty_port #(
    parameter int unsigned Fault = 6
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [ 3:0] s_axil_awaddr,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [ 3:0] s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [ 1:0] s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [ 3:0] s_axil_araddr,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp
);
  assign s_axil_awready = !s_axil_bvalid;
  assign s_axil_wready  = !s_axil_bvalid;
  assign s_axil_arready = !s_axil_rvalid;
  assign s_axil_bresp   = (Fault == 4) ? 2'b01 : 2'b00;
  assign s_axil_rresp   = (Fault == 5) ? 2'b01 : 2'b00;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {s_axil_bvalid, s_axil_rvalid, s_axil_rdata} <= '0;
    end else begin
      if (s_axil_bready || Fault == 0) s_axil_bvalid <= 1'b0;
      if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (Fault == 1) s_axil_rdata <= s_axil_rdata + 32'd1;
      if ((s_axil_awvalid && s_axil_wvalid && s_axil_awready) || Fault == 2) s_axil_bvalid <= 1'b1;
      if ((s_axil_arvalid && s_axil_arready) || Fault == 3) s_axil_rvalid <= 1'b1;
    end
  end

endmodule
