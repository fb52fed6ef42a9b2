// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral: AES behind AXI4-Lite: an iterative core, every mode, write-only key slots, blocks
// through registers (P3 §2; the push model of P2). Registers: docs/registers/mae_peripheral.md.
//
// One job at a time. A block takes four writes and four reads; up to Depth blocks are under way at
// once, so the next is written while one is processed. The core takes 10, 12 or 14 clocks a block.
// A register access takes 2 clocks on an idle bus (read: 3 with its answer), see mae_block_port.
// Constant-time: yes, every clock count follows from mode, key length and bus alone. Masked: no.
// Legal: KeySlots 1..64, KeyBanks 1..4 (2: XTS never reloads a key), Depth 1..15.

`include "mae_assert.svh"

module mae_peripheral
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_device_pkg::*;
#(
    parameter int unsigned KeySlots = 4,
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned Depth = 4
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    s_axil_awvalid,
    output logic                    s_axil_awready,
    input  logic [RegAddrWidth-1:0] s_axil_awaddr,
    input  logic [             2:0] s_axil_awprot,
    input  logic                    s_axil_wvalid,
    output logic                    s_axil_wready,
    input  logic [            31:0] s_axil_wdata,
    input  logic [             3:0] s_axil_wstrb,
    output logic                    s_axil_bvalid,
    input  logic                    s_axil_bready,
    output logic [             1:0] s_axil_bresp,
    input  logic                    s_axil_arvalid,
    output logic                    s_axil_arready,
    input  logic [RegAddrWidth-1:0] s_axil_araddr,
    input  logic [             2:0] s_axil_arprot,
    output logic                    s_axil_rvalid,
    input  logic                    s_axil_rready,
    output logic [            31:0] s_axil_rdata,
    output logic [             1:0] s_axil_rresp,

    output logic irq_o
);

  mae_peripheral_regs_pkg::mae_peripheral__in_t  from_hw;
  mae_peripheral_regs_pkg::mae_peripheral__out_t from_sw;

  mae_peripheral_regs u_regs (
      .clk     (clk_i),
      .arst_n  (rst_ni),
      .hwif_in (from_hw),
      .hwif_out(from_sw),
      .*
  );

  logic clear, walking, wiping;

  assign clear  = from_sw.ctrl.wipe.value;
  assign wiping = clear || walking;

  // Keys.
  logic [KeySlots-1:0] slot_valid;
  logic [63:0] slots;  // padded to what the registers show
  logic key_write_valid, key_write_ready, key_clear, key_busy;
  logic       [7:0][31:0] key_words;
  error_e                 key_error;
  key_write_t             key_write;

  always_comb for (int unsigned i = 0; i < 8; i++) key_words[i] = from_sw.key[i].word.value;
  assign slots = 64'(slot_valid);

  mae_key_window #(
      .KeySlots (KeySlots),
      .MaxKeyLen(MaxKeyLen)
  ) u_window (
      .clk_i,
      .rst_ni,
      .clear_i      (clear),
      .go_i         (from_sw.key_cmd.go.value && !wiping),
      .slot_i       (from_sw.key_cmd.slot.value),
      .len_i        (from_sw.key_cmd.len.value),
      .erase_i      (from_sw.key_cmd.op.value),
      .words_i      (key_words),
      .clear_o      (key_clear),
      .busy_o       (key_busy),
      .error_o      (key_error),
      .write_valid_o(key_write_valid),
      .write_ready_i(key_write_ready),
      .write_o      (key_write)
  );

  // The job: checked when started, then offered to the engine, busy until its last answer.
  mae_dma_pkg::status_e verdict;
  logic start, start_ok, busy_q, cfg_pending_q, cfg_ready, done;
  mode_cfg_t cfg;

  assign start = from_sw.ctrl.start.value;
  assign verdict = check_job(
      '{
          op: 8'(from_sw.ctrl.mode.value),
          decrypt: from_sw.ctrl.decrypt.value,
          init: from_sw.ctrl.init.value,
          length: from_sw.length.bytes.value,
          key_valid: slots[from_sw.ctrl.key_slot.value],
          tweak_valid: slots[from_sw.ctrl.tweak_slot.value]
      },
      Dirs
  );
  assign start_ok = start && !busy_q && !wiping && verdict == mae_dma_pkg::StatusOk;

  always_comb begin
    cfg.mode = mode_e'(from_sw.ctrl.mode.value[2:0]);
    cfg.dir = dir_e'(from_sw.ctrl.decrypt.value);
    cfg.init = from_sw.ctrl.init.value;
    cfg.serial = from_sw.length.bytes.value[3:0] != '0;
    cfg.key_slot = from_sw.ctrl.key_slot.value;
    cfg.tweak_slot = from_sw.ctrl.tweak_slot.value;
    for (int unsigned i = 0; i < 16; i++)
    cfg.iv[8*(15-i)+:8] = from_sw.iv[i/4].word.value[8*(i%4)+:8];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q        <= 1'b0;
      cfg_pending_q <= 1'b0;
    end else if (clear) begin
      busy_q        <= 1'b0;
      cfg_pending_q <= 1'b0;
    end else begin
      if (start_ok) busy_q <= 1'b1;
      else if (done) busy_q <= 1'b0;
      if (start_ok) cfg_pending_q <= 1'b1;
      else if (cfg_ready) cfg_pending_q <= 1'b0;
    end
  end

  // Blocks in and out.
  logic [3:0] write_req, write_ack, read_req, read_ack, room, answers;
  logic [31:0] write_data, read_data;
  logic overflow, underflow;
  logic in_valid, in_ready, in_last, out_valid, out_last, out_key_lost;
  logic [127:0] in_data;
  logic [4:0] in_bytes, out_bytes;
  block_t out_data;

  always_comb begin
    write_data = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      write_req[i] = from_sw.data_in[i].req && from_sw.data_in[i].req_is_wr;
      read_req[i]  = from_sw.data_out[i].req && !from_sw.data_out[i].req_is_wr;
      if (write_req[i]) write_data |= from_sw.data_in[i].wr_data & from_sw.data_in[i].wr_biten;
    end
  end

  mae_block_port #(
      .Depth(Depth)
  ) u_port (
      .clk_i,
      .rst_ni,
      .clear_i     (clear),
      .start_i     (start_ok),
      .length_i    (from_sw.length.bytes.value),
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
      .in_valid_o  (in_valid),
      .in_ready_i  (in_ready && !cfg_pending_q),
      .in_data_o   (in_data),
      .in_bytes_o  (in_bytes),
      .in_last_o   (in_last),
      .out_valid_i (out_valid),
      .out_data_i  (mae_bytes_pkg::swap_block(out_data)),
      .out_bytes_i (out_bytes)
  );

  assign done = out_valid && out_last;

  logic unused_room;  // ready is enough where there is one context
  ctx_t unused_ctx;

  mae_aes_core #(
      .Lanes       (1),
      .Contexts    (1),
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
      .cfg_valid_i   (cfg_pending_q),
      .cfg_ready_o   (cfg_ready),
      .cfg_ctx_i     ('0),
      .cfg_i         (cfg),
      .room_o        (unused_room),
      .row_valid_i   (in_valid && !cfg_pending_q),
      .row_ready_o   (in_ready),
      .row_ctx_i     ('0),
      .row_data_i    (mae_bytes_pkg::swap_block(in_data)),
      .row_bytes_i   (in_bytes),
      .row_last_i    (in_last),
      .out_valid_o   (out_valid),
      .out_ready_i   (1'b1),
      .out_ctx_o     (unused_ctx),
      .out_data_o    (out_data),
      .out_bytes_o   (out_bytes),
      .out_last_o    (out_last),
      .out_key_lost_o(out_key_lost)
  );

  // Errors: the first is kept until the interrupt's bit is cleared.
  error_e error_q, error_now;

  always_comb begin
    error_now = ErrNone;
    if (start && (busy_q || wiping)) error_now = ErrBusy;
    else if (start) error_now = error_e'(verdict);
    else if (overflow) error_now = ErrOverflow;
    else if (underflow) error_now = ErrUnderflow;
    else if (out_valid && out_key_lost) error_now = ErrBadKey;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) error_q <= ErrNone;
    else if (error_now != ErrNone && !from_sw.irq_status.error.value) error_q <= error_now;
  end

  // What the host reads.
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
    from_hw.features.sbox.next = Sbox;
    from_hw.features.regs_per_round.next = '0;
    from_hw.modes.mask.next = modes_mask(Dirs);
    from_hw.status.in_ready.next = room != '0;
    from_hw.status.out_valid.next = answers != '0;
    from_hw.status.busy.next = busy_q || start;
    from_hw.status.wiping.next = wiping;
    from_hw.status.room.next = room;
    from_hw.status.answers.next = answers;
    from_hw.status.error.next = from_sw.irq_status.error.value ? error_q : ErrNone;
    from_hw.irq_status.done.hwset = done;
    from_hw.irq_status.out_valid.next = answers != '0;
    from_hw.irq_status.in_ready.next = room != '0;
    from_hw.irq_status.error.hwset = error_now != ErrNone;
    from_hw.key_status.busy.next = key_busy;
    from_hw.key_status.error.next = key_error;
    for (int unsigned i = 0; i < 8; i++) from_hw.key[i].word.hwclr = key_clear;
    for (int unsigned i = 0; i < 2; i++) from_hw.key_valid[i].mask.next = slots[32*i+:32];
    for (int unsigned i = 0; i < 4; i++) begin
      from_hw.iv[i].word.hwclr = clear;
      from_hw.data_in[i].wr_ack = write_ack[i];
      from_hw.data_out[i].rd_ack = read_ack[i];
      from_hw.data_out[i].rd_data.word = read_data;
    end
  end

  assign irq_o = (from_sw.irq_enable.done.value && from_sw.irq_status.done.value) ||
      (from_sw.irq_enable.out_valid.value && answers != '0) ||
      (from_sw.irq_enable.in_ready.value && room != '0) ||
      (from_sw.irq_enable.error.value && from_sw.irq_status.error.value);

  `MAE_ASSERT(RoomForAnswers, !out_valid || busy_q)

endmodule
