// SPDX-License-Identifier: Apache-2.0
// autograd.h
#include "errors.h"

// ---- backward -----------------------------------------------------------------------------------

CANNOT_FAIL(tern_set_grad_enabled, "sets the thread's mode", tern_set_grad_enabled(true))
CANNOT_FAIL(tern_grad_enabled, "looks at the thread's mode", tern_grad_enabled())
REFUSES(tern_backward_with, "options that are NULL", TERN_ERR_NULL, "backward: options is NULL",
        tern_backward_with(NULL))
NULL_AND_DEAD(tern_backward_with, "backward", "loss", tern_backward(NULL), tern_backward(f->dead))
REFUSES(tern_backward_with, "a loss without history", TERN_ERR_STATE,
        "backward: the loss|float32 ()|no history|requires a gradient", tern_backward(f->scalar))
REFUSES(tern_backward_with, "a loss of several elements", TERN_ERR_SHAPE,
        "backward: the loss|(2, 3)|.gradient|one element", tern_backward(f->made))
REFUSES(tern_backward_with, "a gradient that died", TERN_ERR_STATE,
        "backward: gradient (float32 (2, 3)", tern_backward(f->made, .gradient = f->dead))
REFUSES(tern_backward_with, "a gradient of another shape", TERN_ERR_SHAPE,
        "backward: |(2, 3)|gradient|(3,)", tern_backward(f->made, .gradient = f->vector))
REFUSES(tern_backward_with, "a gradient of another dtype", TERN_ERR_DTYPE,
        "backward: |float32|gradient float64", tern_backward(f->made, .gradient = f->doubles))
REFUSES(tern_backward_with, "a gradient on another device", TERN_ERR_DEVICE,
        "backward: |cpu:0|gradient|cpu:1", tern_backward(f->made, .gradient = f->far))

static tern_tensor *total(tern_tensor *t)
{
    return tern_sum(t, TERN_ALL_AXES, false);
}

// A leaf of the case's own: its gradient is unusable after the failure.
static tern_status backward_twice(void)
{
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *loss = total(tern_mul(w, w));
    return tern_backward(loss) ? TERN_OK : tern_backward(loss);
}

static tern_status backward_of_changed_value(void)
{
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *y = tern_exp(w);
    tern_tensor *loss = total(tern_mul(y, y));
    tern_no_grad (void)
        tern_fill_(y, 3);
    return tern_backward(loss);
}

// Two forwards, and a step between their backwards.
static tern_status backward_after_a_step(void)
{
    tern_module *net = tern_nn_linear(2, 1);
    tern_optim *opt = tern_optim_sgd(net, .lr = 1);
    tern_tensor *x = tern_ones(tern_dims(1, 2), .requires_grad = true);
    tern_tensor *first = total(tern_forward(net, x));
    tern_tensor *second = total(tern_forward(net, x));
    tern_status status = tern_backward(first);
    if (!status)
        status = tern_optim_step(opt);
    if (!status)
        status = tern_backward(second);
    tern_optim_free(opt);
    tern_module_free(net);
    return status;
}

REFUSES(tern_backward_with, "a graph whose parameters a step changed", TERN_ERR_STATE,
        "backward|linear|the parameter weight|tern_optim_step|before it", backward_after_a_step())
REFUSES(tern_backward_with, "a graph that was freed", TERN_ERR_STATE, "backward|freed|retain_graph",
        backward_twice())
REFUSES(tern_backward_with, "a graph whose values were changed in place", TERN_ERR_STATE,
        "backward|mul|changed in place", backward_of_changed_value())

// ---- leaves -------------------------------------------------------------------------------------

static tern_tensor *gradient_after_failed_backward(void)
{
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *y = tern_exp(w);
    tern_tensor *loss = total(tern_mul(y, y));
    tern_no_grad (void)
        tern_fill_(y, 3);
    if (!tern_error_pending()) {
        if (!tern_backward(loss))
            return w;
        tern_error_clear();
    } else {
        (void)!tern_backward(loss);
    }
    return tern_grad(w);
}

NULL_AND_DEAD(tern_grad, "grad", "t", tern_grad(NULL), tern_grad(f->dead))
REFUSES(tern_grad, "a gradient that a failed backward left", TERN_ERR_STATE,
        "grad: |unusable|failed backward|zero_grad", gradient_after_failed_backward())
