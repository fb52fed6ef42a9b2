# SPDX-License-Identifier: Apache-2.0
"""Makes functional models, in Verilog, of the block RAMs of FPGAs, of which Yosys has none.

They follow the makers' descriptions (AMD UG473, Lattice FPGA-TN-02204, Gowin UG285) as far as Yosys
uses them: no output registers, no cascades, in 7-series ports of one width, in GW5A of 36 bits. Of
others a cell ``..._of_two_widths`` or ``..._of_another_kind`` is left, which is no model, and at
which a simulation ends.
"""

ROWS = """
module block_ram_rows #(
  parameter WIDTH = 1, PARTS = 1, ROWS = 2, INIT = 0, FIRST_A = 0, FIRST_B = 0,
  parameter WRITES_A = 1, WRITES_B = 1, ZERO_A = 0, ZERO_B = 0
) (
  input ca, ea, ra, input [PARTS-1:0] wa, input [$clog2(ROWS)-1:0] aa, input [WIDTH-1:0] da,
  output reg [WIDTH-1:0] qa,
  input cb, eb, rb, input [PARTS-1:0] wb, input [$clog2(ROWS)-1:0] ab, input [WIDTH-1:0] db,
  output reg [WIDTH-1:0] qb
);
  // FIRST: what a port that writes reads: 0 nothing, 1 the new row, 2 the old one
  localparam PART = WIDTH / PARTS;
  reg [WIDTH-1:0] rows [0:ROWS-1];
  reg [WIDTH-1:0] new_a, new_b;
  integer i, j, k;
  initial for (i = 0; i < ROWS; i = i + 1) rows[i] = INIT[i*WIDTH +: WIDTH];
  always @* begin
    new_a = rows[aa];
    new_b = rows[ab];
    for (j = 0; j < PARTS; j = j + 1) begin
      if (wa[j]) new_a[j*PART +: PART] = da[j*PART +: PART];
      if (wb[j]) new_b[j*PART +: PART] = db[j*PART +: PART];
    end
  end
  generate if (WRITES_A) begin
    always @(posedge ca) if (ea)
      for (k = 0; k < PARTS; k = k + 1)
        if (wa[k]) rows[aa][k*PART +: PART] <= da[k*PART +: PART];
  end endgenerate
  always @(posedge ca) if (ea) begin
    if (ra) qa <= ZERO_A;
    else if (FIRST_A != 0 || wa == 0) qa <= FIRST_A == 1 ? new_a : rows[aa];
  end
  generate if (WRITES_B) begin
    always @(posedge cb) if (eb)
      for (k = 0; k < PARTS; k = k + 1)
        if (wb[k]) rows[ab][k*PART +: PART] <= db[k*PART +: PART];
  end endgenerate
  always @(posedge cb) if (eb) begin
    if (rb) qb <= ZERO_B;
    else if (FIRST_B != 0 || wb == 0) qb <= FIRST_B == 1 ? new_b : rows[ab];
  end
endmodule
"""


