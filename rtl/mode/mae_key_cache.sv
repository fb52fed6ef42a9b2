// SPDX-License-Identifier: Apache-2.0
//
// mae_key_cache: stores keys in write-only slots, and loads the slots that jobs need into the key
// banks of a cipher.
//
// A slot that open jobs need and no bank holds is loaded as follows: the bank is withdrawn (keys_o
// names it no more, so no new request uses it); the cipher accepts the key once the last block of
// the bank has left; the bank is named again with the new slot, for decryption Nr + 1 clocks later.
// A bank that is still needed is first marked as `leaving` for LeaveClocks, so that the rows in
// flight find their key.
//
// Replacement: an empty bank first; then one whose slot no job needs; then, for a slot for which
// rows wait, one for whose slot none wait, or one in use for at least MinResidence clocks; among
// equals the least recently used. So more keys than banks alternate when the rows of one are done, or
// every MinResidence clocks, round-robin among the slots, without starvation. A slot for which the
// parallel path waits (`urgent`) may replace a key after UrgentResidence clocks, every second time.
//
// Writing or erasing a slot removes its key from the banks at once; a write waits while that slot
// is being given to the cipher. Slots cannot be read, except by a unit of the device that needs the
// key itself (look_key_o, bank 0, combinational in look_slot_i). An empty slot holds a key of zeros: a job
// that loses its key runs to its end with it, and mae_mode_engine outputs zeros. key_valid_o holds
// until accepted, or until clear_i.
//
// With Scrub = 1, a bank whose slot was written or erased is overwritten with the round keys of a
// key of zeros, before the next write is accepted: then nothing is left of the old key.
// Latency: 1 clock from a write to slot_valid_o; a load depends on the cipher.
// Throughput: one key load at a time.
// Reset and clear: both empty all slots and erase the keys in one clock.
// Parameters: Legal: KeySlots 1..64 (a job names existing slots only); KeyBanks 1..4, equal to the
// cipher's; MinResidence >= UrgentResidence >= 1; LeaveClocks >= 1; Scrub 1 only where all
// keys are of AES-256.

