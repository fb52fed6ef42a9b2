// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_timing: a cipher core with its secret inputs (the key, the data) apart from the others
// and all that says when (timing_o) apart from its results. maeslant/verify/prove/independence.py
// shows that no path leads from secret_* to timing_o. Legal: Core 0 (mae_cipher_min_area), 1
// (mae_cipher_iter). Leak makes a path on purpose.

module mae_cipher_timing
  import mae_aes_pkg::*;
#(
    parameter int unsigned Core = 0,
    parameter bit          Leak = 1'b0
) (
    input  logic                                  clk_i,
    input  logic                                  rst_ni,
    input  logic                                  clear_i,
    input  logic                                  key_valid_i,
    input  logic                                  req_valid_i,
    input  logic        [$bits(cipher_key_t)-1:0] public_key_i,
    input  logic        [$bits(cipher_req_t)-1:0] public_req_i,
    input  logic        [                  255:0] secret_key_i,
    input  logic        [                  127:0] secret_data_i,
    output logic        [                    2:0] timing_o,
    output cipher_rsp_t                           result_o
);
  cipher_key_t key;
  cipher_req_t req;
  logic key_ready, req_ready, rsp_valid;
  always_comb begin
    key       = cipher_key_t'(public_key_i);
    key.key   = secret_key_i;
    req       = cipher_req_t'(public_req_i);
    req.block = secret_data_i;
  end
  assign timing_o = {key_ready, req_ready, rsp_valid ^ (Leak && result_o.block[0])};

  if (Core == 0) begin : gen_small
    mae_cipher_min_area u_dut (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i,
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i,
        .req_ready_o(req_ready),
        .req_i      (req),
        .rsp_valid_o(rsp_valid),
        .rsp_o      (result_o)
    );
  end else begin : gen_iter
    mae_cipher_iter u_dut (
        .clk_i,
        .rst_ni,
        .clear_i,
        .key_valid_i,
        .key_ready_o(key_ready),
        .key_i      (key),
        .req_valid_i,
        .req_ready_o(req_ready),
        .req_i      (req),
        .rsp_valid_o(rsp_valid),
        .rsp_o      (result_o)
    );
  end

endmodule
