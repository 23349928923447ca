// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

// ---- from nothing: the library's own pools are made, and given back by tern_shutdown ------------

static void nothing_is_left_after_shutdown(const fault_trial *trial)
{
    tern_shutdown();
    if (memory.blocks || memory.bytes || tern_live_tensors())
        fail_trial(trial, "%lld blocks, %lld bytes, %lld tensors are left",
                   (long long)memory.blocks, (long long)memory.bytes,
                   (long long)tern_live_tensors());
}

static const fault_checks from_nothing = {.end = nothing_is_left_after_shutdown};

static void what_fails_from_nothing_leaves_nothing(void **state)
{
    (void)state;
    assert_true(fail_everything((fault_mode){.onwards = false}, &from_nothing) > 2000);
}

static void what_runs_out_of_memory_from_nothing_leaves_nothing(void **state)
{
    (void)state;
    assert_true(fail_everything((fault_mode){.onwards = true}, &from_nothing) > 2000);
}

// ---- in a program that runs: the call itself leaves nothing -------------------------------------

static int64_t blocks_before, bytes_before, tensors_before;

static void count_before(const fault_trial *trial)
{
    (void)trial;
    blocks_before = memory.blocks;
    bytes_before = memory.bytes;
    tensors_before = tern_live_tensors();
}

static void assert_live(const fault_trial *trial, int64_t blocks, int64_t bytes, int64_t tensors)
{
    if (memory.blocks != blocks || memory.bytes != bytes || tern_live_tensors() != tensors)
        fail_trial(trial, "%lld blocks, %lld bytes, %lld tensors are left",
                   (long long)(memory.blocks - blocks), (long long)(memory.bytes - bytes),
                   (long long)(tern_live_tensors() - tensors));
}

static void the_call_left_nothing(const fault_trial *trial)
{
    if (!trial->op->keeps)
        assert_live(trial, blocks_before, bytes_before, tensors_before);
}

static void freeing_all_leaves_nothing(const fault_trial *trial)
{
    assert_live(trial, trial->blocks, trial->bytes, trial->tensors);
}

static const fault_checks while_running = {
    .before = count_before, .after = the_call_left_nothing, .end = freeing_all_leaves_nothing};

static void a_call_that_fails_leaves_nothing(void **state)
{
    (void)state;
    assert_true(fail_everything((fault_mode){.warm = true}, &while_running) > 2000);
}

static void a_call_that_runs_out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    assert_true(fail_everything((fault_mode){.warm = true, .onwards = true}, &while_running) >
                2000);
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that what the hook counts is what lives
    if (begin_faults())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fails_from_nothing_leaves_nothing),
        cmocka_unit_test(what_runs_out_of_memory_from_nothing_leaves_nothing),
        cmocka_unit_test(a_call_that_fails_leaves_nothing),
        cmocka_unit_test(a_call_that_runs_out_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests_name("nothing leaks after a failed allocation", tests,
                                       begin_fault_group, end_fault_group);
}