TAKES(tern_grad, "a leaf that has none yet", tern_grad(f->leaf) == NULL)
NULL_AND_DEAD(tern_zero_grad, "zero_grad", "t", (tern_zero_grad(NULL), 1),
              (tern_zero_grad(f->dead), 1))
NULL_AND_DEAD(tern_requires_grad, "requires_grad", "t", !tern_requires_grad(NULL),
              !tern_requires_grad(f->dead))
NULL_AND_DEAD(tern_is_leaf, "is_leaf", "t", !tern_is_leaf(NULL), !tern_is_leaf(f->dead))
NULL_AND_DEAD(tern_set_requires_grad, "set_requires_grad", "t", tern_set_requires_grad(NULL, true),
              tern_set_requires_grad(f->dead, true))
REFUSES(tern_set_requires_grad, "integers", TERN_ERR_DTYPE,
        "set_requires_grad: int64 (2, 3)|floating", tern_set_requires_grad(f->ints, true))
REFUSES(tern_set_requires_grad, "a tensor with history", TERN_ERR_STATE,
        "set_requires_grad: |history|detach", tern_set_requires_grad(f->made, false))

// ---- operations of one's own --------------------------------------------------------------------

static tern_status give_nothing(tern_backward_context *context)
{
    (void)context;
    return TERN_OK;
}

static const tern_function function = {"twice", give_nothing};

#define RECORD(fn, out, in, count, saved, saved_count, data, nbytes)                               \
    tern_record(fn, out, in, count, saved, saved_count, data, nbytes)
#define LIST(...) ((tern_tensor *[]){__VA_ARGS__})

