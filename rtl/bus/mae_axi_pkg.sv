// SPDX-License-Identifier: Apache-2.0
//
// mae_axi_pkg: defines AXI4-Lite inside a device as two structs, one for each direction, where a
// top has a port for each signal.
//
// Addresses have 32 bits; a module uses as many as its registers need. Protection bits end at the
// top: no register depends on them.
// Source: ARM IHI 0022 (AXI4-Lite).

package mae_axi_pkg;

  // From the manager.
  typedef struct packed {
    logic aw_valid;
    logic [31:0] aw_addr;
    logic w_valid;
    logic [31:0] w_data;
    logic [3:0] w_strb;
    logic b_ready;
    logic ar_valid;
    logic [31:0] ar_addr;
    logic r_ready;
  } axil_req_t;

  // From the subordinate.
  typedef struct packed {
    logic aw_ready;
    logic w_ready;
    logic b_valid;
    logic [1:0] b_resp;
    logic ar_ready;
    logic r_valid;
    logic [31:0] r_data;
    logic [1:0] r_resp;
  } axil_rsp_t;

endpackage
