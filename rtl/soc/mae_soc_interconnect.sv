// SPDX-License-Identifier: Apache-2.0
//
// mae_soc_interconnect: decodes the CPU's addresses in the PicoRV32 system. It contains the memory,
// the peripherals and the system registers.
//
// Any CPU with PicoRV32's memory port can be connected.
//  0x00000000  memory, 2^RowBits rows of 16 bytes
//  0x10000000  the peripheral, 4 KiB: regs/mae_peripheral.rdl
//  0x10001000  with Duplex = 1 a peripheral of two jobs at once: regs/mae_peripheral_small.rdl
//  0x10002000  with Peripherals = 2 another one like that at 0x10000000
//  0x20000000  console, clock counter, finish: regs/mae_soc.rdl
// Accesses to other addresses are counted and return 0. mem_ready_o is registered, except for
// responses of registers. A write to the console waits for console_ready_i, which may fall only in
// the clock after console_valid_o. The character is valid for that one clock.
// Latency: memory 2 clocks, registers 3, other addresses 2, each with the clock of mem_valid_i;
// more if an access to memory is held (mae_memory_arbiter) or a register waits for a block.
// Throughput: one access at a time.
// Parameters: Image as mae_soc_memory. Legal: RowBits 1..24; Peripherals 1 or 2; Duplex 0 or 1 (no
// interrupt line); the others as mae_peripheral_core.
// Security: constant-time as the peripheral.
// Source: Kale et al., section 3.

