/* SPDX-License-Identifier: Apache-2.0 */
/* Raises OpenSSL errors with texts of the provider and of libmaeslant. */
#include <stdarg.h>
#include <stdio.h>

#include <openssl/err.h>
#include <openssl/proverr.h>

#include "card.h"

int fail(int reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ERR_new();
    ERR_set_debug("maeslant", 0, "");
    ERR_vset_error(ERR_LIB_PROV, reason, format, arguments);
    va_end(arguments);
    return 0;
}

/* The details of a job's failure, which what is freed after it would clear. */
static _Thread_local char kept[256];

void keep_detail(void)
{
    snprintf(kept, sizeof kept, "%s", mae_error_detail());
}

void forget_detail(void)
{
    *kept = '\0';
}

int fail_card(mae_error_t error)
{
    const char *detail = *kept ? kept : mae_error_detail();
    fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: %s%s%s", mae_strerror(error),
         *detail ? ": " : "", detail);
    forget_detail();
    return 0;
}
