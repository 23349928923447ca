// SPDX-License-Identifier: Apache-2.0
// tern_sort, tern_argsort and tern_topk of every dtype: the order that the header says leaves one
// answer, and that is what is looked for. Argument: a device, cpu:0 unless given.
#include "support/tensor_check.h"

#include "device/dtype.h"

static tern_device device;
static uint64_t word = 1;

static const tern_dtype dtypes[] = {TERN_FLOAT32,  TERN_FLOAT64, TERN_INT64, TERN_FLOAT16,
                                    TERN_BFLOAT16, TERN_INT32,   TERN_UINT8, TERN_BOOL};
#define DTYPES ((int)(sizeof dtypes / sizeof *dtypes))

static uint64_t next_word(void)
{
    word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (word >> 32) | (word << 32);
}

// ---- elements -----------------------------------------------------------------------------------

typedef enum fill {
    BITS,      // any
    FEW,       // 0 ... 3
    SPECIAL,   // infinities, NaN of several bits, both zeros, among few others
    ASCENDING, // in steps of 3
    DESCENDING,
    LOW_BITS, // what differs is in the last bits, but for one element in a thousand
    ONE,      // all the same
    FILLS
} fill;

static uint64_t sign_of(tern_dtype dtype)
{
    return (uint64_t)1 << (8 * tern_dtype_size(dtype) - 1);
}

static uint64_t infinity_of(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16    ? 0x7c00
           : dtype == TERN_BFLOAT16 ? 0x7f80
           : dtype == TERN_FLOAT32  ? 0x7f800000
                                    : UINT64_C(0x7ff) << 52;
}

static uint64_t small_number(tern_dtype dtype, int64_t value)
{
    const double number = (double)value;
    const float single = (float)value;
    uint64_t bits = 0;
    if (dtype == TERN_FLOAT64)
        memcpy(&bits, &number, sizeof number);
    else if (tern_dtype_is_floating(dtype))
        memcpy(&bits, &single, sizeof single);
    else
        bits = (uint64_t)value;
    if (dtype == TERN_BFLOAT16)
        bits >>= 16; // exact for up to 8 bits; others are cut
    if (dtype == TERN_FLOAT16)
        bits = value == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits & 0x7fffffff) - 0x38000000) >> 13;
    return bits;
}

static uint64_t special(tern_dtype dtype, uint64_t random)
{
    const uint64_t sign = sign_of(dtype), infinity = infinity_of(dtype);
    if (!tern_dtype_is_floating(dtype))
        return (uint64_t[]){0, sign, sign - 1, 1, sign + 1, 2, 0, sign}[random % 8];
    return (uint64_t[]){0,
                        sign,
                        infinity,
                        sign | infinity,
                        infinity | 1,
                        sign | infinity | 3,
                        infinity | (infinity >> 1),
                        1}[random % 8];
}

static uint64_t element(tern_dtype dtype, fill how, int64_t i, int64_t n)
{
    const uint64_t random = next_word();
    if (dtype == TERN_BOOL)
        return how == ONE ? 1 : how == ASCENDING ? i > n / 2 : random % 2;
    switch (how) {
    case BITS:
        return random;
    case FEW:
        return small_number(dtype, (int64_t)(random % 4));
    case SPECIAL:
        return random % 3 ? special(dtype, random >> 8) : small_number(dtype, random % 5 - 2);
    case ASCENDING:
        return small_number(dtype, 3 * i - n);
    case DESCENDING:
        return small_number(dtype, n - 3 * i);
    case LOW_BITS:
        return random % 1000 ? (random >> 16) % 61 : random;
    case ONE:
    case FILLS:
        break;
    }
    return small_number(dtype, 1);
}

// ---- what is right ------------------------------------------------------------------------------

static uint64_t bits_at(const char *data, tern_dtype dtype, int64_t i)
{
    const size_t size = tern_dtype_size(dtype);
    uint64_t bits = 0;
    memcpy(&bits, data + (size_t)i * size, size); // little-endian, as the machines it runs on
    return bits;
}

// Where the bits are in the order: an integer above all for NaN, magnitudes with a sign else.
static int64_t rank_of(uint64_t bits, tern_dtype dtype)
{
    if (dtype == TERN_INT64)
        return (int64_t)bits;
    if (dtype == TERN_INT32)
        return (int32_t)bits;
    if (!tern_dtype_is_floating(dtype))
        return (int64_t)bits;
    const int64_t magnitude = (int64_t)(bits & (sign_of(dtype) - 1));
    if ((uint64_t)magnitude > infinity_of(dtype))
        return INT64_MAX;
    return bits & sign_of(dtype) ? -magnitude : magnitude;
}

