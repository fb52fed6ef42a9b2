// SPDX-License-Identifier: Apache-2.0
//
// Records for the simulator when an event of a card begins or ends, in clocks since the start.

module mae_bus_monitor_time
  import mae_bus_monitor_pkg::*;
#(
    parameter int unsigned First = 0,
    parameter int unsigned Count = 2
) (
    input logic             clk_i,
    input logic [Count-1:0] event_i
);
  longint unsigned clock_q;
  initial clock_q = 0;

  always @(posedge clk_i) begin
    clock_q <= clock_q + 1;
    for (int unsigned i = 0; i < Count; i++) begin
      if (event_i[i]) maeslant_bus_monitor(NoteTime, 64'(First + i), clock_q, 0, '0);
    end
  end
endmodule
