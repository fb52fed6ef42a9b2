// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_multi_key: encrypts and decrypts AES-GCM messages under several keys, with an engine that
// has a bank for each of them or, with Small = 1, one bank for all.
//
// Ports: as mae_gcm_stream. With Small = 1 the keys wait in a table, and a message of another key
// than the one before it waits for the end of that one, then for the load of its key. key_ready_o
// then depends on msg_* too.
// Latency: as mae_gcm_stream; with Small = 1, of a message of another key, from the verdict before
// it to its first beat at most Nr + 4 * Lanes + 3 clocks.
// Throughput: as mae_gcm_stream; with Small = 1 from one message to the next of the same key.
// Reset and clear: abort_i removes all messages and keeps the keys, clear_i and reset also erase
// the keys. Data as in mae_gcm_stream with the same Small.
// Parameters: Legal: Lanes, MaxKeyLen, OneKeyLen, Sbox, MsgDepth as mae_gcm_stream; KeyBanks 1..4,
// with Small 2..4; Small and RomSboxes 0 or 1, RomSboxes = 1 with Small = 1.
// Security: constant-time, the verdict too; no masking.
// Source: SP 800-38D §7.

`include "mae_assert.svh"

module mae_gcm_multi_key
  import mae_aes_pkg::*;
  import mae_gcm_pkg::*;
#(
    parameter  int unsigned Lanes     = 4,
    parameter  int unsigned KeyBanks  = 2,
    parameter  key_len_e    MaxKeyLen = Aes256,
    parameter  bit          OneKeyLen = 1'b0,
    parameter  sbox_impl_e  Sbox      = SboxTable,
    parameter  bit          Small     = 1'b0,
    parameter  bit          RomSboxes = 1'b0,
    parameter  int unsigned MsgDepth  = 32,
    localparam int unsigned ByteWidth = $clog2(16 * Lanes + 1)
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic                         clear_i,
    input  logic                         abort_i,
    input  logic                         key_valid_i,
    output logic                         key_ready_o,
    input  cipher_key_t                  key_i,
    input  logic                         msg_valid_i,
    output logic                         msg_ready_o,
    input  gcm_msg_t                     msg_i,
    input  logic                         in_valid_i,
    output logic                         in_ready_o,
    input  block_t       [    Lanes-1:0] in_data_i,
    input  logic         [ByteWidth-1:0] in_bytes_i,
    input  logic                         in_last_i,
    output logic                         out_valid_o,
    input  logic                         out_ready_i,
    output block_t       [    Lanes-1:0] out_data_o,
    output logic         [ByteWidth-1:0] out_bytes_o,
    output logic                         out_last_o,
    output logic                         tag_valid_o,
    input  logic                         tag_ready_i,
    output gcm_verdict_t                 tag_o
);
  // Ports of the engine.
  logic key_valid, key_ready, msg_valid, msg_ready;
  cipher_key_t key;
  gcm_msg_t msg;

  if (Small) begin : gen_table
    cipher_key_t [KeyBanks-1:0] table_q;
    cipher_key_t wanted;
    logic [KeyBanks-1:0] known_q;
    logic loaded_q, same, rewrite, load, take;
    bank_t bank_q;  // of the key in the engine

    always_comb begin
      wanted = '0;
      load   = 1'b0;
      for (int unsigned b = 0; b < KeyBanks; b++) begin
        if (msg_i.bank == bank_t'(b)) begin
          wanted = table_q[b];
          load   = known_q[b] && msg_valid_i && !same;
        end
      end
      // A message announced together with its key uses that key.
      if (key_valid_i && key_i.bank == msg_i.bank) load = 1'b0;
    end
    assign same = loaded_q && bank_q == msg_i.bank;
    assign rewrite = loaded_q && bank_q == key_i.bank;  // of the engine's key, through the table
    assign key_valid = load || (key_valid_i && rewrite);
    assign key_ready_o = rewrite ? key_ready : !clear_i;
    assign msg_valid = msg_valid_i && same;
    assign msg_ready_o = msg_ready && same;
    assign take = key_valid_i && key_ready_o;
    always_comb begin
      key      = load ? wanted : key_i;
      key.bank = '0;
      if (OneKeyLen) key.len = MaxKeyLen;
      msg      = msg_i;
      msg.bank = '0;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        table_q  <= '0;
        known_q  <= '0;
        loaded_q <= 1'b0;
        bank_q   <= '0;
      end else if (clear_i) begin
        table_q  <= '0;
        known_q  <= '0;
        loaded_q <= 1'b0;
        bank_q   <= '0;
      end else begin
        if (load && key_ready) begin
          loaded_q <= 1'b1;
          bank_q   <= msg_i.bank;
        end
        for (int unsigned b = 0; b < KeyBanks; b++) begin
          if (take && key_i.bank == bank_t'(b)) begin
            table_q[b] <= key_i;
            known_q[b] <= 1'b1;
          end
        end
      end
    end
  end else begin : gen_banks
    assign key_valid   = key_valid_i;
    assign key_ready_o = key_ready;
    assign key         = key_i;
    assign msg_valid   = msg_valid_i;
    assign msg_ready_o = msg_ready;
    assign msg         = msg_i;
  end

  mae_gcm_stream #(
      .Lanes    (Lanes),
      .KeyBanks (Small ? 1 : KeyBanks),
      .MaxKeyLen(MaxKeyLen),
      .OneKeyLen(OneKeyLen),
      .Sbox     (Sbox),
      .Small    (Small),
      .RomSboxes(RomSboxes),
      .MsgDepth (MsgDepth)
  ) u_engine (
      .clk_i,
      .rst_ni,
      .clear_i,
      .abort_i,
      .key_valid_i(key_valid),
      .key_ready_o(key_ready),
      .key_i      (key),
      .msg_valid_i(msg_valid),
      .msg_ready_o(msg_ready),
      .msg_i      (msg),
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_bytes_i,
      .in_last_i,
      .out_valid_o,
      .out_ready_i,
      .out_data_o,
      .out_bytes_o,
      .out_last_o,
      .tag_valid_o,
      .tag_ready_i,
      .tag_o
  );

  `MAE_PARAM(KeyBanksLegal, KeyBanks >= 1 && KeyBanks <= 4)

endmodule
