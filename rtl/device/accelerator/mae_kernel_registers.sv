// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_registers: gives the host access to the registers of an accelerator card's kernel.
// They are the protected register space.
//
//  offset       KernelMap    others                       width  access
//  0x00         CONTROL: bit 0 starts a run               4      write
//  0x04         STATUS: bit 0 busy, bit 1 fault           4      read
//  0x08         RUNS completed without fault, since clear_i  8   read
//  0x10         SOURCE       LIST of commands             4, 8   both
//  0x18         DESTINATION  CLOCKS of the last run       4, 8   both (CLOCKS: 8, read)
//  0x20         LENGTH       -                            4, 8   both
//  0x40...0x7f  scratch memory                            4, 8   both
//
// A write below 0x40 during a run would change the run: it has no effect and gives reg_error_o
// (fatal to a session). A run that is aborted (access refused, illegal command, LIST beyond 32
// bits) is not counted and sets the fault bit until the next start. reg_valid_i executes an access;
// an access in the next clock sees its effect. Accesses are aligned to their width. A 4-byte read
// is legal here wherever an 8-byte read is, whatever check_* says. Memory port and clocks of a run
// (counted by CLOCKS): mae_kernel_int8_nn, mae_kernel_affine_bytes, mae_kernel_fhe,
// mae_kernel_array.
// Latency: check_legal_o is combinational; reg_rdata_o and reg_error_o come one clock after
// reg_valid_i; a run begins one clock after the write.
// Throughput: one access a clock.
// Reset and clear: both erase kernel and registers; busy_o is high until the kernel is idle.
// Parameters: Kernel selects the kernel. Legal: Kernel any of kernel_e.
// Security: timing depends on the commands only.
// Source: docs/protocol.md, sections 5 and 11 (M1, M2: registers that only a valid tag can access);
// maeslant/protected/model/card.py.

