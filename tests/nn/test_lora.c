// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation: which layers, what trains, merging, copies, and what is saved.
#include "support/own_module.h"

// Linear(3, 4), ReLU, Linear(4, 2), with names.
static tern_module *net_new(void)
{
    tern_manual_seed(4);
    tern_module *first = tern_nn_linear(3, 4), *relu = tern_nn_relu();
    tern_module *last = tern_nn_linear(4, 2);
    return tern_nn_sequential(
        tern_nn_sequential(first, relu),
        tern_nn_module_dict({"q_proj", tern_nn_linear(3, 3)}, {"k_proj", tern_nn_linear(3, 3)}),
        last);
}

// The parts that run of it: 0 and 2.
static tern_tensor *run(tern_module *net, tern_tensor *x)
{
    return tern_forward(tern_module_child(net, "2"), tern_forward(tern_module_child(net, "0"), x));
}

static tern_tensor *input(void)
{
    tern_generator *generator = tern_generator_new(2);
    tern_tensor *x = tern_randn(tern_dims(5, 3), .generator = generator);
    tern_generator_free(generator);
    return x;
}

static void draw_b(tern_module *net, const char *layer)
{
    char name[64];
    snprintf(name, sizeof name, "%s.lora_B.weight", layer);
    tern_no_grad (void)
        tern_normal_(tern_module_parameter(net, name), 0, 1, NULL);
}

static double distance(tern_tensor *a, tern_tensor *b)
{
    return tern_item(tern_amax(tern_abs(tern_sub(a, b)), TERN_ALL_AXES, false));
}

static bool is_adapted(tern_module *net, const char *name)
{
    return tern_lora_is_adapted(tern_module_child(net, name));
}

// ---- adapting -----------------------------------------------------------------------------------

static void the_layers_whose_names_fit_are_adapted_and_give_the_same_at_first(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_module *first = tern_module_child(net, "0.0");
    tern_tensor *x = input(), *before = run(net, x);
    assert_int_equal(tern_lora(net, "0.*", .rank = 2), TERN_OK);
    assert_ptr_equal(tern_module_child(net, "0.0"), first);
    assert_true(is_adapted(net, "0.0"));
    assert_false(is_adapted(net, "2") || is_adapted(net, "0.1") || is_adapted(net, "0"));
    assert_memory_equal(tern_data(run(net, x)), tern_data(before), 40);
    draw_b(net, "0.0");
    assert_true(distance(run(net, x), before) > 1e-3);
    assert_int_equal(tern_lora(net, "*.[qv]_proj", .rank = 1, .alpha = 3), TERN_OK);
    assert_true(is_adapted(net, "1.q_proj"));
    assert_false(is_adapted(net, "1.k_proj"));
    tern_module_free(net);
}

static void only_a_and_b_train(void **state)
{
    (void)state;
    tern_module *net = net_new();
    assert_int_equal(tern_lora(net, "0.0", .rank = 2), TERN_OK);
    assert_int_equal(tern_lora(net, "2", .rank = 1), TERN_OK); // the first one goes on
    assert_int_equal(tern_module_num_elements(net, true), 2 * (3 + 4) + 4 + 2);
    assert_int_equal(tern_backward(tern_sum_all(run(net, input()))), TERN_OK);
    assert_null(tern_grad(tern_module_parameter(net, "0.0.weight")));
    assert_non_null(tern_grad(tern_module_parameter(net, "0.0.lora_B.weight")));
    assert_non_null(tern_grad(tern_module_parameter(net, "2.lora_A.weight")));
    tern_module_free(net);
}

