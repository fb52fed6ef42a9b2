/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the AES jobs in the SoC's mailbox in software or on the peripheral, and times each. */
#include "jobs.h"

#include "aes.h"
#include "soc.h"

/*
 * Names the two key slots of the peripheral that the firmware uses, and the interrupt masks. Keys
 * of their own use the slots alternately; XTS's second key is in the other one.
 */
enum { KEY_SLOT = 0, OTHER_SLOT = 1, HEARD = ~SOC_PERIPHERAL_LINE, NONE_HEARD = ~0 };

struct soc_jobs soc_mailbox __attribute__((section(".mailbox")));

/* Holds the firmware's current job as structures of the driver. The interrupt handler ends a memory
   job. */
static struct {
    struct mae_pio_job job, other; /* other: at once with job */
    struct mae_pio_memory memory;
    struct mae_pio_message message;
    mae_error_t error;
    volatile bool over;
} running;

static struct aes_key software_key;

/* Converts an address in the firmware's job list to a pointer. */
static const uint8_t *at(uint32_t address)
{
    return (const uint8_t *)(uintptr_t)address;
}

/* Returns a key of a firmware job by its index. */
static const uint8_t *key_of(const struct soc_job *job, uint32_t index)
{
    return at(job->keys + (index << (job->key_bytes == 16 ? 4 : 5)));
}

void soc_interrupt(uint32_t lines)
{
    bool over;
    if (!(lines & SOC_PERIPHERAL_LINE))
        return;
    running.error = mae_pio_memory_poll(&soc_peripheral, &running.job, &over);
    running.over = over;
}

/* Loads a key of a firmware job into a key slot of the peripheral. */
static mae_error_t load_key(const struct soc_job *job, uint32_t slot, uint32_t index)
{
    return mae_pio_key_load(&soc_peripheral, slot, key_of(job, index), job->key_bytes);
}

/* Encrypts or decrypts a firmware job's data on the CPU, by AES in plain C. */
static void in_software(const struct soc_job *job)
{
    for (uint32_t i = 0; i < job->length / 16; i++) {
        uint8_t *out = (uint8_t *)at(job->destination) + 16 * i;
        if (job->key_each)
            aes_expand(&software_key, key_of(job, i), job->key_bytes);
        if (job->direction == MAE_ENCRYPT)
            aes_encrypt(&software_key, at(job->source) + 16 * i, out);
        else
            aes_decrypt(&software_key, at(job->source) + 16 * i, out);
    }
}

/* Returns true if a firmware job's mode is GCM, CCM or CMAC. */
static bool is_aead(const struct soc_job *job)
{
    return job->mode == MAE_GCM || job->mode == MAE_CCM || job->mode == MAE_CMAC;
}

/* Converts an entry of the firmware's job list to structures of the driver. */
static void lay_out(struct soc_job *job)
{
    running.job.mode = (mae_mode_t)job->mode;
    running.job.direction = (mae_direction_t)job->direction;
    running.job.init = 1;
    running.job.key_slot = KEY_SLOT;
    running.job.tweak_slot = OTHER_SLOT;
    running.job.iv = job->mode == MAE_ECB ? NULL : at(job->iv);
    running.job.length = job->length;
    running.memory.source = job->source;
    running.memory.destination = job->destination;
    running.memory.keys = job->keys;
    running.memory.key_bytes = job->key_each ? job->key_bytes : 0;
    running.memory.interrupt = job->way == SOC_INTERRUPT;
    running.message.mode = (mae_mode_t)job->mode;
    running.message.key_slot = KEY_SLOT;
    running.message.nonce = at(job->iv);
    running.message.nonce_bytes = job->iv_bytes;
    running.message.aad = at(job->aad);
    running.message.aad_bytes = job->aad_bytes;
    running.message.tag = job->tag;
    running.message.tag_bytes = job->tag_bytes;
    running.over = false;
}

/* Runs a firmware job on the peripheral, whose data registers the CPU reads and writes. */
static mae_error_t over_registers(struct soc_job *job)
{
    const struct mae_pio_message *message = &running.message;
    const uint8_t *source = at(job->source);
    uint8_t *destination = (uint8_t *)at(job->destination);
    bool encrypts = job->direction == MAE_ENCRYPT;
    if (job->mode == MAE_CMAC)
        return (encrypts ? mae_pio_mac : mae_pio_mac_verify)(&soc_peripheral, message, source,
                                                             job->length);
    if (is_aead(job))
        return (encrypts ? mae_pio_seal : mae_pio_unseal)(&soc_peripheral, message, source,
                                                          destination, job->length);
    if (job->mode == MAE_ECB && job->length == 16 && !job->key_each)
        return mae_pio_block(&soc_peripheral, KEY_SLOT, running.job.direction, source, destination);
    if (!job->key_each)
        return mae_pio_run(&soc_peripheral, &running.job, source, destination);
    mae_error_t error = MAE_OK;
    running.job.length = 16;
    for (uint32_t i = 0; i < job->length / 16 && error == MAE_OK; i++) {
        error = load_key(job, KEY_SLOT, i);
        if (error == MAE_OK && job->mode == MAE_ECB)
            error = mae_pio_block(&soc_peripheral, KEY_SLOT, running.job.direction, source + 16 * i,
                                  destination + 16 * i);
        else if (error == MAE_OK)
            error =
                mae_pio_run(&soc_peripheral, &running.job, source + 16 * i, destination + 16 * i);
        running.job.init = 0;
    }
    return error;
}

/* Sums words of memory on the CPU while the peripheral runs a memory job beside it. */
static void add_up(struct soc_job *job)
{
    const uint32_t *word = (const uint32_t *)at(job->work);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < job->work_bytes / 4; i++)
        sum += word[i];
    job->sum += sum;
    job->summed += job->work_bytes / 4;
}

