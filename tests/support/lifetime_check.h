// SPDX-License-Identifier: Apache-2.0
// What the tests of lifetimes share: each runs in a scope of its own and leaves no tensor, and
// after tern_shutdown not one byte.
#ifndef TERN_TESTS_SUPPORT_LIFETIME_CHECK_H
#define TERN_TESTS_SUPPORT_LIFETIME_CHECK_H

#include "tensor_check.h"

static inline int leaves_no_byte(void **state)
{
    int status = check_close(state);
    tern_shutdown();
    if (tern_memory_live_bytes() != 0)
        print_error("%lld bytes left\n", (long long)tern_memory_live_bytes());
    return status || tern_memory_live_bytes() != 0 ? -1 : 0;
}

#define LIFETIME_TEST(name) cmocka_unit_test_setup_teardown(name, check_open, leaves_no_byte)

// Using the tensor is an error whose sentence has these words.
#define assert_dead(t, words)                                                                      \
    do {                                                                                           \
        assert_null(tern_neg(t));                                                                  \
        assert_error(TERN_ERR_STATE, words);                                                       \
    } while (0)
#define DIED_WITH_ITS_SCOPE "died when its scope closed; tern_retain it"

static inline tern_tensor *total(tern_tensor *t)
{
    return tern_sum(t, TERN_ALL_AXES, false);
}

// Samples 0, 1, ..., count - 1: float32 (1).
static inline tern_dataset *numbers(int64_t count)
{
    tern_tensor *x = tern_arange(0, (double)count, 1, .dtype = TERN_FLOAT32);
    return tern_data_tensors(tern_reshape(x, tern_dims(count, 1)));
}

#endif
