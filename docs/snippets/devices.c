// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/devices.md that need no GPU: they run on four CPU devices
// (TERN_CPU_DEVICES=4), and also where there are CUDA devices. devices_cuda.c has the others.
#include "check.h"

static bool is_on(tern_tensor *t, tern_device device)
{
    return t && tern_device_equal(tern_device_of(t), device);
}

// ---- choosing -----------------------------------------------------------------------------------

// [choose]
static tern_status choose(int argc, char **argv, tern_device *dev)
{
    *dev = tern_device_best(); // cuda:0 when there is one, else cpu
    if (argc > 1)              // or what the user says: cpu, cuda, cuda:1
        return tern_device_parse(argv[1], dev);
    return TERN_OK;
}
// [/choose]

static void choosing(void)
{
    tern_device dev;
    expect(choose(1, NULL, &dev) == TERN_OK && tern_device_equal(dev, tern_device_best()));
    expect(choose(2, (char *[]){"", "cpu:1"}, &dev) == TERN_OK);
    expect(tern_device_equal(dev, tern_cpu(1)));
    expect(choose(2, (char *[]){"", "gpu"}, &dev) == TERN_ERR_ARG);
    expect_error(TERN_ERR_ARG);
    expect(choose(2, (char *[]){"", "cpu:7"}, &dev) == TERN_ERR_DEVICE);
    expect_error(TERN_ERR_DEVICE);

    // [try]
    tern_device fourth = tern_try_gpu(3); // cuda:3 when there is one, else cpu
    tern_device all[8];
    int count = tern_try_all_gpus(all, 8); // every GPU, or the CPU alone: never 0
    // [/try]
    expect(tern_device_equal(fourth, tern_cuda_device_count() > 3 ? tern_cuda(3) : tern_cpu(0)));
    expect(count >= 1 && tern_device_equal(all[0], tern_device_best()));

    // [available]
    if (!tern_cuda_is_available())
        fprintf(stderr, "on the CPU: %s\n", tern_cuda_reason());
    // [/available]
    expect(tern_cuda_is_available() == (tern_cuda_device_count() > 0));
}

static void defaults(void)
{
    tern_tensor *a = NULL, *b = NULL, *c = NULL;
    // [default]
    if (tern_set_default_device(tern_cpu(1))) // from here on, in this thread
        tern_error_print(stderr);
    a = tern_zeros(tern_dims(2)); // on cpu:1
    tern_with_device(tern_cpu(2))
    {
        b = tern_zeros(tern_dims(2)); // on cpu:2
    }
    c = tern_zeros(tern_dims(2), .device = tern_cpu(0)); // said: on cpu:0
    // [/default]
    expect(is_on(a, tern_cpu(1)) && is_on(b, tern_cpu(2)) && is_on(c, tern_cpu(0)));
    expect(tern_device_equal(tern_default_device(), tern_cpu(1)));
    expect(tern_set_default_device(tern_cpu(0)) == TERN_OK);
    tern_with_device(tern_cpu(9)) expect(false);
    expect_error(TERN_ERR_DEVICE);
}

// ---- tensors ------------------------------------------------------------------------------------

static void moving(void)
{
    tern_device dev = tern_cpu(1);
    // [move]
    tern_tensor *x = tern_ones(tern_dims(2, 3)); // on cpu:0
    tern_tensor *y = tern_to(x, dev);            // a new tensor on dev; x stays where it is
    tern_tensor *z = tern_to(y, dev);            // there already: z == y
    // [/move]
    expect(is_on(x, tern_cpu(0)) && is_on(y, dev) && x != y && y == z);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-result"
    // [forgotten]
    tern_to(x, dev); // the new tensor is lost: x is still on cpu:0
    tern_tensor *sum = tern_add(x, y);
    // [/forgotten]
#pragma GCC diagnostic pop
    expect(!sum);
    expect_error(TERN_ERR_DEVICE);

    // [copy]
    tern_tensor *batch = tern_empty(tern_dims(2, 3), .dtype = TERN_FLOAT64, .device = dev);
    tern_copy_(batch, x); // into memory that is there; crosses devices and dtypes
    // [/copy]
    expect(is_on(batch, dev) && tern_item(tern_sum(batch, TERN_ALL_AXES, false)) == 6);

    // [like]
    tern_tensor *noise = tern_randn_like(batch);                // float64, on dev
    tern_tensor *mask = tern_new_zeros(batch, tern_dims(2, 1)); // likewise, of another shape
    // [/like]
    expect(is_on(noise, dev) && is_on(mask, dev) && tern_dtype_of(mask) == TERN_FLOAT64);

    tern_tensor *w = tern_ones(tern_dims(3), .requires_grad = true);
    expect(!tern_backward(tern_sum(tern_to(w, dev), TERN_ALL_AXES, false)));
    expect(is_on(tern_grad(w), tern_cpu(0)) && !tern_is_leaf(tern_to(w, dev)));
}

