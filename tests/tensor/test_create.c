// SPDX-License-Identifier: Apache-2.0
#include "support/tensor_check.h"

static const tern_dtype every_dtype[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16,
                                         TERN_INT64,   TERN_INT32,   TERN_UINT8,   TERN_BOOL};
#define DTYPES (int)(sizeof every_dtype / sizeof *every_dtype)

static void constants_have_their_shape_and_dtype(void **state)
{
    (void)state;
    for (int i = 0; i < DTYPES; i++) {
        tern_dtype dtype = every_dtype[i];
        assert_tensor(tern_zeros(tern_dims(2, 2), .dtype = dtype), tern_dims(2, 2), 0, 0, 0, 0);
        assert_tensor(tern_ones(tern_dims(3), .dtype = dtype), tern_dims(3), 1, 1, 1);
        tern_tensor *e = tern_empty(tern_dims(2, 0, 3), .dtype = dtype);
        assert_empty(e, tern_dims(2, 0, 3));
        assert_int_equal(tern_dtype_of(e), dtype);
    }
    tern_tensor *scalar = tern_full(tern_dims(), 2.5);
    assert_tensor(scalar, tern_dims(), 2.5);
    assert_int_equal(tern_dtype_of(scalar), TERN_FLOAT32);
    assert_int_equal(tern_rank(scalar), 0);
    assert_false(tern_requires_grad(scalar));
    assert_true(tern_requires_grad(tern_zeros(tern_dims(2), .requires_grad = true)));
}

static void full_casts_its_value(void **state)
{
    (void)state;
    assert_tensor(tern_full(tern_dims(2), -3.7, .dtype = TERN_INT64), tern_dims(2), -3, -3);
    assert_tensor(tern_full(tern_dims(1), 255.9, .dtype = TERN_UINT8), tern_dims(1), 255);
    assert_tensor(tern_full(tern_dims(1), 0.5, .dtype = TERN_BOOL), tern_dims(1), 1);
    assert_tensor(tern_full(tern_dims(1), INFINITY), tern_dims(1), INFINITY);
    assert_tensor(tern_full(tern_dims(1), NAN), tern_dims(1), NAN);
    assert_tensor(tern_full(tern_dims(1), 1.0 / 3, .dtype = TERN_FLOAT16), tern_dims(1),
                  0.333251953125);
    assert_tensor(tern_full(tern_dims(1), 1.0 / 3, .dtype = TERN_BFLOAT16), tern_dims(1),
                  0.333984375);
    assert_tensor(tern_full(tern_dims(1), -2147483648.0, .dtype = TERN_INT32), tern_dims(1),
                  -2147483648.0);
    assert_null_with(tern_full(tern_dims(1), 256, .dtype = TERN_UINT8), TERN_ERR_ARG,
                     "full: value 256 is out of the range of uint8");
    assert_null_with(tern_full(tern_dims(1), -1, .dtype = TERN_UINT8), TERN_ERR_ARG, "full");
    assert_null_with(tern_full(tern_dims(1), 0x1p63, .dtype = TERN_INT64), TERN_ERR_ARG, "full");
    assert_null_with(tern_full(tern_dims(1), NAN, .dtype = TERN_INT32), TERN_ERR_ARG, "full");
}

