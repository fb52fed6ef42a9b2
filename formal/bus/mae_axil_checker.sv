// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_checker: watches one AXI4-Lite port and asserts the rules of the side that owns it;
// drives nothing. Latency: none, a violation is reported at the clock edge at which it is seen.
//
// Subordinate: 1 if the port is a subordinate's. AssumeOther: in proofs, the rules of the other
// side are assumed. CountWidth: accesses under way at once, 2^CountWidth - 1 at most.
// Source: ARM IHI 0022: A3.1.2 (reset), A3.2.1 (handshake), A3.3.1 (dependencies), B1.1
// (AXI4-Lite).

`include "mae_bus_rule.svh"

module mae_axil_checker #(
    parameter bit Subordinate = 1'b1,
    parameter bit AssumeOther = 1'b0,
    parameter int unsigned AddrWidth = 12,
    parameter int unsigned DataWidth = 32,
    parameter int unsigned CountWidth = 8
) (
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   awvalid,
    input logic                   awready,
    input logic [  AddrWidth-1:0] awaddr,
    input logic [            2:0] awprot,
    input logic                   wvalid,
    input logic                   wready,
    input logic [  DataWidth-1:0] wdata,
    input logic [DataWidth/8-1:0] wstrb,
    input logic                   bvalid,
    input logic                   bready,
    input logic [            1:0] bresp,
    input logic                   arvalid,
    input logic                   arready,
    input logic [  AddrWidth-1:0] araddr,
    input logic [            2:0] arprot,
    input logic                   rvalid,
    input logic                   rready,
    input logic [  DataWidth-1:0] rdata,
    input logic [            1:0] rresp
);
  localparam bit Manager = !Subordinate;
  localparam logic [1:0] ExOkay = 2'b01;

  // Accesses whose part was taken and whose answer was not.
  logic [CountWidth-1:0] aw_q, w_q, ar_q;
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, ar_q, out_of_reset_q} <= '0;
    end else begin
      aw_q <= aw_q + CountWidth'(awvalid && awready) - CountWidth'(bvalid && bready);
      w_q <= w_q + CountWidth'(wvalid && wready) - CountWidth'(bvalid && bready);
      ar_q <= ar_q + CountWidth'(arvalid && arready) - CountWidth'(rvalid && rready);
      out_of_reset_q <= 1'b1;
    end
  end

  // A3.2.1: what is offered stays until it is taken.
  `MAE_RULE_HOLDS(AxilAwHolds, Manager, awvalid, awready, ({awaddr, awprot}))
  `MAE_RULE_HOLDS(AxilWHolds, Manager, wvalid, wready, ({wdata, wstrb}))
  `MAE_RULE_HOLDS(AxilArHolds, Manager, arvalid, arready, ({araddr, arprot}))
  `MAE_RULE_HOLDS(AxilBHolds, Subordinate, bvalid, bready, bresp)
  `MAE_RULE_HOLDS(AxilRHolds, Subordinate, rvalid, rready, ({rdata, rresp}))
  // A3.1.2: valid is low until the first edge at which reset is high.
  `MAE_RULE(AxilResetManager, Manager, out_of_reset_q || !(awvalid || wvalid || arvalid))
  `MAE_RULE(AxilResetSubordinate, Subordinate, out_of_reset_q || !(bvalid || rvalid))
  // A3.3.1: an answer follows what it answers.
  `MAE_RULE(AxilBAnswers, Subordinate, !bvalid || (aw_q != '0 && w_q != '0))
  `MAE_RULE(AxilRAnswers, Subordinate, !rvalid || ar_q != '0)
  // B1.1.1: no exclusive accesses.
  `MAE_RULE(AxilBResp, Subordinate, !bvalid || bresp != ExOkay)
  `MAE_RULE(AxilRResp, Subordinate, !rvalid || rresp != ExOkay)
  // The counts above are exact.
  `MAE_RULE(AxilWithinCounts, Subordinate, !(&aw_q || &w_q || &ar_q))

endmodule
