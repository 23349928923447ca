// SPDX-License-Identifier: Apache-2.0
// A network that PyTorch trained and saved (train.py) recognizes clothes here as it does there, and
// learns another task: is it a shoe? Its last layer is a new one, the others stay as they are.
// Usage: pretrained FOLDER [DATA [OUT]]: where weights.pt and expected.pt are, the four files of
// Fashion-MNIST, and what the new weights are saved as.
#include <stdio.h>
#include <string.h>
#include <tern/tern.h>

#include "../common/message.h"

#define LAST     "5" // the last layer
#define EXPECTED 100 // images whose outputs PyTorch saved

// That of train.py: the names and shapes are those of the state dict in weights.pt.
static tern_module *make_net(void)
{
    return tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 32), tern_nn_relu(),
                              tern_nn_linear(32, 32), tern_nn_relu(), tern_nn_linear(32, 10));
}

// What torch.save wrote, with the tensors on the CPU wherever they were.
static tern_state *read_state(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return tern_state_read(path, .map_location = "cpu");
}

static tern_status check_outputs(tern_module *net, tern_dataset *data, tern_device dev,
                                 tern_tensor *expected)
{
    tern_batch b;
    int64_t first[EXPECTED];
    double difference = 1;
    for (int i = 0; i < EXPECTED; i++)
        first[i] = i;
    if (tern_dataset_get(data, first, EXPECTED, &b))
        return tern_error_code();
    tern_no_grad {
        tern_tensor *y = tern_to(tern_forward(net, tern_to(b.x, dev)), tern_cpu(0));
        difference = tern_item(tern_amax(tern_abs(tern_sub(y, expected)), TERN_ALL_AXES, false));
    }
    printf("outputs differ from PyTorch's by at most %.1e\n", difference);
    if (difference < 1e-5)
        return tern_error_code();
    return tern_error_raise(TERN_ERR_STATE, "the outputs are not PyTorch's");
}

// How many images it gets right, where image i is of the class classes[label[i]].
static int64_t count_right(tern_module *net, tern_loader *loader, tern_tensor *classes)
{
    int64_t right = 0;
    tern_no_grad {
        tern_each_batch (b, loader) {
            tern_tensor *guess = tern_argmax(tern_forward(net, b.x), 1, false);
            tern_tensor *y = tern_index_select(classes, 0, b.y);
            right += tern_item_int(tern_sum_all(tern_eq(guess, y)));
        }
    }
    return right;
}

// The others get no gradients, and the optimizer does not even know them.
static tern_status fine_tune(tern_module *net, tern_loader *train, tern_tensor *classes)
{
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adam(tern_module_child(net, LAST), .lr = 1e-3);
    tern_each_batch (b, train) {
        tern_tensor *y = tern_index_select(classes, 0, b.y);
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), y);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
    }
    tern_optim_free(opt);
    tern_module_free(criterion);
    return tern_error_code();
}

static bool is_last(const char *name)
{
    return strncmp(name, LAST ".", strlen(LAST ".")) == 0;
}

// Whether all but the last layer have the bits that were loaded.
static bool is_frozen(tern_module *net, const tern_state *weights)
{
    bool same = true;
    for (int64_t i = 0; i < tern_state_count(weights) && same; i++) {
        const char *name = tern_state_name_at(weights, i);
        tern_tensor *now = tern_to(tern_module_parameter(net, name), tern_cpu(0));
        tern_tensor *loaded = tern_state_tensor(weights, name);
        same = is_last(name) || (now && loaded &&
                                 memcmp(tern_data(now), tern_data(loaded),
                                        (size_t)tern_numel(now) * sizeof(float)) == 0);
    }
    return same && !tern_error_pending();
}

static tern_status save(tern_module *net, const char *path)
{
    tern_state *state = tern_module_state_dict(net);
    if (state && !tern_state_write(state, path))
        printf("saved as %s\n", path);
    tern_state_free(state);
    return tern_error_code();
}

// From ten kinds of clothes to two.
static tern_status learn_shoes(tern_module *net, const tern_state *weights, tern_loader *train,
                               tern_loader *test, tern_device dev)
{
    // Sandals, sneakers and ankle boots are shoes.
    const int64_t is_shoe[10] = {[5] = 1, [7] = 1, [9] = 1};
    tern_tensor *classes = tern_from_data(tern_dims(10), is_shoe, .device = dev);
    tern_module_requires_grad_(net, false);
    if (tern_module_set_child(net, LAST, tern_module_to(tern_nn_linear(32, 2), dev)) ||
        fine_tune(net, train, classes))
        return tern_error_code();
    int64_t right = count_right(net, test, classes);
    printf("shoes or not: %lld of 10000 test images\n", (long long)right);
    printf("the layers that were frozen are %s\n",
           is_frozen(net, weights) ? "as they were, to the bit" : "others");
    return tern_error_code();
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    const char *data = argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist";
    tern_manual_seed(0);
    tern_device dev = tern_device_best();
    tern_module *net = tern_module_to(make_net(), dev);
    tern_state *weights = read_state(folder, "weights.pt");
    tern_state *expected = read_state(folder, "expected.pt");
    tern_dataset *train_data = tern_data_mnist(data, TERN_TRAIN);
    tern_dataset *test_data = tern_data_mnist(data, TERN_TEST);
    tern_loader *train =
        tern_loader_new(train_data, .batch_size = 64, .shuffle = true, .device = dev);
    tern_loader *test = tern_loader_new(test_data, .batch_size = 1000, .device = dev);
    int64_t correct = 0;

    if (!tern_module_load_state_dict(net, weights) &&
        !tern_state_get_int(expected, "correct", &correct) &&
        !check_outputs(net, test_data, dev, tern_state_tensor(expected, "outputs"))) {
        int64_t right = count_right(net, test, tern_arange(0, 10, 1, .device = dev));
        printf("ten kinds: %lld of 10000 test images, as PyTorch's %lld\n", (long long)right,
               (long long)correct);
        if (!learn_shoes(net, weights, train, test, dev))
            save(net, argc > 3 ? argv[3] : "shoes.safetensors");
    }

    int status = tern_error_pending() ? 1 : 0;
    message_print("pretrained", false);
    tern_loader_free(test);
    tern_loader_free(train);
    tern_dataset_free(test_data);
    tern_dataset_free(train_data);
    tern_state_free(expected);
    tern_state_free(weights);
    tern_module_free(net);
    return status;
}
