/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what CMAC and GMAC share. */
#ifndef MAE_PROVIDER_MAC_H
#define MAE_PROVIDER_MAC_H

#include "provider.h"

/* Takes the cipher of a MAC from its parameters, if they name one: one of `list`, which the device
   must have. Raises an error and returns 0 if it is another. */
int mac_set_cipher(const struct card *card, const struct cipher_info *list, mae_mode_t mode,
                   const struct cipher_info **cipher, const OSSL_PARAM params[]);
/* Answers how long a MAC's result is, and its blocks are. */
int mac_get_params(OSSL_PARAM params[]);
int mac_get_context_params(void *context, OSSL_PARAM params[]);
/* Lists these questions. */
const OSSL_PARAM *mac_gettable_params(void *provider);
const OSSL_PARAM *mac_gettable_context_params(void *context, void *provider);

#endif