REFUSES(tern_record, "a function that is NULL", TERN_ERR_NULL, "record: function is NULL",
        RECORD(NULL, f->x, LIST(f->leaf), 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "a function without a name", TERN_ERR_NULL, "record: |function",
        RECORD((&(tern_function){NULL, give_nothing}), f->x, LIST(f->leaf), 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "a function without a backward", TERN_ERR_NULL, "record: |function",
        RECORD((&(tern_function){"twice", NULL}), f->x, LIST(f->leaf), 1, NULL, 0, NULL, 0))
NULL_AND_DEAD(tern_record, "record", "output",
              RECORD(&function, NULL, LIST(f->leaf), 1, NULL, 0, NULL, 0),
              RECORD(&function, f->dead, LIST(f->leaf), 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "inputs that are NULL", TERN_ERR_NULL, "record: inputs is NULL",
        RECORD(&function, f->x, NULL, 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "an input that is NULL", TERN_ERR_NULL, "twice: |input|NULL",
        RECORD(&function, f->x, LIST(NULL), 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "an input that died", TERN_ERR_STATE, "twice: |input|died",
        RECORD(&function, f->x, LIST(f->dead), 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "saved that is NULL", TERN_ERR_NULL, "record: saved is NULL",
        RECORD(&function, f->x, LIST(f->leaf), 1, NULL, 1, NULL, 0))
REFUSES(tern_record, "a saved tensor that died", TERN_ERR_STATE, "twice: |saved|died",
        RECORD(&function, f->x, LIST(f->leaf), 1, LIST(f->dead), 1, NULL, 0))
REFUSES(tern_record, "data that is NULL", TERN_ERR_NULL, "record: data is NULL",
        RECORD(&function, f->x, LIST(f->leaf), 1, NULL, 0, NULL, 8))
REFUSES(tern_record, "a negative number of inputs", TERN_ERR_ARG, "record: twice has -1 inputs",
        RECORD(&function, f->x, LIST(f->leaf), -1, NULL, 0, NULL, 0))
REFUSES(tern_record, "nine inputs", TERN_ERR_ARG, "record: twice has 9 inputs|8",
        RECORD(&function, f->x, LIST(f->leaf, f->leaf), 9, NULL, 0, NULL, 0))
REFUSES(tern_record, "65 bytes of data", TERN_ERR_ARG, "record: twice|65 bytes|64",
        RECORD(&function, f->x, LIST(f->leaf), 1, NULL, 0, f->text, 65))
REFUSES(tern_record, "an output with history", TERN_ERR_STATE,
        "record: |twice|history|tern_no_grad",
        RECORD(&function, f->made, LIST(f->leaf), 1, NULL, 0, NULL, 0))
REFUSES(tern_record, "an output of integers", TERN_ERR_DTYPE, "record: |twice|int64|floating",
        RECORD(&function, f->ints, LIST(f->leaf), 1, NULL, 0, NULL, 0))

static int freed;

static void count_freed(void *user)
{
    freed += user == &freed;
}

NULL_AND_DEAD(tern_record_user, "record_user", "output", tern_record_user(NULL, NULL, NULL),
              tern_record_user(f->dead, NULL, NULL))
REFUSES(tern_record_user, "the output of another operation", TERN_ERR_STATE,
        "record_user: |no output of tern_record",
        tern_record_user(f->made, &freed, count_freed) ? &freed : NULL)

#define NO_CONTEXT(name, call)                                                                     \
    REFUSES(tern_context_##name, "a context that is NULL", TERN_ERR_NULL,                          \
            "context_" #name ": context is NULL", call)
NO_CONTEXT(grad, tern_context_grad(NULL))
NO_CONTEXT(saved, tern_context_saved(NULL, 0))
NO_CONTEXT(data, tern_context_data(NULL))
NO_CONTEXT(user, tern_context_user(NULL))
NO_CONTEXT(needs, !tern_context_needs(NULL, 0))
NO_CONTEXT(set_grad, tern_context_set_grad(NULL, 0, f->x))

// The failure of a call inside a backward is the failure of that backward.
static tern_status backward_through(tern_backward_fn *backward)
{
    static tern_function own = {.name = "own"};
    own.backward = backward;
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true), *y = NULL;
    tern_no_grad
        y = tern_neg(w);
    tern_tensor *made = tern_record(&own, y, &w, 1, &w, 1, NULL, 0);
    return tern_backward(total(made));
}

static tern_status ask_for_saved(tern_backward_context *context)
{
    return tern_context_saved(context, 3) ? TERN_OK : tern_error_code();
}

static tern_status ask_for_saved_before_the_first(tern_backward_context *context)
{
    return tern_context_saved(context, -1) ? TERN_OK : tern_error_code();
}

static tern_status give_to_no_input(tern_backward_context *context)
{
    return tern_context_set_grad(context, 1, tern_context_grad(context));
}

static tern_status give_null(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, NULL);
}

static tern_status give_dead(tern_backward_context *context)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *dx = tern_neg(tern_context_grad(context));
    tern_scope_close(scope);
    return tern_context_set_grad(context, 0, dx);
}

static tern_status give_another_shape(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, tern_ones(tern_dims(5)));
}

static tern_status give_another_dtype(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, tern_ones(tern_dims(2), .dtype = TERN_FLOAT64));
}

REFUSES(tern_context_saved, "a number that was not saved", TERN_ERR_ARG, "context_saved: own|3",
        backward_through(ask_for_saved))
REFUSES(tern_context_saved, "a negative number", TERN_ERR_ARG, "context_saved: own|-1",
        backward_through(ask_for_saved_before_the_first))
REFUSES(tern_context_set_grad, "an input that there is not", TERN_ERR_ARG,
        "context_set_grad: own has no input 1", backward_through(give_to_no_input))
REFUSES(tern_context_set_grad, "a gradient that is NULL", TERN_ERR_NULL,
        "context_set_grad: gradient is NULL", backward_through(give_null))
REFUSES(tern_context_set_grad, "a gradient that died", TERN_ERR_STATE,
        "context_set_grad: gradient (float32 (2,)|died", backward_through(give_dead))
REFUSES(tern_context_set_grad, "a gradient of another shape", TERN_ERR_SHAPE, "own|(2,)|(5,)",
        backward_through(give_another_shape))
REFUSES(tern_context_set_grad, "a gradient of another dtype", TERN_ERR_DTYPE, "own|float32|float64",
        backward_through(give_another_dtype))
REFUSES(tern_context_set_grad, "a backward that sets none", TERN_ERR_STATE, "own|gradient|input 0",
        backward_through(give_nothing))
