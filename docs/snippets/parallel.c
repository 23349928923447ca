// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/parallel.md, on virtual CPU devices: the test run has four.
#include "check.h"

static tern_module *net_of(void)
{
    tern_manual_seed(0);
    return tern_nn_sequential(tern_nn_linear(20, 64), tern_nn_relu(), tern_nn_linear(64, 3));
}

static tern_tensor *input(void)
{
    return tern_randn(tern_dims(30, 20));
}

static tern_tensor *labels(void)
{
    return tern_randint(0, 3, tern_dims(30));
}

// ---- data parallel ------------------------------------------------------------------------------

static void wrap(void)
{
    tern_module *net = net_of(), *criterion = tern_nn_cross_entropy_loss();
    tern_tensor *x = input(), *y = labels();
    // [devices]
    tern_device devices[8];
    int count = tern_try_all_gpus(devices, 8); // all CUDA devices, or the CPU alone
    // [/devices]
    expect(count == 1);
    for (int i = 0; i < 2; i++)
        devices[i] = tern_cpu(i);
    count = 2;
    // [wrap]
    tern_module_to(net, devices[0]); // parameters are on the first device
    tern_module *parallel = tern_nn_data_parallel(net, .devices = devices, .count = count);
    tern_optim *opt = tern_optim_adam(parallel, .lr = 1e-3);
    // [/wrap]
    // [step]
    tern_tensor *loss = tern_loss(criterion, tern_forward(parallel, x), y);
    tern_optim_zero_grad(opt);
    if (tern_backward(loss) || tern_optim_step(opt))
        tern_error_print(stderr);
    // [/step]
    expect(loss != NULL);
    // [which]
    tern_device found[8];
    for (int i = 0; i < tern_nn_data_parallel_devices(parallel, found, 8); i++)
        printf("piece %d runs on %s\n", i, tern_device_string(found[i]));
    // [/which]
    // [check]
    if (tern_parallel_check(parallel, x, y)) // gradients over all devices, and on the first alone
        tern_error_print(stderr);
    // [/check]
    expect(!tern_forward(parallel, tern_zeros(tern_dims(30, 8))));
    expect_error(TERN_ERR_SHAPE);
    tern_module_to(parallel, tern_cpu(1));
    expect(!tern_forward(parallel, x));
    expect_error(TERN_ERR_DEVICE);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(parallel);
}

static void names(void)
{
    tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *plain = net_of();
    tern_module *parallel = tern_nn_data_parallel(net_of(), .devices = devices, .count = 2);
    tern_state *saved = tern_module_state_dict(parallel);
    // [load]
    // "module.0.weight", ... into a net with "0.weight", ...:
    if (tern_module_load_state_dict(plain, saved, .strip = "module."))
        tern_error_print(stderr);
    // [/load]
    tern_state *own = tern_module_state_dict(plain);
    // [child]
    // Or save what is in the wrapper, and load into it: plain names on both sides.
    tern_module *inner = tern_module_child(parallel, "module");
    if (tern_module_load_state_dict(inner, own))
        tern_error_print(stderr);
    // [/child]
    tern_state_free(own);
    tern_state_free(saved);
    tern_module_free(plain);
    tern_module_free(parallel);
}

static void part(void)
{
    tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *net = tern_nn_module_dict({"features", net_of()}, {"head", tern_nn_linear(3, 2)});
    // [part]
    tern_module *features = tern_module_retain(tern_module_child(net, "features"));
    features = tern_nn_data_parallel(features, .devices = devices, .count = 2);
    if (tern_module_set_child(net, "features", features)) // names: "features.module.0.weight"
        tern_error_print(stderr);
    // [/part]
    tern_state *saved = tern_module_state_dict(net);
    tern_module *plain =
        tern_nn_module_dict({"features", net_of()}, {"head", tern_nn_linear(3, 2)});
    // [component]
    if (tern_module_load_state_dict(plain, saved, .strip_component = "module"))
        tern_error_print(stderr);
    // [/component]
    tern_state_free(saved);
    tern_module_free(plain);
    tern_module_free(net);
}

// A loss inside of the net: each piece gives one number.
typedef struct with_loss {
    tern_module base;
    tern_module *net;
} with_loss;

static tern_status call_with_loss(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *output = tern_forward(((with_loss *)module)->net, in->at[0]);
    out->at[out->count++] = tern_cross_entropy(output, in->at[1]);
    return tern_error_code();
}

static const tern_module_class with_loss_class = {
    .name = "WithLoss", .size = sizeof(with_loss), .call = call_with_loss};

static void loss_inside(void)
{
    tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    with_loss *self = (with_loss *)tern_module_new(&with_loss_class);
    tern_child(self, net, net_of());
    tern_module *parallel = tern_nn_data_parallel(tern_done(self), .devices = devices, .count = 2);
    tern_tensor *x = input(), *y = labels();
    // [inside]
    tern_tensor *losses = tern_call(parallel, x, y); // (2,): one a device
    tern_tensor *loss = tern_mean(losses, TERN_ALL_AXES, false);
    // [/inside]
    expect(tern_numel(losses) == 2 && loss);
    tern_module_free(parallel);
}

static void parts(void)
{
    tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *net = net_of();
    tern_tensor *x = input();
    // [parts]
    tern_module *replicas[2];
    tern_tensors in = {.count = 1, .at = {x}}, pieces[2], outputs[2], out = {0};
    int used = tern_scatter_batch(&in, devices, 2, 0, pieces);
    if (used < 0 || tern_replicate(net, devices, used, replicas) ||
        tern_parallel_apply(replicas, pieces, outputs, used) ||
        tern_gather_batch(outputs, used, devices[0], 0, &out))
        tern_error_print(stderr);
    // [/parts]
    expect(out.count == 1 && used == 2);
    for (int i = 0; i < used; i++)
        tern_module_free(replicas[i]);
    tern_module_free(net);
}

// ---- a model that is split ----------------------------------------------------------------------

// [split]
typedef struct split_net {
    tern_module base;
    tern_module *front, *back;
    tern_device middle; // where the back is
} split_net;

static tern_status call_split(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    split_net *self = (split_net *)module;
    tern_tensor *hidden = tern_to(tern_forward(self->front, in->at[0]), self->middle);
    out->at[out->count++] = tern_forward(self->back, hidden);
    return tern_error_code();
}
// [/split]

static const tern_module_class split_class = {
    .name = "Split", .size = sizeof(split_net), .call = call_split};

static void pipeline(void)
{
    split_net *self = (split_net *)tern_module_new(&split_class);
    self->middle = tern_cpu(1);
    tern_child(self, front, tern_nn_linear(20, 64));
    tern_child(self, back, tern_nn_linear(64, 3));
    tern_module *net = tern_done(self);
    tern_module_to(self->back, self->middle);
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adam(net);
    tern_tensor *x = input(), *y = labels();
    // [pipeline]
    tern_optim_zero_grad(opt);
    tern_tensor *loss = tern_pipeline(net, criterion, x, y, .micro_batches = 8);
    if (!loss || tern_optim_step(opt))
        tern_error_print(stderr);
    // [/pipeline]
    expect(loss != NULL);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    wrap();
    names();
    part();
    loss_inside();
    parts();
    pipeline();
    tern_scope_close(scope);
    tern_shutdown();
    return finished();
}
