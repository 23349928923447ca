// SPDX-License-Identifier: Apache-2.0
// State dicts across devices, the random numbers of devices, and captures.
#include "device_check.h"

// small_net's weights and biases, all `value`.
static tern_state *filled(double value, tern_dtype dtype, tern_device device)
{
    tern_module *net = small_net();
    tern_state *own = tern_module_state_dict(net), *state = tern_state_new();
    for (int64_t i = 0; i < tern_state_count(own); i++) {
        const char *name = tern_state_name_at(own, i);
        tern_tensor *t = tern_full(tern_shape_of(tern_state_tensor(own, name)), value,
                                   .dtype = dtype, .device = device);
        assert_int_equal(tern_state_set_tensor(state, name, t), TERN_OK);
    }
    tern_state_free(own);
    tern_module_free(net);
    return state;
}

static void assert_filled(tern_module *net, double value, tern_device device)
{
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++) {
        tern_tensor *t = tern_module_parameter_at(net, i, NULL, 0);
        assert_true(is_on(t, device));
        assert_int_equal(tern_dtype_of(t), TERN_FLOAT32);
        for (int64_t k = 0; k < tern_numel(t); k++)
            assert_true(value_at(t, k) == value);
    }
}

static void load(tern_module *net, double value, tern_dtype dtype, tern_device device)
{
    tern_state *state = filled(value, dtype, device);
    assert_int_equal(tern_module_load_state_dict(net, state), TERN_OK);
    tern_state_free(state);
}

static void a_state_is_loaded_to_where_the_module_is(void **state)
{
    (void)state;
    tern_module *net = small_net();
    load(net, 1, TERN_FLOAT32, here);
    assert_filled(net, 1, tern_cpu(0));
    assert_non_null(tern_module_to(net, here));
    load(net, 2, TERN_FLOAT32, tern_cpu(0));
    assert_filled(net, 2, here);
    load(net, 0.5, TERN_BFLOAT16, tern_cpu(0));
    assert_filled(net, 0.5, here);
    load(net, 4, TERN_FLOAT64, here);
    assert_filled(net, 4, here);
    load(net, 3, TERN_FLOAT32, there);
    assert_filled(net, 3, here);
    tern_module_free(net);
}

static void a_copy_on_another_device_keeps_the_values_of_its_moment(void **unused)
{
    (void)unused;
    tern_module *net = small_net();
    load(net, 2, TERN_FLOAT32, here);
    tern_state *own = tern_module_state_dict(net), *copy = tern_state_copy(own, .device = here);
    load(net, 7, TERN_FLOAT32, tern_cpu(0));
    assert_true(is_on(tern_state_tensor(copy, "0.weight"), here));
    assert_int_equal(tern_module_load_state_dict(net, copy), TERN_OK);
    assert_filled(net, 2, tern_cpu(0));
    tern_state_free(own);
    tern_state_free(copy);
    tern_module_free(net);
}

static void a_load_that_does_not_fit_leaves_the_device_as_it_was(void **unused)
{
    (void)unused;
    tern_module *net = tern_module_to(small_net(), here);
    tern_state *state = filled(2, TERN_FLOAT32, tern_cpu(0));
    load(net, 1, TERN_FLOAT32, here);
    assert_int_equal(tern_state_set_tensor(state, "2.bias", tern_ones(tern_dims(4))), TERN_OK);
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_SHAPE, "\"2.bias\"");
    assert_filled(net, 1, here);
    tern_state_free(state);
    tern_module_free(net);
}

// The dropout of the device and a fill there.
static void draw(float *values)
{
    tern_tensor *x = tern_ones(tern_dims(32), .device = here);
    tern_tensor *y = tern_add(tern_dropout(x, 0.5, true), tern_rand(tern_dims(32), .device = here));
    assert_int_equal(tern_to_host(y, values, 32 * sizeof *values), TERN_OK);
}

static void random_numbers_of_the_device_go_on_where_they_were_saved(void **unused)
{
    (void)unused;
    float before[32], after[32], other[32];
    char name[64];
    snprintf(name, sizeof name, "generators.%s", tern_device_string(here));
    tern_manual_seed(5);
    draw(before);
    tern_state *state = tern_random_state_dict();
    assert_int_equal(tern_state_type_of(state, name), TERN_STATE_BYTES);
    draw(before);
    draw(other);
    assert_int_equal(tern_random_load_state_dict(state), TERN_OK);
    draw(after);
    assert_memory_equal(before, after, sizeof before);
    assert_memory_not_equal(before, other, sizeof before);
    assert_int_equal(tern_state_remove(state, name), TERN_OK);
    assert_status(tern_random_load_state_dict(state), TERN_ERR_ARG, "missing");
    tern_state_free(state);
}

static void loading_and_copying_are_refused_in_a_capture(void **unused)
{
    (void)unused;
    if (kind != TERN_CUDA)
        skip();
    tern_module *net = tern_module_to(small_net(), here);
    tern_state *state = filled(2, TERN_FLOAT32, here), *random = tern_random_state_dict();
    load(net, 1, TERN_FLOAT32, here);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_STATE,
                  "module_load_state_dict: not while cuda:0 is captured: replays would not load");
    assert_null_with(tern_state_copy(state), TERN_ERR_STATE,
                     "state_copy: not while cuda:0 is captured");
    assert_status(tern_random_load_state_dict(random), TERN_ERR_STATE,
                  "random_load_state_dict: not while cuda:0 is captured");
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_error_clear();
    assert_filled(net, 1, here);
    tern_state_free(random);
    tern_state_free(state);
    tern_module_free(net);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_state_is_loaded_to_where_the_module_is),
        CHECK_TEST(a_copy_on_another_device_keeps_the_values_of_its_moment),
        CHECK_TEST(a_load_that_does_not_fit_leaves_the_device_as_it_was),
        CHECK_TEST(random_numbers_of_the_device_go_on_where_they_were_saved),
        CHECK_TEST(loading_and_copying_are_refused_in_a_capture),
    };
    const int nothing = choose_devices(argc, argv);
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
