// SPDX-License-Identifier: Apache-2.0
// A module with two inputs and two outputs: from two measurements a kind and an amount.
#include <stdio.h>
#include <tern/tern.h>

typedef struct two_heads {
    tern_module base;
    tern_module *left, *right, *kind, *amount;
} two_heads;

static tern_status two_heads_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    two_heads *self = (two_heads *)module;
    tern_tensor *half[] = {tern_relu(tern_forward(self->left, in->at[0])),
                           tern_relu(tern_forward(self->right, in->at[1]))};
    tern_tensor *both = tern_cat(half, 2, 1);
    out->at[out->count++] = tern_forward(self->kind, both);
    out->at[out->count++] = tern_forward(self->amount, both);
    return tern_error_code();
}

static const tern_module_class two_heads_class = {
    .name = "TwoHeads", .size = sizeof(two_heads), .call = two_heads_call};

static tern_module *two_heads_new(void)
{
    two_heads *self = (two_heads *)tern_module_new(&two_heads_class);
    tern_child(self, left, tern_nn_linear(8, 32));
    tern_child(self, right, tern_nn_linear(4, 32));
    tern_child(self, kind, tern_nn_linear(64, 3));
    tern_child(self, amount, tern_nn_linear(64, 1));
    return tern_done(self);
}

int main(void)
{
    tern_manual_seed(6);
    tern_tensor *a = tern_randn(tern_dims(600, 8)), *b = tern_randn(tern_dims(600, 4));
    tern_tensor *sum = tern_add(tern_narrow(a, 1, 0, 3), tern_narrow(b, 1, 0, 3));
    tern_tensor *half = tern_mul_scalar(tern_narrow(a, 1, 3, 1), 0.5);
    tern_tensor *amount = tern_sub(half, tern_abs(tern_narrow(b, 1, 3, 1)));
    tern_dataset *data = tern_data_tensors(a, b, tern_argmax(sum, 1, false), amount);
    tern_loader *loader = tern_loader_new(data, .batch_size = 50, .shuffle = true);
    tern_module *net = two_heads_new();
    tern_optim *opt = tern_optim_adam(net, .lr = 5e-3);

    for (int epoch = 1; epoch <= 10 && !tern_error_pending(); epoch++) {
        double kinds = 0, amounts = 0;
        tern_each_batch (batch, loader) {
            tern_tensors out;
            if (tern_module_forward(net, &(tern_tensors){2, {batch.at[0], batch.at[1]}}, &out))
                break;
            tern_tensor *loss_kind = tern_cross_entropy(out.at[0], batch.at[2]);
            tern_tensor *loss_amount = tern_mse_loss(out.at[1], batch.at[3], TERN_REDUCTION_MEAN);
            tern_optim_zero_grad(opt);
            if (tern_backward(tern_add(loss_kind, tern_mul_scalar(loss_amount, 0.5))) ||
                tern_optim_step(opt))
                break;
            kinds += tern_item(loss_kind);
            amounts += tern_item(loss_amount);
        }
        if (!tern_error_pending())
            printf("epoch %d: kind %.6f, amount %.6f\n", epoch, kinds / 12, amounts / 12);
    }

    tern_free(loader, data, opt, net);
    return tern_error_print(stderr);
}
