// SPDX-License-Identifier: Apache-2.0
// Makes every allocation of an operation fail in turn.
#ifndef TERN_TESTS_RELIABILITY_FAULTS_H
#define TERN_TESTS_RELIABILITY_FAULTS_H

#include <execinfo.h>
#include <malloc.h>

#include "support/check.h"
#include "support/memory_hook.h"
#include "operations.h"

// One run of an operation in which an allocation failed.
typedef struct fault_trial {
    const operation *op;
    int64_t n;
    bool onwards; // the n-th and all later allocations, else it alone
    tern_status status;
    int64_t blocks, bytes, tensors; // live before anything was made
} fault_trial;

typedef struct fault_mode {
    bool onwards;
    bool warm; // the library's pools were filled by a run before
} fault_mode;

// What a program looks at. Any may be NULL.
typedef struct fault_checks {
    void (*first)(const operation *op);       // before the trials of an operation
    void (*before)(const fault_trial *trial); // the operation is prepared
    void (*after)(const fault_trial *trial);  // it failed; the error is pending, its scope closed
    void (*end)(const fault_trial *trial);    // everything that it made was freed
} fault_checks;

#define fail_trial(trial, ...)                                                                     \
    do {                                                                                           \
        print_error("%s, allocation %lld%s: ", (trial)->op->name, (long long)(trial)->n,           \
                    (trial)->onwards ? " and all later ones" : "");                                \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

// Frames of the program around the operation that runs on this thread.
static _Thread_local int outer_frames;

// In one place, so that the way from the operation to an allocation is the same in every run.
static __attribute__((noinline)) tern_status run_operation(const operation *op)
{
    void *stack[64];
    outer_frames = backtrace(stack, 64);
    tern_status status = operation_run(op);
    outer_frames = 0;
    return status;
}

static inline bool caches_are_off(void)
{
    const char *setting = getenv("TERN_CACHE");
    return setting && strcmp(setting, "0") == 0;
}

static inline void prepare_cold(const operation *op)
{
    world_reset();
    tern_error_clear();
    tern_shutdown();
    tern_manual_seed(20);
    if (operation_prepare(op))
        fail_msg("%s cannot be prepared: %s", op->name, tern_error_message());
}

static inline void prepare_warm(fault_trial *trial)
{
    const operation *op = trial->op;
    tern_scope scope = tern_scope_open();
    if (trial->n == 1 && run_operation(op))
        fail_msg("%s fails: %s", op->name, tern_error_message());
    tern_scope_close(scope);
    world_reset();
    trial->blocks = memory.blocks;
    trial->bytes = memory.bytes;
    trial->tensors = tern_live_tensors();
    if (operation_prepare(op))
        fail_msg("%s cannot be prepared again: %s", op->name, tern_error_message());
}

static inline void prepare_fault(fault_trial *trial, fault_mode mode)
{
    if (!mode.warm || trial->n == 1)
        prepare_cold(trial->op);
    if (mode.warm)
        prepare_warm(trial);
}

// Runs `op` with its first, second, ... allocation failing until none does. Returns how many did.
static inline int64_t fail_each_allocation(const operation *op, fault_mode mode,
                                           const fault_checks *checks)
{
    fault_trial trial = {.op = op, .n = 1, .onwards = mode.onwards};
    if (checks->first)
        checks->first(op);
    for (;; trial.n++) {
        prepare_fault(&trial, mode);
        tern_scope scope = mode.warm ? tern_scope_open() : 0;
        if (checks->before)
            checks->before(&trial);
        w.seen = 0;
        (mode.onwards ? fail_allocations_from : fail_nth_allocation)(trial.n);
        trial.status = run_operation(op);
        int64_t failed = memory.failed;
        fail_nth_allocation(0);
        tern_scope_close(scope);
        if (failed == 0 && trial.status)
            fail_trial(&trial, "failed without a reason: %s", tern_error_message());
        if (failed > 0 && checks->after)
            checks->after(&trial);
        tern_error_clear();
        world_reset();
        if (checks->end)
            checks->end(&trial);
        if (failed == 0)
            return trial.n - 1;
    }
}

// All tables; returns the number of failures. Names the operations with theirs.
static inline int64_t fail_everything(fault_mode mode, const fault_checks *checks)
{
    const operation *const tables[] = {operations, inputs_and_outputs, states, formulas,
                                       parametrizations};
    int64_t total = 0;
    for (int i = 0; i < (int)(sizeof tables / sizeof *tables); i++)
        for (const operation *op = tables[i]; op->name; op++) {
            int64_t failed = fail_each_allocation(op, mode, checks);
            print_message("%s %lld, ", op->name, (long long)failed);
            if (failed < op->least && caches_are_off())
                fail_msg("%s: only %lld allocations, expected at least %lld", op->name,
                         (long long)failed, (long long)op->least);
            total += failed;
        }
    print_message("in all %lld\n", (long long)total);
    return total;
}

// For main, before anything else.
static inline int begin_faults(void)
{
    setenv("TERN_CACHE", "0", 0); // every allocation reaches the hook, unless told otherwise
    setenv("TERN_CPU_DEVICES", "2", 1);
    mallopt(M_MMAP_THRESHOLD, 16 << 20); // the same pages again and again
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    return use_memory_hook();
}

static inline int begin_fault_group(void **state)
{
    (void)state;
    return operations_begin();
}

static inline int end_fault_group(void **state)
{
    (void)state;
    operations_end();
    return all_given_back();
}

#endif
