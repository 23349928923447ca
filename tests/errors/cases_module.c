// SPDX-License-Identifier: Apache-2.0
// module.h
#include "errors.h"

#define NO_MODULE(function, op, ...)                                                               \
    REFUSES(function, "a module that is NULL", TERN_ERR_NULL, op ": module is NULL", __VA_ARGS__)

// ---- writing a module ---------------------------------------------------------------------------

typedef struct plain {
    tern_module base;
    tern_tensor *tensor;
} plain;

static tern_status hand_on(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    *out = *in;
    return TERN_OK;
}

static tern_status give_null(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    (void)in;
    out->at[out->count++] = NULL;
    return TERN_OK;
}

static tern_status give_too_many(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    (void)in;
    out->count = TERN_MAX_TENSORS + 1;
    return TERN_OK;
}

static tern_status fail_without_a_word(tern_module *module, const tern_tensors *in,
                                       tern_tensors *out)
{
    (void)module;
    (void)in;
    (void)out;
    return TERN_ERR_UNSUPPORTED;
}

static const tern_module_class plain_class = {
    .name = "Plain", .size = sizeof(plain), .call = hand_on};
static const tern_module_class null_class = {
    .name = "GivesNull", .size = sizeof(plain), .call = give_null};
static const tern_module_class many_class = {
    .name = "GivesNine", .size = sizeof(plain), .call = give_too_many};
static const tern_module_class silent_class = {
    .name = "Silent", .size = sizeof(plain), .call = fail_without_a_word};

REFUSES(tern_module_new, "a class that is NULL", TERN_ERR_NULL, "module_new: module_class is NULL",
        tern_module_new(NULL))
REFUSES(tern_module_new, "a class without a call", TERN_ERR_NULL, "module_new: |class",
        tern_module_new(&(tern_module_class){.name = "Odd", .size = sizeof(plain), .call = NULL}))
REFUSES(tern_module_new, "a class without a name", TERN_ERR_NULL, "module_new: |class",
        tern_module_new(&(tern_module_class){.name = NULL, .size = sizeof(plain), .call = hand_on}))
REFUSES(tern_module_new, "a size too small for a module", TERN_ERR_ARG,
        "module_new: the size of Odd is 4",
        tern_module_new(&(tern_module_class){.name = "Odd", .size = 4, .call = hand_on}))
NO_MODULE(tern_module_done, "module_done", tern_module_done(NULL))

typedef enum addition { PARAMETER, BUFFER, CHILD } addition;

// A constructor with one addition; it must fail as a whole.
static tern_module *construct(addition kind, const char *name, tern_tensor *tensor,
                              tern_module *child)
{
    tern_module *module = tern_module_new(&plain_class);
    const void *added = NULL;
    (void)tern_module_add_buffer(module, "taken", NULL, tern_zeros(tern_dims(1)), true);
    switch (kind) {
    case PARAMETER:
        added = tern_module_add_parameter(module, name, NULL, tensor);
        break;
    case BUFFER:
        added = tern_module_add_buffer(module, name, NULL, tensor, true);
        break;
    case CHILD:
        added = tern_module_add_child(module, name, NULL, child);
        break;
    }
    module = tern_module_done(module);
    if (!added)
        return module;
    tern_module_free(module);
    return (tern_module *)(uintptr_t)added;
}

static tern_status construct_absent(addition kind)
{
    tern_module *module = construct(kind, "w", NULL, NULL);
    tern_module_free(module);
    return module ? TERN_OK : tern_error_code();
}

// Members that nothing can be bound to.
static void *outside(plain *self)
{
    return (char *)self + sizeof *self;
}

static void *bound(plain *self)
{
    tern_module_add_buffer(&self->base, "first", &self->tensor, tern_zeros(tern_dims(1)), true);
    return &self->tensor;
}

