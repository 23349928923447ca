// SPDX-License-Identifier: Apache-2.0
// Tensors that share memory, in each format: those that are the same view are tied, those that lie
// elsewhere in it or are seen otherwise are not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"

// Views of 0 to 15.
static const struct {
    const char *name;
    int64_t offset;
    tern_shape shape;
    bool transposed;
    int tied; // the first with the same elements in the same shape; itself: none before
    float first, second;
} views[] = {
    {"whole", 0, {1, {16}}, false, 0, 0, 1},
    {"head", 0, {1, {4}}, false, 1, 0, 1},
    {"middle", 4, {1, {4}}, false, 2, 4, 5},
    {"tail", 12, {1, {4}}, false, 3, 12, 13},
    {"middle_again", 4, {1, {4}}, false, 2, 4, 5},
    {"square", 4, {2, {2, 2}}, false, 5, 4, 5},
    {"transposed", 4, {2, {2, 2}}, true, 6, 4, 6},
    {"transposed_again", 4, {2, {2, 2}}, true, 6, 4, 6},
    {"next_square", 5, {2, {2, 2}}, false, 8, 5, 6},
    {"one", 15, {1, {1}}, false, 9, 15, 15},
    {"one_before", 14, {1, {1}}, false, 10, 14, 14},
};
enum { VIEWS = sizeof views / sizeof *views };

static tern_state *make_state(void)
{
    tern_state *state = tern_state_new();
    tern_tensor *all = tern_arange(0, 16, 1, .dtype = TERN_FLOAT32);
    for (int i = 0; i < VIEWS; i++) {
        const int64_t count = tern_shape_numel(views[i].shape);
        tern_tensor *t = tern_reshape(tern_narrow(all, 0, views[i].offset, count), views[i].shape);
        if (views[i].transposed)
            t = tern_transpose(t, 0, 1);
        assert_int_equal(tern_state_set_tensor(state, views[i].name, t), TERN_OK);
    }
    return state;
}

// Element `index` as the tensor counts them.
static double element(tern_tensor *t, int64_t index)
{
    return tern_item(tern_narrow(tern_reshape(t, tern_dims(-1)), 0, index, 1));
}

static void check(const char *file, bool knows_ties)
{
    const char *path = path_of(file);
    tern_state *state = make_state();
    assert_int_equal(tern_state_write(state, path), TERN_OK);
    tern_state_free(state);
    tern_state *read = tern_state_read(path);
    assert_non_null(read);
    for (int i = 0; i < VIEWS; i++) {
        tern_tensor *t = tern_state_tensor(read, views[i].name);
        const int64_t count = tern_numel(t);
        if (element(t, 0) != views[i].first || element(t, count > 1 ? 1 : 0) != views[i].second)
            fail_msg("%s: %s begins with %g", file, views[i].name, element(t, 0));
        for (int k = 0; k < i; k++) {
            const bool shared = tern_data(t) == tern_data(tern_state_tensor(read, views[k].name));
            assert_int_equal(shared, knows_ties && views[k].tied == views[i].tied);
        }
    }
    tern_state_free(read);
}

static void safetensors_ties_the_same_views_alone(void **state)
{
    (void)state;
    check("a.safetensors", true);
}

static void pytorchs_format_ties_the_same_views_alone(void **state)
{
    (void)state;
    check("a.pt", true);
}

static void npz_gives_each_its_own_elements(void **state)
{
    (void)state;
    check("a.npz", false);
}

static void a_safetensors_file_of_first_ones_ties_as_well(void **state)
{
    (void)state;
    const char *path = path_of("once.safetensors");
    tern_state *made = make_state();
    assert_int_equal(tern_state_write(made, path, .tied_once = true), TERN_OK);
    tern_state_free(made);
    tern_state *read = tern_state_read(path);
    assert_non_null(read);
    for (int i = 0; i < VIEWS; i++) {
        tern_tensor *t = tern_state_tensor(read, views[i].name);
        assert_true(element(t, 0) == views[i].first);
        assert_ptr_equal(tern_data(t),
                         tern_data(tern_state_tensor(read, views[views[i].tied].name)));
    }
    tern_state_free(read);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(safetensors_ties_the_same_views_alone),
        DATA_TEST(pytorchs_format_ties_the_same_views_alone),
        DATA_TEST(npz_gives_each_its_own_elements),
        DATA_TEST(a_safetensors_file_of_first_ones_ties_as_well),
    };
    return cmocka_run_group_tests_name("ties", tests, start_group, end_group);
}
