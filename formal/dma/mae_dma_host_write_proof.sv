// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_host_write_proof: connects mae_dma_host_write to any jobs, any rows and any memory that
// keeps the rules of AXI4, for formal proofs.

module mae_dma_host_write_proof
  import mae_dma_pkg::*;
#(
    parameter bit AssumeOther = 1'b1,
    localparam int unsigned DataWidth = 128,
    localparam int unsigned IdWidth = 2
) (
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic                  job_valid_i,
    input addr_t                 job_addr_i,
    input logic  [         31:0] job_bytes_i,
    input logic                  row_valid_i,
    input logic  [DataWidth-1:0] row_data_i,
    input logic                  aw_ready_i,
    input logic                  w_ready_i,
    input logic                  b_valid_i,
    input logic  [  IdWidth-1:0] b_id_i,
    input logic  [          1:0] b_resp_i
);
  logic job_ready, row_ready, aw_valid, w_valid, w_last, b_ready;
  logic [IdWidth-1:0] aw_id;
  addr_t aw_addr;
  logic [7:0] aw_len;
  logic [DataWidth-1:0] w_data;
  logic [DataWidth/8-1:0] w_strb;

  // The jobs that were taken and whose rows are to come: two at most; bytes left of each.
  logic [1:0] jobs_q;
  logic [1:0][31:0] left_q;
  logic row_last, job_taken, row_taken, ended;
  assign row_last  = left_q[0] <= 32'd16;
  assign job_taken = job_valid_i && job_ready;
  assign row_taken = row_valid_i && row_ready;
  assign ended     = row_taken && row_last;

  mae_dma_host_write #(
      .DataWidth     (DataWidth),
      .IdWidth       (IdWidth),
      .Jobs          (2),
      .RowsPerContext(12),
      .BurstBeats    (4)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .clear_i     (1'b0),
      .clearing_o  (),
      .job_valid_i,
      .job_ready_o (job_ready),
      .job_addr_i,
      .job_bytes_i,
      .row_valid_i,
      .row_ready_o (row_ready),
      .row_data_i,
      .row_bytes_i (row_last ? left_q[0][4:0] : 5'd16),
      .row_last_i  (row_last),
      .done_valid_o(),
      .done_error_o(),
      .aw_valid_o  (aw_valid),
      .aw_ready_i,
      .aw_id_o     (aw_id),
      .aw_addr_o   (aw_addr),
      .aw_len_o    (aw_len),
      .w_valid_o   (w_valid),
      .w_ready_i,
      .w_data_o    (w_data),
      .w_strb_o    (w_strb),
      .w_last_o    (w_last),
      .b_valid_i,
      .b_ready_o   (b_ready),
      .b_id_i,
      .b_resp_i
  );

  mae_axi4_checker #(
      .Subordinate(1'b0),
      .AssumeOther(AssumeOther),
      .DataWidth  (DataWidth),
      .IdWidth    (IdWidth),
      .LogBursts  (2)
  ) u_check (
      .clk_i,
      .rst_ni,
      .awvalid(aw_valid),
      .awready(aw_ready_i),
      .awid   (aw_id),
      .awaddr (aw_addr),
      .awlen  (aw_len),
      .awsize (3'd4),
      .awburst(2'b01),
      .awlock (1'b0),
      .wvalid (w_valid),
      .wready (w_ready_i),
      .wdata  (w_data),
      .wstrb  (w_strb),
      .wlast  (w_last),
      .bvalid (b_valid_i),
      .bready (b_ready),
      .bid    (b_id_i),
      .bresp  (b_resp_i),
      .arvalid(1'b0),
      .arready(1'b0),
      .arid   ('0),
      .araddr ('0),
      .arlen  ('0),
      .arsize ('0),
      .arburst('0),
      .arlock (1'b0),
      .rvalid (1'b0),
      .rready (1'b0),
      .rid    ('0),
      .rdata  ('0),
      .rresp  ('0),
      .rlast  (1'b0)
  );

  logic [2**IdWidth-1:0] busy_q;
  logic job_waits_q, row_waits_q;
  logic [95:0] job_q;
  logic [DataWidth-1:0] row_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, job_waits_q, row_waits_q, job_q, row_q, jobs_q, left_q} <= '0;
    end else begin
      job_waits_q <= job_valid_i && !job_ready;
      row_waits_q <= row_valid_i && !row_ready;
      job_q <= {job_addr_i, job_bytes_i};
      row_q <= row_data_i;
      jobs_q <= jobs_q + 2'(job_taken) - 2'(ended);
      if (row_taken) left_q[0] <= left_q[0] - 32'd16;
      if (ended) left_q[0] <= left_q[1];
      if (job_taken) left_q[(jobs_q==2'(ended))?0 : 1] <= job_bytes_i;
      if (b_valid_i && b_ready) busy_q[b_id_i] <= 1'b0;
      if (aw_valid && aw_ready_i) busy_q[aw_id] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      JobsHaveBytes : assume (!job_valid_i || job_bytes_i != '0);
      JobsAreNear : assume (!job_valid_i || (job_addr_i[63:13] == '0 && job_bytes_i[31:9] == '0));
      JobsHold : assume (!job_waits_q || (job_valid_i && job_q == {job_addr_i, job_bytes_i}));
      TwoJobs : assume (!job_valid_i || jobs_q < 2'd2);
      RowsHold : assume (!row_waits_q || (row_valid_i && row_q == row_data_i));
      RowsOfJobs : assume (!row_valid_i || jobs_q != '0);
      IdIsFree : assert (!aw_valid || !busy_q[aw_id]);
      AnswersAreTaken : assert (b_ready);
    end
  end

endmodule
