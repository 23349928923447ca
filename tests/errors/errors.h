// SPDX-License-Identifier: Apache-2.0
// One case: a call that must be refused, the code it leaves and what its sentence must say.
//
//     REFUSES(tern_add, "shapes that do not broadcast", TERN_ERR_SHAPE, "add: a|(2, 3)|b|(4, 5)",
//             tern_add(f->x, f->wide))
//
// The words between bars are looked for in the sentence. The call is an expression: a status, which
// must be the code; a pointer, which must be NULL; or an int, which must hold. It is made three
// times: alone, while another error is pending, and alone again. Each time the tensors of the
// fixture stay as they were, nothing new stays alive, and what the host has set (host.h) is left
// alone.
#ifndef TERN_TESTS_ERRORS_H
#define TERN_TESTS_ERRORS_H

// gcc warns of what these calls get wrong on purpose.
#if __has_attribute(access)
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tern/tern.h>

#define FIXTURE_TENSORS 15

// What calls are made with; new for every case. The tensors belong to a scope around the call.
typedef struct fixture {
    tern_tensor *x;       // float32 (2, 3): 1 ... 6
    tern_tensor *wide;    // float32 (4, 5)
    tern_tensor *vector;  // float32 (3,)
    tern_tensor *scalar;  // float32 ()
    tern_tensor *empty;   // float32 (0, 3)
    tern_tensor *deep;    // float32 (1, 1, 1, 1, 1, 1, 1, 1)
    tern_tensor *doubles; // float64 (2, 3)
    tern_tensor *ints;    // int64 (2, 3)
    tern_tensor *bytes;   // uint8 (2, 3)
    tern_tensor *bools;   // bool (2, 3)
    tern_tensor *labels;  // int64 (2,): 0, 2
    tern_tensor *far;     // float32 (2, 3) on cpu:1
    tern_tensor *leaf;    // float32 (2, 3) that requires a gradient
    tern_tensor *made;    // float32 (2, 3) = 2 * leaf, with history
    tern_tensor *turned;  // float32 (3, 2), x transposed: a view
    tern_tensor *dead;    // float32 (2, 3) = neg(x), from a scope that closed
    tern_module *net;     // Sequential(Linear(3, 4), ReLU)
    tern_module *criterion;
    tern_optim *optim;     // SGD with momentum over net
    tern_optim *adam;      // over net too
    tern_sched *sched;     // StepLR of adam
    tern_dataset *dataset; // (x, labels)
    tern_loader *loader;   // batches of 1
    tern_generator *generator;
    tern_state *state;                  // x, and "count": 3
    tern_checkpoint *checkpoint;        // of "count", in /proc, where no file can be made
    tern_logger *logger;                // into /proc: it drops everything
    tern_tensor *out[TERN_MAX_TENSORS]; // for results
    tern_tensors in, outs;              // in: x
    int64_t count;
    char text[64];
} fixture;

typedef struct outcome {
    bool failed;
    bool has_code;
    tern_status code;
} outcome;

typedef struct error_case {
    const char *group;    // the file, without directory and suffix
    const char *function; // "tern_add"
    void (*address)(void);
    const char *what;  // what is refused; the reason for a function that cannot fail
    tern_status code;  // TERN_OK: the call must work
    const char *words; // NULL: only while an error is pending, which is handed on without a word
    bool cannot_fail;  // the call works, as every other one would
    outcome (*call)(fixture *f);
    struct error_case *next;
} error_case;

void error_case_add(error_case *new_case);
const error_case *error_cases(void);

static inline outcome outcome_status(tern_status code)
{
    return (outcome){code != TERN_OK, true, code};
}

static inline outcome outcome_holds(int holds)
{
    return (outcome){holds != 0, false, TERN_OK};
}

static inline outcome outcome_pointer(const void *pointer)
{
    return (outcome){pointer == NULL, false, TERN_OK};
}

#define OUTCOME(result)                                                                            \
    _Generic((result), tern_status                                                                 \
             : outcome_status, int                                                                 \
             : outcome_holds, default                                                              \
             : outcome_pointer)(result)

#define REGISTER_(id, function_, what_, code_, words_, never_)                                     \
    static error_case case_##id = {.group = __BASE_FILE__,                                         \
                                   .function = #function_,                                         \
                                   .address = (void (*)(void))function_,                           \
                                   .what = what_,                                                  \
                                   .code = code_,                                                  \
                                   .words = words_,                                                \
                                   .cannot_fail = never_,                                          \
                                   .call = call_##id};                                             \
    __attribute__((constructor)) static void add_##id(void)                                        \
    {                                                                                              \
        error_case_add(&case_##id);                                                                \
    }

#define CASE_(id, function, what, code, words, never, ...)                                         \
    static outcome call_##id(fixture *f)                                                           \
    {                                                                                              \
        (void)f;                                                                                   \
        return OUTCOME((__VA_ARGS__));                                                             \
    }                                                                                              \
    REGISTER_(id, function, what, code, words, never)
#define CASE_AT_(id, ...) CASE_(id, __VA_ARGS__)

#define REFUSES(function, what, code, words, ...)                                                  \
    CASE_AT_(__COUNTER__, function, what, code, words, false, __VA_ARGS__)
// A call that works, but hands on an error that is pending: the NULL in it may come from it.
#define HANDS_ON(function, what, ...)                                                              \
    CASE_AT_(__COUNTER__, function, what, TERN_ERR_NULL, NULL, false, __VA_ARGS__)
// A call that must work and leave no error: an int that must hold.
#define TAKES(function, what, ...)                                                                 \
    CASE_AT_(__COUNTER__, function, what, TERN_OK, "", false, !(__VA_ARGS__))
// There is no way to call it that it refuses. The call, of which something holds, is only made.
#define CANNOT_FAIL(function, reason, ...)                                                         \
    CASE_AT_(__COUNTER__, function, reason, TERN_OK, "", true, !(__VA_ARGS__))

// The cases that every function with a tensor has: `call` with T in its place. `op` is its name in
// messages, `argument` the tensor's.
#define NULL_AND_DEAD(function, op, argument, null_call, dead_call)                                \
    REFUSES(function, argument " that is NULL", TERN_ERR_NULL, op ": " argument " is NULL",        \
            null_call)                                                                             \
    REFUSES(function, argument " that died", TERN_ERR_STATE,                                       \
            op ": " argument " (float32 (2, 3), made by neg) died when its scope closed",          \
            dead_call)

#endif
