// SPDX-License-Identifier: Apache-2.0
//
// Records for the simulator when the unprotected card moves which data. Bound to its movers; it
// drives nothing.

bind mae_unprotected_dma mae_bus_monitor_time #(
    .First(mae_bus_monitor_pkg::TimeIn),
    .Count(4)
) u_time (
    .clk_i,
    .event_i({
      out_complete_o,
      out_valid && push_ready && load_ready,
      in_complete_o,
      in_valid && store_ready && pull_ready
    })
);