static void a_linear_alone_may_be_adapted(void **state)
{
    (void)state;
    char text[400] = "";
    tern_module *linear = tern_nn_linear(4, 3);
    assert_int_equal(tern_lora(linear, "*", .rank = 2), TERN_OK);
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_int_equal(tern_module_print(linear, file), TERN_OK);
    fclose(file);
    assert_string_equal(text, "Linear(\n"
                              "  in_features=4, out_features=3, bias=True\n"
                              "  (lora_A): Linear(in_features=4, out_features=2, bias=False)\n"
                              "  (lora_B): Linear(in_features=2, out_features=3, bias=False)\n"
                              ")\n");
    tern_module_free(linear);
}

static void dropout_is_of_training(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(3, 64);
    tern_tensor *x = input();
    assert_int_equal(tern_lora(linear, "*", .rank = 4, .dropout = 0.5), TERN_OK);
    tern_no_grad (void)
        tern_normal_(tern_module_parameter(linear, "lora_B.weight"), 0, 1, NULL);
    tern_tensor *y = tern_forward(linear, x);
    assert_true(distance(y, tern_forward(linear, x)) > 1e-3);
    tern_module_eval(linear);
    assert_true(distance(tern_forward(linear, x), tern_forward(linear, x)) == 0);
    tern_module_free(linear);
}

static void adapters_of_half_precision_are_float32_unless_said(void **state)
{
    (void)state;
    for (int said = 0; said < 2; said++) {
        tern_module *linear = tern_nn_linear(3, 4, .dtype = TERN_BFLOAT16);
        const tern_dtype dtype = said ? TERN_BFLOAT16 : TERN_DTYPE_UNSPECIFIED;
        assert_int_equal(tern_lora(linear, "*", .rank = 2, .dtype = dtype), TERN_OK);
        assert_int_equal(tern_dtype_of(tern_module_parameter(linear, "lora_A.weight")),
                         said ? TERN_BFLOAT16 : TERN_FLOAT32);
        tern_tensor *x = tern_to_dtype(input(), TERN_BFLOAT16), *y = tern_forward(linear, x);
        assert_int_equal(tern_dtype_of(y), TERN_BFLOAT16);
        assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
        assert_int_equal(tern_lora_merge(linear), TERN_OK);
        assert_int_equal(tern_dtype_of(tern_forward(linear, x)), TERN_BFLOAT16);
        tern_module_free(linear);
    }
}

// Half precision rounds 1 / 0.9, 1.1111, to 1.109375. 1.0165 times them is 1.1294 and 1.1277, which
// are rounded to 1.1328125 and 1.125.
static void dropout_scales_in_the_dtype_of_a(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(1, 1, .bias = false, .dtype = TERN_BFLOAT16);
    assert_int_equal(tern_lora(linear, "*", .rank = 1, .alpha = 1, .dropout = 0.1), TERN_OK);
    tern_no_grad {
        (void)tern_zero_(tern_module_parameter(linear, "weight"));
        (void)tern_fill_(tern_module_parameter(linear, "lora_A.weight"), 1.0165);
        (void)tern_fill_(tern_module_parameter(linear, "lora_B.weight"), 1);
    }
    tern_tensor *x = tern_ones(tern_dims(64, 1), .dtype = TERN_BFLOAT16);
    tern_tensor *y = tern_amax(tern_forward(linear, x), TERN_ALL_AXES, false);
    assert_true(tern_item(y) == 1.1328125);
    tern_module_free(linear);
}

static void gradients_are_those_of_differences(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(3, 2, .dtype = TERN_FLOAT64);
    tern_tensor *x = tern_to_dtype(input(), TERN_FLOAT64);
    assert_int_equal(tern_lora(linear, "*", .rank = 2, .alpha = 5), TERN_OK);
    tern_no_grad (void)
        tern_normal_(tern_module_parameter(linear, "lora_B.weight"), 0, 1, NULL);
    assert_int_equal(tern_gradcheck_module(linear, &x, 1), TERN_OK);
    tern_module_free(linear);
}

