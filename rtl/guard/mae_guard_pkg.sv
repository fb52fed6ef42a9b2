// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_pkg: defines the constants and types of the protected channel (docs/protocol.md).

package mae_guard_pkg;

  // Message classes, one key each: the class is part of every IV, header and key derivation.
  typedef enum logic [7:0] {
    ClassRequest  = 8'd1,
    ClassResponse = 8'd2,
    ClassDmaIn    = 8'd3,
    ClassDmaOut   = 8'd4
  } class_e;

  typedef logic [31:0] epoch_t;

  // Inputs of a session. Byte 0 of each value is in its most significant byte.
  typedef struct packed {
    logic [255:0] secret;
    logic [127:0] session_id;
    logic [255:0] host_nonce;
    logic [255:0] device_nonce;
    logic [63:0]  capabilities;
  } session_t;

  // Key of a class in an epoch, and the mask of its IVs.
  typedef struct packed {
    logic [255:0] key;
    logic [95:0]  mask;
  } class_key_t;

  // Queue, epoch and sequence number: all that a receiver knows of a message before it arrives.
  typedef struct packed {
    logic [7:0]  queue_index;
    epoch_t      epoch;
    logic [63:0] sequence_number;
  } place_t;

  localparam logic [7:0] Version = 8'd1;

  // Header of a message or chunk: the first 16 bytes of its AAD (docs/protocol.md, section 3).
  function automatic logic [127:0] header_of(input class_e class_code, input logic [7:0] kind,
                                             input place_t place);
    return {Version, class_code, place.queue_index, kind, place.epoch, place.sequence_number};
  endfunction

  // IV of a message: mask ^ (class || queue || 0000 || sequence) (docs/protocol.md, section 2).
  function automatic logic [95:0] iv_of(input logic [95:0] mask, input class_e class_code,
                                        input place_t place);
    return mask ^ {class_code, place.queue_index, 16'h0, place.sequence_number};
  endfunction

  // 2^34.5 (docs/protocol.md, section 9)
  localparam logic [63:0] BlocksPerKey = 64'd24_296_003_999;
  localparam logic [71:0] Label = "maeslant1";

  // Kinds of requests (docs/protocol.md, section 1).
  localparam logic [7:0] KindOpen = 8'd1;
  localparam logic [7:0] KindBatch = 8'd2;
  localparam logic [7:0] KindH2d = 8'd3;
  localparam logic [7:0] KindD2h = 8'd4;
  localparam logic [7:0] KindRekey = 8'd5;
  localparam logic [7:0] KindSkip = 8'd6;
  localparam logic [7:0] KindClose = 8'd7;

  localparam logic [7:0] OpRead = 8'd1;
  localparam logic [7:0] OpWrite = 8'd2;
  localparam logic [7:0] OpWait = 8'd3;

  // Authenticated result of a request (docs/protocol.md, section 3).
  typedef enum logic [15:0] {
    StatusNone      = 16'd0,
    StatusOk        = 16'd1,
    StatusState     = 16'd2,
    StatusKind      = 16'd3,
    StatusLength    = 16'd4,
    StatusBody      = 16'd5,
    StatusOperation = 16'd6,
    StatusOffset    = 16'd7,
    StatusWait      = 16'd8,
    StatusRange     = 16'd9,
    StatusOrder     = 16'd10,
    StatusRegion    = 16'd11,
    StatusAfter     = 16'd12,
    StatusAborted   = 16'd13,
    StatusEpoch     = 16'd14,
    StatusLimit     = 16'd15
  } status_e;

  typedef enum logic [2:0] {
    StateReset = 3'd0,
    StateScrub = 3'd1,
    StateIdle  = 3'd2,
    StateKeyed = 3'd3,
    StateRun   = 3'd4,
    StateError = 3'd5,
    StateDead  = 3'd6
  } state_e;

  // Reason for the end of a session; not authenticated.
  typedef enum logic [7:0] {
    CauseNone     = 8'd0,
    CauseTag      = 8'd1,
    CauseChunk    = 8'd2,
    CauseBeat     = 8'd3,
    CauseAccess   = 8'd4,
    CauseBudget   = 8'd5,
    CauseDoorbell = 8'd6
  } cause_e;

  typedef struct packed {
    cause_e      cause;
    logic [7:0]  queue_index;
    logic [63:0] sequence_number;
  } fatal_t;

  // Operation of a batch, as in the body, and its register access.
  typedef struct packed {
    logic [7:0]  op;
    logic [7:0]  log2_width;
    logic [15:0] zero;
    logic [31:0] offset;
    logic [63:0] data;
  } operation_t;

  // Body of H2D and D2H requests.
  typedef struct packed {
    logic [63:0]  address;
    logic [31:0]  length;
    logic [31:0]  index;
    logic [63:0]  base;
    logic [63:0]  total;
    logic [63:0]  host;
    logic [63:0]  after;
    logic [127:0] tag;
  } transfer_t;

  // Response to be sealed. A BATCH has words (8 bytes for each READ), of which the first words_done
  // were read; a D2H has a tag.
  typedef struct packed {
    place_t       place;
    logic [7:0]   kind;
    status_e      status;
    logic [15:0]  executed;
    logic [63:0]  value;
    logic [6:0]   words;
    logic [6:0]   words_done;
    logic [127:0] tag;
  } answer_t;

  // Response that is in host memory, with its number.
  typedef struct packed {
    place_t place;
    logic   passed;  // OK, and not the response to a SKIP
  } answered_t;

  // Chunk whose transfer starts.
  typedef struct packed {
    place_t       place;
    logic         first;
    logic         last;
    logic [63:0]  address;
    logic [31:0]  length;
    logic [31:0]  index;
    logic [63:0]  base;
    logic [63:0]  total;
    logic [63:0]  host;
    logic [127:0] tag;      // H2D: expected tag
  } chunk_t;

  // Result of a chunk. A D2H chunk has its tag.
  typedef struct packed {
    logic         beat_error;
    logic         tag_ok;
    logic [127:0] tag;
  } moved_t;

endpackage
