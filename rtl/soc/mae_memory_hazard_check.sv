// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_hazard_check: may the CPU have this row now, as if the job had been done at its start?
//
// Held are a read of a destination row that is not written yet, and a write of a row that the job
// has yet to read (source, keys) or to write (destination). An authenticated decryption's
// destination is held to the job's end, when the verdict is known. A held access whose block lies
// beyond the next one in order can go out of turn (go_o, mae_memory_out_of_order) where the mode
// allows: a read always; a write if the block may then be left out in order, that is, if its input
// is not needed any more once it is done. Combinational. The size of the logic does not depend on
// the job's. Source: P3 §3.1.

module mae_memory_hazard_check
  import mae_mode_pkg::*;
  import mae_soc_pkg::*;
(
    input memory_progress_t progress_i,
    input logic             write_i,
    input row_t             row_i,

    output logic held_o,
    output logic go_o,      // held, and can be made out of turn
    output row_t target_o,  // the block it is about
    output logic pair_o     // the block after it needs its input, too
);

  row_t source_block, destination_block, key_row;
  logic in_source, in_destination, in_keys, unread, unwritten, looks_back, may_leave_out;

  // Which block of the job; huge if the row is below the region.
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