static void mixing(void)
{
    // [follow]
    tern_tensor *a = tern_ones(tern_dims(2, 3), .device = tern_cpu(1));
    tern_tensor *b = tern_full_like(a, 2);
    tern_tensor *c = NULL;
    tern_with_device(tern_cpu(2))
    {
        c = tern_add(a, b); // on cpu:1, where a and b are
    }
    // [/follow]
    expect(is_on(c, tern_cpu(1)));
    // [scalar]
    tern_tensor *scale = tern_full(tern_dims(), 0.5); // 0-dim, on the CPU
    tern_tensor *half = tern_mul(a, scale);           // on cpu:1
    // [/scalar]
    expect(is_on(half, tern_cpu(1)));
    // [wrong]
    tern_tensor *row = tern_ones(tern_dims(3)); // has a dimension: does not mix
    tern_tensor *wrong = tern_mul(a, row);      // NULL
    // [/wrong]
    expect(!wrong);
    expect_error(TERN_ERR_DEVICE);
}

static void halves(void)
{
    // [half]
    tern_tensor *x = tern_full(tern_dims(1000), 60000);
    tern_tensor *h = tern_to_dtype(x, TERN_FLOAT16); // 2000 bytes, not 4000
    tern_tensor *twice = tern_add(h, h);             // beyond 65504: inf
    tern_tensor *fine =
        tern_all(tern_isfinite(twice), TERN_ALL_AXES, false); // 0-dim, on the device
    if (!tern_item_int(fine))
        printf("the sum overflowed\n");
    tern_tensor *b = tern_to_dtype(x, TERN_BFLOAT16); // range of float32, 3 digits
    // [/half]
    expect(tern_dtype_size(tern_dtype_of(h)) == 2 && !tern_item_int(fine));
    fine = tern_all(tern_isfinite(tern_add(b, b)), TERN_ALL_AXES, false);
    expect(tern_item_int(fine) == 1);
}

// ---- modules ------------------------------------------------------------------------------------

static void modules(void)
{
    tern_device dev = tern_cpu(1);
    // [module]
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2); // made before the move: stays right
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    if (!tern_module_to(net, dev)) // in place, all or nothing; returns net
        tern_error_print(stderr);
    // weight is the same tensor as before, and it is on dev
    // [/module]
    expect(is_on(weight, dev) && weight == tern_module_parameter(net, "0.weight"));

    float counts[] = {0.2f, 1, 2};
    tern_tensor *weights = tern_from_data(tern_dims(3), counts);
    // [criterion]
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = weights); // a buffer, on cpu:0
    tern_tensor *x = tern_ones(tern_dims(2, 4), .device = dev);
    tern_tensor *y = tern_zeros(tern_dims(2), .dtype = TERN_INT64, .device = dev);
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y); // NULL
    // [/criterion]
    expect(!loss);
    expect_error(TERN_ERR_DEVICE);
    // [criterion_moved]
    tern_module_to(criterion, dev);
    loss = tern_loss(criterion, tern_forward(net, x), y);
    // [/criterion_moved]
    expect(!tern_backward(loss) && !tern_optim_step(opt));
    expect(is_on(tern_optim_state(opt, 0, "exp_avg"), dev));

    expect(!tern_loss(criterion, tern_forward(net, x), tern_to(y, tern_cpu(0))));
    expect_error(TERN_ERR_DEVICE);
    expect(!tern_forward(net, tern_to(x, tern_cpu(0))));
    expect_error(TERN_ERR_DEVICE);
    tern_module_free(criterion);
    tern_optim_free(opt);
    tern_module_free(net);
}

