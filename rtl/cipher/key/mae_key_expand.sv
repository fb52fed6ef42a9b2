// SPDX-License-Identifier: Apache-2.0
//
// mae_key_expand: computes the round keys of an AES key one after the other, first to last. With
// Backward = 1 it also computes them last to first.
//
// start_*: with dir_i = Encrypt, key_i is the key and the round keys come from 0 to Nr. With dir_i
// = Decrypt (Backward = 1 only), key_i is the value of end_o after a forward run and the round keys
// come from Nr to 0. start_ready_o is a register. round_*: round_valid_o has no ready. step_key_o
// equals round_key_o except for the first round key of a run, and comes directly from the step
// logic, without the multiplexer of round_key_o. last_o marks the last round key. end_o: valid from
// the clock after last_o until the next start or clear.
//
// The register holds a window of Nk words of the key schedule, beginning with word 4i when round
// key i is output; the first four words of the window are round key i. A forward step computes the
// four words that follow the window, w[j] = w[j-Nk] ^ f(w[j-1]); a backward step inverts it. At
// most one of the four words needs the S-boxes, so one S-box word (4 S-boxes) suffices.
// Latency: round key 0 is output in the clock in which the key is accepted, each further one
// StepClocks clocks after the one before (with StepClocks = 1, round key i in the i-th clock after
// it).
// Throughput: one 128-bit round key in StepClocks clocks. A run takes Nr * StepClocks + 1 clocks;
// then the next key is accepted.
// Reset and clear: both zero the window in one clock. The StepClocks - 1 registers inside the
// S-boxes (mae_sub_bytes) have no reset; they lose its contents StepClocks - 1 clocks later.
// Parameters: Legal: MaxKeyLen any of key_len_e, len_i at most MaxKeyLen; Backward 0 or 1; Sbox any
// of sbox_impl_e; StepClocks 1..3.
// Security: constant-time (the key length is not secret); no masking.
// Source: FIPS 197 §5.2; Kale et al., section 2.1.

