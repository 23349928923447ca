// SPDX-License-Identifier: Apache-2.0
// Kernels on a CUDA device that read and add by indices, and what they report of bad ones.
#include "mirror.h"

#include <math.h>

#define SITE 5

static tern_exec exec;

static int clean_fault(void **state)
{
    (void)state;
    plugin.device->fault_clear(0);
    exec = exec_of(0);
    exec.site = SITE;
    return 0;
}

static tern_fault fault_now(void)
{
    tern_fault fault;
    assert_int_equal(plugin.device->fault_read(0, &fault), TERN_OK);
    return fault;
}

static void expect_fault(uint32_t site, int64_t element, int64_t value)
{
    const tern_fault fault = fault_now();
    assert_int_equal(fault.set, 1);
    assert_int_equal(fault.site, site);
    assert_int_equal(fault.element, element);
    assert_int_equal(fault.value, value);
}

// y[.., index, ..] += x along dim, views of whole host arrays.
static void scatter_add(mirror *y, tern_strided yv, mirror *x, tern_strided xv, mirror *index,
                        tern_strided iv, int dim)
{
    const tern_strided to = there(y, yv), from = there(x, xv), at = there(index, iv);
    assert_int_equal(plugin.kernels->scatter_add(&exec, &to, &from, &at, dim), TERN_OK);
    mirror_end(y);
    mirror_end(x);
    mirror_end(index);
}

// Sizes that differ so much that another order gives another sum.
static float uneven(uint64_t *random)
{
    return ldexpf((float)random_below(random, 1 << 20) - (1 << 19), (int)random_below(random, 30));
}

// ---- scatter_add --------------------------------------------------------------------------------

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

// ---- gather -------------------------------------------------------------------------------------

// Rows of whole packs, and of an odd length.
static void rows_are_gathered_by_one_index_each(void **state)
{
    (void)state;
    static float x[9][32], y[20][32];
    static int64_t index[20];
    uint64_t random = 4;
    for (int cols = 32; cols >= 31; cols--) {
        for (int i = 0; i < 9 * 32; i++)
            x[i / 32][i % 32] = (float)i;
        for (int i = 0; i < 20; i++)
            index[i] = random_below(&random, 9);
        mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
        tern_strided xv = VIEW(x, TERN_FLOAT32, 9, cols), yv = VIEW(y, TERN_FLOAT32, 20, cols);
        tern_strided iv = VIEW(index, TERN_INT64, 20, cols);
        xv.stride[0] = yv.stride[0] = 32;
        iv.stride[0] = 1;
        iv.stride[1] = 0;
        xv = there(&mx, xv);
        yv = there(&my, yv);
        iv = there(&mi, iv);
        assert_int_equal(plugin.kernels->gather(&exec, &yv, &xv, &iv, 0), TERN_OK);
        mirror_end(&my);
        mirror_end(&mx);
        mirror_end(&mi);
        for (int i = 0; i < 20; i++)
            for (int c = 0; c < cols; c++)
                assert_true(y[i][c] == (float)(index[i] * 32 + c));
    }
}

// ---- what is out of range -----------------------------------------------------------------------

static void gather_from_five(float *y, int64_t *index, int64_t n)
{
    static float x[5] = {1, 2, 3, 4, 5};
    mirror my = mirror_of(y, n * 4), mx = MIRROR(x), mi = mirror_of(index, n * 8);
    const tern_strided to = there(&my, VIEW(y, TERN_FLOAT32, n));
    const tern_strided from = there(&mx, VIEW(x, TERN_FLOAT32, 5));
    const tern_strided at = there(&mi, VIEW(index, TERN_INT64, n));
    assert_int_equal(plugin.kernels->gather(&exec, &to, &from, &at, 0), TERN_OK);
    mirror_end(&my);
    mirror_end(&mx);
    mirror_end(&mi);
}

static void the_first_bad_index_is_recorded_and_reads_as_0(void **state)
{
    (void)state;
    static float y[3000];
    static int64_t index[3000];
    for (int i = 0; i < 3000; i++)
        index[i] = i % 5;
    for (int i = 1234; i < 3000; i += 7)
        index[i] = i % 2 ? -i : i;
    gather_from_five(y, index, 3000);
    expect_fault(SITE, 1234, 1234);
    for (int i = 0; i < 3000; i++)
        assert_true(y[i] == (index[i] < 0 || index[i] >= 5 ? 0 : (float)(i % 5 + 1)));
}

static void the_first_site_stays(void **state)
{
    (void)state;
    float y[4];
    int64_t third[4] = {0, 1, 9, 0}, first[4] = {-3, 0, 0, 0};
    gather_from_five(y, third, 4);
    exec.site = SITE + 1;
    gather_from_five(y, first, 4);
    expect_fault(SITE, 2, 9);
    plugin.device->fault_clear(0);
    assert_int_equal(fault_now().set, 0);
    gather_from_five(y, first, 4);
    expect_fault(SITE + 1, 0, -3);
}

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

static void a_bad_label_leaves_its_row_0(void **state)
{
    (void)state;
    int64_t y[4][3], labels[4] = {2, 3, 0, -1};
    const int64_t expected[4][3] = {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    mirror my = MIRROR(y), ml = MIRROR(labels);
    const tern_strided to = there(&my, VIEW(y, TERN_INT64, 4, 3));
    const tern_strided from = there(&ml, VIEW(labels, TERN_INT64, 4));
    assert_int_equal(plugin.kernels->one_hot(&exec, &to, &from), TERN_OK);
    mirror_end(&my);
    mirror_end(&ml);
    assert_memory_equal(y, expected, sizeof y);
    expect_fault(SITE, 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_long_list_is_added_in_its_order, clean_fault),
        cmocka_unit_test_setup(rows_are_added_in_the_order_of_their_list, clean_fault),
        cmocka_unit_test_setup(lines_are_added_from_their_start, clean_fault),
        cmocka_unit_test_setup(bfloat16_is_summed_in_float_and_rounded_once, clean_fault),
        cmocka_unit_test_setup(integers_wrap_around_and_truths_are_joined, clean_fault),
        cmocka_unit_test_setup(rows_are_gathered_by_one_index_each, clean_fault),
        cmocka_unit_test_setup(the_first_bad_index_is_recorded_and_reads_as_0, clean_fault),
        cmocka_unit_test_setup(the_first_site_stays, clean_fault),
        cmocka_unit_test_setup(a_bad_index_adds_nothing_and_is_recorded, clean_fault),
        cmocka_unit_test_setup(a_bad_label_leaves_its_row_0, clean_fault),
    };
    return cmocka_run_group_tests_name("indexing", tests, open_devices, NULL);
}
