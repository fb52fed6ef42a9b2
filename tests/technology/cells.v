// SPDX-License-Identifier: Apache-2.0
// Models of the library cells that the views of rtl/technology name.

// Clock buffer with enable, CE_TYPE SYNC: AMD UG472, BUFGCE. The enable decides about the next
// whole pulse.
module BUFGCE (
    input  I,
    input  CE,
    output O
);
  reg enable;
  always @(I or CE) if (!I) enable = CE;
  assign O = I & enable;
endmodule

// The same of Lattice ECP5 (FPGA-TN-02200) and Gowin (UG306).
module DCCA (
    input  CLKI,
    input  CE,
    output CLKO
);
  BUFGCE u_gate (
      .I (CLKI),
      .CE(CE),
      .O (CLKO)
  );
endmodule

module DCE (
    input  CLKIN,
    input  CE,
    output CLKOUT
);
  BUFGCE u_gate (
      .I (CLKIN),
      .CE(CE),
      .O (CLKOUT)
  );
endmodule

// Nangate45: latch_posedge_precontrol, a latch that is open while CK is low.
module CLKGATETST_X8 (
    input  CK,
    input  E,
    input  SE,
    output GCK
);
  BUFGCE u_gate (
      .I (CK),
      .CE(E | SE),
      .O (GCK)
  );
endmodule

module CLKGATETST_X1 (
    input  CK,
    input  E,
    input  SE,
    output GCK
);
  BUFGCE u_gate (
      .I (CK),
      .CE(E | SE),
      .O (GCK)
  );
endmodule

module DFFR_X1 (
    input      CK,
    input      RN,
    input      D,
    output reg Q,
    output     QN
);
  always @(posedge CK or negedge RN) Q <= RN ? D : 1'b0;
  assign QN = ~Q;
endmodule

module MUX2_X1 (
    input  A,
    input  B,
    input  S,
    output Z
);
  assign Z = S ? B : A;
endmodule
