// SPDX-License-Identifier: Apache-2.0
// States of PyTorch's LBFGS, made by tests/golden/make_files_torch.py, and those that tern writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "optim_file.h"
#include "support/state_check.h"

static const struct {
    const char *file;
    double tolerance;
} files[] = {{"lbfgs", 1e-12}, {"lbfgs_wolfe", 1e-6}, {"lbfgs_first", 1e-12}};
enum { FILE_COUNT = sizeof files / sizeof *files };

// With other numbers than those of the files, which are to bring theirs.
static run begin_lbfgs(const tern_state *saved)
{
    run r;
    const char *const names[] = {"model.weight", "model.bias"};
    for (int i = 0; i < 2; i++) {
        r.params[i] = tern_clone(tern_state_tensor(saved, names[i]));
        tern_set_requires_grad(r.params[i], true);
    }
    r.optim = tern_optim_lbfgs(NULL, .params = r.params, .param_count = 2, .lr = 0.25,
                               .tolerance_grad = 0.5, .maximize = true);
    return r;
}

static run load_lbfgs(const char *file, const tern_state *saved)
{
    run r = begin_lbfgs(saved);
    set(tern_optim_load_torch(r.optim, golden(file), .prefix = "optimizer."));
    return r;
}

// Of one parameter: (i + 1) (p - 1)^2 / 4 + p^4 / 8, summed.
static tern_tensor *loss_of(tern_tensor *param)
{
    tern_tensor *p = tern_reshape(param, tern_dims(-1));
    tern_tensor *weight = tern_arange(1, (double)tern_numel(p) + 1, 1, .dtype = tern_dtype_of(p));
    tern_tensor *near = tern_add_scalar(p, -1), *square = tern_mul(p, p);
    tern_tensor *first = tern_mul_scalar(tern_mul(weight, tern_mul(near, near)), 0.25);
    return tern_sum_all(tern_add(first, tern_mul_scalar(tern_mul(square, square), 0.125)));
}

static tern_tensor *closure(void *user)
{
    const run *r = user;
    tern_optim_zero_grad(r->optim);
    tern_tensor *loss = tern_add(loss_of(r->params[0]), loss_of(r->params[1]));
    return tern_backward(loss) ? NULL : loss;
}

static void step_lbfgs(run *r, int count)
{
    for (int i = 0; i < count; i++)
        if (!tern_optim_step_closure(r->optim, closure, r))
            fail_msg("%s", tern_error_message());
}

static void assert_near(tern_tensor *t, tern_tensor *expected, double tolerance)
{
    double a[6], b[6];
    const size_t nbytes = sizeof *a * (size_t)tern_numel(expected);
    assert_true(nbytes <= sizeof a && tern_numel(t) == tern_numel(expected));
    set(tern_to_host(tern_to_dtype(tern_detach(t), TERN_FLOAT64), a, nbytes));
    set(tern_to_host(tern_to_dtype(expected, TERN_FLOAT64), b, nbytes));
    for (int64_t i = 0; i < tern_numel(expected); i++)
        if (!(fabs(a[i] - b[i]) <= tolerance))
            fail_msg("element %d is %.17g, not %.17g", (int)i, a[i], b[i]);
}

static int64_t evaluations_of(tern_optim *optim)
{
    int64_t count = -1;
    tern_state *own = tern_optim_state_dict(optim);
    set(tern_state_get_int(own, "params[0].func_evals", &count));
    tern_state_free(own);
    return count;
}

static void it_goes_on_where_pytorch_stopped(void **state)
{
    (void)state;
    for (int k = 0; k < FILE_COUNT; k++) {
        int64_t evaluations;
        tern_state *saved = tern_state_read(golden(files[k].file));
        run r = load_lbfgs(files[k].file, saved);
        step_lbfgs(&r, 2);
        assert_near(r.params[0], tern_state_tensor(saved, "later.weight"), files[k].tolerance);
        assert_near(r.params[1], tern_state_tensor(saved, "later.bias"), files[k].tolerance);
        set(tern_state_get_int(saved, "evaluations", &evaluations));
        assert_int_equal(evaluations_of(r.optim), evaluations);
        tern_optim_free(r.optim);
        tern_state_free(saved);
    }
}

// ---- saving -------------------------------------------------------------------------------------

static void check_saved_and_loaded(tern_optim *optim, tern_optim *other)
{
    set(tern_optim_save_torch(optim, path_of("optim.pt")));
    set(tern_optim_load_torch(other, path_of("optim.pt")));
    tern_state *a = copy_of(optim), *b = copy_of(other);
    check_states(a, b, true);
    tern_state_free(a);
    tern_state_free(b);
}

static void it_is_saved_and_loaded(void **state)
{
    (void)state;
    for (int k = 0; k < FILE_COUNT; k++) {
        tern_state *saved = tern_state_read(golden(files[k].file));
        run r = load_lbfgs(files[k].file, saved), other = begin_lbfgs(saved);
        check_saved_and_loaded(r.optim, other.optim);
        tern_optim_free(r.optim);
        tern_optim_free(other.optim);
        tern_state_free(saved);
    }
}

