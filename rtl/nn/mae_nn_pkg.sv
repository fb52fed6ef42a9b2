// SPDX-License-Identifier: Apache-2.0
//
// mae_nn_pkg: defines commands and internal types of the int8 array kernel (mae_kernel_array).
//
// Device memory is little-endian and is used in granules of 64 bytes. A feature map is a number of
// planes of Lanes channels each. A plane holds its pixels line by line without gaps, Lanes int8
// values a pixel, and ends at a granule's end. Concatenation is done by addresses: planes of
// several results follow each other.
//
// A command computes `planes_out` planes, `columns` planes a step. A step reads `sources` planes,
// which begin at source + step x step_in and are plane_in bytes apart. All strides between planes
// are modulo 2^32. A convolution has plane_in of its input and step_in 0. Pooling has one source a
// step. A residual addition has two sources a step and weights on the diagonal only.
//
// The parameters of OpMac are one section for each step: for each column Lanes int32 biases and
// Lanes scales (multiplier in bits 23:0, shift in bits 29:24), then, for each source plane, kernel
// line and kernel column, a tile: for each output channel of the columns Lanes int8 weights.
// Result: the sum times multiplier / 2^shift, rounded to nearest, ties to even, plus `zero`,
// limited to low...high. Sums wrap modulo 2^32.

package mae_nn_pkg;

  localparam int unsigned MaxShift = 62;

  typedef logic [511:0] granule_t;
  typedef logic [25:0] granule_addr_t;  // in units of 64 bytes

  localparam logic [7:0] OpMac = 8'd1;  // convolution, fully connected, addition, average
  localparam logic [7:0] OpMax = 8'd2;  // maximum pooling; columns 1, params zero

  // A command takes 64 bytes. First member = highest address.
  typedef struct packed {
    logic [119:0] reserved;  // 0x31 zero
    logic signed [7:0] high;  // 0x30 greatest result
    logic [31:0] plane_out;  // 0x2c all addresses and strides are multiples of 64
    logic [31:0] step_in;  // 0x28
    logic [31:0] plane_in;  // 0x24
    logic [31:0] params;  // 0x20
    logic [31:0] destination;  // 0x1c
    logic [31:0] source;  // 0x18
    logic [15:0] planes_out;  // 0x16 1...4095
    logic [15:0] sources;  // 0x14 1...4095
    logic [15:0] width_out;  // 0x12 1...4095
    logic [15:0] height_out;  // 0x10 1...4095
    logic [15:0] width;  // 0x0e 1...4095, of the sources
    logic [15:0] height;  // 0x0c 1...4095
    logic signed [7:0] low;  // 0x0b least result
    logic signed [7:0] zero;  // 0x0a added after rounding
    logic signed [7:0] pad_value;  // 0x09 value of pixels outside the source
    logic [7:0] pad_x;  // 0x08 columns before the source, 0...15
    logic [7:0] pad_y;  // 0x07 lines above the source, 0...15
    logic [7:0] stride_x;  // 0x06 1...15
    logic [7:0] stride_y;  // 0x05
    logic [7:0] kernel_x;  // 0x04 1...15
    logic [7:0] kernel_y;  // 0x03
    logic [7:0] columns;  // 0x02 a power of two
    logic [7:0] flags;  // 0x01 bit 0: the list ends with this command
    logic [7:0] op;  // 0x00
  } array_command_t;

  // A pixel on its way to the multipliers.
  typedef struct packed {
    logic       pad;         // outside the source
    logic       fresh;       // needs the next granule
    logic [2:0] slot;        // pixel of the granule
    logic       pass_first;  // first pass of a step: sums begin with the bias
    logic       pass_last;   // last pass of a step: results leave
    logic       ends;        // last pixel of a pass
  } pixel_tag_t;

  // Fields that a function does not read are other functions' business.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic narrow(logic [7:0] value, logic zero_legal);
    return value < 8'd16 && (zero_legal || value != '0);
  endfunction

  function automatic logic sized(logic [15:0] value);
    return value[15:12] == '0 && value != '0;
  endfunction

  function automatic logic array_legal(array_command_t c, int unsigned columns);
    logic fine;
    fine = c.reserved == '0 && c.flags[7:1] == '0 && c.source[5:0] == '0 &&
        c.destination[5:0] == '0 && c.params[5:0] == '0 && c.plane_in[5:0] == '0 &&
        c.step_in[5:0] == '0 && c.plane_out[5:0] == '0;
    fine &= narrow(
        c.kernel_y, 1'b0
    ) && narrow(
        c.kernel_x, 1'b0
    ) && narrow(
        c.stride_y, 1'b0
    ) && narrow(
        c.stride_x, 1'b0
    ) && narrow(
        c.pad_y, 1'b1
    ) && narrow(
        c.pad_x, 1'b1
    );
    fine &= sized(
        c.height
    ) && sized(
        c.width
    ) && sized(
        c.height_out
    ) && sized(
        c.width_out
    ) && sized(
        c.sources
    ) && sized(
        c.planes_out
    );
    fine &= c.columns != '0 && 32'(c.columns) <= columns && (c.columns & (c.columns - 8'd1)) == '0;
    case (c.op)
      OpMac:   return fine;
      OpMax:   return fine && c.columns == 8'd1 && c.params == '0;
      default: return 1'b0;
    endcase
  endfunction
  // verilator lint_on UNUSEDSIGNAL

endpackage
