// SPDX-License-Identifier: Apache-2.0
// States of PyTorch's optimizers that are refused, by one sentence, and change nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "optim_file.h"
#include "support/state_check.h"

#define GROUP "optimizer.param_groups.0."
#define STATE "optimizer.state.0."

// A value of Adam's file that is set, or taken away, and words of the sentence.
static const struct {
    const char *name;
    tern_state_type type; // unspecified: taken away
    double value;
    tern_status code;
    const char *words;
} bad[] = {
    {STATE "step", TERN_STATE_DOUBLE, 2.5, TERN_ERR_FORMAT, "the step of params[0] is 2.5, which"},
    {STATE "step", TERN_STATE_DOUBLE, NAN, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "step", TERN_STATE_DOUBLE, INFINITY, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "step", TERN_STATE_DOUBLE, -1, TERN_ERR_FORMAT, "is -1, which counts no updates"},
    {STATE "step", TERN_STATE_DOUBLE, 0x1p53 + 2, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "step", TERN_STATE_DOUBLE, 0x1p63, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "step", TERN_STATE_INT, 0x1p63, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "step", TERN_STATE_TENSOR, 2, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "step", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT, "which counts no updates"},
    {STATE "exp_avg", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT,
     "params[0] has a state without \"exp_avg\""},
    {STATE "max_exp_avg_sq", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT,
     "params[0] has a state without \"max_exp_avg_sq\""},
    {STATE "exp_avg", TERN_STATE_DOUBLE, 1, TERN_ERR_FORMAT,
     "the exp_avg of params[0] is no tensor"},
    {STATE "exp_avg", TERN_STATE_TENSOR, 3, TERN_ERR_SHAPE, "params[0].exp_avg"},
    {STATE "velocity", TERN_STATE_DOUBLE, 1, TERN_ERR_FORMAT,
     "\"optimizer.state.0.velocity\" is of no parameter in a group, or nothing that Adam has"},
    {"optimizer.state.2.step", TERN_STATE_DOUBLE, 1, TERN_ERR_FORMAT, "\"optimizer.state.2.step\""},
    {GROUP "lr", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT, "param_groups.0.lr\" is no number"},
    {GROUP "lr", TERN_STATE_DOUBLE, -1, TERN_ERR_ARG, "lr"},
    {GROUP "eps", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT, "there is no \"" GROUP "eps\""},
    {GROUP "params.0", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT, "a parameter that is no index"},
    {GROUP "params.0", TERN_STATE_INT, 7, TERN_ERR_FORMAT, // its state is still that of 0
     "is of no parameter in a group, or nothing that Adam has"},
    {GROUP "params.0", TERN_STATE_INT, 1, TERN_ERR_FORMAT, "two parameters of its groups are 1"},
    {GROUP "params.1", TERN_STATE_INT, 2, TERN_ERR_FORMAT,
     "its group 0 has 2 parameters, and the optimizer's has 1"},
    {"optimizer.param_groups.2.params.0", TERN_STATE_INT, 2, TERN_ERR_FORMAT,
     "it has 3 groups of parameters, and the optimizer 2"},
    {GROUP "rho", TERN_STATE_DOUBLE, 0.9, TERN_ERR_FORMAT, "it holds the state of Adadelta"},
    {GROUP "decoupled_weight_decay", TERN_STATE_INT, 1, TERN_ERR_FORMAT,
     "it holds the state of AdamW, and the optimizer is Adam"},
};

static void change(tern_state *file, const char *name, tern_state_type type, double value)
{
    switch (type) {
    case TERN_STATE_UNSPECIFIED:
        set(tern_state_remove(file, name));
        break;
    case TERN_STATE_INT:
        set(tern_state_set_int(file, name, value < 0x1p62 ? (int64_t)value : INT64_MAX));
        break;
    case TERN_STATE_TENSOR:
        set(tern_state_set_tensor(file, name, tern_zeros(tern_dims((int64_t)value))));
        break;
    case TERN_STATE_DOUBLE:
        set(tern_state_set_double(file, name, value));
        break;
    case TERN_STATE_TEXT:
    case TERN_STATE_BYTES:
        set(tern_state_set_text(file, name, "x"));
    }
}

static void each_bad_state_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tern_state *file = tern_state_read(golden("adam"));
        run r = begin("adam", file);
        take_steps(&r, 0, 1);
        tern_state *before = copy_of(r.optim);
        change(file, bad[i].name, bad[i].type, bad[i].value);
        set(tern_state_write(file, path_of("bad.pt")));
        if (!tern_optim_load_torch(r.optim, path_of("bad.pt"), .prefix = "optimizer."))
            fail_msg("%s was read", bad[i].name);
        assert_error(bad[i].code, bad[i].words);
        tern_state *after = copy_of(r.optim);
        check_states(before, after, true);
        tern_state_free(before);
        tern_state_free(after);
        tern_optim_free(r.optim);
        tern_state_free(file);
    }
}

