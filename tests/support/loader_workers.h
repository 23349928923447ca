// SPDX-License-Identifier: Apache-2.0
// Tests of loaders run with workers too, TEST_LOADER_WORKERS of them: what loaders do is the same.
#ifndef TERN_TESTS_SUPPORT_LOADER_WORKERS_H
#define TERN_TESTS_SUPPORT_LOADER_WORKERS_H

#include <stdlib.h>
#include <tern/tern.h>

static inline int test_workers(void)
{
    const char *workers = getenv("TEST_LOADER_WORKERS");
    return workers ? atoi(workers) : 0;
}

#undef tern_loader_new
#define tern_loader_new(...)                                                                       \
    TERN_WITH_(tern_loader_new, tern_loader_new, TERN_LOADER_NEW, __VA_ARGS__,                     \
               .workers = test_workers())

#endif
