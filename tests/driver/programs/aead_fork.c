/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a forked child cannot use its parent's device and messages, only its own. */
#include <sys/wait.h>
#include <unistd.h>

#include "mock/aead_case.h"
#include "mock/check.h"

/* Runs a test in a forked child, which fails the parent's if it fails. */
static void in_a_child(void (*run)(void *), void *argument)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run(argument);
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Opens a mock card with GCM. */
static struct mock *open_card(mae_dev_t **dev)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mock->modes = unauthenticated_modes() | 0x100;
    CHECK_OK(mock_open(mock, dev));
    return mock;
}

/* Holds a device and what was made from it before a fork. */
struct made {
    struct mock *mock;
    mae_dev_t *dev;
    mae_aead_t *seal, *unsealed;
    mae_stream_t *stream;
    void *memory;
    uint32_t context, slot;
    struct mae_nonce_counter counter;
};

/* Tests that every call that works on the parent's device fails in a child. */
static void refuse_device(struct made *made)
{
    struct mae_completion done;
    struct mae_stats stats;
    size_t count;
    void *memory;
    uint32_t number;
    struct mae_job job = {.mode = MAE_CTR, .context = made->context, .init = 1, .length = 16};
    job.src = job.dst = made->memory;
    CHECK_ERROR(mae_seal(made->dev, &test.message), MAE_E_STATE);
    CHECK_ERROR(mae_seal_counted(made->dev, &test.message, &made->counter), MAE_E_STATE);
    CHECK(made->counter.next == 7);
    CHECK_ERROR(
        mae_crypt(made->dev, MAE_CTR, MAE_ENCRYPT, test.key, 16, job.iv, test.plain, test.out, 16),
        MAE_E_STATE);
    CHECK_ERROR(mae_submit(made->dev, &job), MAE_E_STATE);
    CHECK_ERROR(mae_poll(made->dev, &done, 1, &count), MAE_E_STATE);
    CHECK_ERROR(mae_wait(made->dev, &done, 1, &count, 0), MAE_E_STATE);
    /* What needs no device: completions that the parent has yet to fetch would be given so, too. */
    CHECK_ERROR(mae_poll(made->dev, NULL, 0, &count), MAE_E_STATE);
    CHECK_ERROR(mae_wait(made->dev, NULL, 0, &count, 0), MAE_E_STATE);
    CHECK_ERROR(mae_get_stats(made->dev, &stats), MAE_E_STATE);
    CHECK_ERROR(mae_key_load(made->dev, made->slot, test.key, 16), MAE_E_STATE);
    CHECK_ERROR(mae_key_erase(made->dev, made->slot), MAE_E_STATE);
    CHECK_ERROR(mae_mem_alloc(made->dev, 64, &memory), MAE_E_STATE);
    CHECK_ERROR(mae_mem_free(made->dev, made->memory), MAE_E_STATE);
    CHECK_ERROR(mae_mem_unmap(made->dev, made->memory), MAE_E_STATE);
    CHECK_ERROR(mae_context_alloc(made->dev, &number), MAE_E_STATE);
    CHECK_ERROR(mae_context_free(made->dev, made->context), MAE_E_STATE);
    CHECK_ERROR(mae_aead_seal(made->dev, &test.message, &made->seal), MAE_E_STATE);
}

/* Tests that a child continues no message of its parent and leaves the device alone. */
static void refuse_messages(void *argument)
{
    struct made *made = argument;
    size_t taken, given, accesses = made->mock->log_count;
    mae_aead_t *seal = made->seal;
    CHECK_ERROR(mae_aead_aad(seal, test.aad, 1), MAE_E_STATE);
    CHECK_ERROR(mae_aead_update(seal, test.plain, 1, &taken, test.out, 1, &given), MAE_E_STATE);
    CHECK_ERROR(mae_aead_finish(seal, test.got_tag), MAE_E_STATE);
    CHECK_ERROR(mae_aead_read(made->unsealed, test.out, 1, &given), MAE_E_STATE);
    CHECK_ERROR(mae_stream_update(made->stream, test.plain, 1, &taken, test.out, 1, &given),
                MAE_E_STATE);
    CHECK_ERROR(mae_stream_finish(made->stream, test.out, 1, &given), MAE_E_STATE);
    refuse_device(made);
    mae_aead_free(seal);
    mae_aead_free(made->unsealed);
    mae_stream_free(made->stream);
    mae_close(made->dev);
    CHECK(made->mock->log_count == accesses && made->mock->stopped == 0);
    CHECK(made->mock->closed == 0);
}

