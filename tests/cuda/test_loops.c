// SPDX-License-Identifier: Apache-2.0
// Copies on a CUDA device between views of all kinds: what every elementwise kernel's loop does.
#include "mirror.h"

#define ROOM 60000

static uint8_t from[ROOM], to[ROOM], expected[ROOM];

static const tern_dtype of_size[] = {TERN_UINT8, TERN_FLOAT16, TERN_FLOAT32, TERN_INT64};

// Element by element, by bytes.
static void copy_on_host(const tern_strided *y, const tern_strided *x)
{
    const size_t size = tern_dtype_size(y->dtype);
    const int64_t numel = tern_strided_numel(y);
    for (int64_t i = 0; i < numel; i++) {
        int64_t rest = i, y_at = 0, x_at = 0;
        for (int d = y->rank - 1; d >= 0; d--) {
            y_at += rest % y->size[d] * y->stride[d];
            x_at += rest % y->size[d] * x->stride[d];
            rest /= y->size[d];
        }
        memcpy(expected + ((char *)y->data - (char *)to) + y_at * (int64_t)size,
               (char *)x->data + x_at * (int64_t)size, size);
    }
}

// Nothing but the elements of y may change.
static void check_copy(const tern_strided *y, const tern_strided *x)
{
    const tern_exec exec = exec_of(0);
    for (int i = 0; i < ROOM; i++) {
        from[i] = (uint8_t)(i * 7 + i / 251);
        to[i] = expected[i] = 0xee;
    }
    copy_on_host(y, x);
    mirror my = MIRROR(to), mx = MIRROR(from);
    const tern_strided out = there(&my, *y), in = there(&mx, *x);
    assert_int_equal(plugin.kernels->copy(&exec, &out, &in), TERN_OK);
    mirror_end(&my);
    mirror_end(&mx);
    assert_memory_equal(to, expected, ROOM);
}

static void *element(void *data, tern_dtype dtype, int64_t i)
{
    return (uint8_t *)data + i * (int64_t)tern_dtype_size(dtype);
}

static void flat_views_of_every_length_and_alignment(void **state)
{
    (void)state;
    const int64_t lengths[] = {0, 1, 3, 16, 255, 1000, 4099};
    for (int k = 0; k < 4 * 7 * 3; k++) {
        const tern_dtype dtype = of_size[k % 4];
        const int64_t n = lengths[k / 4 % 7], shift = k / 28;
        const tern_strided y = VIEW(element(to, dtype, shift), dtype, n);
        const tern_strided x = VIEW(element(from, dtype, shift == 2 ? 1 : shift), dtype, n);
        check_copy(&y, &x);
    }
}

// Rows of vectors, odd rows, rows that are one value, one row again and again.
static void rows_of_a_larger_array(void **state)
{
    (void)state;
    const int64_t cols[] = {16, 15, 48};
    for (int k = 0; k < 4 * 3 * 4; k++) {
        const tern_dtype dtype = of_size[k % 4];
        tern_strided y = VIEW(to, dtype, 5, 9, cols[k / 4 % 3]);
        tern_strided x = VIEW(from, dtype, 5, 9, cols[k / 4 % 3]);
        const int way = k / 12;
        if (way == 0)
            y.stride[1] = 48, y.stride[0] = 9 * 48;
        if (way == 1)
            x.stride[1] = 48, x.stride[0] = 0;
        if (way == 2)
            x.stride[2] = 0;
        if (way == 3)
            x.stride[1] = 49, x.stride[0] = 9 * 49;
        check_copy(&y, &x);
    }
}

// Without elements there is no tile either.
static void an_empty_transpose_copies_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 4 * 4; k++) {
        const tern_dtype dtype = of_size[k % 4];
        int64_t size[] = {8, 3, 5, 6};
        size[k / 4] = 0;
        const tern_strided y = VIEW(to, dtype, size[0], size[1], size[2], size[3]);
        tern_strided x = y;
        x.data = from;
        x.stride[2] = 1, x.stride[3] = 16;
        check_copy(&y, &x);
    }
}

static void transposes_of_whole_and_of_cut_tiles(void **state)
{
    (void)state;
    const int64_t sizes[][2] = {{32, 64}, {33, 31}, {5, 70}, {100, 4}};
    for (int k = 0; k < 4 * 4; k++) {
        const tern_dtype dtype = of_size[k % 4];
        const int64_t rows = sizes[k / 4][0], cols = sizes[k / 4][1];
        const tern_strided y = VIEW(to, dtype, 3, rows, cols);
        tern_strided x = VIEW(from, dtype, 3, rows, cols);
        x.stride[1] = 1;
        x.stride[2] = rows;
        check_copy(&y, &x);
    }
}

// As many dimensions as there can be, none of which joins another.
static void dimensions_in_any_order(void **state)
{
    (void)state;
    const int64_t sizes[TERN_MAX_RANK] = {2, 3, 1, 4, 2, 5, 3, 2};
    uint64_t random = 1;
    for (int round = 0; round < 20; round++) {
        tern_strided y = {to, TERN_FLOAT32, TERN_MAX_RANK, {0}, {0}}, x = y;
        int order[TERN_MAX_RANK];
        x.data = from;
        for (int d = 0; d < TERN_MAX_RANK; d++) {
            const int other = (int)random_below(&random, (uint32_t)d + 1);
            y.size[d] = x.size[d] = sizes[d];
            order[d] = order[other];
            order[other] = d;
        }
        int64_t stride = 1;
        for (int i = 0; i < TERN_MAX_RANK; i++) {
            y.stride[order[i]] = stride;
            stride *= sizes[order[i]];
        }
        for (int i = TERN_MAX_RANK - 1, left = 1; i >= 0; i--) {
            x.stride[order[i]] = left;
            left *= (int)sizes[order[i]];
        }
        check_copy(&y, &x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_views_of_every_length_and_alignment),
        cmocka_unit_test(rows_of_a_larger_array),
        cmocka_unit_test(an_empty_transpose_copies_nothing),
        cmocka_unit_test(transposes_of_whole_and_of_cut_tiles),
        cmocka_unit_test(dimensions_in_any_order),
    };
    return cmocka_run_group_tests_name("loops", tests, open_devices, NULL);
}
