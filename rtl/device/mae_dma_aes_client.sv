// SPDX-License-Identifier: Apache-2.0
//
// mae_dma_aes_client: encrypts and decrypts the data rows of mae_dma's jobs, and checks the jobs'
// descriptors.
//
// Fields of the descriptor that it uses: op (mode_e, or GCM), flags decrypt, init and final,
// key_slot, tweak_slot, iv and, for GCM, phase, tag_bytes and nonce. It refuses a job with
// StatusBadOp (mode or direction not supported, an unused field not zero, a GCM message that was
// not begun), StatusBadLength (rules of the mode) or StatusBadKey (slot empty or out of range, or
// one slot for both keys of XTS). If a key is erased during a job, the rest of the job's output is
// 0 and, for GCM, there is no tag.
// row_ready_o is that of mae_mode_engine; cfg_ready_o and cfg_status_o are combinational in the
// descriptor.
// Latency: a refusal takes no clock, an acceptance as long as in mae_mode_engine or
// mae_gcm_interleaved; rows as in mae_mode_engine.
// Throughput: as mae_mode_engine (Lanes blocks a clock if the mode allows it).
// Reset and clear: clear_i, only when no job is in flight; see mae_aes_core.
// Parameters: Legal: as mae_stream_card.
// Security: constant-time for one message (concurrent messages wait for each other); no masking.