static tern_module *construct_at(addition kind, void *(*member)(plain *self))
{
    plain *self = (plain *)tern_module_new(&plain_class);
    void *at = member(self);
    switch (kind) {
    case PARAMETER:
        (void)tern_module_add_parameter(&self->base, "w", at, tern_zeros(tern_dims(1)));
        break;
    case BUFFER:
        (void)tern_module_add_buffer(&self->base, "w", at, tern_zeros(tern_dims(1)), false);
        break;
    case CHILD:
        (void)tern_module_add_child(&self->base, "w", at, tern_nn_relu());
        break;
    }
    return tern_module_done(&self->base);
}

// After tern_module_done: the net of the fixture is finished.
#define NAMES(function, op, kind, tensor, child)                                                   \
    REFUSES(function, "a name that is NULL", TERN_ERR_NULL, op ": name is NULL",                   \
            construct(kind, NULL, tensor, child))                                                  \
    REFUSES(function, "an empty name", TERN_ERR_ARG, op ": \"\"|Plain",                            \
            construct(kind, "", tensor, child))                                                    \
    REFUSES(function, "a name with a dot", TERN_ERR_ARG, op ": \"a.b\"|Plain|dot",                 \
            construct(kind, "a.b", tensor, child))                                                 \
    REFUSES(function, "a name that is taken", TERN_ERR_ARG, op ": Plain already has a \"taken\"",  \
            construct(kind, "taken", tensor, child))
NAMES(tern_module_add_parameter, "module_add_parameter", PARAMETER, f->leaf, NULL)
NAMES(tern_module_add_buffer, "module_add_buffer", BUFFER, f->x, NULL)
NAMES(tern_module_add_child, "module_add_child", CHILD, NULL, tern_nn_relu())

NO_MODULE(tern_module_add_parameter, "module_add_parameter",
          tern_module_add_parameter(NULL, "w", NULL, f->leaf))
HANDS_ON(tern_module_add_parameter, "no tensor: it is absent", construct_absent(PARAMETER))
REFUSES(tern_module_add_parameter, "a member outside the struct", TERN_ERR_ARG,
        "module_add_parameter: the member for \"w\" does not lie in the struct of Plain",
        construct_at(PARAMETER, outside))
REFUSES(tern_module_add_parameter, "a member that is bound already", TERN_ERR_ARG,
        "module_add_parameter: the member for \"w\" holds \"first\" already",
        construct_at(PARAMETER, bound))
REFUSES(tern_module_add_parameter, "a tensor that died", TERN_ERR_STATE,
        "module_add_parameter: |w|died", construct(PARAMETER, "w", f->dead, NULL))
REFUSES(tern_module_add_parameter, "integers", TERN_ERR_DTYPE,
        "module_add_parameter: \"w\"|int64 (2, 3)|buffer", construct(PARAMETER, "w", f->ints, NULL))
REFUSES(tern_module_add_parameter, "a tensor with history", TERN_ERR_STATE,
        "module_add_parameter: \"w\"|mul_scalar|detach", construct(PARAMETER, "w", f->made, NULL))
REFUSES(tern_module_add_parameter, "a tensor that is not contiguous", TERN_ERR_STATE,
        "module_add_parameter: \"w\"|contiguous|tern_clone",
        construct(PARAMETER, "w", f->turned, NULL))
REFUSES(tern_module_add_parameter, "a module that is finished", TERN_ERR_STATE,
        "module_add_parameter: Sequential is finished|\"w\"",
        tern_module_add_parameter(f->net, "w", NULL, f->leaf))

NO_MODULE(tern_module_add_buffer, "module_add_buffer",
          tern_module_add_buffer(NULL, "b", NULL, f->x, true))
HANDS_ON(tern_module_add_buffer, "no tensor: it is absent", construct_absent(BUFFER))
REFUSES(tern_module_add_buffer, "a member outside the struct", TERN_ERR_ARG,
        "module_add_buffer: the member for \"w\" does not lie in the struct of Plain",
        construct_at(BUFFER, outside))
