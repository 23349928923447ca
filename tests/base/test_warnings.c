// SPDX-License-Identifier: Apache-2.0
// Where warnings go. Each part runs in a process of its own, from the start on, with its stderr in
// a file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tern/tern.h>

#include "base/error.h"

#define PILED "temporaries are alive in one scope"

static char **arguments;

// What this program writes to stderr as `part`, with TERN_LOG as said.
static const char *words_of(const char *part, const char *setting)
{
    static char words[4096];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(file), STDERR_FILENO);
        if (setting)
            setenv("TERN_LOG", setting, 1);
        else
            unsetenv("TERN_LOG");
        execl("/proc/self/exe", arguments[0], part, (char *)NULL);
        _exit(99);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rewind(file);
    words[fread(words, 1, sizeof words - 1, file)] = 0;
    fclose(file);
    return words;
}

static int times(const char *words, const char *part)
{
    int count = 0;
    for (const char *at = strstr(words, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

// ---- the parts ----------------------------------------------------------------------------------

static int warn_twice_of_each_kind(void)
{
    for (int i = 0; i < 2; i++) {
        tern_log_send(TERN_LOG_WARN, "number %d of one kind", i);
        tern_log_send(TERN_LOG_WARN, "number %d of another", i);
        tern_log_send(TERN_LOG_INFO, "a fact");
    }
    (void)tern_error_raise(TERN_ERR_ARG, "a failure");
    (void)tern_error_raise(TERN_ERR_ARG, "a second failure");
    tern_error_clear();
    return 0;
}

static void count_warning(tern_log_level level, const char *line, void *user)
{
    *(int *)user += level == TERN_LOG_WARN && line[0];
}

static int set_a_callback(void)
{
    int count = 0;
    tern_set_log(count_warning, &count);
    warn_twice_of_each_kind();
    tern_set_log(NULL, NULL);
    return count != 4;
}

static int train_without_scopes(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(1, 2), tern_nn_relu());
    tern_optim *opt = tern_optim_sgd(net, .lr = 1e-3);
    for (int step = 0; step < 3000; step++) {
        tern_tensor *y = tern_forward(net, tern_ones(tern_dims(4, 1)));
        tern_optim_zero_grad(opt);
        if (tern_backward(tern_mean(tern_mul(y, y), TERN_ALL_AXES, false)) || tern_optim_step(opt))
            return tern_error_print(stderr);
    }
    tern_optim_free(opt);
    tern_module_free(net);
    tern_shutdown();
    return 0;
}

static int train_with_scopes(void)
{
    for (int step = 0; step < 3000; step++) {
        tern_scope scope = tern_scope_open();
        for (int i = 0; i < 10; i++)
            tern_randn(tern_dims(1));
        tern_scope_close(scope);
    }
    return 0;
}

static int three_steps(tern_module *net, tern_optim *opt)
{
    for (int i = 0; i < 3; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *y = tern_forward(net, tern_ones(tern_dims(4, 1)));
        tern_optim_zero_grad(opt);
        if (tern_backward(tern_sum_all(y)) || tern_optim_step(opt))
            return tern_error_print(stderr);
        tern_scope_close(scope);
    }
    return 0;
}

static int train_with_integers_divided(void)
{
    int failed = 0;
    tern_module *net = tern_nn_linear(1, 2);
    for (int i = 0; i < 2; i++) {
        tern_optim *opt = tern_optim_adam(net, .lr = 1 / 10);
        failed |= three_steps(net, opt);
        tern_optim_free(opt);
    }
    tern_module_free(net);
    return failed;
}

// A 0 that is set, a group that has more, and the rate of a state that was loaded.
static int train_with_a_rate_of_0_that_is_meant(void)
{
    tern_module *net = tern_nn_linear(1, 2);
    tern_optim *set = tern_optim_sgd(net, .lr = 0.5), *again = tern_optim_sgd(net, .lr = 0);
    tern_optim *grouped = tern_optim_sgd(net, .lr = 0), *loaded = tern_optim_sgd(net, .lr = 0);
    tern_state *rate = tern_optim_state_dict(set);
    int failed = tern_optim_load_state_dict(loaded, rate) || tern_optim_set_lr(set, 0, 0) ||
                 tern_optim_set(again, TERN_ALL_GROUPS, "lr", 0) ||
                 tern_optim_group_names(grouped, "bias", .lr = 0.5);
    tern_state_free(rate);
    tern_optim *const all[] = {set, again, grouped, loaded};
    for (int i = 0; i < 4; i++) {
        failed |= three_steps(net, all[i]);
        tern_optim_free(all[i]);
    }
    tern_module_free(net);
    return failed;
}

static int make_many_for_one_batch(void)
{
    tern_dataset *set = tern_data_tensors(tern_ones(tern_dims(2, 1)));
    tern_loader *loader = tern_loader_new(set);
    tern_each_batch (b, loader)
        for (int i = 0; i < 12000; i++)
            tern_randn(tern_dims(1));
    tern_loader_free(loader);
    tern_dataset_free(set);
    return 0;
}

// ---- what they write ----------------------------------------------------------------------------

static void without_a_callback_each_kind_is_written_once(void **state)
{
    (void)state;
    assert_string_equal(words_of("warn", NULL), "tern: warning: number 0 of one kind\n"
                                                "tern: warning: number 0 of another\n");
}

static void tern_log_off_and_a_callback_keep_stderr_clean(void **state)
{
    (void)state;
    assert_string_equal(words_of("warn", "off"), "");
    assert_string_equal(words_of("callback", NULL), "");
}

static void a_loop_without_scopes_is_told_once_what_to_do(void **state)
{
    (void)state;
    const char *words = words_of("piles", NULL);
    assert_int_equal(times(words, PILED), 1);
    assert_int_equal(times(words, "\n"), 1);
    assert_non_null(strstr(words, "tern_scope_open"));
}

static void loops_with_scopes_or_a_loader_are_told_nothing(void **state)
{
    (void)state;
    assert_string_equal(words_of("scopes", NULL), "");
    assert_string_equal(words_of("loader", NULL), "");
}

static void a_rate_that_was_made_0_is_told_once(void **state)
{
    (void)state;
    assert_string_equal(words_of("divided", NULL),
                        "tern: warning: optim_step: the Adam was made with lr = 0, so steps change "
                        "no parameter; in C 1 / 10 is 0 and 1.0 / 10 is 0.1\n");
    assert_string_equal(words_of("meant", NULL), "");
}

static const struct {
    const char *name;
    int (*run)(void);
} parts[] = {
    {"warn", warn_twice_of_each_kind},
    {"callback", set_a_callback},
    {"piles", train_without_scopes},
    {"scopes", train_with_scopes},
    {"loader", make_many_for_one_batch},
    {"divided", train_with_integers_divided},
    {"meant", train_with_a_rate_of_0_that_is_meant},
};

int main(int argc, char **argv)
{
    arguments = argv;
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_callback_each_kind_is_written_once),
        cmocka_unit_test(tern_log_off_and_a_callback_keep_stderr_clean),
        cmocka_unit_test(a_loop_without_scopes_is_told_once_what_to_do),
        cmocka_unit_test(loops_with_scopes_or_a_loader_are_told_nothing),
        cmocka_unit_test(a_rate_that_was_made_0_is_told_once),
    };
    return cmocka_run_group_tests_name("warnings", tests, NULL, NULL);
}