// The numbers that a step has made are doubles, which float32 would round.
static void numbers_of_steps_here_keep_their_bits(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("lbfgs_wolfe"));
    run r = load_lbfgs("lbfgs_wolfe", saved), other = begin_lbfgs(saved);
    step_lbfgs(&r, 1);
    set(tern_optim_save_torch(r.optim, path_of("optim.pt")));
    set(tern_optim_load_torch(other.optim, path_of("optim.pt")));
    tern_state *a = copy_of(r.optim), *b = copy_of(other.optim);
    const char *const steps[] = {"params[0].step", "params[1].step"}; // that PyTorch does not have
    for (int i = 0; i < 2; i++)
        set(tern_state_set_int(a, steps[i], 0));
    check_states(a, b, true);
    tern_state_free(a);
    tern_state_free(b);
    tern_optim_free(r.optim);
    tern_optim_free(other.optim);
    tern_state_free(saved);
}

static void before_an_iteration_there_are_counts_alone(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("lbfgs"));
    for (int evaluations = 0; evaluations < 2; evaluations++) {
        run r = begin_lbfgs(saved), other = load_lbfgs("lbfgs", saved);
        tern_state *own = copy_of(r.optim);
        set(tern_state_set_int(own, "params[0].func_evals", evaluations));
        set(tern_optim_load_state_dict(r.optim, own));
        check_saved_and_loaded(r.optim, other.optim);
        tern_state *written = tern_state_read(path_of("optim.pt"));
        assert_true(tern_state_type_of(written, "state.0.func_evals") ==
                    (evaluations ? TERN_STATE_INT : TERN_STATE_UNSPECIFIED));
        assert_true(tern_state_type_of(written, "state.0.n_iter") ==
                    (evaluations ? TERN_STATE_INT : TERN_STATE_UNSPECIFIED));
        assert_true(tern_state_type_of(written, "state.0.t") == TERN_STATE_UNSPECIFIED);
        tern_state_free(written);
        tern_state_free(own);
        tern_optim_free(r.optim);
        tern_optim_free(other.optim);
    }
    tern_state_free(saved);
}

// The names that torch.optim.LBFGS's state_dict has, but for "al".
static void the_form_is_that_of_pytorch(void **state)
{
    (void)state;
    for (int k = 0; k < FILE_COUNT; k++) {
        tern_state *saved = tern_state_read(golden(files[k].file), .only = "optimizer.*");
        tern_state *model = tern_state_read(golden(files[k].file));
        run r = load_lbfgs(files[k].file, model);
        int64_t found = 0;
        set(tern_optim_save_torch(r.optim, path_of("optim.pt")));
        tern_state *written = tern_state_read(path_of("optim.pt"));
        for (int64_t i = 0; i < tern_state_count(saved); i++) {
            const char *name = tern_state_name_at(saved, i) + strlen("optimizer.");
            const bool scratch = strstr(name, ".al.") != NULL;
            if ((tern_state_type_of(written, name) == TERN_STATE_UNSPECIFIED) != scratch)
                fail_msg("%s: %s", files[k].file, name);
            found += !scratch;
        }
        assert_int_equal(tern_state_count(written), found);
        static const char *const integers[] = {"max_iter", "max_eval", "history_size"};
        for (int i = 0; i < 3; i++) {
            char name[64];
            snprintf(name, sizeof name, "param_groups.0.%s", integers[i]);
            assert_int_equal(tern_state_type_of(written, name), TERN_STATE_INT);
        }
        tern_optim_free(r.optim);
        tern_state_free(written);
        tern_state_free(model);
        tern_state_free(saved);
    }
}

// ---- what is refused ----------------------------------------------------------------------------

#define GROUP "optimizer.param_groups.0."
#define STATE "optimizer.state.0."

