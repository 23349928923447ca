// SPDX-License-Identifier: Apache-2.0
// The allocator is the test's own, so that it can count and fail.
#include "golden/mlp_golden.h"
#include "tensor_check.h"

static struct {
    int64_t calls;
    int64_t fail_at; // 0: never
} memory;

static void *take(size_t nbytes, size_t align, void *user)
{
    (void)user;
    memory.calls++;
    if (memory.calls == memory.fail_at)
        return NULL;
    return aligned_alloc(align, (nbytes + align - 1) / align * align);
}

static void give(void *at, size_t nbytes, void *user)
{
    (void)nbytes;
    (void)user;
    free(at);
}

// ---- PyTorch's runs ------------------------------------------------------------------------------

typedef struct small_run {
    const golden_small_case *golden;
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y;
} small_run;

static bool has_group(const golden_small_case *golden, int group)
{
    return group < golden->group_count;
}

// The optimizer of a stored run, over the net or, with two groups, over its first layer.
static tern_optim *make_optim(const golden_small_case *golden, tern_module *net)
{
    const golden_small_group *g = golden->group;
    tern_module *first = has_group(golden, 1) ? tern_module_child(net, "0") : net;
    tern_optim *optim;
    if (strcmp(golden->optimizer, "SGD") == 0)
        optim =
            tern_optim_sgd(first, .lr = g->lr, .momentum = g->momentum, .dampening = g->dampening,
                           .weight_decay = g->weight_decay, .nesterov = golden->nesterov);
    else if (strcmp(golden->optimizer, "Adam") == 0)
        optim = tern_optim_adam(first, .lr = g->lr, .betas = {g->beta1, g->beta2}, .eps = g->eps,
                                .weight_decay = g->weight_decay, .amsgrad = golden->amsgrad);
    else if (strcmp(golden->optimizer, "AdamW") == 0)
        optim = tern_optim_adamw(first, .lr = g->lr, .betas = {g->beta1, g->beta2}, .eps = g->eps,
                                 .weight_decay = g->weight_decay, .amsgrad = golden->amsgrad);
    else
        return NULL; // not there yet
    assert_non_null(optim);
    if (has_group(golden, 1)) {
        bool sgd = strcmp(golden->optimizer, "SGD") == 0;
        g = &golden->group[1];
        assert_int_equal(
            tern_optim_add_group(
                optim, tern_module_child(net, "2"), .lr = g->lr, .weight_decay = g->weight_decay,
                .momentum = sgd ? g->momentum : NAN, .dampening = sgd ? g->dampening : NAN,
                .betas = {sgd ? NAN : g->beta1, sgd ? NAN : g->beta2}, .eps = sgd ? NAN : g->eps),
            TERN_OK);
    }
    return optim;
}

static small_run start_run(const golden_small_case *golden, tern_dtype dtype)
{
    small_run run = {.golden = golden};
    tern_manual_seed(0);
    run.net = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    run.optim = make_optim(golden, run.net);
    assert_non_null(tern_module_to_dtype(run.net, dtype)); // the optimizer was made before
    float x[24];
    memcpy(x, golden_small_x, sizeof x);
    run.x = tern_to_dtype(tern_from_data(tern_dims(6, 4), x), dtype);
    run.y =
        tern_from_data(tern_dims(6), golden_small_target[golden->weighted], .dtype = TERN_INT64);
    tern_tensor *weight = tern_to_dtype(
        tern_from_data(tern_dims(3), golden_small_weight, .dtype = TERN_FLOAT64), dtype);
    run.criterion = tern_nn_cross_entropy_loss(.weight = golden->weighted ? weight : NULL,
                                               .label_smoothing = 0.1);
    return run;
}

static void clip(const small_run *run, int step, double tolerance)
{
    const golden_small_case *golden = run->golden;
    if (strcmp(golden->clip, "norm") == 0) {
        tern_tensor *norm =
            tern_clip_grad_norm(run->net, golden->clip_at, .norm_type = golden->norm_type);
        assert_near(tern_item(norm), golden->norms[step], tolerance, 0);
    } else if (strcmp(golden->clip, "value") == 0) {
        assert_int_equal(tern_clip_grad_value(run->net, golden->clip_at), TERN_OK);
    }
}

static double step(const small_run *run, int number, double tolerance)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_loss(run->criterion, tern_forward(run->net, run->x), run->y);
    double value = tern_item(loss);
    tern_optim_zero_grad(run->optim);
    assert_int_equal(tern_backward(loss), TERN_OK);
    clip(run, number, tolerance);
    assert_int_equal(tern_optim_step(run->optim), TERN_OK);
    tern_scope_close(scope);
    return value;
}

static void end_run(small_run *run)
{
    tern_module_free(run->net);
    tern_module_free(run->criterion);
    tern_optim_free(run->optim);
}

