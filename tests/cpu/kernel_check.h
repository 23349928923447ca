// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels share: every instruction set of the machine, views, random inputs and
// comparison with double.
#ifndef TERN_TESTS_CPU_KERNEL_CHECK_H
#define TERN_TESTS_CPU_KERNEL_CHECK_H

#include <inttypes.h>

#include "support/check.h"
#include "cpu/backend.h"
#include "support/strided.h"

static tern_fault kernel_fault;
static tern_draw_state kernel_draws = {.seed = 1, .base = 0};
static const tern_exec kernel_exec = {
    .device = {TERN_CPU, 0}, .fault = &kernel_fault, .location = 7, .draws = &kernel_draws};

// Runs the statement that follows once for each instruction set that the machine has, with its
// table in `kernels`. The portable set is always there.
#define FOR_EACH_TABLE(kernels)                                                                    \
    for (int isa_ = 0; isa_ < 3; isa_++)                                                           \
        for (const tern_kernels *kernels = tern_cpu_kernel_table_for(                              \
                 (const char *const[]){"portable", "avx2", "avx512"}[isa_]);                       \
             kernels; kernels = NULL)

static uint64_t random_state;

// TERN_TEST_SEED, or 1; printed, so that a failure can be repeated.
static inline int kernel_setup(void **state)
{
    (void)state;
    const char *seed = getenv("TERN_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : 1;
    print_message("seed %" PRIu64 "\n", random_state);
    kernel_fault = (tern_fault){0};
    tern_error_clear();
    return tern_cpu_kernel_table_for("portable") ? 0 : -1;
}

static inline uint32_t random_below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

// Between -1 and 1; a multiple of 2^-20, so exact in float32.
static inline double random_value(void)
{
    return (double)(int32_t)random_below(1u << 21) / 0x1p20 - 1;
}

// |actual - expected| <= tolerance; NaN equals NaN.
#define assert_within(actual, expected, tolerance, kernels)                                        \
    do {                                                                                           \
        const double a_ = (double)(actual), e_ = (double)(expected), t_ = (tolerance);             \
        if (a_ != e_ && !(isnan(a_) && isnan(e_)) && !(fabs(a_ - e_) <= t_))                       \
            fail_msg("%s: %s is %.9g, expected %.9g within %.3g", (kernels)->name, #actual, a_,    \
                     e_, t_);                                                                      \
    } while (0)

#endif
