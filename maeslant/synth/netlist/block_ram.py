# SPDX-License-Identifier: Apache-2.0
"""Makes functional models, in Verilog, of the block RAMs of FPGAs, of which Yosys has none.

They follow the makers' descriptions (AMD UG473, Lattice FPGA-TN-02204) as far as Yosys uses them:
ports of one width, no output registers, no cascades. Of others a cell ``..._of_two_widths`` is
left, which is no model.
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


def models(target: str) -> str:
    """Returns Verilog models of a family's block RAMs; "" if there is none."""
    return ROWS + _xc7(18, 14, 16) + _xc7(36, 15, 32) if target == "xc7" else ""
