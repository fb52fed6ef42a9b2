/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the enclave's AES-256-GCM by Intel's ipsec-mb library, which uses wide vectors. */
#include "gcm.h"

#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

/* Holds the AES round keys and the powers of GCM's hash key H, aligned to 64 bytes. */
struct gcm {
    struct gcm_key_data key;
    struct gcm_context_data context;
    bool seals;
};

/* Holds the functions that Intel's ipsec-mb library has chosen for this processor. */
static IMB_MGR *library;
static once_flag library_once = ONCE_FLAG_INIT;

/* Initializes Intel's ipsec-mb library once for this process. */
static void load_library(void)
{
    library = alloc_mb_mgr(0);
    if (library)
        init_mb_mgr_auto(library, NULL);
}

struct gcm *gcm_new(const uint8_t key[WIRE_KEY], bool seals)
{
    call_once(&library_once, load_library);
    if (!library || imb_get_errno(library) != 0)
        return NULL;
    struct gcm *gcm = aligned_alloc(64, (sizeof *gcm + 63) / 64 * 64);
    if (!gcm)
        return NULL;
    memset(gcm, 0, sizeof *gcm);
    gcm->seals = seals;
    IMB_AES256_GCM_PRE(library, key, &gcm->key);
    return gcm;
}

void gcm_free(struct gcm *gcm)
{
    if (!gcm)
        return;
    gcm_wipe(gcm, sizeof *gcm);
    free(gcm);
}

bool gcm_begin(struct gcm *gcm, const uint8_t iv[WIRE_MASK], const uint8_t *aad, size_t aad_bytes)
{
    IMB_AES256_GCM_INIT(library, &gcm->key, &gcm->context, iv, aad, aad_bytes);
    return true;
}

bool gcm_update(struct gcm *gcm, uint8_t *to, const uint8_t *from, size_t size)
{
    if (gcm->seals)
        IMB_AES256_GCM_ENC_UPDATE(library, &gcm->key, &gcm->context, to, from, size);
    else
        IMB_AES256_GCM_DEC_UPDATE(library, &gcm->key, &gcm->context, to, from, size);
    return true;
}

bool gcm_tag(struct gcm *gcm, uint8_t tag[WIRE_TAG])
{
    if (gcm->seals)
        IMB_AES256_GCM_ENC_FINALIZE(library, &gcm->key, &gcm->context, tag, WIRE_TAG);
    else
        IMB_AES256_GCM_DEC_FINALIZE(library, &gcm->key, &gcm->context, tag, WIRE_TAG);
    return true;
}

bool gcm_check(struct gcm *gcm, const uint8_t tag[WIRE_TAG])
{
    uint8_t made[WIRE_TAG];
    bool right = gcm_tag(gcm, made) && gcm_equal(made, tag, WIRE_TAG);
    gcm_wipe(made, sizeof made); /* the right tag of a wrong message is not shown */
    return right;
}

const char *gcm_library(void)
{
    return "ipsec-mb " IMB_VERSION_STR;
}
