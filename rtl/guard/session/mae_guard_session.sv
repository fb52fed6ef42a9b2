// SPDX-License-Identifier: Apache-2.0
//
// mae_guard_session: controls a protected session from the installation of its secret to the
// erasure of all its data. It latches the session's first failure.
//
// A secret is accepted at the provisioning port in state IDLE only. With it, and the nonces of host
// and device, install_o starts the derivation of epoch 0; keys_ready_i leads to state KEYED. The
// first failure is latched as the cause and ends the session, as do reset_i from the OS and the
// response to CLOSE (close_i). Of simultaneous failures the lowest input is latched.
//
// The device nonce begins with a number that no other nonce has until power-off: it counts them and
// outlives rst_ni. So no two sessions have the same keys, even if their secrets are the same and
// device_nonce_i is stuck or starts anew at each reset. The number may begin anywhere; power-off is
// all that loses it: a new configuration of an FPGA, a switched-off power domain. A simulator with
// unknown values has to be given one for nonces_q.
//
// The end: halt_o at once for 4 clocks (nothing new starts); then clear_o for 128 clocks, in the
// first 33 of which mover_rst_no resets the DMA engines, which cannot be cleared in place. Neither
// waits for the bus, which the host can block for ever. State SCRUB then lasts until the memories
// are erased (busy_i) and the bus is quiet (quiet_i), so that no beat of this session reaches the
// next one (docs/protocol.md, H14). Then the state is IDLE, with a new device nonce (its last 24
// bytes are sampled from device_nonce_i with nonce_take_o), or DEAD after a failure, until reset_i.
// A reset_i during the end leads to IDLE. Reset begins in SCRUB, too: no memory is assumed to be
// zero.
// Latency: the state follows its reason in the next clock.
// Throughput: one session at a time.
// Reset and clear: clear_o comes with the erasure of secret, session id and host nonce.
// Parameters: Fatals is the number of failure inputs. Legal: Fatals >= 1.
// Security: timing does not depend on data.
// Source: docs/protocol.md, sections 2 and 5.

