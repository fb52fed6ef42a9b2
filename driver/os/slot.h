/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the protected card in a PCI slot, for mae_os_serve. */
#ifndef MAE_SLOT_H
#define MAE_SLOT_H

#include "serve.h"

/* Opens the card that a URI as vfio:0000:00:01.0 names. Its time is in microseconds. It takes no
   secret from here: the operating system has no part in a real card's provisioning port. Gives NULL
   with a reason. */
struct mae_os_card *mae_os_open_slot(const char *uri, char *reason, size_t reason_size);
/* Ends the card's access to memory and closes it. NULL is allowed. */
void mae_os_close_slot(struct mae_os_card *card);

#endif
