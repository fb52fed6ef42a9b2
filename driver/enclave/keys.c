/* SPDX-License-Identifier: Apache-2.0 */
/* Derives and erases the keys and IVs of a protected session (docs/protocol.md §2, §8). */
#include "state.h"

#include <string.h>

/* Derives the AES key and IV mask of a message class in an epoch. */
static bool derive(mae_session_t *session, enum wire_class cls, uint32_t epoch, struct key *key)
{
    uint8_t context[93], output[WIRE_KEY + WIRE_MASK];
    bool seals = cls == CLASS_REQUEST || cls == CLASS_DMA_IN;
    memcpy(context, session->session_id, 16);
    memcpy(context + 16, session->host_nonce, 32);
    memcpy(context + 48, session->device_nonce, 32);
    context[80] = (uint8_t)cls;
    wire_put(context + 81, epoch, 4);
    wire_put(context + 85, session->capabilities, 8);
    unsigned made = 0;
    unsigned wanted = cls == CLASS_DMA_IN || cls == CLASS_DMA_OUT ? session->threads : 1;
    if (gcm_derive(session->secret, context, sizeof context, output, sizeof output))
        while (made < wanted && (key->gcm[made] = gcm_new(output, seals)))
            made++;
    memcpy(key->mask, output + WIRE_KEY, WIRE_MASK);
    key->used = 1; /* H */
    gcm_wipe(output, sizeof output);
    return made == wanted;
}

bool keys_load(mae_session_t *session, uint32_t epoch)
{
    struct bank *bank = session->banks[0].live ? &session->banks[1] : &session->banks[0];
    if (bank->live)
        return false;
    bank->epoch = epoch;
    for (int i = 0; i < CLASSES; i++)
        if (!derive(session, (enum wire_class)(i + 1), epoch, &bank->keys[i])) {
            keys_erase(bank);
            return false;
        }
    bank->live = true;
    return true;
}

struct bank *keys_bank(mae_session_t *session, uint32_t epoch)
{
    for (int i = 0; i < 2; i++)
        if (session->banks[i].live && session->banks[i].epoch == epoch)
            return &session->banks[i];
    return NULL;
}

struct key *keys_get(mae_session_t *session, enum wire_class cls, uint32_t epoch)
{
    return &keys_bank(session, epoch)->keys[cls - 1];
}

void keys_erase(struct bank *bank)
{
    for (int i = 0; i < CLASSES; i++)
        for (int j = 0; j < SEAL_THREADS; j++)
            gcm_free(bank->keys[i].gcm[j]);
    gcm_wipe(bank, sizeof *bank);
}

void keys_wipe(mae_session_t *session)
{
    keys_erase(&session->banks[0]);
    keys_erase(&session->banks[1]);
    gcm_wipe(session->secret, sizeof session->secret);
}

bool keys_begin(const struct key *key, unsigned thread, enum wire_class cls, unsigned queue,
                uint64_t sequence, const uint8_t *aad, size_t aad_bytes)
{
    uint8_t iv[WIRE_MASK] = {(uint8_t)cls, (uint8_t)queue};
    wire_put(iv + 4, sequence, 8);
    for (int i = 0; i < WIRE_MASK; i++)
        iv[i] ^= key->mask[i];
    return gcm_begin(key->gcm[thread], iv, aad, aad_bytes);
}