static void a_reset_makes_b_zero_again(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(2, 2);
    assert_int_equal(tern_lora(linear, "*", .rank = 1), TERN_OK);
    tern_no_grad (void)
        tern_fill_(tern_module_parameter(linear, "lora_B.weight"), 3);
    assert_int_equal(tern_module_reset_parameters(linear, NULL), TERN_OK);
    assert_tensor(tern_module_parameter(linear, "lora_B.weight"), tern_dims(2, 1), 0, 0);
    tern_module_free(linear);
}

// ---- merging ------------------------------------------------------------------------------------

static void merged_weights_give_the_same_and_come_back(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_tensor *x = input(), *weight = tern_module_parameter(net, "0.0.weight");
    tern_tensor *before = tern_clone(weight);
    assert_int_equal(tern_lora(net, "0.0", .rank = 2, .alpha = 4), TERN_OK);
    draw_b(net, "0.0");
    tern_tensor *y = run(net, x);
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    assert_true(tern_lora_is_merged(tern_module_child(net, "0.0")));
    assert_true(distance(weight, before) > 1e-3);
    assert_true(distance(run(net, x), y) < 1e-5);
    tern_module *copy = tern_module_copy(net);
    assert_status(tern_lora_merge(net), TERN_ERR_STATE,
                  "lora_merge: all layers are merged already");
    assert_int_equal(tern_lora_unmerge(net), TERN_OK);
    assert_true(distance(weight, before) < 1e-6);
    assert_true(distance(run(net, x), y) < 1e-5);
    assert_status(tern_lora_unmerge(net), TERN_ERR_STATE, "lora_unmerge: no layer is merged");
    assert_true(distance(run(copy, x), y) < 1e-5);
    assert_int_equal(tern_lora_unmerge(copy), TERN_OK);
    tern_module_free(net);
    assert_true(distance(run(copy, x), y) < 1e-5);
    tern_module_free(copy);
}

static void what_is_merged_already_stays_and_the_others_follow(void **state)
{
    (void)state;
    tern_module *net = net_new(), *last = tern_module_child(net, "2");
    tern_tensor *x = input();
    assert_int_equal(tern_lora(net, "*"), TERN_OK);
    draw_b(net, "0.0");
    draw_b(net, "2");
    tern_tensor *y = run(net, x);
    assert_int_equal(tern_lora_merge(last), TERN_OK);
    assert_status(tern_lora_merge(last), TERN_ERR_STATE, "all layers are merged already");
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    assert_true(tern_lora_is_merged(tern_module_child(net, "0.0")));
    assert_true(distance(run(net, x), y) < 1e-4);
    assert_int_equal(tern_lora_unmerge(last), TERN_OK);
    assert_int_equal(tern_lora_unmerge(net), TERN_OK);
    assert_status(tern_lora_unmerge(net), TERN_ERR_STATE, "no layer is merged");
    assert_true(distance(run(net, x), y) < 1e-4);
    tern_module_free(net);
}

static void what_is_unloaded_leaves_plain_layers(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_tensor *x = input();
    assert_int_equal(tern_lora(net, "*"), TERN_OK);
    draw_b(net, "2");
    tern_tensor *y = run(net, x);
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    assert_int_equal(tern_lora_unload(net), TERN_OK);
    assert_false(is_adapted(net, "2"));
    assert_int_equal(tern_module_num_children(tern_module_child(net, "2")), 0);
    assert_true(distance(run(net, x), y) < 1e-5);
    assert_status(tern_lora_unload(net), TERN_ERR_ARG, "no layer of Sequential is adapted");
    assert_int_equal(tern_lora(net, "2", .rank = 3), TERN_OK);
    tern_module_free(net);
}

static void a_parametrized_weight_is_adapted_and_not_merged(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(3, 2);
    tern_tensor *x = input(), *y = tern_forward(linear, x);
    assert_ptr_equal(tern_nn_weight_norm(linear), linear);
    assert_int_equal(tern_lora(linear, "*", .rank = 1), TERN_OK);
    assert_true(distance(tern_forward(linear, x), y) < 1e-6);
    assert_status(tern_lora_merge(linear), TERN_ERR_STATE, "is parametrized");
    assert_int_equal(tern_module_remove_parametrizations(linear, "weight"), TERN_OK);
    assert_int_equal(tern_lora_merge(linear), TERN_OK);
    tern_module_free(linear);
}