REFUSES(tern_module_add_buffer, "a member that is bound already", TERN_ERR_ARG,
        "module_add_buffer: the member for \"w\" holds \"first\" already",
        construct_at(BUFFER, bound))
REFUSES(tern_module_add_buffer, "a tensor that died", TERN_ERR_STATE, "module_add_buffer: |b|died",
        construct(BUFFER, "b", f->dead, NULL))
REFUSES(tern_module_add_buffer, "a tensor that requires a gradient", TERN_ERR_STATE,
        "module_add_buffer: \"b\"|gradient|detach", construct(BUFFER, "b", f->leaf, NULL))
REFUSES(tern_module_add_buffer, "a module that is finished", TERN_ERR_STATE,
        "module_add_buffer: Sequential is finished|\"b\"",
        tern_module_add_buffer(f->net, "b", NULL, f->x, true))

NO_MODULE(tern_module_add_child, "module_add_child",
          tern_module_add_child(NULL, "c", NULL, tern_nn_relu()))
REFUSES(tern_module_add_child, "a child that is NULL", TERN_ERR_NULL, "module_add_child: |c|NULL",
        construct(CHILD, "c", NULL, NULL))
REFUSES(tern_module_add_child, "a module that is finished", TERN_ERR_STATE,
        "module_add_child: Sequential is finished|\"c\"",
        tern_module_add_child(f->net, "c", NULL, tern_nn_relu()))

REFUSES(tern_module_add_child, "a member outside the struct", TERN_ERR_ARG,
        "module_add_child: the member for \"w\" does not lie in the struct of Plain",
        construct_at(CHILD, outside))
REFUSES(tern_module_add_child, "a member that is bound already", TERN_ERR_ARG,
        "module_add_child: the member for \"w\" holds \"first\" already",
        construct_at(CHILD, bound))

static tern_module *add_unfinished_child(void)
{
    tern_module *parent = tern_module_new(&plain_class);
    tern_module *child = tern_module_new(&silent_class);
    (void)tern_module_add_child(parent, "c", NULL, child);
    return tern_module_done(parent);
}

REFUSES(tern_module_add_child, "a child that is not finished", TERN_ERR_STATE,
        "module_add_child: |\"c\"|Silent|tern_module_done", add_unfinished_child())

CANNOT_FAIL(tern_module_retain, "NULL stays NULL", !tern_module_retain(NULL))
TAKES(tern_module_retain, "NULL", tern_module_retain(NULL) == NULL)
TAKES(tern_module_free, "NULL", (tern_module_free(NULL), 1))
REFUSES(tern_module_free, "a child that belongs to its parent", TERN_ERR_STATE,
        "module_free: Linear belongs to Sequential|tern_module_retain",
        (tern_module_free(tern_module_child_at(f->net, 0)), 1))
REFUSES(tern_module_add_child, "a child that belongs to another parent", TERN_ERR_STATE,
        "module_add_child: \"c\" (Linear) belongs to Sequential already|tern_module_retain",
        construct(CHILD, "c", NULL, tern_module_child_at(f->net, 0)))

// ---- running ------------------------------------------------------------------------------------

