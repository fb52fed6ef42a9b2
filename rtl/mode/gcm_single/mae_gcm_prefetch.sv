// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_prefetch: encrypts and decrypts AES-GCM messages of one word with keystream computed in
// advance. The tag masks are computed in advance, too.
//
// A stream is a key, a direction and a sequence number: each queue of a protected mailbox has two,
// requests (decrypted) and responses (encrypted). Message n of a stream has the IV `iv XOR n`, with
// n in the last 64 bits, from load_i.sequence_first on; load_i.iv holds the rest of the IV, such as
// a mask, a class and a queue number. Each accepted message spends its number, whatever the
// verdict. req_sequence_o is the number that a request of req_stream_i gets. req_ready_o,
// combinational in req_stream_i: a value of that stream is prepared. There is no backpressure after
// that: a result is valid for one clock; results come in the order of the requests.
//
// load_*: load_ready_o is combinational in load_stream_i; a stream can be loaded when it is free
// and nothing of its last key is in progress. erase_*: the stream is free in the next clock; its
// key, H and prepared values are erased; its blocks in the rounds disappear within Nr + 1 clocks;
// accepted requests are answered. After number 2^64 - 1 a stream accepts no message.
// Latency: 4 clocks from request to result, from a register, for every key length. From load to the
// first request Nr + 4 clocks, with the Nr of MaxKeyLen, if no other stream competes.
// Throughput: one message a clock while prepared values last. The values of one message a clock are
// prepared, for all streams together, each ready Nr + 3 clocks after the message whose place it
// takes. So one stream alone sustains a message a clock if Ahead >= Nr + 3; all together do if
// Streams * Ahead >= Nr + 3.
// Reset and clear: both erase all streams, values and messages by the next clock.
// Parameters: Ahead is the number of prepared values a stream. Legal: Streams 1..256; Ahead >= 1;
// MaxKeyLen any of key_len_e; Sbox any of sbox_impl_e. A tag of 0 bytes is refused.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7, §8.2.1; Ghosh et al., section 4.2.

