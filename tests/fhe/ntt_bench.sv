// SPDX-License-Identifier: Apache-2.0
//
// ntt_bench: connects the polynomial engine (NTT) to its controller, with flat ports for tests.

module ntt_bench
  import mae_fhe_pkg::*;
#(
    parameter int unsigned LogN = 10,
    parameter int unsigned Width = 24,
    parameter int unsigned Lanes = 8,
    localparam int unsigned LaneBits = $clog2(Lanes),
    localparam int unsigned WordBits = LogN - LaneBits
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic          start_i,
    input  logic          transform_i,
    input  logic [LogN:0] galois_i,
    input  logic [  63:0] part_i,
    output logic          busy_o,

    input  logic                            slot_write_i,
    input  logic                            table_write_i,
    input  logic                            constants_write_i,
    input  logic                            read_i,
    input  logic [          7:0]            slot_i,
    input  logic [ WordBits-1:0]            word_i,
    input  logic [    Lanes-1:0][Width-1:0] data_i,
    input  logic [Constants-1:0][Width-1:0] constants_i,
    output logic [    Lanes-1:0][Width-1:0] fetched_o
);
  beat_t beat;
  logic [WordBits-1:0] source_word;
  logic [Lanes-1:0][LaneBits-1:0] lane;
  logic [Lanes-1:0][Width-1:0] word;
  logic [Constants-1:0][Width-1:0] unused_constants;

  mae_poly_control #(
      .LogN (LogN),
      .Width(Width),
      .Lanes(Lanes)
  ) u_control (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .start_i,
      .transform_i,
      .galois_i,
      .busy_o,
      .beat_o(beat),
      .source_word_o(source_word),
      .lane_o(lane)
  );

  mae_poly_engine #(
      .LogN (LogN),
      .Width(Width),
      .Lanes(Lanes),
      .Slots(4)
  ) u_engine (
      .clk_i,
      .clear_i,
      .clear_word_i(word_i),
      .part_i,
      .beat_i(beat),
      .source_word_i(source_word),
      .lane_i(lane),
      .word_o(word),
      .words_i({3{word}}),
      .transfer_slot_write_i(slot_write_i),
      .transfer_table_write_i(table_write_i),
      .transfer_constants_write_i(constants_write_i),
      .transfer_read_i(read_i),
      .transfer_slot_i(slot_i),
      .transfer_word_i(word_i),
      .transfer_data_i(data_i),
      .transfer_constants_i(constants_i),
      .fetched_o,
      .constants_o(unused_constants)
  );

endmodule
