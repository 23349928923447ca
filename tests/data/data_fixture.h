// SPDX-License-Identifier: Apache-2.0
// What each test of files and datasets begins with, and that it leaves nothing: no error, tensor,
// memory or open file. Include <cmocka.h> before.
#ifndef TERN_TESTS_DATA_FIXTURE_H
#define TERN_TESTS_DATA_FIXTURE_H

#include "data_test.h"

static tern_scope scope;
static int64_t live_before;
static int files_before;

static inline int start_group(void **state)
{
    (void)state;
    return use_scopes(4) ? -1 : make_directory();
}

static inline int end_group(void **state)
{
    (void)state;
    remove_directory();
    return all_given_back();
}

static inline int start(void **state)
{
    (void)state;
    tern_error_clear();
    files_before = open_files();
    live_before = memory.bytes;
    scope = tern_scope_open();
    return scope ? 0 : -1;
}

static inline int leaves_nothing(void **state)
{
    (void)state;
    tern_scope_close(scope);
    empty_directory();
    fail_nth_allocation(0);
    if (tern_error_pending())
        fprintf(stderr, "pending: %s\n", tern_error_message());
    return tern_error_pending() || tern_live_tensors() != 0 || memory.bytes != live_before ||
           open_files() != files_before;
}

#endif
