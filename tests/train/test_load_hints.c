// SPDX-License-Identifier: Apache-2.0
// A hint in an error of loading is there only where following it loads, and only with options that
// the call has.
#include <tern/io.h>

#include "train_test.h"

// ---- following hints ----------------------------------------------------------------------------

// What an error proposed; "" and false where it did not.
typedef struct hint {
    char strip[256], prefix[256], component[256];
    bool convert, no_numbers, any;
} hint;

static void take_option(const char *sentence, const char *option, char value[256])
{
    const char *at = strstr(sentence, option);
    value[0] = 0;
    if (at)
        sscanf(at + strlen(option), " = \"%255[^\"]\"", value);
}

static hint take_hint(void)
{
    char text[600];
    hint h = {.any = false};
    (void)tern_error_take(text, sizeof text);
    take_option(text, ".strip", h.strip);
    take_option(text, ".prefix", h.prefix);
    take_option(text, ".strip_component", h.component);
    h.convert = strstr(text, ".convert = true") != NULL;
    h.no_numbers = strstr(text, ".numbers = false") != NULL;
    h.any = h.strip[0] || h.prefix[0] || h.component[0] || h.convert || h.no_numbers;
    assert_int_equal(h.any, strstr(text, "load it with") != NULL);
    return h;
}

static const char *or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static tern_module *net_new(void)
{
    return tern_nn_sequential(tern_nn_linear(2, 3), tern_nn_linear(3, 1));
}

// ---- states that do not fit ---------------------------------------------------------------------

enum {
    PREFIXED = 1,  // every name
    EXTRA = 2,     // a name that is none of the net's
    WRAPPED = 4,   // one layer
    INTEGERS = 8,  // one tensor
    RENAMED = 16,  // one name
    RESHAPED = 32, // one tensor
    SHORT = 64,    // one name is not there
    CHANGES = 128
};

static tern_state *changed_state(tern_module *net, int changes)
{
    tern_state *own = tern_module_state_dict(net), *state = tern_state_new();
    for (int64_t i = changes & SHORT ? 1 : 0; i < tern_state_count(own); i++) {
        const char *name = tern_state_name_at(own, i);
        tern_tensor *t = tern_state_tensor(own, name);
        char whole[128];
        if (i == 1 && changes & INTEGERS)
            t = tern_to_dtype(t, TERN_INT64);
        if (i == 2 && changes & RESHAPED)
            t = tern_reshape(t, tern_dims(-1));
        snprintf(whole, sizeof whole, "%s%.2s%s%s%s", changes & PREFIXED ? "model." : "", name,
                 changes & WRAPPED && name[0] == '1' ? "module." : "", name + 2,
                 i == 3 && changes & RENAMED ? "_" : "");
        assert_int_equal(tern_state_set_tensor(state, whole, t), TERN_OK);
    }
    if (changes & EXTRA)
        assert_int_equal(tern_state_set_int(state, "epoch", 1), TERN_OK);
    tern_state_free(own);
    return state;
}

// How many hints there were.
static int follow(tern_module *net, const tern_state *state, bool strict)
{
    if (!tern_module_load_state_dict(net, state, .strict = strict))
        return 0;
    const hint h = take_hint();
    if (!h.any)
        return 0;
    if (tern_module_load_state_dict(net, state, .strict = strict, .strip = or_null(h.strip),
                                    .prefix = or_null(h.prefix), .convert = h.convert,
                                    .strip_component = or_null(h.component)))
        fail_msg("%s", tern_error_message());
    return 1;
}

static void each_hint_of_a_module_loads(void **state)
{
    (void)state;
    int hints = 0;
    tern_module *net = net_new();
    for (int changes = 0; changes < CHANGES; changes++) {
        tern_state *changed = changed_state(net, changes);
        hints += follow(net, changed, true);
        hints += follow(net, changed, false);
        tern_state_free(changed);
    }
    // PREFIXED alone and with EXTRA, WRAPPED alone, INTEGERS alone, each strict; the same where
    // loading is not strict and no name fits, and INTEGERS with whatever changes names alone.
    assert_true(hints >= 8);
    tern_module_free(net);
}