static void what_cannot_be_a_tensor_is_refused(void **state)
{
    (void)state;
    const int64_t nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_null_with(tern_zeros(tern_dims(2, -1)), TERN_ERR_SHAPE,
                     "zeros: shape (2, -1) has a negative size");
    assert_null_with(tern_empty(tern_shape_make(9, nine)), TERN_ERR_SHAPE,
                     "empty: 9 dimensions are more than 8");
    assert_null_with(tern_ones(tern_dims(INT64_MAX, 2)), TERN_ERR_SHAPE, "too many elements");
    assert_null_with(tern_ones(tern_dims((int64_t)1 << 61)), TERN_ERR_SHAPE, "too many elements");
    assert_null_with(tern_zeros(tern_dims(2), .dtype = (tern_dtype)99), TERN_ERR_DTYPE,
                     "zeros: 99 is no dtype");
    assert_null_with(tern_zeros(tern_dims(2), .dtype = TERN_INT64, .requires_grad = true),
                     TERN_ERR_DTYPE, "zeros: a tensor of int64 cannot require a gradient");
    assert_null_with(tern_zeros(tern_dims(2), .device = tern_cpu(99)), TERN_ERR_DEVICE, "zeros");
    assert_null_with(tern_zeros(tern_dims(2), .device = tern_cpu(-1)), TERN_ERR_DEVICE, "zeros");
    assert_null_with(tern_zeros_with(NULL), TERN_ERR_NULL, "zeros: options is NULL");
    assert_null_with(tern_full_with(NULL), TERN_ERR_NULL, "full");
    assert_null_with(tern_arange_with(NULL), TERN_ERR_NULL, "arange");
    assert_null_with(tern_linspace_with(NULL), TERN_ERR_NULL, "linspace");
    assert_null_with(tern_eye_with(NULL), TERN_ERR_NULL, "eye");
    assert_null_with(tern_from_data_with(NULL), TERN_ERR_NULL, "from_data");
}

static void options_start_from_their_defaults(void **state)
{
    (void)state;
    tern_tensor_options z = tern_tensor_defaults();
    z.shape = tern_dims(2);
    assert_tensor(tern_ones_with(&z), tern_dims(2), 1, 1);
    tern_full_options f = tern_full_defaults();
    f.shape = tern_dims(1);
    f.value = tern_scalar_int(4);
    assert_tensor(tern_full_with(&f), tern_dims(1), 4);
    tern_arange_options a = tern_arange_defaults();
    a.end = tern_scalar_int(3);
    a.step = tern_scalar_double(1);
    assert_tensor(tern_arange_with(&a), tern_dims(3), 0, 1, 2);
    tern_linspace_options l = tern_linspace_defaults();
    l.end = tern_scalar_double(1);
    l.count = 3;
    assert_tensor(tern_linspace_with(&l), tern_dims(3), 0, 0.5, 1);
    tern_eye_options e = tern_eye_defaults();
    e.rows = e.cols = 1;
    assert_tensor(tern_eye_with(&e), tern_dims(1, 1), 1);
    tern_from_data_options d = tern_from_data_defaults();
    d.shape = tern_dims(0);
    assert_empty(tern_from_data_with(&d), tern_dims(0));
}

static void arange_counts_up_and_down(void **state)
{
    (void)state;
    tern_tensor *t = tern_arange(2, 11, 3);
    assert_int_equal(tern_dtype_of(t), TERN_INT64);
    assert_tensor(t, tern_dims(3), 2, 5, 8);
    assert_tensor(tern_arange(5, -2, -2), tern_dims(4), 5, 3, 1, -1);
    assert_tensor(tern_arange(0, 1, 0.25, .dtype = TERN_FLOAT32), tern_dims(4), 0, 0.25, 0.5, 0.75);
    assert_tensor(tern_arange(1, 2.5, 0.5, .dtype = TERN_FLOAT16), tern_dims(3), 1, 1.5, 2);
    assert_tensor(tern_arange(250, 256, 2, .dtype = TERN_UINT8), tern_dims(3), 250, 252, 254);
    assert_empty(tern_arange(3, 3, 1), tern_dims(0));
    assert_null_with(tern_arange(0, 3, 0), TERN_ERR_ARG, "arange: step is 0");
    assert_null_with(tern_arange(0, 3, -1), TERN_ERR_ARG, "arange: step -1 leads away from end");
    // The quotient rounds up to -0.
    assert_null_with(tern_arange(5, 4, 2), TERN_ERR_ARG, "arange: step 2 leads away from end");
    assert_null_with(tern_arange(5, 4.5, 1), TERN_ERR_ARG, "arange: step 1 leads away from end");
    assert_null_with(tern_arange(0, 1e-300, -1e300, .dtype = TERN_FLOAT64), TERN_ERR_ARG, "away");
    assert_empty(tern_arange(3, 3, -2), tern_dims(0));
    assert_null_with(tern_arange(0, INFINITY, 1), TERN_ERR_ARG, "must be finite");
    assert_null_with(tern_arange(0, 1, 0.5), TERN_ERR_DTYPE, "step 0.5 has a fraction");
    assert_null_with(tern_arange(0.5, 3, 1), TERN_ERR_DTYPE, "start 0.5 has a fraction");
    assert_null_with(tern_arange(0, 257, 1, .dtype = TERN_UINT8), TERN_ERR_ARG,
                     "the last element 256 is out of the range of uint8");
    assert_null_with(tern_arange(0, 2, 1, .dtype = TERN_BOOL), TERN_ERR_DTYPE, "bool");
    assert_null_with(tern_arange(0, 1e18, 1e-18, .dtype = TERN_FLOAT64), TERN_ERR_SHAPE,
                     "too many");
}

