// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_single_tag: computes the last GHASH products, the tag and, in decryption, the verdict of
// a GCM message of one word.
//
// The tag is the sum of the products a_i * b_i and of the mask. The first tag_bytes bytes are
// compared, all at once; a tag of 0 bytes is wrong. rsp_o (mae_gcm_single_pkg) is 0 while
// rsp_valid_o is low.
// Latency: 3 clocks, from a register.
// Throughput: one message a clock; no stall, no ready.
// Reset and clear: both erase everything by the next clock.
// Parameters: Terms is the number of products, each with a multiplier. Legal: Terms >= 1.
// Security: constant-time; no masking.
// Source: SP 800-38D §7; Ghosh et al., section 4.2.

module mae_gcm_single_tag
  import mae_aes_pkg::*;
  import mae_gcm_single_pkg::*;
#(
    parameter int unsigned Terms = 2
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      clear_i,
    input  logic                      valid_i,
    input  block_t        [Terms-1:0] a_i,
    input  block_t        [Terms-1:0] b_i,
    input  gcm_beat_end_t             end_i,
    output logic                      rsp_valid_o,
    output gcm_beat_rsp_t             rsp_o
);

  logic   [Terms-1:0] unused_valid;
  block_t [Terms-1:0] product;
  for (genvar i = 0; i < Terms; i++) begin : gen_mul
    mae_gf128_mul #(
        .OutReg(1'b0)
    ) u_mul (
        .clk_i,
        .rst_ni,
        .clear_i,
        .valid_i,
        .a_i      (a_i[i]),
        .b_i      (b_i[i]),
        .valid_o  (unused_valid[i]),
        .product_o(product[i])
    );
  end

  // Difference of computed and expected tag: 0 means right, in decryption.
  gcm_beat_end_t end_q;
  block_t rest;
  always_comb begin
    rest = end_q.mask;
    for (int unsigned i = 0; i < Terms; i++) rest ^= product[i];
    if (end_q.dir == Decrypt) begin
      rest = (rest ^ end_q.tag) & first_bytes({1'b0, end_q.tag_bytes});
      if (end_q.tag_bytes == '0) rest = '1;
    end
  end

  logic [1:0] valid_q;
  ctx_t ctx_q;
  dir_e dir_q;
  block_t text_q, rest_q;
  logic ok;
  assign ok = dir_q == Encrypt || rest_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q                 <= '0;
      end_q                   <= '0;
      {ctx_q, text_q, rest_q} <= '0;
      dir_q                   <= Encrypt;
      rsp_valid_o             <= 1'b0;
      rsp_o                   <= '0;
    end else if (clear_i) begin
      valid_q                 <= '0;
      end_q                   <= '0;
      {ctx_q, text_q, rest_q} <= '0;
      dir_q                   <= Encrypt;
      rsp_valid_o             <= 1'b0;
      rsp_o                   <= '0;
    end else begin
      valid_q                 <= {valid_q[0], valid_i};
      end_q                   <= valid_i ? end_i : '0;
      {ctx_q, text_q, rest_q} <= '0;
      dir_q                   <= Encrypt;
      if (valid_q[0]) begin
        ctx_q  <= end_q.ctx;
        dir_q  <= end_q.dir;
        text_q <= end_q.text;
        rest_q <= rest;
      end
      rsp_valid_o <= valid_q[1];
      rsp_o       <= '0;
      if (valid_q[1]) begin
        rsp_o.ctx <= ctx_q;
        rsp_o.ok  <= ok;
        if (ok) rsp_o.data <= text_q;
        if (dir_q == Encrypt) rsp_o.tag <= rest_q;
      end
    end
  end

endmodule
