/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares key records: keys of the stream card in host memory, for more keys than it has slots.
 *
 *   if (mae_key_records(dev, 10000) != MAE_OK) ...
 *   for each connection: mae_key_alloc(dev, key, 16, &slot)
 *
 * From then on mae_key_alloc takes a record when all slots hold keys. The number that it returns
 * names the record wherever a key slot is named, but not in XTS, whose keys must be in slots. The
 * card reads a record when a job names it and keeps the key until another takes its place.
 *
 * The price: these keys lie in plain in this process's memory, where whoever reads that memory, or
 * may read it by DMA, reads them. A key in a slot leaves no copy. mae_key_erase wipes the record and
 * the card's copy; mae_close wipes all.
 *
 * A card keeps at most a few unfinished messages of GCM under records at a time, one less than
 * key_records.slots says (regs/mae_stream_card.rdl); a job that begins one more fails with
 * MAE_E_KEY.
 */
#ifndef MAESLANT_RECORDS_H
#define MAESLANT_RECORDS_H

#include "maeslant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cdef begin */

enum {
    MAE_RECORD_FIRST = 0x100, /* number of the first record, in place of a slot's */
    MAE_RECORDS_MOST = 65536
};

/* Gives the device a table of 1 to MAE_RECORDS_MOST key records in memory of the library, once.
   MAE_E_UNSUPPORTED: the device takes keys in slots only. */
MAE_API mae_error_t mae_key_records(mae_dev_t *dev, uint32_t count);

/* cdef end */

#ifdef __cplusplus
}
#endif

#endif
