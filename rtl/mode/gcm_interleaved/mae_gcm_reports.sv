// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_reports: computes or compares the tags of interleaved GCM messages, and reports the ends
// of their jobs. The jobs are reported one after another.
//
// due_i: contexts whose job can be reported. One is granted; in the next clock (tag_due_o) the tag
// is computed from its hash and its mask E(K, J0), in the clock after it is reported. The user keeps
// what it gives of ctx_o until then. Only a job that ends a message has a tag: encryption reports
// it, decryption compares its first tag_bytes bytes in one clock and reports bad_tag alone. A job
// whose key was lost has no tag, and a wrong one in decryption.
// Latency: 2 clocks from the grant to the report.
// Throughput: a report every 3 clocks.
// Reset and clear: both drop the report and erase the tag by the next clock.
// Parameters: Legal: Contexts 1..256.
// Security: constant-time; no masking.
// Source: SP 800-38D §7.1, §7.2.

module mae_gcm_reports
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter  int unsigned Contexts   = 64,
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic     [  Contexts-1:0] due_i,
    output logic     [  Contexts-1:0] grant_o,
    output logic     [IndexWidth-1:0] ctx_o,
    input  gcm_job_t                  job_i,     // the four of ctx_o
    input  block_t                    hash_i,
    input  block_t                    mask_i,
    input  logic                      lost_i,
    output logic                      tag_due_o,

    output logic        report_valid_o,
    output ctx_t        report_ctx_o,
    output gcm_report_t report_o
);
  logic free, pick, tag_due_q, report_q;
  logic [IndexWidth-1:0] index, ctx_q;
  logic [Contexts-1:0] grant;
  block_t tag_q, wrong;
  gcm_job_t unused_job;

  assign free = !tag_due_q && !report_q;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (due_i),
      .advance_i(free),
      .grant_o  (grant),
      .index_o  (index),
      .valid_o  (pick)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {tag_due_q, report_q, ctx_q, tag_q} <= '0;
    else if (clear_i) {tag_due_q, report_q, ctx_q, tag_q} <= '0;
    else begin
      tag_due_q <= free && pick;
      report_q  <= tag_due_q;
      if (free) ctx_q <= index;
      tag_q <= (tag_due_q && job_i.ends) ? hash_i ^ mask_i : '0;
    end
  end

  assign grant_o = free ? grant : '0;
  assign ctx_o = ctx_q;
  assign tag_due_o = tag_due_q;
  assign unused_job = job_i;
  assign report_valid_o = report_q;
  assign report_ctx_o = ctx_t'(ctx_q);
  assign wrong = (tag_q ^ job_i.tag) & (job_i.tag_bytes[4] ? '1 : first_bytes(
      job_i.tag_bytes[3:0]
  ));

  always_comb begin
    report_o          = '0;
    report_o.key_lost = lost_i;
    if (job_i.ends && job_i.dir == Decrypt) report_o.bad_tag = wrong != '0 || lost_i;
    if (job_i.ends && job_i.dir == Encrypt && !lost_i) report_o.tag = tag_q;
  end

endmodule
