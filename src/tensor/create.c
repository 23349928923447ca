// SPDX-License-Identifier: Apache-2.0
// Tensors of a constant, of sequences, and of the caller's values.
#include <math.h>
#include "base/mem.h"
#include "device/comparison.h"
#include "tensor/factory.h"
#include "tensor/view.h"

tern_tensor *(tern_filled)(tern_tensor *t, tern_scalar value)
{
    if (!t)
        return NULL;
    tern_exec exec = tern_exec_of(tern_dev(t));
    tern_strided view = tern_view_of(t);
    tern_views_coalesce((tern_strided *const[]){&view}, 1);
    return tern_kernels_of(exec.device)->fill(&exec, &view, value) ? NULL : t;
}

static tern_dtype or_else(tern_dtype dtype, tern_dtype fallback)
{
    return dtype == TERN_DTYPE_UNSPECIFIED ? fallback : dtype;
}

static tern_tensor *create_constant(const char *op, const tern_tensor_options *o, int value)
{
    if (!o)
        return (void)tern_null_error(op, "options"), NULL;
    tern_dtype dtype = or_else(o->dtype, tern_default_dtype());
    return tern_filled(tern_create(op, dtype, o->device, o->requires_grad, o->shape), value);
}

tern_tensor *tern_empty_with(const tern_tensor_options *o)
{
    if (!o)
        return (void)tern_null_error("empty", "options"), NULL;
    return tern_create("empty", or_else(o->dtype, tern_default_dtype()), o->device,
                       o->requires_grad, o->shape);
}

tern_tensor *tern_zeros_with(const tern_tensor_options *o)
{
    return create_constant("zeros", o, 0);
}

tern_tensor *tern_ones_with(const tern_tensor_options *o)
{
    return create_constant("ones", o, 1);
}

static tern_tensor *create_full(const char *op, const tern_full_options *o)
{
    tern_dtype dtype = or_else(o->dtype, tern_default_dtype());
    if (tern_check_dtype(op, dtype) || tern_check_range(op, "value", o->value, dtype))
        return NULL;
    return tern_filled(tern_create(op, dtype, o->device, o->requires_grad, o->shape), o->value);
}

tern_tensor *tern_full_with(const tern_full_options *o)
{
    if (!o)
        return (void)tern_null_error("full", "options"), NULL;
    return create_full("full", o);
}

// ---- sequences ---------------------------------------------------------------------------------

// The three numbers of a sequence of integers; false where one of them is no int64.
typedef struct integer_range {
    int64_t start, end, step;
} integer_range;

static bool as_integer(tern_scalar value, int64_t *integer)
{
    *integer = scalar_integer(value);
    return value.is_integer || (value.floating >= -0x1p63 && value.floating < 0x1p63);
}

// The end of a range may have a fraction, which is as good as the integer behind it.
static bool as_integers(const tern_arange_options *o, integer_range *range)
{
    tern_scalar end = o->end;
    if (!end.is_integer)
        end.floating =
            scalar_floating(o->step, TERN_FLOAT64) > 0 ? ceil(end.floating) : floor(end.floating);
    return as_integer(o->start, &range->start) && as_integer(end, &range->end) &&
           as_integer(o->step, &range->step);
}

// ceil((end - start) / step), which may be more than an int64 holds.
static uint64_t integers_in(const integer_range *range)
{
    const bool up = range->step > 0;
    if (up ? range->start >= range->end : range->start <= range->end)
        return 0;
    const uint64_t start = (uint64_t)range->start, end = (uint64_t)range->end;
    const uint64_t step = (uint64_t)range->step;
    return ((up ? end - start : start - end) - 1) / (up ? step : 0 - step) + 1;
}

static tern_status check_arange(const tern_arange_options *o, tern_dtype dtype)
{
    const double start = scalar_floating(o->start, TERN_FLOAT64);
    const double end = scalar_floating(o->end, TERN_FLOAT64);
    const double step = scalar_floating(o->step, TERN_FLOAT64);
    const bool integers = o->start.is_integer && o->end.is_integer;
    TERN_CHECK(dtype != TERN_BOOL, TERN_ERR_DTYPE, "arange: dtype is bool, which cannot count");
    TERN_CHECK(isfinite(start) && isfinite(end) && isfinite(step), TERN_ERR_ARG,
               "arange: start %g, end %g and step %g must be finite", start, end, step);
    TERN_CHECK(step != 0, TERN_ERR_ARG, "arange: step is 0 (start, end and step are all given)");
    const bool rises = integers ? o->start.integer < o->end.integer : start < end;
    const bool falls = integers ? o->start.integer > o->end.integer : start > end;
    TERN_CHECK(step > 0 ? !falls : !rises, TERN_ERR_ARG,
               "arange: step %g leads away from end: start %g, end %g", step, start, end);
    TERN_TRY(tern_check_integral("arange", "start", o->start, dtype));
    if (!tern_dtype_is_floating(dtype))
        TERN_CHECK(step == trunc(step), TERN_ERR_DTYPE,
                   "arange: step %g has a fraction and dtype is %s: say .dtype = TERN_FLOAT32",
                   step, tern_dtype_name(dtype));
    return TERN_OK;
}

