// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are not one after another are written piece by piece: right, and in no
// more memory than a piece, however large they are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "data/data_fixture.h"
#include "support/instrumented.h"

static const char *const endings[] = {"a.safetensors", "a.pt", "a.npz"};

// ---- elements -----------------------------------------------------------------------------------

// Shapes on both sides of a piece's 65,536 floats, and where pieces begin in an inner dimension.
static const tern_shape shapes[] = {
    {2, {3, 5}},        {2, {2, 70000}},    {2, {70000, 2}}, {3, {3, 300, 300}},
    {3, {2, 2, 66000}}, {3, {65537, 1, 2}}, {1, {1}},        {4, {2, 1, 3, 40000}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

// Axes the other way round, one row for all, some columns of more.
static tern_tensor *view_of(tern_shape shape, int kind)
{
    tern_shape wider = shape;
    tern_axis_list axes = {.count = shape.rank};
    if (kind == 0) {
        for (int i = 0; i < shape.rank; i++) {
            wider.dim[i] = shape.dim[shape.rank - 1 - i];
            axes.axis[i] = shape.rank - 1 - i;
        }
    } else if (kind == 1) {
        wider.dim[0] = 1;
    } else {
        wider.dim[shape.rank - 1] += 3;
    }
    tern_tensor *t = tern_arange(0, (double)tern_shape_numel(wider), 1, .dtype = TERN_FLOAT32);
    t = tern_reshape(t, wider);
    if (kind == 0)
        return tern_permute(t, axes);
    return kind == 1 ? tern_expand(t, shape)
                     : tern_narrow(t, shape.rank - 1, 2, shape.dim[shape.rank - 1]);
}

static float expected_at(tern_shape shape, int kind, const int64_t *at)
{
    int64_t index = 0;
    if (kind == 0)
        for (int i = shape.rank - 1; i >= 0; i--)
            index = index * shape.dim[i] + at[i];
    else
        for (int i = 0; i < shape.rank; i++)
            index = index * (shape.dim[i] + (kind == 2 && i == shape.rank - 1 ? 3 : 0)) +
                    (kind == 1 && i == 0 ? 0 : at[i]);
    return (float)(kind == 2 ? index + 2 : index);
}

static void check_elements(tern_tensor *t, tern_shape shape, int kind)
{
    const float *data = tern_data(t);
    assert_true(tern_shape_equal(tern_shape_of(t), shape));
    for (int64_t i = 0; i < tern_numel(t); i++) {
        int64_t at[TERN_MAX_RANK], rest = i;
        for (int k = shape.rank - 1; k >= 0; rest /= shape.dim[k], k--)
            at[k] = rest % shape.dim[k];
        if (data[i] != expected_at(shape, kind, at))
            fail_msg("kind %d, rank %d: element %lld is %g, not %g", kind, shape.rank, (long long)i,
                     data[i], expected_at(shape, kind, at));
    }
}

static void each_view_is_written_element_by_element(void **state)
{
    (void)state;
    for (int e = 0; e < 3; e++)
        for (int kind = 0; kind < 3; kind++) {
            tern_state *made = tern_state_new();
            for (int s = 0; s < SHAPES; s++) {
                char name[16];
                snprintf(name, sizeof name, "t%d", s);
                assert_int_equal(tern_state_set_tensor(made, name, view_of(shapes[s], kind)),
                                 TERN_OK);
            }
            const char *path = path_of(endings[e]);
            assert_int_equal(tern_state_write(made, path), TERN_OK);
            assert_int_equal(tern_state_verify(path), TERN_OK);
            tern_state_free(made);
            tern_state *read = tern_state_read(path);
            for (int s = 0; s < SHAPES; s++) {
                char name[16];
                snprintf(name, sizeof name, "t%d", s);
                check_elements(tern_state_tensor(read, name), shapes[s], kind);
            }
            tern_state_free(read);
        }
}

static void one_tensor_of_npy_is_written_so_as_well(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tern_state *made = tern_state_new();
        assert_int_equal(tern_state_set_tensor(made, "t", view_of(shapes[3], kind)), TERN_OK);
        assert_int_equal(tern_state_write(made, path_of("a.npy")), TERN_OK);
        tern_state_free(made);
        tern_state *read = tern_state_read(path_of("a.npy"));
        check_elements(tern_state_tensor(read, "array"), shapes[3], kind);
        tern_state_free(read);
    }
}

// ---- memory -------------------------------------------------------------------------------------

// The most resident memory of the process since it was last cleared, in bytes.
static int64_t peak_of_process(bool clear)
{
    char line[128];
    long long kilobytes = -1;
    if (clear) {
        FILE *file = fopen("/proc/self/clear_refs", "w");
        assert_non_null(file);
        fputs("5", file);
        fclose(file);
    }
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %lld", &kilobytes) != 1)
        ;
    fclose(file);
    assert_true(kilobytes > 0);
    return kilobytes * 1024;
}

enum { EXPANDED = 50, ROWS = 512, COLUMNS = 512 }; // 50 MiB, and one of 16 MiB

static void fifty_expanded_tensors_take_the_memory_of_a_piece(void **state)
{
    (void)state;
    tern_state *made = tern_state_new();
    for (int i = 0; i < EXPANDED; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        tern_tensor *row = tern_full(tern_dims(1, COLUMNS), i);
        assert_int_equal(
            tern_state_set_tensor(made, name, tern_expand(row, tern_dims(ROWS, COLUMNS))), TERN_OK);
    }
    tern_tensor *wide =
        tern_expand(tern_ones(tern_dims(1, COLUMNS)), tern_dims(16 * ROWS, COLUMNS));
    assert_int_equal(tern_state_set_tensor(made, "large", wide), TERN_OK);
    for (int e = 0; e < 3; e++) {
        const char *path = path_of(endings[e]);
        struct stat facts;
        const int64_t before = peak_of_process(true);
        assert_int_equal(tern_state_write(made, path), TERN_OK);
        const int64_t taken = peak_of_process(false) - before;
        assert_int_equal(stat(path, &facts), 0);
        assert_true(facts.st_size > (int64_t)EXPANDED * ROWS * COLUMNS * 4);
        if (taken > 4 << 20 && !INSTRUMENTED) // which keeps what was freed
            fail_msg("%s: %lld bytes of memory for %lld of the file", endings[e], (long long)taken,
                     (long long)facts.st_size);
    }
    tern_state_free(made);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_view_is_written_element_by_element),
        DATA_TEST(one_tensor_of_npy_is_written_so_as_well),
        DATA_TEST(fifty_expanded_tensors_take_the_memory_of_a_piece),
    };
    return cmocka_run_group_tests_name("write_expanded", tests, start_group, end_group);
}