static tern_tensor *forward_of(const tern_module_class *module_class, tern_tensor *x)
{
    tern_module *module = tern_module_done(tern_module_new(module_class));
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

NO_MODULE(tern_forward, "forward", tern_forward(NULL, f->x))
NULL_AND_DEAD(tern_forward, "forward", "x", tern_forward(f->net, NULL),
              tern_forward(f->net, f->dead))
REFUSES(tern_forward, "features that do not meet", TERN_ERR_SHAPE,
        "linear: x (4, 5)|weight (4, 3)|[in 0 (Linear(in_features=3, out_features=4, bias=True))]",
        tern_forward(f->net, f->wide))
REFUSES(tern_forward, "another dtype", TERN_ERR_DTYPE,
        "linear: x is float64|weight|[in 0 (Linear(in_features=3, out_features=4, bias=True))]",
        tern_forward(f->net, f->doubles))
REFUSES(tern_forward, "an x on another device than the net", TERN_ERR_DEVICE,
        "linear: x is on cpu:1 and weight on cpu:0|tern_module_to|[in 0 (Linear(in_features=3, "
        "out_features=4, bias=True))]",
        tern_forward(f->net, f->far))
REFUSES(tern_forward, "a module that gives NULL", TERN_ERR_STATE, "GivesNull gave NULL as output 0",
        forward_of(&null_class, f->x))
REFUSES(tern_forward, "a module that gives nine tensors", TERN_ERR_ARG, "9 outputs|8",
        forward_of(&many_class, f->x))
REFUSES(tern_forward, "a module that does not say why", TERN_ERR_UNSUPPORTED,
        "Silent failed without saying why", forward_of(&silent_class, f->x))

REFUSES(tern_loss, "a criterion that is NULL", TERN_ERR_NULL, "loss: criterion is NULL",
        tern_loss(NULL, f->x, f->labels))
NULL_AND_DEAD(tern_loss, "loss", "input", tern_loss(f->criterion, NULL, f->labels),
              tern_loss(f->criterion, f->dead, f->labels))
NULL_AND_DEAD(tern_loss, "loss", "target", tern_loss(f->criterion, f->x, NULL),
              tern_loss(f->criterion, f->x, f->dead))
REFUSES(tern_loss, "a criterion for one tensor", TERN_ERR_ARG,
        "ReLU takes 1 tensor, not 2 [in ReLU]",
        tern_loss(tern_module_child_at(f->net, 1), f->x, f->labels))

#define FORWARD(module, ...) tern_module_forward(module, &(tern_tensors)__VA_ARGS__, &f->outs)
NO_MODULE(tern_module_forward, "module_forward", tern_module_forward(NULL, &f->in, &f->outs))
REFUSES(tern_module_forward, "in that is NULL", TERN_ERR_NULL, "module_forward: in is NULL",
        tern_module_forward(f->net, NULL, &f->outs))
REFUSES(tern_module_forward, "out that is NULL", TERN_ERR_NULL, "module_forward: out is NULL",
        tern_module_forward(f->net, &f->in, NULL))
REFUSES(tern_module_forward, "an input that died", TERN_ERR_STATE,
        "module_forward: an input (float32 (2, 3)|died",
        tern_module_forward(f->net, &(tern_tensors){.count = 1, .at = {f->dead}}, &f->outs))
REFUSES(tern_module_forward, "a negative count", TERN_ERR_ARG, "module_forward: -1 inputs|8",
        FORWARD(f->net, {.count = -1}))
REFUSES(tern_module_forward, "nine inputs", TERN_ERR_ARG, "module_forward: 9 inputs|8",
        FORWARD(f->net, {.count = 9}))
REFUSES(tern_module_forward, "too few inputs for the module", TERN_ERR_ARG,
        "Linear takes 1 tensor, not 0 [in 0 (Linear(in_features=3, out_features=4, bias=True))]",
        FORWARD(f->net, {.count = 0}))
REFUSES(tern_module_forward, "an input that is NULL", TERN_ERR_NULL, "linear: x is NULL",
        FORWARD(f->net, {.count = 1}))

static tern_status hook_before(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)user;
    in->at[0] = NULL;
    return TERN_OK;
}

static tern_status hook_after(tern_module *module, const tern_tensors *in, tern_tensors *out,
                              void *user)
{
    (void)module;
    (void)in;
    (void)user;
    out->at[0] = NULL;
    return TERN_OK;
}

static tern_tensor *forward_with(tern_module *net, tern_tensor *x, bool before)
{
    uint64_t number = before ? tern_module_add_forward_pre_hook(net, hook_before, NULL)
                             : tern_module_add_forward_hook(net, hook_after, NULL);
    tern_tensor *y = tern_forward(net, x);
    tern_module_remove_hook(net, number);
    return y;
}

