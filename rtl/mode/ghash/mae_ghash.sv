// SPDX-License-Identifier: Apache-2.0
//
// mae_ghash: computes GHASH over Lanes blocks a clock, with the powers of H of KeyBanks keys.
//
// Any beat of a message may be short, such as the last one of the AAD; its blocks come first. A
// beat of no blocks is legal only as a whole message, whose hash is length * H. All beats of a
// message are of one bank; the first one has beat_first_i. Give h_valid_i only while h_ready_o is
// high, no new H of a bank before the hash of its last message, and no beat of a bank from its new
// H until ready_o.
//
// Sums: a product takes two clocks, so the beats of a message are accumulated alternately into two
// sums: beat k, of n(k) blocks, makes S(k) = S(k-2) * H^(n(k-1) + n(k)) ^ P(k), with P(k) the sum
// of its blocks times H^(n(k)+1) ... H^2. At the end GHASH = S(k) ^ S(k-1) * H^n(k) ^ length * H.
// The multiplier of the sums computes the last two products in the two clocks after the last beat;
// the next message needs it from its third beat on, so they never conflict.
//
// Powers: from H^1 .. H^base, the products H^base * H^j are computed all at once in free lanes.
// While beats of another bank use the multipliers of the lanes, one spare multiplier computes a
// power every second clock. Multipliers: one a lane, one for the sums and, with several banks, one
// spare.
//
// Small = 1, for one bank and few LUTs: the products of the lanes (mae_clmul32_luts) are added
// before one reduction for all, so the powers come one by one, H^(j+1) = H^j * H, from the
// multiplier of the sums. Blocks that do not belong to a beat must be 0.
// Latency: the hash is valid for one clock, 4 clocks after the message's last beat. If H comes in
// clock t (h_i is used in that clock), beats may come from clock t + 2 * ceil(log2(2 * Lanes)) on,
// if no beat came meanwhile (Small: t + 4 * Lanes - 1); a beat may come in the clock after ready_o.
// Throughput: one beat of up to Lanes blocks a clock, also from one message to the next and between
// banks; no stall, no ready.
// Reset and clear: abort_i drops all messages by the next clock and keeps the keys; clear_i and
// reset also erase the keys. Small: partial products are erased one clock later.
// Parameters: Legal: Lanes 1..16; KeyBanks 1..4; Small 0, or 1 with KeyBanks = 1.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.4; Ghosh et al., section 4.1, step 2.

