// SPDX-License-Identifier: Apache-2.0
// Kernels choose other loops for other layouts and lengths: elementwise operations, copies, casts,
// gathers and scatters of rows of many layouts, on every instruction set, element by element.
#include "kernel_check.h"

#define ROOM  150000 // elements
#define ABOVE 77     // what must not be overwritten

static const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16,
                                    TERN_INT64,   TERN_INT32,   TERN_UINT8,   TERN_BOOL};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

typedef union cells {
    float f[ROOM];
    double d[ROOM];
    uint16_t half[ROOM];
    int64_t wide[ROOM];
    int32_t whole[ROOM];
    uint8_t byte[ROOM];
} cells;

static cells a, b, dy, y, z;

// 0 <= value < 2048 as the bits of a float16.
static uint16_t half_of(int value)
{
    int exponent = 0;
    while (value >> (exponent + 1))
        exponent++;
    return value ? (uint16_t)((exponent + 15) << 10 | ((value << (10 - exponent)) & 1023)) : 0;
}

static double half_value(uint16_t bits)
{
    return bits ? ldexp(1024 + (bits & 1023), (bits >> 10) - 25) : 0;
}

static void put(cells *c, tern_dtype dtype, int64_t i, int value)
{
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (dtype == TERN_FLOAT32)
        c->f[i] = single;
    else if (dtype == TERN_FLOAT64)
        c->d[i] = value;
    else if (dtype == TERN_FLOAT16)
        c->half[i] = half_of(value);
    else if (dtype == TERN_BFLOAT16)
        c->half[i] = (uint16_t)(bits >> 16);
    else if (dtype == TERN_INT64)
        c->wide[i] = value;
    else if (dtype == TERN_INT32)
        c->whole[i] = value;
    else
        c->byte[i] = (uint8_t)value;
}

static double get(const cells *c, tern_dtype dtype, int64_t i)
{
    const uint32_t bits = (uint32_t)c->half[i] << 16;
    float single;
    memcpy(&single, &bits, sizeof single);
    if (dtype == TERN_FLOAT32)
        return (double)c->f[i];
    if (dtype == TERN_FLOAT64)
        return c->d[i];
    if (dtype == TERN_FLOAT16)
        return half_value(c->half[i]);
    if (dtype == TERN_BFLOAT16)
        return (double)single;
    if (dtype == TERN_INT64)
        return (double)c->wide[i];
    return dtype == TERN_INT32 ? c->whole[i] : c->byte[i];
}

static void fill(cells *c, tern_dtype dtype, int64_t numel)
{
    for (int64_t i = 0; i < numel; i++)
        put(c, dtype, i, (int)random_below(dtype == TERN_BOOL ? 2 : 50));
}

static int64_t place_of(const tern_strided *v, int64_t i)
{
    int64_t at = 0;
    for (int d = v->rank - 1; d >= 0; d--) {
        at += i % v->size[d] * v->stride[d];
        i /= v->size[d];
    }
    return at;
}

// Elements from the first one to behind the last.
static int64_t extent_of(const tern_strided *v)
{
    return place_of(v, tern_strided_numel(v) - 1) + 1;
}

typedef enum layout {
    PACKED,
    GAPS,       // after each row
    SPACED,     // every second column
    ONE_ROW,    // the same row again and again
    ONE_COLUMN, // a value a row
    ONE_VALUE,
    ONE_MATRIX, // the same rows in each matrix
    TRANSPOSED,
    LAYOUTS
} layout;

static tern_strided laid_out(cells *c, tern_dtype dtype, layout how, int matrices, int rows,
                             int cols)
{
    tern_strided v = VIEW(c, dtype, matrices, rows, cols);
    const int64_t row = how == GAPS ? cols + 3 : how == SPACED ? 2 * cols + 1 : cols;
    if (how == GAPS || how == SPACED) {
        v.stride[0] = rows * row + 1;
        v.stride[1] = row;
        v.stride[2] = how == SPACED ? 2 : 1;
    } else if (how == TRANSPOSED) {
        v.stride[1] = 1;
        v.stride[2] = rows;
    }
    if (how == ONE_ROW || how == ONE_VALUE)
        v.stride[0] = v.stride[1] = 0;
    if (how == ONE_COLUMN || how == ONE_VALUE)
        v.stride[2] = 0;
    if (how == ONE_COLUMN) {
        v.stride[0] = rows;
        v.stride[1] = 1;
    }
    if (how == ONE_MATRIX)
        v.stride[0] = 0;
    return v;
}

