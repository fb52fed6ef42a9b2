// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash_pipelined: computes GHASH over Lanes blocks a clock, pipelined for a high clock
// frequency. Its ports are those of mae_ghash, its latency has more clocks.
//
// Any beat of a message may be short, such as the last one of the AAD; its blocks come first. A
// beat of no blocks is legal only as a whole message, whose hash is length * H. All beats of a
// message are of one bank; the first one has beat_first_i. beat_data_i is 0 while beat_valid_i is
// low. Give h_valid_i only while h_ready_o is high, and no beat of a bank from its new H until
// ready_o.
//
// Sums: a product and its reduction take three clocks, so the beats of a message are accumulated in
// turn into three sums: beat k, of n(k) blocks, makes S(k) = S(k-3) * H^(n(k-2) + n(k-1) + n(k)) ^
// P(k), with P(k) the sum of its blocks times H^(n(k)+1) ... H^2. At the end GHASH = S(k) ^ S(k-1)
// * H^n(k) ^ S(k-2) * H^(n(k-1) + n(k)) ^ length * H. The multiplier of the sums computes these
// three products in the three clocks after the last beat, that of S(k-2) first, that of the length
// last. The next message needs it from its fourth beat on, and a message of m < 3 beats does not
// use the first 3 - m of the three clocks for its own end: they never conflict. Products are added
// before they are reduced: beside that of the powers there are two reductions, of a beat's sum and
// of a message's end, for any number of lanes.
//
//  Clocks of a beat: 0 selects the powers (one-hot); 1 reads the powers and the old sum; 2 computes
//  the partial products; 3 adds the lanes and the product, 255 bits; 4 reduces to S(k), which goes
//  directly into clock 1 of the beat that comes three clocks later, if there is one.
// Latency: the hash is valid for one clock, 8 clocks after the message's last beat. A beat may come
// in the clock after ready_o[bank] (mae_ghash_powers: for 4 lanes t + 19 if H comes in clock t).
// The powers have a multiplier of their own and do not depend on the beats.
// Throughput: one beat of up to Lanes blocks a clock, also from one message to the next and between
// banks; no stall, no ready.
// Reset and clear: abort_i drops all messages by the next clock and their data 8 clocks later, and
// keeps the keys; clear_i and reset also erase the keys. 16 clocks after the last hash only keys
// and sums remain in registers; the next abort_i or clear_i erases the sums.
// Parameters: Legal: Lanes 1..16; KeyBanks 1..4.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.4; Ghosh et al., section 4.1, step 2.

