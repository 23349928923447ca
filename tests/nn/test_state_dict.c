// SPDX-License-Identifier: Apache-2.0
// State dicts of modules: what is in them, and loading them. Two CPU devices stand for two devices.
// The allocator is the test's own, so that it can fail.
#include "support/memory_hook.h"
#include "support/tensor_check.h"

static tern_status call_nothing(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    *out = *in;
    return TERN_OK;
}

static const tern_module_class box_class = {
    .name = "Box", .size = sizeof(tern_module), .call = call_nothing};

// One parameter or buffer of a name.
static tern_module *holder_new(const char *name, tern_tensor *t, bool is_parameter)
{
    tern_module *m = tern_module_new(&box_class);
    if (is_parameter)
        (void)tern_module_add_parameter(m, name, NULL, t);
    else
        (void)tern_module_add_buffer(m, name, NULL, t, true);
    return tern_module_done(m);
}

static tern_module *pair_new(double value)
{
    tern_module *m = tern_module_new(&box_class);
    (void)tern_module_add_parameter(m, "weight", NULL, tern_full(tern_dims(3, 2), value));
    (void)tern_module_add_parameter(m, "bias", NULL, tern_full(tern_dims(3), value));
    return tern_module_done(m);
}

static tern_tensor *param(tern_module *m, const char *name)
{
    return tern_module_parameter(m, name);
}

// ---- what is in one -----------------------------------------------------------------------------

static tern_module *mixed_new(tern_module *inner)
{
    tern_module *m = tern_module_new(&box_class);
    (void)tern_module_add_child(m, "inner", NULL, inner);
    (void)tern_module_add_buffer(m, "mean", NULL, tern_zeros(tern_dims(2)), true);
    (void)tern_module_add_parameter(m, "scale", NULL, tern_ones(tern_dims(3)));
    (void)tern_module_add_buffer(m, "cache", NULL, tern_zeros(tern_dims(4)), false);
    (void)tern_module_add_buffer(m, "count", NULL, tern_full(tern_dims(), 7, .dtype = TERN_INT64),
                                 true);
    return tern_module_done(m);
}

// What PyTorch 2.15 prints for the same net:
//
//     class Box(nn.Module):
//         def __init__(self, inner):
//             super().__init__()
//             self.inner = inner
//             self.register_buffer('mean', torch.zeros(2))
//             self.scale = nn.Parameter(torch.ones(3))
//             self.register_buffer('cache', torch.zeros(4), persistent=False)
//             self.register_buffer('count', torch.tensor(7))
//     shared = nn.Linear(2, 2)
//     net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(),
//                         Box(nn.Sequential(nn.Linear(2, 2, bias=False), shared)),
//                         nn.ModuleList([shared, nn.CrossEntropyLoss(torch.ones(4))]))
//     for name, t in net.state_dict().items():
//         print(name, tuple(t.shape), str(t.dtype)[6:])
static const char *const pytorch_says[] = {"0.weight (2, 3) float32",
                                           "0.bias (2,) float32",
                                           "2.scale (3,) float32",
                                           "2.mean (2,) float32",
                                           "2.count () int64",
                                           "2.inner.0.weight (2, 2) float32",
                                           "2.inner.1.weight (2, 2) float32",
                                           "2.inner.1.bias (2,) float32",
                                           "3.0.weight (2, 2) float32",
                                           "3.0.bias (2,) float32",
                                           "3.1.weight (4,) float32"};

// As Python prints a tuple.
static void print_shape(char *text, size_t size, tern_shape shape)
{
    size_t length = (size_t)snprintf(text, size, "(");
    for (int i = 0; i < shape.rank; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%lld", i ? ", " : "",
                                   (long long)shape.dim[i]);
    snprintf(text + length, size - length, shape.rank == 1 ? ",)" : ")");
}

