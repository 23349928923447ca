// SPDX-License-Identifier: Apache-2.0
// module.h: copying modules and exchanging what they hold.
#include <stdlib.h>

#include "errors.h"

#define NO_MODULE(function, op, ...)                                                               \
    REFUSES(function, "a module that is NULL", TERN_ERR_NULL, op ": module is NULL", __VA_ARGS__)

static tern_status hand_on(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    *out = *in;
    return TERN_OK;
}

typedef struct freeing {
    tern_module base;
    void *memory;
} freeing;

static void free_memory(tern_module *module)
{
    free(((freeing *)module)->memory);
}

static tern_status refuse_to_draw(tern_module *module, tern_generator *generator)
{
    (void)module;
    (void)generator;
    return TERN_ERR_NUMERIC;
}

static bool to_refuse; // in a constructor all is well

static tern_status refuse_later(tern_module *module, tern_generator *generator)
{
    return to_refuse ? refuse_to_draw(module, generator) : TERN_OK;
}

static tern_status refuse_to_copy(tern_module *to, const tern_module *from)
{
    (void)to;
    (void)from;
    return TERN_ERR_NUMERIC;
}

static const tern_module_class freeing_class = {
    .name = "Freeing", .size = sizeof(freeing), .call = hand_on, .free = free_memory};
static const tern_module_class undrawn_class = {
    .name = "Undrawn", .size = sizeof(tern_module), .call = hand_on, .reset = refuse_to_draw};
static const tern_module_class later_class = {
    .name = "Later", .size = sizeof(tern_module), .call = hand_on, .reset = refuse_later};
static const tern_module_class uncopied_class = {
    .name = "Uncopied", .size = sizeof(tern_module), .call = hand_on, .copy = refuse_to_copy};

static tern_module *made_of(const tern_module_class *module_class)
{
    return tern_module_done(tern_module_new(module_class));
}

// The copy of a net with one such child.
static tern_module *copy_of(tern_module *child)
{
    tern_module *m = tern_nn_sequential(child);
    tern_module *copy = tern_module_copy(m);
    tern_module_free(m);
    return copy;
}

static tern_module *with_user(void)
{
    tern_module *m = tern_nn_relu();
    return tern_module_set_user(m, calloc(1, 1), free) ? NULL : m;
}

static tern_module *copy_unfinished(void)
{
    tern_module *m = tern_module_new(&uncopied_class);
    tern_module *copy = tern_module_copy(m);
    tern_module_free(tern_module_done(m));
    return copy;
}

REFUSES(tern_module_done, "a reset that fails", TERN_ERR_NUMERIC,
        "the reset of Undrawn failed without saying why", made_of(&undrawn_class))
NO_MODULE(tern_module_copy, "module_copy", tern_module_copy(NULL))
REFUSES(tern_module_copy, "a class that frees and does not copy", TERN_ERR_UNSUPPORTED,
        "module_copy: 0 (Freeing) cannot be copied: |free|copy", copy_of(made_of(&freeing_class)))
REFUSES(tern_module_copy, "a user that is freed", TERN_ERR_UNSUPPORTED,
        "module_copy: 0 (ReLU) cannot be copied: |user", copy_of(with_user()))
REFUSES(tern_module_copy, "a class whose copy fails", TERN_ERR_NUMERIC,
        "the copy of Uncopied failed without saying why", copy_of(made_of(&uncopied_class)))
REFUSES(tern_module_copy, "a module that is not finished", TERN_ERR_STATE,
        "module_copy: |Uncopied|tern_module_done", copy_unfinished())

