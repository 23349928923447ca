// SPDX-License-Identifier: Apache-2.0
// State dicts of optimizers: what is in them, and loading them.
#include "optim/optim.h"
#include "optim_check.h"

static tern_module *net_of(int64_t width)
{
    tern_manual_seed(3);
    return tern_nn_sequential(tern_nn_linear(2, width), tern_nn_linear(width, 1));
}

// Steps with gradients of ones.
static void steps(tern_optim *o, int count)
{
    for (int i = 0; i < count; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *sum = NULL;
        tern_optim_zero_grad(o);
        for (int64_t k = 0; k < tern_optim_num_parameters(o); k++) {
            tern_tensor *part =
                tern_sum(tern_optim_parameter_at(o, k, NULL, 0), TERN_ALL_AXES, false);
            sum = sum ? tern_add(sum, part) : part;
        }
        assert_int_equal(tern_backward(sum), TERN_OK);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        tern_scope_close(scope);
    }
}

// What stays when the optimizer goes on.
static tern_state *snapshot(tern_optim *o)
{
    tern_state *s = tern_optim_state_dict(o), *copy = tern_state_copy(s);
    tern_state_free(s);
    return copy;
}

static void assert_names(const tern_state *state, const char *const *names, int64_t count)
{
    for (int64_t i = 0; i < count && i < tern_state_count(state); i++)
        assert_string_equal(tern_state_name_at(state, i), names[i]);
    assert_int_equal(tern_state_count(state), count);
}
#define NAMES(state, ...)                                                                          \
    assert_names(state, (const char *const[]){__VA_ARGS__},                                        \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void a_state_dict_has_numbers_steps_and_states_by_name(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 2, .bias = false);
    tern_optim *o = tern_optim_sgd(net, .lr = 0.5, .momentum = 0.25);
    tern_state *before = tern_optim_state_dict(o);
    NAMES(before, "optimizer", "param_groups.0.lr", "param_groups.0.momentum",
          "param_groups.0.dampening", "param_groups.0.weight_decay", "param_groups.0.nesterov",
          "param_groups.0.maximize", "weight.group", "weight.step");
    steps(o, 2);
    tern_state *after = tern_optim_state_dict(o);
    assert_int_equal(tern_state_count(after), 10);
    assert_string_equal(tern_state_name_at(after, 9), "weight.momentum_buffer");
    assert_string_equal(tern_state_text(after, "optimizer"), "SGD");
    double lr = 0;
    int64_t updates = 0;
    assert_int_equal(tern_state_get_double(after, "param_groups.0.lr", &lr), TERN_OK);
    assert_int_equal(tern_state_get_int(after, "weight.step", &updates), TERN_OK);
    assert_true(lr == 0.5 && updates == 2);
    tern_tensor *buffer = tern_state_tensor(after, "weight.momentum_buffer");
    assert_ptr_equal(buffer, tern_optim_state(o, 0, "momentum_buffer"));
    assert_tensor(buffer, tern_dims(2, 2), 1.25, 1.25, 1.25, 1.25); // 1, then 0.25 + 1
    tern_state_free(before);
    tern_state_free(after);
    tern_optim_free(o);
    tern_module_free(net);
}

static void parameters_of_one_name_are_numbered(void **state)
{
    (void)state;
    tern_module *a = tern_nn_linear(1, 1, .bias = false), *b = tern_nn_linear(2, 1, .bias = false);
    tern_optim *o = tern_optim_adagrad(a);
    assert_int_equal(tern_optim_add_group(o, b), TERN_OK);
    tern_state *s = tern_optim_state_dict(o);
    assert_tensor(tern_state_tensor(s, "weight.sum"), tern_dims(1, 1), 0);
    assert_tensor(tern_state_tensor(s, "weight.1.sum"), tern_dims(1, 2), 0, 0);
    assert_int_equal(tern_optim_load_state_dict(o, s), TERN_OK);
    tern_state_free(s);
    tern_optim_free(o);
    tern_module_free(a);
    tern_module_free(b);
}

