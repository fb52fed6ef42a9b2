// SPDX-License-Identifier: Apache-2.0
//
// mae_arbiter_toy: connects the memory arbiter to a very small memory and one or two toy peripherals
// (mae_toy_peripheral), so that all states of the arbiter can be tried. One job starts in a clock.
// Legal: RowBits 3, Depth and Jobs as the arbiter.

module mae_arbiter_toy
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
#(
    parameter int unsigned RowBits = 3,
    parameter int unsigned Depth   = 4,
    parameter int unsigned Jobs    = 1
) (
    input logic            clk_i,
    input logic            rst_ni,
    input logic [Jobs-1:0] clear_i,

    // Which toy starts a job, and the job.
    input  logic  [   Jobs-1:0] start_i,
    input  mode_e               mode_i,
    input  logic                decrypt_i,
    input  logic                init_i,
    input  logic                moves_i,
    input  logic                plain_i,
    input  logic                bad_tag_i,
    input  logic                key_each_i,
    input  logic  [RowBits-1:0] source_i,
    input  logic  [RowBits-1:0] destination_i,
    input  logic  [RowBits-1:0] keys_i,
    input  logic  [RowBits+4:0] length_i,
    output logic  [   Jobs-1:0] refused_o,
    output logic  [   Jobs-1:0] done_o,

    input  logic [Jobs-1:0] go_i,
    input  logic [Jobs-1:0] row_first_i,
    output logic [Jobs-1:0] both_o,

    input  logic               cpu_valid_i,
    output logic               cpu_ready_o,
    input  logic [RowBits+3:0] cpu_addr_i,
    input  logic [        3:0] cpu_strb_i,
    input  logic [       31:0] cpu_wdata_i,
    output logic [       31:0] cpu_rdata_o
);

  memory_job_t job;
  memory_job_t [Jobs-1:0] jobs;
  error_e [Jobs-1:0] job_error;
  memory_out_t [Jobs-1:0] core;
  memory_in_t [Jobs-1:0] memory;

  always_comb begin
    job = '0;
    job.source = 32'({source_i, 4'h0});
    job.destination = 32'({destination_i, 4'h0});
    job.keys = 32'({keys_i, 4'h0});
    job.length = 32'(length_i);
    job.moves = moves_i;
    job.plain = plain_i;
    job.verdict = !plain_i && moves_i && decrypt_i;
    job.key_each = key_each_i;
    job.cfg.mode = mode_i;
    job.cfg.dir = dir_e'(decrypt_i);
    job.cfg.init = init_i;
    job.cfg.tweak_slot = 6'd1;
    job.cfg.iv = 128'h00112233_44556677_8899aabb_ccddeeff;
  end

  for (genvar i = 0; i < Jobs; i++) begin : gen_toy
    assign refused_o[i] = job_error[i] != ErrNone;
    assign done_o[i] = memory[i].done;

    mae_toy_peripheral u_toy (
        .clk_i,
        .rst_ni,
        .clear_i    (clear_i[i]),
        .start_i    (start_i[i]),
        .job_i      (job),
        .bad_tag_i,
        .go_i       (go_i[i]),
        .row_first_i(row_first_i[i]),
        .both_o     (both_o[i]),
        .job_o      (jobs[i]),
        .job_error_i(job_error[i]),
        .core_o     (core[i]),
        .memory_i   (memory[i])
    );
  end

  logic ram_valid, ram_write;
  logic [RowBits-1:0] ram_row;
  logic [15:0] ram_strb;
  logic [127:0] ram_wdata, ram_rdata;

  mae_memory_arbiter #(
      .RowBits(RowBits),
      .Depth  (Depth),
      .Jobs   (Jobs)
  ) u_arbiter (
      .clk_i,
      .rst_ni,
      .cpu_valid_i,
      .cpu_ready_o,
      .cpu_addr_i,
      .cpu_strb_i,
      .cpu_wdata_i,
      .cpu_rdata_o,
      .core_job_i  (jobs),
      .core_error_o(job_error),
      .core_i      (core),
      .core_o      (memory),
      .ram_valid_o (ram_valid),
      .ram_write_o (ram_write),
      .ram_row_o   (ram_row),
      .ram_strb_o  (ram_strb),
      .ram_wdata_o (ram_wdata),
      .ram_rdata_i (ram_rdata)
  );

  mae_soc_memory #(
      .RowBits(RowBits)
  ) u_memory (
      .clk_i,
      .valid_i(ram_valid),
      .write_i(ram_write),
      .row_i  (ram_row),
      .strb_i (ram_strb),
      .wdata_i(ram_wdata),
      .rdata_o(ram_rdata)
  );

endmodule
