// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "operations.h"

// ---- running one --------------------------------------------------------------------------------

static tern_status differentiate(tern_tensor *y)
{
    if (!y)
        return tern_error_code();
    if (tern_requires_grad(y))
        TERN_TRY(tern_backward(tern_sum(y, TERN_ALL_AXES, false)));
    TERN_TRY(world_see(y));
    tern_tensor *const leaves[] = {w.a, w.b, w.half, w.wide};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        tern_tensor *grad = tern_grad(leaves[i]);
        if (grad)
            TERN_TRY(world_see(grad));
    }
    return tern_error_code();
}

tern_status operation_prepare(const operation *op)
{
    if (op->formula)
        return world_make_leaves();
    return op->prepare ? op->prepare() : TERN_OK;
}

tern_status operation_recover(const operation *op)
{
    tern_tensor *const leaves[] = {w.a, w.b, w.half, w.wide};
    for (size_t i = 0; op->formula && i < sizeof leaves / sizeof *leaves; i++)
        tern_zero_grad(leaves[i]);
    return op->recover ? op->recover() : TERN_OK;
}

tern_status operation_run(const operation *op)
{
    return op->formula ? differentiate(op->formula()) : op->run();
}

// ---- making -------------------------------------------------------------------------------------

static tern_status start_anew(void)
{
    world_reset();
    return TERN_OK;
}

static tern_status create(void)
{
    TERN_TRY(world_make_net());
    w.optim = tern_optim_sgd(w.net, .momentum = 0.9);
    return w.optim ? TERN_OK : tern_error_code();
}

static tern_status create_linear(void)
{
    w.net = tern_nn_linear(5, 3);
    return w.net ? TERN_OK : tern_error_code();
}

static tern_status create_elsewhere(void)
{
    w.net = tern_nn_linear(5, 3, .dtype = TERN_FLOAT64, .device = tern_cpu(1));
    return w.net ? TERN_OK : tern_error_code();
}

static tern_status create_optim(void)
{
    w.optim = tern_optim_adamw(w.net, .amsgrad = true);
    return w.optim ? TERN_OK : tern_error_code();
}

static tern_status prepare_group(void)
{
    TERN_TRY(world_make_net_and_batch());
    tern_tensor *first = tern_module_parameter_at(w.net, 0, NULL, 0);
    w.optim = tern_optim_sgd(NULL, .params = &first, .param_count = 1);
    return w.optim ? world_make_leaves() : tern_error_code();
}

// Lists that grew before the failure stay so until the optimizer is freed.
static tern_status add_group(void)
{
    tern_tensor *more[] = {w.a, w.b, w.wide, w.half};
    return tern_optim_add_group(w.optim, NULL, .lr = 0.5, .params = more, .param_count = 4);
}

static tern_status create_generator(void)
{
    w.generator = tern_generator_new(3);
    return w.generator ? TERN_OK : tern_error_code();
}

static tern_status count_forwards(tern_module *module, const tern_tensors *in, tern_tensors *out,
                                  void *user)
{
    (void)module, (void)in, (void)out, (void)user;
    return TERN_OK;
}

static tern_status add_hook(void)
{
    return tern_module_add_forward_hook(w.net, count_forwards, NULL) ? TERN_OK : tern_error_code();
}

// Its bits are those of the net.
static tern_status copy_net(void)
{
    tern_status status = TERN_OK;
    tern_module *copy = tern_module_copy(w.net);
    const int64_t count = copy ? tern_module_num_parameters(copy) : -1;
    for (int64_t i = 0; !status && i < count; i++)
        status = world_see(tern_module_parameter_at(copy, i, NULL, 0));
    tern_module_free(copy);
    return tern_error_pending() ? tern_error_code() : status;
}

static tern_status reset_net(void)
{
    return tern_module_reset_parameters(w.net, NULL);
}

static tern_status exchange_child(void)
{
    return tern_module_set_child(w.net, "1", tern_nn_identity());
}

// ---- a training step ----------------------------------------------------------------------------

static tern_status forward(void)
{
    TERN_TRY(world_forward());
    return world_see(w.loss);
}

// Without dropout, so that a second forward gives the same.
static tern_status prepare_backward(void)
{
    TERN_TRY(world_make_net_and_batch());
    (void)tern_module_eval(w.net);
    return world_forward();
}

static tern_status backward(void)
{
    TERN_TRY(tern_backward(w.loss));
    uint64_t gradients = world_state((world_parts){.gradients = true});
    world_see_bytes(&gradients, sizeof gradients);
    return TERN_OK;
}

// The second backward adds to what the first left.
static tern_status prepare_second_backward(void)
{
    TERN_TRY(prepare_backward());
    TERN_TRY(tern_backward(w.loss));
    return world_forward();
}

// A failed backward has spoilt the gradients of the first.
static tern_status begin_second_backward_anew(void)
{
    tern_module_zero_grad(w.net);
    TERN_TRY(world_forward());
    TERN_TRY(tern_backward(w.loss));
    return world_forward();
}

static tern_status zero_gradients(void)
{
    tern_module_zero_grad(w.net);
    return TERN_OK;
}