static void another_kind_is_refused_by_its_name(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("adam"));
    for (int own = 0; own < KIND_COUNT; own++)
        for (int other = 0; other < KIND_COUNT; other++) {
            char words[100];
            if (strcmp(kinds[own].name, kinds[other].name) == 0)
                continue;
            tern_scope round = tern_scope_open();
            run r = begin(kinds[own].file, saved);
            snprintf(words, sizeof words, "it holds the state of %s, and the optimizer is %s",
                     kinds[other].name, kinds[own].name);
            assert_int_equal(
                tern_optim_load_torch(r.optim, golden(kinds[other].file), .prefix = "optimizer."),
                TERN_ERR_FORMAT);
            assert_error(TERN_ERR_FORMAT, words);
            tern_optim_free(r.optim);
            tern_scope_close(round);
        }
    tern_state_free(saved);
}

// The options of those that have no file here, as their state_dict() in PyTorch 2.15 has them.
static void kinds_without_a_file_here_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *name, *options;
    } others[] = {
        {"Adafactor", "lr beta2_decay eps.1 d weight_decay maximize"},
        {"LBFGS", "lr max_iter max_eval tolerance_grad tolerance_change history_size maximize"},
        {"Muon", "lr weight_decay momentum nesterov ns_coefficients.0 ns_coefficients.1 "
                 "ns_coefficients.2 eps ns_steps"},
    };
    tern_state *saved = tern_state_read(golden("adam"));
    run r = begin("adam", saved);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char options[200], *rest = options, words[100];
        tern_state *file = tern_state_new();
        snprintf(options, sizeof options, "%s", others[i].options);
        for (char *o = strtok_r(options, " ", &rest); o; o = strtok_r(NULL, " ", &rest)) {
            char name[100];
            snprintf(name, sizeof name, "param_groups.0.%s", o);
            set(tern_state_set_double(file, name, 0));
        }
        set(tern_state_write(file, path_of("other.pt")));
        snprintf(words, sizeof words, "it holds the state of %s, and the optimizer is Adam",
                 others[i].name);
        assert_int_equal(tern_optim_load_torch(r.optim, path_of("other.pt")), TERN_ERR_FORMAT);
        assert_error(TERN_ERR_FORMAT, words);
        tern_state_free(file);
    }
    tern_optim_free(r.optim);
    tern_state_free(saved);
}

static void a_file_that_does_not_say_which_adam_it_is_of_is_of_either(void **state)
{
    (void)state;
    tern_state *file = tern_state_read(golden("adam"));
    for (int group = 0; group < 2; group++) {
        char name[100];
        snprintf(name, sizeof name, "optimizer.param_groups.%d.decoupled_weight_decay", group);
        set(tern_state_remove(file, name));
    }
    set(tern_state_write(file, path_of("old.pt")));
    static const char *const takers[] = {"adam", "adamw", "sgd"};
    for (int i = 0; i < 3; i++) {
        run r = begin(takers[i], file);
        tern_status status =
            tern_optim_load_torch(r.optim, path_of("old.pt"), .prefix = "optimizer.");
        if (i < 2)
            set(status);
        else
            assert_error(TERN_ERR_FORMAT, "it holds the state of Adam, and the optimizer is SGD");
        tern_optim_free(r.optim);
    }
    tern_state_free(file);
}

static void a_file_without_an_optimizer_is_refused(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("adam"));
    run r = begin("adam", saved);
    assert_int_equal(tern_optim_load_torch(r.optim, golden("adam")), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "there is no \"param_groups\"");
    assert_int_equal(tern_optim_load_torch(r.optim, golden("adam"), .prefix = "model."),
                     TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "there is no \"model.param_groups\"");
    set(tern_state_write(saved, path_of("optim.safetensors")));
    assert_int_equal(tern_optim_load_torch(r.optim, path_of("optim.safetensors")), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "not of PyTorch");
    tern_optim_free(r.optim);
    tern_state_free(saved);
}

static void without_memory_nothing_changes(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("adam"));
    run r = begin("adam", saved);
    take_steps(&r, 0, 1);
    check_without_memory(r.optim, golden("adam"));
    tern_optim_free(r.optim);
    tern_state_free(saved);
}

// The first backward takes memory that stays.
static int warm_up(void **state)
{
    if (start_group(state))
        return -1;
    tern_scope outer = tern_scope_open();
    tern_state *saved = tern_state_read(golden("adam"));
    run r = begin("adam", saved);
    take_steps(&r, 0, 1);
    tern_optim_free(r.optim);
    tern_state_free(saved);
    tern_scope_close(outer);
    return tern_error_pending() ? -1 : 0;
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_bad_state_is_refused_and_changes_nothing),
        DATA_TEST(another_kind_is_refused_by_its_name),
        DATA_TEST(kinds_without_a_file_here_are_told_apart),
        DATA_TEST(a_file_that_does_not_say_which_adam_it_is_of_is_of_either),
        DATA_TEST(a_file_without_an_optimizer_is_refused),
        DATA_TEST(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests_name("torch_optim_bad", tests, warm_up, end_group);
}
