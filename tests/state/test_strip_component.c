// SPDX-License-Identifier: Apache-2.0
// States loaded without regard to one component of names: which names are the same then, and which
// of several is meant.
#include "numbers.h"
#include "state/state.h"

static bool is_loaded(const char *there, const char *here, const char *component)
{
    numbers object = {.names = NAMES(here)};
    tern_state *state = state_of(NAMES(there));
    tern_status status =
        tern_state_load(state, visit_numbers, &object, .strip_component = component);
    if (status)
        assert_error(TERN_ERR_ARG, "unexpected 1: ");
    assert_int_equal(object.at[0], status ? 0 : 1);
    tern_state_free(state);
    return !status;
}

// In either direction.
static bool are_same(const char *a, const char *b)
{
    const bool same = is_loaded(a, b, "module");
    assert_int_equal(is_loaded(b, a, "module"), same);
    return same;
}

static void names_with_and_without_the_component_are_the_same(void **unused)
{
    (void)unused;
    assert_true(are_same("0.weight", "module.0.weight"));
    assert_true(are_same("features.0.weight", "features.module.0.weight"));
    assert_true(are_same("features.weight", "features.module.weight"));
    assert_true(are_same("features.0.weight", "module.features.module.0.weight"));
    assert_true(are_same("module.weight", "module.module.weight"));
    assert_true(are_same("module.features.weight", "features.module.weight"));
    assert_true(is_loaded("net._orig_mod.weight", "net.weight", "_orig_mod"));
}

static void a_part_of_a_component_or_another_one_is_a_difference(void **unused)
{
    (void)unused;
    assert_false(are_same("weight", "modules.weight"));
    assert_false(are_same("weight", "submodule.weight"));
    assert_false(are_same("0.weight", "0.modul.weight"));
    assert_false(are_same("0.weight", "module.1.weight"));
    assert_false(are_same("0.weight", "Module.0.weight"));
    assert_false(is_loaded("net.module.weight", "net.weight", NULL));
}

static void the_name_of_the_tensor_itself_is_never_taken_out(void **unused)
{
    (void)unused;
    assert_false(are_same("0", "0.module"));
    assert_true(are_same("module", "module.module"));
    assert_true(are_same("0.module", "0.module.module"));
}

static void the_full_name_comes_first(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("weight")};
    tern_state *state = state_of(NAMES("module.weight", "weight"));
    tern_load_report report;
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .strict = false,
                                     .strip_component = "module", .report = &report),
                     TERN_OK);
    assert_int_equal(object.at[0], 2);
    assert_int_equal(report.unexpected_count, 1);
    assert_string_equal(report.unexpected[0], "module.weight");
    tern_load_report_free(&report);
    numbers both = {.names = NAMES("weight", "module.weight")};
    assert_int_equal(tern_state_load(state, visit_numbers, &both, .strip_component = "module"),
                     TERN_OK);
    assert_true(both.at[0] == 2 && both.at[1] == 1);
    tern_state_free(state);
}

static void prefix_and_strip_are_taken_away_before(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("0.weight", "0.bias")};
    tern_state *state = state_of(
        NAMES("model.net.module.0.weight", "model.0.module.bias", "other.0.weight", "0.weight"));
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .prefix = "model.",
                                     .strip = "net.", .strip_component = "module"),
                     TERN_OK);
    assert_true(object.at[0] == 1 && object.at[1] == 2);
    tern_state_free(state);
}

static void what_differs_is_reported_by_its_full_name(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("a.module.x", "a.module.y", "b.z")};
    tern_state *state = state_of(NAMES("a.x", "c.module.y", "module.b.z"));
    assert_int_equal(tern_state_set_double(state, "module.b.z", 0.5), TERN_OK);
    assert_sentence(
        tern_state_load(state, visit_numbers, &object, .strip_component = "module"), TERN_ERR_ARG,
        "state_load: missing 1: \"a.module.y\" (is it \"c.module.y\"?); unexpected 1: "
        "\"c.module.y\" (is it \"a.module.y\"?); mismatched 1: \"b.z\" is a number in the state "
        "and an integer here");
    assert_int_equal(object.at[0], 0);
    tern_state_free(state);
}

