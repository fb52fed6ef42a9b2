// SPDX-License-Identifier: Apache-2.0
//
// Makes four-input LUTs of a Gowin netlist's smaller ones, whose further inputs stay open. The device has no others,
// and nextpnr 0.11 knows no delays of the smaller ones: it leaves out every path through one.

module LUT1 (output F, input I0);
  parameter [1:0] INIT = 0;
  LUT4 #(.INIT({8{INIT}})) _TECHMAP_REPLACE_ (.F(F), .I0(I0));
endmodule

module LUT2 (output F, input I0, input I1);
  parameter [3:0] INIT = 0;
  LUT4 #(.INIT({4{INIT}})) _TECHMAP_REPLACE_ (.F(F), .I0(I0), .I1(I1));
endmodule

module LUT3 (output F, input I0, input I1, input I2);
  parameter [7:0] INIT = 0;
  LUT4 #(.INIT({2{INIT}})) _TECHMAP_REPLACE_ (.F(F), .I0(I0), .I1(I1), .I2(I2));
endmodule