// The call has no options: the hint names the one that has.
static void a_hint_of_module_load_names_the_call_that_has_the_option(void **state)
{
    (void)state;
    tern_module *net = net_new();
    static const struct {
        int changes;
        const char *words;
    } rows[] = {
        {PREFIXED, "load it with tern_module_load_state_dict and .strip = \"model.\"; missing 4"},
        {PREFIXED | EXTRA, "load it with tern_module_load_state_dict and .prefix = \"model.\"; "},
        {WRAPPED, "load it with tern_module_load_state_dict and .strip_component = \"module\"; "},
        {INTEGERS, "load it with tern_module_load_state_dict and .convert = true; mismatched 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = path_of("net.safetensors");
        tern_state *changed = changed_state(net, rows[i].changes);
        assert_int_equal(tern_state_write(changed, path), TERN_OK);
        assert_status(tern_module_load(net, path),
                      rows[i].changes == INTEGERS ? TERN_ERR_DTYPE : TERN_ERR_ARG, rows[i].words);
        tern_state *read = tern_state_read(path);
        assert_int_equal(follow(net, read, true), 1);
        tern_state_free(read);
        tern_state_free(changed);
    }
    tern_module_free(net);
}

// ---- optimizers ---------------------------------------------------------------------------------

// Names and groups that do not fit, and whether that is of one kind of optimizer.
static void each_hint_of_an_optimizer_loads(void **state)
{
    (void)state;
    int hints = 0;
    tern_module *net = net_new(), *outer = tern_nn_sequential(net_new());
    for (int i = 0; i < 8; i++) {
        tern_optim *from = tern_optim_sgd(i & 1 ? outer : net), *to = tern_optim_sgd(net);
        if (i & 2)
            assert_int_equal(tern_optim_group_names(from, "*bias"), TERN_OK);
        if (i & 4)
            assert_int_equal(tern_optim_group_names(to, "*bias"), TERN_OK);
        tern_state *saved = tern_optim_state_dict(from);
        for (int strict = 0; strict < 2; strict++) {
            if (!tern_optim_load_state_dict(to, saved, .strict = strict))
                continue;
            const hint h = take_hint();
            if (h.any && tern_optim_load_state_dict(
                             to, saved, .strict = strict, .strip = or_null(h.strip),
                             .prefix = or_null(h.prefix), .strip_component = or_null(h.component),
                             .numbers = !h.no_numbers))
                fail_msg("%d: %s", i, tern_error_message());
            hints += h.any;
        }
        tern_state_free(saved);
        tern_optim_free(from);
        tern_optim_free(to);
    }
    assert_true(hints >= 2);
    tern_module_free(net);
    tern_module_free(outer);
}

// ---- resuming -----------------------------------------------------------------------------------

static tern_checkpoint *checkpoint_with(tern_module *net, tern_optim *optim)
{
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_module(ck, "model", net), TERN_OK);
    assert_int_equal(tern_checkpoint_optim(ck, "optim", optim), TERN_OK);
    return ck;
}

// Resumes what was saved of a two-layer net and SGD; the sentence.
static void resume_with(tern_module *net, tern_optim *optim, char sentence[600])
{
    int64_t step = 0;
    tern_module *saved = net_new();
    tern_optim *sgd = tern_optim_sgd(saved);
    tern_checkpoint *ck = checkpoint_with(saved, sgd);
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_OK);
    tern_checkpoint_free(ck);
    ck = checkpoint_with(net, optim);
    assert_int_equal(tern_checkpoint_resume(ck, &step), -1);
    (void)tern_error_take(sentence, 600);
    assert_null(strstr(sentence, "load it with"));
    assert_null(strstr(sentence, " = "));
    tern_checkpoint_free(ck);
    tern_optim_free(optim);
    tern_module_free(net);
    tern_optim_free(sgd);
    tern_module_free(saved);
}

static void resuming_with_another_net_proposes_no_option(void **state)
{
    (void)state;
    char sentence[600];
    tern_module *outer = tern_nn_sequential(net_new());
    resume_with(outer, tern_optim_sgd(outer), sentence);
    assert_non_null(strstr(sentence, "missing "));
    tern_module *half = tern_module_to_dtype(net_new(), TERN_FLOAT64);
    tern_optim *grouped = tern_optim_sgd(half);
    assert_int_equal(tern_optim_group_names(grouped, "*bias"), TERN_OK);
    resume_with(half, grouped, sentence);
    assert_non_null(strstr(sentence, ".group\" is 0 in the state and 1 here"));
}

static void with_another_optimizer_that_comes_first(void **state)
{
    (void)state;
    static const char expected[] =
        "checkpoint_resume: step-00000001.safetensors: \"optim.optimizer\" is SGD in the state and "
        "Adam here; missing ";
    char sentence[600];
    tern_module *net = net_new();
    resume_with(net, tern_optim_adam(net), sentence);
    assert_memory_equal(sentence, expected, sizeof expected - 1);
    assert_null(strstr(sentence, "mismatched"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_hint_of_a_module_loads),
        FOLDER_TEST(a_hint_of_module_load_names_the_call_that_has_the_option),
        FOLDER_TEST(each_hint_of_an_optimizer_loads),
        FOLDER_TEST(resuming_with_another_net_proposes_no_option),
        FOLDER_TEST(with_another_optimizer_that_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
