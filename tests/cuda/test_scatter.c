// SPDX-License-Identifier: Apache-2.0
// Kernels on a CUDA device that add by indices: the order of the sums, and bad indices.
#include "fault_check.h"
#include "mirror.h"

#include <math.h>

// y[.., index, ..] += x along dim, views of whole host arrays.
static void scatter_add(mirror *y, tern_strided yv, mirror *x, tern_strided xv, mirror *index,
                        tern_strided iv, int dim)
{
    const tern_strided to = there(y, yv), from = there(x, xv), at = there(index, iv);
    assert_int_equal(plugin.kernels->scatter_add(&exec, &to, &from, &at, dim, false), TERN_OK);
    mirror_end(y);
    mirror_end(x);
    mirror_end(index);
}

// Sizes that differ so much that another order gives another sum.
static float uneven(uint64_t *random)
{
    return ldexpf((float)random_below(random, 1 << 20) - (1 << 19), (int)random_below(random, 30));
}

// ---- the order ----------------------------------------------------------------------------------

static void a_long_list_is_added_in_its_order(void **state)
{
    (void)state;
    static float y[37], expected[37], x[5000];
    static int64_t index[5000];
    uint64_t random = 1;
    for (int i = 0; i < 5000; i++) {
        x[i] = uneven(&random);
        index[i] = random_below(&random, 37);
    }
    for (int i = 0; i < 37; i++)
        y[i] = expected[i] = uneven(&random);
    for (int i = 0; i < 5000; i++)
        expected[index[i]] += x[i];
    mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
    scatter_add(&my, VIEW(y, TERN_FLOAT32, 37), &mx, VIEW(x, TERN_FLOAT32, 5000), &mi,
                VIEW(index, TERN_INT64, 5000), 0);
    assert_memory_equal(y, expected, sizeof y);
    assert_int_equal(fault_now().set, 0);
}

// One index for a whole row, as index_select's gradient has it; rows of y lie apart.
static void rows_are_added_in_the_order_of_their_list(void **state)
{
    (void)state;
    static float y[11][9], expected[11][9], x[300][7];
    static int64_t index[300];
    uint64_t random = 2;
    for (int i = 0; i < 300; i++) {
        index[i] = random_below(&random, 11);
        for (int c = 0; c < 7; c++)
            x[i][c] = uneven(&random);
    }
    for (int i = 0; i < 300; i++)
        for (int c = 0; c < 7; c++)
            expected[index[i]][c] += x[i][c];
    mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
    tern_strided yv = VIEW(y, TERN_FLOAT32, 11, 7), iv = VIEW(index, TERN_INT64, 300, 7);
    yv.stride[0] = 9;
    iv.stride[0] = 1;
    iv.stride[1] = 0;
    scatter_add(&my, yv, &mx, VIEW(x, TERN_FLOAT32, 300, 7), &mi, iv, 0);
    assert_memory_equal(y, expected, sizeof y);
}

// Few places in each line, then many, of an index that differs everywhere.
static void lines_are_added_from_their_start(void **state)
{
    (void)state;
    static double y[6][50], expected[6][50], x[6][70];
    static int64_t index[6][70];
    uint64_t random = 3;
    for (int n = 5; n <= 70; n += 65) {
        memset(y, 0, sizeof y);
        memset(expected, 0, sizeof expected);
        for (int r = 0; r < 6; r++)
            for (int i = 0; i < n; i++) {
                x[r][i] = (double)uneven(&random) / 3;
                index[r][i] = random_below(&random, 4);
                expected[r][index[r][i]] += x[r][i];
            }
        mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
        tern_strided xv = VIEW(x, TERN_FLOAT64, 6, n), iv = VIEW(index, TERN_INT64, 6, n);
        xv.stride[0] = iv.stride[0] = 70;
        scatter_add(&my, VIEW(y, TERN_FLOAT64, 6, 50), &mx, xv, &mi, iv, 1);
        assert_memory_equal(y, expected, sizeof y);
    }
}

