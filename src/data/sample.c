// SPDX-License-Identifier: Apache-2.0
// Random numbers of a sample, by its number: they know no order.
#include <inttypes.h>
#include <math.h>
#include <tern/data.h>

#include "base/error.h"
#include "base/philox.h"

static tern_status draw(const char *function, const tern_sample_context *context, int64_t index,
                        int64_t k, uint64_t *bits)
{
    if (!context)
        return tern_null_error(function, "context");
    TERN_CHECK(k >= 0 && k <= UINT32_MAX, TERN_ERR_ARG,
               "%s: k is %" PRId64 ", but must be 0 to 4294967295", function, k);
    const uint64_t upper = (uint64_t)context->epoch << 32 | (uint64_t)k;
    const tern_philox_block block = tern_philox(context->seed, (uint64_t)index, upper);
    *bits = (uint64_t)block.word[1] << 32 | block.word[0];
    return TERN_OK;
}

double tern_sample_rand(const tern_sample_context *context, int64_t index, int64_t k)
{
    uint64_t bits;
    if (draw("sample_rand", context, index, k, &bits))
        return (double)NAN;
    return (double)(bits >> 11) * 0x1p-53;
}

int64_t tern_sample_randint(const tern_sample_context *context, int64_t index, int64_t k,
                            int64_t low, int64_t high)
{
    uint64_t bits;
    if (draw("sample_randint", context, index, k, &bits))
        return low;
    if (low >= high) {
        (void)tern_error_raise(TERN_ERR_ARG,
                               "sample_randint: low is %" PRId64 " and high %" PRId64
                               ", but low must be below high",
                               low, high);
        return low;
    }
    const uint64_t range = (uint64_t)high - (uint64_t)low;
    return (int64_t)((uint64_t)low + bits % range);
}
