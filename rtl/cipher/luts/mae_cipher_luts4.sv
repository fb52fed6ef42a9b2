// SPDX-License-Identifier: Apache-2.0
//
// mae_cipher_luts4: encrypts AES-128 blocks in four-input LUTs of an FPGA at one round a clock, with
// one key. Its round keys are computed once a key, by the S-boxes of the rounds, and stored in LUT
// RAM.
//
// Ports: see the interface in mae_aes_pkg, with one lane and bank 0. req_ready_o depends
// combinationally on the request's bank and direction and on key_valid_i and key_i.bank,
// key_ready_o on key_i.bank. The results depend combinationally on registers only.
// From the S-boxes to the registers there are two LUTs in a row. Each bit takes three for MixColumns,
// the entry of a block and AddRoundKey, one for its result, one for its round key and one for the
// memory of round keys. mae_cipher_min_luts has fewer six-input LUTs, and its first block does not
// wait.
// Latency: 10 clocks. A key is accepted in any clock in which no block is in progress, or in the
// clock of its result; the first block under it is accepted 42 clocks later.
// Throughput: one block in 10 clocks. The next block is accepted in the clock of the result, and may
// depend on it.
// Reset and clear: clear_i and reset erase the registers by the next clock. The memory of round keys
// is erased after them, a word a clock, also after a reset without a clock edge; a key is accepted
// 13 clocks after a clear.
// Parameters: Table = 1 takes tables for S-boxes, which are faster and more LUTs than circuits. Legal:
// Dirs DirsEncrypt; MaxKeyLen Aes128 (other keys and directions are for mae_cipher_min_area); Table
// 0 or 1.
// Security: constant-time; no masking.
// Source: FIPS 197 §5.1, §5.2.

