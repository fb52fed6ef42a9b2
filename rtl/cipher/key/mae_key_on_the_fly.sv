// SPDX-License-Identifier: Apache-2.0
//
// mae_key_on_the_fly: computes each round key of one AES key in the clock in which it is used. The
// order is first to last for encryption and last to first for decryption.
//
// Stores only two windows of the key schedule instead of all round keys. Words 0 to 3 of the window
// are the current round key; the others are the words that follow in the direction of the run:
// w[4i+4], w[4i+5].. for encryption, round key i - 1 for decryption (AES-192: its last two words).
// Therefore both directions move the same words and always change the first four: encryption by
// w[j] = w[j-Nk] ^ f(w[j-1]), decryption by inverting that. The last step of a run reverses the
// order of the window for a run in the other direction. The second window keeps a copy of the first
// one from the first clock of a run; the next run in the same direction begins with it. With
// DirsEncrypt it holds the key. One S-box word (4 S-boxes).
// Latency: a run started in clock t shows its first round key in key_o and the second one in next_o
// in clock t + 1, and the next pair in each further clock. last_o is high in the Nr-th clock, in
// which next_o is the last round key. A start together with last_o leaves no gap; an earlier start
// aborts the current run. After a key was loaded in clock t, encryption may start from clock t + 1
// on, decryption from clock t + Nr on (known_o), or in the last clock of an encryption before that.
// Throughput: one round key a clock.
// Reset and clear: clear_i erases key and windows by the next clock; reset does so after the first
// clock in it.
// Constraint: start_i requires loaded_o and no load_i, and for decryption known_o. Change the
// direction only when no run is active, or in the last clock of a run.
// Parameters: Fewest = 1 stores key and windows inverted, which takes fewer standard cells. Legal:
// Dirs any of dirs_e; MaxKeyLen any of key_len_e, len_i at most MaxKeyLen; Sbox any of sbox_impl_e;
// Fewest 0 or 1.
// Security: constant-time (the key length is not secret); no masking.
// Source: FIPS 197 §5.2.

