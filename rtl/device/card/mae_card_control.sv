// SPDX-License-Identifier: Apache-2.0
//
// mae_card_control: implements registers, interrupt, key commands and counters of the cards with
// descriptor rings. The registers are behind AXI4-Lite.
//
// Registers: regs/mae_stream_card.rdl. The capabilities that describe the cipher come from
// the parameters.
//
// A wipe waits for nothing: halt_o, job_rst_no and clear_o are those of mae_wipe_control, to DMA
// engines and client. wiping_i lasts until their memories are erased, draining_i until the bus has
// ended all bursts (see mae_dma): status.wiping shows the first, status.busy the second too, and
// ctrl.enable waits for both. Key words and keys on their way are erased in the clock of the wipe.
// Latency: a register access takes 2 clocks on an idle bus (a read 3, with its response).
// Throughput: one access at a time.
// Parameters: Legal: Lanes 1, 2, 4, 8; Contexts 1..256; KeySlots 0..64.

`include "mae_assert.svh"

module mae_card_control
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
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
    parameter bit Gcm = 1'b0,
    parameter int unsigned RecordSlots = 0,  // beside KeySlots, written by mae_dma alone
    localparam int unsigned SlotBits = (KeySlots > 0) ? KeySlots : 1,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic test_mode_i,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,
    output logic      irq_o,

    // to and from mae_dma
    output dma_ctrl_t   dma_ctrl_o,
    input  dma_status_t dma_status_i,
    output logic        dma_irq_ack_o,
    output logic        halt_o,
    input  logic        draining_i,
    output key_table_t  table_o,
    input  logic        forgetting_i,

    // to mae_dma and the client
    output logic                      job_rst_no,
    output logic                      clear_o,
    input  logic                      wiping_i,
    output logic                      write_valid_o,  // to a key slot
    input  logic                      write_ready_i,
    output key_write_t                write_o,
    input  logic       [SlotBits-1:0] slot_valid_i,

    // counted events
    input logic                  row_i,        // the client output a row
    input logic [BytesWidth-1:0] row_bytes_i,
    input logic                  read_beat_i,
    input logic                  write_beat_i
);
  `MAE_PARAM(LanesLegal, Lanes inside {1, 2, 4, 8})
  `MAE_PARAM(ContextsLegal, Contexts >= 1 && Contexts <= 256)

  mae_stream_card_regs_pkg::mae_stream_card__in_t  from_hw;
  mae_stream_card_regs_pkg::mae_stream_card__out_t from_sw;

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

  mae_stream_card_regs u_regs (
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

  // A wipe; no command is executed while it runs.
  logic wipe, wiping;

  assign wipe   = from_sw.ctrl.wipe.value;
  assign wiping = halt_o || wiping_i;

  mae_wipe_control u_wipe (
      .clk_i,
      .rst_ni,
      .test_mode_i,
      .wipe_i(wipe),
      .halt_o,
      .job_rst_no,
      .clear_o
  );

  // Rings and interrupt. An interrupt bit of mae_dma is moved to the registers as soon as it is
  // set.
  assign dma_ctrl_o = '{
          enable: from_sw.ctrl.enable.value && !wiping && !draining_i,
          abort: from_sw.ctrl.abort.value,
          irq_enable: 1'b0,
          sub_base: {from_sw.sub_base_hi.addr.value, from_sw.sub_base_lo.addr.value},
          sub_log2: from_sw.sub_log2.log2.value,
          sub_tail: from_sw.sub_tail.count.value,
          comp_base: {from_sw.comp_base_hi.addr.value, from_sw.comp_base_lo.addr.value},
          comp_log2: from_sw.comp_log2.log2.value,
          comp_head: from_sw.comp_head.count.value
      };
  assign dma_irq_ack_o = dma_status_i.irq_pending;
  assign irq_o = (from_sw.irq_enable.completion.value && from_sw.irq_status.completion.value) ||
      (from_sw.irq_enable.ring_error.value && from_sw.irq_status.ring_error.value);

  // Keys.
  logic [63:0] slots;
  logic key_clear, key_busy;
  error_e key_error;

  assign slots = (KeySlots > 0) ? 64'(slot_valid_i) : '0;

  if (KeySlots > 0) begin : gen_keys
    logic [7:0][31:0] key_words;

    always_comb for (int unsigned i = 0; i < 8; i++) key_words[i] = from_sw.key[i].word.value;

    mae_key_registers #(
        .KeySlots (KeySlots),
        .MaxKeyLen(MaxKeyLen)
    ) u_window (
        .clk_i,
        .rst_ni,
        .clear_i(wipe),
        .closed_i(wiping),
        .go_i   (from_sw.key_cmd.go.value),
        .slot_i (from_sw.key_cmd.slot.value),
        .len_i  (from_sw.key_cmd.len.value),
        .erase_i(from_sw.key_cmd.op.value),
        .words_i(key_words),
        .clear_o(key_clear),
        .busy_o (key_busy),
        .error_o(key_error),
        .write_valid_o,
        .write_ready_i,
        .write_o
    );
  end else begin : gen_no_keys
    assign key_clear = from_sw.key_cmd.go.value;
    assign key_busy  = 1'b0;
    assign key_error = ErrBadKey;
    logic unused_write_ready;

    assign unused_write_ready = write_ready_i;
    assign write_valid_o = 1'b0;
    assign write_o = '0;
  end

  assign table_o = '{
          base: {from_sw.key_table_hi.addr.value, from_sw.key_table_lo.addr.value[31:6]},
          count: from_sw.key_table_size.records.value,
          forget: from_sw.key_forget.go.value,
          forget_all: from_sw.key_forget.every.value,
          forget_index: from_sw.key_forget.record.value
      };

  // Counters and their copies of the last snapshot.
  localparam int unsigned Counters = 6;
  logic [Counters-1:0][63:0] count_q, shown_q;
  logic [Counters-1:0][4:0] step;
  logic [15:0] tail_q;
  logic ring_error_q;

  assign step[0] = 5'd1;
  assign step[1] = 5'(dma_status_i.jobs != '0);
  assign step[2] = 5'(dma_status_i.comp_tail == tail_q + 16'd1);
  assign step[3] = row_i ? 5'((32'(row_bytes_i) + 32'd15) / 32'd16) : '0;
  assign step[4] = 5'(read_beat_i);
  assign step[5] = 5'(write_beat_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q      <= '0;
      shown_q      <= '0;
      tail_q       <= '0;
      ring_error_q <= 1'b0;
    end else begin
      tail_q <= dma_status_i.comp_tail;
      ring_error_q <= dma_status_i.ring_error;
      for (int unsigned i = 0; i < Counters; i++) begin
        count_q[i] <= from_sw.ctrl.count_clear.value ? '0 : count_q[i] + 64'(step[i]);
        if (from_sw.ctrl.snapshot.value) shown_q[i] <= count_q[i];
      end
    end
  end

  // Values that the host reads.
  always_comb begin
    from_hw.caps.lanes.next = 8'(Lanes);
    from_hw.caps.key_slots.next = 8'(KeySlots);
    from_hw.caps.contexts.next = 9'(Contexts);
    from_hw.caps.key_banks.next = (KeySlots > 0) ? 3'(KeyBanks) : '0;
    from_hw.features.aes128.next = KeySlots > 0;
    from_hw.features.aes192.next = KeySlots > 0 && MaxKeyLen != Aes128;
    from_hw.features.aes256.next = KeySlots > 0 && MaxKeyLen == Aes256;
    from_hw.features.encrypt.next = KeySlots > 0 && Dirs[0];
    from_hw.features.decrypt.next = KeySlots > 0 && Dirs[1];
    from_hw.features.sbox.next = 4'(Sbox);
    from_hw.features.regs_per_round.next = (KeySlots > 0) ? 2'(RegsPerRound) : '0;
    from_hw.modes.mask.next = (KeySlots > 0) ? modes_mask(Dirs) : 32'(1 << OpCopy);
    if (Gcm && Dirs[0]) from_hw.modes.mask.next[5'(OpGcm)] = 1'b1;
    from_hw.ctrl.enable.hwclr = wipe;
    from_hw.status.busy.next = dma_status_i.busy || draining_i;
    from_hw.status.wiping.next = wiping;
    from_hw.status.halted.next = dma_status_i.halted;
    from_hw.status.ring_error.next = dma_status_i.ring_error;
    from_hw.status.jobs.next = dma_status_i.jobs;
    from_hw.irq_status.completion.hwset = dma_status_i.irq_pending;
    from_hw.irq_status.ring_error.hwset = dma_status_i.ring_error && !ring_error_q;
    from_hw.sub_head.count.next = dma_status_i.sub_head;
    from_hw.comp_tail.count.next = dma_status_i.comp_tail;
    from_hw.key_records.slots.next = 8'(RecordSlots);
    from_hw.key_records.busy.next = forgetting_i;
    from_hw.key_status.busy.next = key_busy;
    from_hw.key_status.error.next = key_error;
    for (int unsigned i = 0; i < 8; i++) from_hw.key[i].word.hwclr = key_clear || wipe;
    for (int unsigned i = 0; i < 2; i++) from_hw.key_valid[i].mask.next = slots[32*i+:32];
    {from_hw.clocks.hi.value.next, from_hw.clocks.lo.value.next} = shown_q[0];
    {from_hw.busy_clocks.hi.value.next, from_hw.busy_clocks.lo.value.next} = shown_q[1];
    {from_hw.jobs.hi.value.next, from_hw.jobs.lo.value.next} = shown_q[2];
    {from_hw.blocks.hi.value.next, from_hw.blocks.lo.value.next} = shown_q[3];
    {from_hw.read_beats.hi.value.next, from_hw.read_beats.lo.value.next} = shown_q[4];
    {from_hw.write_beats.hi.value.next, from_hw.write_beats.lo.value.next} = shown_q[5];
  end

endmodule
