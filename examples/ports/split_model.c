// SPDX-License-Identifier: Apache-2.0
// A network whose first half is on one device and whose second half is on another one: two GPUs,
// or cpu:0 and cpu:1 where TERN_CPU_DEVICES=2 is in the environment.
#include <stdio.h>
#include <tern/tern.h>

static tern_tensor *forward(tern_module *net, tern_tensor *x, tern_device first, tern_device second)
{
    tern_tensor *hidden = tern_forward(tern_module_child(net, "front"), tern_to(x, first));
    return tern_forward(tern_module_child(net, "back"), tern_to(hidden, second));
}

int main(void)
{
    bool gpus = tern_device_count(TERN_CUDA) > 1;
    tern_device first = gpus ? tern_cuda(0) : tern_cpu(0);
    tern_device second = gpus ? tern_cuda(1) : tern_cpu(tern_device_count(TERN_CPU) > 1);

    tern_manual_seed(4);
    tern_tensor *x = tern_randn(tern_dims(512, 16));
    tern_tensor *y = tern_argmax(tern_matmul(x, tern_randn(tern_dims(16, 4))), 1, false);
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader = tern_loader_new(data, .batch_size = 64);

    tern_module *front = tern_nn_sequential(tern_nn_linear(16, 64), tern_nn_relu());
    tern_module *back =
        tern_nn_sequential(tern_nn_linear(64, 64), tern_nn_relu(), tern_nn_linear(64, 4));
    tern_module_to(front, first);
    tern_module_to(back, second);
    tern_module *net = tern_nn_module_dict({"front", front}, {"back", back});
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.05, .momentum = 0.9);

    for (int epoch = 1; epoch <= 10 && !tern_error_pending(); epoch++) {
        double total = 0;
        tern_each_batch (b, loader) {
            tern_tensor *loss =
                tern_loss(criterion, forward(net, b.x, first, second), tern_to(b.y, second));
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            total += tern_item(loss);
        }
        if (!tern_error_pending())
            printf("epoch %d: loss %.6f\n", epoch, total / 8);
    }

    tern_free(loader, data, opt, criterion, net);
    return tern_error_print(stderr);
}