static tern_status begin_backward_anew(void)
{
    (void)zero_gradients();
    return world_forward();
}

static tern_status prepare_step_of(tern_optim *optim)
{
    w.optim = optim;
    return optim ? tern_backward(w.loss) : tern_error_code();
}

static tern_status prepare_sgd(void)
{
    TERN_TRY(prepare_backward());
    return prepare_step_of(tern_optim_sgd(w.net, .momentum = 0.9, .nesterov = true));
}

static tern_status prepare_adam(void)
{
    TERN_TRY(prepare_backward());
    return prepare_step_of(tern_optim_adam(w.net));
}

static tern_status prepare_adamw(void)
{
    TERN_TRY(prepare_backward());
    return prepare_step_of(tern_optim_adamw(w.net, .amsgrad = true));
}

static tern_status prepare_muon(void)
{
    TERN_TRY(prepare_backward());
    return prepare_step_of(tern_optim_muon(w.net, .rest = TERN_MUON_ADAMW));
}

static tern_status prepare_adafactor(void)
{
    TERN_TRY(prepare_backward());
    return prepare_step_of(tern_optim_adafactor(w.net));
}

static tern_status step(void)
{
    return tern_optim_step(w.optim);
}

// The state is left behind on the first device, in another dtype.
static tern_status prepare_step_after_move(void)
{
    TERN_TRY(prepare_adamw());
    TERN_TRY(step());
    if (!tern_module_to_dtype(tern_module_to(w.net, tern_cpu(1)), TERN_FLOAT64))
        return tern_error_code();
    return TERN_OK;
}

static tern_status set_state(void)
{
    return tern_optim_set_state(w.optim, 0, "exp_avg", tern_ones(tern_dims(8, 12)));
}

static tern_status clip_norm(void)
{
    TERN_TRY(world_see(tern_clip_grad_norm(w.net, 1e-3)));
    return TERN_OK;
}

static tern_status clip_optim_norm(void)
{
    return world_see(tern_clip_grad_norm(NULL, 1e-3, .norm_type = INFINITY, .optim = w.optim));
}

static tern_status clip_value(void)
{
    return tern_clip_grad_value(w.net, 1e-4);
}

// Half of the gradients on each of two devices.
static tern_status prepare_two_devices(void)
{
    TERN_TRY(prepare_adam());
    return tern_module_to(tern_module_child_at(w.net, 1), tern_cpu(1)) ? TERN_OK
                                                                       : tern_error_code();
}

// ---- evaluation ---------------------------------------------------------------------------------

static tern_status evaluate(void)
{
    tern_status status = TERN_OK;
    (void)tern_module_eval(w.net);
    tern_no_grad {
        tern_tensor *logits = tern_forward(w.net, w.x);
        tern_tensor *right = tern_eq(tern_argmax(logits, 1, false), w.y);
        tern_tensor *accuracy = tern_mean(tern_to_dtype(right, TERN_FLOAT32), TERN_ALL_AXES, false);
        double value = tern_item(accuracy);
        world_see_bytes(&value, sizeof value);
        status = world_see(logits);
    }
    (void)tern_module_train(w.net, true);
    return tern_error_pending() ? tern_error_code() : status;
}

// ---- moving -------------------------------------------------------------------------------------

static tern_status prepare_move(void)
{
    TERN_TRY(prepare_backward());
    return tern_backward(w.loss);
}

static tern_status move_net(void)
{
    return tern_module_to(w.net, tern_cpu(1)) ? TERN_OK : tern_error_code();
}

static tern_status cast_net(void)
{
    return tern_module_to_dtype(w.net, TERN_FLOAT64) ? TERN_OK : tern_error_code();
}

static tern_status copy_in_place(void)
{
    static const double ones[6 * 3 * 4] = {1, 1};
    tern_tensor *from = tern_from_data(tern_dims(4, 3, 6), ones, .dtype = TERN_FLOAT64);
    return tern_copy_(w.x, tern_to(tern_transpose(from, 0, 2), tern_cpu(1))) ? TERN_OK
                                                                             : tern_error_code();
}

// ---- elsewhere ----------------------------------------------------------------------------------

static void *train_on_this_thread(void *status)
{
    tern_status *result = status;
    *result = forward();
    if (!*result)
        *result = backward();
    tern_error_clear();
    return NULL;
}

// A new thread has no scopes and no work lists yet.
static tern_status train_on_another_thread(void)
{
    pthread_t thread;
    tern_status status = TERN_ERR_STATE;
    if (pthread_create(&thread, NULL, train_on_this_thread, &status) || pthread_join(thread, NULL))
        abort();
    return status ? tern_error_raise(status, "no memory on another thread") : TERN_OK;
}

// Scopes within scopes, each with more temporaries than its list begins with.
static tern_status nest_scopes(void)
{
    tern_scope scope[5];
    tern_tensor *t = w.x;
    tern_status status = TERN_OK;
    for (int depth = 0; depth < 5 && !status; depth++) {
        scope[depth] = tern_scope_open();
        for (int i = 0; i < 9 && t; i++)
            t = tern_add_scalar(t, 1);
        status = scope[depth] && t ? world_see(t) : tern_error_code();
    }
    tern_scope_close(scope[0]);
    return status;
}