#define SETS(what, value)                                                                          \
    NO_MODULE(tern_module_set_##what, "module_set_" #what,                                         \
              tern_module_set_##what(NULL, "0.weight", value))                                     \
    REFUSES(tern_module_set_##what, "a name that is NULL", TERN_ERR_NULL,                          \
            "module_set_" #what ": name is NULL", tern_module_set_##what(f->net, NULL, value))     \
    REFUSES(tern_module_set_##what, "a name that is not there", TERN_ERR_ARG,                      \
            "module_set_" #what ": Sequential has no " #what " \"0.wait\"",                        \
            tern_module_set_##what(f->net, "0.wait", value))
SETS(parameter, f->leaf)
SETS(buffer, f->x)
SETS(child, tern_nn_relu())

#define SET_PARAMETER(value) tern_module_set_parameter(f->net, "0.bias", value)
REFUSES(tern_module_set_parameter, "a tensor that died", TERN_ERR_STATE,
        "module_set_parameter: 0.bias|died", SET_PARAMETER(f->dead))
REFUSES(tern_module_set_parameter, "integers", TERN_ERR_DTYPE,
        "module_set_parameter: \"0.bias\"|int64 (2, 3)", SET_PARAMETER(f->ints))
REFUSES(tern_module_set_parameter, "a tensor with history", TERN_ERR_STATE,
        "module_set_parameter: \"0.bias\"|mul_scalar|detach", SET_PARAMETER(f->made))
REFUSES(tern_module_set_parameter, "a tensor that is not contiguous", TERN_ERR_STATE,
        "module_set_parameter: \"0.bias\"|contiguous", SET_PARAMETER(f->turned))

static tern_status set_buffer(fixture *f, tern_tensor *value)
{
    return tern_module_set_buffer(f->criterion, "weight", value);
}

REFUSES(tern_module_set_buffer, "a tensor that died", TERN_ERR_STATE,
        "module_set_buffer: weight|died", set_buffer(f, f->dead))
REFUSES(tern_module_set_buffer, "a tensor that requires a gradient", TERN_ERR_STATE,
        "module_set_buffer: \"weight\" requires a gradient", set_buffer(f, f->leaf))

REFUSES(tern_module_set_child, "a child that is NULL", TERN_ERR_NULL,
        "module_set_child: child is NULL", tern_module_set_child(f->net, "1", NULL))
REFUSES(tern_module_set_child, "a child that belongs to another parent", TERN_ERR_STATE,
        "module_set_child: \"1\" (Linear) belongs to Sequential already",
        tern_module_set_child(f->net, "1", tern_module_child_at(f->net, 0)))
REFUSES(tern_module_set_child, "the module itself", TERN_ERR_ARG,
        "module_set_child: \"1\" cannot be a Sequential that has this Sequential below itself",
        tern_module_set_child(f->net, "1", tern_module_retain(f->net)))

static tern_status set_unfinished(tern_module *net)
{
    tern_module *child = tern_module_new(&uncopied_class);
    return tern_module_set_child(net, "1", child);
}

REFUSES(tern_module_set_child, "a child that is not finished", TERN_ERR_STATE,
        "module_set_child: |\"1\"|Uncopied|tern_module_done", set_unfinished(f->net))

static tern_status exchange_in_hook(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    (void)user;
    return tern_module_set_child(module, "1", tern_nn_relu());
}

static tern_tensor *exchange_while_running(tern_module *net, tern_tensor *x)
{
    uint64_t number = tern_module_add_forward_pre_hook(net, exchange_in_hook, NULL);
    tern_tensor *y = tern_forward(net, x);
    tern_module_remove_hook(net, number);
    return y;
}

REFUSES(tern_module_set_child, "while the parent runs", TERN_ERR_STATE,
        "module_set_child: \"1\" belongs to a Sequential that runs",
        exchange_while_running(f->net, f->x))

NO_MODULE(tern_module_tie, "module_tie", tern_module_tie(NULL, "w", f->net, "0.weight"))
REFUSES(tern_module_tie, "another module that is NULL", TERN_ERR_NULL, "module_tie: other is NULL",
        tern_module_tie(f->net, "0.weight", NULL, "0.weight"))
REFUSES(tern_module_tie, "another name that is NULL", TERN_ERR_NULL,
        "module_tie: other_name is NULL", tern_module_tie(f->net, "0.weight", f->net, NULL))
REFUSES(tern_module_tie, "a name that is not there", TERN_ERR_ARG,
        "module_tie: Sequential has no parameter \"0.w\"; it has 0.weight, 0.bias",
        tern_module_tie(f->net, "0.w", f->net, "0.weight"))
REFUSES(tern_module_tie, "other shapes", TERN_ERR_SHAPE,
        "module_tie: \"0.weight\" is float32 (4, 3) |\"0.bias\" float32 (4,)|shapes must agree",
        tern_module_tie(f->net, "0.weight", f->net, "0.bias"))

static tern_status tie_to(tern_module *net, const char *name, tern_module *other)
{
    tern_status status = tern_module_tie(net, name, other, name + 2);
    tern_module_free(other);
    return status;
}

REFUSES(tern_module_tie, "other dtypes", TERN_ERR_DTYPE, "module_tie: |dtypes must agree",
        tie_to(f->net, "0.weight", tern_nn_linear(3, 4, .dtype = TERN_FLOAT64)))
REFUSES(tern_module_tie, "other devices", TERN_ERR_DEVICE, "module_tie: |cpu:1|tern_module_to",
        tie_to(f->net, "0.weight", tern_nn_linear(3, 4, .device = tern_cpu(1))))
REFUSES(tern_module_tie, "what is absent", TERN_ERR_STATE, "module_tie: \"bias\" is absent",
        tie_to(f->net, "0.bias", tern_nn_linear(3, 4, .bias = false)))

static tern_status reset_of(const tern_module_class *module_class)
{
    to_refuse = false;
    tern_module *module = tern_nn_sequential(made_of(module_class));
    to_refuse = true;
    tern_status status = tern_module_reset_parameters(module, NULL);
    tern_module_free(module);
    return status;
}

static tern_status reset_unfinished(void)
{
    tern_module *m = tern_module_new(&uncopied_class);
    tern_status status = tern_module_reset_parameters(m, NULL);
    tern_module_free(tern_module_done(m));
    return status;
}

static tern_status reset_with_freed(tern_module *net)
{
    tern_generator *generator = tern_generator_new(1);
    tern_generator_free(generator);
    return tern_module_reset_parameters(net, generator);
}

NO_MODULE(tern_module_reset_parameters, "module_reset_parameters",
          tern_module_reset_parameters(NULL, NULL))
REFUSES(tern_module_reset_parameters, "a reset that fails", TERN_ERR_NUMERIC,
        "the reset of Later failed without saying why", reset_of(&later_class))
REFUSES(tern_module_reset_parameters, "a module that is not finished", TERN_ERR_STATE,
        "module_reset_parameters: |Uncopied|tern_module_done", reset_unfinished())
REFUSES(tern_module_reset_parameters, "a generator that was freed", TERN_ERR_STATE,
        "module_reset_parameters: this generator was freed already", reset_with_freed(f->net))

NO_MODULE(tern_call_n, "call", tern_call(NULL, f->x))
REFUSES(tern_call_n, "inputs that are NULL", TERN_ERR_NULL, "call: inputs is NULL",
        tern_call_n(f->net, 1, NULL))
REFUSES(tern_call_n, "nine inputs", TERN_ERR_ARG, "call: 9 inputs|8",
        tern_call(f->net, f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x))
REFUSES(tern_call_n, "a negative count", TERN_ERR_ARG, "call: -1 inputs",
        tern_call_n(f->net, -1, &f->x))
REFUSES(tern_call_n, "a tensor that died", TERN_ERR_STATE, "an input (float32 (2, 3)|died",
        tern_call(f->net, f->dead))
REFUSES(tern_call_n, "more than the module takes", TERN_ERR_ARG, "Linear takes 1 tensor, not 2",
        tern_call(f->net, f->x, f->x))