static void assert_parameters(const small_run *run, double tolerance)
{
    int64_t at = 0;
    for (int i = 0; i < 4; i++) {
        tern_tensor *t = tern_module_parameter_at(run->net, i, NULL, 0);
        double values[32];
        assert_int_equal(tern_to_host(t, values, (size_t)tern_numel(t) * 8), TERN_OK);
        for (int64_t k = 0; k < tern_numel(t); k++)
            assert_near(values[k], run->golden->final[at++], tolerance, tolerance);
    }
    assert_int_equal(at, 67);
}

static void every_stored_run_of_pytorch_is_repeated(void **state)
{
    (void)state;
    const double tolerance = 1e-11;
    int ran = 0;
    for (size_t i = 0; i < sizeof golden_small_cases / sizeof *golden_small_cases; i++) {
        small_run run = start_run(&golden_small_cases[i], TERN_FLOAT64);
        for (int k = 0; run.optim && k < 30; k++)
            assert_near(step(&run, k, tolerance), run.golden->losses[k], tolerance, 0);
        if (run.optim) {
            ran++;
            assert_parameters(&run, tolerance);
        }
        end_run(&run);
    }
    print_message("%d runs of 30 steps\n", ran);
    assert_true(ran >= 10);
}

// The five losses that PyTorch 1.13 printed in float32, and the norm of all parameters after.
static void assert_five_losses(tern_optim *(*make)(tern_module *net), const double losses[5],
                               double norm)
{
    tern_manual_seed(0);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    small_run run = {.net = net, .golden = &golden_small_cases[0]};
    const int64_t labels[] = {0, 1, 2, 0, 1, 2};
    run.x = tern_randn(tern_dims(6, 4));
    run.y = tern_from_data(tern_dims(6), labels, .dtype = TERN_INT64);
    run.criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
    run.optim = make(net);
    for (int i = 0; i < 5; i++)
        assert_near(step(&run, i, 0), losses[i], 0, 2e-6);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        tern_tensor *t = tern_detach(tern_module_parameter_at(net, i, NULL, 0));
        sum += tern_item(tern_sum(tern_mul(t, t), TERN_ALL_AXES, false));
    }
    assert_near(sqrt(sum), norm, 0, 2e-6);
    end_run(&run);
}

static tern_optim *nesterov(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01);
}

static tern_optim *adamw(tern_module *net)
{
    return tern_optim_adamw(net, .lr = 0.01);
}

static void five_losses_are_those_that_pytorch_printed(void **state)
{
    (void)state;
    const double sgd[] = {1.0780149, 1.0626818, 1.0407075, 1.0136622, 0.9837482};
    const double adam[] = {1.0780149, 1.0610501, 1.0447288, 1.0289603, 1.0126402};
    assert_five_losses(nesterov, sgd, 2.1260321);
    assert_five_losses(adamw, adam, 2.1292882);
}

// ---- by hand -------------------------------------------------------------------------------------

// A leaf in double with these values.
static tern_tensor *leaf(const double *values, int64_t count)
{
    return tern_from_data(tern_dims(count), values, .dtype = TERN_FLOAT64, .requires_grad = true);
}

// Gives `p` this gradient: that of sum(p * g).
static void set_grad(tern_tensor *p, double a, double b)
{
    const double g[] = {a, b};
    tern_zero_grad(p);
    tern_tensor *t = tern_from_data(tern_dims(2), g, .dtype = TERN_FLOAT64);
    t = tern_to_dtype(tern_to(t, tern_device_of(p)), tern_dtype_of(p));
    assert_int_equal(tern_backward(tern_sum(tern_mul(p, t), TERN_ALL_AXES, false)), TERN_OK);
}

static const double start[] = {1, -2};

static void maximize_goes_the_other_way(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *sgd =
        tern_optim_sgd(NULL, .lr = 0.5, .maximize = true, .params = &p, .param_count = 1);
    tern_optim *adam = tern_optim_adam(NULL, .lr = 0.5, .eps = 0, .maximize = true, .params = &q,
                                       .param_count = 1);
    set_grad(p, 1, 4);
    set_grad(q, 1, 4);
    assert_int_equal(tern_optim_step(sgd), TERN_OK);
    assert_int_equal(tern_optim_step(adam), TERN_OK);
    assert_tensor(p, tern_dims(2), 1.5, 0);
    assert_tensor_near(q, 1e-12, tern_dims(2), 1.5, -1.5); // Adam's first step is lr, whatever g
    tern_optim_free(sgd);
    tern_optim_free(adam);
}

static void the_first_step_with_momentum_has_no_dampening(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .momentum = 0.5, .dampening = 0.25, .params = &p,
                                   .param_count = 1);
    set_grad(p, 1, 2);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0, -4);
    assert_int_equal(tern_optim_step(o), TERN_OK); // b = 0.5 b + 0.75 g
    assert_tensor(p, tern_dims(2), -1.25, -6.5);
    assert_tensor(tern_optim_state(o, 0, "momentum_buffer"), tern_dims(2), 1.25, 2.5);
    tern_optim_free(o);
}

