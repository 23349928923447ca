// SPDX-License-Identifier: Apache-2.0
// optim.h
#include "errors.h"

#define LIST(...) ((tern_tensor *[]){__VA_ARGS__})

CANNOT_FAIL(tern_optim_retain, "NULL stays NULL", !tern_optim_retain(NULL))
CANNOT_FAIL(tern_optim_free, "NULL is fine", (tern_optim_free(tern_optim_retain(f->optim)), 1))
TAKES(tern_optim_retain, "NULL", tern_optim_retain(NULL) == NULL)
TAKES(tern_optim_free, "NULL", (tern_optim_free(NULL), 1))

// ---- groups -------------------------------------------------------------------------------------

#define NO_OPTIM(function, op, ...)                                                                \
    REFUSES(function, "an optimizer that is NULL", TERN_ERR_NULL, op ": optim is NULL", __VA_ARGS__)

#define ADD_LEAF(optim, ...)                                                                       \
    tern_optim_add_group(optim, NULL, .params = LIST(f->leaf), .param_count = 1, __VA_ARGS__)
REFUSES(tern_optim_add_group_with, "options that are NULL", TERN_ERR_NULL,
        "optim_add_group: options is NULL", tern_optim_add_group_with(NULL))
NO_OPTIM(tern_optim_add_group_with, "optim_add_group", tern_optim_add_group(NULL, f->net))
REFUSES(tern_optim_add_group_with, "parameters that it has", TERN_ERR_ARG, "|0.weight|already",
        tern_optim_add_group(f->optim, f->net))
REFUSES(tern_optim_add_group_with, "a negative lr", TERN_ERR_ARG, "optim_add_group: lr is -1",
        ADD_LEAF(f->optim, .lr = -1))
REFUSES(tern_optim_add_group_with, "neither module nor params", TERN_ERR_NULL, "module is NULL",
        tern_optim_add_group(f->optim, NULL))

static tern_status with_lbfgs(fixture *f, tern_status (*call)(fixture *, tern_optim *))
{
    tern_optim *optim = tern_optim_lbfgs(f->net);
    const tern_status status = call(f, optim);
    tern_optim_free(optim);
    return status;
}

static tern_status add_leaf(fixture *f, tern_optim *optim)
{
    return ADD_LEAF(optim, .lr = 1);
}

static tern_status group_biases(fixture *f, tern_optim *optim)
{
    (void)f;
    return tern_optim_group_names(optim, "*.bias");
}

REFUSES(tern_optim_add_group_with, "a second group of LBFGS", TERN_ERR_ARG,
        "optim_add_group: LBFGS has one group", with_lbfgs(f, add_leaf))
REFUSES(tern_optim_group_names_with, "a second group of LBFGS", TERN_ERR_ARG,
        "optim_group_names: LBFGS has one group", with_lbfgs(f, group_biases))
REFUSES(tern_optim_group_names_with, "no options", TERN_ERR_NULL, "optim_group_names: options",
        tern_optim_group_names_with(NULL))
NO_OPTIM(tern_optim_group_names_with, "optim_group_names", tern_optim_group_names(NULL, "*"))
REFUSES(tern_optim_group_names_with, "no pattern", TERN_ERR_NULL, "optim_group_names: pattern",
        tern_optim_group_names(f->optim, NULL))
REFUSES(tern_optim_group_names_with, "a pattern that nothing is like", TERN_ERR_ARG,
        "optim_group_names: |\"*.bais\"|bias", tern_optim_group_names(f->optim, "*.bais"))
REFUSES(tern_optim_group_names_with, "a negative lr", TERN_ERR_ARG, "optim_group_names: lr is -1",
        tern_optim_group_names(f->optim, "*", .lr = -1))

static bool is_any(const tern_module_entry *parameter, void *user)
{
    (void)parameter, (void)user;
    return true;
}

static bool is_none(const tern_module_entry *parameter, void *user)
{
    (void)parameter, (void)user;
    return false;
}

static bool fails(const tern_module_entry *parameter, void *user)
{
    (void)user;
    return tern_neg(tern_select(parameter->tensor, 5, 0)) != NULL;
}

static tern_status group_of_another(fixture *f)
{
    tern_module *other = tern_nn_linear(2, 2);
    const tern_status status = tern_optim_group_if(f->optim, other, is_any);
    tern_module_free(other);
    return status;
}

REFUSES(tern_optim_group_if_with, "no options", TERN_ERR_NULL, "optim_group_if: options",
        tern_optim_group_if_with(NULL))
