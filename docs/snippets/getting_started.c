// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/getting-started.md.
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

static void tensors(void)
{
    // [tensors]
    const float values[] = {1, 2, 3, 4, 5, 6};
    tern_tensor *a = tern_from_data(tern_dims(2, 3), values); // a copy of the array
    tern_tensor *b = tern_full(tern_dims(3), 0.5);            // float32 unless said
    tern_tensor *c = tern_mul(a, b);                          // (2, 3): b counts for each row
    tern_tensor *i = tern_arange(0, 10, 2);                   // int64: 0 2 4 6 8
    tern_tensor *d = tern_zeros(tern_dims(2, 3), .dtype = TERN_FLOAT64);
    double total = tern_item(tern_sum_all(c)); // 10.5
    // [/tensors]
    expect(total == 10.5 && tern_numel(i) == 5 && tern_dtype_of(d) == TERN_FLOAT64);

    // [reading]
    float back[6];
    if (tern_print(c, stdout) ||            // for a reader
        tern_to_host(c, back, sizeof back)) // for the program; any layout, any device
        tern_error_print(stderr);
    // [/reading]
    expect(back[5] == 3);
}

static void devices(void)
{
    // [devices]
    tern_device dev = tern_device_best(); // cuda:0 when there is one, else cpu
    tern_tensor *x = tern_randn(tern_dims(64, 2), .device = dev);
    // [/devices]
    expect(tern_device_equal(tern_device_of(x), dev));
    tern_tensor *y = tern_zeros(tern_dims(2), .device = tern_cuda(0));
    expect(!y);
    expect_error(TERN_ERR_DEVICE);
}

static void gradients(void)
{
    // [gradients]
    tern_tensor *w = tern_full(tern_dims(3), 2, .requires_grad = true);
    tern_tensor *loss = tern_sum_all(tern_mul(w, w));
    if (tern_backward(loss))
        tern_error_print(stderr);
    tern_tensor *g = tern_grad(w); // 2 w: 4 4 4; w owns it
    // [/gradients]
    expect(tern_item(tern_select(g, 0, 0)) == 4);
}

static void states(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 2), tern_nn_relu());
    // [state]
    tern_state *state = tern_module_state_dict(net); // the net's own tensors: 0.weight, 0.bias
    tern_state *best = tern_state_copy(state);       // their values as they are now
    // [/state]
    const double before = tern_item(tern_sum_all(tern_module_parameter(net, "0.weight")));
    tern_no_grad {
        expect(tern_zero_(tern_module_parameter(net, "0.weight")));
    }
    // [load]
    if (tern_module_load_state_dict(net, best)) // back to them
        tern_error_print(stderr);
    // [/load]
    expect(tern_item(tern_sum_all(tern_module_parameter(net, "0.weight"))) == before);
    tern_module *other = tern_nn_sequential(tern_nn_linear(4, 3, .bias = false));
    expect(tern_module_load_state_dict(other, best) == TERN_ERR_ARG);
    expect_error(TERN_ERR_ARG);
    tern_state *wrapped = tern_state_new();
    expect(!tern_state_set_tensor(wrapped, "module.0.weight", tern_ones(tern_dims(3, 4))));
    expect(tern_module_load_state_dict(other, wrapped) == TERN_ERR_ARG);
    expect_error(TERN_ERR_ARG);
    // [strip]
    if (tern_module_load_state_dict(other, wrapped, .strip = "module."))
        tern_error_print(stderr);
    // [/strip]
    expect(tern_item(tern_sum_all(tern_module_parameter(other, "0.weight"))) == 12);
    tern_state_free(wrapped);
    tern_state_free(best);
    tern_state_free(state);
    tern_module_free(other);
    tern_module_free(net);
}

// [squares]
// Sample i is (i, i * i). Nothing is stored: a sample is made when it is asked for.
typedef struct squares {
    tern_dataset base; // first
    int64_t count;
} squares;

static int64_t squares_count(const tern_dataset *self)
{
    return ((const squares *)self)->count;
}

static tern_status squares_item(const tern_dataset *self, const tern_sample_context *context,
                                int64_t index, tern_sample *out)
{
    (void)self, (void)context;
    out->at[out->count++] = tern_full(tern_dims(1), (double)index, .device = tern_cpu(0));
    out->at[out->count++] = tern_mul(out->at[0], out->at[0]);
    return tern_error_code();
}

static const tern_dataset_class squares_class = {
    .name = "squares", .size = sizeof(squares), .count = squares_count, .item = squares_item};
// [/squares]

static tern_dataset *squares_new(int64_t count)
{
    tern_dataset *self = tern_dataset_new(&squares_class);
    if (self)
        ((squares *)self)->count = count;
    return self;
}

static void datasets(void)
{
    tern_dataset *data = squares_new(10);
    tern_loader *loader = tern_loader_new(data, .batch_size = 4);
    double sum = 0;
    tern_each_batch (b, loader)
        sum += tern_item(tern_sum_all(b.y));
    expect(sum == 285);
    tern_loader_free(loader);
    tern_dataset_free(data);
}

// [checkpoint]
// Everything that the run goes on with.
static tern_checkpoint *checkpoint_of(tern_module *net, tern_optim *opt, tern_loader *loader)
{
    tern_checkpoint *ck = tern_checkpoint_new("runs/a", .keep_last = 3);
    if (tern_checkpoint_module(ck, "model", net) || tern_checkpoint_optim(ck, "optim", opt) ||
        tern_checkpoint_loader(ck, "train", loader))
        tern_error_print(stderr);
    return ck;
}
// [/checkpoint]

static void train(tern_module *net, tern_optim *opt, tern_loader *loader)
{
    // [resume]
    int64_t step = 0;
    tern_checkpoint *ck = checkpoint_of(net, opt, loader);
    if (tern_checkpoint_resume(ck, &step) < 0) // 1: it goes on after `step`, 0: it begins
        tern_error_print(stderr);
    tern_each_batch (b, loader) {
        tern_tensor *loss = tern_mse_loss(tern_forward(net, b.x), b.y, TERN_REDUCTION_MEAN);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
        if (++step % 2 == 0 && tern_checkpoint_save(ck, step))
            break;
    }
    tern_checkpoint_free(ck);
    // [/resume]
    expect(step == 3);
}

static void checkpoints(void)
{
    char folder[] = "/tmp/tern-docs-XXXXXX";
    expect(mkdtemp(folder) && chdir(folder) == 0);
    tern_dataset *data = squares_new(9);
    for (int i = 0; i < 2; i++) { // the second run has one step left of the epoch
        tern_module *net = tern_nn_linear(1, 1);
        tern_optim *opt = tern_optim_sgd(net, .lr = 1e-4);
        tern_loader *loader = tern_loader_new(data, .batch_size = 3, .shuffle = true);
        train(net, opt, loader);
        expect(!tern_error_pending());
        tern_loader_free(loader);
        tern_optim_free(opt);
        tern_module_free(net);
    }
    tern_dataset_free(data);
    expect(!unlink("runs/a/step-00000002.safetensors") && !rmdir("runs/a") && !rmdir("runs"));
    expect(!chdir("/") && !rmdir(folder));
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    tensors();
    devices();
    gradients();
    states();
    datasets();
    checkpoints();
    tern_scope_close(scope);
    return finished();
}
