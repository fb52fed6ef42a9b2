// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_host_read_proof: connects mae_dma_host_read to any jobs and any memory that keeps the
// rules of AXI4, for formal proofs. The memory answers at any time, in any order of IDs, with any
// data and errors.

module mae_dma_host_read_proof
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
    input logic                  row_ready_i,
    input logic                  ar_ready_i,
    input logic                  r_valid_i,
    input logic  [  IdWidth-1:0] r_id_i,
    input logic  [DataWidth-1:0] r_data_i,
    input logic  [          1:0] r_resp_i,
    input logic                  r_last_i
);
  logic job_ready, ar_valid, r_ready;
  logic [IdWidth-1:0] ar_id;
  addr_t ar_addr;
  logic [7:0] ar_len;

  mae_dma_host_read #(
      .DataWidth     (DataWidth),
      .IdWidth       (IdWidth),
      .Jobs          (2),
      .RowsPerContext(8),
      .BurstBeats    (4),
      .Window        (8)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .clear_i     (1'b0),
      .clearing_o  (),
      .job_valid_i,
      .job_ready_o (job_ready),
      .job_addr_i,
      .job_bytes_i,
      .row_valid_o (),
      .row_ready_i,
      .row_data_o  (),
      .row_bytes_o (),
      .row_last_o  (),
      .done_valid_o(),
      .done_error_o(),
      .ar_valid_o  (ar_valid),
      .ar_ready_i,
      .ar_id_o     (ar_id),
      .ar_addr_o   (ar_addr),
      .ar_len_o    (ar_len),
      .r_valid_i,
      .r_ready_o   (r_ready),
      .r_id_i,
      .r_data_i,
      .r_resp_i,
      .r_last_i
  );

  // An ID has one burst under way at most (AxiWithinReads).
  mae_axi4_checker #(
      .Subordinate(1'b0),
      .AssumeOther(AssumeOther),
      .DataWidth  (DataWidth),
      .IdWidth    (IdWidth),
      .LogBursts  (1)
  ) u_check (
      .clk_i,
      .rst_ni,
      .awvalid(1'b0),
      .awready(1'b0),
      .awid   ('0),
      .awaddr ('0),
      .awlen  ('0),
      .awsize ('0),
      .awburst('0),
      .awlock (1'b0),
      .wvalid (1'b0),
      .wready (1'b0),
      .wdata  ('0),
      .wstrb  ('0),
      .wlast  (1'b0),
      .bvalid (1'b0),
      .bready (1'b0),
      .bid    ('0),
      .bresp  ('0),
      .arvalid(ar_valid),
      .arready(ar_ready_i),
      .arid   (ar_id),
      .araddr (ar_addr),
      .arlen  (ar_len),
      .arsize (3'd4),
      .arburst(2'b01),
      .arlock (1'b0),
      .rvalid (r_valid_i),
      .rready (r_ready),
      .rid    (r_id_i),
      .rdata  (r_data_i),
      .rresp  (r_resp_i),
      .rlast  (r_last_i)
  );

  // The job whose bursts are requested, from its first to behind its last beat.
  logic job_waits_q;
  logic [95:0] job_q;
  logic [64:0] first_q, end_q, ar_end;
  assign ar_end = 65'(ar_addr) + ((65'(ar_len) + 65'd1) << 4);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {job_waits_q, job_q, first_q, end_q} <= '0;
    end else begin
      job_waits_q <= job_valid_i && !job_ready;
      job_q <= {job_addr_i, job_bytes_i};
      if (job_valid_i && job_ready) begin
        first_q <= {1'b0, job_addr_i[63:4], 4'd0};
        end_q   <= (65'(job_addr_i) + 65'(job_bytes_i) + 65'd15) & ~65'd15;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      JobsHaveBytes : assume (!job_valid_i || job_bytes_i != '0);
      JobsAreNear : assume (!job_valid_i || (job_addr_i[63:13] == '0 && job_bytes_i[31:9] == '0));
      JobsHold : assume (!job_waits_q || (job_valid_i && job_q == {job_addr_i, job_bytes_i}));
      InTheJob : assert (!ar_valid || (65'(ar_addr) >= first_q && ar_end <= end_q));
      AnswersAreTaken : assert (r_ready);
    end
  end

endmodule