static void momentum_that_is_set_later_starts_from_its_own_first_step(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .dampening = 0.5, .params = &p, .param_count = 1);
    set_grad(p, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_null(tern_optim_state(o, 0, "momentum_buffer"));
    assert_int_equal(tern_optim_set(o, 0, TERN_OPTIM_MOMENTUM, 0.5), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(tern_optim_state(o, 0, "momentum_buffer"), tern_dims(2), 1, 1);
    assert_tensor(p, tern_dims(2), -1, -4);
    tern_optim_free(o);
}

static void a_parameter_without_a_gradient_is_skipped_and_has_no_state(void **state)
{
    (void)state;
    tern_tensor *list[] = {leaf(start, 2), leaf(start, 2)};
    tern_optim *o = tern_optim_adam(NULL, .weight_decay = 0.1, .params = list, .param_count = 2);
    set_grad(list[0], 0, 0); // zero is not absent: decay still acts
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_true(value_at(list[0], 0) < 1);
    assert_tensor(list[1], tern_dims(2), 1, -2);
    assert_non_null(tern_optim_state(o, 0, "exp_avg"));
    assert_null(tern_optim_state(o, 1, "exp_avg"));
    assert_int_equal(tern_optim_step_count(o, 0), 1);
    assert_int_equal(tern_optim_step_count(o, 1), 0);
    tern_optim_zero_grad(o);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_int_equal(tern_optim_step_count(o, 0), 1);
    tern_optim_free(o);
}

static void a_graph_from_before_a_step_is_refused(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .params = &p, .param_count = 1);
    tern_tensor *loss = tern_sum(tern_mul(p, p), TERN_ALL_AXES, false);
    assert_int_equal(tern_backward(loss, .retain_graph = true), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_status(tern_backward(loss), TERN_ERR_STATE, "");
    tern_optim_free(o);
}

// ---- groups and options --------------------------------------------------------------------------

static void groups_have_options_of_their_own(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    assert_int_equal(tern_optim_add_group(o, NULL, .lr = 0.25, .params = &q, .param_count = 1),
                     TERN_OK);
    assert_int_equal(tern_optim_num_groups(o), 2);
    assert_int_equal(tern_optim_num_parameters(o), 2);
    set_grad(p, 1, 1);
    set_grad(q, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0, -3);
    assert_tensor(q, tern_dims(2), 0.75, -2.25);
    tern_optim_free(o);
}

static void the_learning_rate_changes_from_the_next_step_on(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    assert_int_equal(tern_optim_add_group(o, NULL, .params = &q, .param_count = 1), TERN_OK);
    assert_true(tern_optim_lr(o, 1) == 1);
    assert_int_equal(tern_optim_set_lr(o, 1, 0.5), TERN_OK);
    assert_true(tern_optim_lr(o, 0) == 1 && tern_optim_lr(o, 1) == 0.5);
    assert_int_equal(tern_optim_set_lr(o, TERN_ALL_GROUPS, 0.125), TERN_OK);
    assert_true(tern_optim_get(o, 0, TERN_OPTIM_LR) == 0.125);
    set_grad(p, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0.875, -2.125);
    tern_optim_free(o);
}

static void options_are_checked_when_they_are_set(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
    tern_optim *sgd = nesterov(NULL);
    assert_error(TERN_ERR_NULL, "optim_sgd: module is NULL");
    sgd = tern_optim_sgd(NULL, .momentum = 0.9, .nesterov = true, .params = &p, .param_count = 1);
    tern_optim *adam = tern_optim_adam(NULL, .params = &q, .param_count = 1);
    assert_status(tern_optim_set_lr(sgd, 0, -1), TERN_ERR_ARG, "optim_set_lr: lr is -1");
    assert_status(tern_optim_set_lr(sgd, 0, NAN), TERN_ERR_ARG, "lr is nan");
    assert_status(tern_optim_set_lr(sgd, 1, 1), TERN_ERR_INDEX, "there is no group 1");
    assert_status(tern_optim_set_lr(sgd, -2, 1), TERN_ERR_INDEX, "there is no group -2");
    assert_status(tern_optim_set(sgd, 0, TERN_OPTIM_MOMENTUM, 0), TERN_ERR_ARG, "nesterov wants");
    assert_status(tern_optim_set(sgd, 0, TERN_OPTIM_BETA1, 0.5), TERN_ERR_ARG,
                  "optim_sgd has no beta1");
    assert_status(tern_optim_set(adam, 0, TERN_OPTIM_BETA2, 1), TERN_ERR_ARG, "betas[1] is 1");
    assert_status(tern_optim_set(adam, 0, TERN_OPTIM_DAMPENING, 1), TERN_ERR_ARG,
                  "optim_adam has no dampening");
    assert_status(tern_optim_set(adam, 0, TERN_OPTIM_UNSPECIFIED, 1), TERN_ERR_ARG, "option 0");
    assert_status(tern_optim_set(adam, 0, (tern_optim_option)99, 1), TERN_ERR_ARG, "such option");
    assert_true(tern_optim_lr(sgd, 0) == 1e-3);
    assert_true(tern_optim_get(sgd, 0, TERN_OPTIM_MOMENTUM) == 0.9);
    assert_true(tern_optim_get(adam, 0, TERN_OPTIM_BETA2) == 0.999);
    assert_true(tern_optim_get(adam, 0, TERN_OPTIM_EPS) == 1e-8);
    assert_int_equal(tern_optim_set(adam, 0, TERN_OPTIM_WEIGHT_DECAY, 0.5), TERN_OK);
    assert_true(tern_optim_get(adam, 0, TERN_OPTIM_WEIGHT_DECAY) == 0.5);
    assert_true(isnan(tern_optim_get(adam, 0, TERN_OPTIM_MOMENTUM)));
    assert_error(TERN_ERR_ARG, "optim_adam has no momentum");
    assert_true(isnan(tern_optim_lr(adam, 3)));
    assert_error(TERN_ERR_INDEX, "there is no group 3");
    tern_optim_free(sgd);
    tern_optim_free(adam);
}

static void constructors_refuse_options_that_make_no_sense(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    assert_null_with(tern_optim_sgd(m, .lr = -0.1), TERN_ERR_ARG, "optim_sgd: lr is -0.1");
    assert_null_with(tern_optim_sgd(m, .lr = INFINITY), TERN_ERR_ARG, "lr is inf");
    assert_null_with(tern_optim_sgd(m, .momentum = -1), TERN_ERR_ARG, "momentum is -1");
    assert_null_with(tern_optim_sgd(m, .dampening = NAN), TERN_ERR_ARG, "dampening is nan");
    assert_null_with(tern_optim_sgd(m, .weight_decay = -1), TERN_ERR_ARG, "weight_decay is -1");
    assert_null_with(tern_optim_sgd(m, .nesterov = true), TERN_ERR_ARG,
                     "nesterov wants momentum above 0 and dampening 0, not 0 and 0");
    assert_null_with(tern_optim_sgd(m, .nesterov = true, .momentum = 0.9, .dampening = 0.1),
                     TERN_ERR_ARG, "not 0.9 and 0.1");
    assert_null_with(tern_optim_adam(m, .betas = {1, 0.9}), TERN_ERR_ARG, "betas[0] is 1");
    assert_null_with(tern_optim_adam(m, .betas = {0.9, -0.1}), TERN_ERR_ARG, "betas[1] is -0.1");
    assert_null_with(tern_optim_adam(m, .eps = -1e-8), TERN_ERR_ARG, "eps is -1e-08");
    assert_null_with(tern_optim_adamw(m, .lr = -1), TERN_ERR_ARG, "optim_adamw: lr is -1");
    assert_null_with(tern_optim_sgd_with(NULL), TERN_ERR_NULL, "optim_sgd: options is NULL");
    assert_null_with(tern_optim_adam_with(NULL), TERN_ERR_NULL, "optim_adam: options is NULL");
    assert_null_with(tern_optim_adamw_with(NULL), TERN_ERR_NULL, "optim_adamw: options is NULL");
    tern_module_free(m);
}

static void parameters_are_checked_when_they_are_given(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2), *relu = tern_nn_relu();
    tern_tensor *p = leaf(start, 2), *none = NULL;
    tern_tensor *made = tern_exp(p), *whole = tern_ones(tern_dims(2), .dtype = TERN_INT64);
    tern_tensor *turned = tern_transpose(tern_ones(tern_dims(2, 3)), 0, 1);
    tern_tensor *twice[] = {p, p};
    assert_null_with(tern_optim_sgd(NULL), TERN_ERR_NULL, "optim_sgd: module is NULL");
    assert_null_with(tern_optim_sgd(NULL, .param_count = 2), TERN_ERR_NULL, "params is NULL");
    assert_null_with(tern_optim_sgd(relu), TERN_ERR_ARG, "there are no parameters to optimize");
    assert_null_with(tern_optim_sgd(NULL, .params = &p), TERN_ERR_ARG, "there are no parameters");
    assert_null_with(tern_optim_sgd(NULL, .params = &p, .param_count = -1), TERN_ERR_ARG,
                     "param_count is -1");
    assert_null_with(tern_optim_sgd(m, .params = &p, .param_count = 1), TERN_ERR_ARG, "not both");
    assert_null_with(tern_optim_sgd(NULL, .params = &none, .param_count = 1), TERN_ERR_NULL,
                     "params[0] is NULL");
    assert_null_with(tern_optim_sgd(NULL, .params = &made, .param_count = 1), TERN_ERR_STATE,
                     "params[0] is the result of exp; only leaves");
    assert_null_with(tern_optim_sgd(NULL, .params = &whole, .param_count = 1), TERN_ERR_DTYPE,
                     "only floating tensors");
    assert_null_with(tern_optim_sgd(NULL, .params = &turned, .param_count = 1), TERN_ERR_STATE,
                     "params[0] is not contiguous");
    assert_null_with(tern_optim_sgd(NULL, .params = twice, .param_count = 2), TERN_ERR_ARG,
                     "params[1] is in the optimizer already");
    tern_module_free(m);
    tern_module_free(relu);
}

