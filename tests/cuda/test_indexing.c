// SPDX-License-Identifier: Apache-2.0
// Kernels on a CUDA device that read by indices, and what they report of bad ones.
#include "fault_check.h"
#include "mirror.h"

// ---- gather -------------------------------------------------------------------------------------

// x's rows have `stride` elements, the first `cols` of which are gathered.
static void gather_rows(int cols, int stride)
{
    static float x[9 * 33], y[20][32];
    static int64_t index[20];
    uint64_t random = 4;
    for (int i = 0; i < 9 * 33; i++)
        x[i] = (float)i;
    for (int i = 0; i < 20; i++)
        index[i] = random_below(&random, 9);
    mirror my = MIRROR(y), mx = MIRROR(x), mi = MIRROR(index);
    tern_strided xv = VIEW(x, TERN_FLOAT32, 9, cols), yv = VIEW(y, TERN_FLOAT32, 20, cols);
    tern_strided iv = VIEW(index, TERN_INT64, 20, cols);
    xv.stride[0] = stride;
    yv.stride[0] = 32;
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
            assert_true(y[i][c] == (float)(index[i] * stride + c));
}

// Rows of whole vectors, of an odd length, and that begin inside a vector.
static void rows_are_gathered_by_one_index_each(void **state)
{
    (void)state;
    gather_rows(32, 32);
    gather_rows(31, 32);
    gather_rows(32, 33);
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
    exec.location = SITE + 1;
    gather_from_five(y, first, 4);
    expect_fault(SITE, 2, 9);
    plugin.device->fault_clear(0);
    assert_int_equal(fault_now().set, 0);
    gather_from_five(y, first, 4);
    expect_fault(SITE + 1, 0, -3);
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
        cmocka_unit_test_setup(rows_are_gathered_by_one_index_each, clean_fault),
        cmocka_unit_test_setup(the_first_bad_index_is_recorded_and_reads_as_0, clean_fault),
        cmocka_unit_test_setup(the_first_site_stays, clean_fault),
        cmocka_unit_test_setup(a_bad_label_leaves_its_row_0, clean_fault),
    };
    return cmocka_run_group_tests_name("indexing", tests, open_devices, NULL);
}
