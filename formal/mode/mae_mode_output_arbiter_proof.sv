// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_output_arbiter_proof: asserts that mae_mode_output_arbiter outputs a waiting source's row
// until it is accepted, with zeros behind a job's bytes and for a context whose key is lost.
//
// Whose turn it is: mae_rr_arb_proof.

module mae_mode_output_arbiter_proof
  import mae_aes_pkg::*;
#(
    parameter  int unsigned Lanes      = 2,
    localparam int unsigned Contexts   = 4,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic                                  clk_i,
    input logic                                  rst_ni,
    input logic   [     Lanes:0]                 source_valid_i,
    input ctx_t   [     Lanes:0]                 source_ctx_i,
    input block_t [     Lanes:0][     Lanes-1:0] source_data_i,
    input logic   [     Lanes:0][BytesWidth-1:0] source_bytes_i,
    input logic   [     Lanes:0]                 source_last_i,
    input logic   [Contexts-1:0]                 lost_i,
    input logic                                  out_ready_i
);
  logic [Lanes:0] source_ready, grant;
  logic out_valid, out_last, out_lost;
  ctx_t out_ctx;
  block_t [Lanes-1:0] out_data;
  logic [BytesWidth-1:0] out_bytes;

  mae_mode_output_arbiter #(
      .Lanes   (Lanes),
      .Contexts(Contexts)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .source_valid_i,
      .source_ready_o(source_ready),
      .source_ctx_i,
      .source_data_i,
      .source_bytes_i,
      .source_last_i,
      .lost_i,
      .out_valid_o   (out_valid),
      .out_ready_i,
      .out_ctx_o     (out_ctx),
      .out_data_o    (out_data),
      .out_bytes_o   (out_bytes),
      .out_last_o    (out_last),
      .out_key_lost_o(out_lost)
  );

  // The source whose row waits, and those that wait.
  logic [Lanes:0] stuck_q, waits_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {stuck_q, waits_q} <= '0;
    else begin
      stuck_q <= out_ready_i ? '0 : grant;
      waits_q <= source_valid_i & ~source_ready;
    end
  end

  always_comb begin
    if (rst_ni) begin
      assume ((waits_q & ~source_valid_i) == '0);
      for (int unsigned s = 0; s <= Lanes; s++) begin
        assume (32'(source_bytes_i[s]) <= 16 * Lanes && 32'(source_ctx_i[s]) < Contexts);
      end
    end
  end

  assign grant = u_dut.grant;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RowIfAny : assert (out_valid == (source_valid_i != '0));
      Waiting : assert ($onehot0(grant) && (grant & ~source_valid_i) == '0);
      Accepted : assert (source_ready == (out_ready_i ? grant : '0));
      StaysSelected : assert (stuck_q == '0 || grant == stuck_q);
      if (out_valid) begin
        Granted : assert (grant != '0);
        KeyLost : assert (out_lost == lost_i[2'(out_ctx)]);
      end
      for (int unsigned s = 0; s <= Lanes; s++) begin
        if (grant[s]) begin
          assert ({out_ctx, out_bytes, out_last} ==
                  {source_ctx_i[s], source_bytes_i[s], source_last_i[s]});
          for (int unsigned i = 0; i < 16 * Lanes; i++) begin
            assert (out_data[i/16][127-8*(i%16)-:8] ==
                    ((out_lost || i >= 32'(out_bytes)) ? 8'd0 :
                     source_data_i[s][i/16][127-8*(i%16)-:8]));
          end
        end
      end
    end
  end

  // An invariant of mae_rr_arb, which lets the induction close: a thermometer code, at which a stuck
  // grant is next.
  logic [Lanes:0] mask;
  assign mask = u_dut.u_turn.mask_q;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Thermometer : assert ((~mask & (~mask + (Lanes + 1)'(1))) == '0);
      StuckIsNext : assert (stuck_q == '0 || mask == ~(stuck_q - (Lanes + 1)'(1)));
    end
  end

endmodule