// ---- elementwise --------------------------------------------------------------------------------

static void check_binary(tern_dtype dtype, layout how_y, layout how_a, layout how_b, int matrices,
                         int rows, int cols)
{
    const tern_strided va = laid_out(&a, dtype, how_a, matrices, rows, cols);
    const tern_strided vb = laid_out(&b, dtype, how_b, matrices, rows, cols);
    const bool sums = dtype != TERN_BOOL;
    const tern_binary_op op = sums ? TERN_BINARY_ADD : TERN_BINARY_AND;
    const int64_t numel = (int64_t)matrices * rows * cols;
    FOR_EACH_TABLE(kernels)
    for (int test = 0; test < 2; test++) {
        const tern_dtype out = test ? TERN_BOOL : dtype;
        const tern_strided vy = laid_out(&y, out, how_y, matrices, rows, cols);
        const int64_t end = extent_of(&vy);
        for (int64_t i = end; i < end + 20; i++)
            put(&y, out, i, ABOVE);
        assert_int_equal(
            kernels->binary(&kernel_exec, test ? TERN_BINARY_LT : op, 1, &vy, &va, &vb), 0);
        for (int64_t i = 0; i < numel; i++) {
            const double u = get(&a, dtype, place_of(&va, i)), v = get(&b, dtype, place_of(&vb, i));
            const double expected = test ? u < v : sums ? u + v : u * v;
            assert_within(get(&y, out, place_of(&vy, i)), expected, 0, kernels);
        }
        for (int64_t i = end; i < end + 20; i++)
            assert_within(get(&y, out, i), ABOVE, 0, kernels);
    }
}

static void rows_of_all_layouts_meet_in_operations(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 4, 1},   {1, 3, 10},  {2, 4, 10}, {3, 5, 7},   {1, 51, 10},
                                   {1, 52, 10}, {2, 103, 9}, {1, 9, 64}, {1, 9, 65},  {2, 8, 63},
                                   {1, 4, 17},  {2, 3, 130}, {5, 1, 12}, {1, 600, 3}, {2, 5, 515}};
    for (int t = 0; t < DTYPES; t++) {
        fill(&a, dtypes[t], ROOM);
        fill(&b, dtypes[t], ROOM);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (layout of_a = 0; of_a < LAYOUTS; of_a++)
                for (layout of_b = 0; of_b < LAYOUTS; of_b++)
                    check_binary(dtypes[t], (of_a + of_b) % 3, of_a, of_b, sizes[i][0], sizes[i][1],
                                 sizes[i][2]);
    }
}

static void many_short_rows_are_done_in_pieces(void **state)
{
    (void)state;
    for (int t = 0; t < DTYPES; t++) {
        fill(&a, dtypes[t], ROOM);
        fill(&b, dtypes[t], ROOM);
        check_binary(dtypes[t], PACKED, PACKED, ONE_ROW, 1, 4099, 10);
        check_binary(dtypes[t], GAPS, ONE_COLUMN, GAPS, 1, 3333, 11);
        check_binary(dtypes[t], PACKED, PACKED, ONE_COLUMN, 3, 1500, 10);
    }
}

static void a_gradient_of_rows_of_all_layouts_is_that_of_each_element(void **state)
{
    (void)state;
    fill(&a, TERN_FLOAT32, ROOM);
    for (int64_t i = 0; i < ROOM; i++)
        b.f[i] = (float)random_value();
    for (int cols = 1; cols < 80; cols += 6)
        for (layout of_a = 0; of_a < LAYOUTS; of_a++)
            for (layout of_b = 0; of_b < LAYOUTS; of_b++) {
                const tern_strided vdy = laid_out(&a, TERN_FLOAT32, of_a, 2, 9, cols);
                const tern_strided s = laid_out(&b, TERN_FLOAT32, of_b, 2, 9, cols);
                const tern_strided dx = laid_out(&y, TERN_FLOAT32, (of_a + of_b) % 3, 2, 9, cols);
                FOR_EACH_TABLE(kernels)
                {
                    assert_int_equal(
                        kernels->unary_grad(&kernel_exec, TERN_UNARY_RELU, NULL, &dx, &vdy, &s), 0);
                    for (int64_t i = 0; i < 18 * cols; i++) {
                        const bool on = b.f[place_of(&s, i)] > 0;
                        assert_within(y.f[place_of(&dx, i)], on ? a.f[place_of(&vdy, i)] : 0, 0,
                                      kernels);
                    }
                }
            }
}

