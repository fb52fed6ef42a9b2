// SPDX-License-Identifier: Apache-2.0
//
// mae_poly_slots: stores polynomials in slots, of which each gives two words and takes two words a
// clock. A slot has two memories with one read and one write port each.
//
// Word w stands in bank (highest bit of w) xor (lowest bit of w): words w and w + half, and words
// 2w and 2w + 1, stand in different banks, which is all that a transform of constant geometry asks
// for.
// Reads: u, v, w for operands and m for the memory. Two reads that meet in a bank of a slot must be
// of the same word, and so must two writes; x and y of one clock are of different banks.
//
// Latency: 1 clock. Throughput: above. clear_i zeroes a row of all slots a clock, clear_row_i, and
// what was read. Legal: Words a power of two, 4 and more.

`include "mae_assert.svh"

module mae_poly_slots #(
    parameter int unsigned Slots = 8,
    parameter int unsigned Words = 256,
    parameter int unsigned Width = 592,
    localparam int unsigned SlotBits = (Slots > 1) ? $clog2(Slots) : 1,
    localparam int unsigned WordBits = $clog2(Words)
) (
    input logic                clk_i,
    input logic                clear_i,
    input logic [WordBits-2:0] clear_row_i,

    input  logic [3:0]               read_i,       // u, v, w, m
    input  logic [3:0][SlotBits-1:0] read_slot_i,
    input  logic [3:0][WordBits-1:0] read_word_i,
    output logic [3:0][   Width-1:0] read_data_o,

    input logic [2:0]               write_i,       // x, y, m
    input logic [2:0][SlotBits-1:0] write_slot_i,
    input logic [2:0][WordBits-1:0] write_word_i,
    input logic [2:0][   Width-1:0] write_data_i
);
  `MAE_PARAM(WordsLegal, Words >= 4 && 2 ** WordBits == Words)

  function automatic logic bank(logic [WordBits-1:0] place);
    return place[WordBits-1] ^ place[0];
  endfunction

  logic [Slots-1:0][1:0][Width-1:0] read;
  logic [3:0][SlotBits-1:0] slot_q;
  logic [3:0] bank_q;
  // The word that x and y write into each bank.
  logic [1:0] pair_write;
  logic [1:0][SlotBits-1:0] pair_slot;
  logic [1:0][WordBits-2:0] pair_row;
  logic [1:0][Width-1:0] pair_data;

  always_comb begin
    for (int unsigned b = 0; b < 2; b++) begin
      logic second;
      second = write_i[1] && bank(write_word_i[1]) == 1'(b);
      pair_write[b] = second || (write_i[0] && bank(write_word_i[0]) == 1'(b));
      pair_slot[b] = write_slot_i[1'(second)];
      pair_row[b] = write_word_i[1'(second)][WordBits-1:1];
      pair_data[b] = write_data_i[1'(second)];
    end
  end

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    for (genvar b = 0; b < 2; b++) begin : gen_bank
      logic [3:0] hit;
      // Kept as a signal: Verilator would compute it again for each 32 bits that are read.
      logic [WordBits-2:0] row  /* verilator public_flat_rd */;
      logic pair_hit, load_hit, write;
      logic [WordBits-2:0] write_row;
      logic [Width-1:0] write_data;

      always_comb begin
        row = '0;
        for (int unsigned i = 0; i < 4; i++) begin
          hit[i] = read_i[i] && read_slot_i[i] == SlotBits'(s) && bank(read_word_i[i]) == 1'(b);
          if (hit[i]) row = read_word_i[i][WordBits-1:1];
        end
      end
      assign pair_hit = pair_write[b] && pair_slot[b] == SlotBits'(s);
      assign load_hit = write_i[2] && write_slot_i[2] == SlotBits'(s) && bank(
          write_word_i[2]
      ) == 1'(b);

      // One write port, so that FPGAs put the rows into block RAM.
      always_comb begin
        write = clear_i || pair_hit || load_hit;
        write_row = write_word_i[2][WordBits-1:1];
        write_data = write_data_i[2];
        if (pair_hit) begin
          write_row  = pair_row[b];
          write_data = pair_data[b];
        end
        if (clear_i) begin
          write_row  = clear_row_i;
          write_data = '0;
        end
      end

      mae_ram #(
          .Width  (Width),
          .Depth  (Words / 2),
          .ReadReg(1'b1)
      ) u_rows (
          .clk_i,
          .write_i     (write),
          .write_addr_i(write_row),
          .write_data_i(write_data),
          .read_i      (hit != '0),
          .clear_i     (clear_i),
          .read_addr_i (row),
          .read_data_o (read[s][b])
      );
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      slot_q <= '0;
      bank_q <= '0;
    end else begin
      slot_q <= read_slot_i;
      for (int unsigned i = 0; i < 4; i++) bank_q[i] <= bank(read_word_i[i]);
    end
  end

  for (genvar i = 0; i < 4; i++) begin : gen_read
    assign read_data_o[i] = read[slot_q[i]][bank_q[i]];
  end

endmodule
