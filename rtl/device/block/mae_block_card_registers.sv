// SPDX-License-Identifier: Apache-2.0
//
// mae_block_card_registers: implements registers, interrupt, key commands and the wipe of the block
// card. The registers are behind AXI4-Lite.
//
// Registers: regs/mae_block_card.rdl. A wipe waits for nothing: halt_o, job_rst_no and
// clear_o are those of mae_wipe_control, to queues and channels. wiping_i lasts until their memories
// are erased, draining_i until both buses have ended all bursts. A reset begins a wipe.
// Latency: a register access takes 2 clocks on an idle bus (a read 3, with its response).
// Throughput: one access at a time.
// Parameters: as mae_block_card.

module mae_block_card_registers
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
  import mae_mode_pkg::*;
  import mae_block_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Queues = 2,
    parameter int unsigned MediaKeys = 8,
    parameter int unsigned MediaLog2 = 26,
    parameter int unsigned KeyWait = 65536
) (
    input logic clk_i,
    input logic rst_ni,
    input logic test_mode_i,

    input  axil_req_t axil_i,
    output axil_rsp_t axil_o,
    output logic      irq_o,

    // queues
    output logic                             enable_o,
    output block_queue_ctrl_t   [Queues-1:0] ctrl_o,
    input  block_queue_status_t [Queues-1:0] status_i,
    input  logic                             busy_i,
    input  logic                             ring_error_i,

    // wipe
    output logic halt_o,
    input  logic draining_i,
    output logic job_rst_no,
    output logic clear_o,
    input  logic wiping_i,

    // keys
    input  logic       [MediaKeys-1:0] used_i,         // by requests in flight
    output logic       [MediaKeys-1:0] key_valid_o,
    output logic       [          1:0] write_valid_o,  // to the ciphers of both channels
    input  logic       [          1:0] write_ready_i,
    output key_write_t                 write_o
);
  localparam logic [63:0] Sectors = 64'd1 << (MediaLog2 - SectorLog2);
  localparam int unsigned AllQueues = 3;  // in the register map

  mae_block_card_regs_pkg::mae_block_card__in_t  from_hw;
  mae_block_card_regs_pkg::mae_block_card__out_t from_sw;

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

  mae_block_card_regs u_regs (
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

  mae_wipe_control #(
      .AtReset(1'b1)
  ) u_wipe (
      .clk_i,
      .rst_ni,
      .test_mode_i,
      .wipe_i(wipe),
      .halt_o,
      .job_rst_no,
      .clear_o
  );

  // Queues and interrupt.
  logic ring_error_q, set_dn;
  logic [AllQueues-1:0] irq_set;

  assign enable_o = from_sw.ctrl.enable.value && !wiping && !draining_i;
  assign irq_o = (from_sw.irq_enable.queue0.value && from_sw.irq_status.queue0.value) ||
      (from_sw.irq_enable.queue1.value && from_sw.irq_status.queue1.value) ||
      (from_sw.irq_enable.queue2.value && from_sw.irq_status.queue2.value) ||
      (from_sw.irq_enable.ring_error.value && from_sw.irq_status.ring_error.value) ||
      (from_sw.irq_enable.lock.value && from_sw.irq_status.lock.value);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ring_error_q <= 1'b0;
    else ring_error_q <= ring_error_i;
  end

  always_comb begin
    for (int unsigned q = 0; q < Queues; q++) begin
      ctrl_o[q] = '{
          sub_base: {
            from_sw.rings[q].sub_base_hi.addr.value, from_sw.rings[q].sub_base_lo.addr.value[31:6]
          },
          sub_log2: from_sw.rings[q].sub_log2.log2.value,
          sub_tail: from_sw.rings[q].sub_tail.count.value,
          comp_base: {
            from_sw.rings[q].comp_base_hi.addr.value, from_sw.rings[q].comp_base_lo.addr.value[31:6]
          },
          comp_log2: from_sw.rings[q].comp_log2.log2.value,
          comp_head: from_sw.rings[q].comp_head.count.value
      };
    end
  end

  // Keys.
  logic key_ready, key_closed, clear_cmd, clear_mek;
  logic [3:0] key_err;
  logic [4:0][31:0] metd;
  logic [7:0][31:0] aux;
  logic [15:0][31:0] mek;

  always_comb begin
    for (int unsigned i = 0; i < 5; i++) metd[i] = from_sw.metd[i].word.value;
    for (int unsigned i = 0; i < 8; i++) aux[i] = from_sw.aux[i].word.value;
    for (int unsigned i = 0; i < 16; i++) mek[i] = from_sw.mek[i].word.value;
  end

  mae_block_key_commands #(
      .MediaKeys (MediaKeys),
      .WaitClocks(KeyWait)
  ) u_keys (
      .clk_i,
      .rst_ni,
      .clear_i    (halt_o),
      .closed_i   (wiping),
      .exe_i      (from_sw.lock_ctrl.exe.value),
      .dn_i       (from_sw.lock_ctrl.dn.value),
      .cmd_i      (from_sw.lock_ctrl.cmd.value),
      .metd_i     (metd),
      .aux_i      (aux),
      .mek_i      (mek),
      .ready_o    (key_ready),
      .closed_o   (key_closed),
      .set_dn_o   (set_dn),
      .clear_cmd_o(clear_cmd),
      .clear_mek_o(clear_mek),
      .err_o      (key_err),
      .used_i,
      .valid_o    (key_valid_o),
      .write_valid_o,
      .write_ready_i,
      .write_o
  );

  // Values that the host reads.
  always_comb begin
    from_hw.caps.lanes.next = 8'(Lanes);
    from_hw.caps.key_slots.next = 8'(MediaKeys);
    from_hw.caps.queues.next = 4'(Queues);
    from_hw.caps.units.next = 4'hf;
    from_hw.capacity_lo.sectors.next = Sectors[31:0];
    from_hw.capacity_hi.sectors.next = Sectors[63:32];
    from_hw.ctrl.enable.hwclr = wipe;
    from_hw.status.busy.next = busy_i || draining_i;
    from_hw.status.wiping.next = wiping;
    from_hw.status.ring_error.next = ring_error_i;
    from_hw.irq_status.ring_error.hwset = ring_error_i && !ring_error_q;
    from_hw.irq_status.lock.hwset = set_dn;
    from_hw.key_valid.mask.next = 32'(key_valid_o);
    from_hw.lock_ctrl.exe.hwclr = clear_cmd;
    from_hw.lock_ctrl.cmd.hwclr = clear_cmd;
    from_hw.lock_ctrl.cmd.swwe = !key_closed;
    from_hw.lock_ctrl.dn.hwset = set_dn;
    from_hw.lock_ctrl.err.next = key_err;
    from_hw.lock_ctrl.rdy.next = key_ready;
    for (int unsigned i = 0; i < 5; i++) from_hw.metd[i].word.swwe = !key_closed;
    for (int unsigned i = 0; i < 8; i++) from_hw.aux[i].word.swwe = !key_closed;
    for (int unsigned i = 0; i < 16; i++) begin
      from_hw.mek[i].word.swwe  = !key_closed && !halt_o;
      from_hw.mek[i].word.hwclr = clear_mek;
    end
    irq_set = '0;
    for (int unsigned q = 0; q < AllQueues; q++) begin
      from_hw.rings[q].sub_head.count.next  = '0;
      from_hw.rings[q].comp_tail.count.next = '0;
    end
    for (int unsigned q = 0; q < Queues; q++) begin
      from_hw.rings[q].sub_head.count.next = status_i[q].sub_head;
      from_hw.rings[q].comp_tail.count.next = status_i[q].comp_tail;
      irq_set[q] = status_i[q].irq;
    end
    from_hw.irq_status.queue0.hwset = irq_set[0];
    from_hw.irq_status.queue1.hwset = irq_set[1];
    from_hw.irq_status.queue2.hwset = irq_set[2];
  end

endmodule
