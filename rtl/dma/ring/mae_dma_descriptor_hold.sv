// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_descriptor_hold: holds a job's descriptor while its context is busy, and lets descriptors
// of other contexts overtake it.
//
// A descriptor whose context is busy is held; those behind it go on. Descriptors of one context stay
// in order: one of them at most is held, the next waits with all behind it. A held descriptor leaves
// as soon as its context is free, before newer ones. Descriptors without a legal context are never
// held. all_i: descriptors leave whether their context is busy or not. An offered descriptor stays.
// Latency: 0 clocks; a held descriptor leaves in the clock in which its context is free.
// Throughput: one descriptor a clock.
// Reset: drops all descriptors.
// Parameters: Legal: Contexts 1..256; Slots 1..32.

`include "mae_assert.svh"

module mae_dma_descriptor_hold
  import mae_dma_pkg::*;
#(
    parameter int unsigned Contexts = 64,
    parameter int unsigned Slots = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [Contexts-1:0] busy_i,  // a job of the context is in flight
    input  logic                all_i,
    output logic                empty_o, // no descriptor is held

    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  desc_t        in_desc_i,
    input  logic         in_error_i,
    input  logic  [15:0] in_index_i,

    output logic         out_valid_o,
    input  logic         out_ready_i,
    output desc_t        out_desc_o,
    output logic         out_error_o,
    output logic  [15:0] out_index_o
);
  `MAE_PARAM(SlotsLegal, Slots inside {[1 : 32]})

  localparam int unsigned CtxWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1;

  typedef logic [CtxWidth-1:0] ctx_t;
  typedef logic [SlotWidth-1:0] slot_t;

  typedef struct packed {
    logic [15:0] index;
    desc_t       desc;
  } held_t;

  // No reset: read only after it was written.
  held_t store_q[Slots];
  logic [Slots-1:0] held_q, ready, grant;
  ctx_t ctx_q  [Slots];
  ctx_t in_ctx;
  slot_t free_slot, out_slot;
  logic legal, same, free, hold, pass, pass_q, pick;

  assign in_ctx  = ctx_t'(in_desc_i.context_id);
  assign legal   = !in_error_i && 32'(in_desc_i.context_id) < Contexts;
  assign empty_o = held_q == '0;

  always_comb begin
    same      = 1'b0;
    free      = 1'b0;
    free_slot = '0;
    for (int unsigned i = 0; i < Slots; i++) begin
      ready[i] = held_q[i] && (all_i || !busy_i[ctx_q[i]]);
      if (held_q[i] && ctx_q[i] == in_ctx) same = legal;
      if (!held_q[i]) {free, free_slot} = {1'b1, slot_t'(i)};
    end
  end

  mae_rr_arb #(
      .N(Slots)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (ready),
      .advance_i(out_ready_i && !pass),
      .grant_o  (grant),
      .index_o  (out_slot),
      .valid_o  (pick)
  );

  // pass_q: the newest descriptor was offered and stays.
  assign pass        = pass_q || !pick;
  assign hold        = in_valid_i && legal && !same && busy_i[in_ctx] && free && !all_i && !pass_q;
  assign out_valid_o = pass ? in_valid_i && !same && (!legal || !busy_i[in_ctx] || all_i) : 1'b1;
  assign in_ready_o  = hold || (pass && out_valid_o && out_ready_i);
  assign out_desc_o  = pass ? in_desc_i : store_q[out_slot].desc;
  assign out_index_o = pass ? in_index_i : store_q[out_slot].index;
  assign out_error_o = pass && in_error_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pass_q <= 1'b0;
      held_q <= '0;
      ctx_q  <= '{default: '0};
    end else begin
      pass_q <= pass && out_valid_o && !out_ready_i;
      if (!pass && out_ready_i) held_q <= held_q & ~grant;
      if (hold) begin
        held_q[free_slot] <= 1'b1;
        ctx_q[free_slot]  <= in_ctx;
      end
    end
  end

  always_ff @(posedge clk_i)
    if (hold)
      store_q[free_slot] <= '{index: in_index_i, desc: in_desc_i};

  `MAE_STREAM_HOLDS(OutHolds, out_valid_o, out_ready_i || all_i, {out_desc_o, out_index_o})

endmodule
