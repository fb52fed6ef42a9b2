// SPDX-License-Identifier: Apache-2.0
//
// mae_faulty_structs: answers a read that nobody requested, as a subordinate with a port of structs,
// or keeps all rules without Fault.

module mae_faulty_structs
  import mae_axi_pkg::*;
#(
    parameter bit Fault = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input axil_req_t axil_i,
    output axil_rsp_t axil_o
);
  logic asked_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) asked_q <= 1'b0;
    else asked_q <= Fault || (axil_i.ar_valid && axil_o.ar_ready) || (asked_q && !axil_i.r_ready);
  end

  assign axil_o = '{ar_ready: !asked_q, r_valid: asked_q, default: '0};

  logic unused;
  assign unused = ^axil_i;

endmodule
