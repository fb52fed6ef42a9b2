// SPDX-License-Identifier: Apache-2.0
//
// mae_fhe_transfer: moves a polynomial, a table of powers or a block of constants between device
// memory and a polynomial engine.
//
// start_i takes an instruction (OpLoad, OpStore, OpConstants, OpTable); busy_o falls when the
// engine or the memory port has the last of it. OpLoad with montgomery multiplies by R. bad_o: a
// coefficient is not below its prime, a prime is not 1 modulo 2^Digit or too wide, or the address
// passed the end of the 32-bit space; the move stands still then until clear_i. Reads are answered
// in order, any clocks after they were taken; writes hold until taken.
//
// Throughput: 64 bytes a clock, 8 coefficients. A load of N coefficients with answers A clocks
// after their reads takes N / 8 + A + multiply_clocks + 4. clear_i erases its registers. Legal:
// Lanes 8, 16, 32.

`include "mae_assert.svh"

module mae_fhe_transfer
  import mae_fhe_pkg::*;
#(
    parameter int unsigned LogN = 12,
    parameter int unsigned Width = 37,
    parameter int unsigned Lanes = 16,
    localparam int unsigned Digit = LogN + 1,
    localparam int unsigned WordBits = LogN - $clog2(Lanes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic         start_i,
    // verilator lint_off UNUSEDSIGNAL  // the parts of passes
    input  instruction_t instruction_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic         busy_o,
    output logic         bad_o,

    output logic            read_valid_o,
    input  logic            read_ready_i,
    output logic     [25:0] read_granule_o,
    input  logic            answer_valid_i,
    input  granule_t        answer_i,

    output logic            write_valid_o,
    input  logic            write_ready_i,
    output logic     [25:0] write_granule_o,
    output granule_t        write_data_o,

    input  logic [  Engines-1:0][Constants-1:0][Width-1:0] constants_i,
    input  logic [  Engines-1:0][    Lanes-1:0][Width-1:0] fetched_i,
    output logic [  Engines-1:0]                           slot_write_o,
    output logic [  Engines-1:0]                           table_write_o,
    output logic [  Engines-1:0]                           constants_write_o,
    output logic [  Engines-1:0]                           read_o,
    output logic [          7:0]                           slot_o,
    output logic [ WordBits-1:0]                           word_o,
    output logic [    Lanes-1:0][    Width-1:0]            data_o,
    output logic [Constants-1:0][    Width-1:0]            constants_o
);
  `MAE_PARAM(LanesLegal, Lanes == 8 || Lanes == 16 || Lanes == 32)

  localparam int unsigned Granules = 2 ** LogN / GranuleWords;
  localparam int unsigned Parts = Lanes / GranuleWords;  // granules of a word
  localparam int unsigned PartBits = (Parts > 1) ? $clog2(Parts) : 1;
  localparam int unsigned Wait = multiply_clocks(Width, Digit);
  localparam int unsigned CountBits = $clog2(Granules + 1);

  typedef logic [CountBits-1:0] count_t;
  typedef logic [GranuleWords-1:0][Width-1:0] values_t;

  logic busy_q, montgomery_q;
  logic [7:0] op_q, slot_q;
  logic [ 1:0] engine_q;
  logic [26:0] granule_q;  // next one asked for or written
  count_t asked_q, answered_q, done_q;  // granules
  logic [Width-1:0] prime, factor_q;

  assign busy_o = busy_q;
  assign slot_o = slot_q;
  assign prime  = constants_i[engine_q][0];

  // Into the engine: the range is judged, then the coefficients are multiplied.
  logic loads, good, bad_q;
  logic [GranuleWords-1:0] below;
  values_t values, values_q, products;
  logic [Wait:0] valid_q;
  logic [CountBits-1:0] wanted;
  logic [Width-1:0] least;

  assign loads  = op_q != OpStore;
  assign wanted = (op_q == OpConstants) ? count_t'(1) : count_t'(Granules);
  assign least  = (op_q == OpConstants) ? answer_i[Width-1:0] : prime;

  always_comb begin
    for (int unsigned i = 0; i < GranuleWords; i++) begin
      values[i] = answer_i[64*i+:Width];
      below[i]  = answer_i[64*i+Width+:64-Width] == '0 && values[i] < least;
    end
    good = below == '1;
    if (op_q == OpConstants) begin
      good = below[GranuleWords-1:1] == '1 && answer_i[Width+:64-Width] == '0 &&
          answer_i[Digit-1:0] == Digit'(1) && answer_i[Width-1:Digit] != '0;
    end
  end

  for (genvar i = 0; i < GranuleWords; i++) begin : gen_multiply
    mae_mod_mul #(
        .Width(Width),
        .Digit(Digit)
    ) u_mul (
        .clk_i,
        .q_high_i(prime[Width-1:Digit]),
        .a_i(values_q[i]),
        .b_i(factor_q),
        .product_o(products[i])
    );
  end

  // A word of the engine is together when its last part comes.
  logic arrives, complete;
  logic [WordBits-1:0] load_word;
  assign arrives = valid_q[Wait];

  if (Parts == 1) begin : gen_single
    assign data_o = products;
    assign complete = arrives;
    assign load_word = WordBits'(done_q);
  end else begin : gen_several
    values_t [Parts-2:0] earlier_q;  // the latest stands highest
    values_t [Parts-1:0] whole;
    assign whole = {products, earlier_q};
    always_ff @(posedge clk_i) begin
      if (clear_i) earlier_q <= '0;
      else if (arrives) earlier_q <= whole[Parts-1:1];
    end
    assign data_o = whole;
    assign complete = arrives && done_q[PartBits-1:0] == '1;
    assign load_word = WordBits'(done_q >> PartBits);
  end

  // Out of the engine: the next word waits at the slots' port while one is sent.
  logic fresh_q, have_q, take, sent, last_part;
  logic [WordBits:0] next_q;
  logic [Parts-1:0][GranuleWords-1:0][Width-1:0] word_q;
  logic [PartBits-1:0] part_q;

  assign last_part = Parts == 1 || part_q == '1;
  assign sent = write_valid_o && write_ready_i;
  assign take = busy_q && !loads && fresh_q && !next_q[WordBits] &&
      (!have_q || (sent && last_part));
  assign write_valid_o = have_q && !granule_q[26];
  assign write_granule_o = granule_q[25:0];
  always_comb begin
    write_data_o = '0;
    for (int unsigned i = 0; i < GranuleWords; i++) begin
      write_data_o[64*i+:Width] = word_q[Parts==1?'0 : part_q][i];
    end
  end

  assign read_valid_o = busy_q && loads && asked_q != wanted && !granule_q[26];
  assign read_granule_o = granule_q[25:0];
  assign bad_o = bad_q;
  assign word_o = loads ? load_word : next_q[WordBits-1:0];
  assign constants_o = values;

  always_comb begin
    for (int unsigned e = 0; e < Engines; e++) begin
      logic mine;
      mine = busy_q && engine_q == 2'(e);
      slot_write_o[e] = mine && op_q == OpLoad && complete;
      table_write_o[e] = mine && op_q == OpTable && complete;
      constants_write_o[e] = mine && op_q == OpConstants && answer_valid_i && good;
      read_o[e] = mine && !loads && !next_q[WordBits];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, montgomery_q, op_q, slot_q, engine_q, granule_q} <= '0;
      {asked_q, answered_q, done_q, factor_q, bad_q, valid_q} <= '0;
      {fresh_q, have_q, next_q, part_q} <= '0;
    end else if (clear_i) begin
      {busy_q, montgomery_q, op_q, slot_q, engine_q, granule_q} <= '0;
      {asked_q, answered_q, done_q, factor_q, bad_q, valid_q} <= '0;
      {fresh_q, have_q, next_q, part_q} <= '0;
    end else begin
      valid_q  <= {valid_q[Wait-1:0], answer_valid_i && busy_q && loads};
      factor_q <= constants_i[engine_q][montgomery_q?ConstantSquare : ConstantOne];
      if (busy_q) begin
        if (read_valid_o && read_ready_i) begin
          asked_q   <= asked_q + 1'b1;
          granule_q <= granule_q + 1'b1;
        end
        if (answer_valid_i) begin
          answered_q <= answered_q + 1'b1;
          if (!good) bad_q <= 1'b1;
        end
        if (arrives) begin
          done_q <= done_q + 1'b1;
          if (done_q == wanted - 1'b1) busy_q <= 1'b0;
        end
        if (granule_q[26] && (loads ? asked_q != wanted : have_q)) bad_q <= 1'b1;
        fresh_q <= !loads && !take;
        if (sent) begin
          granule_q <= granule_q + 1'b1;
          part_q <= part_q + 1'b1;
          if (last_part) begin
            have_q <= 1'b0;
            if (next_q[WordBits]) busy_q <= 1'b0;
          end
        end
        if (take) begin
          have_q <= 1'b1;
          next_q <= next_q + 1'b1;
        end
      end
      if (start_i && !busy_q) begin
        busy_q <= 1'b1;
        montgomery_q <= instruction_i.montgomery;
        op_q <= instruction_i.op;
        engine_q <= instruction_i.galois[1:0];
        slot_q <= instruction_i.galois[15:8];
        granule_q <= {1'b0, instruction_i.address[31:6]};
        {asked_q, answered_q, done_q, fresh_q, have_q, next_q, part_q} <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      values_q <= '0;
      word_q   <= '0;
    end else begin
      if (answer_valid_i) values_q <= values;
      if (take) word_q <= fetched_i[engine_q];
    end
  end

  logic unused;
  assign unused = ^answered_q;

  `MAE_ASSERT(StartWhenIdle, !start_i || !busy_q)

endmodule
