// SPDX-License-Identifier: Apache-2.0
// The formulas of step.def over a block; a template: `real`, R_(name) and FMA_ for the functions of
// that type, STEP_BLOCK(CODE) for the names.

#define NUMBER(x)                                                                                  \
    const real x = (real)number[next++];                                                           \
    (void)x;
#define ARRAY(x) real *restrict x##_at = array[at++];
#define LOAD(x)  real x = x##_at[i];
#define STORE(x) x##_at[i] = x;
#define COUNT(x) +1
#define STEP(CODE, FAMILY, ...)                                                                    \
    _Static_assert(0 TERN_STEP_##FAMILY##_NUMBERS(COUNT) <= TERN_STEP_NUMBERS, "numbers");         \
    _Static_assert(0 TERN_STEP_##CODE##_STATES(COUNT) <= TERN_STEP_STATES, "states");              \
    static void STEP_BLOCK(CODE)(const double *number, void *const *array, int64_t n)              \
    {                                                                                              \
        int next = 0, at = 0;                                                                      \
        TERN_STEP_##FAMILY##_NUMBERS(NUMBER);                                                      \
        ARRAY(p)                                                                                   \
        const real *restrict g_at = array[at++];                                                   \
        TERN_STEP_##CODE##_STATES(ARRAY);                                                          \
        (void)next, (void)at;                                                                      \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            LOAD(p)                                                                                \
            const real g = g_at[i];                                                                \
            TERN_STEP_##CODE##_STATES(LOAD);                                                       \
            __VA_ARGS__                                                                            \
            STORE(p)                                                                               \
            TERN_STEP_##CODE##_STATES(STORE);                                                      \
        }                                                                                          \
    }
#include "device/step.def"

static step_block_fn *const STEP_BLOCK(blocks)[] = {
#define STEP(CODE, FAMILY, ...) [TERN_STEP_##CODE] = STEP_BLOCK(CODE),
#include "device/step.def"
};

#undef NUMBER
#undef ARRAY
#undef LOAD
#undef STORE
#undef COUNT
