/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a forked child cannot encrypt with its parent's nonce counter. */
#include <sys/wait.h>
#include <unistd.h>

#include "mock/aead_case.h"
#include "mock/check.h"

/* Tests that encryption with a nonce counter fails in a forked child, to repeat no nonce. */
static void a_forked_child_counts_no_nonce(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    struct mae_nonce_counter counter = {{0}, 7};
    mae_dev_t *dev;
    int status;
    mock->modes = unauthenticated_modes() | 0x100;
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 40, 10);
    test.message.nonce_bytes = 12;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(mae_seal_counted(dev, &test.message, &counter) != MAE_E_STATE || counter.next != 7);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(mae_seal_counted(dev, &test.message, &counter));
    CHECK(counter.next == 8);
    mae_close(dev);
}

int main(void)
{
    RUN(a_forked_child_counts_no_nonce);
    return 0;
}