static void a_loss_that_has_the_linear_wants_it_merged(void **state)
{
    (void)state;
    tern_module *loss = tern_nn_linear_cross_entropy_loss(3, 4);
    tern_tensor *y = tern_zeros(tern_dims(5), .dtype = TERN_INT64);
    assert_int_equal(tern_lora(loss, "linear", .rank = 1), TERN_OK);
    assert_null_with(tern_loss(loss, input(), y), TERN_ERR_STATE, "tern_lora_merge adds that");
    assert_int_equal(tern_lora_merge(loss), TERN_OK);
    assert_non_null(tern_loss(loss, input(), y));
    tern_module_free(loss);
}

// ---- elsewhere ----------------------------------------------------------------------------------

static void copies_moves_and_replicas_have_the_adapters(void **state)
{
    (void)state;
    const tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *linear = tern_nn_linear(3, 2);
    tern_tensor *x = input();
    assert_int_equal(tern_lora(linear, "*", .rank = 1), TERN_OK);
    tern_no_grad (void)
        tern_normal_(tern_module_parameter(linear, "lora_B.weight"), 0, 1, NULL);
    tern_tensor *y = tern_forward(linear, x);
    tern_module *copy = tern_module_copy(linear);
    tern_module_free(linear);
    assert_true(distance(tern_forward(copy, x), y) == 0);
    assert_ptr_equal(tern_module_to(copy, tern_cpu(1)), copy);
    tern_tensor *there = tern_forward(copy, tern_to(x, tern_cpu(1)));
    assert_true(distance(tern_to(there, tern_cpu(0)), y) == 0);
    assert_ptr_equal(tern_module_to(copy, tern_cpu(0)), copy);
    tern_module *parallel = tern_nn_data_parallel(copy, .devices = devices, .count = 2);
    assert_true(distance(tern_forward(parallel, x), y) < 1e-6);
    assert_int_equal(tern_lora_merge(parallel), TERN_OK);
    assert_true(distance(tern_forward(parallel, x), y) < 1e-6);
    tern_module_free(parallel);
}

// ---- what is saved ------------------------------------------------------------------------------

static void the_adapters_alone_are_saved_and_loaded(void **state)
{
    (void)state;
    tern_module *net = net_new(), *other = net_new();
    tern_tensor *x = input();
    assert_int_equal(tern_lora(net, "*.0", .rank = 2), TERN_OK);
    assert_int_equal(tern_lora(other, "0.0", .rank = 2), TERN_OK);
    draw_b(net, "0.0");
    tern_state *adapter = tern_lora_state_dict(net, .prefix = "base_model.model.");
    assert_int_equal(tern_state_count(adapter), 2);
    assert_string_equal(tern_state_name_at(adapter, 0), "base_model.model.0.0.lora_A.weight");
    assert_string_equal(tern_state_name_at(adapter, 1), "base_model.model.0.0.lora_B.weight");
    assert_status(tern_lora_load_state_dict(other, adapter), TERN_ERR_ARG, "0.0.lora_A.weight");
    assert_int_equal(tern_lora_load_state_dict(other, adapter, .strip = "base_model.model."),
                     TERN_OK);
    assert_true(distance(run(net, x), run(other, x)) == 0);
    assert_int_equal(tern_lora_merge(other), TERN_OK);
    assert_status(tern_lora_load_state_dict(other, adapter, .strip = "base_model.model."),
                  TERN_ERR_STATE, "is merged; tern_lora_unmerge");
    tern_state_free(adapter);
    adapter = tern_lora_state_dict(net);
    assert_string_equal(tern_state_name_at(adapter, 0), "0.0.lora_A.weight");
    tern_state_free(adapter);
    tern_module_free(other);
    tern_module_free(net);
}

