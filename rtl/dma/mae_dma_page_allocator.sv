// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_page_allocator: allocates the pages of a row buffer to contexts, with a guaranteed share
// for each.
//
// Share pages are guaranteed to each context. The others are lent: a context may have one more
// while it holds fewer lent pages than are left. So one context alone gets half of them, n contexts
// get 1 / (n + 1) each, and a page is left for a newcomer. A page is first claimed, then put:
// claim_valid_i, given only while room_o is high, reserves a page; put_valid_i takes page_o and
// appends it to the context's queue. A claim and a put may be given in one clock, and two contexts
// may claim in one clock. get_valid_i frees the oldest page of a context. rooms_o leaves room for
// Margin more claims.
// Latency: 1 clock from claim and get to room. room_o and tail_o are combinational in their
// context, head_o and next_o in get_ctx_i.
// Throughput: two claims, a put and a get a clock.
// Reset: frees all pages.
// Parameters: Legal: Contexts 1..256; Share >= 1, Share * Contexts <= Pages.
// Source: docs/adr/0021.

`include "mae_assert.svh"

module mae_dma_page_allocator #(
    parameter  int unsigned Contexts  = 64,
    parameter  int unsigned Pages     = 256,
    parameter  int unsigned Share     = 2,
    parameter  int unsigned Margin    = 0,
    localparam int unsigned CtxWidth  = (Contexts > 1) ? $clog2(Contexts) : 1,
    localparam int unsigned PageWidth = $clog2(Pages)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [         1:0]               claim_valid_i,
    input  logic [         1:0][CtxWidth-1:0] claim_ctx_i,
    output logic [         1:0]               room_o,         // claim_ctx_i may have one more
    output logic [Contexts-1:0]               rooms_o,        // each may, with Margin

    input  logic                 put_valid_i,
    input  logic [ CtxWidth-1:0] put_ctx_i,
    output logic [PageWidth-1:0] page_o,       // what it gets
    output logic [PageWidth-1:0] tail_o,       // what it got last

    input  logic                 get_valid_i,
    input  logic [ CtxWidth-1:0] get_ctx_i,
    output logic [PageWidth-1:0] head_o,       // its oldest page
    output logic [PageWidth-1:0] next_o        // and the one behind it
);
  localparam int unsigned Lendable = Pages - Share * Contexts;
  localparam int unsigned CountWidth = $clog2(Pages + 1);
  `MAE_PARAM(ShareLegal, Share >= 1 && Share * Contexts <= Pages)

  typedef logic [CountWidth-1:0] count_t;
  typedef logic [CountWidth:0] sum_t;

  // How many pages each context has claimed; how many are lent.
  count_t held_q [Contexts];
  count_t lent_q;
  logic [1:0] lends, same;
  logic returns;

  function automatic logic may(input count_t held, input count_t lent, input int unsigned margin);
    return 32'(held) < Share || 32'(sum_t'(held) + sum_t'(lent)) + margin < Share + Lendable;
  endfunction

  always_comb begin
    // The second one leaves what the first one may take.
    for (int unsigned k = 0; k < 2; k++) begin
      room_o[k] = may(held_q[claim_ctx_i[k]], lent_q, k);
      // A page of its own that comes back in the same clock is the one that is claimed.
      same[k]   = get_valid_i && claim_ctx_i[k] == get_ctx_i;
      lends[k]  = claim_valid_i[k] && 32'(held_q[claim_ctx_i[k]]) >= Share + 32'(same[k]);
    end
    for (int unsigned i = 0; i < Contexts; i++) rooms_o[i] = may(held_q[i], lent_q, Margin);
  end

  assign returns = get_valid_i && 32'(held_q[get_ctx_i]) > Share;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= '{default: '0};
      lent_q <= '0;
    end else begin
      for (int unsigned i = 0; i < Contexts; i++) begin
        held_q[i] <= held_q[i] + count_t'(claim_valid_i[0] && 32'(claim_ctx_i[0]) == i) +
                     count_t'(claim_valid_i[1] && 32'(claim_ctx_i[1]) == i) -
                     count_t'(get_valid_i && 32'(get_ctx_i) == i);
      end
      lent_q <= lent_q + count_t'(lends[0]) + count_t'(lends[1]) - count_t'(returns);
    end
  end

  // Free pages; the next one is found a clock ahead.
  logic [Pages-1:0] free_d, free_q;
  logic [PageWidth-1:0] page_d, page_q;

  always_comb begin
    free_d = free_q;
    if (put_valid_i) free_d[page_q] = 1'b0;
    page_d = '0;
    for (int i = int'(Pages) - 1; i >= 0; i--) if (free_d[i]) page_d = PageWidth'(i);
    if (free_d == '0) page_d = head_o;  // then only one that comes back can follow
    if (get_valid_i) free_d[head_o] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      free_q <= '1;
      page_q <= '0;
    end else begin
      free_q <= free_d;
      page_q <= page_d;
    end
  end

  assign page_o = page_q;

  logic [Contexts-1:0] any;

  mae_dma_context_queues #(
      .Contexts(Contexts),
      .Items   (Pages)
  ) u_lists (
      .clk_i,
      .rst_ni,
      .put_valid_i,
      .put_ctx_i,
      .put_item_i(page_q),
      .tail_o,
      .get_valid_i,
      .get_ctx_i,
      .head_o,
      .next_o,
      .any_o     (any)
  );

  `MAE_ASSERT(ClaimsWhatIsThere, (claim_valid_i & ~room_o) == '0)
  `MAE_ASSERT(ClaimsApart, claim_valid_i != '1 || claim_ctx_i[0] != claim_ctx_i[1])
  `MAE_ASSERT(PageIsFree, !put_valid_i || free_q[page_q])
  `MAE_ASSERT(LentWithin, 32'(lent_q) <= Lendable)
  `MAE_ASSERT(GetsItsOwn, !get_valid_i || any[get_ctx_i])

endmodule