// Whether element i comes before element k.
static bool comes_before(const int64_t *ranks, bool descending, int64_t i, int64_t k)
{
    if (ranks[i] != ranks[k])
        return (ranks[i] > ranks[k]) == descending;
    return i < k;
}

typedef struct line {
    int64_t n, k, x_first, x_step, y_first, y_step;
    bool descending;
} line;

static void check_line(const line *l, tern_dtype dtype, const char *x, const char *values,
                       const int64_t *indices)
{
    int64_t *ranks = malloc((size_t)l->n * sizeof *ranks + 1), last = -1;
    bool *chosen = calloc((size_t)l->n + 1, sizeof *chosen);
    assert_true(ranks && chosen);
    for (int64_t i = 0; i < l->n; i++)
        ranks[i] = rank_of(bits_at(x, dtype, l->x_first + i * l->x_step), dtype);
    for (int64_t i = 0; i < l->k; i++) {
        const int64_t y = l->y_first + i * l->y_step, at = indices[y];
        assert_true(at >= 0 && at < l->n && !chosen[at]);
        chosen[at] = true;
        assert_true(i == 0 || comes_before(ranks, l->descending, last, at));
        assert_true(bits_at(values, dtype, y) == bits_at(x, dtype, l->x_first + at * l->x_step));
        last = at;
    }
    for (int64_t i = 0; i < l->n && l->k > 0; i++)
        assert_true(chosen[i] || comes_before(ranks, l->descending, last, i));
    free(ranks);
    free(chosen);
}

static void *host_copy(tern_tensor *t)
{
    const size_t nbytes = (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t));
    void *data = malloc(nbytes + 1);
    assert_non_null(data);
    assert_int_equal(tern_to_host(t, data, nbytes), TERN_OK);
    return data;
}

// ---- calls --------------------------------------------------------------------------------------

// One of the three functions: a k below 0 stands for the whole of the dimension.
static void check_call(tern_tensor *x, int dim, bool descending, int64_t k)
{
    tern_tensor *indices = NULL;
    tern_tensor *y = k < 0 ? tern_sort(x, dim, descending, &indices)
                           : tern_topk(x, k, dim, descending, &indices);
    assert_no_error();
    assert_non_null(y);
    const tern_dtype dtype = tern_dtype_of(x);
    const int64_t n = tern_size(x, dim), count = k < 0 ? n : k;
    int64_t inner = 1;
    for (int d = dim + 1; d < tern_rank(x); d++)
        inner *= tern_size(x, d);
    char *from = host_copy(x), *values = host_copy(y);
    int64_t *places = host_copy(indices);
    assert_int_equal(tern_numel(y), n ? tern_numel(x) / n * count : 0);
    for (int64_t i = 0; n > 0 && i < tern_numel(x) / n; i++) {
        const int64_t outer = i / inner;
        const line l = {n,
                        count,
                        outer * n * inner + i % inner,
                        inner,
                        outer * count * inner + i % inner,
                        inner,
                        descending};
        check_line(&l, dtype, from, values, places);
    }
    free(from);
    free(values);
    free(places);
}

static tern_tensor *make(tern_dtype dtype, fill how, tern_shape shape, int64_t n)
{
    int64_t numel = 1;
    for (int d = 0; d < shape.rank; d++)
        numel *= shape.dim[d];
    const size_t size = tern_dtype_size(dtype);
    char *data = malloc((size_t)numel * size + 1);
    assert_non_null(data);
    for (int64_t i = 0; i < numel; i++) {
        const uint64_t bits = element(dtype, how, i % n, n);
        memcpy(data + (size_t)i * size, &bits, size);
    }
    tern_tensor *t = tern_to(tern_from_data(shape, (void *)data, .dtype = dtype), device);
    assert_non_null(t);
    free(data);
    return t;
}

// A simulated device takes a share of the cases, another one for each dtype and length.
static int stride_of_cases(int share)
{
    return device.type == TERN_CPU ? 1 : share;
}

// Several numbers of elements that are wanted of n.
static void check_counts(tern_tensor *x, int dim, int64_t n)
{
    const int64_t counts[] = {-1, n / 9, 0, 5, n - 1, 1, 2, n / 2, n};
    const int step = stride_of_cases(4), count = (int)(sizeof counts / sizeof *counts);
    for (int i = (int)(n % step); i < count; i += step) {
        const tern_scope scope = tern_scope_open();
        if (counts[i] <= n) {
            check_call(x, dim, false, counts[i]);
            check_call(x, dim, true, counts[i]);
        }
        tern_scope_close(scope);
    }
}

