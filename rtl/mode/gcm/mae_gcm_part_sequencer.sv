// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_part_sequencer: determines if a beat of a GCM message is IV, AAD or data, and how many
// bytes it has.
//
// Offer a message at msg_* only if it has a beat. All outputs about a beat come from registers:
// they are computed one beat ahead. open_o: a beat is expected; take_i: it is accepted.
// Latency: the first beat of a message is expected (open_o) in the clock after msg_*; the next
// message in the clock after the last beat.
// Throughput: one beat a clock, also from one message to the next.
// Reset and clear: both drop all state by the next clock.
// Parameters: Legal: Lanes 1..16.
// Security: constant-time (lengths are not secret); no masking.
// Source: SP 800-38D §7.

module mae_gcm_part_sequencer
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter  int unsigned Lanes     = 4,
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

  logic open_q;
  gcm_parts_t msg_q;
  beat_t beat_q, beat_begin, beat_next, beat_d;
  logic [16*Lanes-1:0] keep_q, keep_d;

  // The first beat of a part. Fields of msg that concern the whole message are not used here.
  // verilator lint_off UNUSEDSIGNAL
  function automatic beat_t part_begin(input part_e part, input gcm_parts_t msg);
    // verilator lint_on UNUSEDSIGNAL
    beat_t beat;
    logic  more;  // non-empty parts follow
    beat.part  = part;
    beat.first = 1'b1;
    case (part)
      PartIv: begin
        beat.left = msg.iv_bytes;
        more      = msg.aad_bytes != '0 || msg.data_bytes != '0;
      end
      PartAad: begin
        beat.left = msg.aad_bytes;
        more      = msg.data_bytes != '0;
      end
      default: begin
        beat.left = msg.data_bytes;
        more      = 1'b0;
      end
    endcase
    beat.part_last = beat.left <= RowBytes;
    beat.msg_last  = beat.part_last && !more;
    beat.bytes     = beat.part_last ? ByteWidth'(beat.left) : ByteWidth'(RowBytes);
    return beat;
  endfunction

  always_comb begin
    if (msg_i.iv_bytes != '0) beat_begin = part_begin(PartIv, msg_i);
    else if (msg_i.aad_bytes != '0) beat_begin = part_begin(PartAad, msg_i);
    else beat_begin = part_begin(PartData, msg_i);
  end

  // The following beat of the message: of the next part, or the next row of this part.
  always_comb begin
    if (beat_q.part_last) begin
      if (beat_q.part == PartIv && msg_q.aad_bytes != '0) beat_next = part_begin(PartAad, msg_q);
      else beat_next = part_begin(PartData, msg_q);
      beat_next.first = beat_q.part == PartIv;
    end else begin
      beat_next = beat_q;
      beat_next.first = 1'b0;
      beat_next.left = beat_q.left - RowBytes;
      beat_next.part_last = beat_q.left <= RowBytes << 1;
      beat_next.msg_last  = beat_next.part_last && (beat_q.part == PartData ||
          (msg_q.data_bytes == '0 && (beat_q.part == PartAad || msg_q.aad_bytes == '0)));
      beat_next.bytes = beat_next.part_last ? ByteWidth'(beat_next.left) : ByteWidth'(RowBytes);
    end
    beat_d = open_q && !beat_q.msg_last ? beat_next : beat_begin;
    for (int unsigned i = 0; i < 16 * Lanes; i++) keep_d[i] = i < 32'(beat_d.bytes);
  end

  assign msg_ready_o = !open_q || (take_i && beat_q.msg_last);

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
      if (take_i || (!open_q && msg_valid_i)) begin
        beat_q <= beat_d;
        keep_q <= keep_d;
      end
      if (msg_ready_o) open_q <= msg_valid_i;
      if (msg_ready_o && msg_valid_i) msg_q <= msg_i;
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