static void two_names_of_the_state_for_one_are_refused(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("a.weight")};
    tern_state *state = state_of(NAMES("a.module.weight", "module.a.weight"));
    assert_sentence(tern_state_load(state, visit_numbers, &object, .strip_component = "module"),
                    TERN_ERR_ARG,
                    "state_load: \"a.weight\" is ambiguous: the state has \"a.module.weight\" and "
                    "\"module.a.weight\" for it");
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .strict = false,
                                     .strip_component = "module"),
                     TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "is ambiguous");
    object.names = NAMES("b.weight"); // where nothing asks for them they are unexpected
    assert_status(tern_state_load(state, visit_numbers, &object, .strip_component = "module"),
                  TERN_ERR_ARG, "unexpected 2: \"a.module.weight\", \"module.a.weight\"");
    tern_state_free(state);
}

static void two_names_of_the_object_for_one_are_refused(void **unused)
{
    (void)unused;
    tern_state *state = state_of(NAMES("a.weight"));
    numbers object = {.names = NAMES("module.a.weight", "a.weight")};
    assert_sentence(
        tern_state_load(state, visit_numbers, &object, .strip_component = "module"), TERN_ERR_ARG,
        "state_load: \"a.weight\" is ambiguous without the component \"module\": the object has "
        "\"module.a.weight\" and \"a.weight\"");
    object.names = NAMES("a.weight", "a.module.weight");
    assert_status(tern_state_load(state, visit_numbers, &object, .strip_component = "module"),
                  TERN_ERR_ARG, "the object has \"a.weight\" and \"a.module.weight\"");
    object.names = NAMES("module.a.module.weight", "module.a.weight"); // nor is it proposed
    assert_status(tern_state_load(state, visit_numbers, &object), TERN_ERR_ARG,
                  "state_load: missing 2: ");
    object.names = NAMES("a.module.weight", "a.module.weight");
    assert_status(tern_state_load(state, visit_numbers, &object, .strip_component = "module"),
                  TERN_ERR_ARG, "visit: \"a.module.weight\" is visited twice");
    assert_int_equal(object.at[0], 0);
    tern_state_free(state);
}

// A value that is looked at before it is taken.
static tern_status visit_peeking(void *object, tern_state_visitor *v)
{
    int64_t *seen = object;
    (void)tern_visit_peek_int(v, "features.n", seen);
    int64_t taken;
    return tern_visit_int(v, "features.n", &taken);
}

static void looking_at_a_value_finds_it_too(void **unused)
{
    (void)unused;
    int64_t seen = 0;
    tern_state *state = state_of(NAMES("module.features.n"));
    assert_int_equal(tern_state_load(state, visit_peeking, &seen, .strip_component = "module"),
                     TERN_OK);
    assert_int_equal(seen, 1);
    tern_state_free(state);
}

// ---- modules ------------------------------------------------------------------------------------

static tern_module *wrapped(tern_module *net)
{
    const tern_device device = tern_cpu(0);
    return tern_nn_data_parallel(net, .devices = &device, .count = 1);
}

static tern_module *plain_net(void)
{
    return tern_nn_sequential(tern_nn_linear(2, 3), tern_nn_linear(3, 1));
}

// The second of the layers is wrapped, or the whole.
static tern_module *net_of_wrapped_part(void)
{
    return tern_nn_sequential(tern_nn_linear(2, 3), wrapped(tern_nn_linear(3, 1)));
}

static void check_exchange(tern_module *from, tern_module *to)
{
    tern_state *state = tern_module_state_dict(from), *own = tern_module_state_dict(to);
    assert_int_equal(tern_module_load_state_dict(to, state, .strip_component = "module"), TERN_OK);
    assert_int_equal(tern_state_count(state), 4);
    for (int64_t i = 0; i < 4; i++) {
        tern_tensor *there = tern_state_tensor(state, tern_state_name_at(state, i));
        tern_tensor *here = tern_state_tensor(own, tern_state_name_at(own, i));
        assert_memory_equal(tern_data(here), tern_data(there), 4 * (size_t)tern_numel(there));
    }
    tern_state_free(state);
    tern_state_free(own);
    tern_module_free(from);
    tern_module_free(to);
}

