// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_part_sequencer: determines if a beat of a GCM message is IV, AAD or data, and how many
// bytes it has.
//
// Offer a message at msg_* only if it has a beat. All outputs about a beat come from registers:
// they are computed one beat ahead. open_o: a beat is expected; take_i: it is accepted.
// Latency: the first beat of a message is expected (open_o) 1 + Cut clocks after msg_*; the next
// message in the clock after the last beat, with Cut = 1 not before two clocks after the first beat.
// Throughput: one beat a clock, also from one message to the next; with Cut = 1 a message of one
// beat takes two clocks.
// Reset and clear: both drop all state by the next clock.
// Parameters: Cut = 1 is for a high clock: a register takes the message, and what is to be known of
// its lengths. Legal: Lanes 1..16; Cut 0 or 1.
// Security: constant-time (lengths are not secret); no masking.
// Source: SP 800-38D §7.

module mae_gcm_part_sequencer
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter  int unsigned Lanes     = 4,
    parameter  bit          Cut       = 1'b0,
    localparam int unsigned ByteWidth = $clog2(16 * Lanes + 1)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic                       clear_i,
    input  logic                       msg_valid_i,
    output logic                       msg_ready_o,
    input  gcm_parts_t                 msg_i,
    input  logic                       take_i,
    output logic                       open_o,       // a beat is expected
    output bank_t                      bank_o,
    output dir_e                       dir_o,
    output logic                       is_iv_o,
    output logic                       is_data_o,
    output logic                       first_o,      // the first beat that is hashed
    output logic                       part_last_o,
    output logic                       msg_last_o,
    output logic       [ByteWidth-1:0] bytes_o,
    output logic       [ 16*Lanes-1:0] keep_o,       // [i]: byte i of the row belongs to the part
    output block_t                     length_o      // the length block, hashed last
);

  localparam gcm_length_t RowBytes = gcm_length_t'(16 * Lanes);

  typedef enum logic [1:0] {
    PartIv,
    PartAad,
    PartData
  } part_e;

  // The expected beat. left: bytes of the part, this beat included.
  typedef struct packed {
    part_e                part;
    logic                 first;
    logic                 part_last;
    logic                 msg_last;
    gcm_length_t          left;
    logic [ByteWidth-1:0] bytes;
  } beat_t;

  // What is to be known of a message's lengths: which parts are empty, and at most a row long.
  typedef struct packed {
    logic has_iv;
    logic has_aad;
    logic has_data;
    logic iv_is_row;
    logic aad_is_row;
    logic data_is_row;
  } lengths_t;

  function automatic lengths_t lengths(input gcm_length_t iv_length, input gcm_length_t aad_length,
                                       input gcm_length_t data_length);
    lengths = '{
        has_iv: iv_length != '0,
        has_aad: aad_length != '0,
        has_data: data_length != '0,
        iv_is_row: iv_length <= RowBytes,
        aad_is_row: aad_length <= RowBytes,
        data_is_row: data_length <= RowBytes
    };
  endfunction

  logic open_q, msg_valid, msg_ready;
  gcm_parts_t msg, msg_q;
  lengths_t known, known_open;  // of the next message, of the one whose beats come
  beat_t beat_q, beat_begin, beat_next, beat_d;
  logic [16*Lanes-1:0] keep_q, keep_d;

  if (Cut) begin : gen_first
    logic       valid_q;
    gcm_parts_t first_q;
    lengths_t first_known_q, known_q;
    assign msg_ready_o = !valid_q;  // from a register: take_i comes late
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {valid_q, first_q, first_known_q, known_q} <= '0;
      end else if (clear_i) begin
        {valid_q, first_q, first_known_q, known_q} <= '0;
      end else begin
        if (msg_ready && msg_valid) valid_q <= 1'b0;
        if (msg_ready_o && msg_valid_i) begin
          valid_q       <= 1'b1;
          first_q       <= msg_i;
          first_known_q <= lengths(msg_i.iv_bytes, msg_i.aad_bytes, msg_i.data_bytes);
        end
        if (msg_ready && msg_valid) known_q <= known;
      end
    end
    assign msg_valid  = valid_q;
    assign msg        = first_q;
    assign known      = first_known_q;
    assign known_open = known_q;
  end else begin : gen_direct
    assign msg_ready_o = msg_ready;
    assign msg_valid   = msg_valid_i;
    assign msg         = msg_i;
    assign known       = lengths(msg.iv_bytes, msg.aad_bytes, msg.data_bytes);
    assign known_open  = lengths(msg_q.iv_bytes, msg_q.aad_bytes, msg_q.data_bytes);
  end

  // The first beat of a part. Fields of msg that concern the whole message are not used here.
  // verilator lint_off UNUSEDSIGNAL
  function automatic beat_t part_begin(input part_e part, input gcm_parts_t whole,
                                       input lengths_t has);
    // verilator lint_on UNUSEDSIGNAL
    beat_t beat;
    logic  more;  // non-empty parts follow
    beat.part  = part;
    beat.first = 1'b1;
    case (part)
      PartIv: begin
        beat.left      = whole.iv_bytes;
        beat.part_last = has.iv_is_row;
        more           = has.has_aad || has.has_data;
      end
      PartAad: begin
        beat.left      = whole.aad_bytes;
        beat.part_last = has.aad_is_row;
        more           = has.has_data;
      end
      default: begin
        beat.left      = whole.data_bytes;
        beat.part_last = has.data_is_row;
        more           = 1'b0;
      end
    endcase
    beat.msg_last = beat.part_last && !more;
    beat.bytes    = beat.part_last ? ByteWidth'(beat.left) : ByteWidth'(RowBytes);
    return beat;
  endfunction

  always_comb begin
    if (known.has_iv) beat_begin = part_begin(PartIv, msg, known);
    else if (known.has_aad) beat_begin = part_begin(PartAad, msg, known);
    else beat_begin = part_begin(PartData, msg, known);
  end

  // The following beat of the message: of the next part, or the next row of this part.
  always_comb begin
    if (beat_q.part_last) begin
      if (beat_q.part == PartIv && known_open.has_aad) begin
        beat_next = part_begin(PartAad, msg_q, known_open);
      end else begin
        beat_next = part_begin(PartData, msg_q, known_open);
      end
      beat_next.first = beat_q.part == PartIv;
    end else begin
      beat_next = beat_q;
      beat_next.first = 1'b0;
      beat_next.left = beat_q.left - RowBytes;
      beat_next.part_last = beat_q.left <= RowBytes << 1;
      beat_next.msg_last  = beat_next.part_last && (beat_q.part == PartData ||
          (!known_open.has_data && (beat_q.part == PartAad || !known_open.has_aad)));
      beat_next.bytes = beat_next.part_last ? ByteWidth'(beat_next.left) : ByteWidth'(RowBytes);
    end
    beat_d = open_q && !beat_q.msg_last ? beat_next : beat_begin;
    for (int unsigned i = 0; i < 16 * Lanes; i++) keep_d[i] = i < 32'(beat_d.bytes);
  end

  assign msg_ready = !open_q || (take_i && beat_q.msg_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
      msg_q  <= '0;
      beat_q <= '0;
      keep_q <= '0;
    end else if (clear_i) begin
      open_q <= 1'b0;
      msg_q  <= '0;
      beat_q <= '0;
      keep_q <= '0;
    end else begin
      if (take_i || (!open_q && msg_valid)) begin
        beat_q <= beat_d;
        keep_q <= keep_d;
      end
      if (msg_ready) open_q <= msg_valid;
      if (msg_ready && msg_valid) msg_q <= msg;
    end
  end

  assign open_o = open_q;
  assign bank_o = msg_q.bank;
  assign dir_o = msg_q.dir;
  assign is_iv_o = beat_q.part == PartIv;
  assign is_data_o = beat_q.part == PartData;
  assign first_o = beat_q.first;
  assign part_last_o = beat_q.part_last;
  assign msg_last_o = beat_q.msg_last;
  assign bytes_o = beat_q.bytes;
  assign keep_o = keep_q;
  assign length_o    = is_iv_o ? {64'd0, 64'(msg_q.iv_bytes)} << 3 :
      {64'(msg_q.aad_bytes) << 3, 64'(msg_q.data_bytes) << 3};

endmodule
