// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/writing-a-module.md that are not in examples/custom_module.c.
#include "check.h"

// [struct]
// y = sigmoid(gate(x)) * value(x), and x added to it where asked: (N, In) -> (N, Out).
typedef struct gated {
    tern_module base;          // first
    tern_module *gate, *value; // borrowed: the module owns its children
    bool residual;             // what is no tensor is plain C
} gated;
// [/struct]

// [call]
static tern_status gated_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    gated *self = (gated *)module;
    if (in->count != 1)
        return tern_error_raise(TERN_ERR_ARG, "Gated takes 1 tensor, not %d", in->count);
    tern_tensor *x = in->at[0];
    tern_tensor *open = tern_sigmoid(tern_forward(self->gate, x));
    tern_tensor *y = tern_mul(open, tern_forward(self->value, x));
    if (self->residual)
        y = tern_add(y, x);
    out->at[out->count++] = y;
    out->at[out->count++] = open;
    return tern_error_code();
}

static const tern_module_class gated_class = {"Gated", sizeof(gated), gated_call};
// [/call]

// [new]
typedef struct gated_options {
    bool residual;
} gated_options;

static tern_module *gated_new(int64_t in, int64_t out, gated_options options)
{
    gated *self = (gated *)tern_module_new(&gated_class);
    if (!self)
        return NULL;
    self->residual = options.residual;
    self->gate = tern_module_add_child(&self->base, "gate", tern_nn_linear(in, out));
    self->value = tern_module_add_child(&self->base, "value", tern_nn_linear(in, out));
    return tern_module_done(&self->base);
}
// [/new]

// [wrapper]
// y, and in *open how far the gates are open.
static tern_tensor *gated_forward(tern_module *module, tern_tensor *x, tern_tensor **open)
{
    tern_tensors in = {.count = 1, .at = {x}}, out;
    if (tern_module_forward(module, &in, &out))
        return NULL;
    *open = out.at[1];
    return out.at[0];
}
// [/wrapper]

// [first]
// The same with one output, for containers: a module that hands on the first of several.
typedef struct first {
    tern_module base;
    tern_module *inner;
} first;

static tern_status first_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_tensors all;
    tern_status status = tern_module_forward(((first *)module)->inner, in, &all);
    if (!status)
        out->at[out->count++] = all.at[0];
    return status;
}

static const tern_module_class first_class = {"First", sizeof(first), first_call};

static tern_module *first_new(tern_module *inner)
{
    first *self = (first *)tern_module_new(&first_class);
    if (!self) {
        tern_module_free(inner); // a constructor takes over its children, also when it fails
        return NULL;
    }
    self->inner = tern_module_add_child(&self->base, "inner", inner);
    return tern_module_done(&self->base);
}
// [/first]

static void two_outputs(void)
{
    tern_module *layer = gated_new(4, 4, (gated_options){.residual = true});
    tern_tensor *open = NULL;
    tern_tensor *y = gated_forward(layer, tern_ones(tern_dims(2, 4)), &open);
    expect(tern_size(y, 1) == 4 && tern_size(open, 1) == 4);
    tern_module_free(layer);
}

static void a_constructor_that_fails(void)
{
    // [fails]
    tern_module *net = tern_nn_sequential(first_new(gated_new(0, 8, (gated_options){0})),
                                          tern_nn_relu()); // NULL, and nothing to free
    // [/fails]
    expect(!net);
    expect_error(TERN_ERR_ARG);
}

static void in_a_container(void)
{
    // [container]
    tern_module *net =
        tern_nn_sequential(first_new(gated_new(4, 8, (gated_options){0})), tern_nn_linear(8, 2));
    tern_tensor *w = tern_module_parameter(net, "0.inner.gate.weight"); // (8, 4)
    // [/container]
    expect(tern_size(w, 0) == 8 && tern_size(w, 1) == 4);
    expect(!tern_forward(net, tern_ones(tern_dims(2, 5))));
    expect_error(TERN_ERR_SHAPE);
    tern_module_free(net);
}

// [walk]
static tern_status has_gradient(const tern_module_entry *entry, void *user)
{
    if (!tern_grad(entry->tensor)) {
        printf("%s has no gradient\n", entry->name);
        ++*(int *)user;
    }
    return TERN_OK;
}
// [/walk]

static void tested(void)
{
    // [test]
    tern_module *layer = gated_new(3, 2, (gated_options){0});
    tern_tensor *open = NULL;
    tern_tensor *y = gated_forward(layer, tern_ones(tern_dims(5, 3)), &open);
    int without = 0;
    expect(tern_module_num_parameters(layer) == 4);
    expect(tern_shape_equal(tern_shape_of(y), tern_dims(5, 2)));
    expect(!tern_backward(tern_sum(y, TERN_ALL_AXES, false)));
    expect(!tern_module_each_parameter(layer, has_gradient, &without) && without == 0);
    tern_module_free(layer);
    // [/test]
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    two_outputs();
    a_constructor_that_fails();
    in_a_container();
    tested();
    tern_scope_close(scope);
    return finished();
}
