// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_pkg: what both ends of the protected channel know (docs/protocol.md).

package mae_guard_pkg;

  // Whose key: the class is part of every IV, header and key derivation.
  typedef enum logic [7:0] {
    ClassRequest  = 8'd1,
    ClassResponse = 8'd2,
    ClassDmaIn    = 8'd3,
    ClassDmaOut   = 8'd4
  } class_e;

  typedef logic [31:0] epoch_t;

  // What a session begins with. Byte 0 of each value is in its top byte.
  typedef struct packed {
    logic [255:0] secret;
    logic [127:0] session_id;
    logic [255:0] host_nonce;
    logic [255:0] device_nonce;
    logic [63:0]  capabilities;
  } session_t;

  // A key of a class in an epoch, and the mask of its IVs.
  typedef struct packed {
    logic [255:0] key;
    logic [95:0]  mask;
  } class_key_t;

  // Who speaks, and which number it is: all that a receiver knows of a message before it comes.
  typedef struct packed {
    logic [7:0]  queue_index;
    epoch_t      epoch;
    logic [63:0] sequence_number;
  } place_t;

  localparam logic [7:0] Version = 8'd1;

  // The header of a message or chunk: the first 16 bytes of its AAD (H4).
  function automatic logic [127:0] header_of(input class_e class_code, input logic [7:0] kind,
                                             input place_t place);
    return {Version, class_code, place.queue_index, kind, place.epoch, place.sequence_number};
  endfunction

  // Its IV (H2): mask ^ (class || queue || 0000 || sequence).
  function automatic logic [95:0] iv_of(input logic [95:0] mask, input class_e class_code,
                                        input place_t place);
    return mask ^ {class_code, place.queue_index, 16'h0, place.sequence_number};
  endfunction

  localparam logic [63:0] BlocksPerKey = 64'd24_296_003_999;  // 2^34.5 (H12)
  localparam logic [71:0] Label = "maeslant1";

endpackage