`include "mae_assert.svh"

module mae_ghash_pipelined
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;
#(
    parameter  int unsigned Lanes      = 4,
    parameter  int unsigned KeyBanks   = 2,
    localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    clear_i,
    input  logic                    abort_i,
    input  logic                    h_valid_i,
    output logic                    h_ready_o,
    input  bank_t                   h_bank_i,
    input  block_t                  h_i,
    output logic   [  KeyBanks-1:0] ready_o,
    input  logic                    beat_valid_i,
    input  bank_t                   beat_bank_i,
    input  block_t [     Lanes-1:0] beat_data_i,
    input  logic   [CountWidth-1:0] beat_blocks_i,
    input  logic                    beat_first_i,
    input  logic                    beat_last_i,
    input  block_t                  beat_length_i,  // the length block; with the last beat
    input  logic                    beat_user_i,    // returned with the hash
    output logic                    hash_valid_o,
    output logic                    hash_user_o,
    output block_t                  hash_o
);

  `MAE_PARAM(LanesLegal, Lanes inside {[1 : 16]})
  `MAE_PARAM(KeyBanksLegal, KeyBanks inside {[1 : 4]})

  localparam int unsigned Sums = 3;
  localparam int unsigned Powers = Sums * Lanes;
  typedef logic [$clog2(Powers+1)-1:0] power_t;
  typedef logic [Sums-1:0] turn_t;  // one-hot

  logic flush;
  assign flush = clear_i || abort_i;

  block_t power[KeyBanks][Powers+1];
  mae_ghash_powers #(
      .Powers  (Powers),
      .KeyBanks(KeyBanks)
  ) u_powers (
      .clk_i,
      .rst_ni,
      .clear_i,
      .h_valid_i,
      .h_ready_o,
      .h_bank_i,
      .h_i,
      .ready_o,
      .power_o(power)
  );

  // ---- Clock 0: the previous beats; the operation of the multiplier of the sums.
  turn_t turn_q;  // the sum to which this beat is added
  logic [1:0] beats_q, beats;  // earlier beats of this message, 3 for more
  logic [CountWidth-1:0] blocks_q[Sums-1];  // of the previous beats; 0: the last one
  function automatic turn_t turn_back(input turn_t turn, input int unsigned back);
    return (turn >> back) | (turn << (Sums - back));
  endfunction

  // The end of a message, clock by clock after its last beat: exponents of H for S(k-1), S(k-2).
  typedef struct packed {
    logic                valid;
    logic [1:0]          beats;     // beats before the last one
    turn_t               turn;      // of the last beat
    logic                user;
    logic [KeyBanks-1:0] bank;
    power_t [Sums-1:1]   exponent;
    block_t              length;
  } tail_t;
  tail_t tail_q[Sums], tail_new;

  logic [KeyBanks-1:0] bank;  // one-hot
  power_t [Sums:1] window;  // blocks of the last 1, 2, 3 beats, this one included
  logic deep;
  assign window[1] = power_t'(beat_blocks_i);
  for (genvar i = 2; i <= Sums; i++) begin : gen_window
    assign window[i] = window[i-1] + power_t'(blocks_q[i-2]);
  end
  assign beats = beat_first_i ? 2'd0 : beats_q;
  assign deep  = beat_valid_i && beats == 2'(Sums);
  always_comb begin
    for (int unsigned b = 0; b < KeyBanks; b++) bank[b] = beat_bank_i == bank_t'(b);
    tail_new = '0;
    if (beat_valid_i && beat_last_i) begin
      tail_new = '{
          valid: 1'b1,
          beats: beats,
          turn: turn_q,
          user: beat_user_i,
          bank: bank,
          exponent: window[Sums-1:1],
          length: beat_length_i
      };
    end
  end

  typedef struct packed {
    logic valid;
    logic is_end;    // for the end of a message, otherwise for a beat
    logic is_begun;  // the end has an earlier product
    logic is_last;   // the last product of the end, that of the length
    logic user;
    turn_t turn;     // the sum of the last beat, to which the products of the end are added
  } sum_op_t;
  typedef struct packed {
    logic  valid;
    turn_t turn;
  } beat_op_t;
  sum_op_t sum_op;
  turn_t sum_turn;
  logic [KeyBanks-1:0] sum_bank;
  power_t sum_exponent;
  block_t sum_length;
  beat_op_t beat_op_q[4];
  sum_op_t sum_op_q[4];
  logic [KeyBanks-1:0][Lanes:1] beat_pick_q;  // blocks of the beat
  logic [KeyBanks-1:0][Powers:1] sum_pick_q;
  logic [Sums-1:0] old_pick_q;
  logic fresh_pick_q, length_pick_q;  // S(k-3) is computed in this clock
  block_t length_q;
  block_t [Lanes-1:0] data_q;

  always_comb begin
    sum_op       = '0;
    sum_turn     = '0;
    sum_bank     = '0;
    sum_exponent = '0;
    sum_length   = '0;
    if (deep) begin
      sum_op.valid = 1'b1;
      sum_turn     = turn_q;
      sum_bank     = bank;
      sum_exponent = window[Sums];
    end
    for (int unsigned i = 0; i < Sums; i++) begin
      if (tail_q[i].valid && (i == Sums - 1 || 32'(tail_q[i].beats) > Sums - 2 - i)) begin
        sum_op.valid    = 1'b1;
        sum_op.is_end   = 1'b1;
        sum_op.is_begun = i > 0 && 32'(tail_q[i].beats) > Sums - 1 - i;
        sum_op.is_last  = i == Sums - 1;
        sum_op.user     = tail_q[i].user;
        sum_op.turn     = tail_q[i].turn;
        sum_bank        = tail_q[i].bank;
        if (i == Sums - 1) begin
          sum_exponent = power_t'(1);
          sum_length   = tail_q[i].length;
        end else begin
          sum_turn     = turn_back(tail_q[i].turn, Sums - 1 - i);
          sum_exponent = tail_q[i].exponent[Sums-1-i];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q                        <= turn_t'(1);
      beats_q                       <= '0;
      blocks_q                      <= '{default: '0};
      tail_q                        <= '{default: '0};
      beat_op_q                     <= '{default: '0};
      sum_op_q                      <= '{default: '0};
      beat_pick_q                   <= '0;
      sum_pick_q                    <= '0;
      old_pick_q                    <= '0;
      {fresh_pick_q, length_pick_q} <= '0;
    end else if (flush) begin
      turn_q                        <= turn_t'(1);
      beats_q                       <= '0;
      blocks_q                      <= '{default: '0};
      tail_q                        <= '{default: '0};
      beat_op_q                     <= '{default: '0};
      sum_op_q                      <= '{default: '0};
      beat_pick_q                   <= '0;
      sum_pick_q                    <= '0;
      old_pick_q                    <= '0;
      {fresh_pick_q, length_pick_q} <= '0;
    end else begin
      if (beat_valid_i) begin
        turn_q      <= {turn_q[Sums-2:0], turn_q[Sums-1]};
        beats_q     <= beat_last_i ? '0 : (32'(beats) == Sums) ? beats : beats + 2'd1;
        blocks_q[0] <= beat_blocks_i;
        for (int unsigned i = 1; i < Sums - 1; i++) blocks_q[i] <= blocks_q[i-1];
      end
      tail_q[0] <= tail_new;
      for (int unsigned i = 1; i < Sums; i++) tail_q[i] <= tail_q[i-1];
      beat_op_q[0] <= '{valid: beat_valid_i, turn: turn_q};
      sum_op_q[0]  <= sum_op;
      for (int unsigned i = 1; i < 4; i++) begin
        beat_op_q[i] <= beat_op_q[i-1];
        sum_op_q[i]  <= sum_op_q[i-1];
      end
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        for (int unsigned n = 1; n <= Lanes; n++) begin
          beat_pick_q[b][n] <= beat_valid_i && bank[b] && 32'(beat_blocks_i) == n;
        end
        for (int unsigned k = 1; k <= Powers; k++) begin
          sum_pick_q[b][k] <= sum_bank[b] && 32'(sum_exponent) == k;
        end
      end
      // A sum that is used in the clock in which it is computed bypasses its register.
      fresh_pick_q  <= 1'b0;
      length_pick_q <= sum_op.valid && sum_op.is_last;
      for (int unsigned t = 0; t < Sums; t++) begin
        old_pick_q[t] <= sum_op.valid && !sum_op.is_last && sum_turn[t] &&
            !(beat_op_q[2].valid && beat_op_q[2].turn[t]);
        if (sum_op.valid && !sum_op.is_last && sum_turn[t] &&
            beat_op_q[2].valid && beat_op_q[2].turn[t]) begin
          fresh_pick_q <= 1'b1;
        end
      end
    end
  end

  // ---- Clock 1: the factors. Lanes without a block select nothing.
  block_t sum_q[Sums], fresh;
  block_t [Lanes-1:0] lane_a_q, lane_b, lane_b_q;
  block_t sum_a, sum_b, sum_a_q, sum_b_q;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      lane_b[i] = '0;
      for (int unsigned n = i + 1; n <= Lanes; n++) begin
        for (int unsigned b = 0; b < KeyBanks; b++) begin
          lane_b[i] |= power[b][n+1-i] & {128{beat_pick_q[b][n]}};
        end
      end
    end
    sum_a = (fresh & {128{fresh_pick_q}}) | (length_q & {128{length_pick_q}});
    for (int unsigned t = 0; t < Sums; t++) sum_a |= sum_q[t] & {128{old_pick_q[t]}};
    sum_b = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      for (int unsigned k = 1; k <= Powers; k++) sum_b |= power[b][k] & {128{sum_pick_q[b][k]}};
    end
  end

  // ---- Clocks 2 and 3: the products. A factor without a selected power gives 0.
  ghash_partial_t [Lanes-1:0] lane_partial;
  ghash_partial_t sum_partial, lanes;
  logic [254:0] sum_wide, wide_q, end_q;
  always_comb begin
    lanes = '0;
    for (int unsigned i = 0; i < Lanes; i++) lanes ^= lane_partial[i];
  end
  assign sum_wide = ghash_wide(sum_partial);

  always_ff @(posedge clk_i) begin
    data_q   <= beat_data_i;
    length_q <= sum_length;
    lane_a_q <= data_q;
    lane_b_q <= lane_b;
    sum_a_q  <= sum_a;
    sum_b_q  <= sum_b;
    wide_q   <= ghash_wide(lanes) ^ (sum_wide & {255{!sum_op_q[2].is_end}});
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    mae_gf128_partial_products u_partial (
        .clk_i,
        .a_i      (lane_a_q[i]),
        .b_i      (lane_b_q[i]),
        .partial_o(lane_partial[i])
    );
  end
  mae_gf128_partial_products u_sum (
      .clk_i,
      .a_i      (sum_a_q),
      .b_i      (sum_b_q),
      .partial_o(sum_partial)
  );

  // ---- Clock 4: the sums, and the end of the message.
  assign fresh = ghash_reduce(wide_q);

  logic hash_valid_q, hash_user_q;
  block_t hash_q, last_sum;
  always_comb begin
    last_sum = '0;
    for (int unsigned t = 0; t < Sums; t++) if (sum_op_q[3].turn[t]) last_sum |= sum_q[t];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q                       <= '{default: '0};
      end_q                       <= '0;
      hash_q                      <= '0;
      {hash_valid_q, hash_user_q} <= '0;
    end else if (flush) begin
      sum_q                       <= '{default: '0};
      end_q                       <= '0;
      hash_q                      <= '0;
      {hash_valid_q, hash_user_q} <= '0;
    end else begin
      for (int unsigned t = 0; t < Sums; t++) begin
        if (beat_op_q[3].valid && beat_op_q[3].turn[t]) sum_q[t] <= fresh;
      end
      end_q <= '0;
      if (sum_op_q[2].is_end) end_q <= (end_q & {255{sum_op_q[2].is_begun}}) ^ sum_wide;
      hash_valid_q <= sum_op_q[3].is_last;
      hash_user_q  <= sum_op_q[3].is_last && sum_op_q[3].user;
      hash_q       <= (ghash_reduce(end_q) ^ last_sum) & {128{sum_op_q[3].is_last}};
    end
  end
  assign hash_valid_o = hash_valid_q;
  assign hash_user_o  = hash_user_q;
  assign hash_o       = hash_q;

  // At most one of them needs the multiplier of the sums.
  logic [Sums:0] wants;
  always_comb begin
    wants[Sums] = deep;
    for (int unsigned i = 0; i < Sums; i++) begin
      wants[i] = tail_q[i].valid && (i == Sums - 1 || 32'(tail_q[i].beats) > Sums - 2 - i);
    end
  end
  `MAE_ASSERT(SumFree, $onehot0(wants))
  `MAE_ASSERT(FirstBeat, !beat_valid_i || abort_i || clear_i || beat_first_i || beats_q != '0)
  if (2 ** CountWidth - 1 > Lanes) begin : gen_blocks_fit
    `MAE_ASSERT(BlocksFit, !beat_valid_i || 32'(beat_blocks_i) <= Lanes)
  end
  `MAE_ASSERT(SomeBlocks, !beat_valid_i || beat_blocks_i != '0 || (beat_first_i && beat_last_i))
  `MAE_ASSERT(BankExists, !beat_valid_i || 32'(beat_bank_i) < KeyBanks)
  `MAE_ASSERT(NoIdleData, beat_valid_i || beat_data_i == '0)

endmodule