NO_OPTIM(tern_optim_group_if_with, "optim_group_if", tern_optim_group_if(NULL, f->net, is_any))
REFUSES(tern_optim_group_if_with, "no module", TERN_ERR_NULL, "optim_group_if: module",
        tern_optim_group_if(f->optim, NULL, is_any))
REFUSES(tern_optim_group_if_with, "no function", TERN_ERR_NULL, "optim_group_if: function",
        tern_optim_group_if(f->optim, f->net, NULL))
REFUSES(tern_optim_group_if_with, "a function that chooses nothing", TERN_ERR_ARG,
        "optim_group_if: the function chose no parameter",
        tern_optim_group_if(f->optim, f->net, is_none))
REFUSES(tern_optim_group_if_with, "a function that fails", TERN_ERR_ARG, "select: dim 5",
        tern_optim_group_if(f->optim, f->net, fails))
REFUSES(tern_optim_group_if_with, "a parameter of another module", TERN_ERR_ARG,
        "optim_group_if: weight is not a parameter of this SGD", group_of_another(f))
REFUSES(tern_optim_group_if_with, "a negative lr", TERN_ERR_ARG, "optim_group_if: lr is -1",
        tern_optim_group_if(f->optim, f->net, is_any, .lr = -1))

NO_OPTIM(tern_optim_state_dict, "optim_state_dict", tern_optim_state_dict(NULL) == NULL)
REFUSES(tern_optim_load_state_dict_with, "no options", TERN_ERR_NULL,
        "optim_load_state_dict: options", tern_optim_load_state_dict_with(NULL))
NO_OPTIM(tern_optim_load_state_dict_with, "optim_load_state_dict",
         tern_optim_load_state_dict(NULL, f->state))
REFUSES(tern_optim_load_state_dict_with, "no state", TERN_ERR_NULL, "optim_load_state_dict: state",
        tern_optim_load_state_dict(f->optim, NULL))
REFUSES(tern_optim_load_state_dict_with, "the state of something else", TERN_ERR_ARG,
        "optim_load_state_dict: |missing|\"optimizer\"|unexpected 2: \"x\", \"count\"",
        tern_optim_load_state_dict(f->optim, f->state))
REFUSES(tern_optim_load_state_dict_with, "an empty component", TERN_ERR_ARG,
        "optim_load_state_dict: .strip_component is \"\"; a component of a name has no dot",
        tern_optim_load_state_dict(f->optim, f->state, .strip_component = ""))
NO_OPTIM(tern_visit_optim, "visit_optim", tern_visit_optim(NULL, "optim", NULL))

NO_OPTIM(tern_optim_num_groups, "optim_num_groups", tern_optim_num_groups(NULL) == -1)

static int is_nan(double value)
{
    return isnan(value) != 0;
}

NO_OPTIM(tern_optim_get, "optim_get", is_nan(tern_optim_get(NULL, 0, "lr")))
REFUSES(tern_optim_get, "a group that there is not", TERN_ERR_INDEX, "optim_get: |group 1|has 1",
        is_nan(tern_optim_get(f->optim, 1, "lr")))
REFUSES(tern_optim_get, "all groups", TERN_ERR_INDEX, "optim_get: |group -1",
        is_nan(tern_optim_get(f->optim, TERN_ALL_GROUPS, "lr")))
REFUSES(tern_optim_get, "a number that it does not have", TERN_ERR_ARG, "optim_get: |SGD|betas[0]",
        is_nan(tern_optim_get(f->optim, 0, "betas[0]")))
REFUSES(tern_optim_get, "an initial_lr without a scheduler", TERN_ERR_STATE,
        "optim_get: group 0 has no initial_lr|scheduler",
        is_nan(tern_optim_get(f->optim, 0, "initial_lr")))
REFUSES(tern_optim_get, "no name", TERN_ERR_NULL, "optim_get: name",
        is_nan(tern_optim_get(f->optim, 0, NULL)))
NO_OPTIM(tern_optim_set, "optim_set", tern_optim_set(NULL, 0, "lr", 1))
REFUSES(tern_optim_set, "a group that there is not", TERN_ERR_INDEX, "optim_set: |group 1|has 1",
        tern_optim_set(f->optim, 1, "lr", 1))
REFUSES(tern_optim_set, "no name", TERN_ERR_NULL, "optim_set: name",
        tern_optim_set(f->optim, 0, NULL, 1))
REFUSES(tern_optim_set, "a flag that is neither 0 nor 1", TERN_ERR_ARG,
        "optim_set: nesterov is 2|0 or 1", tern_optim_set(f->optim, 0, "nesterov", 2))