static void names_and_their_order_are_pytorchs(void **unused)
{
    (void)unused;
    tern_module *shared = tern_nn_linear(2, 2);
    tern_module *loss = tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(4)));
    tern_module *inner =
        tern_nn_sequential(tern_nn_linear(2, 2, .bias = false), tern_module_retain(shared));
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 2), tern_nn_relu(), mixed_new(inner),
                                          tern_nn_module_list(shared, loss));
    tern_state *state = tern_module_state_dict(net);
    const int64_t count = (int64_t)(sizeof pytorch_says / sizeof *pytorch_says);
    assert_int_equal(tern_state_count(state), count);
    for (int64_t i = 0; i < count; i++) {
        char shape[64], line[128];
        const char *name = tern_state_name_at(state, i);
        tern_tensor *t = tern_state_tensor(state, name);
        print_shape(shape, sizeof shape, tern_shape_of(t));
        snprintf(line, sizeof line, "%s %s %s", name, shape, tern_dtype_name(tern_dtype_of(t)));
        assert_string_equal(line, pytorch_says[i]);
    }
    assert_ptr_equal(tern_state_tensor(state, "0.weight"), param(net, "0.weight"));
    assert_ptr_equal(tern_state_tensor(state, "3.0.bias"), param(net, "2.inner.1.bias"));
    tern_state_free(state);
    tern_module_free(net);
}

static void a_module_without_tensors_has_an_empty_state(void **unused)
{
    (void)unused;
    tern_module *m = tern_nn_relu();
    tern_state *state = tern_module_state_dict(m);
    assert_int_equal(tern_state_count(state), 0);
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    tern_state_free(state);
    tern_module_free(m);
}

// ---- loading ------------------------------------------------------------------------------------