NO_MODULE(tern_module_add_forward_pre_hook, "module_add_forward_pre_hook",
          tern_module_add_forward_pre_hook(NULL, hook_before, NULL) == 0)
NO_MODULE(tern_module_add_forward_hook, "module_add_forward_hook",
          tern_module_add_forward_hook(NULL, hook_after, NULL) == 0)
NO_MODULE(tern_module_remove_hook, "module_remove_hook", (tern_module_remove_hook(NULL, 1), 1))
REFUSES(tern_module_add_forward_pre_hook, "a hook that is NULL", TERN_ERR_NULL,
        "module_add_forward_pre_hook: hook is NULL",
        tern_module_add_forward_pre_hook(f->net, NULL, NULL) == 0)
REFUSES(tern_module_add_forward_hook, "a hook that is NULL", TERN_ERR_NULL,
        "module_add_forward_hook: hook is NULL",
        tern_module_add_forward_hook(f->net, NULL, NULL) == 0)
REFUSES(tern_module_add_forward_pre_hook, "a hook that takes the input away", TERN_ERR_NULL,
        "linear: x is NULL", forward_with(f->net, f->x, true))
REFUSES(tern_module_add_forward_hook, "a hook that takes the output away", TERN_ERR_STATE,
        "Sequential gave NULL as output 0", forward_with(f->net, f->x, false))
NO_MODULE(tern_module_set_hook_free, "module_set_hook_free",
          tern_module_set_hook_free(NULL, 1, NULL))
REFUSES(tern_module_set_hook_free, "a number that is not there", TERN_ERR_ARG,
        "module_set_hook_free: this Sequential has no hook 9999",
        tern_module_set_hook_free(f->net, 9999, NULL))
NO_MODULE(tern_module_set_user, "module_set_user", tern_module_set_user(NULL, NULL, NULL))
NO_MODULE(tern_module_user, "module_user", tern_module_user(NULL))
TAKES(tern_module_remove_hook, "a number that is not there",
      (tern_module_remove_hook(f->net, 9999), 1))

// ---- looking things up --------------------------------------------------------------------------

