// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_port_proof: mae_axil_to_reg between the checker of its port and registers that keep what
// it asks of them: done at any time, in any order.

module mae_axil_port_proof #(
    parameter bit AssumeOther = 1'b1,
    localparam int unsigned AddrWidth = 4
) (
    input logic                 clk_i,
    input logic                 rst_ni,
    input logic                 awvalid,
    input logic [AddrWidth-1:0] awaddr,
    input logic                 wvalid,
    input logic [         31:0] wdata,
    input logic [          3:0] wstrb,
    input logic                 bready,
    input logic                 arvalid,
    input logic [AddrWidth-1:0] araddr,
    input logic                 rready,
    input logic                 write_done_i,
    input logic                 write_error_i,
    input logic                 read_done_i,
    input logic [         31:0] read_data_i,
    input logic                 read_error_i
);
  logic awready, wready, bvalid, arready, rvalid;
  logic [1:0] bresp, rresp;
  logic [31:0] rdata, write_data;
  logic [AddrWidth-1:0] write_addr, read_addr;
  logic [3:0] write_strb;
  logic write_valid, read_valid;

  mae_axil_to_reg #(
      .AddrWidth(AddrWidth)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .s_axil_awvalid(awvalid),
      .s_axil_awready(awready),
      .s_axil_awaddr (awaddr),
      .s_axil_wvalid (wvalid),
      .s_axil_wready (wready),
      .s_axil_wdata  (wdata),
      .s_axil_wstrb  (wstrb),
      .s_axil_bvalid (bvalid),
      .s_axil_bready (bready),
      .s_axil_bresp  (bresp),
      .s_axil_arvalid(arvalid),
      .s_axil_arready(arready),
      .s_axil_araddr (araddr),
      .s_axil_rvalid (rvalid),
      .s_axil_rready (rready),
      .s_axil_rdata  (rdata),
      .s_axil_rresp  (rresp),
      .write_valid_o (write_valid),
      .write_done_i,
      .write_addr_o  (write_addr),
      .write_data_o  (write_data),
      .write_strb_o  (write_strb),
      .write_error_i,
      .read_valid_o  (read_valid),
      .read_done_i,
      .read_addr_o   (read_addr),
      .read_data_i,
      .read_error_i
  );

  mae_axil_checker #(
      .Subordinate(1'b1),
      .AssumeOther(AssumeOther),
      .AddrWidth  (AddrWidth),
      .CountWidth (3)
  ) u_check (
      .clk_i,
      .rst_ni,
      .awvalid,
      .awready,
      .awaddr,
      .awprot('0),
      .wvalid,
      .wready,
      .wdata,
      .wstrb,
      .bvalid,
      .bready,
      .bresp,
      .arvalid,
      .arready,
      .araddr,
      .arprot('0),
      .rvalid,
      .rready,
      .rdata,
      .rresp
  );

  // An invariant, which lets the induction close: what is under way stands in the port's registers.
  function automatic logic [2:0] held(input logic [1:0] valid);
    return 3'(valid[0]) + 3'(valid[1]);
  endfunction
  logic [2:0] aw, w, b, ar, r;
  assign aw = held({u_dut.u_aw.out_valid_q, u_dut.u_aw.skid_valid_q});
  assign w  = held({u_dut.u_w.out_valid_q, u_dut.u_w.skid_valid_q});
  assign b  = held({u_dut.u_b.out_valid_q, u_dut.u_b.skid_valid_q});
  assign ar = held({u_dut.u_ar.out_valid_q, u_dut.u_ar.skid_valid_q});
  assign r  = held({u_dut.u_r.out_valid_q, u_dut.u_r.skid_valid_q});
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WritesUnderWay : assert (u_check.aw_q == aw + b && u_check.w_q == w + b);
      ReadsUnderWay : assert (u_check.ar_q == ar + r);
      NoExOkay :
      assert (u_dut.u_b.out_data_q != 2'b01 && u_dut.u_b.skid_data_q != 2'b01 &&
              u_dut.u_r.out_data_q[1:0] != 2'b01 && u_dut.u_r.skid_data_q[1:0] != 2'b01);
      NoneInReset : assert (u_check.out_of_reset_q || (b == '0 && r == '0));
    end
  end

endmodule