// A value of the file that is set, or taken away, and words of the sentence.
static const struct {
    const char *name;
    tern_state_type type; // unspecified: taken away
    double value;
    tern_status code;
    const char *words;
} bad[] = {
    {STATE "n_iter", TERN_STATE_DOUBLE, 2.5, TERN_ERR_FORMAT,
     "the n_iter of params[0] is no integer"},
    {STATE "n_iter", TERN_STATE_INT, -1, TERN_ERR_ARG, "params[0].n_iter\" is -1"},
    {STATE "func_evals", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT,
     "the func_evals of params[0] is no integer"},
    {STATE "t", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT, "params[0] has a state without \"t\""},
    {STATE "t", TERN_STATE_TENSOR, 2, TERN_ERR_FORMAT, "the t of params[0] is no number"},
    {STATE "H_diag", TERN_STATE_DOUBLE, INFINITY, TERN_ERR_ARG, "params[0].H_diag\" is inf"},
    {STATE "prev_loss", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT,
     "the prev_loss of params[0] is no number"},
    {STATE "d", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT, "params[0] has a state without \"d\""},
    {STATE "d", TERN_STATE_DOUBLE, 1, TERN_ERR_FORMAT, "the d of params[0] is no tensor"},
    {STATE "prev_flat_grad", TERN_STATE_TENSOR, 7, TERN_ERR_SHAPE, "params[0].prev_flat_grad"},
    {STATE "old_dirs.1", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT,
     "params[0] has 1 of \"old_dirs\", but 2 of \"old_stps\""},
    {STATE "old_stps.0", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT,
     "params[0] has 2 of \"old_dirs\", but 0 of \"old_stps\""},
    {STATE "ro.1", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT,
     "params[0] has 2 of \"old_dirs\", but 1 of \"ro\""},
    {STATE "ro.0", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT, "the ro.0 of params[0] is no number"},
    {STATE "old_stps.1", TERN_STATE_DOUBLE, 0, TERN_ERR_FORMAT,
     "the old_stps.1 of params[0] is no tensor"},
    {STATE "old_dirs.0", TERN_STATE_TENSOR, 6, TERN_ERR_SHAPE, "params[0].old_dirs.0"},
    {STATE "ro.7", TERN_STATE_DOUBLE, 1, TERN_ERR_FORMAT, "of which 15 are of parameters"},
    {STATE "exp_avg", TERN_STATE_DOUBLE, 1, TERN_ERR_FORMAT,
     "exp_avg\" is of no parameter in a group, or nothing that LBFGS has"},
    {"optimizer.state.1.n_iter", TERN_STATE_INT, 1, TERN_ERR_FORMAT,
     "state.1.n_iter\" is of no parameter in a group"},
    {GROUP "max_iter", TERN_STATE_DOUBLE, 2.5, TERN_ERR_ARG, "max_iter is 2.5"},
    {GROUP "history_size", TERN_STATE_UNSPECIFIED, 0, TERN_ERR_FORMAT, "the optimizer is LBFGS"},
    {GROUP "line_search_fn", TERN_STATE_TEXT, 0, TERN_ERR_FORMAT,
     "line_search_fn\" is none that LBFGS has"},
};

static void change(tern_state *file, const char *name, tern_state_type type, double value)
{
    if (type == TERN_STATE_UNSPECIFIED)
        set(tern_state_remove(file, name));
    else if (type == TERN_STATE_INT)
        set(tern_state_set_int(file, name, (int64_t)value));
    else if (type == TERN_STATE_TENSOR)
        set(tern_state_set_tensor(file, name, tern_zeros(tern_dims((int64_t)value))));
    else if (type == TERN_STATE_DOUBLE)
        set(tern_state_set_double(file, name, value));
    else
        set(tern_state_set_text(file, name, "x"));
}

static void each_bad_state_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tern_scope round = tern_scope_open();
        tern_state *file = tern_state_read(golden("lbfgs"));
        run r = load_lbfgs("lbfgs_wolfe", file);
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
        tern_scope_close(round);
    }
}

// Its vectors have all parameters one after another.
static void parameters_of_another_order_are_refused(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(3, 2);
    tern_optim *optim = tern_optim_lbfgs(net);
    tern_state *file = tern_state_read(golden("lbfgs"));
    set(tern_state_set_text(file, GROUP "param_names.0", "weight"));
    set(tern_state_set_text(file, GROUP "param_names.1", "bias"));
    set(tern_state_write(file, path_of("named.pt")));
    set(tern_optim_load_torch(optim, path_of("named.pt"), .prefix = "optimizer."));
    set(tern_state_set_text(file, GROUP "param_names.0", "bias"));
    set(tern_state_set_text(file, GROUP "param_names.1", "weight"));
    set(tern_state_write(file, path_of("named.pt")));
    assert_int_equal(tern_optim_load_torch(optim, path_of("named.pt"), .prefix = "optimizer."),
                     TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "its parameters have another order, in which LBFGS");
    tern_state_free(file);
    tern_optim_free(optim);
    tern_module_free(net);
}

static void without_memory_nothing_changes(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("lbfgs"));
    run r = load_lbfgs("lbfgs_first", saved);
    check_without_memory(r.optim, golden("lbfgs"));
    tern_optim_free(r.optim);
    tern_state_free(saved);
}

// The first backward takes memory that stays.
static int warm_up(void **state)
{
    if (start_group(state))
        return -1;
    tern_scope outer = tern_scope_open();
    tern_state *saved = tern_state_read(golden("lbfgs"));
    run r = load_lbfgs("lbfgs", saved);
    step_lbfgs(&r, 1);
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
        DATA_TEST(it_goes_on_where_pytorch_stopped),
        DATA_TEST(it_is_saved_and_loaded),
        DATA_TEST(numbers_of_steps_here_keep_their_bits),
        DATA_TEST(before_an_iteration_there_are_counts_alone),
        DATA_TEST(the_form_is_that_of_pytorch),
        DATA_TEST(each_bad_state_is_refused_and_changes_nothing),
        DATA_TEST(parameters_of_another_order_are_refused),
        DATA_TEST(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests_name("torch_lbfgs", tests, warm_up, end_group);
}
