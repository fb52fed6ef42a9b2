// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_one_multiplier: computes GHASH of one block a clock with one multiplier, for FPGAs.
//
// The ports are those of mae_ghash with one lane and one key bank. No beat may come in the clock
// after a message's last one, which belongs to its length. beat_data_i is 0 while beat_valid_i is
// low. Give h_valid_i only while h_ready_o is high and no message is in progress, and no beat from
// then until ready_o.
//
// Sums: what enters the multiplier comes out three clocks later and enters it again, with the block
// of that clock added. So there are three sums, each multiplied every third clock, and the power
// of H is the number of blocks of that and the next two clocks. Two clocks before the length of a
// message and in its clock, a sum enters for the last time: the hash is the sum of the three
// products. Blocks wait three clocks, so that those that follow are known. H^2 and H^3 are
// computed in the same way, from H as a block.
//
//  Clocks of a product: 1 takes both factors; 2 the words of both, of 16 bits (Karatsuba); 3 the 27
//  products of words; in 4 the product is joined and reduced.
// Latency: the hash is valid for one clock, 8 clocks after the message's last beat. A beat may come
// in the clock after ready_o, 11 clocks after H.
// Throughput: one beat a clock; a message of n blocks takes n + 1 clocks.
// Reset and clear: abort_i drops all messages by the next clock and keeps the key, clear_i and reset
// also erase it. Data leave the pipeline within 6 clocks.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.4.

