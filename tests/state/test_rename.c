// SPDX-License-Identifier: Apache-2.0
// States loaded under other names, which a function of the program gives their values.
#include "numbers.h"
#include "state/state.h"

// ---- functions that rename ----------------------------------------------------------------------

// A name and the other, for `user`; NULL ends them.
typedef struct pair {
    const char *from, *to;
} pair;

#define PAIRS(...) ((void *)(uintptr_t)(const pair[]){__VA_ARGS__, {NULL, NULL}})

static bool rename_pairs(const char *name, char *renamed, size_t size, void *user)
{
    for (const pair *p = user; p->from; p++)
        if (strcmp(name, p->from) == 0) {
            snprintf(renamed, size, "%s", p->to);
            return true;
        }
    return false;
}

// Names that begin with `from` begin with `to`.
static bool rename_beginning(const char *name, char *renamed, size_t size, void *user)
{
    const pair *p = user;
    const size_t length = strlen(p->from);
    if (strncmp(name, p->from, length) != 0)
        return false;
    snprintf(renamed, size, "%s%s", p->to, name + length);
    return true;
}

// ---- what is renamed ----------------------------------------------------------------------------

static void a_value_is_found_by_its_other_name(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("head.weight", "bias")};
    tern_state *state = state_of(NAMES("fc.weight", "bias"));
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .rename = rename_pairs,
                                     .user = PAIRS({"fc.weight", "head.weight"})),
                     TERN_OK);
    assert_true(object.at[0] == 1 && object.at[1] == 2);
    assert_string_equal(tern_state_name_at(state, 0), "fc.weight");
    tern_state_free(state);
}

static void values_may_exchange_their_names(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("a", "b")};
    tern_state *state = state_of(NAMES("a", "b"));
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .rename = rename_pairs,
                                     .user = PAIRS({"a", "b"}, {"b", "a"})),
                     TERN_OK);
    assert_true(object.at[0] == 2 && object.at[1] == 1);
    tern_state_free(state);
}

static void prefix_and_strip_are_taken_away_before(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("head.weight")};
    tern_state *state = state_of(NAMES("model.module.fc.weight", "epoch"));
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .prefix = "model.",
                                     .strip = "module.", .rename = rename_pairs,
                                     .user = PAIRS({"fc.weight", "head.weight"})),
                     TERN_OK);
    assert_int_equal(object.at[0], 1);
    tern_state_free(state);
}

static void the_component_is_taken_out_afterwards(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("head.module.weight")};
    tern_state *state = state_of(NAMES("fc.weight"));
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .strip_component = "module",
                                     .rename = rename_pairs,
                                     .user = PAIRS({"fc.weight", "head.weight"})),
                     TERN_OK);
    assert_int_equal(object.at[0], 1);
    tern_state_free(state);
}

static void what_differs_is_reported_by_its_other_name(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("head.weight", "bias")};
    tern_state *state = state_of(NAMES("fc.weight", "bias"));
    assert_sentence(
        tern_state_load(state, visit_numbers, &object, .rename = rename_pairs,
                        .user = PAIRS({"fc.weight", "head.wieght"})),
        TERN_ERR_ARG,
        "state_load: missing 1: \"head.weight\" (is it \"head.wieght\"?); unexpected 1: "
        "\"head.wieght\" (is it \"head.weight\"?)");
    assert_int_equal(object.at[1], 0);
    tern_state_free(state);
}

// ---- what is refused ----------------------------------------------------------------------------

static void two_names_that_become_one_are_refused(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("c")};
    tern_state *state = state_of(NAMES("a", "b"));
    void *user = PAIRS({"a", "c"}, {"b", "c"});
    for (int strict = 0; strict < 2; strict++)
        assert_sentence(tern_state_load(state, visit_numbers, &object, .strict = strict,
                                        .rename = rename_pairs, .user = user),
                        TERN_ERR_ARG,
                        "state_load: \"c\" is ambiguous: the state has \"a\" and \"b\" for it");
    assert_sentence(tern_state_load(state, visit_numbers, &object, .rename = rename_pairs,
                                    .user = PAIRS({"a", "b"})),
                    TERN_ERR_ARG,
                    "state_load: missing 1: \"c\" (is it \"b\"?); unexpected 2: "
                    "\"b\" (is it \"c\"?), \"b\" (is it \"c\"?)");
    assert_int_equal(object.at[0], 0);
    tern_state_free(state);
}

static bool rename_to_a_long_name(const char *name, char *renamed, size_t size, void *user)
{
    (void)name;
    snprintf(renamed, size, "%0*d", *(int *)user, 0);
    return true;
}

static bool rename_without_an_end(const char *name, char *renamed, size_t size, void *user)
{
    (void)name;
    (void)user;
    memset(renamed, 'x', size);
    return true;
}

static bool write_nothing(const char *name, char *renamed, size_t size, void *user)
{
    (void)name;
    (void)renamed;
    (void)size;
    (void)user;
    return true;
}

