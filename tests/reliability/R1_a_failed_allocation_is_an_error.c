// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "base/worker.h"
#include "faults.h"

// ---- ways to an allocation: the return addresses on the stack, hashed ---------------------------

#define MOST_WAYS 16384
#define DEPTH     64

typedef struct ways {
    uint64_t at[MOST_WAYS]; // open addressing; 0: free
    int count;
} ways;

static ways taken, failed_on;

static size_t place_of(const ways *set, uint64_t way)
{
    size_t at = way % MOST_WAYS;
    while (set->at[at] && set->at[at] != way)
        at = (at + 1) % MOST_WAYS;
    return at;
}

// From the library's call of the allocator outwards.
static void add_way(ways *set, const void *caller)
{
    void *stack[DEPTH];
    int depth = backtrace(stack, DEPTH) - outer_frames, from = 0;
    uint64_t way = UINT64_C(0xcbf29ce484222325);
    while (from < depth && stack[from] != caller)
        from++;
    for (int i = from; i < depth; i++)
        way = (way ^ (uint64_t)(uintptr_t)stack[i]) * UINT64_C(0x100000001b3);
    size_t at = place_of(set, way);
    if (from == depth || (!set->at[at] && ++set->count == MOST_WAYS))
        abort();
    set->at[at] = way;
}

static void note_taken(bool fails, const void *caller)
{
    (void)fails;
    add_way(&taken, caller);
}

static void note_failed(bool fails, const void *caller)
{
    if (fails)
        add_way(&failed_on, caller);
}

// ---- threads that run one after another ---------------------------------------------------------

typedef struct one_thread {
    tern_worker_fn *run;
    void *user;
} one_thread;

tern_worker *__wrap_tern_worker_begin(tern_worker_fn *run, void *user);
void __wrap_tern_worker_wait(tern_worker *worker);

static void *run_one_thread(void *user)
{
    const one_thread *t = user;
    t->run(t->user);
    return NULL;
}

// So that the n-th allocation is the same in every run. What is returned is only handed back.
tern_worker *__wrap_tern_worker_begin(tern_worker_fn *run, void *user)
{
    static char any;
    pthread_t thread;
    one_thread t = {run, user};
    if (pthread_create(&thread, NULL, run_one_thread, &t) || pthread_join(thread, NULL))
        abort();
    return (tern_worker *)(void *)&any;
}

void __wrap_tern_worker_wait(tern_worker *worker)
{
    (void)worker;
}

// ---- what is looked at --------------------------------------------------------------------------

static uint64_t result_of_success;

static void watch_failures(const fault_trial *trial)
{
    (void)trial;
    memory.watch = note_failed;
}

static void is_reported(const fault_trial *trial)
{
    memory.watch = NULL;
    bool saved_by_cache = !caches_are_off() && !trial->status && w.seen == result_of_success;
    if (saved_by_cache && !tern_error_pending())
        return;
    if (trial->status != TERN_ERR_NOMEM || tern_error_code() != TERN_ERR_NOMEM)
        fail_trial(trial, "gave \"%s\", pending is \"%s\": %s", tern_status_name(trial->status),
                   tern_status_name(tern_error_code()), tern_error_message());
    if (!strstr(tern_error_message(), "no memory"))
        fail_trial(trial, "says \"%s\"", tern_error_message());
}

// The ways of a run in which nothing fails.
static void learn_ways(const operation *op)
{
    prepare_cold(op);
    memory.watch = note_taken;
    tern_status status = run_operation(op);
    memory.watch = NULL;
    result_of_success = w.seen;
    if (status)
        fail_msg("%s fails: %s", op->name, tern_error_message());
}

static const fault_checks reported = {
    .first = learn_ways, .before = watch_failures, .after = is_reported};

static void every_way_has_failed(void)
{
    int missed = 0;
    for (int i = 0; i < MOST_WAYS; i++)
        missed += taken.at[i] && !failed_on.at[place_of(&failed_on, taken.at[i])];
    print_message("%d ways to an allocation, %d of them did not fail\n", taken.count, missed);
    assert_int_equal(missed, 0);
    assert_true(taken.count > 300);
}

static void fail_all(bool onwards)
{
    taken.count = failed_on.count = 0;
    memset(taken.at, 0, sizeof taken.at);
    memset(failed_on.at, 0, sizeof failed_on.at);
    int64_t failures = fail_everything((fault_mode){.onwards = onwards}, &reported);
    assert_true(failures > 1500);
    every_way_has_failed();
}

static void each_allocation_that_fails_alone_is_reported(void **state)
{
    (void)state;
    fail_all(false);
}

static void memory_that_runs_out_for_good_is_reported(void **state)
{
    (void)state;
    fail_all(true);
}

int main(void)
{
    if (begin_faults())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_that_fails_alone_is_reported),
        cmocka_unit_test(memory_that_runs_out_for_good_is_reported),
    };
    return cmocka_run_group_tests_name("a failed allocation is an error", tests, begin_fault_group,
                                       end_fault_group);
}
