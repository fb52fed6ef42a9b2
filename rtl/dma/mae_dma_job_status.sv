// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_job_status: collects the error responses of each job of a DMA engine, and outputs the end
// and status of each job.
//
// The first error response (AXI SLVERR or DECERR) of a context is stored; when the context's job is
// finished, its end and status are output as a stream. Any number of contexts may wait: nothing is
// lost while done_ready_i is low.
// Latency: 2 clocks from finish_* to done_*.
// Throughput: one end a clock.
// Parameters: Slverr and Decerr are the two error codes of the engine. Legal: Contexts 1..256.

`include "mae_assert.svh"

module mae_dma_job_status
  import mae_dma_pkg::*;
#(
    parameter  int unsigned Contexts = 64,
    parameter  status_e     Slverr   = StatusReadSlverr,
    parameter  status_e     Decerr   = StatusReadDecerr,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                resp_valid_i,
    input logic [CtxWidth-1:0] resp_ctx_i,
    input logic [         1:0] resp_i,

    input logic                finish_valid_i,
    input logic [CtxWidth-1:0] finish_ctx_i,

    output logic     done_valid_o,
    input  logic     done_ready_i,
    output dma_ctx_t done_ctx_o,
    output status_e  done_status_o
);
  logic [Contexts-1:0] waiting_q;
  logic [Contexts-1:0] failed_q;
  logic [Contexts-1:0] decode_q;  // valid with failed: the first error was DECERR

  logic [Contexts-1:0] pick_hot;
  logic [CtxWidth-1:0] pick_ctx;
  logic                pick_valid;
  logic                step;

  assign step = !done_valid_o || done_ready_i;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (waiting_q),
      .advance_i(step),
      .grant_o  (pick_hot),
      .index_o  (pick_ctx),
      .valid_o  (pick_valid)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q     <= '0;
      failed_q      <= '0;
      decode_q      <= '0;
      done_valid_o  <= 1'b0;
      done_ctx_o    <= '0;
      done_status_o <= StatusOk;
    end else begin
      if (step) begin
        done_valid_o <= pick_valid;
        if (pick_valid) begin
          done_ctx_o    <= dma_ctx_t'(pick_ctx);
          done_status_o <= !failed_q[pick_ctx] ? StatusOk : decode_q[pick_ctx] ? Decerr : Slverr;
        end
        waiting_q <= waiting_q & ~pick_hot;
        failed_q  <= failed_q & ~pick_hot;
      end
      if (finish_valid_i) waiting_q[finish_ctx_i] <= 1'b1;
      if (resp_valid_i && resp_i[1] && !failed_q[resp_ctx_i]) begin
        failed_q[resp_ctx_i] <= 1'b1;
        decode_q[resp_ctx_i] <= resp_i[0];
      end
    end
  end

  // OKAY and EXOKAY differ in bit 0, and neither is an error.
  `MAE_ASSERT(FinishOnce, !finish_valid_i || !waiting_q[finish_ctx_i])
  `MAE_STREAM_HOLDS(DoneHolds, done_valid_o, done_ready_i, {done_ctx_o, done_status_o})

endmodule
