// SPDX-License-Identifier: Apache-2.0
// Runs a case over its setups, dtypes and layouts and holds the results to the reference.
#include "support/check.h"
#include "conformance.h"
#include "support/host.h"

typedef struct precision {
    int bits, smallest; // of the mantissa; the exponent of the smallest normal number
    real unit;          // rounding of the arithmetic inside
    real share;         // allowed share of the result: 16-bit results are rounded once more
} precision;

static precision precision_of(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_FLOAT64:
        return (precision){52, -1022, 0x1p-53L, 0};
    case TERN_FLOAT16:
        return (precision){10, -14, 0x1p-24L, 1e-3L};
    case TERN_BFLOAT16:
        return (precision){7, -126, 0x1p-24L, 1.6e-2L};
    case TERN_FLOAT32:
    case TERN_INT64:
    case TERN_INT32:
    case TERN_UINT8:
    case TERN_BOOL:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return (precision){23, -126, 0x1p-24L, 0};
}

// The distance to the next number of the dtype.
static real ulp(precision p, real x)
{
    int exponent = x == 0 ? p.smallest : ilogbl(x);
    return ldexpl(1, (exponent < p.smallest ? p.smallest : exponent) - p.bits);
}

static real allowed(const op_case *c, const expected *want, int64_t i)
{
    precision p = precision_of(want->value.dtype);
    real value = want->value.data[i];
    real magnitude = want->magnitude.data ? want->magnitude.data[i] : 0;
    bool half = p.share > 0;
    if (c->ulps == 0 && magnitude == 0)
        return 0;
    // float64 has no wider format to be computed in
    real ulps = (real)c->ulps * (c->ulps >= 4 && want->value.dtype == TERN_FLOAT64 ? 4 : 1);
    real room = ulps * ulp(p, value) + 2 * (real)want->terms * p.unit * magnitude;
    real rounded = want->in_between ? fmaxl(fabsl(value), magnitude) : fabsl(value);
    return half ? room + p.share * rounded + ulp(p, 0) : room;
}

static bool close_enough(const op_case *c, const expected *want, int64_t i, real got)
{
    real value = want->value.data[i];
    if (isnan(value))
        return isnan(got);
    real rounded = array_round(want->value.dtype, value);
    if (got == rounded)
        return true;
    if (isinf(rounded) || isnan(got) || isinf(got))
        return isinf(got) &&
               fabsl(value) + allowed(c, want, i) >= fabsl(array_round(want->value.dtype, value)) &&
               signbit(got) == signbit(value);
    return fabsl(got - value) <= allowed(c, want, i);
}

static void compare(const char *run, const op_case *c, const expected *want, const tern_tensor *y)
{
    array got = array_of_tensor(y);
    if (got.dtype != want->value.dtype || !tern_shape_equal(got.shape, want->value.shape))
        fail_msg("%s: gives %s of rank %d with %lld elements, expected %s, %d, %lld", run,
                 tern_dtype_name(got.dtype), got.shape.rank, (long long)got.numel,
                 tern_dtype_name(want->value.dtype), want->value.shape.rank,
                 (long long)want->value.numel);
    for (int64_t i = 0; i < got.numel; i++)
        if (!close_enough(c, want, i, got.data[i]))
            fail_msg("%s: element %lld is %.12Lg, expected %.12Lg (off by %.3Lg, %.3Lg allowed)",
                     run, (long long)i, got.data[i], want->value.data[i],
                     fabsl(got.data[i] - want->value.data[i]), allowed(c, want, i));
    array_free(&got);
}

static tern_dtype result_dtype(const op_case *c, tern_dtype dtype)
{
    bool floating = tern_dtype_is_floating(dtype);
    switch (c->result) {
    case SAME:
        return dtype;
    case FLOATING:
        return floating ? dtype : TERN_FLOAT32;
    case WIDENED:
        return floating ? dtype : TERN_INT64;
    case TRUTH:
        return TERN_BOOL;
    case PLACES:
        return TERN_INT64;
    case AS_ASKED:
        return (tern_dtype)c->p[0];
    }
    return dtype;
}

static void run_layout(const op_case *c, int k, tern_dtype dtype, array_layout layout,
                       const array *in, const expected *want, tern_device device)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *operands[MAX_IN] = {NULL};
    run_name name = name_of_run(c, k, dtype, layout);
    for (int i = 0; i < c->inputs; i++)
        operands[i] = array_to_tensor(&in[i], device, layout);
    host_state host = host_before();
    tern_tensor *y = c->call(operands, c, &c->setups[k]);
    const char *changed = host_difference(&host);
    if (changed)
        fail_msg("%s: the call changed %s", name.text, changed);
    if (!y || tern_error_pending()) {
        char sentence[600];
        tern_error_take(sentence, sizeof sentence);
        fail_msg("%s: %s", name.text, sentence);
    }
    if (!tern_device_equal(tern_device_of(y), device))
        fail_msg("%s: the result is on %s", name.text, tern_device_string(tern_device_of(y)));
    compare(name.text, c, want, y);
    tern_scope_close(scope);
}

static void run_setup(const op_case *c, int k, tern_dtype dtype, tern_device device)
{
    array in[MAX_IN] = {{0}};
    expected want = {.value = {.dtype = result_dtype(c, dtype)}};
    make_inputs(c, &c->setups[k], dtype, false, in);
    c->reference(c, &c->setups[k], in, &want);
    for (array_layout layout = LAYOUT_CONTIGUOUS; layout < LAYOUT_COUNT; layout++)
        run_layout(c, k, dtype, layout, in, &want, device);
    for (int i = 0; i < MAX_IN; i++)
        array_free(&in[i]);
    array_free(&want.value);
    array_free(&want.magnitude);
}

void check_forward(const op_case *c, tern_device device)
{
    for (tern_dtype dtype = TERN_FLOAT32; dtype <= TERN_BOOL; dtype++)
        if (c->dtypes & 1u << dtype)
            for (int k = 0; k < c->setup_count; k++)
                run_setup(c, k, dtype, device);
}