`include "mae_assert.svh"

module mae_cipher_luts4
  import mae_aes_pkg::*;
  import mae_round_pkg::*;
#(
    parameter dirs_e    Dirs      = DirsEncrypt,
    parameter key_len_e MaxKeyLen = Aes128,
    parameter bit       Table     = 1'b0
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              clear_i,
    input  logic              key_valid_i,
    output logic              key_ready_o,
    input  cipher_key_t       key_i,
    input  logic        [0:0] req_valid_i,
    output logic        [0:0] req_ready_o,
    input  cipher_req_t [0:0] req_i,
    output logic        [0:0] rsp_valid_o,
    output cipher_rsp_t [0:0] rsp_o
);

  `MAE_PARAM(DirsLegal, Dirs == DirsEncrypt)
  `MAE_PARAM(MaxKeyLenLegal, MaxKeyLen == Aes128)

  typedef logic [31:0] word_t;
  typedef word_t [3:0] words_t;  // word 0 is the first one of FIPS 197
  typedef logic [3:0] index_t;  // of a round key
  localparam index_t Last = 4'd10;

  // What is done with the key. A step of its expansion takes a clock in each of the first four.
  typedef enum logic [2:0] {
    Read,   // a round key comes from memory
    Move,   // its last word goes to where SubBytes takes it
    Sub,    // SubBytes of that word
    Make,   // the next round key goes to memory
    Ready,  // blocks are accepted if there is a key
    Erase
  } phase_e;

  phase_e phase_q;
  logic   loaded_q;  // there is a key
  logic   busy_q;  // a block is in progress
  logic   last_q;  // and in its last round
  ctx_t   ctx_q;
  block_t state_q;  // after AddRoundKey; 0 without a block
  words_t round_key_q;  // of the next AddRoundKey
  words_t last_key_q;  // round key 10
  index_t read_q, write_q;  // the round keys to read and to write next
  word_t change_q;  // what the key schedule adds to word 0
  logic [7:0] rcon_q;

  // Data are chosen by slot, which is early; that something comes decides whether they are kept.
  logic slot, free, offered, load, enter;
  assign slot = phase_q == Ready && (!busy_q || last_q);
  assign free = slot && !clear_i;
  assign offered = key_valid_i && key_i.bank == '0;
  assign key_ready_o = free && key_i.bank == '0;
  assign load = offered && free;
  assign req_ready_o[0] = free && loaded_q && !offered && req_i[0].bank == '0 &&
      req_i[0].dir == Encrypt;
  assign enter = req_valid_i[0] && req_ready_o[0];

  block_t sub_state, shifted;
  if (Table) begin : gen_table
    mae_sbox_lut #(
        .Kind (DirsEncrypt),
        .Bytes(16)
    ) u_sbox (
        .clk_i,
        .rst_ni,
        .en_i     (1'b1),
        .inverse_i(1'b0),
        .in_i     (state_q),
        .out_o    (sub_state)
    );
  end else begin : gen_circuit
    mae_sbox_luts4 #(
        .Bytes(16)
    ) u_sbox (
        .in_i (state_q),
        .out_o(sub_state)
    );
  end
  assign shifted = shift_rows(sub_state);

  // The key, or the next round key, §5.2. What an erasure writes is made of zeros.
  localparam logic [15:0] Load = 16'hf066;  // in_i[3] ? in_i[2] : in_i[1] ^ in_i[0]
  words_t made;
  for (genvar i = 0; i < 4; i++) begin : gen_made
    mae_lut4 #(
        .Width (32),
        .Values(Load)
    ) u_made (
        .in_i({
          {32{phase_q == Ready}},
          key_i.key[32*(7-i)+:32],
          round_key_q[i],
          (i == 0) ? change_q : made[(i+3)%4]
        }),
        .out_o(made[i])
    );
  end

  words_t stored;
  mae_ram #(
      .Width(128),
      .Depth(Last + 1)
  ) u_keys (
      .clk_i,
      .write_i     (load || phase_q == Make || phase_q == Erase),
      .write_addr_i(write_q),
      .write_data_i(made),
      .read_i      (1'b1),
      .clear_i     (1'b0),
      .read_addr_i (read_q),
      .read_data_o (stored)
  );

  // A round, §5.1, a block that enters, or the round key for SubWord. Bit k of byte r of a column
  // becomes the sum of bits k - 1 of bytes r and r+1 and bits k of bytes r+1, r+2 and r+3, §5.1.3;
  // and, where 1a has a bit, bits 7 of bytes r and r+1. For the least bit, bit 7 stands below.
  localparam logic [15:0] Sum = 16'h6996;
  localparam logic [15:0] Choice = 16'hf096;  // in_i[2] ^ (in_i[3] ? 0 : in_i[1] ^ in_i[0])
  localparam logic [7:0] Modulus = 8'h1a;
  logic replace;
  assign replace = slot || phase_q == Move;
  words_t next;
  for (genvar i = 0; i < 4; i++) begin : gen_column
    word_t a, one, other, added;
    assign a     = shifted[32*(3-i)+:32];
    assign added = (slot ? req_i[0].block[32*(3-i)+:32] : '0) ^ round_key_q[i];
    for (genvar k = 0; k < 32; k++) begin : gen_bit
      localparam int unsigned Below = k / 8 * 8 + (k + 7) % 8;
      localparam int unsigned Top = k / 8 * 8 + 7;
      mae_lut4 #(
          .Values(Sum)
      ) u_sum (
          .in_i ({a[Below], a[(Below+24)%32], a[(k+24)%32], a[(k+16)%32]}),
          .out_o(one[k])
      );
      if (Modulus[k%8]) begin : gen_modulus
        mae_lut4 #(
            .Values(Sum)
        ) u_sum (
            .in_i ({a[(k+8)%32], a[Top], a[(Top+24)%32], 1'b0}),
            .out_o(other[k])
        );
      end else begin : gen_plain
        assign other[k] = a[(k+8)%32];
      end
      mae_lut4 #(
          .Values(Choice)
      ) u_next (
          .in_i ({replace, added[k], one[k], other[k]}),
          .out_o(next[i][k])
      );
    end
  end

  logic round;  // a round follows in the next clock
  assign round = busy_q && !last_q;
  always_ff @(posedge clk_i) begin
    if (clear_i || !(enter || round || phase_q == Move)) state_q <= '0;
    else state_q <= {next[0], next[1], next[2], next[3]};
    if (clear_i || !loaded_q) round_key_q <= '0;
    else if (enter || busy_q || phase_q == Read) round_key_q <= stored;
    if (clear_i || !loaded_q) last_key_q <= '0;
    else if (phase_q == Make) last_key_q <= made;
    // RotWord may follow SubWord, §5.2.
    if (clear_i || phase_q != Sub) change_q <= '0;
    else change_q <= {sub_state[23:16] ^ rcon_q, sub_state[15:0], sub_state[31:24]};
    // Powers of x in GF(2^8), §5.2.
    if (load || phase_q == Erase) rcon_q <= 8'h01;
    else if (phase_q == Make) rcon_q <= {rcon_q[6:0], 1'b0} ^ (rcon_q[7] ? 8'h1b : 8'h00);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q  <= Erase;
      loaded_q <= 1'b0;
      busy_q   <= 1'b0;
      last_q   <= 1'b0;
      ctx_q    <= '0;
      read_q   <= '0;
      write_q  <= '0;
    end else if (clear_i) begin
      phase_q  <= Erase;
      loaded_q <= 1'b0;
      busy_q   <= 1'b0;
      last_q   <= 1'b0;
      ctx_q    <= '0;
      read_q   <= '0;
      write_q  <= '0;
    end else begin
      busy_q <= enter || round;
      last_q <= busy_q && read_q == '0;
      if (enter) ctx_q <= req_i[0].ctx;
      unique case (phase_q)
        Read: begin
          phase_q <= (write_q == '0) ? Ready : Move;
          if (write_q == '0) read_q <= index_t'(1);
        end
        Move: phase_q <= Sub;
        Sub:  phase_q <= Make;
        Make: begin
          phase_q <= Read;
          read_q  <= (write_q == Last) ? '0 : write_q;
          write_q <= (write_q == Last) ? '0 : write_q + index_t'(1);
        end
        Ready: begin
          // Round key 0 is there again in the last round, for the next block.
          if (enter || round) read_q <= (read_q == Last - 1) ? '0 : read_q + index_t'(1);
          if (load) begin
            phase_q  <= Read;
            loaded_q <= 1'b1;
            read_q   <= '0;
            write_q  <= index_t'(1);
          end
        end
        default: begin
          // Word 0 once more: after a reset without a clock edge, what was written first was made
          // of registers that the same edge erased.
          write_q <= (write_q == Last || read_q != '0) ? '0 : write_q + index_t'(1);
          read_q  <= index_t'(write_q == Last);
          if (read_q != '0) phase_q <= Ready;
        end
      endcase
    end
  end

  assign rsp_valid_o[0] = last_q;
  // The last round, without MixColumns, §5.1.
  block_t result;
  assign result   = shifted ^ {last_key_q[0], last_key_q[1], last_key_q[2], last_key_q[3]};
  assign rsp_o[0] = '{ctx: ctx_q, block: {128{last_q}} & result};

  `MAE_ASSERT(BankExists, !key_valid_i || key_i.bank == '0)
  `MAE_ASSERT(KeyLength, !key_valid_i || key_i.len == Aes128)
  `MAE_ASSERT(DirBuilt, !req_valid_i || req_i[0].dir == Encrypt)

endmodule
