// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_transfer_abort: aborts a DMA transfer, zeroes and releases its region of device memory,
// and answers its chunks. It waits until the transfer's moving chunks have ended.
//
// No chunk of the transfer starts while busy_o is high. When its moving chunks have ended
// (drained_i), the granules of an H2D transfer are overwritten with zeros and its region is
// released; then its chunks from slot_o on are answered, one for each answered_i, and end_o is
// given. foreign_i (the next chunk belongs to another transfer) ends the answers earlier.
// Latency: from begin_i to release_o, if drained: 2 clocks (D2H), granules + 2 clocks (H2D), plus
// the clocks in which the memory stalls.
// Throughput: one granule a clock.
// Reset and clear: clear_i: idle. halt_i: no further write.
// Parameters: Legal: GranuleWidth 1..34; EntryWidth, QueueWidth, SlotWidth >= 1.
// Security: constant-time in data; holds no secrets.
// Source: docs/protocol.md, section 5, "A transfer is given up".

`include "mae_assert.svh"

module mae_guard_transfer_abort #(
    parameter int unsigned GranuleWidth = 14,
    parameter int unsigned EntryWidth = 3,
    parameter int unsigned QueueWidth = 2,
    parameter int unsigned SlotWidth = 3,
    localparam int unsigned CountWidth = SlotWidth + 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic halt_i,

    input logic begin_i,  // pulse, when not busy
    input logic begin_front_i,  // its chunks are the oldest of the queue; otherwise the newest
    input logic begin_late_i,  // its first chunk waited for a kernel run that will never occur
    input logic begin_out_i,
    input logic [QueueWidth-1:0] begin_queue_i,
    input logic [EntryWidth-1:0] begin_entry_i,
    input logic [SlotWidth-1:0] begin_slot_i,  // of its oldest unanswered chunk
    input logic [CountWidth-1:0] begin_count_i,  // number of unanswered chunks from there on
    input logic [GranuleWidth-1:0] begin_granule_i,
    input logic [GranuleWidth-1:0] begin_last_i,  // granule

    output logic                  busy_o,
    output logic                  front_o,
    output logic                  late_o,      // holds until the first answer
    output logic                  out_o,
    output logic [QueueWidth-1:0] queue_o,
    output logic [EntryWidth-1:0] entry_o,
    output logic [ SlotWidth-1:0] slot_o,      // slot of the chunk to answer
    output logic [CountWidth-1:0] answers_o,   // number of answers given
    output logic                  draining_o,
    input  logic                  drained_i,
    output logic                  release_o,   // pulse
    output logic                  answer_o,    // holds until answered_i or foreign_i
    input  logic                  answered_i,
    input  logic                  foreign_i,
    output logic                  end_o,       // holds until ended_i
    input  logic                  ended_i,

    output logic        mem_valid_o,   // writes of zeros
    input  logic        mem_ready_i,
    output logic [34:0] mem_granule_o
);
  `MAE_PARAM(GranulesLegal, GranuleWidth >= 1 && GranuleWidth <= 34)

  typedef enum logic [2:0] {
    Idle,
    Drain,
    Scrub,
    Release,
    Answer,
    End
  } giving_e;

  giving_e state_q;
  logic front_q, late_q, out_q;
  logic [QueueWidth-1:0] queue_q;
  logic [EntryWidth-1:0] entry_q;
  logic [ SlotWidth-1:0] slot_q;
  logic [CountWidth-1:0] left_q, answers_q;
  logic [GranuleWidth-1:0] granule_q, last_q;

  assign busy_o = state_q != Idle;
  assign front_o = front_q;
  assign late_o = late_q;
  assign out_o = out_q;
  assign queue_o = queue_q;
  assign entry_o = entry_q;
  assign slot_o = slot_q;
  assign answers_o = answers_q;
  assign draining_o = state_q == Drain;
  assign release_o = state_q == Release;
  assign answer_o = state_q == Answer && left_q != '0;
  assign end_o = state_q == End || (state_q == Answer && left_q == '0);
  assign mem_valid_o = state_q == Scrub;
  assign mem_granule_o = 35'(granule_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else if (clear_i || halt_i) state_q <= Idle;
    else begin
      unique case (state_q)
        Idle:    if (begin_i) state_q <= Drain;
        Drain:   if (drained_i) state_q <= out_q ? Release : Scrub;
        Scrub:   if (mem_ready_i && granule_q == last_q) state_q <= Release;
        Release: state_q <= Answer;
        Answer: begin
          if (ended_i) state_q <= Idle;
          else if (foreign_i) state_q <= End;
        end
        default: if (ended_i) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {front_q, late_q, out_q} <= '0;
      queue_q   <= '0;
      entry_q   <= '0;
      slot_q    <= '0;
      left_q    <= '0;
      answers_q <= '0;
      granule_q <= '0;
      last_q    <= '0;
    end else if (clear_i) begin
      {front_q, late_q, out_q} <= '0;
      queue_q   <= '0;
      entry_q   <= '0;
      slot_q    <= '0;
      left_q    <= '0;
      answers_q <= '0;
      granule_q <= '0;
      last_q    <= '0;
    end else if (begin_i) begin
      {front_q, late_q, out_q} <= {begin_front_i, begin_late_i, begin_out_i};
      queue_q   <= begin_queue_i;
      entry_q   <= begin_entry_i;
      slot_q    <= begin_slot_i;
      left_q    <= begin_count_i;
      answers_q <= '0;
      granule_q <= begin_granule_i;
      last_q    <= begin_last_i;
    end else begin
      if (mem_valid_o && mem_ready_i) granule_q <= granule_q + 1'b1;
      if (answered_i) begin
        late_q    <= 1'b0;
        slot_q    <= slot_q + 1'b1;
        left_q    <= left_q - 1'b1;
        answers_q <= answers_q + 1'b1;
      end
    end
  end

  `MAE_ASSERT(BeginsIdle, !begin_i || !busy_o)
  `MAE_ASSERT(AnswersAsked, !(answered_i || foreign_i) || answer_o)
  `MAE_STREAM_HOLDS(MemHolds, mem_valid_o, mem_ready_i || clear_i || halt_i, mem_granule_o)

endmodule
