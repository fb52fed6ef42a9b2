// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral_core: encrypts and decrypts blocks in every mode, with write-only key slots,
// controlled by registers behind AXI4-Lite.
//
// Blocks come through registers (Kale et al., section 2; the push model of Fernando et al.) or, with Memory
// = 1, through a port for a unit that moves them from and to a memory (mae_memory_job_pkg).
// Registers: regs/mae_peripheral.rdl. One job at a time. memory_error_i answers
// memory_job_o in its clock. Auth = 1 adds GCM, CCM and CMAC (mae_auth_mode_unit), if the cipher
// can encrypt.
//
// ctrl.wipe erases keys, chain values, H and data within 420 clocks of its acceptance, whatever the
// core is doing and although the bus takes no response: a read that waits for a result ends in 255
// clocks, and only the word that R offers stays until it is taken. A write is executed while there
// is room for its response: at most one write response may be pending before that of the wipe. With
// Memory = 1 the unit that moves the blocks erases its own data (memory_o.clear).
// Latency: 10, 12 or 14 clocks a block in the cipher. A register access takes 2 clocks on an idle
// bus (a read 3, with its response); see mae_block_registers.
// Throughput: one block in 10, 12 or 14 clocks. Through registers a block takes four writes and
// four reads; up to Depth blocks are in progress.
// Parameters: Legal: KeySlots 1..64; KeyBanks 1..4 (with 2, XTS never reloads a key); Depth 1..15;
// Digit a power of 2, 1..64 (with 16, GHASH is as fast as the cipher); Memory 0, or 1 with Auth and
// a cipher that encrypts.
// Security: constant-time: all clock counts depend on mode, key length and bus only; no masking.

