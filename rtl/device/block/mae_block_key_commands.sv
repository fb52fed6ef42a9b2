// SPDX-License-Identifier: Apache-2.0
//
// mae_block_key_commands: executes the key commands of the block card's registers: loads and
// unloads media encryption keys, and erases all.
//
// The commands are those of an encryption engine after OCP L.O.C.K. (draft 0.8). A command refuses
// new requests with the key at once, waits until no request uses it, and erases or replaces it in
// the ciphers of both channels. A bus that never ends the requests does not keep a key: after
// WaitClocks it is erased under them, with ErrForced. Both halves of a key must differ. In a command
// closed_o forbids changes of the registers that it reads.
//
// Both halves of a slot are first erased, then written (load) or erased again: mae_key_cache accepts
// the second write when the banks hold no round key of the old one, so a command that is done has
// left nothing of it.
// Latency: a command for a slot takes about 70 clocks if no request uses it.
// Throughput: one command at a time.
// Reset and clear: both end the command and forget which slots hold keys; the ciphers and the
// registers are cleared beside.
// Parameters: Legal: MediaKeys 1..32; WaitClocks >= 4.
// Source: OCP L.O.C.K., draft 0.8 (chipsalliance/Caliptra, doc/ocp_lock), "Special Function
// Registers"; FIPS 140-3 IG C.I.

`include "mae_assert.svh"

module mae_block_key_commands
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_device_pkg::*;
  import mae_block_pkg::*;
#(
    parameter int unsigned MediaKeys  = 8,
    parameter int unsigned WaitClocks = 65536
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic closed_i, // keys and memories are being erased: no command begins

    // from and to the registers
    input  logic              exe_i,
    input  logic              dn_i,
    input  logic [ 3:0]       cmd_i,
    input  logic [ 4:0][31:0] metd_i,
    input  logic [ 7:0][31:0] aux_i,
    input  logic [15:0][31:0] mek_i,
    output logic              ready_o,
    output logic              closed_o,
    output logic              set_dn_o,     // pulse
    output logic              clear_cmd_o,  // acknowledged: exe and cmd return to 0
    output logic              clear_mek_o,
    output logic [ 3:0]       err_o,

    input  logic [MediaKeys-1:0] used_i,  // by requests in flight
    output logic [MediaKeys-1:0] valid_o,

    // to the ciphers of both channels
    output logic       [1:0] write_valid_o,
    input  logic       [1:0] write_ready_i,
    output key_write_t       write_o
);
  `MAE_PARAM(MediaKeysLegal, MediaKeys >= 1 && MediaKeys <= 32)
  `MAE_PARAM(WaitClocksLegal, WaitClocks >= 4)

  localparam logic [3:0] CmdLoad = 4'd1, CmdUnload = 4'd2, CmdZeroize = 4'd3;
  localparam logic [3:0] ErrSlot = 4'd4, ErrEqual = 4'd5, ErrAux = 4'd6, ErrCommand = 4'd7;
  localparam logic [3:0] ErrForced = 4'd8;
  localparam int unsigned WaitWidth = $clog2(WaitClocks + 1);

  typedef enum logic [2:0] {
    Idle,
    Settle,  // requests that were accepted in the clock of the refusal show in used_i
    Wait,    // for requests that use the key
    Write,   // both halves of a slot, to both ciphers
    Done     // until acknowledged
  } state_e;

  state_e state_q;
  logic [MediaKeys-1:0] target_q;  // slots of the command that are not yet written
  logic [MediaKeys-1:0] valid_q;
  logic load_q, half_q, second_q;  // second write of the slot
  logic [3:0] err_q;
  logic [1:0] taken_q;
  logic [WaitWidth-1:0] wait_q;
  logic [4:0] slot;
  logic [3:0] fault;
  logic [MediaKeys-1:0] named, next;
  logic [7:0][31:0] half;
  logic both, last;

  always_comb begin
    named = '0;
    for (int unsigned i = 0; i < MediaKeys; i++) named[i] = metd_i[0] == 32'(i);
    if (metd_i[4:1] != '0) named = '0;
    fault = '0;
    unique case (cmd_i)
      CmdLoad: begin
        if (mek_i[7:0] == mek_i[15:8]) fault = ErrEqual;
        if (aux_i != '0) fault = ErrAux;
        if (named == '0) fault = ErrSlot;
      end
      CmdUnload: if (named == '0) fault = ErrSlot;
      CmdZeroize: ;
      default: fault = ErrCommand;
    endcase
  end

  always_comb begin
    slot = '0;
    for (int unsigned i = 0; i < MediaKeys; i++) begin
      if (target_q[MediaKeys-1-i]) slot = 5'(MediaKeys - 1 - i);
    end
    next = target_q & (target_q - 1'b1);
  end

  assign half = half_q ? mek_i[15:8] : mek_i[7:0];
  assign write_o = '{
          slot: cipher_slot(slot, half_q),
          erase: !load_q || !second_q,
          len: Aes256,
          key: (load_q && second_q) ? key_of_words(half) : '0
      };
  assign write_valid_o = (state_q == Write) ? ~taken_q : '0;
  assign both = (taken_q | write_ready_i) == '1;
  assign last = both && half_q && second_q;
  assign ready_o = !closed_i;
  assign closed_o = exe_i;
  assign err_o = err_q;
  assign valid_o = valid_q;
  assign set_dn_o = state_q == Write && last && next == '0 ||
      state_q == Idle && exe_i && !closed_i && fault != '0;
  assign clear_mek_o = set_dn_o || clear_i;
  assign clear_cmd_o = state_q == Done && !dn_i || clear_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      target_q <= '0;
      valid_q  <= '0;
      load_q   <= 1'b0;
      half_q   <= 1'b0;
      second_q <= 1'b0;
      err_q    <= '0;
      taken_q  <= '0;
      wait_q   <= '0;
    end else if (clear_i) begin
      state_q <= Idle;
      valid_q <= '0;
      err_q <= '0;
      taken_q <= '0;
      half_q <= 1'b0;
      second_q <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: begin
          wait_q <= WaitWidth'(WaitClocks);
          if (exe_i && !closed_i) begin
            err_q   <= fault;
            load_q  <= cmd_i == CmdLoad;
            state_q <= (fault != '0) ? Done : Settle;
            if (fault == '0) begin
              target_q <= (cmd_i == CmdZeroize) ? '1 : named;
              valid_q  <= valid_q & ~((cmd_i == CmdZeroize) ? '1 : named);
            end
          end
        end
        Settle:  state_q <= Wait;
        Wait: begin
          wait_q <= wait_q - 1'b1;
          if ((used_i & target_q) == '0 || wait_q == '0) state_q <= Write;
          if ((used_i & target_q) != '0 && wait_q == '0) err_q <= ErrForced;
        end
        Write: begin
          taken_q <= both ? '0 : taken_q | write_ready_i;
          if (both) half_q <= !half_q;
          if (both && half_q) second_q <= !second_q;
          if (last) begin
            target_q <= next;
            if (load_q) valid_q <= valid_q | target_q;
            if (next == '0) state_q <= Done;
          end
        end
        Done: begin
          if (!dn_i) begin  // it was set in the clock before this state
            state_q <= Idle;
            err_q   <= '0;
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  `MAE_ASSERT(SlotsExist, state_q != Write || target_q != '0)

endmodule