module mae_dma_aes_client
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_dma_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter int unsigned KeySlots = 16,
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned RegsPerRound = 1,
    parameter bit Gcm = 1'b1,
    parameter bit Small = 1'b0,
    localparam int unsigned DataWidth = 128 * Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic                      write_valid_i,  // to a key slot
    output logic                      write_ready_o,
    input  key_write_t                write_i,
    output logic       [KeySlots-1:0] slot_valid_o,

    input  logic     cfg_valid_i,
    output logic     cfg_ready_o,
    input  dma_ctx_t cfg_ctx_i,
    input  desc_t    cfg_desc_i,
    output status_e  cfg_status_o,
    output accept_t  cfg_accept_o,
    output logic     report_valid_o,
    output report_t  report_o,

    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] client_room_o,
    input  logic     [  Contexts-1:0] row_waits_i,

    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o
);

  // The slot number of a descriptor may be out of range.
  function automatic logic slot_holds_key(input logic [7:0] slot, input logic [KeySlots-1:0] valid);
    logic holds;
    holds = 1'b0;
    for (int unsigned i = 0; i < KeySlots; i++) holds |= slot == 8'(i) && valid[i];
    return holds;
  endfunction

  localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1;
  localparam int unsigned CoreContexts = Gcm ? Contexts + Lanes : Contexts;

  mode_cfg_t cfg;
  gcm_job_t  gcm;
  logic is_gcm, key_valid, job_ready;
  logic [7:0] plain_flags;
  logic [Contexts-1:0] open;
  desc_t unused_desc;  // addresses, lists and cookie are used by mae_dma

  assign unused_desc = cfg_desc_i;
  assign plain_flags = 8'(1 << FlagDecrypt) | 8'(1 << FlagInit) | 8'(1 << FlagSrcList) |
      8'(1 << FlagDstList) | 8'(1 << FlagIrq);
  assign is_gcm = cfg_desc_i.op == OpGcm;
  assign key_valid = slot_holds_key(cfg_desc_i.key_slot, slot_valid_o);
  assign cfg_ready_o = (cfg_status_o == StatusOk) ? job_ready : cfg_valid_i;
  assign cfg_accept_o.reports = is_gcm;
  assign cfg_accept_o.sinks = is_gcm && cfg_desc_i.phase != 8'(PhaseData);

  // Errors of a GCM job.
  status_e gcm_status;
  logic decrypt, init, ends, is_iv, checks;

  assign decrypt = cfg_desc_i.flags[FlagDecrypt];
  assign init = cfg_desc_i.flags[FlagInit];
  assign ends = cfg_desc_i.flags[FlagFinal];
  assign is_iv = cfg_desc_i.phase == 8'(PhaseIv);
  assign checks = ends && decrypt;

  always_comb begin
    gcm_status = key_valid ? StatusOk : StatusBadKey;
    if (is_iv && cfg_desc_i.length == '0) gcm_status = StatusBadLength;
    if (checks && !(cfg_desc_i.tag_bytes inside {[8'd4 : 8'd16]})) gcm_status = StatusBadLength;
    if (!checks && {cfg_desc_i.tag_bytes, cfg_desc_i.iv} != '0) gcm_status = StatusBadOp;
    if ((!init || is_iv) && cfg_desc_i.nonce != '0) gcm_status = StatusBadOp;
    if (!init && !open[IndexWidth'(cfg_ctx_i)]) gcm_status = StatusBadOp;
    if (is_iv && (!init || ends)) gcm_status = StatusBadOp;
    if (cfg_desc_i.phase > 8'(PhaseIv) || cfg_desc_i.tweak_slot != '0) gcm_status = StatusBadOp;
    if (!Gcm || !Dirs[0]) gcm_status = StatusBadOp;
  end

  always_comb begin
    cfg_status_o = check_job(
      '{
          op: cfg_desc_i.op,
          decrypt: decrypt,
          init: init,
          length: cfg_desc_i.length,
          key_valid: key_valid,
          tweak_valid: slot_holds_key(cfg_desc_i.tweak_slot, slot_valid_o),
          same_slot: cfg_desc_i.key_slot == cfg_desc_i.tweak_slot
      },
      Dirs
    );
    if ((cfg_desc_i.flags & ~plain_flags) != '0 ||
        {cfg_desc_i.nonce, cfg_desc_i.phase, cfg_desc_i.tag_bytes} != '0) begin
      cfg_status_o = StatusBadOp;
    end
    if (is_gcm) cfg_status_o = gcm_status;

    cfg.mode = mode_e'(cfg_desc_i.op[ModeWidth-1:0]);
    cfg.dir = dir_e'(decrypt);
    cfg.init = init;
    cfg.serial = cfg.mode == Xts && cfg_desc_i.length[3:0] != '0;  // ciphertext stealing
    cfg.key_slot = key_slot_t'(cfg_desc_i.key_slot);
    cfg.tweak_slot = key_slot_t'(cfg_desc_i.tweak_slot);
    cfg.iv = mae_bytes_pkg::swap_block(cfg_desc_i.iv);

    gcm = '{
        phase: phase_e'(cfg_desc_i.phase[1:0]),
        dir: dir_e'(decrypt),
        init: init,
        ends: ends,
        key_slot: key_slot_t'(cfg_desc_i.key_slot),
        nonce: '0,
        tag: mae_bytes_pkg::swap_block(cfg_desc_i.iv),
        tag_bytes: cfg_desc_i.tag_bytes[4:0],
        length: cfg_desc_i.length
    };
    for (int unsigned i = 0; i < 12; i++) gcm.nonce[8*(11-i)+:8] = cfg_desc_i.nonce[8*i+:8];
  end

  block_t [Lanes-1:0] in_data, out_data;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      in_data[i] = mae_bytes_pkg::swap_block(row_data_i[128*i+:128]);
      row_data_o[128*i+:128] = mae_bytes_pkg::swap_block(out_data[i]);
    end
  end

  // Rows: through the core and, for GCM, the hash beside it.
  logic core_cfg_valid, core_cfg_ready, core_row_valid, core_row_ready, core_row_last;
  logic core_out_valid, core_out_ready, core_out_last, core_key_lost, core_wiping, gcm_wiping;
  ctx_t core_cfg_ctx, core_row_ctx, core_out_ctx;
  mode_cfg_t core_cfg;
  logic [CoreContexts-1:0] core_room;
  key_slot_t hash_key_slot;
  cipher_key_t hash_key;
  block_t [Lanes-1:0] core_row_data, core_out_data;
  logic [BytesWidth-1:0] core_row_bytes, core_out_bytes;

  assign wiping_o = core_wiping || gcm_wiping;

  if (Gcm) begin : gen_gcm
    gcm_report_t report;

    mae_gcm_interleaved #(
        .Lanes   (Lanes),
        .Contexts(Contexts),
        .KeySlots(KeySlots),
        .MaxKeyLen(MaxKeyLen),
        .Sbox(Sbox),
        .Small(Small)
    ) u_gcm (
        .clk_i,
        .rst_ni,
        .clear_i,
        .wiping_o           (gcm_wiping),
        .key_changed_i      (write_valid_i && write_ready_o),
        .key_changed_erase_i(write_i.erase),
        .key_changed_slot_i (write_i.slot),
        .hash_key_slot_o    (hash_key_slot),
        .hash_key_i         (hash_key),
        .job_valid_i        (cfg_valid_i && cfg_status_o == StatusOk),
        .job_ready_o        (job_ready),
        .job_ctx_i          (cfg_ctx_i),
        .job_is_gcm_i       (is_gcm),
        .job_cfg_i          (cfg),
        .job_gcm_i          (gcm),
        .open_o             (open),
        .report_valid_o,
        .report_ctx_o       (report_o.ctx),
        .report_o           (report),
        .row_valid_i,
        .row_ready_o,
        .row_ctx_i,
        .row_data_i         (in_data),
        .row_bytes_i,
        .row_last_i,
        .room_o             (client_room_o),
        .out_valid_o        (row_valid_o),
        .out_ready_i        (row_ready_i),
        .out_ctx_o          (row_ctx_o),
        .out_data_o         (out_data),
        .out_bytes_o        (row_bytes_o),
        .out_last_o         (row_last_o),
        .core_cfg_valid_o   (core_cfg_valid),
        .core_cfg_ready_i   (core_cfg_ready),
        .core_cfg_ctx_o     (core_cfg_ctx),
        .core_cfg_o         (core_cfg),
        .core_room_i        (core_room),
        .core_row_valid_o   (core_row_valid),
        .core_row_ready_i   (core_row_ready),
        .core_row_ctx_o     (core_row_ctx),
        .core_row_data_o    (core_row_data),
        .core_row_bytes_o   (core_row_bytes),
        .core_row_last_o    (core_row_last),
        .core_out_valid_i   (core_out_valid),
        .core_out_ready_o   (core_out_ready),
        .core_out_ctx_i     (core_out_ctx),
        .core_out_data_i    (core_out_data),
        .core_out_bytes_i   (core_out_bytes),
        .core_out_last_i    (core_out_last),
        .core_out_key_lost_i(core_key_lost)
    );

    assign report_o.tag = mae_bytes_pkg::swap_block(report.tag);
    assign report_o.status = report.bad_tag ? StatusBadTag :
        (report.key_lost ? StatusBadKey : StatusOk);
  end else begin : gen_plain
    assign gcm_wiping     = 1'b0;
    assign hash_key_slot  = '0;
    assign open           = '0;
    assign report_valid_o = 1'b0;
    assign report_o       = '0;
    assign job_ready      = core_cfg_ready;
    assign core_cfg_valid = cfg_valid_i && cfg_status_o == StatusOk;
    assign core_cfg_ctx   = cfg_ctx_i;
    assign core_cfg       = cfg;
    assign client_room_o  = core_room;
    assign core_row_valid = row_valid_i;
    assign row_ready_o    = core_row_ready;
    assign core_row_ctx   = row_ctx_i;
    assign core_row_data  = in_data;
    assign core_row_bytes = row_bytes_i;
    assign core_row_last  = row_last_i;
    assign row_valid_o    = core_out_valid;
    assign core_out_ready = row_ready_i;
    assign row_ctx_o      = core_out_ctx;
    assign out_data       = core_out_data;
    assign row_bytes_o    = core_out_bytes;
    assign row_last_o     = core_out_last;

    logic unused;
    assign unused = ^{core_key_lost, gcm, hash_key};
  end

  mae_aes_core #(
      .Lanes       (Lanes),
      .Contexts    (CoreContexts),
      .Iterative   (1'b0),
      .KeySlots    (KeySlots),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound),
      .Small       (Small)
  ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .wiping_o      (core_wiping),
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .slot_valid_o,
      .want_valid_i  (1'b0),
      .want_slot_i   ('0),
      .look_slot_i   (hash_key_slot),
      .look_key_o    (hash_key),
      .cfg_valid_i   (core_cfg_valid),
      .cfg_ready_o   (core_cfg_ready),
      .cfg_ctx_i     (core_cfg_ctx),
      .cfg_i         (core_cfg),
      .room_o        (core_room),
      .waits_i       ({{(CoreContexts - Contexts) {1'b1}}, row_waits_i}),
      .row_valid_i   (core_row_valid),
      .row_ready_o   (core_row_ready),
      .row_ctx_i     (core_row_ctx),
      .row_data_i    (core_row_data),
      .row_bytes_i   (core_row_bytes),
      .row_last_i    (core_row_last),
      .out_valid_o   (core_out_valid),
      .out_ready_i   (core_out_ready),
      .out_ctx_o     (core_out_ctx),
      .out_data_o    (core_out_data),
      .out_bytes_o   (core_out_bytes),
      .out_last_o    (core_out_last),
      .out_key_lost_o(core_key_lost)
  );

endmodule