`include "mae_assert.svh"

module mae_soc_interconnect
  import mae_aes_pkg::*;
  import mae_axi_pkg::*;
#(
    parameter int unsigned RowBits = 13,
    parameter string Image = "",
    parameter sbox_impl_e Sbox = SboxTable,
    parameter int unsigned KeySlots = 4,
    parameter int unsigned KeyBanks = 2,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter int unsigned Digit = 16,
    parameter bit Duplex = 1'b0,
    parameter int unsigned Peripherals = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        mem_valid_i,
    output logic        mem_ready_o,
    input  logic [31:0] mem_addr_i,
    input  logic [31:0] mem_wdata_i,
    input  logic [ 3:0] mem_wstrb_i,
    output logic [31:0] mem_rdata_o,

    output logic [Peripherals-1:0] irq_o,
    output logic                   console_valid_o,
    input  logic                   console_ready_i,
    output logic [            7:0] console_data_o,
    output logic                   finish_valid_o,
    output logic [            7:0] finish_code_o
);

  `MAE_PARAM(LegalRowBits, RowBits >= 1 && RowBits <= 24)

  logic in_memory, in_duplex, in_regs, in_nothing, console_wait;
  logic [Peripherals-1:0] in_peripheral;

  assign in_memory  = 32'(mem_addr_i[31:4]) < 32'd1 << RowBits;
  assign in_duplex  = Duplex && mem_addr_i[31:12] == 20'h10001;
  assign in_regs    = mem_addr_i[31:12] == 20'h20000;
  assign in_nothing = !in_memory && in_peripheral == '0 && !in_duplex && !in_regs;

  assign console_wait = in_regs && mem_addr_i[11:2] == '0 && mem_wstrb_i != '0 && !console_ready_i;

  always_comb begin
    for (int unsigned i = 0; i < Peripherals; i++) begin
      in_peripheral[i] = mem_addr_i[31:12] == 20'h10000 + 20'(2 * i);
    end
  end

  // Memory, with its users: the CPU and the peripherals.
  mae_memory_job_pkg::memory_job_t [Peripherals-1:0] job;
  mae_device_pkg::error_e [Peripherals-1:0] job_error;
  mae_memory_job_pkg::memory_out_t [Peripherals-1:0] from_core;
  mae_memory_job_pkg::memory_in_t [Peripherals-1:0] to_core;
  logic memory_ready, ram_valid, ram_write;
  logic [31:0] memory_rdata;
  logic [RowBits-1:0] ram_row;
  logic [15:0] ram_strb;
  logic [127:0] ram_wdata, ram_rdata;

  mae_memory_arbiter #(
      .RowBits(RowBits),
      .Jobs   (Peripherals)
  ) u_arbiter (
      .clk_i,
      .rst_ni,
      .cpu_valid_i (mem_valid_i && in_memory),
      .cpu_ready_o (memory_ready),
      .cpu_addr_i  (mem_addr_i[RowBits+3:0]),
      .cpu_strb_i  (mem_wstrb_i),
      .cpu_wdata_i (mem_wdata_i),
      .cpu_rdata_o (memory_rdata),
      .core_job_i  (job),
      .core_error_o(job_error),
      .core_i      (from_core),
      .core_o      (to_core),
      .ram_valid_o (ram_valid),
      .ram_write_o (ram_write),
      .ram_row_o   (ram_row),
      .ram_strb_o  (ram_strb),
      .ram_wdata_o (ram_wdata),
      .ram_rdata_i (ram_rdata)
  );

  mae_soc_memory #(
      .RowBits(RowBits),
      .Image  (Image)
  ) u_memory (
      .clk_i,
      .valid_i(ram_valid),
      .write_i(ram_write),
      .row_i  (ram_row),
      .strb_i (ram_strb),
      .wdata_i(ram_wdata),
      .rdata_o(ram_rdata)
  );

  // Unused addresses.
  logic nothing_ready_q;
  logic [31:0] nothing_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      nothing_ready_q <= 1'b0;
      nothing_q <= '0;
    end else begin
      nothing_ready_q <= mem_valid_i && in_nothing && !nothing_ready_q;
      if (nothing_ready_q && nothing_q != '1) nothing_q <= nothing_q + 32'd1;
    end
  end

  // Registers: one manager, its subordinates selected by the address, which the CPU holds.
  axil_req_t req_cpu, req_duplex, req_regs;
  axil_rsp_t from_duplex, from_regs, from_chosen;
  axil_req_t [Peripherals-1:0] req_peripheral;
  axil_rsp_t [Peripherals-1:0] from_peripheral;
  logic axil_ready;
  logic [31:0] axil_rdata;
  logic [5:0] unused_prot;

  // Lets a manager's requests through to a subordinate that the address selects.
  function automatic axil_req_t select(input axil_req_t req, input logic selected);
    select = req;
    select.aw_valid = req.aw_valid && selected;
    select.w_valid = req.w_valid && selected;
    select.ar_valid = req.ar_valid && selected;
  endfunction

  always_comb begin
    from_chosen = in_duplex ? from_duplex : from_regs;
    req_duplex  = select(req_cpu, in_duplex);
    req_regs    = select(req_cpu, in_regs);
    for (int unsigned i = 0; i < Peripherals; i++) begin
      if (in_peripheral[i]) from_chosen = from_peripheral[i];
      req_peripheral[i] = select(req_cpu, in_peripheral[i]);
    end
  end

  mae_picorv32_to_axil #(
      .AddrWidth(32)
  ) u_axil (
      .clk_i,
      .rst_ni,
      .valid_i       (mem_valid_i && !in_memory && !in_nothing && !console_wait),
      .ready_o       (axil_ready),
      .addr_i        (32'(mem_addr_i[11:0])),
      .strb_i        (mem_wstrb_i),
      .wdata_i       (mem_wdata_i),
      .rdata_o       (axil_rdata),
      .m_axil_awvalid(req_cpu.aw_valid),
      .m_axil_awready(from_chosen.aw_ready),
      .m_axil_awaddr (req_cpu.aw_addr),
      .m_axil_awprot (unused_prot[2:0]),
      .m_axil_wvalid (req_cpu.w_valid),
      .m_axil_wready (from_chosen.w_ready),
      .m_axil_wdata  (req_cpu.w_data),
      .m_axil_wstrb  (req_cpu.w_strb),
      .m_axil_bvalid (from_chosen.b_valid),
      .m_axil_bready (req_cpu.b_ready),
      .m_axil_arvalid(req_cpu.ar_valid),
      .m_axil_arready(from_chosen.ar_ready),
      .m_axil_araddr (req_cpu.ar_addr),
      .m_axil_arprot (unused_prot[5:3]),
      .m_axil_rvalid (from_chosen.r_valid),
      .m_axil_rready (req_cpu.r_ready),
      .m_axil_rdata  (from_chosen.r_data)
  );

  logic unused_resp;  // an error response reads as 0; the peripheral stores an error code
  assign unused_resp = ^{from_chosen.b_resp, from_chosen.r_resp};

  for (genvar i = 0; i < Peripherals; i++) begin : gen_peripheral
    mae_peripheral_core #(
        .KeySlots (KeySlots),
        .KeyBanks (KeyBanks),
        .Dirs     (Dirs),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox),
        .Digit    (Digit),
        .Memory   (1'b1)
    ) u_peripheral (
        .clk_i,
        .rst_ni,
        .axil_i        (req_peripheral[i]),
        .axil_o        (from_peripheral[i]),
        .irq_o         (irq_o[i]),
        .memory_job_o  (job[i]),
        .memory_error_i(job_error[i]),
        .memory_o      (from_core[i]),
        .memory_i      (to_core[i])
    );
  end

  if (Duplex) begin : gen_duplex
    logic unused_irq;

    mae_peripheral_small_core #(
        .Duplex   (1'b1),
        .Chain    (1'b1),
        .Dirs     (Dirs),
        .MaxKeyLen(MaxKeyLen),
        .Sbox     (Sbox)
    ) u_duplex (
        .clk_i,
        .rst_ni,
        .axil_i(req_duplex),
        .axil_o(from_duplex),
        .irq_o (unused_irq)
    );
  end else begin : gen_no_duplex
    logic unused;
    assign unused      = ^req_duplex;
    assign from_duplex = '0;
  end

  mae_soc_regs_pkg::mae_soc__in_t  from_hw;
  mae_soc_regs_pkg::mae_soc__out_t from_sw;

  logic req, req_is_wr, rd_ack, rd_err, wr_ack, wr_err;
  logic [ 1:0] unused_stall;
  logic [11:0] reg_addr;
  logic [31:0] rd_data, wr_data, wr_biten;

  mae_axil_regblock_adapter u_reg_port (
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
      .axil_i     (req_regs),
      .axil_o     (from_regs)
  );

  mae_soc_regs u_regs (
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

  logic [63:0] clocks_q;
  logic [31:0] clocks_high_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clocks_q <= '0;
      clocks_high_q <= '0;
      console_valid_o <= 1'b0;
      finish_valid_o <= 1'b0;
    end else begin
      clocks_q <= clocks_q + 64'd1;
      if (from_sw.clocks_low.value.swacc) clocks_high_q <= clocks_q[63:32];
      console_valid_o <= from_sw.console.character.swmod;  // the value is valid one clock later
      finish_valid_o  <= from_sw.finish.code.swmod;
    end
  end

  assign console_data_o = from_sw.console.character.value;
  assign finish_code_o = from_sw.finish.code.value;
  assign from_hw.clocks_low.value.next = clocks_q[31:0];
  assign from_hw.clocks_high.value.next = clocks_high_q;
  assign from_hw.nothing.count.next = nothing_q;

  // Responses.
  assign mem_ready_o = memory_ready || nothing_ready_q || axil_ready;

  always_comb begin
    mem_rdata_o = '0;
    if (in_memory) mem_rdata_o = memory_rdata;
    else if (!in_nothing) mem_rdata_o = axil_rdata;
  end

  `MAE_STREAM_HOLDS(Cpu, mem_valid_i, mem_ready_o, {mem_addr_i, mem_wstrb_i, mem_wdata_i})
  `MAE_ASSERT(AnswerToAccess, !mem_ready_o || mem_valid_i)

endmodule