static void lines_of_any_length_come_in_order(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 2, 3, 8, 9, 31, 32, 33, 64, 65, 127, 130, 257, 520};
    for (int t = 0; t < DTYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int how = (t + (int)i) % stride_of_cases(FILLS); how < FILLS;
                 how += stride_of_cases(FILLS)) {
                const tern_scope scope = tern_scope_open();
                check_counts(
                    make(dtypes[t], (fill)how, tern_dims(3, lengths[i]), lengths[i] + !lengths[i]),
                    1, lengths[i]);
                tern_scope_close(scope);
            }
}

static void long_lines_come_in_order(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1023, 1024, 1025, 2047, 2049, 4097, 10000};
    for (int t = 0; t < DTYPES; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int how = (t + (int)i) % stride_of_cases(FILLS); how < FILLS;
                 how += stride_of_cases(FILLS)) {
                const tern_scope scope = tern_scope_open();
                tern_tensor *x = make(dtypes[t], (fill)how, tern_dims(2, lengths[i]), lengths[i]);
                check_call(x, 1, how % 2, -1);
                check_call(x, 1, how % 2 == 0, lengths[i] / 3);
                check_call(x, 1, how % 2, 7);
                tern_scope_close(scope);
            }
}

static void a_line_of_all_elements_comes_in_order(void **state)
{
    (void)state;
    const int64_t n = device.type == TERN_CPU ? 300007 : 100000;
    for (int t = 0; t < DTYPES; t += stride_of_cases(2))
        for (int how = t % stride_of_cases(FILLS); how < FILLS; how += stride_of_cases(FILLS)) {
            const tern_scope scope = tern_scope_open();
            tern_tensor *x = make(dtypes[t], (fill)how, tern_dims(n), n);
            check_call(x, 0, false, -1);
            check_call(x, 0, true, 10);
            check_call(x, 0, true, n / 5);
            tern_scope_close(scope);
        }
}

// Element i of the order that 7919, which has no factor of n, gives: groups of equal high bits, in
// which the rest is any. Of so long a line the high bits are sorted first, and several groups begin
// in what one thread does.
static void groups_of_a_very_long_line_come_in_order(void **state)
{
    (void)state;
    const int64_t n = 9000000, group = 131072;
    if (device.type != TERN_CPU)
        skip(); // the chunks are those of the CPU's threads
    tern_tensor *x = tern_zeros(tern_dims(n), .dtype = TERN_INT64), *places;
    assert_non_null(x);
    int64_t *at = tern_data(x);
    for (int64_t i = 0; i < n; i++)
        at[i * 7919 % n] = (i / group) << 56 | (int64_t)(next_word() & 0x7FFFFF);
    tern_tensor *y = tern_sort(x, 0, false, &places);
    assert_non_null(y);
    const int64_t *sorted = tern_data(y), *place = tern_data(places);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        const bool follows = i == 0 || sorted[i - 1] < sorted[i] ||
                             (sorted[i - 1] == sorted[i] && place[i - 1] < place[i]);
        wrong += !follows || place[i] < 0 || place[i] >= n || at[place[i]] != sorted[i];
    }
    assert_int_equal(wrong, 0); // in order, each from a place of its own
}

static void any_dimension_of_any_strides_is_put_in_order(void **state)
{
    (void)state;
    for (int t = 0; t < DTYPES; t++)
        for (int how = t % stride_of_cases(3); how <= SPECIAL; how += stride_of_cases(3)) {
            const tern_scope scope = tern_scope_open();
            tern_tensor *x = make(dtypes[t], (fill)how, tern_dims(5, 140, 37), 140);
            tern_tensor *views[] = {
                x,
                tern_transpose(x, 0, 2),
                tern_transpose(x, 1, 2),
                tern_slice(x, 1, 3, 131, 2),
                tern_slice(tern_transpose(x, 0, 1), 2, 1, 36, 5),
                tern_expand(tern_narrow(x, 1, 4, 1), tern_dims(5, 70, 37)),
            };
            for (size_t v = 0; v < sizeof views / sizeof *views; v++)
                for (int dim = (t + (int)v) % stride_of_cases(3); dim < 3;
                     dim += stride_of_cases(3)) {
                    assert_non_null(views[v]);
                    check_call(views[v], dim, v % 2, -1);
                    check_call(views[v], dim, v % 2 == 0, tern_size(views[v], dim) / 3);
                    check_call(views[v], dim, true, 1);
                }
            tern_scope_close(scope);
        }
}

static void columns_side_by_side_come_in_order(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 70}, {3, 1}, {2, 16}, {600, 17}, {90, 33}, {2100, 3}};
    for (int t = 0; t < DTYPES; t++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const tern_scope scope = tern_scope_open();
            check_counts(make(dtypes[t], SPECIAL, tern_dims(sizes[i][0], sizes[i][1]), 1), 0,
                         sizes[i][0]);
            tern_scope_close(scope);
        }
}