// Numbers up to 49: what rounds is only their products, in 16 bits.
static void check_pair(tern_dtype dtype, layout how_dy, layout how_a, layout how_b, int cols)
{
    static const double round[] = {
        [TERN_FLOAT32] = 0, [TERN_FLOAT64] = 0, [TERN_FLOAT16] = 0x1p-11, [TERN_BFLOAT16] = 0x1p-8};
    const tern_strided vdy = laid_out(&dy, dtype, how_dy, 2, 9, cols);
    const tern_strided va = laid_out(&a, dtype, how_a, 2, 9, cols);
    const tern_strided vb = laid_out(&b, dtype, how_b, 2, 9, cols);
    const tern_strided vda = laid_out(&y, dtype, how_a % 3, 2, 9, cols);
    const tern_strided vdb = laid_out(&z, dtype, how_b % 3, 2, 9, cols);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->binary_grad(&kernel_exec, TERN_BINARY_MUL,
                                              (const tern_strided *const[]){&vda, &vdb}, &vdy, &va,
                                              &vb),
                         0);
        for (int64_t i = 0; i < 18 * cols; i++) {
            const double s = get(&dy, dtype, place_of(&vdy, i));
            const double da = s * get(&b, dtype, place_of(&vb, i));
            const double db = s * get(&a, dtype, place_of(&va, i));
            assert_within(get(&y, dtype, place_of(&vda, i)), da, da * round[dtype], kernels);
            assert_within(get(&z, dtype, place_of(&vdb, i)), db, db * round[dtype], kernels);
        }
    }
}

static void two_gradients_of_rows_of_all_layouts_are_those_of_each_element(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        fill(&a, dtypes[t], ROOM);
        fill(&b, dtypes[t], ROOM);
        fill(&dy, dtypes[t], ROOM);
        for (int cols = 1; cols < 80; cols += 13)
            for (layout of_a = 0; of_a < LAYOUTS; of_a++)
                for (layout of_b = 0; of_b < LAYOUTS; of_b++) {
                    check_pair(dtypes[t], (of_a + of_b) % LAYOUTS, of_a, of_b, cols);
                    check_pair(dtypes[t], PACKED, of_a, of_b, cols * 41);
                }
    }
}

// ---- copies and casts ---------------------------------------------------------------------------

static void check_copy(tern_dtype dtype, layout how_y, layout how_x, int matrices, int rows,
                       int cols)
{
    const tern_strided vx = laid_out(&a, dtype, how_x, matrices, rows, cols);
    const tern_strided vy = laid_out(&y, dtype, how_y, matrices, rows, cols);
    const int64_t numel = tern_strided_numel(&vy), end = extent_of(&vy);
    FOR_EACH_TABLE(kernels)
    {
        for (int64_t i = 0; i < end + 70; i++)
            put(&y, dtype, i, ABOVE);
        assert_int_equal(kernels->copy(&kernel_exec, &vy, &vx), 0);
        for (int64_t i = 0; i < numel; i++)
            assert_within(get(&y, dtype, place_of(&vy, i)), get(&a, dtype, place_of(&vx, i)), 0,
                          kernels);
        for (int64_t i = end; i < end + 70; i++)
            assert_within(get(&y, dtype, i), ABOVE, 0, kernels);
    }
}

static void copies_of_all_layouts_have_every_element_in_its_place(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 66};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int t = 0; t < DTYPES; t++) {
        fill(&a, dtypes[t], ROOM);
        for (int i = 0; i < SIZES; i++)
            for (int k = 0; k < SIZES; k++) {
                check_copy(dtypes[t], PACKED, TRANSPOSED, 1, sizes[i], sizes[k]);
                check_copy(dtypes[t], GAPS, TRANSPOSED, 2, sizes[i], sizes[k]);
                check_copy(dtypes[t], (layout)(i % 3), (layout)(k % LAYOUTS), 2, sizes[i],
                           sizes[k]);
            }
        check_copy(dtypes[t], PACKED, TRANSPOSED, 1, 211, 190); // several threads
    }
}