/* Tests that a forked child cannot go on with its parent's messages; the parent can. */
static void a_forked_child_uses_nothing_of_its_parent(void)
{
    struct made made = {.counter = {{0}, 7}};
    size_t taken, given, got = 0, length = 5000;
    uint8_t iv[16] = {1};
    made.mock = open_card(&made.dev);
    new_case(MAE_GCM, length, 40);
    test.message.nonce_bytes = 12;
    struct toy_message toy = toy_of(MAE_ENCRYPT);
    toy_gcm(&toy, test.plain, test.sealed, length, test.tag);
    CHECK_OK(mae_context_alloc(made.dev, &made.context));
    CHECK_OK(mae_mem_alloc(made.dev, 64, &made.memory));
    CHECK_OK(mae_key_alloc(made.dev, test.key, 16, &made.slot));
    CHECK_OK(mae_aead_unseal(made.dev, &test.message, &made.unsealed));
    CHECK_OK(mae_aead_aad(made.unsealed, test.aad, 40));
    for (size_t at = 0; at < length; at += taken)
        CHECK_OK(
            mae_aead_update(made.unsealed, test.sealed + at, length - at, &taken, NULL, 0, &given));
    CHECK_OK(mae_aead_finish(made.unsealed, test.tag));
    CHECK_OK(mae_aead_seal_with_chosen_nonce(made.dev, &test.message, &made.seal));
    CHECK_OK(mae_aead_aad(made.seal, test.aad, 40));
    CHECK_OK(mae_aead_update(made.seal, test.plain, length, &taken, test.out, length, &got));
    CHECK_OK(mae_stream_begin(made.dev, MAE_CTR, MAE_ENCRYPT, test.key, 16, iv, &made.stream));
    in_a_child(refuse_messages, &made);
    for (size_t at = taken; at < length; at += taken, got += given)
        CHECK_OK(mae_aead_update(made.seal, test.plain + at, length - at, &taken, test.out + got,
                                 length - got, &given));
    CHECK_OK(mae_aead_finish(made.seal, test.got_tag));
    CHECK_OK(mae_aead_read(made.seal, test.out + got, length - got, &given));
    CHECK(got + given == length && memcmp(test.out, test.sealed, length) == 0);
    CHECK(memcmp(test.got_tag, test.tag, test.message.tag_bytes) == 0);
    mae_aead_free(made.seal);
    mae_aead_free(made.unsealed);
    mae_stream_free(made.stream);
    CHECK_OK(mae_seal_counted(made.dev, &test.message, &made.counter));
    CHECK(made.counter.next == 8);
    mae_close(made.dev);
    CHECK(made.mock->closed == 1);
}

/* Tests that a device refuses the process that did not open it. */
static void refuse(void *dev)
{
    CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_STATE);
}

/* Tests a device that a child opens: it works there, and not in a child of that child. */
static void use_own(void *parents)
{
    mae_dev_t *dev;
    refuse(parents);
    (void)open_card(&dev);
    CHECK_OK(mae_seal(dev, &test.message));
    in_a_child(refuse, dev);
    CHECK_OK(mae_seal(dev, &test.message));
    mae_close(dev);
}

/* Tests that a forked child can open and use a device of its own. */
static void a_forked_child_opens_its_own(void)
{
    mae_dev_t *dev;
    (void)open_card(&dev);
    new_case(MAE_GCM, 40, 10);
    test.message.nonce_bytes = 12;
    in_a_child(use_own, dev);
    CHECK_OK(mae_seal(dev, &test.message));
    mae_close(dev);
}

int main(void)
{
    RUN(a_forked_child_uses_nothing_of_its_parent);
    RUN(a_forked_child_opens_its_own);
    return 0;
}
