// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_kdf: derives the key and the IV mask of a message class in an epoch from the session
// secret.
//
// SP 800-108 in counter mode with AES-256-CMAC: three blocks
//    CMAC(secret, [i]_32 || "maeslant1" || 00 || context || [352]_32), i = 1, 2, 3,
//    context = session id || host nonce || device nonce || class || epoch || capabilities.
// The first 32 of the 48 bytes are the key, the next 12 the mask. The module has an iterative cipher
// of its own, because keys are derived rarely and the data lanes are busy. session_i, class_i and
// epoch_i must hold until done_o; key_o is valid with done_o only.
// Latency: 22 * (14 + 1) + 1 = 331 clocks from start_i to done_o.
// Throughput: one derivation at a time.
// Reset and clear: clear_i and the end of a derivation erase everything derived or expanded; reset
// does so after the first clock in it.
// Parameters: Legal: Sbox any of sbox_impl_e.
// Security: constant-time; no masking.
// Source: SP 800-108r1 §4.1; SP 800-38B §6.2; docs/protocol.md, section 2.

`include "mae_assert.svh"

module mae_guard_kdf
  import mae_aes_pkg::*;
  import mae_auth_pkg::*;
  import mae_guard_pkg::*;
#(
    parameter sbox_impl_e Sbox = SboxTable
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic       start_i,
    output logic       busy_o,
    input  session_t   session_i,
    input  class_e     class_i,
    input  epoch_t     epoch_i,
    output logic       done_o,
    output class_key_t key_o
);

  // The message of 111 bytes, and one unused byte.
  localparam int unsigned Blocks = 7;
  localparam int unsigned LastBytes = 15;
  localparam logic [31:0] OutBits = 32'd352;

  typedef enum logic [1:0] {
    Idle,
    Ask,
    Wait,
    Done
  } state_e;

  typedef logic [$clog2(Blocks)-1:0] index_t;

  state_e state_q;
  logic [1:0] part_q;  // 0: E(0) for CMAC's subkeys, then i
  index_t index_q;
  block_t zero_q, mac_q;
  logic [2:0][127:0] out_q;  // i = 1 is in the most significant block
  block_t [Blocks-1:0] message;  // block 0 is the most significant one
  block_t block;
  logic last, wipe, ready, valid;
  block_t answer;

  assign message = {
    30'h0,
    part_q,
    Label,
    8'h0,
    session_i.session_id,
    session_i.host_nonce,
    session_i.device_nonce,
    class_i,
    epoch_i,
    session_i.capabilities,
    OutBits,
    8'h0
  };
  assign last = index_q == index_t'(Blocks - 1);
  assign block = message[index_t'(Blocks-1)-index_q];
  assign busy_o = state_q != Idle;
  assign done_o = state_q == Done;
  assign key_o = done_o ? {out_q[2:1], out_q[0][127:32]} : '0;
  assign wipe = clear_i || done_o;

  block_t chained;
  assign chained = mac_q ^ (last ? cmac_last(zero_q, block, 5'(LastBytes)) : block);

  mae_cipher_per_block_key #(
      .KeyLen(Aes256),
      .Sbox  (Sbox)
  ) u_cipher (
      .clk_i,
      .rst_ni,
      .clear_i(wipe),
      .valid_i(state_q == Ask),
      .ready_o(ready),
      .key_i  (session_i.secret),
      .block_i((part_q == '0) ? '0 : chained),
      .valid_o(valid),
      .block_o(answer)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      part_q  <= '0;
      index_q <= '0;
    end else if (wipe) begin
      state_q <= Idle;
      part_q  <= '0;
      index_q <= '0;
    end else begin
      unique case (state_q)
        Idle: if (start_i) state_q <= Ask;
        Ask: if (ready) state_q <= Wait;
        Wait:
        if (valid) begin
          state_q <= Ask;
          if (part_q == '0) part_q <= 2'd1;
          else if (last) begin
            index_q <= '0;
            part_q  <= part_q + 1'b1;
            if (part_q == 2'd3) state_q <= Done;
          end else index_q <= index_q + 1'b1;
        end
        default: ;
      endcase
    end
  end
  // Secrets are erased by synchronous resets, which cost no LUT.
  always_ff @(posedge clk_i) begin
    if (wipe || state_q == Idle) begin
      zero_q <= '0;
      mac_q  <= '0;
      out_q  <= '0;
    end else if (valid) begin
      if (part_q == '0) zero_q <= answer;
      else if (last) out_q <= {out_q[1:0], answer};
      mac_q <= (part_q == '0 || last) ? '0 : answer;
    end
  end

  `MAE_ASSERT(NothingLeft, state_q != Idle || (zero_q == '0 && mac_q == '0 && out_q == '0))

endmodule