`include "mae_assert.svh"

module mae_key_expand
  import mae_aes_pkg::*;
#(
    parameter key_len_e    MaxKeyLen  = Aes256,
    parameter bit          Backward   = 1'b0,
    parameter sbox_impl_e  Sbox       = SboxTable,
    parameter int unsigned StepClocks = 1
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           clear_i,
    input  logic           start_valid_i,
    output logic           start_ready_o,
    input  dir_e           dir_i,
    input  key_len_e       len_i,
    input  key_t           key_i,
    output logic           round_valid_o,
    output logic     [3:0] round_index_o,
    output block_t         round_key_o,
    output block_t         step_key_o,
    output logic           last_o,
    output key_t           end_o
);

  `MAE_PARAM(StepClocksLegal, StepClocks inside {[1 : 3]})

  typedef logic [31:0] word_t;
  localparam int unsigned Words = (MaxKeyLen == Aes128) ? 4 : (MaxKeyLen == Aes192) ? 6 : 8;

  word_t [7:0] window_q, window_next;  // word 0 is the first in the schedule
  logic [3:0] index_q;
  // step number modulo 1, 3 or 2 for Nk = 4, 6, 8: the schedule repeats with that period
  logic [1:0] phase_q, phase;
  logic [           7:0] rcon_q;
  logic                  active_q;
  logic [StepClocks-1:0] clock_q;  // clock within a step, one-hot; 0 when idle
  key_len_e len_q, len;
  logic backward_q, backward, start_backward;

  // Signals that this configuration does not need are constants.
  assign len            = (MaxKeyLen == Aes128) ? Aes128 : len_q;
  assign backward       = Backward && backward_q;
  assign phase          = (MaxKeyLen == Aes128) ? 2'd0 : phase_q;
  assign start_backward = Backward && dir_i == Decrypt;

  logic start, step;
  assign start_ready_o = !active_q;
  assign step          = clock_q[StepClocks-1];
  assign start         = start_valid_i && start_ready_o && !clear_i;

  function automatic logic [1:0] last_phase(input key_len_e l);
    case (l)
      Aes128:  return 2'd0;
      Aes192:  return 2'd2;
      default: return 2'd1;
    endcase
  endfunction

  // Position of SubWord in a step: at its first word, at its third word (AES-192 only) or nowhere.
  // RotWord and the round constant always go together; in AES-256 every other step has SubWord
  // alone.
  logic sub_first, sub_third, rotate;
  assign sub_first = len != Aes192 || phase == 2'd0;
  assign sub_third = len == Aes192 && phase == 2'd1;
  assign rotate    = (len == Aes192) ? phase != 2'd2 : phase == 2'd0;

  // The last four words of the window, and the word before them.
  word_t [3:0] tail;
  word_t       before_tail;
  always_comb begin
    case (len)
      Aes128: begin
        tail        = window_q[3:0];
        before_tail = window_q[3] ^ window_q[2];  // inverted first: word 3 of the previous step
      end
      Aes192: begin
        tail        = window_q[5:2];
        before_tail = window_q[1];
      end
      default: begin
        tail        = window_q[7:4];
        before_tail = window_q[3];
      end
    endcase
  end

  // SubWord(RotWord(x)) ^ Rcon, or SubWord(x).
  word_t sub_in, sub_rotated, sub_out, sub;
  always_comb begin
    if (backward) sub_in = sub_third ? tail[1] : before_tail;
    else sub_in = sub_third ? window_q[1] ^ window_q[0] ^ tail[3] : tail[3];
  end
  assign sub_rotated = rotate ? {sub_in[23:0], sub_in[31:24]} : sub_in;
  mae_sub_bytes #(
      .Kind (DirsEncrypt),
      .Impl (Sbox),
      .Regs (StepClocks - 1),
      .Bytes(4)
  ) u_sub (
      .clk_i,
      .rst_ni   (1'b1),
      .en_i     ((StepClocks == 1) ? {StepClocks{active_q}} : '1),
      .inverse_i(1'b0),
      .in_i     (sub_rotated),
      .out_o    (sub_out)
  );
  assign sub = sub_out ^ {rotate ? rcon_q : 8'h00, 24'h000000};

  // Partial sums of the window's words, registered before the S-boxes if a step takes several
  // clocks.
  word_t [3:1] sums_q;
  if (StepClocks > 1) begin : gen_sums
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) sums_q <= '0;
      else if (clear_i) sums_q <= '0;
      else begin
        sums_q[1] <= window_q[0] ^ window_q[1];
        sums_q[2] <= window_q[0] ^ window_q[1] ^ window_q[2];
        sums_q[3] <= (window_q[0] ^ window_q[1]) ^ (window_q[2] ^ window_q[3]);
      end
    end
  end else begin : gen_no_sums
    assign sums_q = '0;
  end

  // One step: the four words that enter the window at one of its ends.
  word_t made0, made1, made2, made3, first;
  always_comb begin
    first = '0;
    if (backward) begin
      made0 = tail[0] ^ (sub_first ? sub : before_tail);
      made1 = tail[1] ^ tail[0];
      made2 = tail[2] ^ (sub_third ? sub : tail[1]);
      made3 = tail[3] ^ tail[2];
    end else begin
      first = sub_first ? sub : tail[3];
      made0 = window_q[0] ^ first;
      if (StepClocks == 1) begin
        made1 = window_q[1] ^ made0;
        made2 = window_q[2] ^ (sub_third ? sub : made1);
        made3 = window_q[3] ^ made2;
      end else begin
        made1 = sums_q[1] ^ first;
        made2 = sub_third ? window_q[2] ^ sub : sums_q[2] ^ first;
        made3 = sub_third ? window_q[2] ^ window_q[3] ^ sub : sums_q[3] ^ first;
      end
    end
  end

  word_t [3:0] made;
  assign made = {made3, made2, made1, made0};
  always_comb begin
    case (len)
      Aes128:  window_next = {128'd0, made};
      Aes192:  window_next = {64'd0, backward ? {window_q[1:0], made} : {made, window_q[5:4]}};
      default: window_next = backward ? {window_q[3:0], made} : {made, window_q[7:4]};
    endcase
  end

  // Words in the order of the schedule: bits 255:224 of the key are its first word.
  word_t [7:0] key_words;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      key_words[i] = (i < Words) ? key_i[32*(7-i)+:32] : '0;
      end_o[32*(7-i)+:32] = window_q[i];
    end
  end

  assign round_valid_o = start || step;
  assign round_index_o = active_q ? index_q : start_backward ? num_rounds(len_i) : 4'd0;
  assign last_o        = step && index_q == (backward ? 4'd0 : num_rounds(len));
  assign step_key_o    = {window_next[0], window_next[1], window_next[2], window_next[3]};
  assign round_key_o   = active_q ? step_key_o : key_i[255:128];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      window_q   <= '0;
      index_q    <= '0;
      phase_q    <= '0;
      rcon_q     <= '0;
      active_q   <= 1'b0;
      clock_q    <= '0;
      len_q      <= Aes128;
      backward_q <= 1'b0;
    end else if (clear_i) begin
      window_q   <= '0;
      index_q    <= '0;
      phase_q    <= '0;
      rcon_q     <= '0;
      active_q   <= 1'b0;
      clock_q    <= '0;
      len_q      <= Aes128;
      backward_q <= 1'b0;
    end else if (start) begin
      clock_q    <= StepClocks'(1);
      window_q   <= key_words;
      active_q   <= 1'b1;
      len_q      <= len_i;
      backward_q <= start_backward;
      if (start_backward) begin
        index_q <= num_rounds(len_i) - 4'd1;
        phase_q <= last_phase(len_i);
        rcon_q  <= (len_i == Aes128) ? 8'h36 : (len_i == Aes192) ? 8'h80 : 8'h40;
      end else begin
        index_q <= 4'd1;
        phase_q <= 2'd0;
        rcon_q  <= 8'h01;
      end
    end else if (active_q && !step) begin
      clock_q <= StepClocks'({clock_q, 1'b0});
    end else if (active_q) begin
      clock_q  <= last_o ? '0 : StepClocks'(1);
      window_q <= window_next;
      active_q <= !last_o;
      if (backward) begin
        index_q <= index_q - 4'd1;
        phase_q <= (phase_q == 2'd0) ? last_phase(len) : phase_q - 2'd1;
        if (rotate) rcon_q <= rcon_q[0] ? {1'b1, rcon_q[7:1] ^ 7'h0d} : {1'b0, rcon_q[7:1]};
      end else begin
        index_q <= index_q + 4'd1;
        phase_q <= (phase_q == last_phase(len)) ? 2'd0 : phase_q + 2'd1;
        if (rotate) rcon_q <= {rcon_q[6:0], 1'b0} ^ (rcon_q[7] ? 8'h1b : 8'h00);
      end
    end
  end

  `MAE_ASSERT(LegalLength, !start || len_i <= MaxKeyLen)

endmodule