// The number of elements and the last one, after the checks.
static tern_status arange_count(const tern_arange_options *o, tern_dtype dtype, int64_t *count)
{
    TERN_TRY(check_arange(o, dtype));
    integer_range range;
    tern_scalar last;
    if (!tern_dtype_is_floating(dtype) && as_integers(o, &range)) {
        const uint64_t exact = integers_in(&range);
        TERN_CHECK(exact < UINT64_C(1) << 62, TERN_ERR_SHAPE, "arange: %g elements are too many",
                   (double)exact);
        *count = (int64_t)exact;
        last = tern_scalar_int(wrap_add(range.start, wrap_mul(*count - 1, range.step)));
    } else {
        const double start = scalar_floating(o->start, TERN_FLOAT64);
        const double step = scalar_floating(o->step, TERN_FLOAT64);
        const double exact = ceil((scalar_floating(o->end, TERN_FLOAT64) - start) / step);
        TERN_CHECK(exact < 0x1p62, TERN_ERR_SHAPE, "arange: %g elements are too many", exact);
        *count = (int64_t)exact;
        last = tern_scalar_double(start + (exact - 1) * step);
    }
    return *count > 0 ? tern_check_range("arange", "the last element", last, dtype) : TERN_OK;
}

tern_tensor *tern_arange_with(const tern_arange_options *o)
{
    if (!o)
        return (void)tern_null_error("arange", "options"), NULL;
    tern_dtype dtype = or_else(o->dtype, TERN_INT64);
    int64_t count = 0;
    if (tern_check_dtype("arange", dtype) || arange_count(o, dtype, &count))
        return NULL;
    tern_tensor *t = tern_create("arange", dtype, o->device, o->requires_grad, tern_dims(count));
    if (!t)
        return NULL;
    tern_exec exec = tern_exec_of(tern_dev(t));
    tern_strided view = tern_view_of(t);
    return tern_kernels_of(exec.device)->arange(&exec, &view, o->start, o->step) ? NULL : t;
}

// Counts from the nearer end, so that both ends are exact.
static void linspace_floating(const tern_linspace_options *o, double *values)
{
    const double start = scalar_floating(o->start, TERN_FLOAT64);
    const double end = scalar_floating(o->end, TERN_FLOAT64);
    const double step = o->count > 1 ? (end - start) / (double)(o->count - 1) : 0;
    for (int64_t i = 0; i < o->count; i++)
        values[i] = i < (o->count + 1) / 2 ? start + step * (double)i
                                           : end - step * (double)(o->count - 1 - i);
}

// Exact, truncated toward 0: what PyTorch would give without rounding.
static void linspace_integer(const tern_linspace_options *o, int64_t *values)
{
    __extension__ typedef __int128 wide;
    const wide start = o->start.integer, end = o->end.integer;
    const int64_t last = o->count > 1 ? o->count - 1 : 1;
    for (int64_t i = 0; i < o->count; i++)
        values[i] = (int64_t)((start * (last - i) + end * i) / last);
}

// Computed on the host, in double or in integers, and rounded once by the cast.
static tern_tensor *linspace_fill(tern_tensor *t, const tern_linspace_options *o)
{
    const bool integers =
        !tern_dtype_is_floating(t->dtype) && o->start.is_integer && o->end.is_integer;
    const size_t nbytes = (size_t)o->count * sizeof(double);
    void *values = tern_cache_alloc(nbytes);
    if (!values)
        return NULL;
    if (integers)
        linspace_integer(o, values);
    else
        linspace_floating(o, values);
    tern_tensor *wide = tern_tensor_new("linspace", integers ? TERN_INT64 : TERN_FLOAT64,
                                        tern_dev(t), tern_shape_get(t));
    bool failed = !wide || tern_upload("linspace", wide, values) || tern_launch_copy(t, wide);
    tern_cache_free(values, nbytes);
    return failed ? NULL : t;
}