`include "mae_assert.svh"

module mae_key_on_the_fly
  import mae_aes_pkg::*;
#(
    parameter dirs_e      Dirs      = DirsBoth,
    parameter key_len_e   MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox      = SboxBoolean,
    parameter bit         Fewest    = 1'b0
) (
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     clear_i,
    input  logic     load_i,
    input  key_len_e len_i,
    input  key_t     key_i,
    output logic     loaded_o,
    output logic     known_o,
    input  logic     start_i,
    input  dir_e     dir_i,
    output dir_e     dir_o,
    output logic     first_o,
    output logic     last_o,
    output block_t   key_o,
    output block_t   next_o
);

  typedef logic [31:0] word_t;
  typedef word_t [1:0] pair_t;
  typedef word_t [7:0] window_t;
  localparam int unsigned Words = 4 + 2 * int'(MaxKeyLen);

  // Terms of this form are ORed; at most one of them is not 0. They map to one complex gate a bit,
  // where registers with enable and clear would need a multiplexer and a gate.
  function automatic pair_t pair_if(input logic choose, input pair_t w);
    return {64{choose}} & w;
  endfunction
  function automatic window_t window_if(input logic choose, input window_t w);
    return {256{choose}} & w;
  endfunction

  // Position of SubWord in a step: at its first word, at its third word (AES-192) or nowhere
  // (AES-192); and whether RotWord and the round constant apply.
  typedef struct packed {
    logic first;
    logic third;
    logic rotate;
    logic [7:0] rcon;
  } constants_t;
  typedef constants_t [1:0][2:0][15:0] table_t;  // by direction, key length, index of the round key

  function automatic table_t all_constants();
    table_t t;
    int word, size;
    logic [7:0] rcon;
    t = '0;
    for (int back = 0; back < 2; back++) begin
      for (int l = 0; l <= int'(MaxKeyLen); l++) begin
        size = 4 + 2 * l;
        rcon = 8'h01;
        for (int i = 0; i <= 10 + 2 * l; i++) begin
          word = 4 * i + ((back == 1) ? 0 : size);  // the first word that is inverted or computed
          t[back][l][i].first = word % size == 0 || size == 8;
          t[back][l][i].third = (word + 2) % size == 0;
          t[back][l][i].rotate = word % size == 0 || t[back][l][i].third;
          if (word > 0 && t[back][l][i].rotate) begin
            t[back][l][i].rcon = rcon;
            rcon = {rcon[6:0], 1'b0} ^ (rcon[7] ? 8'h1b : 8'h00);
          end
        end
      end
    end
    return t;
  endfunction
  localparam table_t Constants = all_constants();

  // With Fewest = 1 the registers hold the inverse: what an AND-OR of standard cells gives.
  window_t window_reg_q, store_reg_q, window_q, store_q;
  assign window_q = Fewest ? ~window_reg_q : window_reg_q;
  assign store_q  = Fewest ? ~store_reg_q : store_reg_q;
  logic loaded_q, known_q, active_q, first_q, last_q;
  logic [3:0] index_q;  // index of the round key in words 0 to 3
  dir_e dir_q;
  key_len_e len_q;
  constants_t constants_q, constants;

  // Signals that this configuration does not need are constants.
  localparam bit Back = Dirs != DirsEncrypt;
  logic backward, is128, is192, is256;
  assign backward = Back && dir_q == Decrypt;
  assign is192    = MaxKeyLen != Aes128 && len_q == Aes192;
  assign is256    = MaxKeyLen == Aes256 && len_q == Aes256;
  assign is128    = !is192 && !is256;

  // A register takes more cells than the table behind it, but keeps the table out of the round.
  assign constants = Fewest ? Constants[dir_q][len_q][index_q] : constants_q;

  // The word before those that are computed or inverted; the word that goes through the S-boxes.
  word_t prior, chosen, substituted, sub;
  always_comb begin
    prior = window_q[3];
    if (is128 && backward) prior = window_q[3] ^ window_q[2];
    if (is192) prior = window_q[5];
    if (is256) prior = window_q[7];
    chosen = prior;
    if (is192 && constants.third) begin
      chosen = backward ? window_q[1] : window_q[1] ^ window_q[0] ^ prior;
    end
  end

  mae_sbox #(
      .Kind (DirsEncrypt),
      .Impl (Sbox),
      .Regs (0),
      .Bytes(4)
  ) u_sbox (
      .clk_i,
      .rst_ni,
      .en_i     (1'b1),
      .inverse_i(1'b0),
      .in_i     ((is128 || constants.rotate) ? {chosen[23:0], chosen[31:24]} : chosen),
      .out_o    (substituted)
  );
  assign sub = substituted ^ {constants.rcon, 24'h000000};

  word_t [3:0] made;
  always_comb begin
    made[0] = window_q[0] ^ ((!is192 || constants.first) ? sub : prior);
    made[1] = window_q[1] ^ (backward ? window_q[0] : made[0]);
    made[2] = window_q[2];
    if (is192 && constants.third) made[2] ^= sub;
    else made[2] ^= backward ? window_q[1] : made[1];
    made[3] = window_q[3] ^ (backward ? window_q[2] : made[2]);
  end

  // The window after this step. Its first half holds the next round key also in the last clock.
  logic on192, back192;
  window_t next;
  assign on192   = is192 && !backward;
  assign back192 = is192 && backward;
  always_comb begin
    next[1:0] = pair_if(is128, made[1:0]) | pair_if(back192, made[3:2]) |
        pair_if(on192 || is256, window_q[5:4]);
    next[3:2] = pair_if(is128, made[3:2]) | pair_if(on192, made[1:0]) |
        pair_if(back192, window_q[5:4]) | pair_if(is256, window_q[7:6]);
    next[5:4] = pair_if(on192 && !last_q, made[3:2]) | pair_if(on192 && last_q, window_q[3:2]) |
        pair_if((back192 || is256) && !last_q, made[1:0]) |
        pair_if((back192 || is256) && last_q, window_q[1:0]);
    next[7:6] = pair_if(is256 && !last_q, made[3:2]) | pair_if(is256 && last_q, window_q[3:2]);
  end

  // A run in the direction of the previous run begins where that one began, otherwise where it
  // ended. A run that starts in the first clock of another one begins with the current window.
  window_t key_words;
  logic live, again, step, hold, copy;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) key_words[i] = (i < Words) ? key_i[32*(7-i)+:32] : '0;
  end
  assign live  = !clear_i && !(Back && load_i);
  assign again = live && start_i && (!Back || (dir_i == dir_q && !first_q));
  assign step  = live && !again && active_q && !(first_q && start_i);
  assign hold  = Back && live && !again && !step && loaded_q;
  assign copy  = !clear_i && (Back ? first_q : load_i);

  always_ff @(posedge clk_i) begin
    window_reg_q <= {256{Fewest}} ^ (window_if(
        again, store_q
    ) | window_if(
        step, next
    ) | window_if(
        hold, window_q
    ) | window_if(
        Back && load_i && !clear_i, key_words
    ));
    store_reg_q <= {256{Fewest}} ^ (window_if(
        copy, Back ? window_q : key_words
    ) | window_if(
        !copy && !clear_i && loaded_q, store_q
    ));
  end

  // Next state. If the key is also for decryption, a run to its last round key begins at once after
  // loading.
  logic [3:0] index_d;
  logic active_d, last_d;
  dir_e     dir_d;
  key_len_e len_d;
  always_comb begin
    len_d    = load_i ? len_i : len_q;
    dir_d    = dir_q;
    active_d = active_q && !last_q;
    index_d  = index_q;
    if (active_q) index_d = backward ? index_q - 4'd1 : index_q + 4'd1;
    if (load_i || start_i) begin
      active_d = Back || !load_i;
      dir_d    = (Back && !load_i) ? dir_i : Encrypt;
      index_d  = (dir_d == Decrypt) ? num_rounds(len_q) : 4'd0;
    end
    last_d = active_d && index_d == ((dir_d == Decrypt) ? 4'd1 : num_rounds(len_d) - 4'd1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q    <= 1'b0;
      known_q     <= 1'b0;
      active_q    <= 1'b0;
      first_q     <= 1'b0;
      last_q      <= 1'b0;
      index_q     <= '0;
      dir_q       <= Encrypt;
      len_q       <= Aes128;
      constants_q <= '0;
    end else if (clear_i) begin
      loaded_q    <= 1'b0;
      known_q     <= 1'b0;
      active_q    <= 1'b0;
      first_q     <= 1'b0;
      last_q      <= 1'b0;
      index_q     <= '0;
      constants_q <= '0;
    end else begin
      loaded_q    <= loaded_q || load_i;
      known_q     <= (known_q || last_q) && !load_i;
      active_q    <= active_d;
      first_q     <= start_i || (Back && load_i);
      last_q      <= last_d;
      index_q     <= index_d;
      dir_q       <= dir_d;
      len_q       <= (MaxKeyLen == Aes128) ? Aes128 : len_d;
      constants_q <= Constants[dir_d][len_d][index_d];
    end
  end

  assign loaded_o = loaded_q;
  assign known_o  = Back && (known_q || last_q);
  assign first_o  = first_q;
  assign last_o   = last_q;
  assign dir_o    = dir_q;
  assign key_o    = {window_q[0], window_q[1], window_q[2], window_q[3]};
  assign next_o   = {next[0], next[1], next[2], next[3]};

  `MAE_ASSERT(LegalLength, !load_i || len_i <= MaxKeyLen)
  `MAE_ASSERT(StartWhenLoaded, !start_i || (loaded_q && !load_i))
  `MAE_ASSERT(DecryptWhenKnown, !start_i || dir_i == Encrypt || known_o)
  `MAE_ASSERT(TurnAtAnEnd, !start_i || !Back || dir_i == dir_q || !active_q || last_q)

endmodule
