// SPDX-License-Identifier: Apache-2.0
//
// mae_soc: integrates a PicoRV32 CPU with one or two peripherals and the memory arbiter.
//
// It contains the CPU and mae_soc_interconnect, whose header has the address map. Software:
// driver/firmware. The CPU is RV32I with its own interrupts (the peripherals' on lines 3 and 4,
// level), a barrel shifter, clock and instruction counters (rdcycle, rdinstret) and no multiplier.
// It starts at address 0, takes interrupts at 0x10, and stops with trap_o at an illegal instruction
// or access. Its Verilog comes from the Python package pythondata-cpu-picorv32. finish_valid_o is a
// pulse of one clock.
// Latency: 3 clocks for an instruction that computes, 5 or 6 for one that reads or writes memory;
// accesses as in mae_soc_interconnect.
// Throughput: one access at a time.
// Parameters: Legal: RowBits 10..24; the others as mae_soc_interconnect.
// Security: constant-time if the software is.
// Source: Kale et al., section 3.

`include "mae_assert.svh"

module mae_soc
  import mae_aes_pkg::*;
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

    output logic       console_valid_o,
    input  logic       console_ready_i,
    output logic [7:0] console_data_o,
    output logic       finish_valid_o,
    output logic [7:0] finish_code_o,
    output logic       trap_o
);

  `MAE_PARAM(LegalRowBits, RowBits >= 10 && RowBits <= 24)

  localparam int unsigned IrqLine = 3;  // the CPU uses lines 0 to 2 itself
  localparam logic [31:0] Lines = ((32'd1 << Peripherals) - 32'd1) << IrqLine;

  logic mem_valid, mem_ready, rst_n_q;
  logic [Peripherals-1:0] irq;
  logic [31:0] mem_addr, mem_wdata, mem_rdata;
  logic [3:0] mem_wstrb;
  logic la_read, la_write, ahead;
  logic [31:0] la_addr, la_wdata;
  logic [3:0] la_wstrb;

  // An access is offered in the clock before the CPU's own mem_valid, with the values that
  // mem_valid will have, so that memory answers without a wait. A stopped CPU announces accesses
  // that it does not make.
  assign ahead = (la_read || la_write) && !trap_o;

  // The CPU's reset is synchronous: it is released in the first clock after rst_ni.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rst_n_q <= 1'b0;
    else rst_n_q <= 1'b1;
  end

  // verilator lint_off PINCONNECTEMPTY  // unused interfaces of the CPU
  picorv32 #(
      .BARREL_SHIFTER(1),
      .ENABLE_IRQ    (1),
      .MASKED_IRQ    (~Lines),
      .LATCHED_IRQ   (~Lines)
  ) u_cpu (
      .clk         (clk_i),
      .resetn      (rst_n_q),
      .trap        (trap_o),
      .mem_valid   (mem_valid),
      .mem_instr   (),
      .mem_ready   (mem_ready),
      .mem_addr    (mem_addr),
      .mem_wdata   (mem_wdata),
      .mem_wstrb   (mem_wstrb),
      .mem_rdata   (mem_rdata),
      .mem_la_read (la_read),
      .mem_la_write(la_write),
      .mem_la_addr (la_addr),
      .mem_la_wdata(la_wdata),
      .mem_la_wstrb(la_wstrb),
      .pcpi_valid  (),
      .pcpi_insn   (),
      .pcpi_rs1    (),
      .pcpi_rs2    (),
      .pcpi_wr     (1'b0),
      .pcpi_rd     ('0),
      .pcpi_wait   (1'b0),
      .pcpi_ready  (1'b0),
      .irq         (32'(irq) << IrqLine),
      .eoi         (),
      .trace_valid (),
      .trace_data  ()
  );
  // verilator lint_on PINCONNECTEMPTY

  mae_soc_interconnect #(
      .RowBits    (RowBits),
      .Image      (Image),
      .Sbox       (Sbox),
      .KeySlots   (KeySlots),
      .KeyBanks   (KeyBanks),
      .Dirs       (Dirs),
      .MaxKeyLen  (MaxKeyLen),
      .Digit      (Digit),
      .Duplex     (Duplex),
      .Peripherals(Peripherals)
  ) u_fabric (
      .clk_i,
      .rst_ni,
      .mem_valid_i(mem_valid || ahead),
      .mem_ready_o(mem_ready),
      .mem_addr_i (ahead ? la_addr : mem_addr),
      .mem_wdata_i(ahead && la_write ? la_wdata : mem_wdata),
      .mem_wstrb_i(ahead ? la_wstrb & {4{la_write}} : mem_wstrb),
      .mem_rdata_o(mem_rdata),
      .irq_o      (irq),
      .console_valid_o,
      .console_ready_i,
      .console_data_o,
      .finish_valid_o,
      .finish_code_o
  );

endmodule