`include "mae_assert.svh"

module mae_kernel_registers
  import mae_kernel_pkg::*;
#(
    parameter kernel_e Kernel = KernelNn
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic busy_o,

    input  logic        check_write_i,
    input  logic [31:0] check_offset_i,
    input  logic [ 1:0] check_log2_width_i,  // 2 or 3
    output logic        check_legal_o,

    input  logic        reg_valid_i,
    input  logic        reg_write_i,
    input  logic [31:0] reg_offset_i,
    input  logic [ 1:0] reg_log2_width_i,
    input  logic [63:0] reg_wdata_i,       // for width 4: in the lower half
    output logic [63:0] reg_rdata_o,
    output logic        reg_error_o,

    output logic [63:0] runs_o,
    output logic        fault_o,  // the last run was aborted
    output logic        done_o,   // a run ended, with or without fault

    output logic                    mem_valid_o,
    input  logic                    mem_ready_i,
    output memory_request_t         mem_request_o,
    output logic                    mem_wide_o,     // an access of 64 bytes, with the data below
    output logic            [511:0] mem_row_o,
    input  logic            [511:0] mem_row_i,
    input  logic                    mem_rvalid_i,
    input  row_t                    mem_rdata_i,
    input  logic                    mem_fault_i,
    input  logic                    mem_settled_i   // every write has reached the memory
);
  localparam logic [31:0] Control = 32'h00;
  localparam logic [31:0] Status = 32'h04;
  localparam logic [31:0] Runs = 32'h08;
  localparam logic [31:0] Clocks = 32'h18;
  localparam logic [31:0] Scratch = 32'h40;
  localparam logic [31:0] Space = 32'h80;
  // end of the registers that can be written
  localparam logic [31:0] OwnEnd = (Kernel == KernelMap) ? 32'h28 : 32'h18;

  logic [15:0][63:0] word_q;  // indexed by offset / 8; the registers that can be written
  logic [63:0] runs_q, clocks_q;
  logic running_q, fault_q, started_q;
  logic kernel_busy, kernel_done, kernel_fault, beyond_q;

  // Legality of an access.
  logic check_wide;
  assign check_wide = check_log2_width_i == 2'd3;

  always_comb begin
    check_legal_o = 1'b0;
    if (check_log2_width_i inside {2'd2, 2'd3}) begin
      unique case (1'b1)
        check_offset_i == Control: check_legal_o = check_write_i && !check_wide;
        check_offset_i == Status: check_legal_o = !check_write_i && !check_wide;
        check_offset_i == Runs: check_legal_o = !check_write_i && check_wide;
        check_offset_i == Clocks && Kernel != KernelMap:
        check_legal_o = !check_write_i && check_wide;
        default:
        check_legal_o = (check_offset_i >= 32'h10 && check_offset_i < OwnEnd) ||
            (check_offset_i >= Scratch && check_offset_i <= Space - (check_wide ? 32'd8 : 32'd4));
      endcase
    end
  end

  // Access.
  logic wide, write, refused, start;
  logic [ 3:0] index;
  logic [63:0] shown;

  assign wide = reg_log2_width_i == 2'd3;
  assign index = reg_offset_i[6:3];
  assign refused = reg_valid_i && reg_write_i && running_q && reg_offset_i < Scratch;
  assign write = reg_valid_i && reg_write_i && !refused && reg_offset_i < Space;
  assign start = write && reg_offset_i == Control && reg_wdata_i[0];

  always_comb begin
    unique case (reg_offset_i[31:3])
      29'd0:   shown = {30'b0, fault_q, running_q, 32'b0};
      29'd1:   shown = runs_q;
      29'd3:   shown = (Kernel != KernelMap) ? clocks_q : word_q[3];
      default: shown = (reg_offset_i < Space) ? word_q[index] : '0;
    endcase
    if (!wide) shown = {32'b0, reg_offset_i[2] ? shown[63:32] : shown[31:0]};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q <= '0;
      {reg_rdata_o, reg_error_o} <= '0;
    end else if (clear_i) begin
      word_q <= '0;
      {reg_rdata_o, reg_error_o} <= '0;
    end else begin
      reg_error_o <= refused;
      if (reg_valid_i) reg_rdata_o <= reg_write_i ? '0 : shown;
      if (write && (reg_offset_i >= Scratch || (reg_offset_i >= 32'h10 && reg_offset_i < OwnEnd)))
      begin
        if (wide) word_q[index] <= reg_wdata_i;
        else if (reg_offset_i[2]) word_q[index][63:32] <= reg_wdata_i[31:0];
        else word_q[index][31:0] <= reg_wdata_i[31:0];
      end
    end
  end

  // Runs.
  assign runs_o  = runs_q;
  assign fault_o = fault_q;
  assign done_o  = running_q && (kernel_done || beyond_q);
  assign busy_o  = kernel_busy;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {running_q, started_q, fault_q, beyond_q} <= '0;
      {runs_q, clocks_q} <= '0;
    end else if (clear_i) begin
      {running_q, started_q, fault_q, beyond_q} <= '0;
      {runs_q, clocks_q} <= '0;
    end else begin
      started_q <= start;
      beyond_q  <= start && Kernel != KernelMap && word_q[2][63:32] != '0;
      if (running_q && !done_o) clocks_q <= clocks_q + 64'd1;
      if (done_o) begin
        running_q <= 1'b0;
        fault_q   <= beyond_q || kernel_fault;
        if (!beyond_q && !kernel_fault) runs_q <= runs_q + 64'd1;
      end
      if (start) begin
        running_q <= 1'b1;
        fault_q   <= 1'b0;
        clocks_q  <= '0;
      end
    end
  end

  if (Kernel == KernelNn) begin : gen_nn
    mae_kernel_int8_nn u_kernel (
        .clk_i,
        .rst_ni,
        .clear_i,
        .start_i(started_q && !beyond_q),
        .list_i (word_q[2][31:0]),
        .busy_o (kernel_busy),
        .done_o (kernel_done),
        .fault_o(kernel_fault),
        .mem_valid_o,
        .mem_ready_i,
        .mem_request_o,
        .mem_rvalid_i,
        .mem_rdata_i,
        .mem_fault_i
    );
    assign mem_wide_o = 1'b0;
    assign mem_row_o  = '0;
  end else if (Kernel == KernelArray) begin : gen_array
    assign mem_wide_o = 1'b1;
    assign mem_request_o.strb = '1;
    assign mem_request_o.data = '0;
    mae_kernel_array u_kernel (
        .clk_i,
        .rst_ni,
        .clear_i,
        .start_i      (started_q && !beyond_q),
        .list_i       (word_q[2][31:0]),
        .busy_o       (kernel_busy),
        .done_o       (kernel_done),
        .fault_o      (kernel_fault),
        .mem_valid_o,
        .mem_ready_i,
        .mem_write_o  (mem_request_o.write),
        .mem_address_o(mem_request_o.address),
        .mem_data_o   (mem_row_o),
        .mem_rvalid_i,
        .mem_rdata_i  (mem_row_i),
        .mem_fault_i,
        .mem_settled_i
    );
  end else if (Kernel != KernelMap) begin : gen_fhe
    localparam bit Large = Kernel == KernelFhe8192;
    assign mem_wide_o = 1'b1;
    assign mem_request_o.strb = '1;
    assign mem_request_o.data = '0;
    mae_kernel_fhe #(
        .LogN (Large ? 13 : 12),
        .Width(Large ? 54 : 37)
    ) u_kernel (
        .clk_i,
        .rst_ni,
        .clear_i,
        .start_i      (started_q && !beyond_q),
        .list_i       (word_q[2][31:0]),
        .busy_o       (kernel_busy),
        .done_o       (kernel_done),
        .fault_o      (kernel_fault),
        .mem_valid_o,
        .mem_ready_i,
        .mem_write_o  (mem_request_o.write),
        .mem_address_o(mem_request_o.address),
        .mem_data_o   (mem_row_o),
        .mem_rvalid_i,
        .mem_rdata_i  (mem_row_i),
        .mem_fault_i
    );
  end else begin : gen_map
    assign mem_wide_o = 1'b0;
    assign mem_row_o  = '0;
    mae_kernel_affine_bytes u_kernel (
        .clk_i,
        .rst_ni,
        .clear_i,
        .start_i      (started_q),
        .source_i     (word_q[2]),
        .destination_i(word_q[3]),
        .length_i     (word_q[4]),
        .busy_o       (kernel_busy),
        .done_o       (kernel_done),
        .fault_o      (kernel_fault),
        .mem_valid_o,
        .mem_ready_i,
        .mem_request_o,
        .mem_rvalid_i,
        .mem_rdata_i,
        .mem_fault_i
    );
  end

  logic unused;  // kernels take the 16 bytes or the row
  assign unused = ^{mem_rdata_i, mem_row_i, mem_settled_i};

  `MAE_ASSERT(Aligned, !reg_valid_i || (reg_offset_i[1:0] == '0 && !(wide && reg_offset_i[2])))
  `MAE_ASSERT(OneRun, !(kernel_done && !running_q))

endmodule