static void loading_brings_numbers_steps_and_states(void **state)
{
    (void)state;
    tern_module *net = net_of(3), *other = net_of(3);
    tern_optim *o = tern_optim_adam(net, .lr = 0.25, .amsgrad = true);
    steps(o, 3);
    tern_state *s = tern_optim_state_dict(o);
    tern_optim *fresh = tern_optim_adam(other);
    assert_int_equal(tern_optim_load_state_dict(fresh, s), TERN_OK);
    assert_true(tern_optim_lr(fresh, 0) == 0.25 && tern_optim_get(fresh, 0, "amsgrad") == 1);
    for (int i = 0; i < 4; i++) {
        tern_tensor *here = tern_optim_state(fresh, i, "max_exp_avg_sq");
        tern_tensor *there = tern_optim_state(o, i, "max_exp_avg_sq");
        assert_int_equal(tern_optim_step_count(fresh, i), 3);
        assert_ptr_not_equal(here, there);
        assert_memory_equal(tern_data(here), tern_data(there), 4 * (size_t)tern_numel(here));
    }
    assert_int_equal(tern_optim_load_state_dict(fresh, s), TERN_OK); // into what is there
    tern_state_free(s);
    tern_optim_free(fresh);
    tern_optim_free(o);
    tern_module_free(net);
    tern_module_free(other);
}

static void numbers_stay_when_they_are_not_asked_for(void **state)
{
    (void)state;
    tern_module *net = net_of(3);
    tern_optim *o = tern_optim_sgd(net, .lr = 0.25, .momentum = 0.5);
    steps(o, 1);
    tern_state *s = snapshot(o);
    assert_int_equal(tern_optim_set_lr(o, 0, 0.125), TERN_OK);
    steps(o, 1);
    assert_int_equal(tern_optim_load_state_dict(o, s, .numbers = false), TERN_OK);
    assert_true(tern_optim_lr(o, 0) == 0.125);
    assert_int_equal(tern_optim_step_count(o, 2), 1);
    assert_true(((const float *)tern_data(tern_optim_state(o, 2, "momentum_buffer")))[0] == 1);
    assert_int_equal(tern_optim_load_state_dict(o, s), TERN_OK);
    assert_true(tern_optim_lr(o, 0) == 0.25);
    tern_state_free(s);
    tern_optim_free(o);
    tern_module_free(net);
}

// Parameters are found by name, wherever they are.
static void state_follows_to_the_parameters_device(void **state)
{
    (void)state;
    tern_module *net = net_of(3), *there = tern_module_to(net_of(3), tern_cpu(1));
    tern_optim *o = tern_optim_rmsprop(net), *moved = tern_optim_rmsprop(there);
    steps(o, 2);
    tern_state *s = tern_optim_state_dict(o);
    assert_int_equal(tern_optim_load_state_dict(moved, s), TERN_OK);
    for (int i = 0; i < 4; i++) {
        tern_tensor *loaded = tern_optim_state(moved, i, "square_avg");
        assert_true(tern_device_equal(tern_device_of(loaded), tern_cpu(1)));
        assert_memory_equal(tern_data(loaded), tern_data(tern_optim_state(o, i, "square_avg")),
                            4 * (size_t)tern_numel(loaded));
    }
    tern_state_free(s);
    tern_optim_free(o);
    tern_optim_free(moved);
    tern_module_free(net);
    tern_module_free(there);
}

static void state_that_the_dict_has_not_is_given_back(void **state)
{
    (void)state;
    tern_module *net = net_of(3);
    tern_optim *o = tern_optim_adamw(net);
    tern_state *s = snapshot(o);
    steps(o, 2);
    assert_int_equal(tern_optim_load_state_dict(o, s), TERN_OK);
    assert_null(tern_optim_state(o, 0, "exp_avg"));
    assert_int_equal(tern_optim_step_count(o, 0), 0);
    tern_state_free(s);
    tern_optim_free(o);
    tern_module_free(net);
}