static void a_group_that_does_not_fit_is_not_added(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2), *other = tern_nn_linear(2, 2);
    tern_optim *o = tern_optim_adam(m);
    assert_status(tern_optim_add_group(o, m), TERN_ERR_ARG,
                  "weight is in the optimizer already; a parameter belongs to one group");
    assert_status(tern_optim_add_group(o, other, .lr = -1), TERN_ERR_ARG, "lr is -1");
    assert_status(tern_optim_add_group(o, other, .momentum = 0.9), TERN_ERR_ARG,
                  "optim_adam has no momentum");
    assert_status(tern_optim_add_group(o, NULL), TERN_ERR_NULL, "module is NULL");
    assert_status(tern_optim_add_group(NULL, other), TERN_ERR_NULL, "optim is NULL");
    assert_status(tern_optim_add_group_with(NULL), TERN_ERR_NULL, "options is NULL");
    tern_optim *sgd = tern_optim_sgd(other);
    assert_status(tern_optim_add_group(sgd, m, .eps = 1), TERN_ERR_ARG, "no betas and no eps");
    assert_int_equal(tern_optim_num_groups(o), 1);
    assert_int_equal(tern_optim_num_parameters(o), 2);
    tern_optim_free(o);
    tern_optim_free(sgd);
    tern_module_free(m);
    tern_module_free(other);
}