REFUSES(tern_optim_set, "a number that it does not have", TERN_ERR_ARG, "optim_set: |Adam|momentum",
        tern_optim_set(f->adam, 0, "momentum", 1))
REFUSES(tern_optim_set, "a beta of 1", TERN_ERR_ARG, "optim_set: betas[1] is 1",
        tern_optim_set(f->adam, TERN_ALL_GROUPS, "betas[1]", 1))
REFUSES(tern_optim_set, "a negative momentum", TERN_ERR_ARG, "optim_set: momentum is -1",
        tern_optim_set(f->optim, TERN_ALL_GROUPS, "momentum", -1))
NO_OPTIM(tern_optim_lr, "optim_lr", is_nan(tern_optim_lr(NULL, 0)))
REFUSES(tern_optim_lr, "a group that there is not", TERN_ERR_INDEX, "optim_lr: |group 2",
        is_nan(tern_optim_lr(f->optim, 2)))
NO_OPTIM(tern_optim_set_lr, "optim_set_lr", tern_optim_set_lr(NULL, 0, 1))
REFUSES(tern_optim_set_lr, "a group that there is not", TERN_ERR_INDEX, "optim_set_lr: |group 2",
        tern_optim_set_lr(f->optim, 2, 1))
REFUSES(tern_optim_set_lr, "an lr that is NaN", TERN_ERR_ARG, "optim_set_lr: lr is nan",
        tern_optim_set_lr(f->optim, 0, NAN))

// ---- steps --------------------------------------------------------------------------------------

static tern_status step_after_failed_backward(fixture *f)
{
    bool pending = tern_error_pending();
    tern_tensor *y = tern_exp(tern_forward(f->net, f->x));
    tern_tensor *loss = tern_sum(tern_mul(y, y), TERN_ALL_AXES, false);
    tern_no_grad (void)
        tern_fill_(y, 3);
    if (!tern_backward(loss))
        return TERN_OK;
    if (!pending)
        tern_error_clear();
    return tern_optim_step(f->optim);
}

static tern_status step_while_pending(fixture *f)
{
    tern_tensor *y = tern_forward(f->net, f->x);
    (void)!tern_backward(tern_sum(y, TERN_ALL_AXES, false));
    (void)tern_error_raise(TERN_ERR_IO, "an error that nobody has looked at");
    return tern_optim_step(f->optim);
}

NO_OPTIM(tern_optim_zero_grad, "optim_zero_grad", (tern_optim_zero_grad(NULL), 1))
NO_OPTIM(tern_optim_step, "optim_step", tern_optim_step(NULL))
REFUSES(tern_optim_step, "gradients that a failed backward left", TERN_ERR_STATE,
        "optim_step: |weight|unusable|tern_optim_zero_grad", step_after_failed_backward(f))
REFUSES(tern_optim_step, "to go on while an error is pending", TERN_ERR_IO,
        "an error that nobody has looked at", step_while_pending(f))

HANDS_ON(tern_optim_step, "of the backward before", tern_optim_step(f->optim))
TAKES(tern_optim_step, "parameters without gradients", !tern_optim_step(f->optim))

static tern_status step_of(fixture *f, tern_optim *optim)
{
    (void)f;
    return tern_optim_step(optim);
}

REFUSES(tern_optim_step, "a step of LBFGS without a closure", TERN_ERR_STATE,
        "optim_step: LBFGS |tern_optim_step_closure", with_lbfgs(f, step_of))

static tern_status accumulate(fixture *f, tern_optim *optim)
{
    (void)f;
    return tern_optim_accumulate(optim, 2);
}

NO_OPTIM(tern_optim_accumulate, "optim_accumulate", tern_optim_accumulate(NULL, 2))
REFUSES(tern_optim_accumulate, "no steps", TERN_ERR_ARG, "optim_accumulate: every is 0",
        tern_optim_accumulate(f->optim, 0))
REFUSES(tern_optim_accumulate, "LBFGS", TERN_ERR_ARG, "optim_accumulate: LBFGS |whole batches",
        with_lbfgs(f, accumulate))

static tern_status in_evaluation(fixture *f, tern_status (*call)(fixture *, tern_optim *))
{
    tern_optim *optim = tern_optim_schedule_free_adamw(f->net);
    tern_status status = tern_optim_eval(optim);
    if (!status)
        status = call(f, optim);
    tern_optim_free(optim);
    return status;
}

