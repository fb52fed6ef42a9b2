// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral_window: runs one job at a time of the small AES peripheral, in ECB, CBC or CTR,
// on blocks that software writes to and reads from registers.
//
// Registers: regs/mae_small_window.rdl. It has one block of input and one of output, and no copy of anything: the length register counts
// down, the IV registers hold the chain value, and the register block keeps both and the mode from
// being written during a job (locked_o). The block stays in the input registers until the cipher's
// result, as CBC decryption and CTR need it then. A write to them waits meanwhile, a read waits for
// the result; both end with it. The cipher is requested only while the output register is free, so
// a result is never stalled.
// Latency: the cipher's, and 1 clock from the fourth word of a block to the request; a register
// access of a finished block is answered in its own clock.
// Throughput: one block in the cipher's latency + 1 + 8 register accesses, of which the accesses of
// one block may overlap with the cipher's work on the next one.
// Reset and clear: clear_i erases all data and drops the job in one clock.
// Parameters: Chain = 0: ECB only. Legal: Chain 0 or 1; Dirs any of dirs_e.
// Security: constant-time; no masking.
// Source: SP 800-38A; Kale et al., section 3. Tested by
// tests/device/peripheral/test_peripheral_small.py.

`include "mae_assert.svh"

module mae_peripheral_window
  import mae_aes_pkg::*;
  import mae_device_pkg::*;
#(
    parameter bit Chain = 1'b1,
    parameter dirs_e Dirs = DirsBoth
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    // from mae_axil_regblock_adapter; write data are held until the acknowledgement
    input  logic        req_i,
    input  logic        req_is_wr_i,
    input  logic [11:0] addr_i,
    input  logic [31:0] wr_data_i,
    input  logic [31:0] wr_biten_i,
    output logic        rd_ack_o,
    output logic        rd_err_o,
    output logic [31:0] rd_data_o,
    output logic        wr_ack_o,
    output logic        wr_err_o,

    input  logic loaded_i,  // there is a key
    output logic wipe_o,    // pulse: erase all
    output logic locked_o,  // a job runs or is started
    output logic irq_o,

    output logic   req_valid_o,
    input  logic   req_ready_i,
    output dir_e   req_dir_o,
    output block_t req_block_o,
    input  logic   rsp_valid_i,
    input  block_t rsp_block_i
);
  mae_small_window_regs_pkg::mae_small_window__in_t from_hw;
  mae_small_window_regs_pkg::mae_small_window__out_t from_sw;
  logic [1:0] unused_stall;

  mae_small_window_regs u_regs (
      .clk                 (clk_i),
      .arst_n              (rst_ni),
      .s_cpuif_req         (req_i),
      .s_cpuif_req_is_wr   (req_is_wr_i),
      .s_cpuif_addr        (addr_i),
      .s_cpuif_wr_data     (wr_data_i),
      .s_cpuif_wr_biten    (wr_biten_i),
      .s_cpuif_req_stall_wr(unused_stall[0]),  // one request at a time
      .s_cpuif_req_stall_rd(unused_stall[1]),
      .s_cpuif_rd_ack      (rd_ack_o),
      .s_cpuif_rd_err      (rd_err_o),
      .s_cpuif_rd_data     (rd_data_o),
      .s_cpuif_wr_ack      (wr_ack_o),
      .s_cpuif_wr_err      (wr_err_o),
      .hwif_in             (from_hw),
      .hwif_out            (from_sw)
  );

  logic start, decrypt;
  logic [4:0] mode;
  logic [31:0] length, write_data;
  logic [3:0][31:0] iv;
  logic [3:0] write_req, write_ack, read_req, read_ack, room, answers;

  assign wipe_o     = from_sw.ctrl.wipe.value;
  assign start      = from_sw.ctrl.start.value;
  assign mode       = from_sw.ctrl.mode.value;
  assign decrypt    = from_sw.ctrl.decrypt.value;
  assign length     = from_sw.length.bytes.value;  // bytes that are not written yet
  assign write_data = from_sw.data_in[0].wr_data & from_sw.data_in[0].wr_biten;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      iv[i] = from_sw.iv[i].word.value;
      // A request lasts one clock; its acknowledgement comes in that clock or later.
      write_req[i] = from_sw.data_in[i].req && from_sw.data_in[i].req_is_wr;
      read_req[i] = from_sw.data_out[i].req && !from_sw.data_out[i].req_is_wr;
    end
  end

  // Codes of mae_mode_e (regs/mae_common.rdl).
  localparam logic [4:0] OpEcb = 5'd0;
  localparam logic [4:0] OpCbc = 5'd1;
  localparam logic [4:0] OpCtr = 5'd5;

  logic cbc, ctr;
  assign cbc = Chain && mode == OpCbc;
  assign ctr = Chain && mode == OpCtr;

  // The job.
  logic busy_q, last_q, start_ok;
  logic [3:0] bytes_q;  // of the last block; 0: all
  error_e verdict;

  always_comb begin
    verdict   = ErrNone;
    req_dir_o = (ctr || !decrypt) ? Encrypt : Decrypt;
    if (busy_q || clear_i) verdict = ErrBusy;
    else if (!(mode == OpEcb || cbc || ctr)) verdict = ErrBadOp;
    else if (!Dirs[req_dir_o]) verdict = ErrBadOp;
    else if (length == '0 || (length[3:0] != '0 && !ctr)) verdict = ErrBadLength;
    else if (!loaded_i || from_sw.ctrl.key_slot.value != '0) verdict = ErrBadKey;
  end

  assign start_ok = start && verdict == ErrNone;
  assign locked_o = busy_q || start;

  // Input: words are collected; the fourth one makes the block.
  logic [3:0][31:0] stage_q;
  logic full_q, asked_q, out_valid_q, result;
  logic [3:0] write_wait_q, write_now;
  logic open, blocked, store, hand_over, overflow;

  assign write_now = write_req | write_wait_q;
  assign open      = busy_q && length != '0;
  // A staged block leaves by itself if the output register is free.
  assign blocked   = open && full_q && !out_valid_q;
  assign store     = open && !full_q;
  assign write_ack = (blocked && !clear_i) ? '0 : write_now;
  assign hand_over = store && write_now[3];
  assign overflow  = write_now[3] && !store && !blocked;

  always_comb begin
    room = 4'd2 - 4'(full_q) - 4'(out_valid_q);
    if (!open) room = '0;
    else if (length <= 32'd16 && room != '0) room = 4'd1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q       <= 1'b0;
      last_q       <= 1'b0;
      bytes_q      <= '0;
      stage_q      <= '0;
      full_q       <= 1'b0;
      asked_q      <= 1'b0;
      write_wait_q <= '0;
    end else begin
      write_wait_q <= write_now & ~write_ack;
      for (int unsigned i = 0; i < 4; i++) if (store && write_now[i]) stage_q[i] <= write_data;
      if (hand_over) begin
        full_q  <= 1'b1;
        last_q  <= length <= 32'd16;
        bytes_q <= (length <= 32'd16) ? length[3:0] : '0;
      end
      if (req_valid_o && req_ready_i) asked_q <= 1'b1;
      if (result) begin
        stage_q <= '0;
        full_q  <= 1'b0;
        asked_q <= 1'b0;
        if (last_q) busy_q <= 1'b0;
      end
      if (start_ok) busy_q <= 1'b1;
      if (clear_i) begin
        busy_q  <= 1'b0;
        stage_q <= '0;
        full_q  <= 1'b0;
        asked_q <= 1'b0;
      end
    end
  end

  // The cipher, and the mode around it.
  block_t data, chain, mask, answer, next_chain;

  assign data        = mae_bytes_pkg::swap_block(stage_q);
  assign chain       = mae_bytes_pkg::swap_block(iv);

  assign req_valid_o = full_q && !asked_q && !out_valid_q && !clear_i;
  assign result      = rsp_valid_i && asked_q && !clear_i;

  always_comb begin
    req_block_o = data;
    if (cbc && !decrypt) req_block_o = data ^ chain;
    else if (ctr) req_block_o = chain;
    mask = '0;
    if (cbc && decrypt) mask = chain;
    else if (ctr) mask = data;
    answer = rsp_block_i ^ mask;
    if (ctr && bytes_q != '0) answer &= mae_mode_pkg::first_bytes(bytes_q);
    next_chain = decrypt ? data : rsp_block_i;
    if (ctr) next_chain = chain + 128'd1;
  end

  // Output: the fourth word empties the register.
  logic [3:0][31:0] out_q;
  logic [3:0] read_wait_q, read_now;
  logic give_up, pop, underflow;

  assign read_now  = read_req | read_wait_q;
  assign give_up   = !out_valid_q && !full_q;  // nothing is in progress
  assign read_ack  = (out_valid_q || give_up || clear_i) ? read_now : '0;
  assign underflow = give_up && read_now != '0;
  assign pop       = out_valid_q && read_now[3];
  assign answers   = 4'(out_valid_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_q       <= '0;
      out_valid_q <= 1'b0;
      read_wait_q <= '0;
    end else begin
      read_wait_q <= read_now & ~read_ack;
      if (result) begin
        out_q       <= mae_bytes_pkg::swap_block(answer);
        out_valid_q <= 1'b1;
      end
      if (pop || clear_i) begin
        out_q       <= '0;
        out_valid_q <= 1'b0;
      end
    end
  end

  // Errors: the first one is kept until the interrupt bit is cleared.
  error_e error_q, error_now;

  always_comb begin
    error_now = ErrNone;
    if (start) error_now = verdict;
    else if (overflow) error_now = ErrOverflow;
    else if (underflow) error_now = ErrUnderflow;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) error_q <= ErrNone;
    else if (error_now != ErrNone && !from_sw.irq_status.error.value) error_q <= error_now;
  end

  // To the registers.
  logic [3:0][31:0] iv_next;
  assign iv_next = mae_bytes_pkg::swap_block(next_chain);

  always_comb begin
    from_hw.ctrl.mode.swwe = !locked_o;
    from_hw.ctrl.decrypt.swwe = !locked_o;
    from_hw.ctrl.key_slot.swwe = !locked_o;
    from_hw.length.bytes.swwe = !locked_o;
    from_hw.length.bytes.we = hand_over;
    from_hw.length.bytes.next = (length <= 32'd16) ? '0 : length - 32'd16;
    from_hw.status.in_ready.next = room != '0;
    from_hw.status.out_valid.next = answers != '0;
    from_hw.status.busy.next = locked_o;
    from_hw.status.wiping.next = clear_i;
    from_hw.status.room.next = room;
    from_hw.status.answers.next = answers;
    from_hw.status.error.next = from_sw.irq_status.error.value ? error_q : ErrNone;
    from_hw.irq_status.done.hwset = result && last_q;
    from_hw.irq_status.out_valid.next = answers != '0;
    from_hw.irq_status.in_ready.next = room != '0;
    from_hw.irq_status.error.hwset = error_now != ErrNone;
    for (int unsigned i = 0; i < 4; i++) begin
      from_hw.iv[i].word.hwclr = clear_i;
      from_hw.iv[i].word.swwe = !locked_o;
      from_hw.iv[i].word.we = result && (cbc || ctr);
      from_hw.iv[i].word.next = iv_next[i];
      from_hw.data_in[i].wr_ack = write_ack[i];
      from_hw.data_out[i].rd_ack = read_ack[i];
      from_hw.data_out[i].rd_data.word = out_q[i];
    end
  end

  assign irq_o = (from_sw.irq_enable.done.value && from_sw.irq_status.done.value) ||
      (from_sw.irq_enable.out_valid.value && answers != '0) ||
      (from_sw.irq_enable.in_ready.value && room != '0) ||
      (from_sw.irq_enable.error.value && from_sw.irq_status.error.value);

  logic unused;
  assign unused = ^unused_stall;

  `MAE_ASSERT(ResultHasRoom, !result || !out_valid_q)
  `MAE_ASSERT(OneAccess, $onehot0({write_now, read_now}))

endmodule
