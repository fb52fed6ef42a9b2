// SPDX-License-Identifier: Apache-2.0
//
// auth_bench: connects mae_auth_mode_unit to mae_aes_core as in the peripheral, without a bus.

module auth_bench
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
#(
    parameter int unsigned Digit = 16
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic         key_valid_i,
    output logic         key_ready_o,
    input  logic [  5:0] key_slot_i,
    input  logic         key_erase_i,
    input  logic [  1:0] key_len_i,
    input  logic [255:0] key_i,

    input  logic         job_valid_i,
    output logic         job_ready_o,
    input  logic [  1:0] auth_i,
    input  logic [  1:0] phase_i,
    input  logic         final_i,
    input  logic         decrypt_i,
    input  logic         init_i,
    input  logic [  2:0] mode_i,
    input  logic [  5:0] slot_i,
    input  logic [ 31:0] length_i,
    input  logic [  4:0] tag_bytes_i,
    input  logic [127:0] tag_i,

    input  logic         load_i,
    input  logic [383:0] state_i,
    output logic [383:0] state_o,

    output logic         done_o,
    output logic         bad_tag_o,
    output logic         bad_key_o,
    output logic         tag_valid_o,
    output logic [127:0] tag_o,

    input  logic         in_valid_i,
    output logic         in_ready_o,
    input  logic [127:0] in_data_i,
    input  logic [  4:0] in_bytes_i,
    input  logic         in_last_i,
    output logic         out_valid_o,
    output logic [127:0] out_data_o,
    output logic [  4:0] out_bytes_o,
    output logic         out_last_o
);
  auth_job_t job;
  auth_state_t state_q, state;
  auth_write_t write;
  key_write_t  key_write;
  logic cfg_valid, cfg_ready, row_valid, row_ready, core_valid, rsp_lost;
  ctx_t cfg_ctx, row_ctx, rsp_ctx;
  mode_cfg_t cfg;
  auth_row_t in_row, out_row, row, rsp_row;
  logic [1:0] unused_room;
  logic [3:0] unused_slots;
  cipher_key_t unused_look;

  assign key_write = '{
          slot: key_slot_i,
          erase: key_erase_i,
          len: key_len_e'(key_len_i),
          key: key_i
      };
  assign in_row = '{last: in_last_i, bytes: in_bytes_i, data: in_data_i};
  assign {out_last_o, out_bytes_o, out_data_o} = out_row;
  assign state_o = state_q;

  always_comb begin
    job.auth = auth_e'(auth_i);
    job.phase = phase_e'(phase_i);
    job.final_job = final_i;
    job.length = length_i;
    job.tag_bytes = tag_bytes_i;
    job.tag = tag_i;
    job.cfg.mode = mode_e'(mode_i);
    job.cfg.dir = dir_e'(decrypt_i);
    job.cfg.init = init_i;
    job.cfg.serial = length_i[3:0] != '0;
    job.cfg.key_slot = slot_i;
    job.cfg.tweak_slot = '0;
    job.cfg.iv = state_q.iv;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= '0;
    else if (clear_i) state_q <= '0;
    else if (load_i) state_q <= state_i;
    else begin
      if (write.iv) state_q.iv <= state.iv;
      if (write.hash) state_q.hash <= state.hash;
      if (write.aad_bytes) state_q.aad_bytes <= state.aad_bytes;
      if (write.data_bytes) state_q.data_bytes <= state.data_bytes;
    end
  end

  logic [1:0] unused_single;

  mae_auth_mode_unit #(
      .Digit(Digit)
  ) u_auth (
      .clk_i,
      .rst_ni,
      .clear_i,
      .job_valid_i,
      .job_ready_o,
      .job_i         (job),
      .state_i       (state_q),
      .state_write_o (write),
      .state_o       (state),
      .key_changed_i (key_valid_i && key_ready_o),
      .key_slot_i,
      .done_o,
      .bad_tag_o,
      .bad_key_o,
      .tag_valid_o,
      .tag_o,
      .in_valid_i,
      .in_ready_o,
      .in_row_i      (in_row),
      .out_valid_o,
      .out_row_o     (out_row),
      .single_valid_i(1'b0),
      .single_slot_i ('0),
      .single_dir_i  (mae_aes_pkg::Encrypt),
      .single_i      ('0),
      .single_taken_o(unused_single[0]),
      .single_done_o (unused_single[1]),
      .cfg_valid_o   (cfg_valid),
      .cfg_ready_i   (cfg_ready),
      .cfg_ctx_o     (cfg_ctx),
      .cfg_o         (cfg),
      .row_valid_o   (row_valid),
      .row_ready_i   (row_ready),
      .row_ctx_o     (row_ctx),
      .row_o         (row),
      .rsp_valid_i   (core_valid && !wiping_o),
      .rsp_ctx_i     (rsp_ctx),
      .rsp_row_i     (rsp_row),
      .rsp_lost_i    (rsp_lost)
  );

  mae_aes_core #(
      .Lanes       (1),
      .Contexts    (2),
      .Iterative   (1'b1),
      .KeySlots    (4),
      .KeyBanks    (2),
      .MinResidence(1)
  ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .wiping_o,
      .write_valid_i (key_valid_i),
      .write_ready_o (key_ready_o),
      .write_i       (key_write),
      .slot_valid_o  (unused_slots),
      .want_valid_i  (1'b0),
      .want_slot_i   ('0),
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

endmodule
