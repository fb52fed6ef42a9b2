// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_key_requests: determines which key slots the mode engine's contexts need, and whether
// their keys are usable.
//
// An XTS message first needs its tweak key and then its data key; every other job needs one key.
//  key_ok_o  the context's key is in a bank that is not leaving and can be used in its direction;
//            one clock late.
//  want_o    slots that active contexts need; one clock late, the slot of a new job at once.
//  waits_o   those of them whose contexts are in waits_i; one clock late.
//  lost_o    a key that an active job uses was written or erased, or never existed: do not show
//            further output of that job. Stays high until the context's next job.
// Latency: 1 clock.
// Throughput: one new job a clock.
// Parameters: Legal: Lanes 1..16; Contexts 1..256.

module mae_mode_key_requests
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    localparam int unsigned Slots = (Contexts > Lanes) ? Contexts / Lanes : 1,
    localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                                    cfg_valid_i,
    input ctx_t                                    cfg_ctx_i,
    input mode_cfg_t                               cfg_i,
    input logic      [   Lanes-1:0]                tweak_done_i,
    input logic      [   Lanes-1:0][SlotWidth-1:0] tweak_slot_i,
    input logic      [Contexts-1:0]                active_i,
    input logic      [Contexts-1:0]                waits_i,       // rows of the context wait

    input  key_state_t                   keys_i,
    output logic       [   Contexts-1:0] key_ok_o,
    output logic       [   Contexts-1:0] lost_o,
    output logic       [MaxKeySlots-1:0] want_o,
    output logic       [MaxKeySlots-1:0] waits_o
);
  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;

  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    dir_e      dir;
    key_slot_t slot;
  } need_t;

  need_t                       now_q    [Contexts];
  need_t                       then_q   [Contexts];
  need_t                       cfg_now;
  need_t                       cfg_then;
  logic                        cfg_lost;
  key_bank_t [MaxKeyBanks-1:0] banks_q;
  logic      [   Contexts-1:0] key_ok_q;
  logic      [   Contexts-1:0] lost_q;
  logic      [MaxKeySlots-1:0] want_q;
  logic      [MaxKeySlots-1:0] waits_q;
  logic      [MaxKeySlots-1:0] want;
  logic      [MaxKeySlots-1:0] waits;

  function automatic logic usable(input key_bank_t [MaxKeyBanks-1:0] banks, input need_t need);
    return bank_stays(banks, need.slot, need.dir);
  endfunction

  function automatic logic either(input key_slot_t first, input key_slot_t second,
                                  input key_slot_t slot);
    return first == slot || second == slot;
  endfunction

  always_comb begin
    cfg_then = '{dir: mode_cipher_dir(cfg_i.mode, cfg_i.dir), slot: cfg_i.key_slot};
    cfg_now  = cfg_then;
    if (cfg_i.mode == Xts && cfg_i.init) cfg_now = '{dir: Encrypt, slot: cfg_i.tweak_slot};
    cfg_lost = !keys_i.slot_valid[cfg_now.slot] || !keys_i.slot_valid[cfg_then.slot] ||
        (keys_i.changed && either(cfg_now.slot, cfg_then.slot, keys_i.changed_slot));
  end

  always_comb begin
    want  = '0;
    waits = '0;
    for (int unsigned c = 0; c < Contexts; c++) begin
      if (active_i[c]) want[now_q[c].slot] = 1'b1;
      if (active_i[c] && waits_i[c]) waits[now_q[c].slot] = 1'b1;
    end
    if (cfg_valid_i) want[cfg_now.slot] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {want_q, waits_q} <= '0;
    else {want_q, waits_q} <= {want, waits};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q    <= '{default: need_t'('0)};
      then_q   <= '{default: need_t'('0)};
      banks_q  <= '0;
      key_ok_q <= '0;
      lost_q   <= '0;
    end else begin
      banks_q <= keys_i.banks;
      if (keys_i.banks != banks_q) begin
        for (int unsigned c = 0; c < Contexts; c++) begin
          key_ok_q[c] <= usable(keys_i.banks, now_q[c]);
        end
      end
      if (keys_i.changed) begin
        for (int unsigned c = 0; c < Contexts; c++) begin
          if (active_i[c] && either(now_q[c].slot, then_q[c].slot, keys_i.changed_slot)) begin
            lost_q[c] <= 1'b1;
          end
        end
      end
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        if (tweak_done_i[lane]) begin
          now_q[index_t'(32'(tweak_slot_i[lane])*Lanes+lane)] <=
              then_q[index_t'(32'(tweak_slot_i[lane])*Lanes+lane)];
          key_ok_q[index_t'(32'(tweak_slot_i[lane])*Lanes+lane)] <= usable(
              keys_i.banks, then_q[index_t'(32'(tweak_slot_i[lane])*Lanes+lane)]
          );
        end
      end
      if (cfg_valid_i) begin
        now_q[index_t'(cfg_ctx_i)]    <= cfg_now;
        then_q[index_t'(cfg_ctx_i)]   <= cfg_then;
        key_ok_q[index_t'(cfg_ctx_i)] <= usable(keys_i.banks, cfg_now);
        lost_q[index_t'(cfg_ctx_i)]   <= cfg_lost;
      end
    end
  end

  assign key_ok_o = key_ok_q;
  assign lost_o   = lost_q;
  assign want_o   = want_q;
  assign waits_o  = waits_q;

  logic unused;
  assign unused = ^{cfg_ctx_i, cfg_i};

endmodule