static void what_does_not_fit_is_told_at_once_and_changes_nothing(void **state)
{
    (void)state;
    tern_module *net = net_of(3), *wide = net_of(4);
    tern_optim *o = tern_optim_sgd(net, .lr = 0.25, .momentum = 0.5);
    tern_optim *other = tern_optim_sgd(wide, .momentum = 0.5), *adam = tern_optim_adam(net);
    steps(o, 1);
    tern_state *s = snapshot(o);
    assert_sentence(
        tern_optim_load_state_dict(other, s), TERN_ERR_SHAPE,
        "optim_load_state_dict: mismatched 3: \"0.weight.momentum_buffer\" is float32 (3, 2) in "
        "the "
        "state and float32 (4, 2) here, \"0.bias.momentum_buffer\" is float32 (3,) in the state "
        "and "
        "float32 (4,) here, \"1.weight.momentum_buffer\" is float32 (1, 3) in the state and "
        "float32 "
        "(1, 4) here");
    assert_int_equal(tern_optim_step_count(other, 0), 0);
    assert_true(tern_optim_lr(other, 0) == 1e-3);
    assert_status(
        tern_optim_load_state_dict(adam, s), TERN_ERR_ARG,
        "optim_load_state_dict: \"optimizer\" is SGD in the state and Adam here; missing ");
    assert_int_equal(tern_state_set_int(s, "0.weight.step", -1), TERN_OK);
    assert_status(tern_optim_load_state_dict(o, s), TERN_ERR_ARG,
                  "mismatched 1: \"0.weight.step\" is -1 updates");
    assert_int_equal(tern_state_set_int(s, "0.weight.step", 1), TERN_OK);
    assert_int_equal(tern_state_set_double(s, "param_groups.0.lr", -2), TERN_OK);
    assert_status(tern_optim_load_state_dict(o, s), TERN_ERR_ARG,
                  "optim_load_state_dict: lr is -2, but must be 0 or more");
    assert_true(tern_optim_lr(o, 0) == 0.25);
    tern_state_free(s);
    tern_optim_free(o);
    tern_optim_free(other);
    tern_optim_free(adam);
    tern_module_free(net);
    tern_module_free(wide);
}

static void a_number_of_a_parameter_that_is_not_finite_is_refused(void **state)
{
    (void)state;
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1e300};
    tern_module *net = net_of(3);
    tern_optim *o = tern_optim_asgd(net);
    steps(o, 1);
    tern_state *s = snapshot(o);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char words[100];
        snprintf(words, sizeof words, "mismatched 1: \"0.weight.eta\" is %g", wrong[i]);
        assert_int_equal(tern_state_set_double(s, "0.weight.eta", wrong[i]), TERN_OK);
        assert_status(tern_optim_load_state_dict(o, s), TERN_ERR_ARG, words);
    }
    tern_state *after = snapshot(o);
    double eta = NAN;
    assert_int_equal(tern_state_get_double(after, "0.weight.eta", &eta), TERN_OK);
    assert_true(eta == (double)(float)(0.01 / pow(1 + 1e-4 * 0.01, 0.75)));
    tern_state_free(after);
    tern_state_free(s);
    tern_optim_free(o);
    tern_module_free(net);
}

static void another_group_is_an_error_unless_numbers_stay(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 1);
    tern_optim *o = tern_optim_sgd(net), *grouped = tern_optim_sgd(net);
    assert_int_equal(tern_optim_group_names(grouped, "bias"), TERN_OK);
    tern_state *s = tern_optim_state_dict(grouped);
    assert_status(
        tern_optim_load_state_dict(o, s, .strict = false), TERN_ERR_ARG,
        "optim_load_state_dict: load it with .numbers = false, which leaves the groups as "
        "they are; mismatched 1: \"bias.group\" is 1 in the state and 0 here");
    tern_status strict = tern_optim_load_state_dict(o, s);
    assert_int_equal(strict, TERN_ERR_ARG); // where that helps, it is proposed
    const bool proposed = strstr(tern_error_message(), ".numbers = false") != NULL;
    tern_error_clear();
    strict = tern_optim_load_state_dict(o, s, .numbers = false);
    tern_error_clear();
    assert_int_equal(proposed, strict == TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(o, s, .strict = false, .numbers = false), TERN_OK);
    tern_state_free(s);
    tern_optim_free(o);
    tern_optim_free(grouped);
    tern_module_free(net);
}

// Of numbers that the state has not, each group's own count when the rest is checked.
static void what_a_state_says_of_a_group_is_checked_beside_that_groups_numbers(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 1), *other = tern_nn_linear(2, 1);
    tern_optim *o = tern_optim_sgd(net);
    assert_int_equal(tern_optim_add_group(o, other), TERN_OK);
    assert_int_equal(tern_optim_set(o, 1, "momentum", 0.5), TERN_OK);
    tern_state *s = tern_optim_state_dict(o);
    assert_int_equal(tern_state_remove(s, "param_groups.1.momentum"), TERN_OK);
    assert_int_equal(tern_state_set_double(s, "param_groups.1.nesterov", 1), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(o, s, .strict = false, .numbers = false), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(o, s, .strict = false), TERN_OK);
    assert_true(tern_optim_get(o, 1, "nesterov") == 1 && tern_optim_get(o, 1, "momentum") == 0.5);
    tern_state_free(s);
    tern_optim_free(o);
    tern_module_free(net);
    tern_module_free(other);
}

