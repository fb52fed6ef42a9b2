// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_context_queues: keeps a queue of items (pages, transaction IDs) for each context, as
// linked lists in one shared memory.
//
// An item is in one queue at a time, so Items links hold all queues. put_valid_i appends an item to
// the queue of put_ctx_i; get_valid_i removes the oldest item of get_ctx_i, which head_o shows.
// next_o is the item after it, if there is one; tail_o is the newest item of put_ctx_i. A put and a
// get may be given in one clock, also for one context.
// Latency: 1 clock from put to head. head_o, next_o and tail_o are combinational in their context.
// Throughput: a put and a get a clock.
// Reset: empties all queues; the memories are read only after they were written.
// Parameters: Legal: Contexts 1..256; Items >= 2.
// Source: docs/adr/0021.

`include "mae_assert.svh"

module mae_dma_context_queues #(
    parameter  int unsigned Contexts  = 64,
    parameter  int unsigned Items     = 256,
    localparam int unsigned CtxWidth  = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned ItemWidth = $clog2(Items)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                 put_valid_i,
    input  logic [ CtxWidth-1:0] put_ctx_i,
    input  logic [ItemWidth-1:0] put_item_i,
    output logic [ItemWidth-1:0] tail_o,

    input  logic                 get_valid_i,
    input  logic [ CtxWidth-1:0] get_ctx_i,
    output logic [ItemWidth-1:0] head_o,
    output logic [ItemWidth-1:0] next_o,

    output logic [Contexts-1:0] any_o  // its queue holds something
);
  `MAE_PARAM(ContextsLegal, Contexts >= 1 && Contexts <= 256)
  `MAE_PARAM(ItemsLegal, Items >= 2)

  logic [Contexts-1:0] any_q;
  logic [ItemWidth-1:0] head_q[Contexts];
  logic [ItemWidth-1:0] tail_q[Contexts];
  logic [ItemWidth-1:0] link_q[Items];

  logic one;  // the oldest item is the only one
  logic same;  // both ports work on one queue
  logic first;  // the new item becomes its queue's oldest

  assign tail_o = tail_q[put_ctx_i];
  assign any_o  = any_q;
  assign head_o = head_q[get_ctx_i];
  assign next_o = link_q[head_o];
  assign one    = head_o == tail_q[get_ctx_i];
  assign same   = put_valid_i && get_valid_i && put_ctx_i == get_ctx_i;
  assign first  = !any_q[put_ctx_i] || same && one;

  // The memories have no reset: read only after they were written.
  always_ff @(posedge clk_i) begin
    if (put_valid_i) tail_q[put_ctx_i] <= put_item_i;
    if (put_valid_i && !first) link_q[tail_o] <= put_item_i;
    if (get_valid_i) head_q[get_ctx_i] <= next_o;
    if (put_valid_i && first) head_q[put_ctx_i] <= put_item_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) any_q <= '0;
    else begin
      if (get_valid_i && one) any_q[get_ctx_i] <= 1'b0;
      if (put_valid_i) any_q[put_ctx_i] <= 1'b1;
    end
  end

  `MAE_ASSERT(GetsWhatIsThere, !get_valid_i || any_q[get_ctx_i])
  `MAE_ASSERT(ItemInRange, !put_valid_i || 32'(put_item_i) < Items)

endmodule