// ---- when a step is refused ----------------------------------------------------------------------

static void a_step_is_refused_while_an_error_is_pending(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_sgd(NULL, .params = &p, .param_count = 1);
    set_grad(p, 1, 1);
    tern_error_raise(TERN_ERR_IO, "something else");
    assert_status(tern_optim_step(o), TERN_ERR_IO, "something else");
    assert_tensor(p, tern_dims(2), 1, -2);
    assert_int_equal(tern_optim_step_count(o, 0), 0);
    tern_optim_free(o);
}

static tern_status fail_backward(tern_backward_context *context)
{
    (void)context;
    return tern_error_raise(TERN_ERR_NUMERIC, "no gradient today");
}

static const tern_function failing = {"failing", fail_backward};

static void a_step_is_refused_after_a_failed_backward_until_zero_grad(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2), *y = NULL;
    tern_optim *o = tern_optim_sgd(NULL, .lr = 1, .params = &p, .param_count = 1);
    tern_no_grad
    {
        y = tern_sum(p, TERN_ALL_AXES, false);
    }
    y = tern_record(&failing, y, &p, 1, NULL, 0, NULL, 0);
    assert_status(tern_backward(y), TERN_ERR_NUMERIC, "no gradient today");
    assert_status(tern_optim_step(o), TERN_ERR_STATE,
                  "the gradient of params[0] was left unusable by a failed backward");
    assert_tensor(p, tern_dims(2), 1, -2);
    tern_optim_zero_grad(o);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    set_grad(p, 1, 1);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(p, tern_dims(2), 0, -3);
    tern_optim_free(o);
}

static void a_label_out_of_range_stops_steps_until_zero_grad(void **state)
{
    (void)state;
    const int64_t bad[] = {0, 9}, good[] = {0, 1};
    tern_module *net = tern_nn_linear(2, 3), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *o = tern_optim_sgd(net);
    tern_tensor *x = tern_ones(tern_dims(2, 2));
    tern_tensor *y = tern_from_data(tern_dims(2), bad, .dtype = TERN_INT64);
    assert_null_with(tern_loss(criterion, tern_forward(net, x), y), TERN_ERR_INDEX,
                     "[in CrossEntropyLoss]");
    assert_int_equal(tern_optim_step(o), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "zero_grad");
    tern_optim_zero_grad(o);
    y = tern_from_data(tern_dims(2), good, .dtype = TERN_INT64);
    assert_int_equal(tern_backward(tern_loss(criterion, tern_forward(net, x), y)), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    tern_module_free(net);
    tern_module_free(criterion);
    tern_optim_free(o);
}

static void null_fails_every_call(void **state)
{
    (void)state;
    assert_status(tern_optim_step(NULL), TERN_ERR_NULL, "optim_step: optim is NULL");
    tern_optim_zero_grad(NULL);
    assert_error(TERN_ERR_NULL, "optim_zero_grad: optim is NULL");
    assert_status(tern_optim_set_lr(NULL, 0, 1), TERN_ERR_NULL, "optim_set_lr: optim is NULL");
    assert_status(tern_optim_set(NULL, 0, TERN_OPTIM_LR, 1), TERN_ERR_NULL, "optim_set: optim");
    assert_true(isnan(tern_optim_lr(NULL, 0)));
    assert_error(TERN_ERR_NULL, "optim_lr: optim is NULL");
    assert_true(isnan(tern_optim_get(NULL, 0, TERN_OPTIM_LR)));
    assert_error(TERN_ERR_NULL, "optim_get: optim is NULL");
    assert_int_equal(tern_optim_num_groups(NULL), -1);
    assert_error(TERN_ERR_NULL, "optim_num_groups: optim is NULL");
    assert_int_equal(tern_optim_num_parameters(NULL), -1);
    assert_error(TERN_ERR_NULL, "optim_num_parameters: optim is NULL");
    assert_null_with(tern_optim_parameter_at(NULL, 0, NULL, 0), TERN_ERR_NULL, "optim is NULL");
    assert_int_equal(tern_optim_step_count(NULL, 0), -1);
    assert_error(TERN_ERR_NULL, "optim_step_count: optim is NULL");
    assert_null_with(tern_optim_state(NULL, 0, "exp_avg"), TERN_ERR_NULL, "optim is NULL");
    assert_status(tern_optim_set_step_count(NULL, 0, 1), TERN_ERR_NULL, "optim is NULL");
    assert_status(tern_optim_set_state(NULL, 0, "exp_avg", NULL), TERN_ERR_NULL, "optim is NULL");
    assert_null(tern_optim_retain(NULL));
    tern_optim_free(NULL);
}

// ---- living together with modules ----------------------------------------------------------------

static void module_and_optimizer_may_be_freed_in_any_order(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 1);
    tern_optim *o = tern_optim_retain(tern_optim_sgd(m));
    tern_tensor *weight = tern_module_parameter(m, "weight");
    assert_int_equal(tern_backward(tern_sum(weight, TERN_ALL_AXES, false)), TERN_OK);
    tern_module_free(m);
    tern_optim_free(o);
    double before = value_at(weight, 0);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_near(value_at(weight, 0), before - 1e-3, 0, 1e-7);
    tern_optim_free(o);
}

