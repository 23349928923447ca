// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <float.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *take(int64_t nbytes)
{
    void *memory = calloc(1, nbytes ? (size_t)nbytes : 1);
    if (!memory) {
        fputs("no memory for a test\n", stderr);
        exit(1);
    }
    return memory;
}

array array_new(tern_dtype dtype, tern_shape shape)
{
    int64_t numel = tern_shape_numel(shape);
    return (array){dtype, shape, numel, take(numel * (int64_t)sizeof(real))};
}

void array_free(array *a)
{
    free(a->data);
    *a = (array){0};
}

// ---- elements ----------------------------------------------------------------------------------

// A 16-bit floating format by its number of mantissa bits and its smallest normal exponent.
typedef struct half_format {
    int bits, smallest;
    uint16_t infinity;
} half_format;

static const half_format float16 = {10, -14, 0x7c00};
static const half_format bfloat16 = {7, -126, 0x7f80};

static uint16_t encode(half_format format, real x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    real size = fabsl(x);
    if (isnan(x))
        return format.infinity | 1u << (format.bits - 1);
    if (isinf(x) || size == 0)
        return sign | (isinf(x) ? format.infinity : 0);
    int exponent = ilogbl(size) < format.smallest ? format.smallest : ilogbl(size);
    real steps = rintl(ldexpl(size, format.bits - exponent)); // 2^bits and more: normal
    int64_t code = ((int64_t)(exponent - format.smallest) << format.bits) + (int64_t)steps;
    return sign | (uint16_t)(code < format.infinity ? code : format.infinity);
}

static real decode(half_format format, uint16_t word)
{
    int64_t code = word & 0x7fff;
    real sign = word & 0x8000 ? -1 : 1;
    if (code >= format.infinity)
        return code == format.infinity ? sign * INFINITY : NAN;
    int64_t exponent = code >> format.bits, steps = code & ((1 << format.bits) - 1);
    if (exponent == 0)
        return sign * ldexpl(steps, format.smallest - format.bits);
    steps += 1 << format.bits;
    return sign * ldexpl(steps, (int)exponent - 1 + format.smallest - format.bits);
}

static void store(tern_dtype dtype, void *to, int64_t i, real x)
{
    switch (dtype) {
    case TERN_FLOAT32:
        ((float *)to)[i] = (float)x;
        break;
    case TERN_FLOAT64:
        ((double *)to)[i] = (double)x;
        break;
    case TERN_FLOAT16:
        ((uint16_t *)to)[i] = encode(float16, x);
        break;
    case TERN_BFLOAT16:
        ((uint16_t *)to)[i] = encode(bfloat16, x);
        break;
    case TERN_INT64:
        ((int64_t *)to)[i] = (int64_t)x;
        break;
    case TERN_INT32:
        ((int32_t *)to)[i] = (int32_t)(int64_t)x;
        break;
    case TERN_UINT8:
        ((uint8_t *)to)[i] = (uint8_t)(int64_t)x; // wraps
        break;
    case TERN_BOOL:
        ((uint8_t *)to)[i] = x != 0;
        break;
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
}

real array_element(tern_dtype dtype, const void *from, int64_t i)
{
    switch (dtype) {
    case TERN_FLOAT32:
        return ((const float *)from)[i];
    case TERN_FLOAT64:
        return ((const double *)from)[i];
    case TERN_FLOAT16:
        return decode(float16, ((const uint16_t *)from)[i]);
    case TERN_BFLOAT16:
        return decode(bfloat16, ((const uint16_t *)from)[i]);
    case TERN_INT64:
        return ((const int64_t *)from)[i];
    case TERN_INT32:
        return ((const int32_t *)from)[i];
    case TERN_UINT8:
    case TERN_BOOL:
        return ((const uint8_t *)from)[i];
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return NAN;
}

real array_round(tern_dtype dtype, real x)
{
    union {
        double d;
        int64_t i;
    } cell = {0};
    store(dtype, &cell, 0, x);
    return array_element(dtype, &cell, 0);
}

// ---- tensors -----------------------------------------------------------------------------------

static tern_tensor *contiguous(const array *a, tern_device device)
{
    void *bytes = take(a->numel * (int64_t)tern_dtype_size(a->dtype));
    for (int64_t i = 0; i < a->numel; i++)
        store(a->dtype, bytes, i, a->data[i]);
    tern_tensor *t = tern_from_data(a->shape, bytes, .dtype = a->dtype, .device = device);
    free(bytes);
    return t;
}

// Where element `i` of a row-major shape lies when the dimensions are written in reverse order.
static int64_t reversed_place(tern_shape shape, int64_t i)
{
    int64_t place = 0, scale[TERN_MAX_RANK] = {1};
    for (int d = 1; d < shape.rank; d++)
        scale[d] = scale[d - 1] * shape.dim[d - 1];
    for (int d = shape.rank - 1; d >= 0; d--) {
        place += i % shape.dim[d] * scale[d];
        i /= shape.dim[d];
    }
    return place;
}

static tern_tensor *transposed(const array *a, tern_device device)
{
    array back = array_new(a->dtype, a->shape);
    int64_t axes[TERN_MAX_RANK];
    for (int d = 0; d < a->shape.rank; d++) {
        back.shape.dim[d] = a->shape.dim[a->shape.rank - 1 - d];
        axes[d] = a->shape.rank - 1 - d;
    }
    for (int64_t i = 0; i < a->numel; i++)
        back.data[reversed_place(a->shape, i)] = a->data[i];
    tern_tensor *t = contiguous(&back, device);
    array_free(&back);
    return tern_permute(t, tern_axis_list_make(a->shape.rank, axes));
}

static tern_tensor *sliced(const array *a, tern_device device)
{
    int last = a->shape.rank - 1;
    tern_shape shape = a->shape;
    shape.dim[last] *= 2;
    array wide = array_new(a->dtype, shape);
    for (int64_t i = 0; i < a->numel; i++)
        wide.data[2 * i + 1] = a->data[i];
    tern_tensor *t = contiguous(&wide, device);
    array_free(&wide);
    return tern_slice(t, last, 1, INT64_MAX, 2);
}

tern_tensor *array_to_tensor(const array *a, tern_device device, array_layout layout)
{
    if (a->shape.rank == 0)
        layout = LAYOUT_CONTIGUOUS;
    switch (layout) {
    case LAYOUT_TRANSPOSED:
        return transposed(a, device);
    case LAYOUT_SLICED:
        return sliced(a, device);
    case LAYOUT_CONTIGUOUS:
    case LAYOUT_COUNT:
        break;
    }
    return contiguous(a, device);
}

array array_of_tensor(const tern_tensor *t)
{
    array a = array_new(tern_dtype_of(t), tern_shape_of(t));
    size_t nbytes = (size_t)a.numel * tern_dtype_size(a.dtype);
    void *bytes = take((int64_t)nbytes);
    if (tern_to_host(t, bytes, nbytes)) {
        tern_error_print(stderr);
        exit(1);
    }
    for (int64_t i = 0; i < a.numel; i++)
        a.data[i] = array_element(a.dtype, bytes, i);
    free(bytes);
    return a;
}