`include "mae_assert.svh"

module mae_key_cache
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 2,
    parameter int unsigned MinResidence = 256,
    parameter int unsigned UrgentResidence = 32,
    parameter int unsigned LeaveClocks = 16,
    parameter bit Scrub = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic       write_valid_i,
    output logic       write_ready_o,
    input  key_write_t write_i,

    output logic [KeySlots-1:0] slot_valid_o,

    input  key_slot_t   look_slot_i,
    output cipher_key_t look_key_o,

    output key_state_t  keys_o,   // to mae_mode_engine
    input  key_demand_t demand_i, // from mae_mode_engine

    output logic        key_valid_o,  // to the cipher
    input  logic        key_ready_i,
    output cipher_key_t key_o
);
  `MAE_PARAM(KeySlotsLegal, KeySlots >= 1 && KeySlots <= MaxKeySlots)
  `MAE_PARAM(KeyBanksLegal, KeyBanks >= 1 && KeyBanks <= MaxKeyBanks)
  `MAE_PARAM(ResidenceLegal, MinResidence >= UrgentResidence && UrgentResidence >= 1)

  localparam int unsigned SlotWidth = (KeySlots > 1) ? $clog2(KeySlots) : 1;
  localparam int unsigned StayWidth = $clog2(MinResidence + 1);
  localparam int unsigned AgeWidth = 10;
  localparam int unsigned LeaveWidth = $clog2(LeaveClocks + 1);

  typedef enum logic [1:0] {
    Idle,
    Leaving,  // rows in flight may still use the bank
    Offer     // the bank is withdrawn, its new key waits for the cipher
  } state_e;

  typedef logic [SlotWidth-1:0] index_t;
  typedef logic [StayWidth-1:0] stay_t;
  typedef logic [AgeWidth-1:0] age_t;

  // The banks.
  logic      [  KeyBanks-1:0] loaded_q;
  key_slot_t                  slot_q        [KeyBanks];
  logic      [           3:0] expand_q      [KeyBanks];  // clocks until decryption is possible
  stay_t                      stay_q        [KeyBanks];  // clocks since the bank was loaded
  age_t                       age_q         [KeyBanks];  // clocks since the last request
  state_e                     state_q;
  logic      [LeaveWidth-1:0] leave_q;
  bank_t                      offer_bank_q;
  key_slot_t                  offer_slot_q;
  logic                       urgent_last_q;

  // The slots.
  key_t                       key_q         [KeySlots];
  key_len_e                   len_q         [KeySlots];
  logic      [  KeySlots-1:0] slot_valid_q;
  logic                       write;

  // With Scrub: the next bank that holds what is left of a key; a key of zeros is offered to it.
  logic                       scrub;
  bank_t                      scrub_bank;
  logic                       scrub_q;
  logic                       scrubbing;

  assign write = write_valid_i && write_ready_o;
  assign write_ready_o = !(key_valid_o && offer_slot_q == write_i.slot) && !scrubbing;
  assign slot_valid_o = slot_valid_q;
  assign look_key_o = '{
          bank: '0,
          len: len_q[index_t'(look_slot_i)],
          key: key_q[index_t'(look_slot_i)]
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      key_q        <= '{default: '0};
      len_q        <= '{default: Aes128};
      slot_valid_q <= '0;
    end else if (clear_i) begin
      key_q        <= '{default: '0};
      len_q        <= '{default: Aes128};
      slot_valid_q <= '0;
    end else if (write && 32'(write_i.slot) < KeySlots) begin
      key_q[index_t'(write_i.slot)]        <= write_i.erase ? '0 : write_i.key;
      len_q[index_t'(write_i.slot)]        <= write_i.erase ? Aes128 : write_i.len;
      slot_valid_q[index_t'(write_i.slot)] <= !write_i.erase;
    end
  end

  // Slots that are needed and in no bank.
  logic   [KeySlots-1:0] resident;
  logic   [KeySlots-1:0] missing;
  logic   [KeySlots-1:0] turn_grant;
  index_t                turn_slot;
  logic                  turn_valid;
  logic                  urgent_missing;

  always_comb begin
    resident = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      if (loaded_q[b]) resident[index_t'(slot_q[b])] = 1'b1;
    end
  end

  // Slots for which rows wait come first; others get banks that nobody needs.
  logic [KeySlots-1:0] waiting;
  assign waiting = demand_i.want[KeySlots-1:0] & demand_i.waits[KeySlots-1:0] & ~resident;
  assign missing = (waiting != '0) ? waiting : demand_i.want[KeySlots-1:0] & ~resident;
  assign urgent_missing = demand_i.urgent && !resident[index_t'(demand_i.urgent_slot)];

  // The bank to replace: for the next slot in turn, and for the urgent slot.
  logic  turn_found;
  logic  turn_wanted;
  bank_t turn_bank;
  logic  urgent_found;
  logic  urgent_wanted;
  bank_t urgent_bank;

  // Rank of a bank for replacement: not to be replaced, long enough in use, without rows that wait,
  // not needed, empty.
  typedef enum logic [2:0] {
    Empty,
    Unneeded,
    NoRows,
    Stayed,
    Kept
  } rank_e;

  function automatic rank_e rank(input logic loaded, input logic wanted, input logic waits,
                                 input logic stayed);
    if (!loaded) return Empty;
    if (!wanted) return Unneeded;
    if (!waits) return NoRows;
    return stayed ? Stayed : Kept;
  endfunction

  always_comb begin
    rank_e turn_rank;
    rank_e urgent_rank;
    rank_e this_rank;
    age_t  turn_age;
    age_t  urgent_age;
    turn_rank   = Kept;
    urgent_rank = Kept;
    turn_age    = '0;
    urgent_age  = '0;
    turn_bank   = '0;
    urgent_bank = '0;
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      this_rank = rank(
        loaded_q[b],
        demand_i.want[slot_q[b]],
        demand_i.waits[slot_q[b]],
        stay_q[b] >= stay_t'(MinResidence)
      );
      if (this_rank < turn_rank || (this_rank == turn_rank && age_q[b] > turn_age)) begin
        turn_rank = this_rank;
        turn_age  = age_q[b];
        turn_bank = bank_t'(b);
      end
      this_rank = rank(
        loaded_q[b],
        demand_i.want[slot_q[b]],
        demand_i.waits[slot_q[b]],
        stay_q[b] >= stay_t'(UrgentResidence)
      );
      if (this_rank < urgent_rank || (this_rank == urgent_rank && age_q[b] > urgent_age)) begin
        urgent_rank = this_rank;
        urgent_age  = age_q[b];
        urgent_bank = bank_t'(b);
      end
    end
    turn_wanted   = turn_rank > Unneeded;
    turn_found    = turn_rank != Kept && (!turn_wanted || waiting != '0);
    urgent_wanted = urgent_rank > Unneeded;
    urgent_found  = urgent_rank != Kept;
  end

  // Decision.
  logic      choose;
  logic      chosen_now;  // no job needs the bank's old key: withdraw it at once
  logic      leave_end;
  logic      choose_urgent;
  bank_t     chosen_bank;
  key_slot_t chosen_slot;

  assign choose_urgent = urgent_missing && urgent_found &&
      !(urgent_last_q && turn_valid && turn_found);
  assign choose = state_q == Idle && !scrub && (choose_urgent || (turn_valid && turn_found));
  assign chosen_now = !(choose_urgent ? urgent_wanted : turn_wanted);
  assign leave_end = state_q == Leaving && leave_q == '0;
  assign chosen_bank = choose_urgent ? urgent_bank : turn_bank;
  assign chosen_slot = choose_urgent ? demand_i.urgent_slot : key_slot_t'(turn_slot);

  mae_rr_arb #(
      .N(KeySlots)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (missing),
      .advance_i(choose && !choose_urgent),
      .grant_o  (turn_grant),
      .index_o  (turn_slot),
      .valid_o  (turn_valid)
  );

  if (Scrub) begin : gen_scrub
    logic [KeyBanks-1:0] stale_q;

    always_comb begin
      scrub_bank = '0;
      for (int unsigned b = 0; b < KeyBanks; b++) if (stale_q[b]) scrub_bank = bank_t'(b);
    end
    assign scrub = state_q == Idle && stale_q != '0;
    assign scrubbing = stale_q != '0 || scrub_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        stale_q <= '0;
        scrub_q <= 1'b0;
      end else if (clear_i) begin
        stale_q <= '0;
        scrub_q <= 1'b0;
      end else begin
        if (scrub) scrub_q <= 1'b1;
        else if (key_ready_i) scrub_q <= 1'b0;
        for (int unsigned b = 0; b < KeyBanks; b++) begin
          // A shorter key, such as that of an empty slot, leaves the last round keys.
          if (key_valid_o && key_ready_i && offer_bank_q == bank_t'(b) && key_o.len == Aes256) begin
            stale_q[b] <= 1'b0;
          end
          if (write && slot_q[b] == write_i.slot) stale_q[b] <= 1'b1;
        end
      end
    end
  end else begin : gen_no_scrub
    assign scrub      = 1'b0;
    assign scrub_bank = '0;
    assign scrub_q    = 1'b0;
    assign scrubbing  = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q      <= '0;
      slot_q        <= '{default: '0};
      expand_q      <= '{default: '0};
      stay_q        <= '{default: '0};
      age_q         <= '{default: '0};
      state_q       <= Idle;
      leave_q       <= '0;
      offer_bank_q  <= '0;
      offer_slot_q  <= '0;
      urgent_last_q <= 1'b0;
    end else if (clear_i) begin
      loaded_q <= '0;
      state_q  <= Idle;
    end else begin
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (expand_q[b] != '0) expand_q[b] <= expand_q[b] - 4'd1;
        else if (loaded_q[b] && stay_q[b] != stay_t'(MinResidence)) begin
          stay_q[b] <= stay_q[b] + stay_t'(1);
        end
        if (demand_i.used[b]) age_q[b] <= '0;
        else if (age_q[b] != '1) age_q[b] <= age_q[b] + age_t'(1);
        if (choose && chosen_now && chosen_bank == bank_t'(b)) loaded_q[b] <= 1'b0;
        if (leave_end && offer_bank_q == bank_t'(b)) loaded_q[b] <= 1'b0;
        if (scrub && scrub_bank == bank_t'(b)) loaded_q[b] <= 1'b0;
        if (write && slot_q[b] == write_i.slot) loaded_q[b] <= 1'b0;
        if (key_valid_o && key_ready_i && !scrub_q && offer_bank_q == bank_t'(b)) begin
          loaded_q[b] <= 1'b1;
          slot_q[b]   <= offer_slot_q;
          expand_q[b] <= num_rounds(key_o.len);
          stay_q[b]   <= '0;
          age_q[b]    <= '0;
        end
      end
      case (state_q)
        Idle: begin
          if (choose) begin
            state_q       <= chosen_now ? Offer : Leaving;
            leave_q       <= LeaveWidth'(LeaveClocks);
            offer_bank_q  <= chosen_bank;
            offer_slot_q  <= chosen_slot;
            urgent_last_q <= choose_urgent;
          end
        end
        Leaving: begin
          leave_q <= leave_q - LeaveWidth'(1);
          if (leave_end) state_q <= Offer;
        end
        default: if (key_ready_i) state_q <= Idle;
      endcase
      if (scrub) begin
        state_q      <= Offer;
        offer_bank_q <= scrub_bank;
      end
    end
  end

  assign key_valid_o = state_q == Offer;
  assign key_o = '{
          bank: offer_bank_q,
          len: scrub_q ? Aes256 : (key_valid_o ? len_q[index_t'(offer_slot_q)] : Aes128),
          key: (key_valid_o && !scrub_q) ? key_q[index_t'(offer_slot_q)] : '0
      };

  // Output to the engine.
  always_comb begin
    keys_o = '0;
    keys_o.changed = write;
    keys_o.changed_slot = write_i.slot;
    keys_o.slot_valid = MaxKeySlots'(slot_valid_q);
    for (int unsigned b = 0; b < KeyBanks; b++) begin
      keys_o.banks[b].leaving = state_q == Leaving && offer_bank_q == bank_t'(b);
      keys_o.banks[b].encrypt = loaded_q[b];
      keys_o.banks[b].decrypt = loaded_q[b] && expand_q[b] == '0;
      keys_o.banks[b].slot = slot_q[b];
    end
  end

  logic unused;
  assign unused = ^{turn_grant, demand_i, look_slot_i};

  `MAE_ASSERT(OneBankASlot, $countones(resident) == $countones(loaded_q))
  `MAE_STREAM_HOLDS(KeyHolds, key_valid_o, key_ready_i || clear_i, key_o)

endmodule
