// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tensors: n-dimensional arrays on a device.
///
/// Row-major, outermost dimension first, at most 8 dimensions of int64_t sizes, with strides, so
/// that slices, transposes and expansions are views that share memory with their base.
///
///     tern_tensor *x = tern_randn(tern_dims(64, 784), .device = dev);
///     tern_tensor *w = tern_full(tern_dims(784), 0.5);
///     printf("%g\n", tern_item(tern_sum(tern_mul(x, w), TERN_ALL_AXES, false)));
///
/// Every call that makes a tensor returns a temporary of the innermost scope (scope.h), or NULL
/// with a pending error: TERN_ERR_NULL, _SHAPE, _DTYPE, _DEVICE, _ARG, _INDEX, _STATE (dead
/// tensor), _NOMEM. Negative dimensions count from the end. Several threads may read a tensor; one
/// that changes it is alone with it.
#ifndef TERN_TENSOR_H
#define TERN_TENSOR_H

#include <tern/options.h>
#include <tern/data_type.h>
#include <tern/device.h>
#include <tern/dtype.h>
#include <tern/error.h>
#include <tern/scalar.h>
#include <tern/scope.h>

TERN_BEGIN_DECLS

/// Makes `dtype` that of new tensors and layers where the calling thread says none, and of what
/// integers become in an operation that needs fractions. Floating only, else TERN_ERR_DTYPE.
/// Data sets and what is read from files keep their own.
TERN_API TERN_NODISCARD tern_status tern_set_default_dtype(tern_dtype dtype);
/// The calling thread's default dtype; float32 at the start.
TERN_API tern_dtype tern_default_dtype(void);

/// Sizes by value; `dim[rank...]` is unused. Made by tern_dims.
typedef struct tern_shape {
    int rank;                   ///< number of dimensions; 0 is a scalar
    int64_t dim[TERN_MAX_RANK]; ///< outermost first
} tern_shape;

/// Dimensions by number, for reductions and permutations. Made by tern_axes.
typedef struct tern_axis_list {
    int count;               ///< -1 stands for all
    int axis[TERN_MAX_RANK]; ///< negative ones count from the end
} tern_axis_list;

/// Sizes from an array. More than TERN_MAX_RANK are kept as a count, which every user refuses.
TERN_API tern_shape tern_shape_make(int rank, const int64_t *dims) TERN_READS_(2, 1);
TERN_REQUIRED_TYPE_(shape, tern_shape)
/// Axes from an array, like tern_shape_make.
TERN_API tern_axis_list tern_axis_list_make(int count, const int64_t *axes);
/// The product of the sizes, 1 for rank 0; -1 when it overflows or a size is negative.
TERN_API int64_t tern_shape_numel(tern_shape shape);
/// True when rank and sizes are the same.
TERN_API bool tern_shape_equal(tern_shape a, tern_shape b);

