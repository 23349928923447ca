// SPDX-License-Identifier: Apache-2.0
// What loading a state says of all that does not fit, whole sentences, and the options that help.
#include "support/tensor_check.h"

// Linear layers "0" and "1": 0.weight (3, 2), 0.bias (3), 1.weight (1, 3), 1.bias (1).
static tern_module *net_new(void)
{
    return tern_nn_sequential(tern_nn_linear(2, 3), tern_nn_linear(3, 1));
}

// The state of such a net, all ones, each name behind `prefix`.
static tern_state *ones_of(tern_module *net, const char *prefix)
{
    tern_state *own = tern_module_state_dict(net), *state = tern_state_new();
    for (int64_t i = 0; i < tern_state_count(own); i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, tern_state_name_at(own, i));
        tern_tensor *t = tern_state_tensor(own, tern_state_name_at(own, i));
        assert_int_equal(tern_state_set_tensor(state, name, tern_ones_like(t)), TERN_OK);
    }
    tern_state_free(own);
    return state;
}

static void rename_value(tern_state *state, const char *from, const char *to)
{
    assert_int_equal(tern_state_set_tensor(state, to, tern_state_tensor(state, from)), TERN_OK);
    assert_int_equal(tern_state_remove(state, from), TERN_OK);
}

static double first_of(tern_module *net, const char *name)
{
    return value_at(tern_module_parameter(net, name), 0);
}

static void missing_unexpected_and_mismatched_names_are_in_one_sentence(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    const double before = first_of(net, "0.weight");
    assert_int_equal(tern_state_remove(state, "0.bias"), TERN_OK);
    assert_int_equal(tern_state_remove(state, "1.weight"), TERN_OK);
    assert_int_equal(tern_state_set_int(state, "extra", 1), TERN_OK);
    assert_int_equal(tern_state_set_tensor(state, "1.bias", tern_ones(tern_dims(4, 2))), TERN_OK);
    assert_sentence(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                    "module_load_state_dict: missing 2: \"0.bias\", \"1.weight\"; unexpected 1: "
                    "\"extra\"; mismatched 1: \"1.bias\" is float32 (4, 2) in the state and "
                    "float32 (1,) here");
    assert_true(first_of(net, "0.weight") == before && before != 1);
    tern_state_free(state);
    tern_module_free(net);
}

static void the_name_that_may_be_meant_is_named(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    rename_value(state, "1.bias", "1.biass");
    rename_value(state, "0.weight", "0.gamma");
    assert_sentence(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                    "module_load_state_dict: missing 2: \"0.weight\", \"1.bias\" (is it "
                    "\"1.biass\"?); unexpected 2: \"1.biass\" (is it \"1.bias\"?), \"0.gamma\"");
    tern_state_free(state);
    tern_module_free(net);
}

static void three_edits_are_near_and_four_are_not(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    rename_value(state, "1.weight", "2.wieght"); // three letters changed
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                  "\"1.weight\" (is it \"2.wieght\"?)");
    rename_value(state, "2.wieght", "22.wieght");
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                  "missing 1: \"1.weight\"; unexpected 1: \"22.wieght\"");
    tern_state_free(state);
    tern_module_free(net);
}

static void a_prefix_of_every_name_is_named_with_the_option_that_strips_it(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "module._orig_mod.");
    assert_sentence(
        tern_module_load_state_dict(net, state), TERN_ERR_ARG,
        "module_load_state_dict: every name in the state begins with \"module._orig_mod.\": load "
        "it with .strip = \"module._orig_mod.\"; missing 4: \"0.weight\", \"0.bias\", "
        "\"1.weight\", \"1.bias\"; unexpected 4: \"module._orig_mod.0.weight\", "
        "\"module._orig_mod.0.bias\", \"module._orig_mod.1.weight\", \"module._orig_mod.1.bias\"");
    assert_status(tern_module_load_state_dict(net, state, .strip = "module."), TERN_ERR_ARG,
                  "load it with .strip = \"module._orig_mod.\"");
    assert_int_equal(tern_module_load_state_dict(net, state, .strip = "module._orig_mod."),
                     TERN_OK);
    assert_true(first_of(net, "1.weight") == 1);
    tern_state_free(state);
    tern_module_free(net);
}