// Two steps of Adam, with something done in between.
static void assert_same_steps(void (*between)(tern_module *m), double tolerance)
{
    double final[2];
    for (int k = 0; k < 2; k++) {
        const float weight[] = {1, -2};
        tern_module *m = tern_nn_linear(2, 1, .bias = false);
        tern_tensor *p = tern_module_parameter(m, "weight");
        tern_no_grad
        {
            assert_int_equal(tern_from_host(p, weight, sizeof weight), TERN_OK);
        }
        tern_optim *o = tern_optim_adam(m, .lr = 0.1, .amsgrad = true);
        tern_tensor *flat = tern_reshape(p, tern_dims(2));
        assert_int_equal(tern_backward(tern_sum(tern_mul(flat, flat), TERN_ALL_AXES, false)),
                         TERN_OK);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        if (k == 1)
            between(m);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        assert_int_equal(tern_dtype_of(tern_optim_state(o, 0, "exp_avg")), tern_dtype_of(p));
        assert_true(tern_device_equal(tern_device_of(tern_optim_state(o, 0, "max_exp_avg_sq")),
                                      tern_device_of(p)));
        assert_int_equal(tern_optim_step_count(o, 0), 2);
        final[k] = value_at(p, 0);
        tern_module_free(m);
        tern_optim_free(o);
    }
    assert_true(final[0] < 0.85);
    assert_near(final[1], final[0], 0, tolerance);
}

static void to_other_device(tern_module *m)
{
    assert_non_null(tern_module_to(m, tern_cpu(1)));
}

static void to_double(tern_module *m)
{
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT64));
}

static void the_state_follows_when_the_module_moves(void **state)
{
    (void)state;
    assert_same_steps(to_other_device, 0);
    assert_same_steps(to_double, 1e-6);
}

static void steps_after_the_first_allocate_nothing(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_dropout(),
                                          tern_nn_linear(8, 3));
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3)));
    tern_optim *o = tern_optim_adam(net);
    tern_tensor *x = tern_randn(tern_dims(6, 4)),
                *y = tern_zeros(tern_dims(6), .dtype = TERN_INT64);
    int64_t live = 0;
    for (int i = 0; i < 20; i++) {
        if (i == 3) {
            memory.calls = 0;
            live = tern_memory_live_bytes();
        }
        tern_scope scope = tern_scope_open();
        tern_optim_zero_grad(o);
        tern_module_zero_grad(net);
        assert_int_equal(tern_backward(tern_loss(criterion, tern_forward(net, x), y)), TERN_OK);
        assert_non_null(tern_clip_grad_norm(net, 1));
        assert_int_equal(tern_clip_grad_value(net, 0.5), TERN_OK);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        tern_scope_close(scope);
    }
    assert_int_equal(memory.calls, 0);
    assert_int_equal(tern_memory_live_bytes(), live);
    tern_module_free(net);
    tern_module_free(criterion);
    tern_optim_free(o);
}