#ifndef __cplusplus
/// Calls make(count, array) with the integers listed.
#define TERN_LIST_(make, ...)                                                                      \
    make((int)(sizeof((const int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t)) - 1,                   \
         (const int64_t[]){0, __VA_ARGS__} + 1)
/// Sizes: `tern_dims(64, 784)`; `tern_dims()` is a scalar's shape.
#define tern_dims(...) TERN_LIST_(tern_shape_make, __VA_ARGS__)
/// Axes: `tern_axes(0, -1)`.
#define tern_axes(...) TERN_LIST_(tern_axis_list_make, __VA_ARGS__)
#endif

/// Every axis.
#define TERN_ALL_AXES (tern_axis_list_make(-1, NULL))

// ---- making tensors ----------------------------------------------------------------------------

/// What every creating call takes: `tern_zeros(tern_dims(2, 3), .dtype = TERN_INT64)`.
typedef struct tern_tensor_options {
    tern_dtype dtype;   ///< the default dtype unless said
    tern_device device; ///< the default device unless said
    bool requires_grad; ///< a leaf that collects gradients; floating dtypes only
    char reserved_;
    tern_shape shape; ///< sizes, each 0 or more
} tern_tensor_options;

/// Neither dtype nor device is said.
#define TERN_DTYPE_DEVICE_DEFAULTS_                                                                \
    .dtype = TERN_DTYPE_UNSPECIFIED, .device = {TERN_DEVICE_UNSPECIFIED, 0}
#define TERN_TENSOR_DEFAULTS_ TERN_DTYPE_DEVICE_DEFAULTS_, .requires_grad = false
#define TERN_TENSOR_FIELDS_   1, 0, (shape), (shape)
TERN_API tern_tensor_options tern_tensor_defaults(void);

/// A tensor of uninitialised values.
TERN_API tern_tensor *tern_empty_with(const tern_tensor_options *options);
/// A tensor of zeros.
TERN_API tern_tensor *tern_zeros_with(const tern_tensor_options *options);
/// A tensor of ones.
TERN_API tern_tensor *tern_ones_with(const tern_tensor_options *options);
#define tern_empty(...) TERN_WITH_(tern_empty, tern_tensor, TERN_TENSOR, __VA_ARGS__)
#define tern_zeros(...) TERN_WITH_(tern_zeros, tern_tensor, TERN_TENSOR, __VA_ARGS__)
#define tern_ones(...)  TERN_WITH_(tern_ones, tern_tensor, TERN_TENSOR, __VA_ARGS__)

/// `tern_full(tern_dims(2), 3.5)`.
typedef struct tern_full_options {
    tern_dtype dtype;   ///< the default dtype unless said
    tern_device device; ///< the default device unless said
    bool requires_grad; ///< a leaf that collects gradients; floating dtypes only
    char reserved_;
    tern_shape shape;  ///< sizes, each 0 or more
    tern_scalar value; ///< cast to the dtype; out of an integer dtype's range is TERN_ERR_ARG
} tern_full_options;
#define TERN_FULL_DEFAULTS_ TERN_TENSOR_DEFAULTS_
#define TERN_FULL_FIELDS_   2, 0, (shape, value), (shape, scalar)
TERN_API tern_full_options tern_full_defaults(void);
/// A tensor whose elements are all `value`.
TERN_API tern_tensor *tern_full_with(const tern_full_options *options);
#define tern_full(...) TERN_WITH_(tern_full, tern_full, TERN_FULL, __VA_ARGS__)

/// `tern_arange(0, 10, 2)`.
typedef struct tern_arange_options {
    tern_dtype dtype;   ///< int64 unless said
    tern_device device; ///< the default device unless said
    bool requires_grad; ///< a leaf that collects gradients; floating dtypes only
    char reserved_;
    tern_scalar start; ///< the first element
    tern_scalar end;   ///< not reached
    tern_scalar step;  ///< not 0
} tern_arange_options;
#define TERN_ARANGE_DEFAULTS_ TERN_TENSOR_DEFAULTS_
#define TERN_ARANGE_FIELDS_   3, 0, (start, end, step), (scalar, scalar, scalar)
TERN_API tern_arange_options tern_arange_defaults(void);
/// start, start + step, ... before end: ceil((end - start) / step) elements. TERN_ERR_ARG when step
/// leads away from end, TERN_ERR_DTYPE for bool and for fractions in an integer dtype. Integers are
/// exact in int64.
TERN_API tern_tensor *tern_arange_with(const tern_arange_options *options);
#define tern_arange(...) TERN_WITH_(tern_arange, tern_arange, TERN_ARANGE, __VA_ARGS__)

/// `tern_linspace(0, 1, 11)`.
typedef struct tern_linspace_options {
    tern_dtype dtype;   ///< the default dtype unless said
    tern_device device; ///< the default device unless said
    bool requires_grad; ///< a leaf that collects gradients; floating dtypes only
    char reserved_;
    tern_scalar start; ///< the first element, finite
    tern_scalar end;   ///< the last one, finite
    int64_t count;     ///< >= 0; 1 is `start` alone
} tern_linspace_options;
#define TERN_LINSPACE_DEFAULTS_ TERN_TENSOR_DEFAULTS_
#define TERN_LINSPACE_FIELDS_   3, 0, (start, end, count), (scalar, scalar, int64)
TERN_API tern_linspace_options tern_linspace_defaults(void);
/// `count` values from start to end, both included, equally far apart. An integer dtype has them
/// truncated toward 0, without rounding before where both ends are integers.
TERN_API tern_tensor *tern_linspace_with(const tern_linspace_options *options);
#define tern_linspace(...) TERN_WITH_(tern_linspace, tern_linspace, TERN_LINSPACE, __VA_ARGS__)

/// `tern_eye(3, 3)`.
typedef struct tern_eye_options {
    tern_dtype dtype;   ///< the default dtype unless said
    tern_device device; ///< the default device unless said
    bool requires_grad; ///< a leaf that collects gradients; floating dtypes only
    char reserved_;
    int64_t rows; ///< >= 0
    int64_t cols; ///< >= 0
} tern_eye_options;
#define TERN_EYE_DEFAULTS_ TERN_TENSOR_DEFAULTS_
#define TERN_EYE_FIELDS_   2, 0, (rows, cols), (int64, int64)
TERN_API tern_eye_options tern_eye_defaults(void);
/// (rows, cols) with ones on the diagonal and zeros elsewhere.
TERN_API tern_tensor *tern_eye_with(const tern_eye_options *options);
#define tern_eye(...) TERN_WITH_(tern_eye, tern_eye, TERN_EYE, __VA_ARGS__)

/// `tern_from_data(tern_dims(2), (float[]){1, 2})`.
typedef struct tern_from_data_options {
    tern_dtype dtype;   ///< what `data` points to; unless said that of its type, or float32
    tern_device device; ///< the default device unless said
    bool requires_grad; ///< a leaf that collects gradients; floating dtypes only
    size_t nbytes;      ///< bytes that `data` holds; 0: not known
    char reserved_;     ///< the dtype of data's C type, 16 for words of 16 bits; 0: not known
    tern_shape shape;   ///< sizes, each 0 or more
    const void *data;   ///< numel elements, row-major, host memory; NULL only when numel is 0
} tern_from_data_options;
#define TERN_FROM_DATA_DEFAULTS_ TERN_TENSOR_DEFAULTS_, .nbytes = 0
#define TERN_FROM_DATA_FIELDS_   1, DATA, (shape, data), (shape)
TERN_API tern_from_data_options tern_from_data_defaults(void);
/// A tensor with a copy of the caller's values. A bool that is neither 0 nor 1 is TERN_ERR_ARG.
///
/// The macro knows the C type of `data`: float *, double *, bool *, uint8_t *, int32_t *, int64_t *
/// and integers of their sizes (also arrays of two dimensions) give their dtype, and another one
/// that is said is TERN_ERR_DTYPE. uint16_t * and int16_t * want float16 or bfloat16 said. Nothing
/// is known of a void *. Other pointers do not compile. It also knows how much an array holds: less
/// than the shape takes is TERN_ERR_SHAPE. C++ also takes values in braces, as many as the shape
/// has (else TERN_ERR_SHAPE). Bindings set reserved_ and nbytes, or nothing is checked.
TERN_API tern_tensor *tern_from_data_with(const tern_from_data_options *options);
#define tern_from_data(...)                                                                        \
    TERN_WITH_OPTIONS_(tern_from_data, tern_from_data,                                             \
                       (TERN_FROM_DATA_DEFAULTS_,                                                  \
                        .nbytes = TERN_DATA_NBYTES_(TERN_DATA_SECOND_(__VA_ARGS__, ),              \
                                                    TERN_DATA_REST_(__VA_ARGS__, )),               \
                        .reserved_ = TERN_DATA_TYPE_(TERN_DATA_SECOND_(__VA_ARGS__, ))),           \
                       TERN_FROM_DATA_FIELDS_, __VA_ARGS__)

/// Same sizes, dtype and device as `t`; uninitialised.
TERN_API TERN_NODISCARD tern_tensor *tern_empty_like(const tern_tensor *t);
TERN_API TERN_NODISCARD tern_tensor *tern_zeros_like(const tern_tensor *t); ///< likewise, zeros
TERN_API TERN_NODISCARD tern_tensor *tern_ones_like(const tern_tensor *t);  ///< likewise, ones
/// Likewise, all of them `value`; out of an integer dtype's range is TERN_ERR_ARG.
TERN_API TERN_NODISCARD tern_tensor *tern_full_like(const tern_tensor *t, tern_scalar value);

/// Same dtype and device as `t`, of another shape; uninitialised.
TERN_API TERN_NODISCARD tern_tensor *tern_new_empty(const tern_tensor *t, tern_shape shape);
TERN_API TERN_NODISCARD tern_tensor *tern_new_zeros(const tern_tensor *t,
                                                    tern_shape shape); ///< likewise, zeros
TERN_API TERN_NODISCARD tern_tensor *tern_new_ones(const tern_tensor *t,
                                                   tern_shape shape); ///< likewise, ones
/// Likewise, all of them `value`, as tern_full_like.
TERN_API TERN_NODISCARD tern_tensor *tern_new_full(const tern_tensor *t, tern_shape shape,
                                                   tern_scalar value);
/// A copy of `data`, which holds numel elements of t's dtype in host memory; TERN_ERR_DTYPE where
/// its C type is another one's, TERN_ERR_SHAPE where it is an array of fewer, as in tern_from_data.
TERN_API TERN_NODISCARD tern_tensor *tern_new_tensor(const tern_tensor *t, tern_shape shape,
                                                     const void *data);
/// What the macro calls: type and nbytes are reserved_ and nbytes of tern_from_data_options.
TERN_API TERN_NODISCARD tern_tensor *tern_new_tensor_typed(const tern_tensor *t, tern_shape shape,
                                                           char data_type, size_t nbytes,
                                                           const void *data);
#ifndef __cplusplus
/// The function, told the C type of the data and how much an array holds.
#define tern_new_tensor(t, shape, ...)                                                             \
    tern_new_tensor_typed(t, shape, TERN_DATA_TYPE_(TERN_DATA_FIRST_(__VA_ARGS__, )),              \
                          TERN_DATA_ARRAY_((__VA_ARGS__), sizeof(__VA_ARGS__)), __VA_ARGS__)
#endif

// ---- asking ------------------------------------------------------------------------------------
// These take a live tensor; with NULL or a dead one they leave an error pending and return zero.

/// The type of the elements; TERN_DTYPE_UNSPECIFIED on failure.
TERN_API tern_dtype tern_dtype_of(const tern_tensor *t);
/// Where the elements are; TERN_DEVICE_UNSPECIFIED on failure.
TERN_API tern_device tern_device_of(const tern_tensor *t);
/// The sizes, outermost first; those of a scalar on failure.
TERN_API tern_shape tern_shape_of(const tern_tensor *t);
/// The number of dimensions, 0 to 8; 0 on failure.
TERN_API int tern_rank(const tern_tensor *t);
/// The size of one dimension; negative dims count from the end. -1 with TERN_ERR_ARG when there is
/// no such dimension.
TERN_API int64_t tern_size(const tern_tensor *t, int dim);
/// The step of one dimension, in elements; 0 on failure.
TERN_API int64_t tern_stride(const tern_tensor *t, int dim);
/// The number of elements; 0 on failure.
TERN_API int64_t tern_numel(const tern_tensor *t);
/// Whether the elements lie one after another, row-major; false on failure.
TERN_API bool tern_is_contiguous(const tern_tensor *t);
/// True for a CPU tensor in page-locked memory; false on failure.
TERN_API bool tern_is_pinned(const tern_tensor *t);
/// The first element, in host memory; NULL with TERN_ERR_DEVICE for a tensor elsewhere.
/// Writing through it is not seen by autograd.
TERN_API void *tern_data(tern_tensor *t);
/// The tensor's name in messages: a parameter's or buffer's, once an optimizer was given its module
/// a parameter's full name ("0.fc1.weight", at most the last 47 characters), else that of the
/// operation that made it. "" on failure.
TERN_API const char *tern_name(const tern_tensor *t);

/// The value of a tensor with one element, as a double; NaN with a pending error otherwise. Waits
/// for the device.
TERN_API double tern_item(const tern_tensor *t);
/// The same for integers, exact for int64; 0 with a pending error otherwise.
TERN_API int64_t tern_item_int(const tern_tensor *t);
/// Copies all elements, row-major, to host memory of `nbytes` bytes, which must be numel times
/// the dtype's size (else TERN_ERR_SHAPE). Waits for the device.
TERN_API TERN_NODISCARD tern_status tern_to_host(const tern_tensor *t, void *data, size_t nbytes)
    TERN_WRITES_(2, 3);
/// Writes the tensor for a reader: four digits, edges of long dimensions, dtype and device when
/// they are not the usual ones. NULL stands for stdout. Waits for the device.
TERN_API TERN_NODISCARD tern_status tern_print(const tern_tensor *t, FILE *file);
/// The same text into `buffer`, cut at `size`; returns the length it has uncut, -1 on failure.
TERN_API int64_t tern_format(const tern_tensor *t, char *buffer, size_t size);

TERN_END_DECLS

#ifndef __cplusplus
// Numbers of any C type, integers exactly.
#define tern_full_like(t, value)       tern_full_like(t, TERN_SCALAR_(value))
#define tern_new_full(t, shape, value) tern_new_full(t, shape, TERN_SCALAR_(value))
#endif

#ifdef __cplusplus
template <typename... Sizes> inline tern_shape tern_dims(Sizes... sizes)
{
    const int64_t dims[] = {0, static_cast<int64_t>(sizes)...};
    return tern_shape_make(static_cast<int>(sizeof...(sizes)), dims + 1);
}
template <typename... Axes> inline tern_axis_list tern_axes(Axes... axes)
{
    const int64_t list[] = {0, static_cast<int64_t>(axes)...};
    return tern_axis_list_make(static_cast<int>(sizeof...(axes)), list + 1);
}

namespace tern_cpp_
{

/// The dtype of a C type, 16 for words of 16 bits; what is no number of a dtype has none.
template <typename Number> constexpr char data_type()
{
    constexpr bool words = std::is_same_v<Number, short> || std::is_same_v<Number, unsigned short>;
    constexpr bool integer = std::is_same_v<Number, int> || std::is_same_v<Number, long> ||
                             std::is_same_v<Number, long long>;
    constexpr int dtype = std::is_same_v<Number, float>           ? TERN_FLOAT32
                          : std::is_same_v<Number, double>        ? TERN_FLOAT64
                          : std::is_same_v<Number, unsigned char> ? TERN_UINT8
                          : std::is_same_v<Number, bool>          ? TERN_BOOL
                          : words                                 ? TERN_DATA_WORDS_
                          : !integer                              ? TERN_DTYPE_UNSPECIFIED
                          : sizeof(Number) == 8                   ? TERN_INT64
                                                                  : TERN_INT32;
    static_assert(dtype != TERN_DTYPE_UNSPECIFIED, "data of this C type is of no dtype");
    return static_cast<char>(dtype);
}

/// The caller's values: a pointer, an array of one or two dimensions, or a list in braces.
class data
{
  public:
    data(const void *pointer) : values(pointer)
    {
    }
    template <typename Pointer, typename = std::enable_if_t<std::is_pointer_v<Pointer>>>
    data(const Pointer &pointer) : values(pointer), type(type_of<std::remove_pointer_t<Pointer>>())
    {
    }
    template <typename Item, size_t n>
    data(const Item (&array)[n]) : values(array), type(type_of<Item>()), nbytes(sizeof array)
    {
    }
    template <typename Number>
    data(std::initializer_list<Number> list)
        : values(list.begin()), type(data_type<Number>()), count(static_cast<int64_t>(list.size()))
    {
    }

    // The dtype of what an array or a pointer holds.
    template <typename Item> static constexpr char type_of()
    {
        using Number = std::remove_cv_t<std::remove_all_extents_t<Item>>;
        if constexpr (std::is_void_v<Number>)
            return 0;
        else
            return data_type<Number>();
    }

    // The first value; NULL with an error when a list is not as long as the shape wants.
    const void *of(tern_shape shape) const
    {
        const int64_t numel = tern_shape_numel(shape);
        if (count < 0 || count == numel)
            return values;
        tern_error_raise(TERN_ERR_SHAPE, "%lld values for a shape of %lld elements",
                         static_cast<long long>(count), static_cast<long long>(numel));
        return nullptr;
    }

    const void *const values;
    const char type = 0;      // their dtype, 0 when it is not known
    const size_t nbytes = 0;  // of an array
    const int64_t count = -1; // of a list
};

/// The word for tern_from_data's `data`.
template <> struct word<const void *> {
    using type = data;
    static void set(tern_from_data_options &options, const void *tern_from_data_options::*field,
                    const data &value)
    {
        options.reserved_ = value.type;
        options.nbytes = value.nbytes;
        options.*field = value.of(options.shape);
    }
};

inline tern_tensor *new_tensor(const tern_tensor *t, tern_shape shape, const data &value)
{
    return tern_new_tensor_typed(t, shape, value.type, value.nbytes, value.of(shape));
}

} // namespace tern_cpp_

#define tern_new_tensor(t, shape, ...) (tern_cpp_::new_tensor(t, shape, __VA_ARGS__))
#endif

#endif
