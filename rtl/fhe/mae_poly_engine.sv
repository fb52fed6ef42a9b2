// SPDX-License-Identifier: Apache-2.0
//
// mae_poly_engine: computes on polynomials modulo one prime: sums, products, automorphisms and
// number-theoretic transforms.
//
// part_i is this engine's part of the instruction; it must hold from the first beat until
// mae_poly_control is idle. A pass makes u + v w, u - v w (minus) or (v - u) w (gs) of every
// coefficient; v may be another engine's (words_i) and may go through an automorphism. A transform
// reads slot v in its first stage and writes slot dst in its last; the stages between go through
// dst and u by turns, so dst and u must differ, and v must not be the slot that the first stage
// writes. Of the memory: transfer_* writes a word of a slot or of the table, or the constants; a
// read's word is at fetched_o in the next clock.
//
// Latency: a beat's result is in its slot butterfly_clocks + 2 clocks later. Throughput: Lanes
// butterflies, or Lanes coefficients of a pass, a clock. clear_i, held for N / Lanes clocks with
// clear_word_i counting, erases everything. Time depends on no data.

module mae_poly_engine
  import mae_fhe_pkg::*;
#(
    parameter int unsigned LogN = 12,
    parameter int unsigned Width = 37,
    parameter int unsigned Lanes = 16,
    parameter int unsigned Slots = 8,
    localparam int unsigned Digit = LogN + 1,
    localparam int unsigned LaneBits = $clog2(Lanes),
    localparam int unsigned WordBits = LogN - LaneBits
) (
    input logic                clk_i,
    input logic                clear_i,
    input logic [WordBits-1:0] clear_word_i,

    // verilator lint_off UNUSEDSIGNAL  // reserved bits; slots beyond Slots are refused before
    input  part_t                                         part_i,
    // verilator lint_on UNUSEDSIGNAL
    input  beat_t                                         beat_i,
    input  logic  [WordBits-1:0]                          source_word_i,
    input  logic  [   Lanes-1:0][LaneBits-1:0]            lane_i,
    output logic  [   Lanes-1:0][   Width-1:0]            word_o,
    input  logic  [ Engines-1:0][   Lanes-1:0][Width-1:0] words_i,

    input  logic                            transfer_slot_write_i,
    input  logic                            transfer_table_write_i,
    input  logic                            transfer_constants_write_i,
    input  logic                            transfer_read_i,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [          7:0]            transfer_slot_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [ WordBits-1:0]            transfer_word_i,
    input  logic [    Lanes-1:0][Width-1:0] transfer_data_i,
    input  logic [Constants-1:0][Width-1:0] transfer_constants_i,
    output logic [    Lanes-1:0][Width-1:0] fetched_o,
    output logic [Constants-1:0][Width-1:0] constants_o
);
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned Delay = butterfly_clocks(Width, Digit) + 2;
  localparam int unsigned Half = 2 ** (WordBits - 1);

  typedef logic [WordBits-1:0] index_t;
  typedef logic [SlotBits-1:0] slot_t;
  typedef logic [Lanes-1:0][Width-1:0] word_t;

  typedef struct packed {
    logic   upper;
    logic   lower;
    slot_t  slot;
    index_t upper_word;
    index_t lower_word;
  } target_t;

  logic [Constants-1:0][Width-1:0] constants_q;  // 0: the prime
  assign constants_o = constants_q;

  // Addresses of a beat.
  logic own, odd;
  index_t word, pair_first, pair_second, u_word, v_word;
  slot_t stage_slot, stage_target;
  target_t target;
  target_t [Delay-1:0] target_q;

  assign own = beat_i.valid && part_i.active;
  assign word = index_t'(beat_i.word);
  assign pair_first = index_t'({word[WordBits-2:0], 1'b0});
  assign pair_second = pair_first | index_t'(1);
  assign odd = 1'(LogN - 1) ^ beat_i.stage[0];  // an odd number of stages after this one
  assign stage_target = slot_t'(odd ? part_i.u : part_i.dst);
  assign stage_slot = (beat_i.stage == '0) ? slot_t'(part_i.v) :
      slot_t'(odd ? part_i.dst : part_i.u);

  always_comb begin
    u_word = word;
    v_word = part_i.permute ? source_word_i : word;
    target = '0;
    target.upper = own;
    target.slot = slot_t'(part_i.dst);
    target.upper_word = word;
    target.lower_word = word;
    if (beat_i.transform) begin
      u_word = part_i.gs ? pair_first : word;
      v_word = part_i.gs ? pair_second : word + index_t'(Half);
      target.lower = own;
      target.slot = stage_target;
      target.upper_word = part_i.gs ? word : pair_first;
      target.lower_word = part_i.gs ? word + index_t'(Half) : pair_second;
    end
  end

  always_ff @(posedge clk_i) begin
    target_q[0] <= clear_i ? '0 : target;
    for (int unsigned i = 1; i < Delay; i++) target_q[i] <= clear_i ? '0 : target_q[i-1];
  end

  // Slots.
  word_t [3:0] read;
  word_t upper, lower, first, second;
  target_t done;
  assign done = target_q[Delay-1];

  mae_poly_slots #(
      .Slots(Slots),
      .Words(2 ** WordBits),
      .Width(Lanes * Width)
  ) u_slots (
      .clk_i,
      .clear_i,
      .clear_row_i(clear_word_i[WordBits-2:0]),
      .read_i({
        transfer_read_i,
        beat_i.valid && !beat_i.transform && !part_i.w[7],
        beat_i.valid && !part_i.v[7],
        beat_i.valid && !part_i.u[7]
      }),
      .read_slot_i({
        slot_t'(transfer_slot_i),
        slot_t'(part_i.w),
        beat_i.transform ? stage_slot : slot_t'(part_i.v),
        beat_i.transform ? stage_slot : slot_t'(part_i.u)
      }),
      .read_word_i({transfer_word_i, word, v_word, u_word}),
      .read_data_o(read),
      .write_i({transfer_slot_write_i, done.lower, done.upper}),
      .write_slot_i({slot_t'(transfer_slot_i), done.slot, done.slot}),
      .write_word_i({transfer_word_i, done.lower_word, done.upper_word}),
      .write_data_i({transfer_data_i, second, first})
  );

  // Butterfly k of a forward transform gives coefficients 2k and 2k + 1, which lie side by side;
  // the inverse transform takes them from there.
  logic [2*Lanes-1:0][Width-1:0] woven, pair;
  assign pair = {read[1], read[0]};

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      woven[2*l]   = upper[l];
      woven[2*l+1] = lower[l];
    end
    first  = (part_i.gs || part_i.minus) ? lower : upper;
    second = lower;
    if (done.lower) {second, first} = part_i.gs ? {lower, upper} : woven;
  end

  assign fetched_o = read[3];
  assign word_o = read[1];

  logic [1:0] transform_q;
  always_ff @(posedge clk_i) begin
    transform_q <= clear_i ? '0 : {transform_q[0], beat_i.transform};
  end

  // Operands.
  word_t u_q, v_q, w_q, from;
  assign from = words_i[part_i.from];

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      {u_q, v_q, w_q} <= '0;
    end else begin
      u_q <= read[0];
      v_q <= read[1];
      w_q <= read[2];
      if (!transform_q[0]) begin
        if (part_i.u[7]) u_q <= {Lanes{part_i.u[2:0] == '0 ? '0 : constants_q[part_i.u[2:0]]}};
        if (part_i.w[7]) w_q <= {Lanes{part_i.w[2:0] == '0 ? '0 : constants_q[part_i.w[2:0]]}};
        for (int unsigned l = 0; l < Lanes; l++) begin
          v_q[l] <= from[part_i.permute?lane_i[l] : LaneBits'(l)];
        end
      end else if (part_i.gs) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          u_q[l] <= pair[2*l];
          v_q[l] <= pair[2*l+1];
        end
      end
    end
  end

  mae_ntt_core #(
      .LogN (LogN),
      .Width(Width),
      .Lanes(Lanes)
  ) u_core (
      .clk_i,
      .clear_i,
      .q_high_i(constants_q[0][Width-1:Digit]),
      .write_i(transfer_table_write_i),
      .write_word_i(clear_i ? clear_word_i : transfer_word_i),
      .write_data_i(transfer_data_i),
      .stage_i(part_i.gs ? 4'(LogN - 1) - beat_i.stage : beat_i.stage),
      .word_i(word[WordBits-2:0]),
      .inverse_i(part_i.gs),
      .table_i(transform_q[1]),
      .gs_i(part_i.gs),
      .halve_i(transform_q[1]),
      .u_i(u_q),
      .v_i(v_q),
      .w_i(w_q),
      .upper_o(upper),
      .lower_o(lower)
  );

  always_ff @(posedge clk_i) begin
    if (clear_i) constants_q <= '0;
    else if (transfer_constants_write_i) constants_q <= transfer_constants_i;
  end

endmodule