tern_tensor *tern_linspace_with(const tern_linspace_options *o)
{
    if (!o)
        return (void)tern_null_error("linspace", "options"), NULL;
    tern_dtype dtype = or_else(o->dtype, tern_default_dtype());
    const double start = scalar_floating(o->start, TERN_FLOAT64);
    const double end = scalar_floating(o->end, TERN_FLOAT64);
    TERN_CHECK_PTR(isfinite(start) && isfinite(end), TERN_ERR_ARG,
                   "linspace: start %g and end %g must be finite", start, end);
    if (tern_check_dtype("linspace", dtype) ||
        tern_check_range("linspace", "start", o->start, dtype) ||
        tern_check_range("linspace", "end", o->end, dtype) ||
        tern_check_shape("linspace", tern_dims(o->count), TERN_FLOAT64))
        return NULL;
    tern_tensor *t =
        tern_create("linspace", dtype, o->device, o->requires_grad, tern_dims(o->count));
    return t ? linspace_fill(t, o) : NULL;
}

tern_tensor *tern_eye_with(const tern_eye_options *o)
{
    if (!o)
        return (void)tern_null_error("eye", "options"), NULL;
    tern_tensor *t =
        tern_filled(tern_create("eye", or_else(o->dtype, tern_default_dtype()), o->device,
                                o->requires_grad, tern_dims(o->rows, o->cols)),
                    0);
    if (!t)
        return NULL;
    if (t->numel == 0)
        return t;
    tern_shape diagonal = tern_dims(o->rows < o->cols ? o->rows : o->cols);
    int64_t stride = o->cols + 1;
    return tern_filled(tern_tensor_alias("eye", t, diagonal, &stride, 0), 1) ? t : NULL;
}

// ---- the caller's values -----------------------------------------------------------------------

// What a pointer to elements of a dtype is called in C.
static const char *data_name(char data_type)
{
    static const char *const names[] = {
        [TERN_FLOAT32] = "float *",       [TERN_FLOAT64] = "double *",
        [TERN_FLOAT16] = "_Float16 *",    [TERN_BFLOAT16] = "__bf16 *",
        [TERN_INT64] = "int64_t *",       [TERN_INT32] = "int32_t *",
        [TERN_UINT8] = "uint8_t *",       [TERN_BOOL] = "bool *",
        [TERN_DATA_WORDS_] = "uint16_t *"};
    size_t i = (unsigned char)data_type;
    return i < sizeof names / sizeof *names && names[i] ? names[i] : "of no type with a dtype";
}

tern_status tern_check_data_type(const char *op, char data_type, tern_dtype dtype)
{
    bool half = dtype == TERN_FLOAT16 || dtype == TERN_BFLOAT16;
    TERN_CHECK(
        !data_type || data_type == (char)dtype || (data_type == TERN_DATA_WORDS_ && half),
        TERN_ERR_DTYPE,
        "%s: the data is %s, the dtype is %s: give data of that dtype, or convert the tensor "
        "with tern_to_dtype",
        op, data_name(data_type), tern_dtype_name(dtype));
    return TERN_OK;
}

tern_status tern_check_data_size(const char *op, size_t nbytes, tern_dtype dtype, tern_shape shape)
{
    const long long elements = (long long)(nbytes / tern_dtype_size(dtype));
    TERN_CHECK(!nbytes || elements >= tern_shape_numel(shape), TERN_ERR_SHAPE,
               "%s: data is an array of %lld elements, but shape %s takes %lld", op, elements,
               tern_shape_string(shape), (long long)tern_shape_numel(shape));
    return TERN_OK;
}

// The dtype that is said, else that of the data's type, else float32; unspecified after an error.
static tern_dtype data_dtype(const char *op, const tern_from_data_options *o)
{
    if (o->dtype == TERN_DTYPE_UNSPECIFIED && o->reserved_ == TERN_DATA_WORDS_) {
        tern_error_raise(TERN_ERR_DTYPE,
                         "%s: the data is uint16_t *: say .dtype = TERN_FLOAT16 or TERN_BFLOAT16",
                         op);
        return TERN_DTYPE_UNSPECIFIED;
    }
    return or_else(o->dtype, or_else((tern_dtype)o->reserved_, TERN_FLOAT32));
}

static tern_tensor *create_from(const char *op, const tern_from_data_options *o)
{
    tern_dtype dtype = data_dtype(op, o);
    if (dtype == TERN_DTYPE_UNSPECIFIED || tern_check_dtype(op, dtype) ||
        tern_check_data_type(op, o->reserved_, dtype) || tern_check_shape(op, o->shape, dtype) ||
        tern_check_data_size(op, o->nbytes, dtype, o->shape))
        return NULL;
    if (!o->data && tern_shape_numel(o->shape) > 0) {
        tern_null_error(op, "data");
        return NULL;
    }
    tern_tensor *t = tern_create(op, dtype, o->device, o->requires_grad, o->shape);
    return t && !tern_upload(op, t, o->data) ? t : NULL;
}

tern_tensor *tern_from_data_with(const tern_from_data_options *o)
{
    if (!o)
        return (void)tern_null_error("from_data", "options"), NULL;
    return create_from("from_data", o);
}