static tern_status set_k(fixture *f, tern_optim *optim)
{
    (void)f;
    return tern_optim_set(optim, 0, "k", 1);
}

NO_OPTIM(tern_optim_train, "optim_train", tern_optim_train(NULL))
NO_OPTIM(tern_optim_eval, "optim_eval", tern_optim_eval(NULL))
TAKES(tern_optim_train, "an optimizer without modes", !tern_optim_train(f->optim))
TAKES(tern_optim_eval, "an optimizer without modes", !tern_optim_eval(f->optim))
REFUSES(tern_optim_step, "a step in evaluation", TERN_ERR_STATE,
        "optim_step: |AdamWScheduleFree|tern_optim_train", in_evaluation(f, step_of))
REFUSES(tern_optim_set, "a number that steps change", TERN_ERR_ARG, "optim_set: k is state",
        in_evaluation(f, set_k))

static tern_tensor *no_loss(void *user)
{
    (void)user;
    return NULL;
}

static tern_tensor *many(void *user)
{
    fixture *f = user;
    return tern_clone(f->doubles);
}

static tern_tensor *step_closure_while_pending(fixture *f)
{
    (void)tern_error_raise(TERN_ERR_IO, "an error that nobody has looked at");
    return tern_optim_step_closure(f->optim, many, f);
}

// Parameters of two dtypes.
static tern_tensor *step_of_two_dtypes(fixture *f)
{
    tern_optim *optim = tern_optim_lbfgs(
        NULL, .params = LIST(f->leaf, tern_set_requires_grad(tern_clone(f->doubles), true)),
        .param_count = 2);
    tern_tensor *loss = tern_optim_step_closure(optim, many, f);
    tern_optim_free(optim);
    return loss;
}

NO_OPTIM(tern_optim_step_closure, "optim_step_closure",
         tern_optim_step_closure(NULL, many, f) == NULL)
REFUSES(tern_optim_step_closure, "a closure that is NULL", TERN_ERR_NULL,
        "optim_step_closure: closure is NULL", tern_optim_step_closure(f->optim, NULL, f) == NULL)
REFUSES(tern_optim_step_closure, "a closure that returns NULL", TERN_ERR_NULL,
        "optim_step_closure: what the closure returned is NULL",
        tern_optim_step_closure(f->optim, no_loss, f) == NULL)
REFUSES(tern_optim_step_closure, "a closure that returns several elements", TERN_ERR_SHAPE,
        "optim_step_closure: |float64 (2, 3)|one floating element",
        tern_optim_step_closure(f->optim, many, f) == NULL)
REFUSES(tern_optim_step_closure, "to go on while an error is pending", TERN_ERR_IO,
        "an error that nobody has looked at", step_closure_while_pending(f) == NULL)
REFUSES(tern_optim_step_closure, "parameters of two dtypes", TERN_ERR_DTYPE,
        "optim_step_closure: LBFGS |params[0]|float32|params[1]|float64",
        step_of_two_dtypes(f) == NULL)

// ---- state --------------------------------------------------------------------------------------