static void wrapped_and_plain_nets_take_each_others_states(void **unused)
{
    (void)unused;
    check_exchange(plain_net(), wrapped(plain_net()));
    check_exchange(wrapped(plain_net()), plain_net());
    check_exchange(plain_net(), net_of_wrapped_part());
    check_exchange(net_of_wrapped_part(), plain_net());
    check_exchange(net_of_wrapped_part(), wrapped(plain_net()));
}

// Of version 1 the number of batches may be missing, of version 2 not.
static void versions_are_found_without_the_component_too(void **unused)
{
    (void)unused;
    tern_module *from = tern_nn_sequential(tern_nn_batch_norm1d(4));
    tern_module *to = tern_nn_sequential(wrapped(tern_nn_batch_norm1d(4)));
    tern_state *state = tern_module_state_dict(from);
    assert_int_equal(tern_state_remove(state, "0.num_batches_tracked"), TERN_OK);
    assert_int_equal(tern_state_set_version(state, "0", 1), TERN_OK);
    assert_int_equal(tern_module_load_state_dict(to, state, .strip_component = "module"), TERN_OK);
    assert_int_equal(tern_state_set_version(state, "0", 2), TERN_OK);
    assert_status(tern_module_load_state_dict(to, state, .strip_component = "module"), TERN_ERR_ARG,
                  "missing 1: \"0.module.num_batches_tracked\"");
    tern_state_free(state);
    tern_module_free(from);
    tern_module_free(to);
}

static void an_optimizer_of_a_plain_net_goes_on_with_the_wrapped_one(void **unused)
{
    (void)unused;
    tern_module *net = plain_net(), *other = net_of_wrapped_part();
    tern_optim *from = tern_optim_sgd(net, .lr = 0.25), *to = tern_optim_sgd(other);
    tern_state *state = tern_optim_state_dict(from);
    assert_int_equal(tern_optim_load_state_dict(to, state), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "load it with .strip_component = \"module\"");
    assert_int_equal(tern_optim_load_state_dict(to, state, .strip_component = "module"), TERN_OK);
    assert_true(tern_optim_lr(to, 0) == 0.25);
    tern_state_free(state);
    tern_optim_free(from);
    tern_optim_free(to);
    tern_module_free(net);
    tern_module_free(other);
}

// ---- many names ---------------------------------------------------------------------------------

#define MANY 20000

static tern_status visit_many(void *object, tern_state_visitor *v)
{
    int64_t *values = object;
    char name[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "blocks.%d.module.n", i);
        if (tern_visit_int(v, name, &values[i]))
            return tern_error_code();
    }
    return TERN_OK;
}

static void twenty_thousand_names_are_found(void **unused)
{
    (void)unused;
    static int64_t values[MANY];
    tern_state *state = tern_state_new();
    char name[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "module.blocks.%d.n", i);
        assert_int_equal(tern_state_set_int(state, name, i), TERN_OK);
    }
    assert_int_equal(tern_state_load(state, visit_many, values), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "load it with .strip_component = \"module\"");
    assert_int_equal(tern_state_load(state, visit_many, values, .strip_component = "module"),
                     TERN_OK);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(values[i], i);
    tern_state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(names_with_and_without_the_component_are_the_same),
        CHECK_TEST(a_part_of_a_component_or_another_one_is_a_difference),
        CHECK_TEST(the_name_of_the_tensor_itself_is_never_taken_out),
        CHECK_TEST(the_full_name_comes_first),
        CHECK_TEST(prefix_and_strip_are_taken_away_before),
        CHECK_TEST(what_differs_is_reported_by_its_full_name),
        CHECK_TEST(two_names_of_the_state_for_one_are_refused),
        CHECK_TEST(two_names_of_the_object_for_one_are_refused),
        CHECK_TEST(looking_at_a_value_finds_it_too),
        CHECK_TEST(wrapped_and_plain_nets_take_each_others_states),
        CHECK_TEST(versions_are_found_without_the_component_too),
        CHECK_TEST(an_optimizer_of_a_plain_net_goes_on_with_the_wrapped_one),
        CHECK_TEST(twenty_thousand_names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