def _xc7(kilobits: int, address: int, data: int) -> str:
    """Returns a model of a block RAM of Xilinx 7-series, which is named by its size.

    ``address``: bits of a bit's address; ``data``: bits of a port's data.
    """
    name, parity = f"RAMB{kilobits}E1", data // 8
    rows, more = 1 << address >> 8, 1 << address >> 11  # parameters INIT and INITP
    init = [f"INIT_{i:02X}" for i in range(rows)]
    initp = [f"INITP_{i:02X}" for i in range(more)]
    top = {18: 13, 36: 14}[kilobits]
    bits = 14 if kilobits == 18 else 16
    cascade = "" if kilobits == 18 else ", CASCADEINA, CASCADEINB, INJECTDBITERR, INJECTSBITERR"
    return f"""
(* blackbox *) module {name}_of_two_widths (input c, output [{2 * data + 2 * parity - 1}:0] q);
endmodule
module {name} #(
  parameter [255:0] {" = 256'hx, ".join([*init, *initp])} = 256'hx,
  parameter READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0,
  parameter DOA_REG = 0, DOB_REG = 0, RAM_MODE = "TDP", RAM_EXTENSION_A = "NONE",
  parameter RAM_EXTENSION_B = "NONE", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST",
  parameter [71:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0
) (
  input [{bits - 1}:0] ADDRARDADDR, ADDRBWRADDR, input [{data - 1}:0] DIADI, DIBDI,
  input [{parity - 1}:0] DIPADIP, DIPBDIP, WEA,
  input [{2 * parity - 1}:0] WEBWE,
  input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB, RSTRAMARSTRAM, RSTRAMB,
  input RSTREGARSTREG, RSTREGB{cascade},
  output [{data - 1}:0] DOADO, DOBDO, output [{parity - 1}:0] DOPADOP, DOPBDOP
);
  localparam SDP = RAM_MODE == "SDP";
  localparam RA = READ_WIDTH_A, RB = READ_WIDTH_B, WA = WRITE_WIDTH_A, WB = WRITE_WIDTH_B;
  localparam W = RA ? RA : RB ? RB : WA ? WA : WB;
  localparam FITS = (!RA || RA == W) && (!RB || RB == W) && (!WA || WA == W) && (!WB || WB == W)
    && !DOA_REG && !DOB_REG && RAM_EXTENSION_A == "NONE" && RAM_EXTENSION_B == "NONE";
  localparam D = W >= 9 ? W / 9 * 8 : W, P = W - D, BYTES = W >= 9 ? W / 9 : 1;
  localparam LOW = $clog2(D);
  localparam FA = WRITE_MODE_A == "READ_FIRST" ? 2 : WRITE_MODE_A == "WRITE_FIRST" ? 1 : 0;
  localparam FB = WRITE_MODE_B == "READ_FIRST" ? 2 : WRITE_MODE_B == "WRITE_FIRST" ? 1 : 0;
  wire [{2 * data - 1}:0] di = {{DIBDI, DIADI}};
  wire [{2 * parity - 1}:0] dip = {{DIPBDIP, DIPADIP}};
  wire [BYTES-1:0] wa = WEA, wb = WEBWE;
  localparam WIDE = SDP && W == {2 * (data + parity)};
  wire [D-1:0] db = WIDE ? di : DIBDI;
  wire [{2 * data - 1}:0] qa;
  wire [{data - 1}:0] qb;
  wire [{2 * parity - 1}:0] pa;
  wire [{parity - 1}:0] pb;
  generate if (FITS) begin
    block_ram_rows #(.WIDTH(D), .PARTS(BYTES), .ROWS({1 << address} / D), .FIRST_A(SDP ? 2 : FA),
      .FIRST_B(SDP ? 2 : FB), .INIT({{{", ".join(reversed(init))}}}),
      .WRITES_A(WA != 0), .WRITES_B(WB != 0),
      .ZERO_A(WIDE ? {{SRVAL_B[{data - 1}:0], SRVAL_A[{data - 1}:0]}} : SRVAL_A[{data - 1}:0]),
      .ZERO_B(SRVAL_B[{data - 1}:0])) data (
      CLKARDCLK, ENARDEN, RSTRAMARSTRAM, wa, ADDRARDADDR[{top}:LOW], DIADI, qa,
      CLKBWRCLK, ENBWREN, RSTRAMB, wb, ADDRBWRADDR[{top}:LOW], db, qb);
    if (P) begin
      wire [P-1:0] pdb = WIDE ? dip : DIPBDIP;
      block_ram_rows #(.WIDTH(P), .PARTS(BYTES), .ROWS({1 << address} / D), .FIRST_A(SDP ? 2 : FA),
        .FIRST_B(SDP ? 2 : FB), .INIT({{{", ".join(reversed(initp))}}}),
        .WRITES_A(WA != 0), .WRITES_B(WB != 0),
        .ZERO_A(WIDE ? {{SRVAL_B[{data + parity - 1}:{data}], SRVAL_A[{data + parity - 1}:{data}]}}
          : SRVAL_A >> D), .ZERO_B(SRVAL_B >> D)) parity (
        CLKARDCLK, ENARDEN, RSTRAMARSTRAM, wa, ADDRARDADDR[{top}:LOW], DIPADIP, pa,
        CLKBWRCLK, ENBWREN, RSTRAMB, wb, ADDRBWRADDR[{top}:LOW], pdb, pb);
    end
  end else begin
    {name}_of_two_widths other (CLKARDCLK, {{pb, pa[{parity - 1}:0], qb, qa[{data - 1}:0]}});
  end endgenerate
  assign DOADO = qa, DOPADOP = pa;
  assign DOBDO = SDP ? qa >> {data} : qb, DOPBDOP = SDP ? pa >> {parity} : pb;
endmodule
"""