static const struct dtype_case {
    tern_dtype dtype;
    unsigned char bytes[16]; // two elements
} dtype_cases[] = {
    {TERN_FLOAT32, {1, 0, 0xc0, 0x7f, 0, 0, 0, 0x80}}, // a NaN with a payload, -0
    {TERN_FLOAT64, {1, 0, 0, 0, 0, 0, 0xf8, 0x7f, 1, 0, 0, 0, 0, 0, 0, 0}}, // and a subnormal
    {TERN_FLOAT16, {0x01, 0x7e, 0xff, 0x7b}},
    {TERN_BFLOAT16, {0xc1, 0x7f, 0x7f, 0x7f}},
    {TERN_INT64, {1, 2, 3, 4, 5, 6, 7, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
    {TERN_INT32, {1, 2, 3, 0x84, 0xff, 0xff, 0xff, 0x7f}},
    {TERN_UINT8, {0, 255}},
    {TERN_BOOL, {1, 0}},
};

static void every_dtype_comes_back_bit_for_bit(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof dtype_cases / sizeof *dtype_cases; i++) {
        const struct dtype_case *each = &dtype_cases[i];
        const size_t nbytes = 2 * tern_dtype_size(each->dtype);
        const void *data = each->bytes;
        tern_module *a =
            holder_new("t", tern_from_data(tern_dims(2), data, .dtype = each->dtype), false);
        tern_module *b = holder_new("t", tern_zeros(tern_dims(2), .dtype = each->dtype), false);
        tern_state *state = tern_module_state_dict(a);
        tern_tensor *t = tern_module_buffer(b, "t");
        assert_int_equal(tern_module_load_state_dict(b, state), TERN_OK);
        assert_memory_equal(tern_data(t), data, nbytes);
        tern_state_free(state);
        tern_module_free(a);
        tern_module_free(b);
    }
}

// A state of one tensor.
static tern_state *state_with(const char *name, tern_tensor *t)
{
    tern_state *state = tern_state_new();
    assert_int_equal(tern_state_set_tensor(state, name, t), TERN_OK);
    return state;
}

static void floating_dtypes_are_converted(void **unused)
{
    (void)unused;
    tern_module *m = holder_new("w", tern_zeros(tern_dims(2)), true);
    tern_state *state =
        state_with("w", tern_from_data(tern_dims(2), ((const double[]){0.1, 1e300})));
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    assert_tensor(param(m, "w"), tern_dims(2), (double)0.1f, INFINITY);
    assert_true(tern_requires_grad(param(m, "w")));
    tern_state_free(state);
    tern_module_free(m);
}

// .convert = false, then true.
static void check_conversion(tern_dtype from, tern_dtype to, bool with_convert)
{
    tern_module *m = holder_new("t", tern_zeros(tern_dims(2), .dtype = to), false);
    tern_state *state = state_with("t", tern_ones(tern_dims(2), .dtype = from));
    assert_status(tern_module_load_state_dict(m, state), TERN_ERR_DTYPE,
                  with_convert ? "the dtypes differ: load it with .convert = true; mismatched 1: "
                               : "module_load_state_dict: mismatched 1: ");
    assert_int_equal(tern_module_load_state_dict(m, state, .convert = true),
                     with_convert ? TERN_OK : TERN_ERR_DTYPE);
    tern_error_clear();
    const double expected = with_convert ? 1 : 0;
    assert_tensor(tern_module_buffer(m, "t"), tern_dims(2), expected, expected);
    tern_state_free(state);
    tern_module_free(m);
}

static void integers_are_converted_where_that_is_asked_for_and_exact(void **unused)
{
    (void)unused;
    check_conversion(TERN_INT64, TERN_FLOAT32, true);
    check_conversion(TERN_BOOL, TERN_BFLOAT16, true);
    check_conversion(TERN_INT32, TERN_INT64, true);
    check_conversion(TERN_BOOL, TERN_UINT8, true);
    check_conversion(TERN_INT64, TERN_INT32, false);
    check_conversion(TERN_UINT8, TERN_BOOL, false);
    check_conversion(TERN_FLOAT32, TERN_INT64, false);
}

static void a_scalar_does_not_fit_one_element(void **unused)
{
    (void)unused;
    tern_module *m = holder_new("t", tern_zeros(tern_dims(1)), true);
    tern_state *state = state_with("t", tern_ones(tern_dims()));
    assert_sentence(tern_module_load_state_dict(m, state), TERN_ERR_SHAPE,
                    "module_load_state_dict: mismatched 1: \"t\" is float32 () in the state and "
                    "float32 (1,) here");
    tern_state_free(state);
    tern_module_free(m);
}

static void a_state_of_another_device_is_loaded(void **unused)
{
    (void)unused;
    tern_module *here = pair_new(1), *there = pair_new(2);
    assert_non_null(tern_module_to(there, tern_cpu(1)));
    tern_state *state = tern_module_state_dict(there);
    assert_int_equal(tern_module_load_state_dict(here, state), TERN_OK);
    assert_tensor(param(here, "bias"), tern_dims(3), 2, 2, 2);
    assert_true(tern_device_equal(tern_device_of(param(here, "bias")), tern_cpu(0)));
    assert_non_null(tern_module_to(here, tern_cpu(1)));
    tern_state *converted = state_with("bias", tern_full(tern_dims(3), 5, .dtype = TERN_FLOAT64));
    assert_int_equal(tern_module_load_state_dict(here, converted, .strict = false), TERN_OK);
    assert_tensor(param(here, "bias"), tern_dims(3), 5, 5, 5);
    assert_true(tern_device_equal(tern_device_of(param(here, "bias")), tern_cpu(1)));
    assert_int_equal(tern_dtype_of(param(here, "bias")), TERN_FLOAT32);
    tern_state_free(converted);
    tern_state_free(state);
    tern_module_free(here);
    tern_module_free(there);
}

static void a_graph_that_needs_the_old_values_notices(void **unused)
{
    (void)unused;
    tern_module *m = pair_new(2);
    tern_state *own = tern_module_state_dict(m), *state = tern_state_copy(own);
    tern_tensor *x = tern_full(tern_dims(3), 3, .requires_grad = true);
    tern_tensor *y = tern_sum(tern_mul(x, param(m, "bias")), TERN_ALL_AXES, false);
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    assert_status(tern_backward(y), TERN_ERR_STATE, "changed in place");
    tern_state_free(own);
    tern_state_free(state);
    tern_module_free(m);
}

static void gradients_stay_and_nothing_is_recorded(void **unused)
{
    (void)unused;
    tern_module *m = pair_new(2), *other = pair_new(4);
    assert_int_equal(tern_backward(tern_sum(param(m, "bias"), TERN_ALL_AXES, false)), TERN_OK);
    tern_state *state = tern_module_state_dict(other);
    tern_tensor *bias = param(m, "bias");
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    assert_tensor(tern_grad(bias), tern_dims(3), 1, 1, 1);
    assert_true(tern_is_leaf(bias) && tern_requires_grad(bias));
    tern_state_free(state);
    tern_module_free(m);
    tern_module_free(other);
}

static void the_last_name_of_a_tied_tensor_wins(void **unused)
{
    (void)unused;
    tern_tensor *tied = tern_zeros(tern_dims(1));
    tern_module *net = tern_nn_sequential(holder_new("w", tied, true), holder_new("w", tied, true));
    tern_state *state = state_with("0.w", tern_full(tern_dims(1), 1));
    assert_int_equal(tern_state_set_tensor(state, "1.w", tern_full(tern_dims(1), 2)), TERN_OK);
    assert_int_equal(tern_module_load_state_dict(net, state), TERN_OK);
    assert_tensor(tied, tern_dims(1), 2);
    tern_state_free(state);
    tern_module_free(net);
}

static void tensors_of_the_module_itself_may_change_places(void **unused)
{
    (void)unused;
    tern_module *net = tern_nn_sequential(pair_new(1), pair_new(2));
    tern_state *state = tern_module_state_dict(net);
    assert_int_equal(tern_module_load_state_dict(net, state), TERN_OK);
    assert_tensor(param(net, "0.bias"), tern_dims(3), 1, 1, 1);
    assert_int_equal(tern_state_set_tensor(state, "0.bias", param(net, "1.bias")), TERN_OK);
    assert_int_equal(tern_state_set_tensor(state, "1.bias", param(net, "0.bias")), TERN_OK);
    assert_int_equal(tern_module_load_state_dict(net, state), TERN_OK);
    assert_tensor(param(net, "0.bias"), tern_dims(3), 2, 2, 2);
    assert_tensor(param(net, "1.bias"), tern_dims(3), 1, 1, 1);
    tern_state_free(state);
    tern_module_free(net);
}

static void strided_tensors_are_loaded_and_expanded_ones_refused(void **unused)
{
    (void)unused;
    tern_tensor *turned = tern_transpose(tern_zeros(tern_dims(2, 3)), 0, 1);
    tern_module *m = holder_new("t", turned, false);
    tern_state *state = state_with("t", tern_transpose(check_2x3(false), 0, 1));
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    assert_tensor(turned, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    tern_module_free(m);
    m = holder_new("t", tern_expand(tern_zeros(tern_dims(1, 2)), tern_dims(3, 2)), false);
    assert_sentence(tern_module_load_state_dict(m, state), TERN_ERR_STATE,
                    "module_load_state_dict: mismatched 1: \"t\" is expanded here: several of its "
                    "elements share one place");
    tern_state_free(state);
    tern_module_free(m);
}

// A dimension of one element has stride 0 as well, and shares nothing.
static void a_tensor_expanded_by_a_dimension_of_one_is_loaded(void **unused)
{
    (void)unused;
    tern_module *m = holder_new("t", tern_expand(tern_zeros(tern_dims(2)), tern_dims(1, 2)), false);
    tern_state *state = state_with("t", tern_full(tern_dims(1, 2), 3));
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    assert_tensor(tern_module_buffer(m, "t"), tern_dims(1, 2), 3, 3);
    tern_state_free(state);
    tern_module_free(m);
}

// Nothing is missing: the names that are left are passed over where that was asked for.
static void a_module_without_tensors_takes_a_state_of_others_unless_strict(void **unused)
{
    (void)unused;
    tern_module *m = tern_module_done(tern_module_new(&box_class));
    tern_state *state = state_with("t", tern_full(tern_dims(1, 2), 3));
    assert_int_equal(tern_module_load_state_dict(m, state, .strict = false), TERN_OK);
    assert_sentence(tern_module_load_state_dict(m, state), TERN_ERR_ARG,
                    "module_load_state_dict: unexpected 1: \"t\"");
    tern_state_free(state);
    tern_module_free(m);
}

static void two_hundred_tensors_and_an_empty_one_are_loaded(void **unused)
{
    (void)unused;
    tern_module *a = tern_module_new(&box_class), *b = tern_module_new(&box_class);
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        (void)tern_module_add_parameter(a, name, NULL, tern_full(tern_dims(2), i));
        (void)tern_module_add_parameter(b, name, NULL, tern_zeros(tern_dims(2)));
    }
    (void)tern_module_add_parameter(a, "empty", NULL, tern_zeros(tern_dims(0, 3)));
    (void)tern_module_add_parameter(b, "empty", NULL, tern_zeros(tern_dims(0, 3)));
    a = tern_module_done(a);
    b = tern_module_done(b);
    tern_state *state = tern_module_state_dict(a);
    assert_int_equal(tern_module_load_state_dict(b, state), TERN_OK);
    for (int i = 0; i < 200; i++)
        assert_true(value_at(tern_module_parameter_at(b, i, NULL, 0), 1) == i);
    tern_state_free(state);
    tern_module_free(a);
    tern_module_free(b);
}

static void a_load_that_finds_no_memory_changes_nothing(void **unused)
{
    (void)unused;
    tern_module *m = tern_nn_sequential(pair_new(1), pair_new(1)), *other = pair_new(2);
    tern_state *state = tern_module_state_dict(m);
    assert_int_equal(tern_state_set_tensor(state, "0.weight", param(other, "weight")), TERN_OK);
    tern_tensor *wide = tern_to_dtype(param(other, "bias"), TERN_FLOAT64);
    assert_int_equal(tern_state_set_tensor(state, "0.bias", wide), TERN_OK);
    tern_status status = TERN_ERR_NOMEM;
    int failures = 0;
    for (; status; failures++) {
        tern_load_report report;
        fail_nth_allocation(failures + 1);
        status = tern_module_load_state_dict(m, state, .report = &report);
        fail_nth_allocation(0);
        tern_load_report_free(&report);
        assert_int_equal(tern_error_take(NULL, 0), status);
        const double expected = status ? 1 : 2;
        assert_true(value_at(param(m, "0.weight"), 0) == expected &&
                    value_at(param(m, "0.bias"), 0) == expected);
    }
    assert_true(failures > 5);
    tern_state_free(state);
    tern_module_free(m);
    tern_module_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(names_and_their_order_are_pytorchs),
        CHECK_TEST(a_module_without_tensors_has_an_empty_state),
        CHECK_TEST(every_dtype_comes_back_bit_for_bit),
        CHECK_TEST(floating_dtypes_are_converted),
        CHECK_TEST(integers_are_converted_where_that_is_asked_for_and_exact),
        CHECK_TEST(a_scalar_does_not_fit_one_element),
        CHECK_TEST(a_state_of_another_device_is_loaded),
        CHECK_TEST(a_graph_that_needs_the_old_values_notices),
        CHECK_TEST(gradients_stay_and_nothing_is_recorded),
        CHECK_TEST(the_last_name_of_a_tied_tensor_wins),
        CHECK_TEST(tensors_of_the_module_itself_may_change_places),
        CHECK_TEST(strided_tensors_are_loaded_and_expanded_ones_refused),
        CHECK_TEST(a_tensor_expanded_by_a_dimension_of_one_is_loaded),
        CHECK_TEST(a_module_without_tensors_takes_a_state_of_others_unless_strict),
        CHECK_TEST(two_hundred_tensors_and_an_empty_one_are_loaded),
        CHECK_TEST(a_load_that_finds_no_memory_changes_nothing),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    setenv("TERN_CACHE", "0", 1);
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL) + all_given_back();
}