static void a_tensor_without_dimensions_is_one_element(void **state)
{
    (void)state;
    tern_tensor *x = tern_full(tern_dims(), 3.5, .device = device), *indices = NULL;
    assert_tensor(tern_sort(x, 0, true, &indices), tern_dims(), 3.5);
    assert_tensor(indices, tern_dims(), 0);
    assert_tensor(tern_argsort(x, -1, false), tern_dims(), 0);
    assert_tensor(tern_topk(x, 1, -1, true, &indices), tern_dims(), 3.5);
    assert_tensor(indices, tern_dims(), 0);
    assert_null_with(tern_topk(x, 0, 0, true, NULL), TERN_ERR_ARG, "x has no dimension");
}

static void argsort_gives_the_indices_of_sort(void **state)
{
    (void)state;
    for (int t = 0; t < DTYPES; t++) {
        tern_tensor *x = make(dtypes[t], SPECIAL, tern_dims(7, 333), 1), *indices = NULL;
        assert_non_null(tern_sort(x, 1, true, &indices));
        tern_tensor *same =
            tern_all(tern_eq(tern_argsort(x, -1, true), indices), TERN_ALL_AXES, false);
        assert_true(tern_item(same) == 1);
    }
}

// y = x^2 / 2 of elements in order: the gradient of the sum of i y_i is i x at the i-th.
static void check_gradient(tern_tensor *x, int dim, int64_t k)
{
    tern_tensor *indices = NULL, *leaf = tern_detach(x);
    assert_non_null(tern_set_requires_grad(leaf, true));
    tern_tensor *y =
        k < 0 ? tern_sort(leaf, dim, false, &indices) : tern_topk(leaf, k, dim, true, &indices);
    assert_true(tern_requires_grad(y));
    assert_false(tern_requires_grad(indices));
    assert_int_equal(tern_backward(y, .gradient = tern_mul_scalar(y, 2)), TERN_OK);
    const int64_t n = tern_size(x, dim);
    int64_t inner = 1;
    for (int d = dim + 1; d < tern_rank(x); d++)
        inner *= tern_size(x, d);
    const int64_t count = tern_size(y, dim), lines = tern_numel(x) / n;
    float *from = host_copy(x), *dx = host_copy(tern_grad(leaf));
    int64_t *places = host_copy(indices);
    for (int64_t i = 0; i < lines; i++)
        for (int64_t j = 0; j < count; j++) {
            const int64_t place = places[i / inner * count * inner + j * inner + i % inner];
            const int64_t at = i / inner * n * inner + place * inner + i % inner;
            assert_true(dx[at] == 2 * from[at]);
            dx[at] = 0;
        }
    for (int64_t i = 0; i < tern_numel(x); i++)
        assert_true(dx[i] == 0);
    free(from);
    free(dx);
    free(places);
}

static void gradients_go_to_the_elements_that_were_chosen(void **state)
{
    (void)state;
    tern_tensor *x = make(TERN_FLOAT32, FEW, tern_dims(3, 50, 21), 1);
    for (int dim = 0; dim < 3; dim++) {
        check_gradient(x, dim, -1);
        check_gradient(x, dim, 2);
        check_gradient(x, dim, 0);
    }
    check_gradient(make(TERN_FLOAT32, FEW, tern_dims(70000), 1), 0, -1);
    check_gradient(make(TERN_FLOAT32, FEW, tern_dims(70000), 1), 0, 900);
}

static void the_gradient_of_one_element_is_its_own(void **state)
{
    (void)state;
    tern_tensor *x = tern_full(tern_dims(), 3, .device = device, .requires_grad = true);
    assert_int_equal(tern_backward(tern_sort(x, 0, false, NULL)), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(), 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(lines_of_any_length_come_in_order),
        CHECK_TEST(long_lines_come_in_order),
        CHECK_TEST(a_line_of_all_elements_comes_in_order),
        CHECK_TEST(groups_of_a_very_long_line_come_in_order),
        CHECK_TEST(any_dimension_of_any_strides_is_put_in_order),
        CHECK_TEST(columns_side_by_side_come_in_order),
        CHECK_TEST(a_tensor_without_dimensions_is_one_element),
        CHECK_TEST(argsort_gives_the_indices_of_sort),
        CHECK_TEST(gradients_go_to_the_elements_that_were_chosen),
        CHECK_TEST(the_gradient_of_one_element_is_its_own),
    };
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu:0", &device))
        return tern_error_print(stderr);
    return cmocka_run_group_tests_name("sorting", tests, NULL, check_shutdown);
}
