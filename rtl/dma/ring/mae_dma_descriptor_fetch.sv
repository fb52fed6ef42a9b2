// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_descriptor_fetch: prefetches descriptors from the submission ring in host memory.
//
// Up to Prefetch descriptors are being read or waiting, so that short transfers do not wait for
// the memory latency: with all of them a descriptor every longest latency / Prefetch clocks.
// Read data may come in any order; descriptors leave in the order of the ring. No ready is
// combinational.
// Latency: 1 clock from the doorbell to the address, 2 from the last beat to desc_valid_o.
// Throughput: one descriptor a clock.
// Reset: drops all descriptors; start_i, given when idle, does so and begins at index 0.
// Parameters: Legal: Prefetch a power of 2, 2..64; BeatWidth 128, 256, 512.

`include "mae_assert.svh"

module mae_dma_descriptor_fetch
  import mae_dma_pkg::*;
#(
    parameter int unsigned BeatWidth = 512,
    parameter int unsigned Prefetch  = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        start_i,  // begins at index 0 and drops all descriptors (when idle)
    input  logic        fetch_i,  // enables reads of the descriptors before tail_i
    input  logic        give_i,   // enables the output of descriptors
    input  logic [57:0] base_i,   // address of the ring / 64
    input  logic [ 3:0] log2_i,
    input  logic [15:0] tail_i,
    output logic [15:0] head_o,   // descriptors before it were output
    output logic        empty_o,  // no descriptor is announced, being read or waiting
    output logic        quiet_o,  // no outstanding read, nothing offered

    output logic         desc_valid_o,
    input  logic         desc_ready_i,
    output desc_t        desc_o,
    output logic         desc_error_o,  // it could not be read
    output logic  [15:0] desc_index_o,

    output logic        ar_valid_o,
    input  logic        ar_ready_i,
    output control_ar_t ar_o,

    input logic                         r_valid_i,  // always accepted
    input control_tag_t                 r_tag_i,
    input logic         [          1:0] r_beat_i,
    input logic         [BeatWidth-1:0] r_data_i,
    input logic                         r_error_i,
    input logic                         r_last_i
);
  localparam int unsigned Beats = 8 * BlockBytes / BeatWidth;
  localparam int unsigned SlotWidth = $clog2(Prefetch);
  `MAE_PARAM(PrefetchLegal, Prefetch inside {2, 4, 8, 16, 32, 64})
  `MAE_PARAM(BeatWidthLegal, BeatWidth inside {128, 256, 512})

  typedef logic [SlotWidth-1:0] slot_t;

  logic [Beats-1:0][BeatWidth-1:0] store_q[Prefetch];
  logic [Prefetch-1:0] arrived_d, arrived_q;
  logic [Prefetch-1:0] error_d, error_q;
  logic [15:0] next_q;  // of the next read
  logic [15:0] head_q;
  logic [SlotWidth:0] flying_q;  // outstanding reads, with the one in the address register

  logic ar_valid_q;
  control_ar_t ar_q;
  logic issue, landed, load;
  logic [15:0] place;  // index in the ring of the next read
  slot_t head_slot, next_slot, r_slot;

  logic desc_valid_q, unused;
  desc_t desc_q;
  logic desc_error_q;
  logic [15:0] desc_index_q;

  assign head_slot = slot_t'(head_q);
  assign next_slot = slot_t'(next_q);
  assign r_slot = slot_t'(r_tag_i);
  assign unused = ^r_tag_i;

  assign place = next_q & ~(16'hffff << log2_i);
  assign issue = fetch_i && next_q != tail_i && 16'(next_q - head_q) < 16'(Prefetch) &&
      (!ar_valid_q || ar_ready_i);
  assign landed = r_valid_i && r_last_i;
  assign load = give_i && arrived_q[head_slot] && (!desc_valid_q || desc_ready_i);

  always_comb begin
    arrived_d = arrived_q;
    error_d   = error_q;
    if (issue) error_d[next_slot] = 1'b0;
    if (r_valid_i && r_error_i) error_d[r_slot] = 1'b1;
    if (landed) arrived_d[r_slot] = 1'b1;
    if (load) arrived_d[head_slot] = 1'b0;
    if (start_i) arrived_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      arrived_q    <= '0;
      error_q      <= '0;
      next_q       <= '0;
      head_q       <= '0;
      flying_q     <= '0;
      ar_valid_q   <= 1'b0;
      ar_q         <= '0;
      desc_valid_q <= 1'b0;
    end else begin
      arrived_q <= arrived_d;
      error_q   <= error_d;
      flying_q  <= flying_q + (SlotWidth + 1)'(issue) - (SlotWidth + 1)'(landed);
      if (ar_ready_i) ar_valid_q <= 1'b0;
      if (issue) begin
        ar_valid_q <= 1'b1;
        ar_q.tag   <= control_tag_t'(next_slot);
        ar_q.block <= base_i + 58'(place);
        next_q     <= next_q + 1'b1;
      end
      if (desc_ready_i) desc_valid_q <= 1'b0;
      if (load) begin
        desc_valid_q <= 1'b1;
        head_q       <= head_q + 1'b1;
      end
      if (start_i) begin
        next_q <= '0;
        head_q <= '0;
      end
    end
  end

  // No reset: read only after they were written.
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Beats; i++) begin
      if (r_valid_i && r_beat_i == 2'(i)) store_q[r_slot][i] <= r_data_i;
    end
    if (load) begin
      desc_q       <= store_q[head_slot];
      desc_error_q <= error_q[head_slot];
      desc_index_q <= head_q;
    end
  end

  assign head_o       = head_q;
  assign quiet_o      = flying_q == '0 && !desc_valid_q;
  assign empty_o      = next_q == head_q && !desc_valid_q && !(fetch_i && next_q != tail_i);
  assign desc_valid_o = desc_valid_q;
  assign desc_o       = desc_q;
  assign desc_error_o = desc_error_q;
  assign desc_index_o = desc_index_q;
  assign ar_valid_o   = ar_valid_q;
  assign ar_o         = ar_q;

  `MAE_ASSERT(StartsQuiet, !start_i || quiet_o)
  `MAE_ASSERT(AnswerAwaited, !r_valid_i || (flying_q != '0 && !arrived_q[r_slot]))
  `MAE_STREAM_HOLDS(ArHolds, ar_valid_o, ar_ready_i, ar_o)
  `MAE_STREAM_HOLDS(DescHolds, desc_valid_o, desc_ready_i, desc_o)

endmodule