#define LOOKUP(name, kind, missing)                                                                \
    NO_MODULE(tern_module_##name, "module_" #name, tern_module_##name(NULL, "0"))                  \
    REFUSES(tern_module_##name, "a name that is NULL", TERN_ERR_NULL,                              \
            "module_" #name ": name is NULL", tern_module_##name(f->net, NULL))                    \
    REFUSES(tern_module_##name, "a name that is not there", TERN_ERR_ARG,                          \
            "module_" #name ": Sequential has no " kind " \"0.wait\"; it has " missing,            \
            tern_module_##name(f->net, "0.wait"))
LOOKUP(parameter, "parameter", "0.weight|0.bias")
LOOKUP(buffer, "buffer", "none")
LOOKUP(child, "child", "0|1")
REFUSES(tern_module_parameter, "an empty name", TERN_ERR_ARG, "module_parameter: |\"\"",
        tern_module_parameter(f->net, ""))

NO_MODULE(tern_module_num_parameters, "module_num_parameters",
          tern_module_num_parameters(NULL) == -1)
NO_MODULE(tern_module_num_buffers, "module_num_buffers", tern_module_num_buffers(NULL) == -1)
NO_MODULE(tern_module_num_children, "module_num_children", tern_module_num_children(NULL) == -1)
NO_MODULE(tern_module_num_elements, "module_num_elements",
          tern_module_num_elements(NULL, true) == -1)

#define BY_INDEX(name, count)                                                                      \
    NO_MODULE(tern_module_##name, "module_" #name, tern_module_##name(NULL, 0, NULL, 0))           \
    REFUSES(tern_module_##name, "an index past the end", TERN_ERR_INDEX,                           \
            "module_" #name ": |" count "|Sequential has " count,                                  \
            tern_module_##name(f->net, count[0] - '0', NULL, 0))                                   \
    REFUSES(tern_module_##name, "a negative index", TERN_ERR_INDEX,                                \
            "module_" #name ": |-1|Sequential has " count,                                         \
            tern_module_##name(f->net, -1, f->text, sizeof f->text))
BY_INDEX(parameter_at, "2")
BY_INDEX(buffer_at, "0")
NO_MODULE(tern_module_child_at, "module_child_at", tern_module_child_at(NULL, 0))
REFUSES(tern_module_child_at, "an index past the end", TERN_ERR_INDEX,
        "module_child_at: |2|Sequential has 2", tern_module_child_at(f->net, 2))
REFUSES(tern_module_child_at, "an index before the beginning", TERN_ERR_INDEX,
        "module_child_at: |-3", tern_module_child_at(f->net, -3))

static tern_status stop_at_entry(const tern_module_entry *entry, void *user)
{
    (void)user;
    return tern_error_raise(TERN_ERR_FORMAT, "the visit stopped at %s", entry->name);
}

static tern_status stop_at_module(const char *name, tern_module *module, void *user)
{
    (void)module;
    (void)user;
    return name[0] ? tern_error_raise(TERN_ERR_FORMAT, "the visit stopped at %s", name) : TERN_OK;
}

static const tern_module_class buffered_class = {
    .name = "Buffered", .size = sizeof(plain), .call = hand_on};

static tern_status each_buffer(void)
{
    tern_module *module = tern_module_new(&buffered_class);
    (void)tern_module_add_buffer(module, "mean", NULL, tern_zeros(tern_dims(1)), true);
    module = tern_module_done(module);
    tern_status status = tern_module_each_buffer(module, stop_at_entry, NULL);
    tern_module_free(module);
    return status;
}

#define WALK(name, stop)                                                                           \
    NO_MODULE(tern_module_##name, "module_" #name, tern_module_##name(NULL, stop, NULL))           \
    REFUSES(tern_module_##name, "a visit that is NULL", TERN_ERR_NULL,                             \
            "module_" #name ": visit is NULL", tern_module_##name(f->net, NULL, NULL))
#define STOPS(name, stop, where)                                                                   \
    REFUSES(tern_module_##name, "to go on when a visit fails", TERN_ERR_FORMAT,                    \
            "the visit stopped at " where, tern_module_##name(f->net, stop, NULL))
WALK(each_parameter, stop_at_entry)
WALK(each_buffer, stop_at_entry)
WALK(each_state, stop_at_entry)
WALK(each_module, stop_at_module)
WALK(apply, stop_at_module)
STOPS(each_parameter, stop_at_entry, "0.weight")
STOPS(each_state, stop_at_entry, "0.weight")
STOPS(each_module, stop_at_module, "0")
STOPS(apply, stop_at_module, "0")
REFUSES(tern_module_each_buffer, "to go on when a visit fails", TERN_ERR_FORMAT,
        "the visit stopped at mean", each_buffer())

// ---- modes, moving, summary ---------------------------------------------------------------------

NO_MODULE(tern_module_train, "module_train", tern_module_train(NULL, true))
NO_MODULE(tern_module_eval, "module_eval", tern_module_eval(NULL))
NO_MODULE(tern_module_is, "module_is", !tern_module_is(NULL, "Linear"))
REFUSES(tern_module_is, "a name that is NULL", TERN_ERR_NULL, "module_is: class_name is NULL",
        !tern_module_is(f->net, NULL))
NO_MODULE(tern_module_is_training, "module_is_training", !tern_module_is_training(NULL))
NO_MODULE(tern_module_zero_grad, "module_zero_grad", (tern_module_zero_grad(NULL), 1))
NO_MODULE(tern_module_requires_grad_, "module_requires_grad_",
          tern_module_requires_grad_(NULL, true))
NO_MODULE(tern_module_to, "module_to", tern_module_to(NULL, tern_cpu(0)))
REFUSES(tern_module_to, "a device that does not exist", TERN_ERR_DEVICE, "module_to: |cpu:2",
        tern_module_to(f->net, tern_cpu(2)))
REFUSES(tern_module_to, "CUDA where there is none", TERN_ERR_DEVICE, "module_to: |cuda:0",
        tern_module_to(f->net, tern_cuda(0)))
NO_MODULE(tern_module_to_dtype, "module_to_dtype", tern_module_to_dtype(NULL, TERN_FLOAT32))
REFUSES(tern_module_to_dtype, "integers", TERN_ERR_DTYPE, "module_to_dtype: int64",
        tern_module_to_dtype(f->net, TERN_INT64))
REFUSES(tern_module_to_dtype, "a dtype that does not exist", TERN_ERR_DTYPE,
        "module_to_dtype: ", tern_module_to_dtype(f->net, (tern_dtype)77))

static tern_status summary(tern_module *net, tern_shape input, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return TERN_OK;
    tern_status status = tern_module_summary_print(net, input, file);
    fclose(file);
    return status;
}

static tern_status print_to(tern_module *net, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return TERN_OK;
    tern_status status = tern_module_print(net, file);
    fclose(file);
    return status;
}

REFUSES(tern_module_summary_print_with, "options that are NULL", TERN_ERR_NULL,
        "module_summary_print: options is NULL", tern_module_summary_print_with(NULL))
NO_MODULE(tern_module_summary_print_with, "module_summary_print",
          tern_module_summary_print(NULL, tern_dims(2, 3), stderr))
REFUSES(tern_module_summary_print_with, "an input that does not fit", TERN_ERR_SHAPE,
        "linear: x (2, 7)|weight (4, 3)|[in 0 (Linear(in_features=3, out_features=4, bias=True))]",
        summary(f->net, tern_dims(2, 7), "/dev/null"))
REFUSES(tern_module_summary_print_with, "a negative size", TERN_ERR_SHAPE, "(-2, 3)",
        summary(f->net, tern_dims(-2, 3), "/dev/null"))
REFUSES(tern_module_summary_print_with, "a width without room for a table", TERN_ERR_ARG,
        "module_summary_print: a width of 59 is too small; a table has 60 columns or more",
        tern_module_summary_print(f->net, tern_dims(2, 3), stderr, .width = 59))
REFUSES(tern_module_summary_print_with, "a file that cannot be written", TERN_ERR_IO,
        "module_summary_print: ", summary(f->net, tern_dims(2, 3), "/dev/full"))
NO_MODULE(tern_module_summary_format, "module_summary_format",
          tern_module_summary_format(NULL, tern_dims(2, 3), TERN_FLOAT32, f->text, 64) == -1)
REFUSES(tern_module_summary_format, "a buffer that is NULL", TERN_ERR_NULL,
        "module_summary_format: buffer is NULL",
        tern_module_summary_format(f->net, tern_dims(2, 3), TERN_FLOAT32, NULL, 64) == -1)
REFUSES(tern_module_summary_format, "an input that does not fit", TERN_ERR_SHAPE,
        "linear: x (2, 7)|weight (4, 3)|[in 0 (Linear(in_features=3, out_features=4, bias=True))]",
        tern_module_summary_format(f->net, tern_dims(2, 7), TERN_FLOAT32, f->text, 64) == -1)

NO_MODULE(tern_module_print, "module_print", tern_module_print(NULL, stderr))
REFUSES(tern_module_print, "a file that cannot be written", TERN_ERR_IO,
        "module_print: ", print_to(f->net, "/dev/full"))
REFUSES(tern_text_add, "a text that is NULL", TERN_ERR_NULL, "text_add: out is NULL",
        (tern_text_add(NULL, "x"), 1))
