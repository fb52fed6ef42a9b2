// SPDX-License-Identifier: Apache-2.0
//
// mae_axil_port_invariant: asserts that a mae_axil_checker and the mae_axil_to_reg behind its port
// agree on the accesses in progress. With it, the induction closes.

module mae_axil_port_invariant #(
    parameter int unsigned CountWidth = 3
) (
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic [CountWidth-1:0] aw_q_i,
    input logic [CountWidth-1:0] w_q_i,
    input logic [CountWidth-1:0] ar_q_i,
    input logic                  out_of_reset_q_i,
    input logic                  aw_out_valid_i,
    input logic                  aw_skid_valid_i,
    input logic                  w_out_valid_i,
    input logic                  w_skid_valid_i,
    input logic                  b_out_valid_i,
    input logic                  b_skid_valid_i,
    input logic                  ar_out_valid_i,
    input logic                  ar_skid_valid_i,
    input logic                  r_out_valid_i,
    input logic                  r_skid_valid_i,
    input logic [           1:0] b_out_data_i,
    input logic [           1:0] b_skid_data_i,
    input logic [           1:0] r_out_data_i,
    input logic [           1:0] r_skid_data_i
);
  typedef logic [CountWidth-1:0] count_t;
  localparam logic [1:0] ExOkay = 2'b01;

  count_t aw, w, b, ar, r;
  assign aw = count_t'(aw_out_valid_i) + count_t'(aw_skid_valid_i);
  assign w  = count_t'(w_out_valid_i) + count_t'(w_skid_valid_i);
  assign b  = count_t'(b_out_valid_i) + count_t'(b_skid_valid_i);
  assign ar = count_t'(ar_out_valid_i) + count_t'(ar_skid_valid_i);
  assign r  = count_t'(r_out_valid_i) + count_t'(r_skid_valid_i);

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WritesUnderWay : assert (aw_q_i == aw + b && w_q_i == w + b);
      ReadsUnderWay : assert (ar_q_i == ar + r);
      // A register's second word waits behind its first.
      InOrder :
      assert ((aw_out_valid_i || !aw_skid_valid_i) && (w_out_valid_i || !w_skid_valid_i) &&
              (b_out_valid_i || !b_skid_valid_i) && (ar_out_valid_i || !ar_skid_valid_i) &&
              (r_out_valid_i || !r_skid_valid_i));
      NoExOkay :
      assert (b_out_data_i != ExOkay && b_skid_data_i != ExOkay && r_out_data_i != ExOkay &&
              r_skid_data_i != ExOkay);
      NoneInReset : assert (out_of_reset_q_i || (b == '0 && r == '0));
    end
  end

endmodule
