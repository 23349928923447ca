// SPDX-License-Identifier: Apache-2.0
// Tensors, modules, criteria and optimizers go to a device.
#include "tour.h"

void show_tensor_move(const tour *t)
{
    tern_tensor *x = tern_linspace(0, 1, 5, .device = t->host);
    tern_tensor *y = tern_to(x, t->device);
    say("y = tern_to(x, %s): x is on %s, y on %s", tern_device_string(t->device), place(x),
        place(y));
    say("same values: %s", yes_or_no(same_bits(x, y)));
    say("tern_to(y, %s) is y itself: %s", tern_device_string(t->device),
        yes_or_no(tern_to(y, t->device) == y));
    tern_fill_(y, 9);
    say("filling y with 9 changes x: %s", yes_or_no(tern_item(tern_select(x, 0, 0)) == 9));
}

static double fit(tern_module *net, tern_optim *optim, tern_tensor *x, tern_tensor *y)
{
    tern_tensor *loss = tern_mse_loss(tern_forward(net, x), y, TERN_REDUCTION_MEAN);
    tern_optim_zero_grad(optim);
    if (tern_backward(loss) || tern_optim_step(optim))
        return 0;
    return tern_item(loss);
}

void show_module_move(const tour *t)
{
    tern_manual_seed(1);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 1));
    tern_optim *optim = tern_optim_adam(net, .lr = 0.05);
    tern_tensor *x = tern_rand(tern_dims(16, 4), .device = t->host);
    tern_tensor *y = tern_sum(x, tern_axes(1), true);
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    double before = fit(net, optim, x, y);
    say("a net on %s with an optimizer: loss %.4f", place(weight), before);
    bool same_net = tern_module_to(net, t->device) == net;
    bool same_weight = tern_module_parameter(net, "0.weight") == weight;
    say("tern_module_to(net, %s) returns net itself: %s", tern_device_string(t->device),
        yes_or_no(same_net));
    say("its weight is the same tensor, now on %s: %s", place(weight), yes_or_no(same_weight));
    x = tern_to(x, t->device);
    y = tern_to(y, t->device);
    double after = before;
    for (int step = 0; step < 20; step++)
        after = fit(net, optim, x, y);
    say("20 steps of the same optimizer: loss falls: %s", yes_or_no(after < before));
    say("the optimizer's state is on %s", place(tern_optim_state(optim, 0, "exp_avg")));
    tern_optim_free(optim);
    tern_module_free(net);
}

void show_criterion(const tour *t)
{
    if (tern_device_equal(t->device, t->host)) {
        say("left out: there is one device only; TERN_CPU_DEVICES=3 makes more");
        return;
    }
    tern_tensor *weight = tern_from_data(tern_dims(3), ((float[]){1, 2, 1}), .device = t->host);
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = weight);
    tern_tensor *logits = tern_zeros(tern_dims(2, 3), .device = t->device);
    tern_tensor *labels =
        tern_from_data(tern_dims(2), ((int64_t[]){0, 1}), .dtype = TERN_INT64, .device = t->device);
    say("logits are on %s, the criterion's buffer `weight` on %s:", place(logits),
        place(tern_module_buffer(criterion, "weight")));
    (void)tern_loss(criterion, logits, labels);
    say_mistake();
    tern_module_to(criterion, t->device);
    say("after tern_module_to(criterion, %s) the loss is %.4f", tern_device_string(t->device),
        tern_item(tern_loss(criterion, logits, labels)));
    tern_module_free(criterion);
}

void show_copies(const tour *t)
{
    tern_tensor *x = tern_linspace(1, 4, 4, .device = t->host);
    tern_tensor *y = tern_zeros(tern_dims(4), .device = t->device);
    tern_tensor *z = tern_zeros(tern_dims(4), .device = t->other);
    tern_copy_(y, x);
    tern_copy_(z, y);
    say("tern_copy_ from %s to %s to %s keeps the values: %s", place(x), place(y), place(z),
        yes_or_no(same_bits(x, z)));
    tern_tensor *w = tern_set_requires_grad(tern_ones(tern_dims(4), .device = t->host), true);
    if (!tern_backward(tern_sum(tern_mul(tern_to(w, t->device), y), TERN_ALL_AXES, false)))
        say("the gradient of a tensor on %s through a move to %s is on %s", place(w), place(y),
            place(tern_grad(w)));
}