static void casts_between_all_dtypes_keep_whole_numbers(void **state)
{
    (void)state;
    for (int from = 0; from < DTYPES; from++)
        for (int to = 0; to < DTYPES; to++) {
            fill(&a, dtypes[from], 200);
            for (int n = 1; n < 80; n += n < 36 ? 1 : 7)
                for (int spaced = 0; spaced < 4; spaced++) {
                    const tern_strided vx =
                        laid_out(&a, dtypes[from], spaced & 1 ? SPACED : PACKED, 1, 1, n);
                    const tern_strided vy =
                        laid_out(&y, dtypes[to], spaced & 2 ? SPACED : PACKED, 1, 1, n);
                    const int64_t end = extent_of(&vy);
                    FOR_EACH_TABLE(kernels)
                    {
                        put(&y, dtypes[to], end, ABOVE);
                        assert_int_equal(kernels->copy(&kernel_exec, &vy, &vx), 0);
                        for (int i = 0; i < n; i++) {
                            const double x = get(&a, dtypes[from], place_of(&vx, i));
                            assert_within(get(&y, dtypes[to], place_of(&vy, i)),
                                          dtypes[to] == TERN_BOOL ? x != 0 : x, 0, kernels);
                        }
                        assert_within(get(&y, dtypes[to], end), ABOVE, 0, kernels);
                    }
                }
        }
}

// Rows without gaps have loops of their own. The elements are any bits, but for bool.
static void casts_of_packed_and_spaced_rows_have_the_same_bits(void **state)
{
    (void)state;
    enum { N = 4099 };
    static cells packed;
    for (int from = 0; from < DTYPES; from++)
        for (int to = 0; to < DTYPES; to++) {
            for (int64_t i = 0; i < N; i++)
                a.wide[i] = (int64_t)((uint64_t)random_below(UINT32_MAX) << 33 ^
                                      (uint64_t)random_below(UINT32_MAX) << 8);
            if (dtypes[from] == TERN_BOOL)
                fill(&a, TERN_BOOL, N);
            const size_t size = tern_dtype_size(dtypes[from]);
            for (int64_t i = 0; i < N; i++)
                memcpy(b.byte + 2 * (size_t)i * size, a.byte + (size_t)i * size, size);
            const tern_strided row = laid_out(&a, dtypes[from], PACKED, 1, 1, N);
            const tern_strided spaced = laid_out(&b, dtypes[from], SPACED, 1, 1, N);
            const tern_strided y1 = laid_out(&y, dtypes[to], PACKED, 1, 1, N);
            const tern_strided y2 = laid_out(&packed, dtypes[to], PACKED, 1, 1, N);
            FOR_EACH_TABLE(kernels)
            {
                assert_int_equal(kernels->copy(&kernel_exec, &y1, &row), 0);
                assert_int_equal(kernels->copy(&kernel_exec, &y2, &spaced), 0);
                assert_memory_equal(&y, &packed, N * tern_dtype_size(dtypes[to]));
            }
        }
}

// ---- gathers and scatters -----------------------------------------------------------------------

enum { LIMIT = 7, BAD = 3 }; // places along dim, and indices that are no place of them

static int64_t indices[ROOM];

// Where element i of the index's sizes lies in a view that has other places along dim.
static int64_t place_along(const tern_strided *v, const tern_strided *index, int dim, int64_t i,
                           int64_t along)
{
    int64_t at = 0;
    for (int d = index->rank - 1; d >= 0; d--) {
        at += (d == dim ? along : i % index->size[d]) * v->stride[d];
        i /= index->size[d];
    }
    return at;
}

static void check_gather(const tern_kernels *kernels, tern_dtype dtype, const tern_strided *index,
                         const tern_strided *x, layout how_y, int dim)
{
    const tern_strided vy =
        laid_out(&y, dtype, how_y, (int)index->size[0], (int)index->size[1], (int)index->size[2]);
    assert_int_equal(kernels->gather(&kernel_exec, &vy, x, index, dim), 0);
    for (int64_t i = 0; i < tern_strided_numel(index); i++) {
        const int64_t along = indices[place_of(index, i)];
        const double expected =
            along < 0 || along >= LIMIT ? 0 : get(&a, dtype, place_along(x, index, dim, i, along));
        assert_within(get(&y, dtype, place_of(&vy, i)), expected, 0, kernels);
    }
}

