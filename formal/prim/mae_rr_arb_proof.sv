// SPDX-License-Identifier: Apache-2.0
//
// mae_rr_arb_proof: asserts that mae_rr_arb is fair and keeps its grant until it is used.

module mae_rr_arb_proof #(
    parameter int unsigned N = 4
) (
    input logic         clk_i,
    input logic         rst_ni,
    input logic [N-1:0] req_i,
    input logic         advance_i
);
  localparam int unsigned IndexWidth = (N > 1) ? $clog2(N) : 1;
  logic [N-1:0] grant;
  logic [IndexWidth-1:0] index;
  logic valid;
  mae_rr_arb #(
      .N(N)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .req_i,
      .advance_i,
      .grant_o(grant),
      .index_o(index),
      .valid_o(valid)
  );

  // Who was served since a port began to wait.
  logic [N-1:0][N-1:0] served_q;
  logic [N-1:0] stuck_q;  // the grant that was not advanced
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {served_q, stuck_q} <= '0;
    else begin
      stuck_q <= (advance_i) ? '0 : grant;
      for (int unsigned i = 0; i < N; i++) begin
        if (!req_i[i] || (grant[i] && advance_i)) served_q[i] <= '0;
        else if (advance_i) served_q[i] <= served_q[i] | grant;
      end
    end
  end
  // An invariant, which lets the induction close: the pointer is a thermometer code, who was served
  // while i waited comes after i in the order from the pointer on, and a stuck grant is where it
  // is.
  logic [N-1:0] mask;
  assign mask = u_dut.mask_q;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Thermometer : assert ((~mask & (~mask + N'(1))) == '0);
      StuckIsNext : assert ($onehot0(stuck_q) && (stuck_q == '0 || mask == ~(stuck_q - N'(1))));
      for (int unsigned i = 0; i < N; i++) begin
        for (int unsigned j = 0; j < N; j++) begin
          assert (!served_q[i][j] || (mask[i] == mask[j] ? i < j : mask[i]));
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneGrant : assert ($onehot0(grant) && (grant & ~req_i) == '0);
      GrantIfAny : assert (valid == (req_i != '0) && valid == (grant != '0));
      IndexOfGrant : assert (!valid || grant[index]);
      GrantHolds : assert ((stuck_q & req_i) == '0 || grant == stuck_q);
      for (int unsigned i = 0; i < N; i++) begin
        assert (!advance_i || !req_i[i] || (served_q[i] & grant) == '0);
      end
    end
  end

endmodule