// 300 times 1 / 256 beside 1: bfloat16 would stay at 1, float gives 2.171875, bfloat16 2.171875.
static void bfloat16_is_summed_in_float_and_rounded_once(void **state)
{
    (void)state;
    static uint16_t y[4], x[300];
    static int64_t index[300];
    for (int length = 30; length <= 300; length += 270) {
        for (int i = 0; i < 4; i++)
            y[i] = 0x3f80;
        for (int i = 0; i < 300; i++)
            x[i] = 0x3b80; // 2^-8
        mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
        scatter_add(&my, VIEW(y, TERN_BFLOAT16, 4), &mx, VIEW(x, TERN_BFLOAT16, length), &mi,
                    VIEW(index, TERN_INT64, length), 0);
        assert_int_equal(y[0], length == 30 ? 0x3f8f : 0x400b); // 1.1171875, 2.171875
        assert_int_equal(y[1], 0x3f80);
    }
}

static void integers_wrap_around_and_truths_are_joined(void **state)
{
    (void)state;
    static uint8_t y[3] = {250, 0, 7}, x[64], truth[3] = {0, 0, 1}, truths[64];
    static int64_t index[64];
    for (int i = 0; i < 64; i++) {
        x[i] = (uint8_t)i;
        truths[i] = i == 63;
        index[i] = i % 2;
    }
    mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
    scatter_add(&my, VIEW(y, TERN_UINT8, 3), &mx, VIEW(x, TERN_UINT8, 64), &mi,
                VIEW(index, TERN_INT64, 64), 0);
    assert_int_equal(y[0], (250 + 992) % 256);
    assert_int_equal(y[1], 1024 % 256);
    assert_int_equal(y[2], 7);
    my = MIRROR(truth), mx = MIRROR(truths), mi = MIRROR(index);
    scatter_add(&my, VIEW(truth, TERN_BOOL, 3), &mx, VIEW(truths, TERN_BOOL, 64), &mi,
                VIEW(index, TERN_INT64, 64), 0);
    assert_int_equal(truth[0], 0);
    assert_int_equal(truth[1], 1);
    assert_int_equal(truth[2], 1);
}

// Of a line no two indices are the same; rows of x lie apart, and the last index is a bad one.
static void different_indices_are_added_side_by_side(void **state)
{
    (void)state;
    enum { ROWS = 3, Y = 40, X = 30 };
    static float y[ROWS][Y], expected[ROWS][Y], x[ROWS][X + 5];
    static int64_t index[ROWS][X];
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < X; i++) {
            x[r][i] = (float)(r + i);
            index[r][i] = (7 * i + r) % Y;
            y[r][i] = expected[r][i] = (float)i;
        }
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < X; i++)
            expected[r][index[r][i]] += x[r][i];
    expected[2][index[2][X - 1]] -= x[2][X - 1];
    index[2][X - 1] = Y;
    mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
    tern_strided xv = VIEW(x, TERN_FLOAT32, ROWS, X);
    xv.stride[0] = X + 5;
    const tern_strided to = there(&my, VIEW(y, TERN_FLOAT32, ROWS, Y)), from = there(&mx, xv);
    const tern_strided at = there(&mi, VIEW(index, TERN_INT64, ROWS, X));
    assert_int_equal(plugin.kernels->scatter_add(&exec, &to, &from, &at, 1, true), TERN_OK);
    mirror_end(&my);
    mirror_end(&mx);
    mirror_end(&mi);
    assert_memory_equal(y, expected, sizeof y);
    expect_fault(SITE, ROWS * X - 1, Y);
}

// ---- many equal indices -------------------------------------------------------------------------

#define PIECE  256   // sorted places that are summed before, where they go to one element,
#define JOINED 65536 // and so many again