`include "mae_assert.svh"

module mae_ghash
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;
#(
    parameter  int unsigned Lanes      = 4,
    parameter  int unsigned KeyBanks   = 2,
    parameter  bit          Small      = 1'b0,
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
  `MAE_PARAM(SmallLegal, !Small || KeyBanks == 1)

  localparam int unsigned Powers = 2 * Lanes;
  typedef logic [$clog2(Powers+1)-1:0] power_t;

  block_t power_q[KeyBanks][Powers+1];  // [b][k]: H^k; k = 0 is not used

  // ---- The operands of the lanes: block i of n times H^(n+1-i). Small: as other blocks are 0, the
  // lower bits of n select enough.
  localparam int unsigned CountMask = Small ? 2 ** $clog2(Lanes) - 1 : 2 ** CountWidth - 1;
  block_t [Lanes-1:0] lane_product;
  block_t [Lanes-1:0] data_power;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      data_power[i] = '0;
      for (int unsigned n = i + 1; n <= Lanes; n++) begin
        for (int unsigned b = 0; b < KeyBanks; b++) begin
          if ((32'(beat_blocks_i) & CountMask) == (n & CountMask) &&
              (Small || beat_bank_i == bank_t'(b))) begin
            data_power[i] |= power_q[b][n+1-i];
          end
        end
      end
    end
  end

  // ---- Powers: from H^1 .. H^base the products H^base * H^j, all at once in lanes that are free,
  // otherwise one by one in the spare multiplier. Each takes two clocks. Small: base stays 1.
  logic run_q, wait_q, wide_q;
  bank_t run_bank_q;
  power_t base_q, next_q;  // next_q: the j of the spare multiplier
  logic issue, wide, step_done, run_done;
  power_t base, next, count;
  bank_t run_bank;
  block_t [Lanes-1:0] low;  // H^1 .. H^Lanes of the bank
  block_t high, spare_product, spare_b;

  assign h_ready_o = !run_q;
  assign issue     = (h_valid_i && !Small) || (run_q && !wait_q);
  assign wide      = !beat_valid_i && !Small;
  assign base      = run_q ? base_q : power_t'(1);
  assign next      = run_q ? next_q : power_t'(1);
  assign run_bank  = run_q ? run_bank_q : h_bank_i;
  always_comb begin
    count   = (32'(base_q) * 2 <= Powers) && !Small ? base_q : power_t'(Powers) - base_q;
    low     = '0;
    high    = '0;
    spare_b = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (run_bank == bank_t'(b)) begin
        for (int unsigned i = 0; i < Lanes; i++) low[i] = power_q[b][i+1];
        for (int unsigned k = 1; k < Powers; k *= 2) if (32'(base) == k) high = power_q[b][k];
      end
    end
    if (!run_q) begin
      low[0] = h_i;
      high   = h_i;
    end
    for (int unsigned i = 0; i < Lanes; i++) if (32'(next) == i + 1) spare_b |= low[i];
  end
  assign step_done = wait_q && (wide_q || next_q == count);
  assign run_done  = step_done && 32'(base_q) + 32'(count) == Powers;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q      <= 1'b0;
      wait_q     <= 1'b0;
      wide_q     <= 1'b0;
      run_bank_q <= '0;
      base_q     <= '0;
      next_q     <= '0;
    end else if (clear_i) begin
      run_q      <= 1'b0;
      wait_q     <= 1'b0;
      wide_q     <= 1'b0;
      run_bank_q <= '0;
      base_q     <= '0;
      next_q     <= '0;
    end else begin
      if (h_valid_i) begin
        run_q      <= 1'b1;
        run_bank_q <= h_bank_i;
        base_q     <= power_t'(1);
        next_q     <= power_t'(1);
      end else if (run_done) begin
        run_q <= 1'b0;
      end else if (step_done) begin
        base_q <= base_q + count;
        next_q <= power_t'(1);
      end else if (wait_q) begin
        next_q <= next_q + power_t'(1);
      end
      wait_q <= issue;
      wide_q <= wide;
    end
  end

  logic [KeyBanks-1:0] ready_q, ready_d;
  always_comb begin
    ready_d = ready_q;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (run_done && run_bank_q == bank_t'(b)) ready_d[b] = 1'b1;
      if (h_valid_i && h_bank_i == bank_t'(b)) ready_d[b] = 1'b0;
    end
  end
  assign ready_o = ready_d;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_q <= '0;
      for (int unsigned b = 0; b < KeyBanks; b++) power_q[b] <= '{default: '0};
    end else if (clear_i) begin
      ready_q <= '0;
      for (int unsigned b = 0; b < KeyBanks; b++) power_q[b] <= '{default: '0};
    end else begin
      ready_q <= ready_d;
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (h_valid_i && h_bank_i == bank_t'(b)) power_q[b][1] <= h_i;
        if (wait_q && run_bank_q == bank_t'(b)) begin
          for (int unsigned k = 2; k <= Powers; k++) begin
            // The base of H^k is the greatest power of two below k.
            if (Small || 32'(base_q) == 2 ** ($clog2(k) - 1)) begin
              if (wide_q) power_q[b][k] <= lane_product[k-2**($clog2(k)-1)-1];
              else if (32'(base_q) + 32'(next_q) == k) power_q[b][k] <= spare_product;
            end
          end
        end
      end
    end
  end

  // ---- The sums.
  logic open_q, deep_q;  // one beat, two beats of this message came before
  logic turn_q;  // the sum to which the next beat is added
  logic [CountWidth-1:0] blocks_q;
  block_t sum_q[2], sum_d;

  // Steps after a last beat: the product of the other sum one clock later, that of the length two
  // clocks later. Then the terms are added.
  typedef struct packed {
    logic                  valid;
    logic                  two;     // the other sum is in use
    logic                  turn;    // the sum of the last beat
    logic                  user;
    bank_t                 bank;
    logic [CountWidth-1:0] blocks;
    block_t                length;
  } tail_t;
  tail_t tail_q[2];

  logic deep, sum_valid;
  power_t sum_power_index;
  bank_t  sum_bank;
  block_t sum_a, sum_b, sum_product;
  assign deep = beat_valid_i && deep_q && !beat_first_i;
  always_comb begin
    sum_a           = '0;
    sum_power_index = '0;
    sum_bank        = '0;
    if (deep) begin
      sum_a           = sum_q[turn_q];
      sum_power_index = power_t'(blocks_q) + power_t'(beat_blocks_i);
      sum_bank        = beat_bank_i;
    end else if (tail_q[0].valid && tail_q[0].two) begin
      sum_a           = sum_q[!tail_q[0].turn];
      sum_power_index = power_t'(tail_q[0].blocks);
      sum_bank        = tail_q[0].bank;
    end else if (tail_q[1].valid) begin
      sum_a           = tail_q[1].length;
      sum_power_index = power_t'(1);
      sum_bank        = tail_q[1].bank;
    end else if (Small && issue) begin
      sum_a           = power_q[0][1];
      sum_power_index = next_q;
    end
    sum_valid = deep || (tail_q[0].valid && tail_q[0].two) || tail_q[1].valid || (Small && issue);
    sum_b     = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      for (int unsigned k = 1; k <= Powers; k++) begin
        if (sum_bank == bank_t'(b) && 32'(sum_power_index) == k) sum_b |= power_q[b][k];
      end
    end
  end

  // One clock later: the products of the beat, and that of its old sum if deep.
  logic beat_q, beat_deep_q, beat_turn_q;
  block_t lanes;  // the sum of the products of the lanes
  assign sum_d = lanes ^ (beat_deep_q ? sum_product : '0);

  block_t part_q, hash_q;
  logic part_valid_q, hash_valid_q, part_user_q, hash_user_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, deep_q, turn_q, beat_q, beat_deep_q, beat_turn_q} <= '0;
      {part_valid_q, part_user_q, hash_valid_q, hash_user_q}     <= '0;
      blocks_q                                                   <= '0;
      sum_q                                                      <= '{default: '0};
      tail_q                                                     <= '{default: '0};
      part_q                                                     <= '0;
      hash_q                                                     <= '0;
    end else if (clear_i || abort_i) begin
      {open_q, deep_q, turn_q, beat_q, beat_deep_q, beat_turn_q} <= '0;
      {part_valid_q, part_user_q, hash_valid_q, hash_user_q}     <= '0;
      blocks_q                                                   <= '0;
      sum_q                                                      <= '{default: '0};
      tail_q                                                     <= '{default: '0};
      part_q                                                     <= '0;
      hash_q                                                     <= '0;
    end else begin
      if (beat_valid_i) begin
        open_q   <= !beat_last_i;
        deep_q   <= !beat_last_i && !beat_first_i;
        turn_q   <= !turn_q;
        blocks_q <= beat_blocks_i;
      end
      beat_q      <= beat_valid_i;
      beat_deep_q <= deep;
      beat_turn_q <= turn_q;
      if (beat_q) sum_q[beat_turn_q] <= sum_d;

      tail_q[0] <= '0;
      if (beat_valid_i && beat_last_i) begin
        tail_q[0] <= '{
            valid: 1'b1,
            two: !beat_first_i,
            turn: turn_q,
            user: beat_user_i,
            bank: beat_bank_i,
            blocks: beat_blocks_i,
            length: beat_length_i
        };
      end
      tail_q[1]    <= tail_q[0];
      part_valid_q <= tail_q[1].valid;
      part_user_q  <= tail_q[1].user;
      part_q       <= '0;
      if (tail_q[1].valid) begin
        part_q <= sum_q[tail_q[1].turn] ^ (tail_q[1].two ? sum_product : '0);
      end
      hash_valid_q <= part_valid_q;
      hash_user_q  <= part_user_q;
      hash_q       <= part_valid_q ? part_q ^ sum_product : '0;
    end
  end
  assign hash_valid_o = hash_valid_q;
  assign hash_user_o  = hash_user_q;
  assign hash_o       = hash_q;

  // ---- The multipliers.
  if (Small) begin : gen_added
    ghash_partial_t [Lanes-1:0] partial;
    ghash_partial_t added;
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      mae_gf128_partial_products #(
          .Luts(1'b1)
      ) u_partial (
          .clk_i,
          .a_i      (beat_data_i[i]),
          .b_i      (data_power[i]),
          .partial_o(partial[i])
      );
    end
    always_comb begin
      added = '0;
      for (int unsigned i = 0; i < Lanes; i++) added ^= partial[i];
    end
    assign lanes        = ghash_join(added);
    assign lane_product = '0;

    ghash_partial_t sum_partial;
    logic unused_wide;
    mae_gf128_partial_products #(
        .Luts(1'b1)
    ) u_sum (
        .clk_i,
        .a_i      (sum_a),
        .b_i      (sum_b),
        .partial_o(sum_partial)
    );
    assign sum_product = ghash_join(sum_partial);
    assign unused_wide = ^{high, low, sum_valid};
    `MAE_ASSERT(NoIdleData, beat_valid_i || beat_data_i == '0)
  end else begin : gen_reduced
    block_t [Lanes-1:0] lane_a, lane_b;
    logic [Lanes-1:0] lane_valid, unused_lane_valid;
    logic unused_sum_valid;
    always_comb begin
      lanes = '0;
      for (int unsigned i = 0; i < Lanes; i++) begin
        lanes ^= lane_product[i];
        if (beat_valid_i) begin
          lane_valid[i] = i < 32'(beat_blocks_i) && !abort_i;
          lane_a[i]     = beat_data_i[i];
          lane_b[i]     = data_power[i];
        end else begin
          lane_valid[i] = issue && i < 32'(base);
          lane_a[i]     = high;
          lane_b[i]     = low[i];
        end
      end
    end
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      mae_gf128_mul #(
          .OutReg(1'b0)
      ) u_mul (
          .clk_i,
          .rst_ni,
          .clear_i  (clear_i),
          .valid_i  (lane_valid[i]),
          .a_i      (lane_a[i]),
          .b_i      (lane_b[i]),
          .valid_o  (unused_lane_valid[i]),
          .product_o(lane_product[i])
      );
    end
    mae_gf128_mul #(
        .OutReg(1'b0)
    ) u_sum (
        .clk_i,
        .rst_ni,
        .clear_i  (clear_i || abort_i),
        .valid_i  (sum_valid),
        .a_i      (sum_a),
        .b_i      (sum_b),
        .valid_o  (unused_sum_valid),
        .product_o(sum_product)
    );
  end

  if (KeyBanks > 1) begin : gen_spare
    logic unused_spare_valid;
    mae_gf128_mul #(
        .OutReg(1'b0)
    ) u_spare (
        .clk_i,
        .rst_ni,
        .clear_i,
        .valid_i  (issue && !wide),
        .a_i      (high),
        .b_i      (spare_b),
        .valid_o  (unused_spare_valid),
        .product_o(spare_product)
    );
  end else begin : gen_no_spare
    logic unused_spare_b;
    assign unused_spare_b = ^spare_b;
    assign spare_product  = Small ? sum_product : '0;
    `MAE_ASSERT(NoBeatInExpansion, !(issue && beat_valid_i))
  end

  // At most one of them needs the multiplier of the sums.
  `MAE_ASSERT(SumFree, $onehot0({deep, tail_q[0].valid && tail_q[0].two, tail_q[1].valid,
                                 Small && issue}))
  `MAE_ASSERT(FirstBeat, !beat_valid_i || abort_i || clear_i || beat_first_i != open_q)
  if (2 ** CountWidth - 1 > Lanes) begin : gen_blocks_fit
    `MAE_ASSERT(BlocksFit, !beat_valid_i || 32'(beat_blocks_i) <= Lanes)
  end
  `MAE_ASSERT(SomeBlocks, !beat_valid_i || beat_blocks_i != '0 || (beat_first_i && beat_last_i))
  `MAE_ASSERT(BankExists, !beat_valid_i || 32'(beat_bank_i) < KeyBanks)
  `MAE_ASSERT(OneExpansion, !h_valid_i || h_ready_o)

endmodule
