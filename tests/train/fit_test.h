// SPDX-License-Identifier: Apache-2.0
// What the tests of tern_fit share.
#ifndef TERN_TESTS_TRAIN_FIT_TEST_H
#define TERN_TESTS_TRAIN_FIT_TEST_H

#include "support/memory_hook.h"
#include "train_test.h"

// The call worked; else its sentence is shown.
#define fit_ok(call)                                                                               \
    do {                                                                                           \
        (void)!(call);                                                                             \
        assert_no_error();                                                                         \
    } while (0)

// The same samples in each epoch: what is evaluated.
static inline tern_loader *valid_loader(void)
{
    float x[SAMPLES * 4];
    int64_t y[SAMPLES];
    for (int64_t i = 0; i < SAMPLES; i++)
        for (int64_t k = 0; k < 4; k++) {
            x[4 * i + k] = (float)(i * k % 7) + 0.5f;
            y[i] = i % 3;
        }
    tern_scope scope = tern_scope_open();
    tern_dataset *set = tern_data_tensors(tern_from_data(tern_dims(SAMPLES, 4), x),
                                          tern_from_data(tern_dims(SAMPLES), y));
    tern_loader *loader = tern_loader_new(set, .batch_size = BATCH);
    tern_dataset_free(set);
    tern_scope_close(scope);
    assert_no_error();
    return loader;
}

#endif