static void a_prefix_of_all_that_is_missing_is_named_with_the_option_that_takes_it(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "model.");
    assert_int_equal(tern_state_set_int(state, "step", 3), TERN_OK);
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                  "module_load_state_dict: what is missing begins with \"model.\" in the state: "
                  "load it with .prefix = \"model.\"; missing 4: ");
    assert_int_equal(tern_module_load_state_dict(net, state, .prefix = "model."), TERN_OK);
    assert_true(first_of(net, "0.bias") == 1);
    tern_state_free(state);
    tern_module_free(net);
}

static void a_component_that_makes_the_difference_is_named_with_the_option_for_it(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    rename_value(state, "1.weight", "1.module.weight"); // a part was wrapped
    rename_value(state, "1.bias", "1.module.bias");
    assert_sentence(
        tern_module_load_state_dict(net, state), TERN_ERR_ARG,
        "module_load_state_dict: what is missing is in the state but for the component \"module\": "
        "load it with .strip_component = \"module\"; missing 2: \"1.weight\", \"1.bias\"; "
        "unexpected 2: \"1.module.weight\", \"1.module.bias\"");
    assert_int_equal(tern_module_load_state_dict(net, state, .strip_component = "module"), TERN_OK);
    assert_true(first_of(net, "1.weight") == 1);
    tern_state_free(state);
    tern_module_free(net);
}

// The first name of the state need not be that of the first tensor.
static void a_component_is_found_in_whatever_order_the_names_are(void **unused)
{
    (void)unused;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 3));
    tern_state *state = tern_state_new();
    assert_int_equal(tern_state_set_tensor(state, "0.module.bias", tern_ones(tern_dims(3))),
                     TERN_OK);
    assert_int_equal(tern_state_set_tensor(state, "0.module.weight", tern_ones(tern_dims(3, 2))),
                     TERN_OK);
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                  "load it with .strip_component = \"module\"; missing 2: \"0.weight\"");
    assert_int_equal(tern_module_load_state_dict(net, state, .strip_component = "module"), TERN_OK);
    tern_state_free(state);
    tern_module_free(net);
}

static void a_component_that_the_object_has_more_is_named_as_well(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_module *outer = tern_nn_sequential(net_new());
    tern_state *state = ones_of(net, "");
    assert_status(tern_module_load_state_dict(outer, state), TERN_ERR_ARG,
                  "module_load_state_dict: what is missing is in the state but for the component "
                  "\"0\": load it with .strip_component = \"0\"; missing 4: \"0.0.weight\"");
    rename_value(state, "1.weight", "1.wieght");
    assert_status(tern_module_load_state_dict(outer, state), TERN_ERR_ARG,
                  "module_load_state_dict: missing 4: \"0.0.weight\""); // it would not be enough
    tern_state_free(state);
    tern_module_free(outer);
    tern_module_free(net);
}

static void a_component_after_which_two_names_are_the_same_is_not_proposed(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    rename_value(state, "1.bias", "1.module.bias");
    assert_int_equal(tern_state_set_int(state, "1.module.module.bias", 1), TERN_OK);
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                  "module_load_state_dict: missing 1: \"1.bias\"; unexpected 2: ");
    tern_state_free(state);
    tern_module_free(net);
}

static void names_that_lack_what_is_stripped_stay_as_they_are(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "model.module.");
    rename_value(state, "model.module.0.bias", "model.0.bias");
    assert_int_equal(
        tern_module_load_state_dict(net, state, .prefix = "model.", .strip = "module."), TERN_OK);
    assert_true(first_of(net, "0.bias") == 1 && first_of(net, "1.bias") == 1);
    // Stripped, it is the same name twice.
    assert_int_equal(tern_state_set_tensor(state, "model.1.bias", tern_full(tern_dims(1), 2)),
                     TERN_OK);
    assert_status(tern_module_load_state_dict(net, state, .prefix = "model.", .strip = "module."),
                  TERN_ERR_ARG,
                  "\"1.bias\" is ambiguous: the state has \"model.module.1.bias\" and "
                  "\"model.1.bias\" for it");
    tern_state_free(state);
    tern_module_free(net);
}

static void eight_of_a_kind_are_listed_and_the_rest_counted(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "odd %c", 'a' + i);
        assert_int_equal(tern_state_set_int(state, name, i), TERN_OK);
    }
    assert_sentence(tern_module_load_state_dict(net, state), TERN_ERR_ARG,
                    "module_load_state_dict: unexpected 10: \"odd a\", \"odd b\", \"odd c\", \"odd "
                    "d\", \"odd e\", \"odd f\", \"odd g\", \"odd h\" and 2 more");
    tern_state_free(state);
    tern_module_free(net);
}