static tern_status group_names(void)
{
    return tern_optim_group_names(w.optim, "*.bias", .weight_decay = 0);
}

static tern_status create_adagrad(void)
{
    w.optim = tern_optim_adagrad(w.net);
    return w.optim ? world_see(tern_optim_state(w.optim, 0, "sum")) : tern_error_code();
}

// ---- several devices ----------------------------------------------------------------------------

static tern_module *wrapped(tern_module *net)
{
    const tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    return tern_nn_data_parallel(net, .devices = devices, .count = 2);
}

static tern_status wrap(void)
{
    w.net = wrapped(w.net);
    return w.net ? TERN_OK : tern_error_code();
}

static tern_status wrap_linear(void)
{
    w.net = wrapped(tern_nn_linear(5, 3));
    return w.net ? TERN_OK : tern_error_code();
}

static tern_status prepare_parallel(void)
{
    TERN_TRY(world_make_net_and_batch());
    (void)tern_module_eval(w.net);
    return wrap();
}

static tern_status forward_and_backward(void)
{
    TERN_TRY(world_forward());
    return backward();
}

static tern_status run_pipeline(void)
{
    tern_tensor *loss = tern_pipeline(w.net, w.criterion, w.x, w.y, .micro_batches = 3);
    TERN_TRY(loss ? world_see(loss) : tern_error_code());
    uint64_t gradients = world_state((world_parts){.gradients = true});
    world_see_bytes(&gradients, sizeof gradients);
    return TERN_OK;
}

static tern_status check_parallel(void)
{
    return tern_parallel_check(w.net, w.x, w.y, .criterion = w.criterion);
}

const operation operations[] = {
    {"create", 70, .run = create, .keeps = true, .draws = true, .recover = start_anew},
    {"create_linear", 7, .run = create_linear},
    {"create_elsewhere", 10, .run = create_elsewhere},
    {"create_optim", 11, .prepare = world_make_net_and_batch, .run = create_optim},
    {"create_generator", 1, .run = create_generator},
    {"create_adagrad", 11, .prepare = world_make_net_and_batch, .run = create_adagrad},
    {"group_names", 1, .prepare = prepare_adam, .run = group_names, .keeps = true},
    {"add_group", 3, .prepare = prepare_group, .run = add_group, .keeps = true},
    {"add_hook", 1, .prepare = world_make_net_and_batch, .run = add_hook},
    {"copy", 30, .prepare = prepare_move, .run = copy_net},
    {"reset", 10, .prepare = world_make_net_and_batch, .run = reset_net},
    {"exchange_child", 3, .prepare = world_make_net_and_batch, .run = exchange_child},
    {"forward", 31, .prepare = world_make_net_and_batch, .run = forward, .draws = true},
    {"backward", 25, .prepare = prepare_backward, .run = backward, .spoils = true, .keeps = true,
     .recover = begin_backward_anew},
    {"second_backward", 20, .prepare = prepare_second_backward, .run = backward, .spoils = true,
     .keeps = true, .recover = begin_second_backward_anew},
    {"step_sgd", 8, .prepare = prepare_sgd, .run = step},
    {"step_adam", 16, .prepare = prepare_adam, .run = step},
    {"step_adamw", 24, .prepare = prepare_adamw, .run = step},
    {"step_muon", 60, .prepare = prepare_muon, .run = step},
    {"step_adafactor", 60, .prepare = prepare_adafactor, .run = step},
    {"step_after_move", 48, .prepare = prepare_step_after_move, .run = step},
    {"set_state", 3, .prepare = prepare_adam, .run = set_state},
    {"clip_norm", 6, .prepare = prepare_move, .run = clip_norm},
    {"clip_optim_norm", 9, .prepare = prepare_two_devices, .run = clip_optim_norm},
    {"clip_value", 4, .prepare = prepare_move, .run = clip_value},
    {"evaluate", 22, .prepare = world_make_net_and_batch, .run = evaluate},
    {"move", 20, .prepare = prepare_move, .run = move_net},
    {"cast", 20, .prepare = prepare_move, .run = cast_net},
    {"copy_in_place", 6, .prepare = world_make_batch, .run = copy_in_place},
    {"train_on_another_thread", 68, .prepare = world_make_net_and_batch,
     .run = train_on_another_thread, .draws = true, .spoils = true, .keeps = true,
     .recover = zero_gradients},
    {"wrap_linear", 12, .run = wrap_linear, .draws = true, .recover = start_anew},
    {"data_parallel", 100, .prepare = prepare_parallel, .run = forward_and_backward, .spoils = true,
     .keeps = true, .recover = zero_gradients},
    {"pipeline", 100, .prepare = prepare_backward, .run = run_pipeline, .spoils = true,
     .keeps = true, .recover = zero_gradients},
    {"parallel_check", 100, .prepare = prepare_parallel, .run = check_parallel},
    {"nest_scopes", 72, .prepare = world_make_batch, .run = nest_scopes},
    {0},
};