static void a_step_that_finds_no_memory_changes_nothing(void **state)
{
    (void)state;
    tern_tensor *list[] = {leaf(start, 2), leaf(start, 2)};
    set_grad(list[0], 1, 2);
    set_grad(list[1], 3, 4);
    tern_optim *o = tern_optim_adam(NULL, .lr = 0.5, .eps = 0, .params = list, .param_count = 2);
    int failures = 0;
    for (;; failures++) {
        tern_memory_trim(); // so that every allocation reaches the allocator
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_status status = tern_optim_step(o);
        bool was_reached = memory.calls >= memory.fail_at;
        memory.fail_at = 0;
        if (!status) {
            assert_false(was_reached && status);
            break;
        }
        assert_error(TERN_ERR_NOMEM, "no memory");
        for (int i = 0; i < 2; i++) {
            assert_tensor(list[i], tern_dims(2), 1, -2);
            assert_null(tern_optim_state(o, i, "exp_avg"));
            assert_int_equal(tern_optim_step_count(o, i), 0);
        }
    }
    print_message("%d allocations failed\n", failures);
    assert_true(failures > 0);
    assert_tensor_near(list[1], 1e-12, tern_dims(2), 0.5, -2.5);
    tern_optim_free(o);
}

static void a_constructor_that_finds_no_memory_leaves_nothing(void **state)
{
    (void)state;
    int failures = 0;
    tern_module *m = tern_nn_linear(2, 2);
    for (;; failures++) {
        tern_memory_trim();
        int64_t live = tern_memory_live_bytes();
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_optim *o = tern_optim_sgd(m);
        memory.fail_at = 0;
        if (o) {
            tern_optim_free(o);
            break;
        }
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(tern_memory_live_bytes(), live);
    }
    assert_true(failures >= 5); // optimizer, group, entries, two names at least
    tern_module_free(m);
}

static void dropout_draws_anew_after_a_step(void **state)
{
    (void)state;
    float masks[2][64];
    tern_module *net = tern_nn_sequential(tern_nn_linear(1, 1, .bias = false), tern_nn_dropout());
    tern_optim *o = tern_optim_sgd(net);
    for (int i = 0; i < 2; i++) {
        tern_tensor *y = tern_forward(tern_module_child(net, "1"), tern_ones(tern_dims(64)));
        assert_int_equal(tern_to_host(y, masks[i], sizeof masks[i]), TERN_OK);
        assert_int_equal(tern_optim_step(o), TERN_OK);
    }
    assert_memory_not_equal(masks[0], masks[1], sizeof masks[0]);
    tern_module_free(net);
    tern_optim_free(o);
}

// ---- state ---------------------------------------------------------------------------------------

static void parameters_are_listed_with_their_names(void **state)
{
    (void)state;
    char name[TERN_NAME_SIZE];
    tern_module *m = tern_nn_sequential(tern_nn_relu(), tern_nn_linear(2, 2));
    tern_optim *o = tern_optim_sgd(m);
    assert_ptr_equal(tern_optim_parameter_at(o, 1, name, sizeof name),
                     tern_module_parameter(m, "1.bias"));
    assert_string_equal(name, "1.bias");
    assert_non_null(tern_optim_parameter_at(o, 0, NULL, 0));
    assert_null_with(tern_optim_parameter_at(o, 2, NULL, 0), TERN_ERR_INDEX,
                     "there is no parameter 2; optim_sgd has 2");
    assert_null_with(tern_optim_parameter_at(o, -1, NULL, 0), TERN_ERR_INDEX, "no parameter -1");
    tern_module_free(m);
    tern_optim_free(o);
}

static void a_restored_state_goes_on_as_the_first_one(void **state)
{
    (void)state;
    for (int sgd = 0; sgd < 2; sgd++) {
        tern_tensor *p = leaf(start, 2), *q = leaf(start, 2);
        tern_optim *o, *restored;
        const char *names[2][2] = {{"exp_avg", "exp_avg_sq"}, {"momentum_buffer", NULL}};
        if (sgd) {
            o = tern_optim_sgd(NULL, .momentum = 0.9, .dampening = 0.5, .params = &p,
                               .param_count = 1);
            restored = tern_optim_sgd(NULL, .momentum = 0.9, .dampening = 0.5, .params = &q,
                                      .param_count = 1);
        } else {
            o = tern_optim_adam(NULL, .params = &p, .param_count = 1);
            restored = tern_optim_adam(NULL, .params = &q, .param_count = 1);
        }
        for (int i = 0; i < 3; i++) {
            set_grad(p, i + 1, 2);
            assert_int_equal(tern_optim_step(o), TERN_OK);
        }
        tern_no_grad
        {
            assert_non_null(tern_copy_(q, p));
        }
        for (int i = 0; i < 2 && names[sgd][i]; i++)
            assert_int_equal(tern_optim_set_state(restored, 0, names[sgd][i],
                                                  tern_optim_state(o, 0, names[sgd][i])),
                             TERN_OK);
        if (!sgd) // PyTorch's SGD stores no count: a buffer alone must do
            assert_int_equal(tern_optim_set_step_count(restored, 0, 3), TERN_OK);
        set_grad(p, 5, 6);
        set_grad(q, 5, 6);
        assert_int_equal(tern_optim_step(o), TERN_OK);
        assert_int_equal(tern_optim_step(restored), TERN_OK);
        assert_tensor(q, tern_dims(2), value_at(p, 0), value_at(p, 1));
        tern_optim_free(o);
        tern_optim_free(restored);
    }
}