// One after the other; where columns are few every 32nd by a lane, and lanes by halves.
static float sum_of_piece(const float *x, bool few_columns)
{
    float lane[32] = {0};
    const int lanes = few_columns ? 32 : 1;
    for (int n = 0; n < PIECE; n++)
        lane[n % lanes] = n < lanes ? x[n] : lane[n % lanes] + x[n];
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

// sum + the terms of a run that begins at a sorted place, in the order scatter_sorted.cuh states.
static float sum_of_run(float sum, const float *x, int begin, int count, bool few_columns)
{
    const int end = begin + count;
    for (int n = begin; n < end;) {
        const int step = n % JOINED == 0 && n + JOINED <= end ? JOINED
                         : n % PIECE == 0 && n + PIECE <= end ? PIECE
                                                              : 1;
        float term = step == 1 ? x[n - begin] : sum_of_piece(x + n - begin, few_columns);
        for (int k = PIECE; k < step; k += PIECE)
            term += sum_of_piece(x + n - begin + k, few_columns);
        sum += term;
        n += step;
    }
    return sum;
}

// How often each of the indices stands in the list: sorted, runs begin and end at pieces' bounds,
// and beside them.
static const int run_lengths[] = {100, 156, 256, 257, 511, 0, 1, 255, 300, 2000, 3};
enum { RUNS = sizeof run_lengths / sizeof *run_lengths, LIST = 3900, MOST_COLUMNS = 40 };

// All of them in a random order, and indices that are out of range.
static void make_list(int64_t *index, uint64_t *random)
{
    int at = 0;
    for (int run = 0; run < RUNS; run++)
        for (int i = 0; i < run_lengths[run]; i++)
            index[at++] = run;
    for (; at < LIST; at++)
        index[at] = at % 2 ? -1 : RUNS;
    for (int i = LIST - 1; i > 0; i--) {
        const uint32_t other = random_below(random, (uint32_t)i + 1);
        const int64_t taken = index[i];
        index[i] = index[other];
        index[other] = taken;
    }
}

static void expect_runs(float *y, const float *x, const tern_strided *xv, const int64_t *index)
{
    const int columns = (int)xv->size[1];
    static float terms[LIST];
    for (int run = 0, begin = 0; run < RUNS; begin += run_lengths[run++]) {
        for (int c = 0; c < columns; c++) {
            int count = 0;
            for (int i = 0; i < LIST; i++)
                if (index[i] == run)
                    terms[count++] = x[i * xv->stride[0] + c * xv->stride[1]];
            float *to = &y[run * columns + c];
            *to = sum_of_run(*to, terms, begin, count, columns < 32);
        }
    }
}

static void long_runs_of_equal_indices_are_added_piece_by_piece(void **state)
{
    (void)state;
    static float x[LIST * MOST_COLUMNS], y[RUNS * MOST_COLUMNS], expected[RUNS * MOST_COLUMNS];
    static int64_t index[LIST];
    const int widths[] = {1, 7, 7, MOST_COLUMNS, MOST_COLUMNS}; // every second x is transposed
    uint64_t random = 5;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        const int columns = widths[k];
        make_list(index, &random);
        for (int i = 0; i < LIST * columns; i++)
            x[i] = uneven(&random);
        for (int i = 0; i < RUNS * columns; i++)
            y[i] = expected[i] = uneven(&random);
        tern_strided xv = VIEW(x, TERN_FLOAT32, LIST, columns);
        if (k % 2 == 1) {
            xv.stride[0] = 1;
            xv.stride[1] = LIST;
        }
        expect_runs(expected, x, &xv, index);
        mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
        tern_strided iv = VIEW(index, TERN_INT64, LIST, columns);
        iv.stride[0] = 1;
        iv.stride[1] = 0;
        plugin.device->fault_clear(0);
        scatter_add(&my, VIEW(y, TERN_FLOAT32, RUNS, columns), &mx, xv, &mi, iv, 0);
        assert_memory_equal(y, expected, (size_t)(RUNS * columns) * sizeof *y);
        int bad = 0;
        while (index[bad] >= 0 && index[bad] < RUNS)
            bad++;
        expect_fault(SITE, bad, index[bad]);
    }
}

// As of an embedding whose tokens are nearly all padding; a few go elsewhere.
static void pieces_of_very_long_runs_are_joined(void **state)
{
    (void)state;
    enum { N = 70000 };
    static float x[N], terms[N];
    static int64_t index[N];
    float y[2] = {3, 5}, expected[2] = {3, 5};
    uint64_t random = 6;
    int count = 0;
    for (int i = 0; i < N; i++) {
        x[i] = uneven(&random);
        index[i] = i % 1000 == 999;
        if (index[i])
            expected[1] += x[i];
        else
            terms[count++] = x[i];
    }
    expected[0] = sum_of_run(expected[0], terms, 0, count, true);
    mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
    scatter_add(&my, VIEW(y, TERN_FLOAT32, 2), &mx, VIEW(x, TERN_FLOAT32, N), &mi,
                VIEW(index, TERN_INT64, N), 0);
    assert_memory_equal(y, expected, sizeof y);
}