// ---- random numbers -----------------------------------------------------------------------------

static void seeds(void)
{
    // [seeds]
    tern_manual_seed(42);                                            // every device's generator
    tern_tensor *a = tern_rand(tern_dims(4), .device = tern_cpu(1)); // from cpu:1's
    tern_generator *own = tern_generator_new(7);                     // or from one of your own,
    tern_tensor *b = tern_rand(tern_dims(4), .device = tern_cpu(1), .generator = own); // anywhere
    // [/seeds]
    tern_manual_seed(42);
    tern_tensor *again = tern_rand(tern_dims(4), .device = tern_cpu(1));
    expect(tern_item_int(tern_all(tern_eq(a, again), TERN_ALL_AXES, false)) == 1 && b);
    tern_generator_free(own);
}

// ---- several devices ----------------------------------------------------------------------------

static void split(tern_device one, tern_device two)
{
    // [split]
    tern_module *front = tern_nn_sequential(tern_nn_linear(2, 16), tern_nn_tanh());
    tern_module *back = tern_nn_linear(16, 1);
    tern_module *net = tern_nn_module_list(front, back); // owns both: one optimizer for all
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2);
    tern_module_to(front, one);
    tern_module_to(back, two);
    // [/split]
    double first = 0, last = 0;
    tern_tensor *x = tern_randn(tern_dims(32, 2), .device = one);
    tern_tensor *y = tern_sum(tern_mul(x, x), tern_axes(1), true);
    y = tern_to(y, two);
    for (int i = 0; i < 100 && !tern_error_pending(); i++) {
        tern_scope scope = tern_scope_open();
        // [split_step]
        tern_tensor *hidden = tern_forward(front, x);                   // on `one`, where x is
        tern_tensor *out = tern_forward(back, tern_to(hidden, two));    // on `two`
        tern_tensor *loss = tern_mse_loss(out, y, TERN_REDUCTION_MEAN); // y is on `two`
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt)) // gradients find their way back to `one`
            tern_error_print(stderr);
        // [/split_step]
        last = tern_item(loss);
        first = i == 0 ? last : first;
        tern_scope_close(scope);
    }
    expect(last < first / 2);
    tern_optim_free(opt);
    tern_module_free(net);
}

// ---- reading ------------------------------------------------------------------------------------

static double epoch(tern_module *net, tern_optim *opt, tern_loader *loader, tern_device dev)
{
    // [sum]
    tern_tensor *sum = tern_zeros(tern_dims(), .device = dev); // stays on the device
    tern_each_batch (b, loader) {
        tern_tensor *loss = tern_mse_loss(tern_forward(net, b.x), b.y, TERN_REDUCTION_MEAN);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
        tern_add_(sum, tern_detach(loss), 1); // queued, not waited for
    }
    double mean = tern_item(sum) / (double)tern_loader_batches(loader); // the one wait
    // [/sum]
    return mean;
}

static void reading(void)
{
    tern_device dev = tern_cpu(1);
    tern_tensor *x = tern_randn(tern_dims(64, 2));
    tern_dataset *data = tern_data_tensors(x, tern_sum(x, tern_axes(1), true));
    tern_module *net = tern_nn_linear(2, 1, .device = dev);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    tern_loader *loader = tern_loader_new(data, .batch_size = 16, .device = dev);
    double first = epoch(net, opt, loader, dev), second = epoch(net, opt, loader, dev);
    expect(second < first);
    tern_loader_free(loader);
    tern_optim_free(opt);
    tern_module_free(net);
    tern_dataset_free(data);
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    tern_manual_seed(1);
    choosing();
    defaults();
    moving();
    mixing();
    halves();
    modules();
    seeds();
    split(tern_cpu(1), tern_cpu(2));
    reading();
    tern_scope_close(scope);
    int status = finished();
    tern_shutdown();
    return status;
}
