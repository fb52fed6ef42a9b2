// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_hazard_check: checks whether a CPU access must wait for the running memory job. It
// waits if the job has not read or written its row yet.
//
// Held are a read of a destination row that is not written yet, and a write of a row that the job
// must still read (source, keys) or write (destination). The destination of an authenticated
// decryption is held until the end of the job, when the verdict is known. go_o: the block of a held
// access is beyond the next one in order, and the mode allows it to be computed out of order
// (mae_memory_out_of_order): always for a read; for a write if the job may skip the block, that is,
// if its input is not needed any more once it is computed.
// Latency: 0 clocks (combinational); the amount of logic does not depend on the length of the job.
// Throughput: one access a clock.
// Source: Kale et al., section 3.1.

module mae_memory_hazard_check
  import mae_mode_pkg::*;
  import mae_soc_pkg::*;
(
    input memory_progress_t progress_i,
    input logic             write_i,
    input row_t             row_i,

    output logic held_o,
    output logic go_o,      // held, and can be computed out of order
    output row_t target_o,  // the block of the access
    output logic pair_o     // the next block needs its input, too
);

  row_t source_block, destination_block, key_row;
  logic in_source, in_destination, in_keys, unread, unwritten, looks_back, may_leave_out;

  // Number of the block in the job; very large if the row is below the region.
  assign source_block = row_i - progress_i.job.source[31:4];
  assign destination_block = row_i - progress_i.job.destination[31:4];
  assign key_row = row_i - progress_i.job.keys[31:4];

  assign in_source = source_block < progress_i.blocks;
  assign in_destination = progress_i.job.moves && destination_block < progress_i.blocks;
  assign in_keys = progress_i.job.key_each && {2'b00, key_row} < key_rows_of(
      progress_i.job.length, progress_i.job.key_len
  );

  assign unread = (in_source && source_block >= progress_i.front) ||
      (in_keys && key_row >= progress_i.key_rows);
  assign unwritten = in_destination &&
      (progress_i.job.verdict || destination_block >= progress_i.done);
  assign held_o = progress_i.open && (unwritten || (write_i && unread));

  assign looks_back = mode_looks_back(progress_i.job.cfg.mode);
  assign may_leave_out = progress_i.apart || (progress_i.same && !looks_back);
  assign target_o = in_destination ? destination_block : source_block;
  assign pair_o = write_i && looks_back && !in_destination && target_o + 1'b1 != progress_i.blocks;
  assign go_o = held_o && job_any_order(
      progress_i.job
  ) && target_o > progress_i.front && (!write_i || may_leave_out);

endmodule
