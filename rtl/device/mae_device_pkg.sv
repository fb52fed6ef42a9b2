// SPDX-License-Identifier: Apache-2.0
//
// mae_device_pkg: defines the error codes, checks of jobs and byte order of keys that all AES
// devices share.

package mae_device_pkg;
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;

  // Errors of register commands; mae_error_e of regs/mae_common.rdl.
  typedef enum logic [7:0] {
    ErrNone       = 8'd0,
    ErrBadOp      = 8'd2,
    ErrBadLength  = 8'd4,
    ErrBadKey     = 8'd5,
    ErrBadTag     = 8'd12,
    ErrOverflow   = 8'd32,
    ErrUnderflow  = 8'd33,
    ErrBusy       = 8'd34,
    ErrBadAddress = 8'd35
  } error_e;

  localparam int unsigned RegAddrWidth = 12;  // the registers of a device take one page of 4 KiB
  // Modes that are not among the mode engine's codes.
  localparam logic [7:0] OpCopy = 8'd7;  // the only mode of the copy card
  localparam logic [7:0] OpGcm = 8'd8;
  localparam logic [7:0] OpCcm = 8'd9;
  localparam logic [7:0] OpCmac = 8'd10;
  localparam logic [63:0] AuthDataMax = 64'hf_ffff_ffe0;  // bytes of a message, SP 800-38D §5.2.1.1

  // A job, from a descriptor or from the peripheral's registers.
  typedef struct packed {
    logic [7:0]  op;
    logic        decrypt;
    logic        init;
    logic [31:0] length;
    logic        key_valid;    // the slots exist and hold keys
    logic        tweak_valid;
    logic        same_slot;    // one slot for both: XTS takes two keys (FIPS 140-3 IG C.I)
  } job_t;

  // A cipher with these directions can do the mode; false for unknown modes.
  function automatic logic mode_possible(input logic [7:0] op, input logic decrypt,
                                         input dirs_e dirs);
    logic inverse;
    if (op > 8'(Xts)) return 1'b0;
    inverse = mode_cipher_dir(mode_e'(op[ModeWidth-1:0]), dir_e'(decrypt)) == Decrypt;
    // The tweak of XTS is encrypted in both directions.
    if (op == 8'(Xts) && !dirs[0]) return 1'b0;
    return inverse ? dirs[1] : dirs[0];
  endfunction

  // Modes that a configuration can do in at least one direction, bit n for mode n.
  function automatic logic [31:0] modes_mask(input dirs_e dirs);
    logic [31:0] mask;
    mask = '0;
    for (int unsigned i = 0; i <= 32'(Xts); i++)
    mask[i] = mode_possible(8'(i), 1'b0, dirs) || mode_possible(8'(i), 1'b1, dirs);
    return mask;
  endfunction

  // Checks a job before any of its data are moved.
  function automatic status_e check_job(input job_t job, input dirs_e dirs);
    mode_e mode;
    mode = mode_e'(job.op[ModeWidth-1:0]);
    if (!mode_possible(job.op, job.decrypt, dirs)) return StatusBadOp;
    if (job.length == '0) return StatusBadLength;
    if (!mode_any_length(mode) && job.length[3:0] != '0) return StatusBadLength;
    if (mode == Xts && job.length < 32'd16) return StatusBadLength;
    if (!job.key_valid) return StatusBadKey;
    if (mode == Xts && job.init && (!job.tweak_valid || job.same_slot)) return StatusBadKey;
    return StatusOk;
  endfunction

  // A job of GCM, CCM or CMAC from the peripheral's registers; the byte counts are those of the
  // message before the job.
  typedef struct packed {
    logic [7:0]  op;
    phase_e      phase;
    logic        decrypt;
    logic        init;
    logic        ends;
    logic [31:0] length;
    logic [4:0]  tag_bytes;
    logic [63:0] aad_bytes;
    logic [63:0] data_bytes;
    logic        key_valid;
  } auth_request_t;

  // Checks such a job before any of its data are moved. All of these modes use the forward cipher
  // only.
  function automatic status_e check_auth(input auth_request_t job, input dirs_e dirs);
    logic cmac, aad, more;
    logic [63:0] so_far;
    logic [64:0] data;
    cmac = job.op == OpCmac;
    aad = cmac || job.phase == PhaseAad;
    more = !job.init;  // the message has begun before
    so_far = aad ? job.aad_bytes : job.data_bytes;
    data = 65'(job.length) + (more ? 65'(job.data_bytes) : '0);
    if (!(job.op inside {OpGcm, OpCcm, OpCmac})) return StatusBadOp;
    if (!mode_possible(8'(Ctr), 1'b0, dirs)) return StatusBadOp;
    if (!(job.phase inside {PhaseData, PhaseAad, PhaseIv})) return StatusBadOp;
    if (job.phase == PhaseIv && (job.op != OpGcm || more || job.ends)) return StatusBadOp;
    if (job.phase == PhaseAad && !cmac && more && job.data_bytes != '0) return StatusBadOp;
    if (job.phase == PhaseIv && job.length == '0) return StatusBadLength;
    if (more && so_far[3:0] != '0 && job.length != '0) return StatusBadLength;
    if (cmac && more && job.ends && so_far != '0 && job.length == '0) return StatusBadLength;
    if (!aad && data > 65'(AuthDataMax)) return StatusBadLength;
    if (job.ends && job.decrypt && job.tag_bytes > 5'd16) return StatusBadLength;
    if (job.ends && job.decrypt && job.tag_bytes < (cmac ? 5'd1 : 5'd4)) return StatusBadLength;
    if (!job.key_valid) return StatusBadKey;
    return StatusOk;
  endfunction

  // Converts eight register words (byte 0 in bits 7:0 of word 0) to a key (byte 0 in bits 255:248).
  function automatic key_t key_of_words(input logic [7:0][31:0] words);
    key_t key;
    for (int unsigned i = 0; i < 32; i++) key[8*(31-i)+:8] = words[i/4][8*(i%4)+:8];
    return key;
  endfunction

endpackage