def _ecp5_port(name: str, other: str) -> str:
    """Returns one port of the model of ECP5's block RAM, which reads, writes and is reset."""
    return f"""
  localparam W{name} = DATA_WIDTH_{name}, N{name} = W{name} < 9 ? W{name} : 1;
  wire [3:0] w{name} = !CE{name} || !WE{name} || {{CS{name}2, CS{name}1, CS{name}0}}
    || (RST{name} && RESETMODE == "SYNC") ? 0
    : W{name} == 36 ? a{name}[3:0] : W{name} == 18 ? a{name}[1:0] : 1;
  reg [35:0] q{name} = 0;
  wire r{name} = RST{name} && RESETMODE == "ASYNC";
  always @(posedge CLK{name}) case (W{name})
    36: for (j{name} = 0; j{name} < 4; j{name} = j{name} + 1)
      if (w{name}[j{name}]) bytes[{{a{name}[13:5], j{name}[1:0]}}] <= d{name}[9*j{name} +: 9];
    18: for (j{name} = 0; j{name} < 2; j{name} = j{name} + 1)
      if (w{name}[j{name}]) bytes[{{a{name}[13:4], j{name}[0]}}] <= d{name}[9*j{name} +: 9];
    9: if (w{name}) bytes[a{name}[13:3]] <= d{name}[8:0];
    default: if (w{name})
      bytes[a{name}[13:3]][(a{name}[2:0] & -W{name}) +: N{name}] <= d{name}[N{name}-1:0];
  endcase
  always @(posedge CLK{name} or posedge r{name})
    if (r{name}) q{name} <= 0;
    else if (RST{name}) q{name} <= 0;
    else if (CE{name} && w{other} && (aA ^ aB) >> SHARED == 0) q{name} <= ~row(a{name}, W{name});
    else if (CE{name} && WRITEMODE_{name} == "WRITETHROUGH")
      q{name} <= merged(row(a{name}, W{name}), d{name}, w{name}, W{name});
    else if (CE{name} && (!w{name} || WRITEMODE_{name} == "READBEFOREWRITE"))
      q{name} <= row(a{name}, W{name});
"""


def _ecp5() -> str:
    """Returns a model of Lattice ECP5's block RAM, of 2,048 bytes of 9 bits.

    What a port reads while the other one writes it is undefined: the opposite of what was there.
    """
    init = [f"INITVAL_{i:02X}" for i in range(64)]

    def pins(name: str, count: int) -> str:
        return ", ".join(f"{name}{i}" for i in reversed(range(count)))

    ins = [pins(name, 18) for name in ("DIA", "DIB")] + [pins(name, 14) for name in ("ADA", "ADB")]
    controls = [f"{name}{port}" for name in ("CLK", "CE", "OCE", "WE", "RST") for port in "AB"]
    controls += [pins(f"CS{port}", 3) for port in "AB"]
    return f"""
(* blackbox *) module DP16KD_of_another_kind (input c, output q);
endmodule
module DP16KD #(
  parameter [319:0] {" = 320'h0, ".join(init)} = 320'h0,
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, REGMODE_A = "NOREG", REGMODE_B = "NOREG",
  parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", GSR = "AUTO",
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", CLKAMUX = "CLKA", CLKBMUX = "CLKB",
  parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL"
) (
  input {", ".join([*ins, *controls])},
  output {pins("DOA", 18)}, {pins("DOB", 18)}
);
  wire unknown;
  function known_width(input integer width);
    known_width = width == 36 || width == 18 || width == 9 || width == 4 || width == 2
      || width == 1;
  endfunction
  generate if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG" || CLKAMUX != "CLKA"
    || CLKBMUX != "CLKB" || CSDECODE_A != "0b000" || CSDECODE_B != "0b000"
    || !known_width(DATA_WIDTH_A) || !known_width(DATA_WIDTH_B)
    || (RESETMODE != "SYNC" && RESETMODE != "ASYNC"))
    DP16KD_of_another_kind other (CLKA, unknown);
  endgenerate
  // Bits of an address below the larger one of the two ports' rows.
  localparam WIDER = DATA_WIDTH_A > DATA_WIDTH_B ? DATA_WIDTH_A : DATA_WIDTH_B;
  localparam SHARED = WIDER == 36 ? 5 : WIDER == 18 ? 4 : WIDER == 9 ? 3 : WIDER / 2;
  localparam [64*320-1:0] GIVEN = {{{", ".join(reversed(init))}}};  // 18 of each 20 bits are there
  reg [8:0] bytes [0:2047];
  integer i, jA, jB;
  initial for (i = 0; i < 2048; i = i + 1) bytes[i] = GIVEN[i / 2 * 20 + i % 2 * 9 +: 9];
  function [35:0] row(input [13:0] at, input integer width);
    case (width)
      36: row = {{bytes[{{at[13:5], 2'd3}}], bytes[{{at[13:5], 2'd2}}], bytes[{{at[13:5], 2'd1}}],
        bytes[{{at[13:5], 2'd0}}]}};
      18: row = {{bytes[{{at[13:4], 1'b1}}], bytes[{{at[13:4], 1'b0}}]}};
      9: row = bytes[at[13:3]];
      default: row = bytes[at[13:3]][7:0] >> (at[2:0] & -width) & ((1 << width) - 1);
    endcase
  endfunction
  function [35:0] merged(input [35:0] old, given, input [3:0] parts, input integer width);
    integer k;
    for (k = 0; k < 36; k = k + 1)
      merged[k] = (width < 18 ? parts[0] : parts[k / 9]) ? given[k] : old[k];
  endfunction
  wire [13:0] aA = {{{pins("ADA", 14)}}}, aB = {{{pins("ADB", 14)}}};
  wire [35:0] dA = {{{pins("DIB", 18)}, {pins("DIA", 18)}}}, dB = {{{pins("DIB", 18)}}};
{_ecp5_port("A", "B")}{_ecp5_port("B", "A")}
  // a row of 36 bits is written by A, read by B, and takes the pins of both
  assign {{{pins("DOA", 18)}}} = DATA_WIDTH_B == 36 ? qB : qA;
  assign {{{pins("DOB", 18)}}} = DATA_WIDTH_B == 36 ? qB >> 18 : qB;
endmodule
"""