static void long_names_are_counted_rather_than_cut_off(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = tern_state_new();
    char name[1000], sentence[600];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < 20; i++) {
        name[0] = (char)('a' + i);
        assert_int_equal(tern_state_set_int(state, name, i), TERN_OK);
    }
    assert_int_equal(tern_module_load_state_dict(net, state), TERN_ERR_ARG);
    tern_error_take(sentence, sizeof sentence);
    assert_non_null(strstr(sentence, "missing 4: \"0.weight\", \"0.bias\", \"1.weight\", "
                                     "\"1.bias\"; unexpected 20: \"axxx"));
    assert_string_equal(sentence + strlen(sentence) - strlen(" and 17 more"), " and 17 more");
    tern_state_free(state);
    tern_module_free(net);
}

static void a_load_that_is_not_strict_takes_what_fits_and_reports_the_rest(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    const double before = first_of(net, "1.weight");
    rename_value(state, "1.weight", "2.weight");
    tern_load_report report;
    assert_int_equal(tern_module_load_state_dict(net, state, .strict = false, .report = &report),
                     TERN_OK);
    assert_true(report.missing_count == 1 && report.unexpected_count == 1 &&
                report.mismatched_count == 0);
    assert_string_equal(report.missing[0], "1.weight");
    assert_string_equal(report.unexpected[0], "2.weight");
    tern_load_report_free(&report);
    assert_true(report.missing_count == 0 && !report.missing);
    assert_true(first_of(net, "0.weight") == 1 && first_of(net, "1.weight") == before);
    tern_state_free(state);
    tern_module_free(net);
}

static void what_does_not_fit_is_an_error_also_where_loading_is_not_strict(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "");
    tern_load_report report;
    const double before = first_of(net, "0.weight");
    rename_value(state, "1.weight", "2.weight");
    assert_int_equal(tern_state_set_tensor(state, "0.bias", tern_ones(tern_dims(2))), TERN_OK);
    assert_sentence(tern_module_load_state_dict(net, state, .strict = false, .report = &report),
                    TERN_ERR_SHAPE,
                    "module_load_state_dict: mismatched 1: \"0.bias\" is float32 (2,) in the state "
                    "and float32 (3,) here");
    assert_true(report.missing_count == 1 && report.mismatched_count == 1);
    assert_string_equal(report.mismatched[0],
                        "\"0.bias\" is float32 (2,) in the state and float32 (3,) here");
    assert_true(first_of(net, "0.weight") == before);
    tern_load_report_free(&report);
    tern_load_report_free(NULL);
    tern_state_free(state);
    tern_module_free(net);
}

static void a_state_without_any_name_of_the_module_is_refused_also_then(void **unused)
{
    (void)unused;
    tern_module *net = net_new();
    tern_state *state = ones_of(net, "module."), *empty = tern_state_new();
    assert_status(tern_module_load_state_dict(net, state, .strict = false), TERN_ERR_ARG,
                  "module_load_state_dict: no name of the state is one here; every name in the "
                  "state begins with \"module.\": load it with .strip = \"module.\"; missing 4: ");
    assert_int_equal(tern_module_load_state_dict(net, empty, .strict = false), TERN_OK);
    tern_state_free(empty);
    tern_state_free(state);
    tern_module_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(missing_unexpected_and_mismatched_names_are_in_one_sentence),
        CHECK_TEST(the_name_that_may_be_meant_is_named),
        CHECK_TEST(three_edits_are_near_and_four_are_not),
        CHECK_TEST(a_prefix_of_every_name_is_named_with_the_option_that_strips_it),
        CHECK_TEST(a_prefix_of_all_that_is_missing_is_named_with_the_option_that_takes_it),
        CHECK_TEST(a_component_that_makes_the_difference_is_named_with_the_option_for_it),
        CHECK_TEST(a_component_is_found_in_whatever_order_the_names_are),
        CHECK_TEST(a_component_that_the_object_has_more_is_named_as_well),
        CHECK_TEST(a_component_after_which_two_names_are_the_same_is_not_proposed),
        CHECK_TEST(names_that_lack_what_is_stripped_stay_as_they_are),
        CHECK_TEST(eight_of_a_kind_are_listed_and_the_rest_counted),
        CHECK_TEST(long_names_are_counted_rather_than_cut_off),
        CHECK_TEST(a_load_that_is_not_strict_takes_what_fits_and_reports_the_rest),
        CHECK_TEST(what_does_not_fit_is_an_error_also_where_loading_is_not_strict),
        CHECK_TEST(a_state_without_any_name_of_the_module_is_refused_also_then),
    };
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