// A model that has grown keeps the state of what it had.
static void a_grown_model_loads_what_there_is(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 2));
    tern_module *grown = tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_linear(2, 2));
    tern_optim *o = tern_optim_adam(net), *of_grown = tern_optim_adam(grown);
    steps(o, 2);
    tern_state *s = tern_optim_state_dict(o);
    assert_status(tern_optim_load_state_dict(of_grown, s), TERN_ERR_ARG,
                  "missing 4: \"1.weight.group\", \"1.weight.step\", \"1.bias.group\", "
                  "\"1.bias.step\"");
    assert_int_equal(tern_optim_load_state_dict(of_grown, s, .strict = false), TERN_OK);
    assert_int_equal(tern_optim_step_count(of_grown, 1), 2);
    assert_int_equal(tern_optim_step_count(of_grown, 2), 0);
    tern_state_free(s);
    tern_optim_free(o);
    tern_optim_free(of_grown);
    tern_module_free(net);
    tern_module_free(grown);
}

static tern_status visit_both(void *object, tern_state_visitor *visitor)
{
    tern_optim **both = object;
    if (tern_visit_optim(visitor, "generator", both[0]))
        return tern_error_code();
    return tern_visit_optim(visitor, "critic", both[1]);
}

static void an_optimizer_is_a_part_of_other_state(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(1, 1), *other = tern_nn_linear(1, 1);
    tern_optim *both[] = {tern_optim_sgd(net, .lr = 0.5), tern_optim_adagrad(other)};
    tern_state *s = tern_state_of(visit_both, both);
    assert_string_equal(tern_state_text(s, "generator.optimizer"), "SGD");
    assert_tensor(tern_state_tensor(s, "critic.bias.sum"), tern_dims(1), 0);
    assert_int_equal(tern_optim_set_lr(both[0], 0, 0.25), TERN_OK);
    assert_int_equal(tern_state_load(s, visit_both, both), TERN_OK);
    assert_true(tern_optim_lr(both[0], 0) == 0.5);
    tern_state_free(s);
    tern_optim_free(both[0]);
    tern_optim_free(both[1]);
    tern_module_free(net);
    tern_module_free(other);
}

// A step whose launch failed leaves states that no update has written; one that is set then counts:
// the buffer is 0.5 * 8 + 1, not the first gradient alone.
static void a_state_set_after_a_failed_first_step_is_used(void **state)
{
    (void)state;
    const double eight[] = {8, 8};
    tern_tensor *p = leaf(start, 2);
    tern_optim *o =
        tern_optim_sgd(NULL, .lr = 0.125, .momentum = 0.5, .params = &p, .param_count = 1);
    set_grad(p, 1, 1);
    o->entries[0].active = true;
    assert_int_equal(tern_optim_make_states(o), TERN_OK);
    tern_tensor *value = tern_from_data(tern_dims(2), eight, .dtype = TERN_FLOAT64);
    assert_int_equal(tern_optim_set_state(o, 0, "momentum_buffer", value), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    const double *buffer = tern_data(tern_optim_state(o, 0, "momentum_buffer"));
    const double *now = tern_data(p);
    for (int i = 0; i < 2; i++)
        assert_true(buffer[i] == 5 && now[i] == start[i] - 0.125 * 5);
    tern_optim_free(o);
}

int main(void)
{
    if (optim_check_begin())
        return 1;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_state_dict_has_numbers_steps_and_states_by_name),
        CHECK_TEST(parameters_of_one_name_are_numbered),
        CHECK_TEST(loading_brings_numbers_steps_and_states),
        CHECK_TEST(numbers_stay_when_they_are_not_asked_for),
        CHECK_TEST(state_follows_to_the_parameters_device),
        CHECK_TEST(state_that_the_dict_has_not_is_given_back),
        CHECK_TEST(what_does_not_fit_is_told_at_once_and_changes_nothing),
        CHECK_TEST(a_number_of_a_parameter_that_is_not_finite_is_refused),
        CHECK_TEST(another_group_is_an_error_unless_numbers_stay),
        CHECK_TEST(a_state_set_after_a_failed_first_step_is_used),
        CHECK_TEST(what_a_state_says_of_a_group_is_checked_beside_that_groups_numbers),
        CHECK_TEST(a_grown_model_loads_what_there_is),
        CHECK_TEST(an_optimizer_is_a_part_of_other_state),
    };
    return cmocka_run_group_tests_name("optim_state", tests, NULL, NULL);
}
