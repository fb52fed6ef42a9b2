// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_pkg: defines commands, memory requests and internal types of the neural-network
// kernel.
//
// Device memory is little-endian and is used in rows of 16 bytes; bits 7:0 of a row hold byte 0.
//
// A feature map has `height` x `width` pixels, line by line, of `channels` int8 values. A pixel
// takes ceil(channels / 16) rows; channel c is byte c mod 16 of row c / 16.
//
// The parameters of a convolution or a fully connected layer are one section for each 16 output
// channels: 4 rows of 16 int32 biases, then kernel x kernel x in_channels rows of 16 int8 weights,
// ordered by kernel line, kernel column, input channel; byte j of a row belongs to output channel j
// of the section. If the number of output channels is not a multiple of 16, the last section has
// parameters for the missing channels, too; their results are written into the last row of the
// pixel: zero parameters give zeros.

package mae_kernel_pkg;

  // Kernels of a card (mae_kernel_registers).
  typedef enum logic [2:0] {
    KernelNn = 3'd0,  // mae_kernel_int8_nn
    KernelMap = 3'd1,  // mae_kernel_affine_bytes
    KernelFhe4096 = 3'd2,  // mae_kernel_fhe: 4096 coefficients, primes of 37 bits
    KernelFhe8192 = 3'd3,  // mae_kernel_fhe: 8192 coefficients, primes of 54 bits
    KernelArray = 3'd4  // mae_kernel_array: 32 x 64 multipliers
  } kernel_e;

  // Rows that the DMA reads from device memory ahead, for a row a clock; even (mae_dma_device_read).
  function automatic int unsigned read_rows(int unsigned latency);
    return (latency + 7) / 2 * 2;
  endfunction

  localparam int unsigned AxiReadRows = 128;  // where that memory is behind an AXI4 port

  localparam int unsigned LaneCount = 16;
  localparam int unsigned MaxKernel = 15;
  localparam int unsigned MaxShift = 47;

  typedef logic [31:0] byte_addr_t;
  typedef logic [27:0] row_addr_t;  // in units of 16 bytes
  typedef logic [127:0] row_t;
  typedef logic [LaneCount-1:0][31:0] sums_t;

  // output (height + 2 pad - kernel + 1) x (width + 2 pad - kernel + 1)
  localparam logic [7:0] OpConv = 8'd1;
  localparam logic [7:0] OpFull = 8'd2;  // fully connected: height = width = kernel = 1, pad = 0
  localparam logic [7:0] OpPool = 8'd3;  // maximum of 2x2, output floor(height / 2) x ...

  typedef struct packed {
    logic [5:0] reserved;  // zero
    logic       relu;      // results below 0 become 0
    logic       last;      // the list ends with this command
  } flags_t;

  // A command takes 64 bytes: this and 32 bytes of zeros. First member = highest address.
  typedef struct packed {
    logic [31:0] reserved_high;  // 0x1c zero
    byte_addr_t  params;         // 0x18 biases and weights; OpPool: zero
    byte_addr_t  destination;    // 0x14 feature map
    byte_addr_t  source;         // 0x10 feature map
    logic [23:0] reserved_low;   // 0x0d zero
    logic [7:0]  shift;          // 0x0c 0...47; OpPool: zero
    logic [15:0] multiplier;     // 0x0a unsigned; OpPool: zero
    logic [7:0]  pad;            // 0x09 lines and columns of zeros at each side, < kernel
    logic [7:0]  kernel;         // 0x08 1...15, at most height + 2 pad and width + 2 pad
    logic [15:0] out_channels;   // 0x06 from 1; OpPool: as in_channels
    logic [15:0] in_channels;    // 0x04 from 1
    logic [7:0]  width;          // 0x03 1...255
    logic [7:0]  height;         // 0x02 1...255
    flags_t      flags;          // 0x01
    logic [7:0]  op;             // 0x00
  } command_t;
  localparam int unsigned CommandRows = 4;

  // A request to device memory.
  typedef struct packed {
    logic        write;
    byte_addr_t  address;  // a multiple of 16
    logic [15:0] strb;
    row_t        data;
  } memory_request_t;

  // Use of a read's answer.
  typedef enum logic [1:0] {
    TakeCommand,
    TakeBias,
    TakeInput,
    TakeWeights
  } take_e;

  typedef struct packed {
    take_e      take;
    logic [3:0] index;  // row of the command or of the biases; input channel of the weights
    logic       first;  // of an output row
    logic       last;
  } tag_t;

  function automatic logic legal(command_t command);
    logic whole;  // all unused fields are zero, every row is aligned
    logic sized;
    whole = command.flags.reserved == '0 && command.reserved_low == '0 &&
        command.reserved_high == '0 && command.source[3:0] == '0 &&
        command.destination[3:0] == '0 && command.params[3:0] == '0;
    sized = command.height != '0 && command.width != '0 && command.in_channels != '0 &&
        command.out_channels != '0 && command.kernel != '0 &&
        command.kernel <= 8'(MaxKernel) && command.pad < command.kernel &&
        10'(command.kernel) <= 10'(command.height) + (10'(command.pad) << 1) &&
        10'(command.kernel) <= 10'(command.width) + (10'(command.pad) << 1);
    case (command.op)
      OpConv: return whole && sized && command.shift <= 8'(MaxShift);
      OpFull:
      return whole && sized && command.shift <= 8'(MaxShift) && command.kernel == 8'd1 &&
          command.height == 8'd1 && command.width == 8'd1;
      OpPool:
      return whole && sized && command.kernel == 8'd2 && command.pad == '0 &&
          command.out_channels == command.in_channels && command.params == '0 &&
          command.multiplier == '0 && command.shift == '0;
      default: return 1'b0;
    endcase
  endfunction

endpackage