static void linspace_meets_both_ends(void **state)
{
    (void)state;
    assert_tensor(tern_linspace(-1, 1, 5), tern_dims(5), -1, -0.5, 0, 0.5, 1);
    assert_tensor(tern_linspace(3, 7, 1), tern_dims(1), 3);
    assert_empty(tern_linspace(3, 7, 0), tern_dims(0));
    assert_tensor(tern_linspace(0, 10, 5, .dtype = TERN_INT64), tern_dims(5), 0, 2, 5, 7, 10);
    tern_tensor *t = tern_linspace(0.1, 0.7, 50, .dtype = TERN_FLOAT64);
    assert_true(tern_item(tern_select(t, 0, 0)) == 0.1);
    assert_true(tern_item(tern_select(t, 0, -1)) == 0.7);
    for (int i = 0; i < 50; i++)
        assert_true(fabs(tern_item(tern_select(t, 0, i)) - (0.1 + 0.6 * i / 49)) < 1e-15);
    assert_null_with(tern_linspace(0, 1, -1), TERN_ERR_SHAPE, "linspace: shape (-1,)");
    assert_null_with(tern_linspace(0, NAN, 2), TERN_ERR_ARG, "must be finite");
    assert_null_with(tern_linspace(0, 300, 2, .dtype = TERN_UINT8), TERN_ERR_ARG, "end 300");
}

// Ends that a double does not hold, and steps that it rounds; PyTorch's vectors give 0 for the -1.
static void linspace_of_integers_is_exact(void **state)
{
    (void)state;
    const int64_t large = (INT64_C(1) << 53) + 1, larger = (INT64_C(1) << 62) + 1;
    tern_tensor *t = tern_linspace(large, large + 8, 5, .dtype = TERN_INT64);
    for (int i = 0; i < 5; i++)
        assert_int_equal(tern_item_int(tern_select(t, 0, i)), large + 2 * i);
    t = tern_linspace(larger + 40, larger, 21, .dtype = TERN_INT64);
    for (int i = 0; i < 21; i++)
        assert_int_equal(tern_item_int(tern_select(t, 0, i)), larger + 40 - 2 * i);
    t = tern_linspace(INT64_MIN, INT64_MAX, 4, .dtype = TERN_INT64);
    const int64_t thirds[] = {INT64_MIN, -INT64_MAX / 3 - 1, INT64_MAX / 3, INT64_MAX};
    for (int i = 0; i < 4; i++)
        assert_int_equal(tern_item_int(tern_select(t, 0, i)), thirds[i]);
    assert_int_equal(tern_item_int(tern_linspace(large, 5, 1, .dtype = TERN_INT64)), large);
    t = tern_linspace(-3, 2, 66, .dtype = TERN_INT32);
    assert_int_equal(tern_item_int(tern_select(t, 0, 26)), -1);
    assert_tensor(tern_linspace(10, 0, 4, .dtype = TERN_UINT8), tern_dims(4), 10, 6, 3, 0);
    assert_tensor(tern_linspace(-1.5, 1.5, 4, .dtype = TERN_INT64), tern_dims(4), -1, 0, 0, 1);
    assert_null_with(tern_linspace(0, 0x1p63, 2, .dtype = TERN_INT64), TERN_ERR_ARG, "end 9.2");
}