static void the_weights_keys_stay(void **state)
{
    (void)state;
    tern_module *net = net_new(), *adapted = net_new();
    tern_state *base = tern_module_state_dict(net);
    assert_int_equal(tern_lora(adapted, "0.0"), TERN_OK);
    assert_status(tern_module_load_state_dict(adapted, base), TERN_ERR_ARG, "0.0.lora_A.weight");
    assert_int_equal(tern_module_load_state_dict(adapted, base, .strict = false), TERN_OK);
    tern_state_free(base);
    tern_module_free(adapted);
    tern_module_free(net);
}

static void a_merged_module_is_neither_saved_loaded_nor_reset(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_state *before = tern_module_state_dict(net), *adapter;
    assert_int_equal(tern_lora(net, "0.0", .rank = 2), TERN_OK);
    draw_b(net, "0.0");
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    tern_tensor *weight = tern_clone(tern_module_parameter(net, "0.0.weight"));
    assert_null_with(tern_module_state_dict(net), TERN_ERR_STATE, "a Linear has LoRA merged");
    assert_status(tern_module_load_state_dict(net, before, .strict = false), TERN_ERR_STATE,
                  "tern_lora_unmerge takes it away, or tern_lora_unload");
    assert_status(tern_module_reset_parameters(net, NULL), TERN_ERR_STATE,
                  "module_reset_parameters: \"0.0\" has LoRA merged");
    assert_true(distance(tern_module_parameter(net, "0.0.weight"), weight) == 0);
    adapter = tern_lora_state_dict(net);
    assert_int_equal(tern_state_count(adapter), 2);
    tern_state_free(adapter);
    tern_state_free(before);
    assert_int_equal(tern_lora_unmerge(net), TERN_OK);
    assert_int_equal(tern_module_reset_parameters(net, NULL), TERN_OK);
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    assert_int_equal(tern_lora_unload(net), TERN_OK);
    before = tern_module_state_dict(net);
    assert_int_equal(tern_module_load_state_dict(net, before), TERN_OK);
    tern_state_free(before);
    tern_module_free(net);
}

static void a_weight_of_two_modules_is_not_merged(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 3), tern_nn_linear(3, 3));
    tern_tensor *x = input();
    assert_int_equal(tern_module_tie(net, "1.weight", net, "0.weight"), TERN_OK);
    assert_int_equal(tern_lora(net, "*", .rank = 1), TERN_OK);
    draw_b(net, "0");
    draw_b(net, "1");
    tern_tensor *y = tern_forward(net, x);
    assert_status(tern_lora_merge(net), TERN_ERR_STATE,
                  "lora_merge: the weight of \"0\" is that of another Linear too");
    assert_true(distance(tern_forward(net, x), y) == 0);
    tern_tensor *own = tern_clone(tern_detach(tern_module_parameter(net, "0.weight")));
    assert_int_equal(tern_module_set_parameter(net, "1.weight", own), TERN_OK);
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    assert_true(distance(tern_forward(net, x), y) < 1e-5);
    tern_module_free(net);
}

static void a_name_that_is_too_long_is_an_error(void **state)
{
    (void)state;
    char prefix[TERN_STATE_NAME_SIZE + 1];
    tern_module *linear = tern_nn_linear(2, 2);
    assert_int_equal(tern_lora(linear, "*", .rank = 1), TERN_OK);
    memset(prefix, 'p', sizeof prefix);
    for (int64_t length = TERN_STATE_NAME_SIZE - 14; length <= TERN_STATE_NAME_SIZE; length++) {
        prefix[length] = 0; // "lora_A.weight" has 13 letters
        tern_state *adapter = tern_lora_state_dict(linear, .prefix = prefix);
        if (length == TERN_STATE_NAME_SIZE - 14)
            assert_int_equal(tern_state_count(adapter), 2);
        else
            assert_null_with(adapter, TERN_ERR_ARG, "lora_state_dict: .prefix makes \"lora_A");
        tern_state_free(adapter);
        prefix[length] = 'p';
    }
    tern_module_free(linear);
}