`include "mae_assert.svh"

module mae_peripheral_core
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
#(
    parameter int unsigned KeySlots = 4,
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned Depth = 4,
    parameter bit Auth = 1'b1,
    parameter int unsigned Digit = 16,
    parameter bit Memory = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,

    output logic irq_o,

    output memory_job_t memory_job_o,    // from the registers, at any time
    input  error_e      memory_error_i,  // error of its addresses
    output memory_out_t memory_o,
    input  memory_in_t  memory_i
);
  `MAE_PARAM(MemoryLegal, !Memory || (Auth && Dirs[0]))

  localparam bit HasAuth = Auth && Dirs[0];

  mae_peripheral_regs_pkg::mae_peripheral__in_t  from_hw;
  mae_peripheral_regs_pkg::mae_peripheral__out_t from_sw;

  logic req, req_is_wr, rd_ack, rd_err, wr_ack, wr_err;
  logic [ 1:0] unused_stall;
  logic [11:0] reg_addr;
  logic [31:0] rd_data, wr_data, wr_biten;

  mae_axil_regblock_adapter u_axil (
      .clk_i,
      .rst_ni,
      .req_o      (req),
      .req_is_wr_o(req_is_wr),
      .addr_o     (reg_addr),
      .wr_data_o  (wr_data),
      .wr_biten_o (wr_biten),
      .rd_ack_i   (rd_ack),
      .rd_err_i   (rd_err),
      .rd_data_i  (rd_data),
      .wr_ack_i   (wr_ack),
      .wr_err_i   (wr_err),
      .*
  );

  mae_peripheral_regs u_regs (
      .clk                 (clk_i),
      .arst_n              (rst_ni),
      .s_cpuif_req         (req),
      .s_cpuif_req_is_wr   (req_is_wr),
      .s_cpuif_addr        (reg_addr),
      .s_cpuif_wr_data     (wr_data),
      .s_cpuif_wr_biten    (wr_biten),
      .s_cpuif_req_stall_wr(unused_stall[0]),  // one request at a time
      .s_cpuif_req_stall_rd(unused_stall[1]),
      .s_cpuif_rd_ack      (rd_ack),
      .s_cpuif_rd_err      (rd_err),
      .s_cpuif_rd_data     (rd_data),
      .s_cpuif_wr_ack      (wr_ack),
      .s_cpuif_wr_err      (wr_err),
      .hwif_in             (from_hw),
      .hwif_out            (from_sw)
  );

  logic clear, walking, wiping, zeroing, cfg_ready;

  assign clear   = from_sw.ctrl.wipe.value;
  assign wiping  = clear || walking;
  assign zeroing = wiping || !cfg_ready;  // or the core's own erasure, 64 clocks after reset

  // Keys.
  logic [KeySlots-1:0] slot_valid;
  logic [63:0] slots;  // padded to the width of the register
  logic key_write_valid, key_write_ready, key_clear, key_busy;
  logic   [7:0][31:0] key_words;
  error_e             key_error;
  key_write_t window_write, key_write;
  logic window_valid, window_ready;

  always_comb for (int unsigned i = 0; i < 8; i++) key_words[i] = from_sw.key[i].word.value;
  assign slots = 64'(slot_valid);

  mae_key_registers #(
      .KeySlots (KeySlots),
      .MaxKeyLen(MaxKeyLen)
  ) u_window (
      .clk_i,
      .rst_ni,
      .clear_i      (clear),
      .closed_i     (wiping),
      .go_i         (from_sw.key_cmd.go.value),
      .slot_i       (from_sw.key_cmd.slot.value),
      .len_i        (from_sw.key_cmd.len.value),
      .erase_i      (from_sw.key_cmd.op.value),
      .words_i      (key_words),
      .clear_o      (key_clear),
      .busy_o       (key_busy),
      .error_o      (key_error),
      .write_valid_o(window_valid),
      .write_ready_i(window_ready),
      .write_o      (window_write)
  );

  // The keys of a job wait for the key window.
  assign key_write_valid = window_valid || memory_i.key_valid;
  assign key_write = window_valid ? window_write : memory_i.key;
  assign window_ready = key_write_ready;

  // The job: checked at its start, then offered to the engine, busy until its last result.
  logic start, start_ok, busy_q, job_ready, done, job_done;
  logic quiet, memory, memory_q, unit_start;
  auth_state_t state, state_next;
  auth_write_t state_write;
  auth_job_t job, unit_job;
  error_e verdict;

  mae_peripheral_job_check #(
      .KeySlots (KeySlots),
      .Dirs     (Dirs),
      .MaxKeyLen(MaxKeyLen),
      .Auth     (HasAuth),
      .Memory   (Memory)
  ) u_job (
      .regs_i  (from_sw),
      .slots_i (slots),
      .job_o   (job),
      .state_o (state),
      .quiet_o (quiet),
      .memory_o(memory),
      .memory_job_o,
      .memory_error_i,
      .error_o (verdict)
  );

  // A memory job with a key for each block: its parts are jobs for the engine.
  always_comb begin
    unit_job = job;
    if (memory_i.part_valid) begin
      unit_job.auth = AuthNone;
      unit_job.cfg  = memory_i.part;
    end
  end

  // The core accepts a job in the clock of its start, before one of its registers can change.
  assign start = from_sw.ctrl.start.value;
  assign start_ok = start && !busy_q && !zeroing && verdict == ErrNone;
  assign unit_start = (start_ok && !from_sw.ctrl.key_each.value) ||
      (memory_i.part_valid && job_ready);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      memory_q <= 1'b0;
    end else if (clear) begin
      busy_q   <= 1'b0;
      memory_q <= 1'b0;
    end else if (start_ok) begin
      busy_q   <= 1'b1;
      memory_q <= memory;
    end else if (job_done) begin
      busy_q   <= 1'b0;
      memory_q <= 1'b0;
    end
  end

  // Blocks in and out.
  logic [3:0] write_req, write_ack, read_req, read_ack, room, answers;
  logic [31:0] write_data, read_data;
  logic overflow, underflow;
  logic in_valid, in_ready, out_valid, port_valid;
  logic [127:0] in_data;
  auth_row_t in_row, port_row, out_row;

  logic unused_last;
  assign unused_last = out_row.last;
  assign port_row.data = mae_bytes_pkg::swap_block(in_data);
  assign in_valid = memory_q ? memory_i.in_valid : port_valid;
  assign in_row = memory_q ? memory_i.in_row : port_row;

  always_comb begin
    write_data = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      write_req[i] = from_sw.data_in[i].req && from_sw.data_in[i].req_is_wr;
      read_req[i]  = from_sw.data_out[i].req && !from_sw.data_out[i].req_is_wr;
      if (write_req[i]) write_data |= from_sw.data_in[i].wr_data & from_sw.data_in[i].wr_biten;
    end
  end

  mae_block_registers #(
      .Depth(Depth)
  ) u_port (
      .clk_i,
      .rst_ni,
      .clear_i     (clear),
      .start_i     (start_ok && !memory),
      .length_i    (from_sw.length.bytes.value),
      .quiet_i     (quiet),
      .write_req_i (write_req),
      .write_data_i(write_data),
      .write_ack_o (write_ack),
      .read_req_i  (read_req),
      .read_ack_o  (read_ack),
      .read_data_o (read_data),
      .room_o      (room),
      .answers_o   (answers),
      .overflow_o  (overflow),
      .underflow_o (underflow),
      .in_valid_o  (port_valid),
      .in_ready_i  (in_ready && !memory_q),
      .in_data_o   (in_data),
      .in_bytes_o  (port_row.bytes),
      .in_last_o   (port_row.last),
      .out_valid_i (out_valid && !memory_q),
      .out_data_i  (mae_bytes_pkg::swap_block(out_row.data)),
      .out_bytes_i (out_row.bytes)
  );

  // The core, and before it the unit that computes tags.
  logic cfg_valid, row_valid, row_ready, rsp_valid, rsp_lost;
  logic bad_tag, bad_key, tag_valid;
  ctx_t cfg_ctx, row_ctx, rsp_ctx;
  mode_cfg_t cfg;
  auth_row_t row, rsp_row;
  block_t tag;

  if (HasAuth) begin : gen_auth
    mae_auth_mode_unit #(
        .Digit(Digit)
    ) u_auth (
        .clk_i,
        .rst_ni,
        .clear_i       (clear),
        .job_valid_i   (unit_start),
        .job_ready_o   (job_ready),
        .job_i         (unit_job),
        .state_i       (state),
        .state_write_o (state_write),
        .state_o       (state_next),
        .key_changed_i (key_write_valid && key_write_ready),
        .key_slot_i    (key_write.slot),
        .done_o        (done),
        .bad_tag_o     (bad_tag),
        .bad_key_o     (bad_key),
        .tag_valid_o   (tag_valid),
        .tag_o         (tag),
        .in_valid_i    (in_valid),
        .in_ready_o    (in_ready),
        .in_row_i      (in_row),
        .out_valid_o   (out_valid),
        .out_row_o     (out_row),
        .single_valid_i(memory_i.single_valid),
        .single_slot_i (memory_i.single.slot),
        .single_dir_i  (memory_i.single.dir),
        .single_i      (memory_i.single.data),
        .single_taken_o(memory_o.single_taken),
        .single_done_o (memory_o.single_done),
        .cfg_valid_o   (cfg_valid),
        .cfg_ready_i   (cfg_ready),
        .cfg_ctx_o     (cfg_ctx),
        .cfg_o         (cfg),
        .row_valid_o   (row_valid),
        .row_ready_i   (row_ready),
        .row_ctx_o     (row_ctx),
        .row_o         (row),
        .rsp_valid_i   (rsp_valid),
        .rsp_ctx_i     (rsp_ctx),
        .rsp_row_i     (rsp_row),
        .rsp_lost_i    (rsp_lost)
    );
  end else begin : gen_plain
    assign cfg_valid             = start_ok;
    assign job_ready             = cfg_ready;
    assign cfg_ctx               = '0;
    assign cfg                   = job.cfg;
    assign row_valid             = in_valid;
    assign in_ready              = row_ready;
    assign row_ctx               = '0;
    assign row                   = in_row;
    assign out_valid             = rsp_valid;
    assign out_row               = rsp_row;
    assign done                  = rsp_valid && rsp_row.last;
    assign bad_key               = rsp_valid && rsp_lost;
    assign bad_tag               = 1'b0;
    assign tag_valid             = 1'b0;
    assign tag                   = '0;
    assign state_write           = '0;
    assign state_next            = '0;

    assign memory_o.single_taken = 1'b0;
    assign memory_o.single_done  = 1'b0;

    logic unused;
    assign unused = ^{unit_job, unit_start, state, rsp_ctx};
  end

  // A result that was ready in the clock of a wipe is still visible in the next clock.
  logic core_valid;
  assign rsp_valid           = core_valid && !walking;

  // Signals for the unit that moves the blocks of a job.
  assign memory_o.start      = start_ok && memory;
  assign memory_o.clear      = clear;
  assign memory_o.part_ready = job_ready;
  assign memory_o.key_ready  = key_write_ready && !window_valid;
  assign memory_o.in_ready   = in_ready && memory_q;
  assign memory_o.out_valid  = out_valid && memory_q;
  assign memory_o.out_row    = out_row;
  assign memory_o.ended      = done && memory_q;
  assign memory_o.bad_tag    = bad_tag;
  assign memory_o.single     = rsp_row.data;
  assign job_done            = memory_q ? memory_i.done : done;

  mae_aes_pkg::cipher_key_t unused_look;
  logic [HasAuth:0] unused_room;  // not needed: no row waits for another context

  mae_aes_core #(
      .Lanes       (1),
      .Contexts    (HasAuth ? 2 : 1),
      .Iterative   (1'b1),
      .KeySlots    (KeySlots),
      .KeyBanks    (KeyBanks),
      .MinResidence(1),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox)
  ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .wiping_o      (walking),
      .write_valid_i (key_write_valid),
      .write_ready_o (key_write_ready),
      .write_i       (key_write),
      .slot_valid_o  (slot_valid),
      .want_valid_i  (memory_i.want_valid),
      .want_slot_i   (memory_i.want_slot),
      .look_slot_i   ('0),
      .look_key_o    (unused_look),
      .cfg_valid_i   (cfg_valid),
      .cfg_ready_o   (cfg_ready),
      .cfg_ctx_i     (cfg_ctx),
      .cfg_i         (cfg),
      .room_o        (unused_room),
      .waits_i       ('1),
      .row_valid_i   (row_valid),
      .row_ready_o   (row_ready),
      .row_ctx_i     (row_ctx),
      .row_data_i    (row.data),
      .row_bytes_i   (row.bytes),
      .row_last_i    (row.last),
      .out_valid_o   (core_valid),
      .out_ready_i   (1'b1),
      .out_ctx_o     (rsp_ctx),
      .out_data_o    (rsp_row.data),
      .out_bytes_o   (rsp_row.bytes),
      .out_last_o    (rsp_row.last),
      .out_key_lost_o(rsp_lost)
  );

  // Errors: the first one is kept until the interrupt bit is cleared.
  error_e error_q, error_now;

  always_comb begin
    error_now = ErrNone;
    if (start && (busy_q || zeroing)) error_now = ErrBusy;
    else if (start) error_now = verdict;
    else if (overflow) error_now = ErrOverflow;
    else if (underflow) error_now = ErrUnderflow;
    else if (bad_key) error_now = ErrBadKey;
    else if (bad_tag) error_now = ErrBadTag;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) error_q <= ErrNone;
    else if (error_now != ErrNone && !from_sw.irq_status.error.value) error_q <= error_now;
  end

  // Values that the host reads.
  always_comb begin
    from_hw.caps.lanes.next = '0;
    from_hw.caps.key_slots.next = 8'(KeySlots);
    from_hw.caps.contexts.next = 9'd1;
    from_hw.caps.key_banks.next = 3'(KeyBanks);
    from_hw.features.aes128.next = 1'b1;
    from_hw.features.aes192.next = MaxKeyLen != Aes128;
    from_hw.features.aes256.next = MaxKeyLen == Aes256;
    from_hw.features.encrypt.next = Dirs[0];
    from_hw.features.decrypt.next = Dirs[1];
    from_hw.features.sbox.next = 4'(Sbox);
    from_hw.features.regs_per_round.next = '0;
    from_hw.features.memory.next = Memory;
    from_hw.modes.mask.next = modes_mask(Dirs);
    if (HasAuth) from_hw.modes.mask.next |= (32'd1 << OpGcm) | (32'd1 << OpCcm) | (32'd1 << OpCmac);
    from_hw.status.in_ready.next = room != '0;
    from_hw.status.out_valid.next = answers != '0;
    from_hw.status.busy.next = busy_q || start;
    from_hw.status.wiping.next = zeroing;
    from_hw.status.room.next = room;
    from_hw.status.answers.next = answers;
    from_hw.status.error.next = from_sw.irq_status.error.value ? error_q : ErrNone;
    from_hw.irq_status.done.hwset = job_done && !clear;
    from_hw.irq_status.out_valid.next = answers != '0;
    from_hw.irq_status.in_ready.next = room != '0;
    from_hw.irq_status.error.hwset = error_now != ErrNone;
    from_hw.key_status.busy.next = key_busy;
    from_hw.key_status.error.next = key_error;
    for (int unsigned i = 0; i < 8; i++) from_hw.key[i].word.hwclr = key_clear;
    for (int unsigned i = 0; i < 2; i++) from_hw.key_valid[i].mask.next = slots[32*i+:32];
    for (int unsigned i = 0; i < 2; i++) begin
      from_hw.aad_bytes[i].word.hwclr = clear;
      from_hw.aad_bytes[i].word.we = state_write.aad_bytes && !clear;
      from_hw.aad_bytes[i].word.next = state_next.aad_bytes[32*i+:32];
      from_hw.data_bytes[i].word.hwclr = clear;
      from_hw.data_bytes[i].word.we = state_write.data_bytes && !clear;
      from_hw.data_bytes[i].word.next = state_next.data_bytes[32*i+:32];
    end
    for (int unsigned i = 0; i < 4; i++) begin
      from_hw.iv[i].word.hwclr = clear;
      from_hw.iv[i].word.we = state_write.iv && !clear;
      from_hw.hash[i].word.hwclr = clear;
      from_hw.hash[i].word.we = state_write.hash && !clear;
      from_hw.tag[i].word.hwclr = clear || start_ok;
      from_hw.tag[i].word.we = tag_valid && !clear;
      for (int unsigned j = 0; j < 4; j++) begin
        from_hw.iv[i].word.next[8*j+:8]   = state_next.iv[8*(15-4*i-j)+:8];
        from_hw.hash[i].word.next[8*j+:8] = state_next.hash[8*(15-4*i-j)+:8];
        from_hw.tag[i].word.next[8*j+:8]  = tag[8*(15-4*i-j)+:8];
      end
      from_hw.data_in[i].wr_ack = write_ack[i];
      from_hw.data_out[i].rd_ack = read_ack[i];
      from_hw.data_out[i].rd_data.word = read_data;
    end
  end

  assign irq_o = (from_sw.irq_enable.done.value && from_sw.irq_status.done.value) ||
      (from_sw.irq_enable.out_valid.value && answers != '0) ||
      (from_sw.irq_enable.in_ready.value && room != '0) ||
      (from_sw.irq_enable.error.value && from_sw.irq_status.error.value);

  `MAE_ASSERT(JobTaken, !unit_start || job_ready)
  `MAE_ASSERT(RoomForAnswers, !rsp_valid || busy_q)

endmodule