static void eye_has_ones_on_its_diagonal(void **state)
{
    (void)state;
    assert_tensor(tern_eye(2, 2), tern_dims(2, 2), 1, 0, 0, 1);
    assert_tensor(tern_eye(2, 3, .dtype = TERN_INT32), tern_dims(2, 3), 1, 0, 0, 0, 1, 0);
    assert_tensor(tern_eye(3, 2, .dtype = TERN_BOOL), tern_dims(3, 2), 1, 0, 0, 1, 0, 0);
    assert_empty(tern_eye(0, 4), tern_dims(0, 4));
    assert_empty(tern_eye(0, INT64_MAX), tern_dims(0, INT64_MAX)); // whose diagonal has no stride
    assert_null_with(tern_eye(-1, 2), TERN_ERR_SHAPE, "eye");
    assert_true(tern_requires_grad(tern_eye(2, 2, .requires_grad = true)));
}

static void from_data_copies_the_callers_values(void **state)
{
    (void)state;
    int32_t numbers[] = {1, -2, 3, 2147483647};
    tern_tensor *t = tern_from_data(tern_dims(2, 2), numbers, .dtype = TERN_INT32);
    numbers[0] = 9;
    assert_tensor(t, tern_dims(2, 2), 1, -2, 3, 2147483647);
    const bool truths[] = {true, false};
    assert_tensor(tern_from_data(tern_dims(2), truths, .dtype = TERN_BOOL), tern_dims(2), 1, 0);
    const uint16_t halves[] = {0x3C00, 0xC200}; // 1 and -3
    assert_tensor(tern_from_data(tern_dims(2), halves, .dtype = TERN_FLOAT16), tern_dims(2), 1, -3);
    const uint16_t brains[] = {0x3F80, 0xC040};
    assert_tensor(tern_from_data(tern_dims(2), brains, .dtype = TERN_BFLOAT16), tern_dims(2), 1,
                  -3);
    assert_empty(tern_from_data(tern_dims(0), NULL), tern_dims(0));
    assert_null_with(tern_from_data(tern_dims(2), NULL), TERN_ERR_NULL, "from_data: data is NULL");
    const void *odd = (const unsigned char[]){1, 7};
    assert_null_with(tern_from_data(tern_dims(2), odd, .dtype = TERN_BOOL), TERN_ERR_ARG,
                     "from_data: element 1 of the bool data is 7");
}

static void assert_pair(tern_dtype dtype, tern_tensor *t)
{
    assert_int_equal(tern_dtype_of(t), dtype);
    assert_tensor(t, tern_dims(2), 1, -2);
}

// What a macro makes of an argument: it may have parentheses of its own.
#define BARE(list)     list->data
#define CAST(list)     (list)->data
#define ENCLOSED(list) ((list)->data)