`include "mae_assert.svh"

module mae_guard_session
  import mae_guard_pkg::*;
#(
    parameter logic [63:0] Capabilities = 64'h01_04_04_10_40_14_06_08,
    parameter int unsigned Fatals = 3
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic         install_valid_i,      // provisioning port
    output logic         install_ready_o,
    input  logic [255:0] install_secret_i,
    input  logic [127:0] install_session_id_i,

    input  logic [191:0] device_nonce_i,
    output logic         nonce_take_o,
    input  logic [  7:0] host_nonce_write_i,  // words, 0 is the first one; dropped unless IDLE
    input  logic [ 31:0] host_nonce_word_i,   // byte 0 in bits 7:0

    input logic reset_i,  // the OS resets the device
    input logic open_i,   // the response to OPEN is OK
    input logic close_i,  // the response to CLOSE was written

    input logic   [Fatals-1:0] fatal_valid_i,
    input fatal_t [Fatals-1:0] fatal_i,

    output logic install_o,    // pulse
    input  logic keys_ready_i,

    output logic halt_o,
    input  logic quiet_i,
    output logic clear_o,
    output logic mover_rst_no,
    input  logic busy_i,

    output state_e   state_o,
    output fatal_t   cause_o,
    output session_t session_o,
    output logic     open_o      // accept doorbells
);
  `MAE_PARAM(FatalsLegal, Fatals >= 1)

  typedef enum logic [3:0] {
    Reset,
    Halt,
    Clear,
    Walk,
    Idle,
    Derive,
    Keyed,
    Run,
    Error,
    Dead
  } step_e;

  localparam int unsigned HaltClocks = 4;
  localparam int unsigned MoverClocks = 32;
  localparam int unsigned ClearClocks = 128;
  localparam int unsigned WalkFrom = 3;

  step_e step_q;
  logic to_idle_q;
  logic [6:0] count_q;
  fatal_t cause_q, first_fatal;
  session_t session_q;
  logic [63:0] nonces_q;  // so many were taken
  logic taken_q;
  logic live, derived, failed, ends, install, halted, still, over, take, mover_rst_n_q;

  assign live = step_q inside {Keyed, Run};
  assign derived = step_q == Derive && keys_ready_i && !install_o;
  assign install_ready_o = step_q == Idle && !reset_i;
  assign install = install_valid_i && install_ready_o;
  assign failed = fatal_valid_i != '0 && live;
  assign halted = step_q == Halt && 32'(count_q) == HaltClocks - 1;
  assign still = step_q == Clear && 32'(count_q) < MoverClocks;
  assign over = step_q == Walk && 32'(count_q) >= WalkFrom && !busy_i && quiet_i;
  assign take = over && (to_idle_q || reset_i);
  assign ends = reset_i && !(step_q inside {Reset, Halt, Clear, Walk});

  always_comb begin
    first_fatal = '{cause: CauseNone, default: '0};
    for (int signed i = int'(Fatals) - 1; i >= 0; i--) begin
      if (fatal_valid_i[i]) first_fatal = fatal_i[i];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q        <= Reset;
      to_idle_q     <= 1'b1;
      count_q       <= '0;
      mover_rst_n_q <= 1'b0;
    end else begin
      count_q <= count_q + 1'b1;
      // The DMA engines are idle before the erasure of their memories starts.
      mover_rst_n_q <= !(step_q == Reset || halted || still);
      unique case (step_q)
        Reset: step_q <= Halt;
        Halt:
        if (halted) begin
          step_q  <= Clear;
          count_q <= '0;
        end
        Clear: if (32'(count_q) == ClearClocks - 1) step_q <= Walk;
        Walk: begin
          if (32'(count_q) >= WalkFrom) count_q <= 7'(WalkFrom);
          if (over) step_q <= (to_idle_q || reset_i) ? Idle : Dead;
        end
        Idle: if (install) step_q <= Derive;
        Derive: if (derived) step_q <= Keyed;
        Keyed: if (open_i) step_q <= Run;
        Error: step_q <= Halt;
        default: ;
      endcase
      // Reasons for the end of a session, the strongest one last.
      if (reset_i) to_idle_q <= 1'b1;
      if (live && close_i) begin
        step_q <= Halt;
        to_idle_q <= 1'b1;
      end
      if (failed) begin
        step_q <= Error;
        to_idle_q <= reset_i;
      end
      if (ends) step_q <= Halt;
      if ((live && close_i) || ends || step_q inside {Reset, Error}) count_q <= '0;
    end
  end

  // Not reset: a number is not used twice (see above). Nor does a reset reach what counts, by take:
  // it could come so close to a clock edge that some bits change and others do not.
  always_ff @(posedge clk_i) begin
    taken_q <= take;
    if (taken_q) nonces_q <= nonces_q + 1'b1;
  end

  // Nonces and secrets.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      session_q    <= '0;
      cause_q      <= '0;
      nonce_take_o <= 1'b0;
      install_o    <= 1'b0;
    end else begin
      install_o <= install;
      if (failed && !ends) cause_q <= first_fatal;
      if (clear_o) begin
        session_q.secret     <= '0;
        session_q.session_id <= '0;
        session_q.host_nonce <= '0;
      end
      nonce_take_o <= take;
      if (take) session_q.device_nonce <= {nonces_q, device_nonce_i};
      if (step_q == Idle) begin
        for (int unsigned i = 0; i < 8; i++) begin
          if (host_nonce_write_i[i]) begin
            session_q.host_nonce[32*(7-i)+:32] <= {
              host_nonce_word_i[7:0],
              host_nonce_word_i[15:8],
              host_nonce_word_i[23:16],
              host_nonce_word_i[31:24]
            };
          end
        end
        if (install) begin
          session_q.secret <= install_secret_i;
          session_q.session_id <= install_session_id_i;
          cause_q <= '0;
        end
      end
    end
  end

  always_comb begin
    session_o = session_q;
    session_o.capabilities = Capabilities;
  end

  assign cause_o = cause_q;
  assign halt_o = !(step_q inside {Idle, Derive, Keyed, Run});
  assign clear_o = step_q inside {Reset, Clear};
  assign mover_rst_no = mover_rst_n_q;
  assign open_o = live;

  always_comb begin
    unique case (step_q)
      Reset:             state_o = StateReset;
      Halt, Clear, Walk: state_o = StateScrub;
      Idle, Derive:      state_o = StateIdle;
      Keyed:             state_o = StateKeyed;
      Run:               state_o = StateRun;
      Error:             state_o = StateError;
      default:           state_o = StateDead;
    endcase
  end

  `MAE_ASSERT(SecretOfSession, session_q.secret == '0 || !(step_q inside {Idle, Walk, Dead}))
  `MAE_ASSERT(OpenWhenKeyed, !open_i || step_q == Keyed || !live)

endmodule
