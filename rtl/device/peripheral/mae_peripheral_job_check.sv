// SPDX-License-Identifier: Apache-2.0
//
// mae_peripheral_job_check: converts the AES peripheral's registers to a job, and checks whether
// the job may start.
//
// Latency: 0 clocks (combinational).
// Parameters: Auth = 1 needs a cipher that encrypts. Legal: as mae_peripheral_core.

module mae_peripheral_job_check
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
#(
    parameter int unsigned KeySlots = 4,
    parameter dirs_e Dirs = DirsBoth,
    parameter key_len_e MaxKeyLen = Aes256,
    parameter bit Auth = 1'b1,
    parameter bit Memory = 1'b0
) (
    // All registers; a job uses some of them.
    /* verilator lint_off UNUSEDSIGNAL */
    input mae_peripheral_regs_pkg::mae_peripheral__out_t regs_i,
    /* verilator lint_on UNUSEDSIGNAL */
    input logic [63:0] slots_i,  // slots that hold a key

    output auth_job_t   job_o,
    output auth_state_t state_o,         // of its message before the job
    output logic        quiet_o,         // the job has no results
    output logic        memory_o,        // it is a memory job
    output memory_job_t memory_job_o,    // the memory job
    input  error_e      memory_error_i,  // error of its addresses
    output error_e      error_o          // ErrNone: it may start
);

  mae_dma_pkg::status_e verdict;
  logic auth_op;

  // Register words (byte 0 in bits 7:0) as a block (byte 0 in bits 127:120).
  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      state_o.iv[8*(15-i)+:8]   = regs_i.iv[i/4].word.value[8*(i%4)+:8];
      state_o.hash[8*(15-i)+:8] = regs_i.hash[i/4].word.value[8*(i%4)+:8];
      job_o.tag[8*(15-i)+:8]    = regs_i.tag[i/4].word.value[8*(i%4)+:8];
    end
    state_o.aad_bytes  = {regs_i.aad_bytes[1].word.value, regs_i.aad_bytes[0].word.value};
    state_o.data_bytes = {regs_i.data_bytes[1].word.value, regs_i.data_bytes[0].word.value};
    case (8'(regs_i.ctrl.mode.value))
      OpGcm:   job_o.auth = AuthGcm;
      OpCcm:   job_o.auth = AuthCcm;
      OpCmac:  job_o.auth = AuthCmac;
      default: job_o.auth = AuthNone;
    endcase
    job_o.phase = phase_e'(regs_i.ctrl.phase.value);
    job_o.final_job = regs_i.ctrl.final_.value;
    job_o.length = regs_i.length.bytes.value;
    job_o.tag_bytes = regs_i.tag_bytes.bytes.value;
    job_o.cfg.mode = mode_e'(regs_i.ctrl.mode.value[ModeWidth-1:0]);
    job_o.cfg.dir = dir_e'(regs_i.ctrl.decrypt.value);
    job_o.cfg.init = regs_i.ctrl.init.value;
    job_o.cfg.serial = regs_i.length.bytes.value[3:0] != '0;
    job_o.cfg.key_slot = regs_i.ctrl.key_slot.value;
    job_o.cfg.tweak_slot = regs_i.ctrl.tweak_slot.value;
    job_o.cfg.iv = state_o.iv;
  end

  assign auth_op = Auth && job_o.auth != AuthNone;
  assign quiet_o = auth_op && (job_o.phase != PhaseData || job_o.auth == AuthCmac);

  always_comb begin
    verdict = check_job(
      '{
          op: 8'(regs_i.ctrl.mode.value),
          decrypt: regs_i.ctrl.decrypt.value,
          init: regs_i.ctrl.init.value,
          length: regs_i.length.bytes.value,
          key_valid: slots_i[regs_i.ctrl.key_slot.value] || regs_i.ctrl.key_each.value,
          tweak_valid: slots_i[regs_i.ctrl.tweak_slot.value],
          same_slot: regs_i.ctrl.key_slot.value == regs_i.ctrl.tweak_slot.value
      },
      Dirs
    );
    if (auth_op) begin
      verdict = check_auth(
        '{
            op: 8'(regs_i.ctrl.mode.value),
            phase: job_o.phase,
            decrypt: regs_i.ctrl.decrypt.value,
            init: regs_i.ctrl.init.value,
            ends: job_o.final_job,
            length: job_o.length,
            tag_bytes: job_o.tag_bytes,
            aad_bytes: state_o.aad_bytes,
            data_bytes: state_o.data_bytes,
            key_valid: slots_i[regs_i.ctrl.key_slot.value]
        },
        Dirs
      );
    end
  end

  // A memory job; its blocks may be jobs of their own.
  assign memory_o = Memory && regs_i.ctrl.memory.value;

  always_comb begin
    memory_job_o = '{
        source: regs_i.source.address.value,
        destination: regs_i.destination.address.value,
        keys: regs_i.keys.address.value,
        length: job_o.length,
        moves: !quiet_o,
        plain: !auth_op,
        verdict: auth_op && !quiet_o && job_o.cfg.dir == Decrypt,
        key_each: regs_i.ctrl.key_each.value,
        key_len: key_len_e'(regs_i.keys_len.len.value),
        cfg: job_o.cfg
    };
  end

  always_comb begin
    error_o = error_e'(verdict);
    if (error_o == ErrNone && (regs_i.ctrl.memory.value || regs_i.ctrl.key_each.value)) begin
      error_o = memory_o ? check_memory_job(memory_job_o, job_o.final_job, KeySlots, MaxKeyLen) :
          ErrBadOp;
      if (error_o == ErrNone) error_o = memory_error_i;
    end
  end

endmodule