`include "mae_assert.svh"

module mae_ghash_one_multiplier
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         clear_i,
    input  logic         abort_i,
    input  logic         h_valid_i,
    output logic         h_ready_o,
    input  bank_t        h_bank_i,
    input  block_t       h_i,
    output logic         ready_o,
    input  logic         beat_valid_i,
    input  bank_t        beat_bank_i,
    input  block_t [0:0] beat_data_i,
    input  logic         beat_blocks_i,
    input  logic         beat_first_i,
    input  logic         beat_last_i,
    input  block_t       beat_length_i,  // the length block; with the last beat
    input  logic         beat_user_i,    // returned with the hash
    output logic         hash_valid_o,
    output logic         hash_user_o,
    output block_t       hash_o
);

  localparam int unsigned Clocks = 3;  // of a product, and of the line of blocks

  logic flush;
  assign flush = clear_i || (abort_i && h_ready_o);

  // ---- The line of blocks: those of the message, then its length. The last in line enters the
  // multiplier.
  typedef struct packed {
    logic used;   // there is a block
    logic ends;   // it is the length
    logic user;
    logic power;  // it is H, whose powers are computed
  } place_t;
  place_t in, line_q[Clocks];
  block_t in_data, data_q[Clocks], length_q;
  logic length_due_q, user_q;
  always_comb begin
    in       = '0;
    in.used  = beat_valid_i || length_due_q;
    in.ends  = length_due_q;
    in.user  = user_q;
    in.power = h_valid_i;
    in_data  = beat_data_i[0];
    if (length_due_q) in_data = length_q;
    if (h_valid_i) in_data = h_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      length_due_q <= 1'b0;
      line_q       <= '{default: '0};
    end else if (flush) begin
      length_due_q <= 1'b0;
      line_q       <= '{default: '0};
      if (!clear_i) line_q[0].power <= h_valid_i;
    end else begin
      length_due_q <= beat_valid_i && beat_last_i;
      line_q       <= '{in, line_q[0], line_q[1]};
    end
  end
  always_ff @(posedge clk_i) begin
    length_q <= beat_valid_i ? beat_length_i : '0;
    user_q   <= beat_user_i;
    data_q   <= '{in_data, data_q[0], data_q[1]};
  end

  // ---- The power for the block that is the last in line in the next clock, and whether its sum
  // enters for the last time.
  logic [1:0] count_q;
  logic final_q;
  always_ff @(posedge clk_i) begin
    count_q <= 2'(line_q[1].used) + 2'(line_q[0].used && !line_q[1].ends) +
        2'(in.used && !line_q[1].ends && !line_q[0].ends);
    final_q <= line_q[1].ends || line_q[0].ends || in.ends;
  end

  // ---- Where the sums are: entry 2 comes out of the multiplier.
  typedef struct packed {
    logic live;       // there is a sum
    logic final_sum;  // it is a part of the hash
    logic ends;       // with it, the hash is complete
    logic user;
  } sum_t;
  sum_t sum_q[Clocks];
  logic [Clocks-1:0] power_line_q;  // H or H^2 is multiplied by H
  logic again;
  assign again = sum_q[2].live && !sum_q[2].final_sum;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sum_q <= '{default: '0};
    else if (flush) sum_q <= '{default: '0};
    else begin
      sum_q[0] <= '{
          live: again || line_q[2].used,
          final_sum: final_q && (again || line_q[2].used),
          ends: line_q[2].ends,
          user: line_q[2].user
      };
      for (int unsigned i = 1; i < Clocks; i++) sum_q[i] <= sum_q[i-1];
    end
  end

  // ---- The multiplier.
  block_t power_q[4];  // H^k; k = 0 is not used
  block_t a_q, b_q, product;
  logic [8:0][2:0][15:0] words_a_q, words_b_q;  // the low half, the high half and their sum
  logic [8:0][2:0][30:0] terms_q;
  ghash_partial_t partial;

  function automatic logic [8:0][2:0][15:0] words(input block_t a);
    logic [8:0][31:0] w;
    w = ghash_words(a);
    for (int unsigned i = 0; i < 9; i++) words[i] = {w[i][31:16] ^ w[i][15:0], w[i]};
  endfunction

  always_comb begin
    for (int unsigned i = 0; i < 9; i++) begin
      partial[i] = {terms_q[i][1], 32'h0} ^ 63'(terms_q[i][0]) ^
          63'({terms_q[i][2] ^ terms_q[i][1] ^ terms_q[i][0], 16'h0});
    end
    product = ghash_join(partial);
  end
  always_ff @(posedge clk_i) begin
    a_q <= data_q[2] ^ ((again || power_line_q[2]) ? product : '0);
    b_q <= power_q[1];
    if (h_ready_o) begin
      case (count_q)
        2'd0:    b_q <= {1'b1, 127'h0};  // the polynomial 1
        2'd1:    b_q <= power_q[1];
        2'd2:    b_q <= power_q[2];
        default: b_q <= power_q[3];
      endcase
    end
    words_a_q <= words(a_q);
    words_b_q <= words(b_q);
    for (int unsigned i = 0; i < 9; i++) begin
      for (int unsigned j = 0; j < 3; j++) begin
        terms_q[i][j] <= clmul16(words_a_q[i][j], words_b_q[i][j]);
      end
    end
  end

  // ---- The powers: H^2 comes out first and enters again, then H^3.
  logic run_q, third_q, ready_q;
  assign h_ready_o = !run_q;
  assign ready_o   = ready_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {run_q, third_q, ready_q} <= '0;
      power_line_q              <= '0;
      power_q                   <= '{default: '0};
    end else if (clear_i) begin
      {run_q, third_q, ready_q} <= '0;
      power_line_q              <= '0;
      power_q                   <= '{default: '0};
    end else begin
      power_line_q <= {power_line_q[1:0], line_q[2].power || (power_line_q[2] && !third_q)};
      if (h_valid_i) begin
        run_q      <= 1'b1;
        third_q    <= 1'b0;
        ready_q    <= 1'b0;
        power_q[1] <= h_i;
      end
      if (power_line_q[2]) begin
        third_q <= 1'b1;
        if (third_q) power_q[3] <= product;
        else power_q[2] <= product;
        if (third_q) {run_q, ready_q} <= 2'b01;
      end
    end
  end

  // ---- The hash: the sum of the last products of a message.
  block_t hash_q;
  logic hash_open_q, hash_valid_q, hash_user_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {hash_open_q, hash_valid_q, hash_user_q} <= '0;
    else if (flush) {hash_open_q, hash_valid_q, hash_user_q} <= '0;
    else begin
      hash_open_q  <= sum_q[2].final_sum && !sum_q[2].ends;
      hash_valid_q <= sum_q[2].ends;
      hash_user_q  <= sum_q[2].user;
    end
  end
  always_ff @(posedge clk_i) begin
    hash_q <= (hash_open_q ? hash_q : '0) ^ (sum_q[2].final_sum ? product : '0);
  end
  assign hash_valid_o = hash_valid_q;
  assign hash_user_o  = hash_user_q;
  assign hash_o       = hash_q;

  logic unused;
  assign unused = ^{h_bank_i, beat_bank_i, beat_blocks_i, beat_first_i, power_q[0]};

  `MAE_ASSERT(LengthsClock, !beat_valid_i || !length_due_q || flush)
  `MAE_ASSERT(NoIdleData, beat_valid_i || beat_data_i == '0)
  `MAE_ASSERT(NoBeatInExpansion, !(run_q && beat_valid_i && !flush))

endmodule
