// SPDX-License-Identifier: Apache-2.0
// What the tests of loaders share: a dataset whose samples are their numbers, looks at the batches,
// and that each test leaves nothing. Include <cmocka.h> before.
#ifndef TERN_TESTS_LOADER_TEST_H
#define TERN_TESTS_LOADER_TEST_H

#include "data_test.h"
#include "base/worker.h"
#include "ops/op.h"
#include "support/loader_workers.h"
#include "tensor/liveness.h"

static tern_scope scope;
static int64_t live_before;

static inline int start_group(void **state)
{
    (void)state;
    return use_scopes(4) ? -1 : 0;
}

static inline int end_group(void **state)
{
    (void)state;
    return all_given_back();
}

static inline int start(void **state)
{
    (void)state;
    tern_error_clear();
    live_before = tern_memory_live_bytes();
    scope = tern_scope_open();
    return scope ? 0 : -1;
}

static inline int leaves_nothing(void **state)
{
    (void)state;
    tern_scope_close(scope);
    fail_nth_allocation(0);
    tern_workers_shutdown(); // they keep scopes
    if (tern_error_pending())
        fprintf(stderr, "pending: %s\n", tern_error_message());
    return tern_error_pending() || tern_live_tensors() != 0 ||
           tern_memory_live_bytes() != live_before;
}

// Sample i is (i): int64.
static inline tern_dataset *numbers(int64_t count)
{
    tern_tensor *x = tern_arange(0, (double)count, 1);
    tern_dataset *set = tern_data_tensors(x);
    assert_non_null(set);
    return set;
}

// Appends the samples of one epoch, or of its first `batches`, and returns how many.
static inline int64_t run_epoch(tern_loader *loader, int64_t *order, int batches)
{
    int64_t count = 0;
    tern_batch b;
    for (int n = 0; (batches == 0 || n < batches) && tern_loader_next(loader, &b); n++) {
        assert_memory_equal(tern_data(b.x), b.index, (size_t)b.size * sizeof *b.index);
        memcpy(order + count, b.index, (size_t)b.size * sizeof *b.index);
        count += b.size;
    }
    assert_false(tern_error_pending());
    return count;
}

// The next batch has these samples.
static inline void assert_next(tern_loader *loader, int64_t size, const int64_t *samples)
{
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_int_equal(b.size, size);
    assert_memory_equal(tern_data(b.x), samples, (size_t)size * sizeof *samples);
}

static inline void assert_end(tern_loader *loader)
{
    tern_batch b = {.size = 99};
    assert_false(tern_loader_next(loader, &b));
    assert_false(tern_error_pending());
    assert_null(b.x);
    assert_int_equal(b.size, 0);
}

static inline bool is_dead(tern_tensor *t)
{
    bool dead = tern_check_tensor("test", "t", t) == TERN_ERR_STATE;
    tern_error_clear();
    return dead;
}

#endif
