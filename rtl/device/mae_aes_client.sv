// SPDX-License-Identifier: Apache-2.0
//
// mae_aes_client: AES as the client of mae_dma: checks a descriptor, then turns the rows of its
// source into the rows of its destination.
//
// The fields a descriptor has for the client: op (mode_e), flags decrypt and init, key_slot,
// tweak_slot, iv. It is refused with StatusBadOp (mode or direction not in this build),
// StatusBadLength (rules of the mode) or StatusBadKey (slot empty or out of range). A key erased
// under a job in progress makes the rest of its output 0.
// A refusal takes no clock, an acceptance what mae_mode_engine takes; rows: latency and throughput
// of mae_mode_engine (Lanes blocks a clock where the mode allows it). row_ready_o as there;
// cfg_ready_o and cfg_status_o are combinational in the descriptor.
// Constant-time: yes, for one message; messages wait for each other. Masked: no.
// clear_i: only when no job is in flight; see mae_aes_core.

module mae_aes_client
  import mae_aes_pkg::*;
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
    localparam int unsigned DataWidth = 128 * Lanes,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic clear_i,
    output logic wiping_o,

    input  logic                      write_valid_i,  // to a key slot
    output logic                      write_ready_o,
    input  key_write_t                write_i,
    output logic       [KeySlots-1:0] slot_valid_o,

    input  logic     cfg_valid_i,
    output logic     cfg_ready_o,
    input  dma_ctx_t cfg_ctx_i,
    input  desc_t    cfg_desc_i,
    output status_e  cfg_status_o,
    output accept_t  cfg_accept_o,
    output logic     report_valid_o,
    output report_t  report_o,

    input  logic                      row_valid_i,
    output logic                      row_ready_o,
    input  dma_ctx_t                  row_ctx_i,
    input  logic     [ DataWidth-1:0] row_data_i,
    input  logic     [BytesWidth-1:0] row_bytes_i,
    input  logic                      row_last_i,
    output logic     [  Contexts-1:0] client_room_o,

    output logic                      row_valid_o,
    input  logic                      row_ready_i,
    output dma_ctx_t                  row_ctx_o,
    output logic     [ DataWidth-1:0] row_data_o,
    output logic     [BytesWidth-1:0] row_bytes_o,
    output logic                      row_last_o
);

  // A slot number of the descriptor may be beyond those there are.
  function automatic logic slot_holds_key(input logic [7:0] slot, input logic [KeySlots-1:0] valid);
    logic holds;
    holds = 1'b0;
    for (int unsigned i = 0; i < KeySlots; i++) holds |= slot == 8'(i) && valid[i];
    return holds;
  endfunction

  mode_cfg_t cfg;
  desc_t unused_desc;  // addresses, lists and cookie are the DMA's
  logic core_cfg_ready;
  logic [7:0] known_flags;

  assign known_flags = 8'(1 << FlagDecrypt) | 8'(1 << FlagInit) | 8'(1 << FlagSrcList) |
      8'(1 << FlagDstList) | 8'(1 << FlagIrq);
  assign unused_desc = cfg_desc_i;
  assign cfg_accept_o = '0;
  assign report_valid_o = 1'b0;
  assign report_o = '0;
  assign cfg_ready_o = (cfg_status_o == StatusOk) ? core_cfg_ready : cfg_valid_i;

  always_comb begin
    cfg_status_o = check_job(
      '{
          op: cfg_desc_i.op,
          decrypt: cfg_desc_i.flags[FlagDecrypt],
          init: cfg_desc_i.flags[FlagInit],
          length: cfg_desc_i.length,
          key_valid: slot_holds_key(cfg_desc_i.key_slot, slot_valid_o),
          tweak_valid: slot_holds_key(cfg_desc_i.tweak_slot, slot_valid_o)
      },
      Dirs
    );
    if ((cfg_desc_i.flags & ~known_flags) != '0 ||
        {cfg_desc_i.nonce, cfg_desc_i.phase, cfg_desc_i.tag_bytes} != '0) begin
      cfg_status_o = StatusBadOp;
    end
    cfg.mode = mode_e'(cfg_desc_i.op[2:0]);
    cfg.dir = dir_e'(cfg_desc_i.flags[FlagDecrypt]);
    cfg.init = cfg_desc_i.flags[FlagInit];
    cfg.serial = cfg_desc_i.length[3:0] != '0;
    cfg.key_slot = key_slot_t'(cfg_desc_i.key_slot);
    cfg.tweak_slot = key_slot_t'(cfg_desc_i.tweak_slot);
    cfg.iv = mae_bytes_pkg::swap_block(cfg_desc_i.iv);
  end

  block_t [Lanes-1:0] in_data, out_data;
  logic unused_key_lost;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      in_data[i] = mae_bytes_pkg::swap_block(row_data_i[128*i+:128]);
      row_data_o[128*i+:128] = mae_bytes_pkg::swap_block(out_data[i]);
    end
  end

  mae_aes_core #(
      .Lanes       (Lanes),
      .Contexts    (Contexts),
      .Iterative   (1'b0),
      .KeySlots    (KeySlots),
      .KeyBanks    (KeyBanks),
      .Dirs        (Dirs),
      .MaxKeyLen   (MaxKeyLen),
      .Sbox        (Sbox),
      .RegsPerRound(RegsPerRound)
  ) u_core (
      .clk_i,
      .rst_ni,
      .clear_i,
      .wiping_o,
      .write_valid_i,
      .write_ready_o,
      .write_i,
      .slot_valid_o,
      .cfg_valid_i   (cfg_valid_i && cfg_status_o == StatusOk),
      .cfg_ready_o   (core_cfg_ready),
      .cfg_ctx_i,
      .cfg_i         (cfg),
      .room_o        (client_room_o),
      .row_valid_i,
      .row_ready_o,
      .row_ctx_i,
      .row_data_i    (in_data),
      .row_bytes_i,
      .row_last_i,
      .out_valid_o   (row_valid_o),
      .out_ready_i   (row_ready_i),
      .out_ctx_o     (row_ctx_o),
      .out_data_o    (out_data),
      .out_bytes_o   (row_bytes_o),
      .out_last_o    (row_last_o),
      .out_key_lost_o(unused_key_lost)
  );

endmodule
