/* SPDX-License-Identifier: Apache-2.0 */
/* Stores each thread's error text; wipes secrets and compares tags in constant time. */
#include <stdio.h>
#include <string.h>

#include "device.h"

static _Thread_local char detail[512];
static _Thread_local int held;

static const char *const messages[MAE_E_COUNT] = {
    [MAE_OK] = "success",
    [MAE_E_ARGUMENT] = "argument out of range",
    [MAE_E_URI] = "malformed device name",
    [MAE_E_NO_DEVICE] = "no such device",
    [MAE_E_PERMISSION] = "no permission to open the device",
    [MAE_E_NOT_BOUND] = "PCI function not bound to vfio-pci",
    [MAE_E_NOT_OURS] = "not a Maeslant device this library knows",
    [MAE_E_SYSTEM] = "refused by the operating system",
    [MAE_E_MEMORY] = "out of memory",
    [MAE_E_UNSUPPORTED] = "not supported by this device",
    [MAE_E_MODE] = "unknown mode or direction, or this device lacks it",
    [MAE_E_KEY] = "wrong key length, or empty key slot",
    [MAE_E_SLOT] = "no such key slot, or none free",
    [MAE_E_CONTEXT] = "no such context, or none free",
    [MAE_E_LENGTH] = "length not allowed by the mode",
    [MAE_E_NOT_MAPPED] = "memory not mapped for the device",
    [MAE_E_BUSY] = "in use by jobs in flight",
    [MAE_E_FULL] = "queue full",
    [MAE_E_TIMEOUT] = "timed out",
    [MAE_E_BUS] = "bus error at a register or a ring",
    [MAE_E_BUS_READ] = "bus error while the device read the source",
    [MAE_E_BUS_WRITE] = "bus error while the device wrote the destination",
    [MAE_E_BUS_LIST] = "bus error while the device read a descriptor or list",
    [MAE_E_ABORTED] = "stopped before the job was done",
    [MAE_E_DEVICE] = "the device gave an inconsistent response",
    [MAE_E_DEAD] = "the device stopped answering",
    [MAE_E_STATE] = "not allowed in this state: finished or failed before",
    [MAE_E_AUTH] = "the tag is wrong: not what was sealed, or by another key",
    [MAE_E_LIMIT] = "the key has reached its limit of uses",
    [MAE_E_POISONED] = "the protected session is over",
    [MAE_E_REFUSED] = "refused by the protected card",
    [MAE_E_GIVEN_UP] = "the transfer was abandoned",
};

const char *mae_strerror(mae_error_t error)
{
    if ((unsigned)error >= MAE_E_COUNT)
        return "unknown error";
    return messages[error];
}

const char *mae_error_detail(void)
{
    return detail;
}

mae_error_t mae_detail(mae_error_t error, const char *format, ...)
{
    va_list arguments;
    if (held)
        return error;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return error;
}

void mae_detail_clear(void)
{
    if (!held)
        detail[0] = '\0';
}

void mae_detail_hold(bool hold)
{
    held += hold ? 1 : -1;
}

void mae_wipe(void *memory, size_t bytes)
{
    if (!memory)
        return;
    memset(memory, 0, bytes);
    __asm__ volatile("" : : "r"(memory) : "memory"); /* keeps the stores of zeros */
}

bool mae_tags_equal(const uint8_t *left, const uint8_t *right, size_t bytes)
{
    /* Volatile: the compiler must not find a way to stop at the first difference. */
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < bytes; i++)
        difference |= left[i] ^ right[i];
    return difference == 0;
}