static void data_is_of_the_dtype_that_its_c_type_says(void **state)
{
    (void)state;
    const struct holder {
        double *data;
    } *list = &(const struct holder){(double[]){1, -2}};
    short words[] = {0x3C00, 0};
    float many[3] = {1, -2, 3};
    assert_pair(TERN_FLOAT32, tern_from_data(tern_dims(2), (float[]){1, -2}));
    assert_pair(TERN_FLOAT32, tern_from_data(tern_dims(2), ((float[]){1, -2})));
    assert_pair(TERN_FLOAT32, tern_from_data(tern_dims(2), many));
    assert_pair(TERN_FLOAT32, tern_from_data(tern_dims(2), (const float(*)[1])many));
    assert_pair(TERN_FLOAT32, tern_from_data(tern_dims(2), (const void *)many));
    assert_pair(TERN_FLOAT64, tern_from_data(tern_dims(2), (double[]){1, -2}));
    assert_pair(TERN_FLOAT64, tern_from_data(tern_dims(2), BARE(list)));
    assert_pair(TERN_FLOAT64, tern_from_data(tern_dims(2), ENCLOSED(list)));
    assert_pair(TERN_FLOAT64, tern_from_data(tern_dims(2), CAST(list), .dtype = TERN_FLOAT64));
    assert_pair(TERN_INT64, tern_from_data(tern_dims(2), (int64_t[]){1, -2}));
    assert_pair(TERN_INT64, tern_from_data(tern_dims(2), (long long[]){1, -2}));
    assert_pair(TERN_INT32, tern_from_data(tern_dims(2), (const int[]){1, -2}));
    assert_pair(TERN_INT32, tern_from_data(tern_dims(2), (int32_t[2][1]){{1}, {-2}}));
    assert_tensor(tern_from_data(tern_dims(1), words, .dtype = TERN_FLOAT16), tern_dims(1), 1);
    assert_int_equal(tern_dtype_of(tern_from_data(tern_dims(1), (uint8_t[]){1})), TERN_UINT8);
    assert_int_equal(tern_dtype_of(tern_from_data(tern_dims(1), (bool[]){true})), TERN_BOOL);
    assert_int_equal(tern_dtype_of(tern_from_data(tern_dims(0), NULL)), TERN_FLOAT32);
}

static void an_array_has_as_many_elements_as_the_shape_takes(void **state)
{
    (void)state;
    const double rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const tern_tensor *t = tern_zeros(tern_dims(1));
    assert_tensor(tern_from_data(tern_dims(2, 3), rows), tern_dims(2, 3), 1, 2, 3, 4, 5, 6);
    assert_tensor(tern_from_data(tern_dims(2), rows), tern_dims(2), 1, 2);
    assert_null_with(tern_from_data(tern_dims(2, 4), rows), TERN_ERR_SHAPE,
                     "from_data: data is an array of 6 elements, but shape (2, 4) takes 8");
    assert_null_with(tern_from_data(tern_dims(2, 3), (float[]){1, 2}), TERN_ERR_SHAPE,
                     "from_data: data is an array of 2 elements, but shape (2, 3) takes 6");
    assert_null_with(tern_from_data(tern_dims(3), ((int64_t[]){1, 2}), .dtype = TERN_INT64),
                     TERN_ERR_SHAPE, "an array of 2 elements, but shape (3,) takes 3");
    assert_null_with(tern_new_tensor(t, tern_dims(3), (float[]){1, 2}), TERN_ERR_SHAPE,
                     "new_tensor: data is an array of 2 elements, but shape (3,) takes 3");
    assert_tensor(tern_new_tensor(t, tern_dims(2), (float[]){1, 2}), tern_dims(2), 1, 2);
}

static int evaluated;

static tern_device count_evaluations(void)
{
    evaluated++;
    return tern_cpu(0);
}

static void what_stands_beside_data_in_braces_is_evaluated_once(void **state)
{
    (void)state;
    float element = 1;
    evaluated = 0;
    tern_tensor *t = tern_from_data(tern_dims(2), (float[]){1, ++element},
                                    .device = count_evaluations(), .requires_grad = true);
    assert_int_equal(evaluated, 1);
    assert_tensor(t, tern_dims(2), 1, 2);
    assert_true(tern_requires_grad(t));
}