def _gw5a() -> str:
    """Returns a model of Gowin GW5A's block RAM with a port that writes and one that reads 36 bits.

    What is read of a row that is being written is undefined: the opposite of what was there.
    """
    init = [f"INIT_RAM_{i:02X}" for i in range(64)]
    return f"""
(* blackbox *) module SDPX9B_of_another_kind (input c, output q);
endmodule
module SDPX9B #(
  parameter [287:0] {" = 288'h0, ".join(init)} = 288'h0,
  parameter READ_MODE = 0, BIT_WIDTH_0 = 36, BIT_WIDTH_1 = 36, RESET_MODE = "SYNC",
  parameter [2:0] BLK_SEL_0 = 0, BLK_SEL_1 = 0
) (
  input CLKA, CEA, CLKB, CEB, OCE, RESET, input [13:0] ADA, ADB, input [2:0] BLKSELA, BLKSELB,
  input [35:0] DI, output reg [35:0] DO
);
  localparam [512*36-1:0] GIVEN = {{{", ".join(reversed(init))}}};
  wire unknown;
  generate if (READ_MODE != 0 || BIT_WIDTH_0 != 36 || BIT_WIDTH_1 != 36 || RESET_MODE != "SYNC")
    SDPX9B_of_another_kind other (CLKA, unknown);
  endgenerate
  reg [35:0] rows [0:511];
  integer i, j;
  initial begin
    DO = 0;
    for (i = 0; i < 512; i = i + 1) rows[i] = GIVEN[i*36 +: 36];
  end
  wire [3:0] parts = CEA && BLKSELA == BLK_SEL_0 ? ADA[3:0] : 0;
  always @(posedge CLKA)
    for (j = 0; j < 4; j = j + 1) if (parts[j]) rows[ADA[13:5]][9*j +: 9] <= DI[9*j +: 9];
  always @(posedge CLKB)
    if (RESET) DO <= 0;
    else if (CEB && BLKSELB == BLK_SEL_1)
      DO <= parts != 0 && ADA[13:5] == ADB[13:5] ? ~rows[ADB[13:5]] : rows[ADB[13:5]];
endmodule
"""


def models(target: str) -> str:
    """Returns Verilog models of a family's block RAMs; "" if there is none."""
    made = {
        "ecp5": _ecp5,
        "gw5a": _gw5a,
        "xc7": lambda: ROWS + _xc7(18, 14, 16) + _xc7(36, 15, 32),
    }
    return made[target]() if target in made else ""