// Adds one after another, in float where the dtype is: what is added is exact in none of them.
static void check_scatter(const tern_kernels *kernels, const tern_strided *index,
                          const tern_strided *sum, layout how_x, int dim)
{
    static float expected[ROOM];
    const tern_strided vx = laid_out(&b, TERN_FLOAT32, how_x, (int)index->size[0],
                                     (int)index->size[1], (int)index->size[2]);
    const size_t nbytes = (size_t)extent_of(sum) * sizeof(float);
    memset(&y, 0, nbytes);
    memset(expected, 0, nbytes);
    assert_int_equal(kernels->scatter_add(&kernel_exec, sum, &vx, index, dim, false), 0);
    for (int64_t i = 0; i < tern_strided_numel(index); i++) {
        const int64_t along = indices[place_of(index, i)];
        if (along >= 0 && along < LIMIT)
            expected[place_along(sum, index, dim, i, along)] += b.f[place_of(&vx, i)];
    }
    assert_memory_equal(y.f, expected, nbytes);
}

static void check_indexed(int matrices, int rows, int cols, int dim, layout of_index, layout other,
                          bool bad)
{
    int sizes[3] = {matrices, rows, cols};
    const tern_strided index =
        laid_out((cells *)(void *)indices, TERN_INT64, of_index, matrices, rows, cols);
    const int64_t numel = (int64_t)matrices * rows * cols;
    for (int64_t i = 0; i < extent_of(&index); i++)
        indices[i] = random_below(LIMIT);
    for (int i = 0; i < BAD && bad; i++)
        indices[place_of(&index, random_below((uint32_t)numel))] = i % 2 ? -1 : LIMIT;
    sizes[dim] = LIMIT;
    FOR_EACH_TABLE(kernels)
    {
        for (int t = 0; t < DTYPES; t += 1 + bad) {
            const tern_strided x = laid_out(&a, dtypes[t], other, sizes[0], sizes[1], sizes[2]);
            fill(&a, dtypes[t], extent_of(&x));
            check_gather(kernels, dtypes[t], &index, &x, other, dim);
        }
        const tern_strided sum = laid_out(&y, TERN_FLOAT32, other, sizes[0], sizes[1], sizes[2]);
        check_scatter(kernels, &index, &sum, other, dim);
        assert_int_equal(kernel_fault.set, bad);
        kernel_fault = (tern_fault){0};
    }
}

static void every_index_finds_its_place_in_rows_of_all_layouts(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1},    {1, 1, 300}, {2, 3, 17},  {4, 5, 64},
                                   {1, 140, 70}, {5, 40, 70}, {12, 30, 33}};
    static const layout indexed[] = {PACKED, GAPS, ONE_COLUMN, ONE_MATRIX, TRANSPOSED};
    const int threads = tern_num_threads();
    for (int i = 0; i < ROOM; i++)
        b.f[i] = (float)random_value();
    for (int count = 1; count <= 3; count += 2) {
        assert_int_equal(tern_set_num_threads(count), 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t k = 0; k < sizeof indexed / sizeof *indexed; k++)
                for (int dim = 0; dim < 3; dim++)
                    for (layout other = PACKED; other <= SPACED; other++)
                        check_indexed(sizes[i][0], sizes[i][1], sizes[i][2], dim, indexed[k], other,
                                      (i + k + other) % 2);
    }
    assert_int_equal(tern_set_num_threads(threads), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_layouts_meet_in_operations),
        cmocka_unit_test(many_short_rows_are_done_in_pieces),
        cmocka_unit_test(a_gradient_of_rows_of_all_layouts_is_that_of_each_element),
        cmocka_unit_test(two_gradients_of_rows_of_all_layouts_are_those_of_each_element),
        cmocka_unit_test(copies_of_all_layouts_have_every_element_in_its_place),
        cmocka_unit_test(casts_between_all_dtypes_keep_whole_numbers),
        cmocka_unit_test(casts_of_packed_and_spaced_rows_have_the_same_bits),
        cmocka_unit_test(every_index_finds_its_place_in_rows_of_all_layouts),
    };
    return cmocka_run_group_tests_name("layouts", tests, kernel_setup, NULL);
}