// The arrays are shorter than what would be read: instruments say so where it is.
static void data_of_another_type_than_the_dtype_is_refused(void **state)
{
    (void)state;
    const int one[] = {1};
    const double wide[] = {1, 2};
    const uint16_t words[] = {0x3C00};
    const tern_tensor *t = tern_zeros(tern_dims(1), .dtype = TERN_INT64);
    assert_null_with(tern_from_data(tern_dims(1), one, .dtype = TERN_INT64), TERN_ERR_DTYPE,
                     "from_data: the data is int32_t *, the dtype is int64: give data");
    assert_null_with(tern_from_data(tern_dims(2), wide, .dtype = TERN_FLOAT32), TERN_ERR_DTYPE,
                     "from_data: the data is double *, the dtype is float32");
    assert_null_with(tern_from_data(tern_dims(1), (bool[]){1}, .dtype = TERN_UINT8), TERN_ERR_DTYPE,
                     "the data is bool *, the dtype is uint8");
    assert_null_with(tern_from_data(tern_dims(1), words, .dtype = TERN_INT32), TERN_ERR_DTYPE,
                     "the data is uint16_t *, the dtype is int32");
    assert_null_with(tern_from_data(tern_dims(1), words), TERN_ERR_DTYPE,
                     "say .dtype = TERN_FLOAT16 or TERN_BFLOAT16");
    assert_null_with(tern_new_tensor(t, tern_dims(1), one), TERN_ERR_DTYPE,
                     "new_tensor: the data is int32_t *, the dtype is int64");
    assert_null_with(tern_new_tensor(t, tern_dims(2), (double[]){1, 2}), TERN_ERR_DTYPE,
                     "new_tensor: the data is double *");
    tern_from_data_options o = tern_from_data_defaults();
    o.shape = tern_dims(1), o.data = one, o.dtype = TERN_INT64, o.reserved_ = TERN_INT32;
    assert_null_with(tern_from_data_with(&o), TERN_ERR_DTYPE, "the data is int32_t *");
    o.dtype = TERN_DTYPE_UNSPECIFIED;
    assert_int_equal(tern_item_int(tern_from_data_with(&o)), 1);
}

static void tensors_in_the_image_of_another(void **state)
{
    (void)state;
    tern_tensor *t = tern_transpose(tern_zeros(tern_dims(1, 2), .dtype = TERN_FLOAT64), 0, 1);
    assert_tensor(tern_ones_like(t), tern_dims(2, 1), 1, 1);
    assert_tensor(tern_zeros_like(t), tern_dims(2, 1), 0, 0);
    assert_tensor(tern_full_like(t, 0.1), tern_dims(2, 1), 0.1, 0.1);
    assert_int_equal(tern_dtype_of(tern_empty_like(t)), TERN_FLOAT64);
    assert_true(tern_is_contiguous(tern_empty_like(t)));
    assert_tensor(tern_new_zeros(t, tern_dims(1)), tern_dims(1), 0);
    assert_tensor(tern_new_ones(t, tern_dims()), tern_dims(), 1);
    assert_tensor(tern_new_full(t, tern_dims(2), 7), tern_dims(2), 7, 7);
    assert_int_equal(tern_numel(tern_new_empty(t, tern_dims(4, 4))), 16);
    const double data[] = {0.1, 0.2};
    assert_tensor(tern_new_tensor(t, tern_dims(2), data), tern_dims(2), 0.1, 0.2);
    assert_null_with(tern_new_tensor(t, tern_dims(2), NULL), TERN_ERR_NULL, "new_tensor: data");
    assert_null_with(tern_zeros_like(NULL), TERN_ERR_NULL, "zeros_like: t is NULL");
    assert_null_with(tern_new_ones(t, tern_dims(-1)), TERN_ERR_SHAPE, "new_ones");
    tern_tensor *byte = tern_zeros(tern_dims(1), .dtype = TERN_UINT8);
    assert_null_with(tern_full_like(byte, 300), TERN_ERR_ARG, "full_like");
}

static void values_reach_the_host_and_come_back(void **state)
{
    (void)state;
    tern_tensor *t = tern_transpose(check_2x3(false), 0, 1);
    float out[6] = {0};
    assert_int_equal(tern_to_host(t, out, sizeof out), TERN_OK);
    const float expected[] = {0, 3, 1, 4, 2, 5};
    assert_memory_equal(out, expected, sizeof out);
    const float back[] = {10, 20, 30, 40, 50, 60};
    assert_int_equal(tern_from_host(t, back, sizeof back), TERN_OK);
    assert_tensor(t, tern_dims(3, 2), 10, 20, 30, 40, 50, 60);
    assert_status(tern_to_host(t, out, 20), TERN_ERR_SHAPE,
                  "to_host: float32 (3, 2) on cpu has 24 b");
    assert_status(tern_from_host(t, out, 25), TERN_ERR_SHAPE, "from_host");
    assert_status(tern_to_host(t, NULL, 24), TERN_ERR_NULL, "to_host: data is NULL");
    assert_status(tern_from_host(NULL, out, 24), TERN_ERR_NULL, "from_host: t is NULL");
    tern_tensor *empty = tern_zeros(tern_dims(0));
    assert_int_equal(tern_to_host(empty, NULL, 0), TERN_OK);
    assert_int_equal(tern_from_host(empty, NULL, 0), TERN_OK);
    tern_tensor *leaf = tern_zeros(tern_dims(1), .requires_grad = true);
    assert_status(tern_from_host(leaf, out, 4), TERN_ERR_STATE, "from_host");
}

