// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_segment_queue: queues up to two memory segments for each context of a DMA engine, which
// uses them piece by piece. A segment is {address, bytes, last}.
//
// Push a segment only while seg_ready_o of its context is high. The first segment of head_ctx_i is
// output combinationally; take_valid_i removes take_bytes_i (1..head_bytes_o) from it, and the
// segment itself when all its bytes are used. seg_abort_i means "no more segments": head_abort_o
// shows it once the queue is empty, until abort_take_i.
// Latency: 1 clock from push to head.
// Throughput: one push and one take a clock.
// Parameters: Legal: Contexts 1..256.

`include "mae_assert.svh"

module mae_dma_segment_queue
  import mae_dma_pkg::*;
#(
    parameter  int unsigned Contexts = 64,
    localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    output logic     [Contexts-1:0] seg_ready_o,
    input  logic                    seg_valid_i,
    input  logic                    seg_abort_i,  // with seg_ctx_i; not with seg_valid_i
    input  dma_ctx_t                seg_ctx_i,
    input  addr_t                   seg_addr_i,
    input  logic     [        31:0] seg_bytes_i,
    input  logic                    seg_last_i,

    input  logic  [CtxWidth-1:0] head_ctx_i,
    output logic                 head_valid_o,
    output addr_t                head_addr_o,
    output logic  [        31:0] head_bytes_o,  // its remaining bytes
    output logic                 head_last_o,
    output logic                 head_abort_o,

    input logic        take_valid_i,
    input logic [31:0] take_bytes_i,
    input logic        abort_take_i
);
  `MAE_PARAM(ContextsLegal, Contexts >= 1 && Contexts <= 256)

  typedef struct packed {
    addr_t       addr;
    logic [31:0] bytes;
    logic        last;
  } segment_t;

  segment_t store_q[2 ** (CtxWidth + 1)];
  logic [31:0] taken_q[Contexts];  // removed bytes of the head; not valid if fresh
  logic [Contexts-1:0] fresh_q;  // nothing of the head was removed
  logic [Contexts-1:0] full0_q;  // entry 0 and entry 1 are occupied
  logic [Contexts-1:0] full1_q;
  logic [Contexts-1:0] write_q;  // the entries of the next push and of the head
  logic [Contexts-1:0] read_q;
  logic [Contexts-1:0] abort_q;

  logic [CtxWidth-1:0] seg_ctx;
  segment_t head;
  logic [31:0] taken;
  logic pop;
  logic [Contexts-1:0] push_hot;
  logic [Contexts-1:0] pop_hot;

  assign seg_ctx      = seg_ctx_i[CtxWidth-1:0];
  assign seg_ready_o  = ~(full0_q & full1_q);

  assign head         = store_q[{head_ctx_i, read_q[head_ctx_i]}];
  assign taken        = fresh_q[head_ctx_i] ? '0 : taken_q[head_ctx_i];
  assign head_valid_o = read_q[head_ctx_i] ? full1_q[head_ctx_i] : full0_q[head_ctx_i];
  assign head_addr_o  = head.addr + 64'(taken);
  assign head_bytes_o = head.bytes - taken;
  assign head_last_o  = head.last;
  assign head_abort_o = abort_q[head_ctx_i] && !head_valid_o;

  assign pop          = take_valid_i && take_bytes_i == head_bytes_o;
  assign push_hot     = Contexts'(seg_valid_i) << seg_ctx;
  assign pop_hot      = Contexts'(pop) << head_ctx_i;

  always_ff @(posedge clk_i) begin
    if (seg_valid_i) begin
      store_q[{seg_ctx, write_q[seg_ctx]}] <= '{seg_addr_i, seg_bytes_i, seg_last_i};
    end
    if (take_valid_i) taken_q[head_ctx_i] <= taken + take_bytes_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q <= '1;
      full0_q <= '0;
      full1_q <= '0;
      write_q <= '0;
      read_q  <= '0;
      abort_q <= '0;
    end else begin
      full0_q <= (full0_q | (push_hot & ~write_q)) & ~(pop_hot & ~read_q);
      full1_q <= (full1_q | (push_hot & write_q)) & ~(pop_hot & read_q);
      write_q <= write_q ^ push_hot;
      read_q  <= read_q ^ pop_hot;
      if (take_valid_i) fresh_q[head_ctx_i] <= pop;
      if (abort_take_i) abort_q[head_ctx_i] <= 1'b0;
      if (seg_abort_i) abort_q[seg_ctx] <= 1'b1;
    end
  end

  `MAE_ASSERT(ContextInRange, !(seg_valid_i || seg_abort_i) || 32'(seg_ctx_i) < Contexts)
  `MAE_ASSERT(PushWhereReady, !seg_valid_i || seg_ready_o[seg_ctx])
  `MAE_ASSERT(PushNotEmpty, !seg_valid_i || seg_bytes_i != '0)
  `MAE_ASSERT(PushOrAbort, !(seg_valid_i && seg_abort_i))
  `MAE_ASSERT(TakeFits,
              !take_valid_i || head_valid_o && take_bytes_i != '0 && take_bytes_i <= head_bytes_o)

endmodule