/* Sums words of memory on the CPU until the peripheral's memory job ends. */
static void work_until_over(struct soc_job *job)
{
    const uint32_t *first = (const uint32_t *)at(job->work), *word = first;
    const uint32_t *last = first + job->work_bytes / 4;
    uint32_t sum = 0, summed = 0;
    while (!running.over) {
        for (uint32_t i = 0; i < 8; i++)
            sum += word[i];
        word += 8;
        summed += 8;
        if (word == last)
            word = first;
    }
    job->sum = sum;
    job->summed = summed;
}

/* Lets the CPU sleep until the peripheral's memory job ends. */
static void sleep_until_over(void)
{
    while (!running.over) {
        (void)soc_interrupt_mask((uint32_t)NONE_HEARD);
        if (!running.over)
            (void)soc_interrupt_wait();
        (void)soc_interrupt_mask((uint32_t)HEARD);
    }
}

/* Runs a firmware job in memory by the peripheral, while the CPU sleeps, works or polls. */
static mae_error_t in_memory(struct soc_job *job)
{
    mae_error_t error =
        is_aead(job) ? mae_pio_memory_message(&soc_peripheral, &running.message,
                                              (mae_direction_t)job->direction, &running.memory,
                                              job->length, job->tag, &running.job)
                     : mae_pio_memory_start(&soc_peripheral, &running.job, &running.memory);
    if (error != MAE_OK)
        return error;
    if (job->way == SOC_GO_ON)
        add_up(job);
    if (job->way != SOC_INTERRUPT)
        return mae_pio_memory_wait(&soc_peripheral, &running.job);
    if (job->work_bytes > 0)
        work_until_over(job);
    else
        sleep_until_over();
    return running.error;
}

/* Runs a firmware job on the peripheral of two jobs at once, alone or with the list's next one. */
static mae_error_t on_duplex(struct soc_job *job)
{
    const struct soc_job *next = job + 1;
    if (job->way == SOC_DUPLEX)
        return mae_pio_run(&soc_duplex, &running.job, at(job->source),
                           (void *)(uintptr_t)job->destination);
    running.other.mode = (mae_mode_t)next->mode;
    running.other.direction = (mae_direction_t)next->direction;
    running.other.init = 1;
    running.other.iv = next->mode == MAE_ECB ? NULL : at(next->iv);
    running.other.length = next->length;
    struct mae_pio_side one = {&running.job, at(job->source), (void *)(uintptr_t)job->destination};
    struct mae_pio_side two = {&running.other, at(next->source),
                               (void *)(uintptr_t)next->destination};
    return mae_pio_run_both(&soc_duplex, &one, &two);
}

/* Loads a firmware job's keys before its time is measured. */
static mae_error_t prepare(struct soc_job *job)
{
    lay_out(job);
    if (job->kind == SOC_KEY || (job->key_each && job->way < SOC_POLLED))
        return MAE_OK;
    if (job->way == SOC_SOFTWARE) {
        aes_expand(&software_key, key_of(job, 0), job->key_bytes);
        return MAE_OK;
    }
    if (job->way >= SOC_DUPLEX)
        return mae_pio_key_load(&soc_duplex, KEY_SLOT, key_of(job, 0), job->key_bytes);
    mae_error_t error = load_key(job, KEY_SLOT, 0);
    if (error == MAE_OK && (job->mode == MAE_XTS || job->key_each))
        error = load_key(job, OTHER_SLOT, 1);
    return error;
}

/* Runs a firmware job in software, over registers or in memory, as the job asks. */
static mae_error_t carry_out(struct soc_job *job)
{
    switch (job->way) {
    case SOC_SOFTWARE:
        if (job->kind == SOC_KEY)
            aes_expand(&software_key, key_of(job, 0), job->key_bytes);
        else
            in_software(job);
        return MAE_OK;
    case SOC_REGISTERS:
        return job->kind == SOC_KEY ? load_key(job, KEY_SLOT, 0) : over_registers(job);
    default:
        return in_memory(job);
    }
}

/* Runs and times a firmware job on the peripheral of two jobs at once. It is apart from the other
   ways, so that these take no longer. */
static __attribute__((noinline)) void time_on_duplex(struct soc_job *job)
{
    uint32_t instructions = soc_instructions(), clocks = soc_clocks();
    job->error = on_duplex(job);
    job->clocks = soc_clocks() - clocks;
    job->instructions = soc_instructions() - instructions;
}

/* Runs and times all jobs of the firmware's list; returns the number of failed ones. */
static uint32_t carry_out_list(void)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < soc_mailbox.count; i++) {
        struct soc_job *job = &soc_mailbox.list[i];
        job->error = prepare(job);
        if (job->error == MAE_OK && job->way >= SOC_DUPLEX) {
            time_on_duplex(job);
        } else if (job->error == MAE_OK) {
            uint32_t instructions = soc_instructions(), clocks = soc_clocks();
            job->error = carry_out(job);
            job->clocks = soc_clocks() - clocks;
            job->instructions = soc_instructions() - instructions;
        }
        failed += job->error != MAE_OK;
        if (job->way == SOC_BOTH)
            i++; /* it was done with this one */
    }
    return failed;
}

int main(void)
{
    struct mae_pio_info info;
    if (mae_pio_probe(&soc_peripheral, &info) != MAE_OK || !info.memory) {
        soc_text("no peripheral with memory jobs\n");
        return 1;
    }
    (void)soc_interrupt_mask((uint32_t)HEARD);
    for (;;) {
        uint32_t failed = carry_out_list();
        soc_number(soc_mailbox.count);
        soc_text(" jobs, ");
        soc_number(failed);
        soc_text(" failed\n");
        soc_finish(0);
    }
}