// y[0] += x, 1000 elements of a dtype with one index for all.
static void add_all_to_one(void *y, int64_t nbytes, void *x, tern_dtype dtype)
{
    static int64_t index[1000];
    mirror my = mirror_of(y, nbytes), mx = mirror_of(x, 1000 * nbytes), mi = MIRROR(index);
    scatter_add(&my, VIEW(y, dtype, 1), &mx, VIEW(x, dtype, 1000), &mi,
                VIEW(index, TERN_INT64, 1000), 0);
}

static void elements_of_all_kinds_are_added_piece_by_piece(void **state)
{
    (void)state;
    static int64_t words[1000], word = 7;
    static uint16_t eighths[1000], one = 0x3f80;
    static uint8_t bytes[1000], byte = 3, truths[1000], truth;
    static float zeros[1000], zero = -0.0f;
    uint64_t total = 7;
    for (int i = 0; i < 1000; i++) {
        words[i] = INT64_MAX - i;
        total += (uint64_t)words[i];
        eighths[i] = 0x3e00; // 2^-3
        bytes[i] = 201;
        zeros[i] = -0.0f;
    }
    add_all_to_one(&word, sizeof word, words, TERN_INT64);
    assert_true((uint64_t)word == total);
    add_all_to_one(&one, sizeof one, eighths, TERN_BFLOAT16);
    assert_int_equal(one, 0x42fc); // 126; one by one bfloat16 would stay at 32
    add_all_to_one(&byte, sizeof byte, bytes, TERN_UINT8);
    assert_int_equal(byte, (3 + 201 * 1000) % 256);
    add_all_to_one(&zero, sizeof zero, zeros, TERN_FLOAT32);
    assert_true(zero == 0 && signbit(zero));
    add_all_to_one(&truth, sizeof truth, truths, TERN_BOOL);
    assert_int_equal(truth, 0);
    truths[300] = 1;
    add_all_to_one(&truth, sizeof truth, truths, TERN_BOOL);
    assert_int_equal(truth, 1);
}

// ---- what is out of range -----------------------------------------------------------------------

static void a_bad_index_adds_nothing_and_is_recorded(void **state)
{
    (void)state;
    for (int n = 20; n <= 200; n += 180) { // a line, and sorted
        static float y[3], x[200];
        static int64_t index[200];
        memset(y, 0, sizeof y);
        for (int i = 0; i < n; i++) {
            x[i] = 1;
            index[i] = i == n / 2 ? 3 : i == n - 1 ? -1 : 2;
        }
        mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
        plugin.device->fault_clear(0);
        scatter_add(&my, VIEW(y, TERN_FLOAT32, 3), &mx, VIEW(x, TERN_FLOAT32, n), &mi,
                    VIEW(index, TERN_INT64, n), 0);
        expect_fault(SITE, n / 2, 3);
        assert_true(y[0] == 0 && y[1] == 0 && y[2] == (float)(n - 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_long_list_is_added_in_its_order, clean_fault),
        cmocka_unit_test_setup(rows_are_added_in_the_order_of_their_list, clean_fault),
        cmocka_unit_test_setup(lines_are_added_from_their_start, clean_fault),
        cmocka_unit_test_setup(bfloat16_is_summed_in_float_and_rounded_once, clean_fault),
        cmocka_unit_test_setup(integers_wrap_around_and_truths_are_joined, clean_fault),
        cmocka_unit_test_setup(different_indices_are_added_side_by_side, clean_fault),
        cmocka_unit_test_setup(long_runs_of_equal_indices_are_added_piece_by_piece, clean_fault),
        cmocka_unit_test_setup(pieces_of_very_long_runs_are_joined, clean_fault),
        cmocka_unit_test_setup(elements_of_all_kinds_are_added_piece_by_piece, clean_fault),
        cmocka_unit_test_setup(a_bad_index_adds_nothing_and_is_recorded, clean_fault),
    };
    return cmocka_run_group_tests_name("scatter", tests, open_devices, NULL);
}