static void state_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    tern_tensor *p = leaf(start, 2);
    tern_optim *o = tern_optim_adam(NULL, .params = &p, .param_count = 1);
    assert_status(tern_optim_set_state(o, 0, "exp_avg", tern_ones(tern_dims(3))), TERN_ERR_SHAPE,
                  "exp_avg of params[0] is (2,), but the value given (3,)");
    assert_status(tern_optim_set_state(o, 0, "momentum_buffer", p), TERN_ERR_ARG,
                  "optim_adam has no state \"momentum_buffer\"");
    assert_status(tern_optim_set_state(o, 1, "exp_avg", p), TERN_ERR_INDEX, "no parameter 1");
    assert_status(tern_optim_set_state(o, 0, NULL, p), TERN_ERR_NULL, "name is NULL");
    assert_status(tern_optim_set_state(o, 0, "exp_avg", NULL), TERN_ERR_NULL, "value is NULL");
    assert_status(tern_optim_set_step_count(o, 0, -1), TERN_ERR_ARG, "-1 updates");
    assert_status(tern_optim_set_step_count(o, 4, 1), TERN_ERR_INDEX, "no parameter 4");
    assert_null_with(tern_optim_state(o, 0, "sum"), TERN_ERR_ARG, "no state \"sum\"");
    assert_null_with(tern_optim_state(o, 9, "exp_avg"), TERN_ERR_INDEX, "no parameter 9");
    assert_int_equal(tern_optim_step_count(o, 9), -1);
    assert_error(TERN_ERR_INDEX, "no parameter 9");
    tern_optim_free(o);
}

static void defaults_are_those_of_the_macros(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 2);
    tern_optim_sgd_options sgd = tern_optim_sgd_defaults();
    tern_optim_adam_options adam = tern_optim_adam_defaults(), adamw = tern_optim_adamw_defaults();
    tern_optim_add_group_options group = tern_optim_add_group_defaults();
    assert_true(sgd.lr == 1e-3 && sgd.momentum == 0 && sgd.dampening == 0 && sgd.weight_decay == 0);
    assert_true(adam.lr == 1e-3 && adam.betas[0] == 0.9 && adam.betas[1] == 0.999);
    assert_true(adam.eps == 1e-8 && adam.weight_decay == 0 && adamw.weight_decay == 0.01);
    assert_true(isnan(group.lr) && isnan(group.betas[1]) && isnan(group.eps));
    tern_optim *o = tern_optim_adamw(m);
    assert_true(tern_optim_get(o, 0, TERN_OPTIM_WEIGHT_DECAY) == 0.01);
    assert_true(tern_optim_get(o, 0, TERN_OPTIM_BETA1) == 0.9);
    tern_module_free(m);
    tern_optim_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(every_stored_run_of_pytorch_is_repeated),
        CHECK_TEST(five_losses_are_those_that_pytorch_printed),
        CHECK_TEST(maximize_goes_the_other_way),
        CHECK_TEST(the_first_step_with_momentum_has_no_dampening),
        CHECK_TEST(momentum_that_is_set_later_starts_from_its_own_first_step),
        CHECK_TEST(a_parameter_without_a_gradient_is_skipped_and_has_no_state),
        CHECK_TEST(a_graph_from_before_a_step_is_refused),
        CHECK_TEST(groups_have_options_of_their_own),
        CHECK_TEST(the_learning_rate_changes_from_the_next_step_on),
        CHECK_TEST(options_are_checked_when_they_are_set),
        CHECK_TEST(constructors_refuse_options_that_make_no_sense),
        CHECK_TEST(parameters_are_checked_when_they_are_given),
        CHECK_TEST(a_group_that_does_not_fit_is_not_added),
        CHECK_TEST(a_step_is_refused_while_an_error_is_pending),
        CHECK_TEST(a_step_is_refused_after_a_failed_backward_until_zero_grad),
        CHECK_TEST(a_label_out_of_range_stops_steps_until_zero_grad),
        CHECK_TEST(null_fails_every_call),
        CHECK_TEST(module_and_optimizer_may_be_freed_in_any_order),
        CHECK_TEST(the_state_follows_when_the_module_moves),
        CHECK_TEST(steps_after_the_first_allocate_nothing),
        CHECK_TEST(a_step_that_finds_no_memory_changes_nothing),
        CHECK_TEST(a_constructor_that_finds_no_memory_leaves_nothing),
        CHECK_TEST(dropout_draws_anew_after_a_step),
        CHECK_TEST(parameters_are_listed_with_their_names),
        CHECK_TEST(a_restored_state_goes_on_as_the_first_one),
        CHECK_TEST(state_that_does_not_fit_is_refused),
        CHECK_TEST(defaults_are_those_of_the_macros),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (tern_set_allocator(&(tern_allocator){take, give, NULL}))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
