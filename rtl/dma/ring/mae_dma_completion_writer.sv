// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_completion_writer: writes completions to the completion ring in host memory, several in
// flight.
//
// A completion is 32 strobed bytes in one beat, or in two beats of a 128-bit bus. tail_o and irq_o
// follow the write responses in the order of the ring, so the completions they announce are in host
// memory. An entry that the host has not freed (head_i) is never written. in_ready_o depends
// combinationally on the ready of the AXI channels.
// Latency: 1 clock from input to address.
// Throughput: one completion a clock (two beats: one in two clocks), while ring and the 2^TagBits
// in-flight entries have space.
// Reset: drops all completions; start_i begins at index 0.
// Parameters: Legal: DataWidth 128, 256, 512, 1024; TagBits 1..7.

`include "mae_assert.svh"

module mae_dma_completion_writer
  import mae_dma_pkg::*;
#(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned TagBits   = $bits(completion_tag_t)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        start_i,  // begin at index 0 (when idle)
    input  logic [57:0] base_i,   // address of the ring / 64
    input  logic [ 3:0] log2_i,
    input  logic [15:0] head_i,
    output logic [15:0] tail_o,
    output logic        idle_o,
    output logic        irq_o,    // pulse: a completion with interrupt is in host memory
    output logic        error_o,  // pulse: a completion could not be written

    input  logic        in_valid_i,
    output logic        in_ready_o,
    input  completion_t in_i,        // all but the phase
    input  logic        in_irq_i,

    output logic                              aw_valid_o,
    input  logic                              aw_ready_i,
    output completion_tag_t                   aw_tag_o,
    output addr_t                             aw_addr_o,
    output logic                              w_valid_o,
    input  logic                              w_ready_i,
    output logic            [  DataWidth-1:0] w_data_o,
    output logic            [DataWidth/8-1:0] w_strb_o,
    output logic                              w_last_o,
    input  logic                              b_valid_i,   // always accepted
    input  completion_tag_t                   b_tag_i,
    input  logic                              b_error_i
);
  localparam int unsigned Slots = 2 ** TagBits;
  localparam int unsigned EntryBits = 8 * CompletionBytes;
  localparam int unsigned Lanes = (DataWidth > EntryBits) ? DataWidth / EntryBits : 1;

  logic [15:0] next_q, tail_q;
  logic [Slots-1:0] written_d, written_q;
  logic [Slots-1:0] irq_q;
  logic aw_valid_q, w_valid_q;
  logic [TagBits-1:0] tag_q, b_tag;
  addr_t addr_q;
  completion_t entry_q;
  logic [15:0] place;
  logic load, retire;

  logic unused_tag;  // its upper bits are the instantiator's

  assign unused_tag = ^b_tag_i;
  assign b_tag = TagBits'(b_tag_i);
  assign place = next_q & ~(16'hffff << log2_i);
  assign in_ready_o = 16'(next_q - head_i) < (16'd1 << log2_i) &&
      16'(next_q - tail_q) < 16'(Slots) && (!aw_valid_q || aw_ready_i) &&
      (!w_valid_q || (w_ready_i && w_last_o));
  assign load = in_valid_i && in_ready_o;
  assign retire = written_q[tail_q[TagBits-1:0]];

  always_comb begin
    written_d = written_q;
    if (retire) written_d[tail_q[TagBits-1:0]] = 1'b0;
    if (b_valid_i) written_d[b_tag] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_q     <= '0;
      tail_q     <= '0;
      written_q  <= '0;
      irq_q      <= '0;
      aw_valid_q <= 1'b0;
      w_valid_q  <= 1'b0;
      tag_q      <= '0;
      addr_q     <= '0;
      entry_q    <= '0;
    end else begin
      written_q <= written_d;
      if (aw_ready_i) aw_valid_q <= 1'b0;
      if (w_ready_i && w_last_o) w_valid_q <= 1'b0;
      if (retire) tail_q <= tail_q + 1'b1;
      if (load) begin
        aw_valid_q                 <= 1'b1;
        w_valid_q                  <= 1'b1;
        tag_q                      <= next_q[TagBits-1:0];
        addr_q                     <= {base_i, 6'd0} + addr_t'({place, 5'd0});
        entry_q                    <= in_i;
        entry_q.phase              <= {31'd0, ~1'(next_q >> log2_i)};
        irq_q[next_q[TagBits-1:0]] <= in_irq_i;
        next_q                     <= next_q + 1'b1;
      end
      if (start_i) begin
        next_q <= '0;
        tail_q <= '0;
      end
    end
  end

  // The address selects the lanes of the beat.
  if (DataWidth < EntryBits) begin : gen_two
    logic upper_q;  // the second beat
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) upper_q <= 1'b0;
      else if (w_valid_q && w_ready_i) upper_q <= !upper_q;
    end
    assign w_data_o = upper_q ? entry_q[EntryBits-1-:DataWidth] : entry_q[DataWidth-1:0];
    assign w_strb_o = '1;
    assign w_last_o = upper_q;
  end else begin : gen_one
    assign w_data_o = {Lanes{entry_q}};
    assign w_last_o = 1'b1;
    if (Lanes == 1) begin : gen_whole
      assign w_strb_o = '1;
    end else begin : gen_lanes
      assign w_strb_o = (DataWidth / 8)'({CompletionBytes{1'b1}}) << {addr_q[5+:$clog2(
          Lanes
      )], 5'd0};
    end
  end

  assign tail_o     = tail_q;
  assign idle_o     = next_q == tail_q;
  assign irq_o      = retire && irq_q[tail_q[TagBits-1:0]];
  assign error_o    = b_valid_i && b_error_i;
  assign aw_valid_o = aw_valid_q;
  assign aw_tag_o   = completion_tag_t'(tag_q);
  assign aw_addr_o  = addr_q;
  assign w_valid_o  = w_valid_q;

  `MAE_PARAM(EntrySize, $bits(completion_t) == EntryBits)
  `MAE_ASSERT(StartsIdle, !start_i || idle_o)
  `MAE_ASSERT(ResponseAwaited, !b_valid_i || (!written_q[b_tag] && !idle_o))
  `MAE_STREAM_HOLDS(AwHolds, aw_valid_o, aw_ready_i, aw_addr_o)
  `MAE_STREAM_HOLDS(WHolds, w_valid_o, w_ready_i, w_data_o)

endmodule