static void a_name_that_cannot_be_is_refused(void **unused)
{
    (void)unused;
    char longest[TERN_STATE_NAME_SIZE];
    int length = TERN_STATE_NAME_SIZE - 1;
    snprintf(longest, sizeof longest, "%0*d", length, 0);
    numbers object = {.names = NAMES(longest)};
    tern_state *state = state_of(NAMES("a"));
    assert_int_equal(tern_state_load(state, visit_numbers, &object, .rename = rename_to_a_long_name,
                                     .user = &length),
                     TERN_OK);
    assert_int_equal(object.at[0], 1);
    static const char too_long[] = "state_load: .rename gives \"a\" a name of more than 1024 bytes";
    for (int more = 1; more <= 1024; more *= 2) {
        length = TERN_STATE_NAME_SIZE - 1 + more;
        assert_sentence(tern_state_load(state, visit_numbers, &object, .strict = false,
                                        .rename = rename_to_a_long_name, .user = &length),
                        TERN_ERR_ARG, too_long);
    }
    assert_sentence(tern_state_load(state, visit_numbers, &object, .rename = rename_without_an_end),
                    TERN_ERR_ARG, too_long);
    assert_sentence(tern_state_load(state, visit_numbers, &object, .rename = write_nothing),
                    TERN_ERR_ARG, "state_load: .rename gives \"a\" an empty name");
    tern_state_free(state);
}

static bool change_the_state(const char *name, char *renamed, size_t size, void *user)
{
    (void)renamed;
    (void)size;
    return tern_state_remove(user, name) != TERN_OK;
}

static void an_error_that_the_function_leaves_ends_the_load(void **unused)
{
    (void)unused;
    numbers object = {.names = NAMES("a")};
    tern_state *state = state_of(NAMES("a"));
    assert_status(
        tern_state_load(state, visit_numbers, &object, .rename = change_the_state, .user = state),
        TERN_ERR_STATE, "state_remove: ");
    assert_int_equal(object.at[0], 0);
    assert_int_equal(tern_state_count(state), 1);
    tern_state_free(state);
}

// ---- modules and optimizers ---------------------------------------------------------------------

// A norm "1", which became "0" when the layer before it went.
static tern_module *old_net(void)
{
    return tern_nn_sequential(tern_nn_relu(), tern_nn_batch_norm1d(2));
}

static tern_module *new_net(void)
{
    return tern_nn_sequential(tern_nn_batch_norm1d(2));
}

static pair old_to_new = {"1.", "0."};

static void an_old_net_and_its_optimizer_become_a_new_one(void **unused)
{
    (void)unused;
    tern_module *old = old_net(), *net = new_net();
    tern_optim *from = tern_optim_sgd(old, .lr = 0.25), *to = tern_optim_sgd(net);
    tern_fill_(tern_module_buffer(old, "1.running_mean"), 3);
    tern_state *state = tern_module_state_dict(old), *steps = tern_optim_state_dict(from);
    assert_status(tern_module_load_state_dict(net, state), TERN_ERR_ARG, "missing 4");
    assert_int_equal(
        tern_module_load_state_dict(net, state, .rename = rename_beginning, .user = &old_to_new),
        TERN_OK);
    assert_true(value_at(tern_module_buffer(net, "0.running_mean"), 1) == 3);
    assert_status(tern_optim_load_state_dict(to, steps), TERN_ERR_ARG, "missing ");
    assert_int_equal(
        tern_optim_load_state_dict(to, steps, .rename = rename_beginning, .user = &old_to_new),
        TERN_OK);
    assert_true(tern_optim_lr(to, 0) == 0.25);
    tern_state_free(state);
    tern_state_free(steps);
    tern_optim_free(from);
    tern_optim_free(to);
    tern_module_free(old);
    tern_module_free(net);
}

// Of version 1 the number of batches may be missing, of version 2 not.
static void versions_are_renamed_too(void **unused)
{
    (void)unused;
    tern_module *old = old_net(), *net = new_net();
    tern_state *state = tern_module_state_dict(old);
    assert_int_equal(tern_state_remove(state, "1.num_batches_tracked"), TERN_OK);
    assert_int_equal(tern_state_set_version(state, "1", 2), TERN_OK);
    assert_status(
        tern_module_load_state_dict(net, state, .rename = rename_beginning, .user = &old_to_new),
        TERN_ERR_ARG, "missing 1: \"0.num_batches_tracked\"");
    assert_int_equal(tern_state_set_version(state, "1", 1), TERN_OK);
    assert_int_equal(
        tern_module_load_state_dict(net, state, .rename = rename_beginning, .user = &old_to_new),
        TERN_OK);
    tern_state_free(state);
    tern_module_free(old);
    tern_module_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_value_is_found_by_its_other_name),
        CHECK_TEST(values_may_exchange_their_names),
        CHECK_TEST(prefix_and_strip_are_taken_away_before),
        CHECK_TEST(the_component_is_taken_out_afterwards),
        CHECK_TEST(what_differs_is_reported_by_its_other_name),
        CHECK_TEST(two_names_that_become_one_are_refused),
        CHECK_TEST(a_name_that_cannot_be_is_refused),
        CHECK_TEST(an_error_that_the_function_leaves_ends_the_load),
        CHECK_TEST(an_old_net_and_its_optimizer_become_a_new_one),
        CHECK_TEST(versions_are_renamed_too),
    };
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
