// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_output_arbiter: selects among the output rows of all paths of the mode engine for one
// port, in round-robin order.
//
// Sources 0 to Lanes - 1 are the lanes of the serial path, with slots of their lane; the last
// source is the parallel path. Bytes after the last byte of a job, which would be keystream, and
// all bytes of a context whose key is lost are output as zeros. A row stays selected until it is
// accepted.
// Latency: 0 clocks (combinational).
// Throughput: one row a clock.
// Parameters: Legal: Lanes 1..16; Contexts 1..256.

module mae_mode_output_arbiter
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic   [     Lanes:0]                 source_valid_i,
    output logic   [     Lanes:0]                 source_ready_o,
    input  ctx_t   [     Lanes:0]                 source_ctx_i,
    input  block_t [     Lanes:0][     Lanes-1:0] source_data_i,
    input  logic   [     Lanes:0][BytesWidth-1:0] source_bytes_i,
    input  logic   [     Lanes:0]                 source_last_i,
    input  logic   [Contexts-1:0]                 lost_i,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,
    output logic                    out_key_lost_o
);
  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned SourceWidth = $clog2(Lanes + 1);

  logic [        Lanes:0] grant;
  logic [SourceWidth-1:0] source;

  mae_rr_arb #(
      .N(Lanes + 1)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (source_valid_i),
      .advance_i(out_ready_i),
      .grant_o  (grant),
      .index_o  (source),
      .valid_o  (out_valid_o)
  );

  assign source_ready_o = grant & {(Lanes + 1) {out_ready_i}};
  assign out_ctx_o      = source_ctx_i[source];
  assign out_bytes_o    = source_bytes_i[source];
  assign out_last_o     = source_last_i[source];
  assign out_key_lost_o = lost_i[IndexWidth'(out_ctx_o)];

  always_comb begin
    out_data_o = source_data_i[source];
    if (out_key_lost_o) out_data_o = '0;
    else if (32'(out_bytes_o) != 16 * Lanes) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        if (32'(out_bytes_o) <= 16 * i) out_data_o[i] = '0;
        else if (32'(out_bytes_o) < 16 * (i + 1)) begin
          out_data_o[i] = out_data_o[i] & first_bytes(out_bytes_o[3:0]);
        end
      end
    end
  end

endmodule