NO_OPTIM(tern_optim_num_parameters, "optim_num_parameters", tern_optim_num_parameters(NULL) == -1)
#define BY_INDEX(name, call)                                                                       \
    NO_OPTIM(tern_optim_##name, "optim_" #name, call(NULL, 0))                                     \
    REFUSES(tern_optim_##name, "an index past the end", TERN_ERR_INDEX,                            \
            "optim_" #name ": |parameter 2|has 2", call(f->optim, 2))                              \
    REFUSES(tern_optim_##name, "a negative index", TERN_ERR_INDEX,                                 \
            "optim_" #name ": |parameter -1", call(f->optim, -1))
#define PARAMETER_AT(optim, i)   tern_optim_parameter_at(optim, i, NULL, 0)
#define STEP_COUNT(optim, i)     (tern_optim_step_count(optim, i) == -1)
#define STATE(optim, i)          tern_optim_state(optim, i, "momentum_buffer")
#define SET_STATE(optim, i)      tern_optim_set_state(optim, i, "momentum_buffer", f->x)
#define SET_STEP_COUNT(optim, i) tern_optim_set_step_count(optim, i, 1)
BY_INDEX(parameter_at, PARAMETER_AT)
BY_INDEX(step_count, STEP_COUNT)
BY_INDEX(state, STATE)
BY_INDEX(set_state, SET_STATE)
BY_INDEX(set_step_count, SET_STEP_COUNT)
REFUSES(tern_optim_state, "a name that is NULL", TERN_ERR_NULL, "optim_state: name is NULL",
        tern_optim_state(f->optim, 0, NULL))
REFUSES(tern_optim_state, "a name that it does not have", TERN_ERR_ARG, "optim_state: |\"exp_avg\"",
        tern_optim_state(f->optim, 0, "exp_avg"))
REFUSES(tern_optim_set_state, "a name that is NULL", TERN_ERR_NULL, "optim_set_state: name is NULL",
        tern_optim_set_state(f->optim, 0, NULL, f->x))
REFUSES(tern_optim_set_state, "a name that it does not have", TERN_ERR_ARG,
        "optim_set_state: |\"momentum_buffer\"",
        tern_optim_set_state(f->adam, 0, "momentum_buffer", f->x))
NULL_AND_DEAD(tern_optim_set_state, "optim_set_state", "value",
              tern_optim_set_state(f->optim, 0, "momentum_buffer", NULL),
              tern_optim_set_state(f->optim, 0, "momentum_buffer", f->dead))
REFUSES(tern_optim_set_state, "a value of another shape", TERN_ERR_SHAPE,
        "optim_set_state: momentum_buffer|0.weight|(4, 3)|(2, 3)",
        tern_optim_set_state(f->optim, 0, "momentum_buffer", f->x))
REFUSES(tern_optim_set_step_count, "a negative count", TERN_ERR_ARG, "optim_set_step_count: -1",
        tern_optim_set_step_count(f->optim, 0, -1))

// ---- clipping -----------------------------------------------------------------------------------

#define SOURCES(name)                                                                              \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))                                                              \
    REFUSES(tern_##name##_with, "no parameters", TERN_ERR_NULL, #name ": module is NULL",          \
            tern_##name(NULL, 1))                                                                  \
    REFUSES(tern_##name##_with, "a module and an optimizer", TERN_ERR_ARG, #name ": |one of them", \
            tern_##name(f->net, 1, .optim = f->optim))                                             \
    REFUSES(tern_##name##_with, "a NULL among the params", TERN_ERR_NULL,                          \
            #name ": params[0] is NULL",                                                           \
            tern_##name(NULL, 1, .params = LIST(NULL), .param_count = 1))                          \
    REFUSES(tern_##name##_with, "a param that died", TERN_ERR_STATE, #name ": params[0] (float32", \
            tern_##name(NULL, 1, .params = LIST(f->dead), .param_count = 1))                       \
    REFUSES(tern_##name##_with, "a negative count", TERN_ERR_ARG, #name ": param_count is -1",     \
            tern_##name(NULL, 1, .params = LIST(f->leaf), .param_count = -1))
SOURCES(clip_grad_norm)
SOURCES(clip_grad_value)
REFUSES(tern_clip_grad_norm_with, "a negative max_norm", TERN_ERR_ARG,
        "clip_grad_norm: max_norm is -1", tern_clip_grad_norm(f->net, -1))
REFUSES(tern_clip_grad_norm_with, "a norm_type of 0", TERN_ERR_ARG,
        "clip_grad_norm: norm_type is 0", tern_clip_grad_norm(f->net, 1, .norm_type = 0))
REFUSES(tern_clip_grad_value_with, "a limit that is NaN", TERN_ERR_ARG,
        "clip_grad_value: clip_value is nan", tern_clip_grad_value(f->net, NAN))

static tern_tensor *clip_what_is_not_finite(void)
{
    tern_tensor *w = tern_zeros(tern_dims(2), .requires_grad = true);
    if (tern_backward(tern_sum(tern_log(w), TERN_ALL_AXES, false)))
        return w;
    return tern_clip_grad_norm(NULL, 1, .params = &w, .param_count = 1);
}

static tern_tensor *clip_after_failed_backward(void)
{
    bool pending = tern_error_pending();
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *y = tern_exp(w);
    tern_tensor *loss = tern_sum(tern_mul(y, y), TERN_ALL_AXES, false);
    tern_no_grad (void)
        tern_fill_(y, 3);
    if (!tern_backward(loss))
        return w;
    if (!pending)
        tern_error_clear();
    return tern_clip_grad_norm(NULL, 1, .params = &w, .param_count = 1);
}

REFUSES(tern_clip_grad_norm_with, "a norm that is not finite", TERN_ERR_NUMERIC,
        "clip_grad_norm: |inf", clip_what_is_not_finite())
REFUSES(tern_clip_grad_norm_with, "gradients that a failed backward left", TERN_ERR_STATE,
        "clip_grad_norm: |unusable|zero_grad", clip_after_failed_backward())