static void items_are_exact(void **state)
{
    (void)state;
    const int64_t big = 9007199254740993; // 2^53 + 1
    assert_true(tern_item_int(tern_from_data(tern_dims(1, 1), &big, .dtype = TERN_INT64)) == big);
    assert_true(tern_item(tern_full(tern_dims(), 0.1, .dtype = TERN_FLOAT64)) == 0.1);
    assert_true(tern_item(tern_full(tern_dims(1), -2, .dtype = TERN_BFLOAT16)) == -2);
    assert_true(tern_item(tern_full(tern_dims(1), 7, .dtype = TERN_UINT8)) == 7);
    assert_true(tern_item_int(tern_ones(tern_dims(), .dtype = TERN_BOOL)) == 1);
    assert_true(tern_item(tern_select(tern_arange(0, 9, 1), 0, 4)) == 4);
    assert_true(isnan(tern_item(check_2x3(false))));
    assert_error(TERN_ERR_SHAPE, "item: float32 (2, 3) on cpu has 6 elements");
    assert_true(isnan(tern_item(NULL)));
    assert_error(TERN_ERR_NULL, "item: t is NULL");
    assert_true(tern_item_int(tern_zeros(tern_dims())) == 0);
    assert_error(TERN_ERR_DTYPE, "item_int: t is float32");
}

static void data_points_to_the_first_element(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    float *data = tern_data(t);
    assert_true(data[5] == 5);
    const float *row = tern_data(tern_select(t, 0, 1));
    assert_ptr_equal(row, data + 3);
    assert_null_with(tern_data(NULL), TERN_ERR_NULL, "data: t is NULL");
}

static void a_pending_error_passes_through_quietly(void **state)
{
    (void)state;
    assert_null(tern_zeros(tern_dims(-5)));
    assert_null(tern_reshape(tern_transpose(tern_clone(NULL), 0, 1), tern_dims(2)));
    assert_null(tern_ones_like(NULL));
    assert_error(TERN_ERR_SHAPE, "zeros: shape (-5,)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(constants_have_their_shape_and_dtype),
        CHECK_TEST(full_casts_its_value),
        CHECK_TEST(what_cannot_be_a_tensor_is_refused),
        CHECK_TEST(options_start_from_their_defaults),
        CHECK_TEST(arange_counts_up_and_down),
        CHECK_TEST(linspace_meets_both_ends),
        CHECK_TEST(linspace_of_integers_is_exact),
        CHECK_TEST(eye_has_ones_on_its_diagonal),
        CHECK_TEST(from_data_copies_the_callers_values),
        CHECK_TEST(data_is_of_the_dtype_that_its_c_type_says),
        CHECK_TEST(an_array_has_as_many_elements_as_the_shape_takes),
        CHECK_TEST(what_stands_beside_data_in_braces_is_evaluated_once),
        CHECK_TEST(data_of_another_type_than_the_dtype_is_refused),
        CHECK_TEST(tensors_in_the_image_of_another),
        CHECK_TEST(values_reach_the_host_and_come_back),
        CHECK_TEST(items_are_exact),
        CHECK_TEST(data_points_to_the_first_element),
        CHECK_TEST(a_pending_error_passes_through_quietly),
    };
    return cmocka_run_group_tests_name("create", tests, NULL, check_shutdown);
}
