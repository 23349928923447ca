// SPDX-License-Identifier: Apache-2.0
// y = c ? a : b, by the size of an element alone
#include "cpu/elementwise/elementwise.h"
#include "cpu/loop.h"

// Whole rows, and rows in which one operand is a single value, have loops that vectorise.
#define SELECT(type)                                                                               \
    static void select_##type(const void *context, int64_t n, char *const *data,                   \
                              const int64_t *step)                                                 \
    {                                                                                              \
        (void)context;                                                                             \
        type *y = (type *)(void *)data[0];                                                         \
        const uint8_t *c = (const uint8_t *)data[1];                                               \
        const type *a = (const type *)(void *)data[2], *b = (const type *)(void *)data[3];         \
        const int64_t sy = step[0], sc = step[1], sa = step[2], sb = step[3];                      \
        const bool rows = sy == 1 && sc == 1;                                                      \
        if (rows && sa == 1 && sb == 1) {                                                          \
            ELEMENTWISE_LOOP                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const type u = a[i], v = b[i];                                                     \
                y[i] = c[i] ? u : v;                                                               \
            }                                                                                      \
        } else if (rows && sa == 0 && sb == 1) {                                                   \
            const type u = a[0];                                                                   \
            ELEMENTWISE_LOOP                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const type v = b[i];                                                               \
                y[i] = c[i] ? u : v;                                                               \
            }                                                                                      \
        } else if (rows && sa == 1 && sb == 0) {                                                   \
            const type v = b[0];                                                                   \
            ELEMENTWISE_LOOP                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const type u = a[i];                                                               \
                y[i] = c[i] ? u : v;                                                               \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i * sy] = c[i * sc] ? a[i * sa] : b[i * sb];                                     \
        }                                                                                          \
    }
SELECT(raw_1)
SELECT(raw_2)
SELECT(raw_4)
SELECT(raw_8)

tern_status TERN_ISA_NAME(where)(const tern_exec *exec, const tern_strided *y,
                                 const tern_strided *c, const tern_strided *a,
                                 const tern_strided *b)
{
    (void)exec;
    const size_t size = tern_dtype_size(y->dtype);
    tern_loop_fn *run = size == 1   ? select_raw_1
                        : size == 2 ? select_raw_2
                        : size == 4 ? select_raw_4
                                    : select_raw_8;
    tern_loop((const tern_strided *const[]){y, c, a, b}, 4, run, NULL, TERN_LOOP_ALONE);
    return TERN_OK;
}