`include "mae_assert.svh"

module mae_gcm_prefetch
  import mae_aes_pkg::*;
  import mae_gcm_single_pkg::*;
#(
    parameter  int unsigned Streams     = 8,
    parameter  int unsigned Ahead       = 4,
    parameter  key_len_e    MaxKeyLen   = Aes256,
    parameter  sbox_impl_e  Sbox        = SboxTable,
    localparam int unsigned StreamWidth = (Streams > 1) ? $clog2(Streams) : 1
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              clear_i,
    input  logic                              load_valid_i,
    output logic                              load_ready_o,
    input  logic            [StreamWidth-1:0] load_stream_i,
    input  gcm_beat_load_t                    load_i,
    input  logic                              erase_valid_i,
    input  logic            [StreamWidth-1:0] erase_stream_i,
    input  logic                              req_valid_i,
    output logic                              req_ready_o,
    input  logic            [StreamWidth-1:0] req_stream_i,
    input  gcm_beat_msg_t                     req_i,
    output gcm_beat_count_t                   req_sequence_o,
    output logic                              rsp_valid_o,
    output gcm_beat_rsp_t                     rsp_o
);

  `MAE_PARAM(StreamsLegal, Streams inside {[1 : 256]})
  `MAE_PARAM(AheadLegal, Ahead >= 1)

  localparam int unsigned Rounds = 10 + 2 * int'(MaxKeyLen);
  typedef logic [StreamWidth-1:0] stream_t;
  typedef logic [$clog2(Ahead+1)-1:0] value_count_t;
  typedef logic [$clog2(Rounds+2)-1:0] flight_count_t;

  // ---- Streams.
  typedef struct packed {
    logic            live;
    logic            wants_h;  // H has not been requested
    logic            spent;    // all numbers are used
    gcm_beat_load_t  load;     // sequence: the next number to prepare
    gcm_beat_count_t head;     // the number of the next message
    value_count_t    values;   // prepared or being prepared
  } state_t;
  state_t                      state_q  [Streams];
  flight_count_t               flight_q [Streams];  // blocks in the rounds, also of an erased key
  block_t                      h_q      [Streams];
  block_t                      h3_q     [Streams];  // H^3
  logic          [Streams-1:0] powers_q;

  logic [Streams-1:0] load, erase, take, made, back, wants, turn;
  logic load_free;
  always_comb begin
    load_free = 1'b0;
    for (int unsigned s = 0; s < Streams; s++) begin
      if (load_stream_i == stream_t'(s)) load_free = !state_q[s].live && flight_q[s] == '0;
      load[s] = load_valid_i && load_ready_o && load_stream_i == stream_t'(s);
      erase[s] = erase_valid_i && erase_stream_i == stream_t'(s);
      wants[s] = state_q[s].live && !erase[s] &&
          (state_q[s].wants_h || (!state_q[s].spent && 32'(state_q[s].values) != Ahead));
    end
  end
  assign load_ready_o = load_free && !clear_i;

  // ---- The rounds: H of a new key, or the next E(K, J0) and keystream of a stream.
  typedef struct packed {
    logic    is_h;
    stream_t stream;
  } user_t;
  logic turn_valid, rounds_valid;
  stream_t turn_index;
  user_t user_in, user;
  gcm_beat_load_t chosen;
  gcm_beat_iv_t iv;
  block_t [1:0] blocks;

  mae_rr_arb #(
      .N(Streams)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .req_i    (wants),
      .advance_i(1'b1),
      .grant_o  (turn),
      .index_o  (turn_index),
      .valid_o  (turn_valid)
  );

  always_comb begin
    chosen         = '0;
    user_in.is_h   = 1'b0;
    user_in.stream = turn_index;
    for (int unsigned s = 0; s < Streams; s++) begin
      if (turn[s]) begin
        chosen |= state_q[s].load;
        user_in.is_h |= state_q[s].wants_h;
      end
    end
    iv = chosen.iv ^ {32'd0, chosen.sequence_first};
  end

  mae_per_block_key_rounds #(
      .Blocks   (2),
      .UserWidth($bits(user_t)),
      .MaxKeyLen(MaxKeyLen),
      .Sbox     (Sbox)
  ) u_rounds (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i (turn_valid),
      .len_i   (chosen.len),
      .key_i   (chosen.key),
      .blocks_i({user_in.is_h ? 128'd0 : {iv, 32'd1}, user_in.is_h ? 128'd0 : {iv, 32'd2}}),
      .user_i  (user_in),
      .valid_o (rounds_valid),
      .blocks_o(blocks),
      .user_o  (user)
  );

  // Results for an erased key are dropped.
  logic h_come;
  always_comb begin
    h_come = 1'b0;
    for (int unsigned s = 0; s < Streams; s++) begin
      back[s] = rounds_valid && user.stream == stream_t'(s);
      made[s] = back[s] && !user.is_h && state_q[s].live && !erase[s];
      if (back[s] && user.is_h && state_q[s].live && !erase[s]) h_come = 1'b1;
    end
  end

  // ---- H^3, one clock after H; H^2 and H^4 are linear in H.
  logic cube_valid;
  stream_t cube_stream_q;
  block_t cube;
  mae_gf128_mul #(
      .OutReg(1'b0)
  ) u_cube (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i  (h_come),
      .a_i      (blocks[1]),
      .b_i      (ghash_square(blocks[1])),
      .valid_o  (cube_valid),
      .product_o(cube)
  );

  // ---- Prepared values.
  typedef struct packed {
    block_t mask;
    block_t keystream;
  } value_t;
  value_t head[Streams];
  logic [Streams-1:0] waits, unused_room;
  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    value_count_t unused_count;
    mae_fifo #(
        .Width($bits(value_t)),
        .Depth(Ahead)
    ) u_values (
        .clk_i,
        .rst_ni,
        .clear_i    (clear_i || erase[s]),
        .in_valid_i (made[s]),
        .in_ready_o (unused_room[s]),
        .in_data_i  (blocks),
        .out_valid_o(waits[s]),
        .out_ready_i(take[s]),
        .out_data_o (head[s]),
        .count_o    (unused_count)
    );
    `MAE_ASSERT(ValueHasPlace, !made[s] || unused_room[s] || clear_i)
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= '{default: state_t'('0)};
      flight_q      <= '{default: '0};
      h_q           <= '{default: '0};
      h3_q          <= '{default: '0};
      powers_q      <= '0;
      cube_stream_q <= '0;
    end else if (clear_i) begin
      state_q       <= '{default: state_t'('0)};
      flight_q      <= '{default: '0};
      h_q           <= '{default: '0};
      h3_q          <= '{default: '0};
      powers_q      <= '0;
      cube_stream_q <= '0;
    end else begin
      cube_stream_q <= h_come ? user.stream : '0;
      for (int unsigned s = 0; s < Streams; s++) begin
        flight_q[s] <= flight_q[s] + flight_count_t'(turn[s]) - flight_count_t'(back[s]);
        if (turn[s]) begin
          state_q[s].wants_h <= 1'b0;
          if (!state_q[s].wants_h) begin
            state_q[s].load.sequence_first <= state_q[s].load.sequence_first + 64'd1;
            state_q[s].spent               <= state_q[s].load.sequence_first == '1;
          end
        end
        state_q[s].values <= state_q[s].values + value_count_t'(turn[s] && !state_q[s].wants_h) -
            value_count_t'(take[s]);
        if (take[s]) state_q[s].head <= state_q[s].head + 64'd1;
        if (back[s] && h_come) h_q[s] <= blocks[1];
        if (cube_valid && cube_stream_q == stream_t'(s) && state_q[s].live) begin
          h3_q[s]     <= cube;
          powers_q[s] <= 1'b1;
        end
        if (load[s]) begin
          state_q[s] <= '{
              live: 1'b1,
              wants_h: 1'b1,
              spent: 1'b0,
              load: load_i,
              head: load_i.sequence_first,
              values: '0
          };
        end
        if (erase[s]) begin
          state_q[s]  <= '0;
          h_q[s]      <= '0;
          h3_q[s]     <= '0;
          powers_q[s] <= 1'b0;
        end
      end
    end
  end

  // ---- The message at the port and its prepared values.
  logic   ready;
  dir_e   dir;
  value_t value;
  block_t h, h2, h3, text;
  always_comb begin
    ready          = 1'b0;
    dir            = Encrypt;
    value          = '0;
    h              = '0;
    h3             = '0;
    req_sequence_o = '0;
    for (int unsigned s = 0; s < Streams; s++) begin
      if (req_stream_i == stream_t'(s)) begin
        ready          = waits[s] && powers_q[s] && !erase[s];
        dir            = state_q[s].load.dir;
        value          = head[s];
        h              = h_q[s];
        h3             = h3_q[s];
        req_sequence_o = state_q[s].head;
      end
      take[s] = req_valid_i && req_ready_o && req_stream_i == stream_t'(s);
    end
  end
  assign req_ready_o = ready && !clear_i;
  assign h2          = ghash_square(h);
  assign text        = (req_i.data ^ value.keystream) & first_bytes({1'b0, req_i.data_bytes});

  logic valid_q;
  gcm_beat_terms_t terms_q, powers_of_h_q;
  gcm_beat_end_t end_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      {terms_q, powers_of_h_q, end_q} <= '0;
    end else if (clear_i || take == '0) begin
      valid_q <= 1'b0;
      {terms_q, powers_of_h_q, end_q} <= '0;
    end else begin
      valid_q <= 1'b1;
      powers_of_h_q <= '{h4: ghash_square(h2), h3: h3, h2: h2, h1: h};
      terms_q <= gcm_beat_terms(
          req_i.aad, req_i.aad_bytes, (dir == Encrypt) ? text : req_i.data, req_i.data_bytes
      );
      end_q <= '{
          ctx: req_i.ctx,
          dir: dir,
          tag_bytes: req_i.tag_bytes,
          tag: req_i.tag,
          mask: value.mask,
          text: text
      };
    end
  end

  mae_gcm_single_tag #(
      .Terms(4)
  ) u_tag (
      .clk_i,
      .rst_ni,
      .clear_i,
      .valid_i(valid_q),
      .a_i    (terms_q),
      .b_i    (powers_of_h_q),
      .end_i  (end_q),
      .rsp_valid_o,
      .rsp_o
  );

  `MAE_ASSERT(LegalLength, !load_valid_i || load_i.len <= MaxKeyLen)
  `MAE_ASSERT(LegalWord, !req_valid_i || (req_i.aad_bytes <= 6'd32 && req_i.data_bytes <= 5'd16))
  `MAE_ASSERT(OneTake, $onehot0(take))

endmodule
