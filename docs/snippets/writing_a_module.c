// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/writing-a-module.md that are not in examples/custom_module.c.
#include <stdlib.h>

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

static const tern_module_class gated_class = {
    .name = "Gated", .size = sizeof(gated), .call = gated_call};
// [/call]

// [new]
typedef struct gated_options {
    bool residual;
} gated_options;

static tern_module *gated_new(int64_t in, int64_t out, gated_options options)
{
    gated *self = (gated *)tern_module_new(&gated_class);
    if (self)
        self->residual = options.residual;
    tern_child(self, gate, tern_nn_linear(in, out));
    tern_child(self, value, tern_nn_linear(in, out));
    return tern_done(self);
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

static const tern_module_class first_class = {
    .name = "First", .size = sizeof(first), .call = first_call};

static tern_module *first_new(tern_module *inner)
{
    first *self = (first *)tern_module_new(&first_class);
    tern_child(self, inner, inner);
    return tern_done(self);
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

// [scaled]
// y = scale * x: (N, In) -> (N, In), for values that have a name.
typedef struct scaled {
    tern_module base;
    tern_tensor *scale; // (In)
    double spread;      // of its first values around 1
    char *title;        // from malloc
} scaled;

static void scaled_free(tern_module *module)
{
    free(((scaled *)module)->title);
}

static void scaled_describe(const tern_module *module, tern_text *out)
{
    const scaled *self = (const scaled *)module;
    tern_text_add(out, "%s, spread=%g", self->title, self->spread);
}

static tern_status scaled_reset(tern_module *module, tern_generator *generator)
{
    scaled *self = (scaled *)module;
    (void)tern_normal_(self->scale, 1, self->spread, generator);
    return tern_error_code();
}

static tern_status scaled_copy(tern_module *to, const tern_module *from)
{
    scaled *self = (scaled *)to; // its scale is its own already
    self->title = strdup(((const scaled *)from)->title);
    return self->title ? TERN_OK : tern_error_raise(TERN_ERR_NOMEM, "no memory for a title");
}

static tern_status scaled_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_mul(in->at[0], ((scaled *)module)->scale);
    return tern_error_code();
}

static const tern_module_class scaled_class = {.name = "Scaled",
                                               .size = sizeof(scaled),
                                               .call = scaled_call,
                                               .free = scaled_free,
                                               .describe = scaled_describe,
                                               .reset = scaled_reset,
                                               .copy = scaled_copy};
// [/scaled]

static tern_module *scaled_new(int64_t in, const char *title)
{
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    if (!self)
        return NULL;
    self->spread = 0.1;
    self->title = strdup(title);
    tern_module_add_parameter(&self->base, "scale", &self->scale, tern_empty(tern_dims(in)));
    return tern_module_done(&self->base);
}

static void printed_copied_and_exchanged(void)
{
    // [exchange]
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 2), scaled_new(2, "logits"));
    tern_module *twin = tern_module_copy(net); // has nothing in common with it
    tern_status status = tern_module_set_parameter(net, "0.bias", tern_zeros(tern_dims(2)));
    if (!status)
        status = tern_module_set_child(net, "0", tern_nn_linear(4, 2, .bias = false));
    if (!status)
        status = tern_module_tie(net, "1.scale", twin, "1.scale"); // one tensor from now on
    if (!status)
        status = tern_module_reset_parameters(net, NULL); // draws 0.weight and 1.scale anew
    if (!status)
        status = tern_module_print(net, stdout);
    // [/exchange]
    expect(!status);
    expect(tern_module_parameter(net, "1.scale") == tern_module_parameter(twin, "1.scale"));
    expect(tern_module_num_parameters(net) == 2 && tern_module_num_parameters(twin) == 3);
    expect(((scaled *)tern_module_child(twin, "1"))->title !=
           ((scaled *)tern_module_child(net, "1"))->title);
    expect(tern_size(tern_forward(net, tern_ones(tern_dims(5, 4))), 1) == 2);
    tern_module_free(net);
    tern_module_free(twin);
}

// [symmetric]
// x + x^T of a square x, whose half is the original of a symmetric weight.
static tern_status symmetric_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->at[out->count++] = tern_add(in->at[0], tern_transpose(in->at[0], 0, 1));
    return tern_error_code();
}

static tern_status half(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    (void)module;
    originals->at[originals->count++] = tern_mul_scalar(value, 0.5);
    return tern_error_code();
}

static const tern_module_class symmetric_class = {
    .name = "Symmetric", .size = sizeof(tern_module), .call = symmetric_call};
// [/symmetric]

static void computed(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 3), tern_nn_relu());
    // [parametrize]
    tern_module *symmetric = tern_module_done(tern_module_new(&symmetric_class));
    tern_status status =
        tern_module_register_parametrization(net, "0.weight", symmetric, .right_inverse = half);
    if (!status && !tern_nn_weight_norm(net, .name = "0.bias", .dim = TERN_ALL_DIMS))
        status = tern_error_code();
    tern_tensor *w = tern_module_parametrized(net, "0.weight"); // as a forward computes it
    // [/parametrize]
    expect(!status);
    expect(tern_item(tern_amax(tern_abs(tern_sub(w, tern_transpose(w, 0, 1))), TERN_ALL_AXES,
                               false)) == 0);
    expect(tern_module_parameter(net, "0.parametrizations.weight.original") != NULL);
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
    assert(tern_module_num_parameters(layer) == 4);
    assert(tern_shape_equal(tern_shape_of(y), tern_dims(5, 2)));
    assert(!tern_backward(tern_sum(y, TERN_ALL_AXES, false)));
    assert(!tern_module_each_parameter(layer, has_gradient, &without) && without == 0);
    tern_module_free(layer);
    // [/test]
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    two_outputs();
    a_constructor_that_fails();
    in_a_container();
    printed_copied_and_exchanged();
    computed();
    tested();
    tern_scope_close(scope);
    return finished();
}