static void adapters_are_not_parametrized(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(2, 2);
    assert_int_equal(tern_lora(linear, "*", .rank = 1), TERN_OK);
    assert_null_with(tern_nn_weight_norm(linear, .name = "lora_A.weight"), TERN_ERR_ARG,
                     "\"lora_A.weight\" belongs to LoRA");
    assert_int_equal(tern_lora_merge(linear), TERN_OK);
    tern_module_free(linear);
}

// ---- what is refused ----------------------------------------------------------------------------

static void what_cannot_be_is_refused_and_the_module_stays(void **state)
{
    (void)state;
    tern_module *net = net_new();
    assert_status(tern_lora(NULL, "*"), TERN_ERR_NULL, "module");
    assert_status(tern_lora(net, NULL), TERN_ERR_NULL, "pattern");
    assert_status(tern_lora(net, "*", .rank = 0), TERN_ERR_ARG, "rank is 0");
    assert_status(tern_lora(net, "*", .alpha = NAN), TERN_ERR_ARG, "alpha is nan");
    assert_status(tern_lora(net, "*", .dropout = 1), TERN_ERR_ARG, "dropout is 1");
    assert_status(tern_lora(net, "*", .dtype = TERN_INT64), TERN_ERR_DTYPE, "int64");
    assert_status(tern_lora(net, "*.v_proj"), TERN_ERR_ARG,
                  "no Linear of Sequential fits \"*.v_proj\"");
    assert_status(tern_lora(net, "0.1"), TERN_ERR_ARG, "but a ReLU does, which cannot be adapted");
    assert_status(tern_lora_merge(net), TERN_ERR_ARG, "no layer of Sequential is adapted");
    assert_int_equal(tern_module_num_elements(net, true), tern_module_num_elements(net, false));
    assert_int_equal(tern_lora(net, "2"), TERN_OK);
    assert_status(tern_lora(net, "*"), TERN_ERR_STATE, "\"2\" is adapted already");
    assert_false(is_adapted(net, "0.0"));
    tern_module_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(the_layers_whose_names_fit_are_adapted_and_give_the_same_at_first),
        CHECK_TEST(only_a_and_b_train),
        CHECK_TEST(a_linear_alone_may_be_adapted),
        CHECK_TEST(dropout_is_of_training),
        CHECK_TEST(adapters_of_half_precision_are_float32_unless_said),
        CHECK_TEST(dropout_scales_in_the_dtype_of_a),
        CHECK_TEST(gradients_are_those_of_differences),
        CHECK_TEST(a_reset_makes_b_zero_again),
        CHECK_TEST(merged_weights_give_the_same_and_come_back),
        CHECK_TEST(what_is_merged_already_stays_and_the_others_follow),
        CHECK_TEST(what_is_unloaded_leaves_plain_layers),
        CHECK_TEST(a_parametrized_weight_is_adapted_and_not_merged),
        CHECK_TEST(a_loss_that_has_the_linear_wants_it_merged),
        CHECK_TEST(copies_moves_and_replicas_have_the_adapters),
        CHECK_TEST(the_adapters_alone_are_saved_and_loaded),
        CHECK_TEST(the_weights_keys_stay),
        CHECK_TEST(a_merged_module_is_neither_saved_loaded_nor_reset),
        CHECK_TEST(a_weight_of_two_modules_is_not_merged),
        CHECK_TEST(a_name_that_is_too_long_is_an_error),
        CHECK_TEST(adapters_are_not_parametrized),
        CHECK_TEST(what_cannot_be_is_refused_and_the_module_stays),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
