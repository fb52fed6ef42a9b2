// SPDX-License-Identifier: Apache-2.0
//
// mae_fhe_pkg: defines the types of the CKKS kernel: parameter sets, instructions, passes.
//
// The kernel holds polynomials of N = 2^LogN coefficients modulo three primes, one engine a prime:
// engine 0 and 1 the data primes q0 and q1, engine 2 the special prime P of key switching. Every
// prime is 1 modulo 2N and has at most Width bits. A polynomial stands in a slot of its engine, in
// the number-theoretic transform's order or as coefficients, as SEAL has them.
//
// An instruction takes 64 bytes of device memory (instruction_t, byte 0 in bits 7:0). In memory a
// polynomial is N words of 64 bits; a constants block 8 words: the prime, then constants 1...7; a
// table N words: SEAL's powers of the minimal primitive 2N-th root in bit-reversed order, in
// Montgomery form.

package mae_fhe_pkg;

  localparam int unsigned Engines = 3;
  localparam int unsigned GranuleWords = 8;  // coefficients in 64 bytes of memory

  typedef logic [511:0] granule_t;

  // Montgomery's radix of a set: Digit bits a step; a prime is 1 modulo 2^Digit.
  function automatic int unsigned steps(int unsigned width, int unsigned digit);
    return (width + digit - 1) / digit;
  endfunction

  function automatic int unsigned multiply_clocks(int unsigned width, int unsigned digit);
    return 2 * steps(width, digit) + 1;
  endfunction

  function automatic int unsigned butterfly_clocks(int unsigned width, int unsigned digit);
    return multiply_clocks(width, digit) + 2;
  endfunction

  // Constants of an engine, by number; 0 is zero.
  localparam int unsigned ConstantOne = 1;  // R, which multiplies by one
  localparam int unsigned ConstantSquare = 2;  // R^2, which brings into Montgomery form
  localparam int unsigned Constants = 8;
  localparam logic [7:0] IsConstant = 8'h80;  // an operand: the constant of that number, no slot

  typedef enum logic [7:0] {
    OpEnd = 8'd0,
    OpPass = 8'd1,  // one operation on every coefficient
    OpTransform = 8'd2,  // forward, or inverse (gs)
    OpLoad = 8'd3,  // a polynomial from memory; montgomery: times R
    OpStore = 8'd4,
    OpConstants = 8'd5,
    OpTable = 8'd6
  } op_e;

  // One engine's part of a pass or of a transform, 8 bytes. A pass makes u + v w, or with gs (v -
  // u) w. A transform reads slot v, leaves its result in dst, and destroys slot u.
  typedef struct packed {
    logic [15:0]      reserved;  // 0x6 zero
    logic [7:0]       w;         // 0x5
    logic [7:0]       v;         // 0x4
    logic [7:0]       u;         // 0x3
    logic [7:0]       dst;       // 0x2
    logic [5:0]       zero;
    logic [1:0] from;            // 0x1 engine whose slot v is taken
    logic [3:0]       none;
    logic             minus;     // u - v w instead of u + v w
    logic             permute;   // v through the automorphism of the instruction
    logic             gs;        // Gentleman and Sande's butterfly: the inverse transform
    logic             active;    // 0x0
  } part_t;

  // Bytes 0x20 and later are zero.
  typedef struct packed {
    part_t [Engines-1:0] part;        // 0x08
    logic [31:0]         address;     // 0x04 a multiple of 64
    logic [15:0]         galois;      // 0x02 odd, below 2N; of a transfer: slot above engine
    logic [6:0]          reserved;    // zero
    logic                montgomery;  // 0x01
    logic [7:0]          op;          // 0x00
  } instruction_t;

  // A clock's work of the engines.
  typedef struct packed {
    logic       valid;
    logic       transform;
    logic [3:0] stage;
    logic [9:0] word;       // of butterflies in a transform
  } beat_t;

endpackage
