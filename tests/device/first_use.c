// SPDX-License-Identifier: Apache-2.0
// Makes a public call that takes a device the first thing that a process does with that device:
//
//     first_use list                  the calls that it has a case for
//     first_use tern_to 1 FOLDER      tern_to with cuda:1; files go to FOLDER
//
// Ends with 0 where the call did what it says and the device works after it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tern/tern.h>

static tern_device dev, other; // the one that is used first, and one that may have been used before
static const char *folder;

static bool is_on_it(const tern_tensor *t)
{
    return t && tern_device_equal(tern_device_of(t), dev);
}

// On the device, and of finite numbers.
static bool made(tern_tensor *t)
{
    return is_on_it(t) && isfinite(tern_item(tern_sum(t, TERN_ALL_AXES, false)));
}

static bool built(tern_module *module, const char *parameter)
{
    const bool right = module && made(tern_module_parameter(module, parameter));
    tern_module_free(module);
    return right;
}

static tern_module *averaged; // on the CPU

static bool averages(tern_module *module)
{
    const bool right = built(module, "module.weight");
    tern_module_free(averaged);
    return right;
}

static tern_tensor *last_value(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                               void *user)
{
    (void)average;
    (void)n_averaged;
    (void)user;
    return value;
}

static tern_module *new_net(void)
{
    return averaged = tern_nn_linear(2, 2, .device = tern_cpu(0));
}

static tern_tensor *on_the_cpu(void)
{
    return tern_full(tern_dims(4, 2), 3);
}

// Of what is 3 on the CPU.
static bool is_three(tern_tensor *t)
{
    return is_on_it(t) && tern_item(tern_amin(t, TERN_ALL_AXES, false)) == 3 &&
           tern_item(tern_amax(t, TERN_ALL_AXES, false)) == 3;
}

static tern_dataset *dataset(void)
{
    tern_tensor *x = on_the_cpu();
    return tern_data_tensors_new(1, &x);
}

// The first batch that a loader makes of the dataset is on the device.
static bool loads(tern_dataset *data)
{
    tern_batch batch;
    tern_loader *loader = tern_loader_new(data, .batch_size = 4, .device = dev);
    const bool right = loader && tern_loader_next(loader, &batch) && is_three(batch.x);
    tern_loader_free(loader);
    tern_dataset_free(data);
    return right;
}

static tern_state *state_of_three(void)
{
    tern_state *state = tern_state_new();
    return state && !tern_state_set_tensor(state, "x", on_the_cpu()) ? state : NULL;
}

static bool has_three(tern_state *state)
{
    const bool right = state && is_three(tern_state_tensor(state, "x"));
    tern_state_free(state);
    return right;
}

// ---- the calls ----------------------------------------------------------------------------------

#define TENSOR(name, ...)                                                                          \
    static bool first_##name(void)                                                                 \
    {                                                                                              \
        return made(__VA_ARGS__);                                                                  \
    }
#define MODULE(name, parameter, ...)                                                               \
    static bool first_##name(void)                                                                 \
    {                                                                                              \
        return built(__VA_ARGS__, parameter);                                                      \
    }
#define TRUE(name, ...)                                                                            \
    static bool first_##name(void)                                                                 \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

TENSOR(tern_zeros, tern_zeros(tern_dims(3), .device = dev))
TENSOR(tern_ones, tern_ones(tern_dims(3), .device = dev))
TENSOR(tern_full, tern_full(tern_dims(3), 2, .device = dev))
TENSOR(tern_arange, tern_arange(0, 5, 1, .device = dev))
TENSOR(tern_linspace, tern_linspace(0, 1, 5, .device = dev))
TENSOR(tern_eye, tern_eye(3, 3, .device = dev))
TENSOR(tern_from_data, tern_from_data(tern_dims(2), (float[]){1, 2}, .device = dev))
TENSOR(tern_rand, tern_rand(tern_dims(3), .device = dev))
TENSOR(tern_randn, tern_randn(tern_dims(3), .device = dev))
TENSOR(tern_randint, tern_randint(0, 9, tern_dims(3), .device = dev))
TENSOR(tern_randperm, tern_randperm(5, .device = dev))
TRUE(tern_empty, is_on_it(tern_empty(tern_dims(3), .device = dev)))
TRUE(tern_to, is_three(tern_to(on_the_cpu(), dev)))
TRUE(tern_to_non_blocking, is_three(tern_to_non_blocking(on_the_cpu(), dev)))

MODULE(tern_nn_linear, "weight", tern_nn_linear(2, 2, .device = dev))
MODULE(tern_nn_prelu, "weight", tern_nn_prelu(.device = dev))
MODULE(tern_nn_conv1d, "weight", tern_nn_conv1d(2, 2, 3, .device = dev))
MODULE(tern_nn_conv2d, "weight", tern_nn_conv2d(2, 2, 3, .device = dev))
MODULE(tern_nn_conv3d, "weight", tern_nn_conv3d(2, 2, 3, .device = dev))
MODULE(tern_nn_conv_transpose1d, "weight", tern_nn_conv_transpose1d(2, 2, 3, .device = dev))
MODULE(tern_nn_conv_transpose2d, "weight", tern_nn_conv_transpose2d(2, 2, 3, .device = dev))
MODULE(tern_nn_conv_transpose3d, "weight", tern_nn_conv_transpose3d(2, 2, 3, .device = dev))
MODULE(tern_nn_batch_norm1d, "weight", tern_nn_batch_norm1d(2, .device = dev))
MODULE(tern_nn_batch_norm2d, "weight", tern_nn_batch_norm2d(2, .device = dev))
MODULE(tern_nn_batch_norm3d, "weight", tern_nn_batch_norm3d(2, .device = dev))
MODULE(tern_nn_instance_norm1d, "weight", tern_nn_instance_norm1d(2, .affine = true, .device = dev))
MODULE(tern_nn_instance_norm2d, "weight", tern_nn_instance_norm2d(2, .affine = true, .device = dev))
MODULE(tern_nn_instance_norm3d, "weight", tern_nn_instance_norm3d(2, .affine = true, .device = dev))
MODULE(tern_nn_group_norm, "weight", tern_nn_group_norm(1, 2, .device = dev))
MODULE(tern_nn_layer_norm, "weight", tern_nn_layer_norm(tern_dims(2), .device = dev))
MODULE(tern_nn_rms_norm, "weight", tern_nn_rms_norm(tern_dims(2), .device = dev))
MODULE(tern_nn_linear_cross_entropy_loss, "linear.weight",
       tern_nn_linear_cross_entropy_loss(2, 2, .device = dev))
TRUE(tern_averaged_model_swa, averages(tern_averaged_model_swa(new_net(), .device = dev)))
TRUE(tern_averaged_model_ema, averages(tern_averaged_model_ema(new_net(), .device = dev)))
TRUE(tern_averaged_model_avg_fn,
     averages(tern_averaged_model_avg_fn(new_net(), last_value, .device = dev)))

static bool first_tern_module_to(void)
{
    tern_module *net = tern_nn_linear(2, 2);
    const bool right = tern_module_to(net, dev) == net && made(tern_module_parameter(net, "bias"));
    tern_module_free(net);
    return right;
}

static bool first_tern_metric_to(void)
{
    tern_metric *metric = tern_metric_accuracy(.num_classes = 2);
    const bool right = tern_metric_to(metric, dev) == metric;
    tern_metric_free(metric);
    return right;
}

TRUE(tern_loader_new, loads(dataset()))
TRUE(tern_dataset_to, loads(tern_dataset_to(dataset(), dev)))

static bool first_tern_state_copy(void)
{
    tern_state *state = state_of_three();
    const bool right = has_three(tern_state_copy(state, .device = dev));
    tern_state_free(state);
    return right;
}

static bool first_tern_state_read(void)
{
    char path[4096];
    tern_state *state = state_of_three();
    snprintf(path, sizeof path, "%s/first_use_%d.safetensors", folder, dev.index);
    const bool right = state && !tern_state_write(state, path) &&
                       has_three(tern_state_read(path, .map_location = tern_device_string(dev)));
    tern_state_free(state);
    unlink(path);
    return right;
}

static bool first_tern_set_default_device(void)
{
    return !tern_set_default_device(dev) && made(tern_ones(tern_dims(3))) &&
           !tern_set_default_device(tern_cpu(0));
}

static bool first_tern_device_guard_open_(void)
{
    tern_device_guard_ guard = tern_device_guard_open_(dev);
    const bool right = guard.open && made(tern_ones(tern_dims(3)));
    tern_device_guard_close_(&guard);
    return right;
}

static bool first_tern_default_generator(void)
{
    tern_generator *generator = tern_default_generator(dev);
    return generator && made(tern_rand(tern_dims(3), .device = dev, .generator = generator));
}

TRUE(tern_synchronize, !tern_synchronize(dev))

// ---- of several devices -------------------------------------------------------------------------

static bool first_tern_nn_data_parallel(void)
{
    tern_module *net = tern_nn_linear(2, 2);
    tern_module *parallel = tern_nn_data_parallel(net, .devices = &dev, .count = 1);
    const bool right = parallel && tern_module_to(net, dev) &&
                       made(tern_forward(parallel, tern_to(on_the_cpu(), dev)));
    tern_module_free(parallel); // which took over the net
    return right;
}

static bool first_tern_nn_data_parallel_devices(void)
{
    tern_module *net = tern_nn_linear(2, 2);
    tern_module *parallel = tern_nn_data_parallel(net, .devices = &dev, .count = 1);
    tern_device found = {TERN_DEVICE_UNSPECIFIED, 0};
    const bool right =
        tern_nn_data_parallel_devices(parallel, &found, 1) == 1 && tern_device_equal(found, dev);
    tern_module_free(parallel);
    return right;
}

static bool first_tern_scatter_batch(void)
{
    tern_tensors in = {.count = 1, .at = {on_the_cpu()}}, pieces[1];
    return tern_scatter_batch(&in, &dev, 1, 0, pieces) == 1 && is_three(pieces[0].at[0]);
}

static bool first_tern_gather_batch(void)
{
    tern_tensors pieces[2] = {{.count = 1, .at = {on_the_cpu()}},
                              {.count = 1, .at = {on_the_cpu()}}};
    tern_tensors out;
    return !tern_gather_batch(pieces, 2, dev, 0, &out) && is_three(out.at[0]);
}

static bool first_tern_replicate(void)
{
    tern_module *net = tern_nn_linear(2, 2, .device = other), *replicas[2] = {NULL, NULL};
    const tern_device devices[2] = {other, dev};
    const bool right = !tern_replicate(net, devices, 2, replicas) &&
                       made(tern_forward(replicas[1], tern_to(on_the_cpu(), dev)));
    tern_module_free(replicas[0]);
    tern_module_free(replicas[1]);
    tern_module_free(net);
    return right;
}

// ---- of CUDA ------------------------------------------------------------------------------------

static bool first_tern_cuda_get_properties(void)
{
    tern_cuda_properties properties;
    return !tern_cuda_get_properties(dev.index, &properties) && properties.total_memory > 0;
}

static bool first_tern_cuda_get_memory(void)
{
    tern_cuda_memory memory;
    return !tern_cuda_get_memory(dev.index, &memory) && memory.free > 0;
}

static bool first_tern_cuda_devices_by_free_memory(void)
{
    tern_device found[2];
    return !tern_cuda_devices_by_free_memory(found, 2) && found[0].type == TERN_CUDA;
}

static bool first_tern_cuda_memory_print(void)
{
    FILE *out = fopen("/dev/null", "w");
    const bool right = out && !tern_cuda_memory_print(dev.index, out);
    return out && fclose(out) == 0 && right;
}

static bool first_tern_cuda_stream_new(void)
{
    tern_cuda_stream *stream = tern_cuda_stream_new(dev.index);
    const bool right = stream && !tern_cuda_stream_synchronize(stream);
    tern_cuda_stream_free(stream);
    return right;
}

static bool first_tern_cuda_event_new(void)
{
    tern_cuda_event *event = tern_cuda_event_new(dev.index);
    const bool right =
        event && !tern_cuda_event_record(event) && !tern_cuda_event_synchronize(event);
    tern_cuda_event_free(event);
    return right;
}

static bool first_tern_cuda_event_wait(void)
{
    tern_cuda_event *event = tern_cuda_event_new(other.index);
    const bool right =
        event && !tern_cuda_event_record(event) && !tern_cuda_event_wait(event, dev.index);
    tern_cuda_event_free(event);
    return right;
}

static bool first_tern_cuda_graph_begin(void)
{
    if (tern_cuda_graph_begin(dev.index))
        return false;
    tern_cuda_graph *graph = tern_cuda_graph_end();
    const bool right = graph && !tern_cuda_graph_replay(graph);
    tern_cuda_graph_free(graph);
    return right;
}

TRUE(tern_cuda_set_device,
     !tern_cuda_set_device(dev.index) && tern_cuda_current_device() == dev.index)
TRUE(tern_cuda_reset_peak_memory, !tern_cuda_reset_peak_memory(dev.index))
TRUE(tern_cuda_empty_cache, !tern_cuda_empty_cache(dev.index))
TRUE(tern_cuda_memory_format, tern_cuda_memory_format(dev.index, NULL, 0) > 0)
TRUE(tern_cuda_stream_set, !tern_cuda_stream_set(dev.index, NULL))

// ---- of devices by value ------------------------------------------------------------------------

static bool first_tern_device_parse(void)
{
    tern_device found;
    return !tern_device_parse(tern_device_string(dev), &found) && tern_device_equal(found, dev);
}

static bool first_tern_try_all_gpus(void)
{
    tern_device found[2];
    return tern_try_all_gpus(found, 2) >= 2 && tern_device_equal(found[dev.index], dev);
}

TRUE(tern_cpu, tern_cpu(dev.index).type == TERN_CPU)
TRUE(tern_cuda, tern_device_equal(tern_cuda(dev.index), dev))
TRUE(tern_try_gpu, tern_device_equal(tern_try_gpu(dev.index), dev))
TRUE(tern_device_string, strncmp(tern_device_string(dev), "cuda:", 5) == 0)
TRUE(tern_device_equal, !tern_device_equal(dev, other))

// ---- running one --------------------------------------------------------------------------------

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, first_##name                                                                        \
    }
static const struct {
    const char *name;
    bool (*works)(void);
} cases[] = {
    CASE(tern_zeros),
    CASE(tern_ones),
    CASE(tern_empty),
    CASE(tern_full),
    CASE(tern_arange),
    CASE(tern_linspace),
    CASE(tern_eye),
    CASE(tern_from_data),
    CASE(tern_rand),
    CASE(tern_randn),
    CASE(tern_randint),
    CASE(tern_randperm),
    CASE(tern_to),
    CASE(tern_to_non_blocking),
    CASE(tern_nn_linear),
    CASE(tern_nn_prelu),
    CASE(tern_nn_conv1d),
    CASE(tern_nn_conv2d),
    CASE(tern_nn_conv3d),
    CASE(tern_nn_conv_transpose1d),
    CASE(tern_nn_conv_transpose2d),
    CASE(tern_nn_conv_transpose3d),
    CASE(tern_nn_batch_norm1d),
    CASE(tern_nn_batch_norm2d),
    CASE(tern_nn_batch_norm3d),
    CASE(tern_nn_instance_norm1d),
    CASE(tern_nn_instance_norm2d),
    CASE(tern_nn_instance_norm3d),
    CASE(tern_nn_group_norm),
    CASE(tern_nn_layer_norm),
    CASE(tern_nn_rms_norm),
    CASE(tern_nn_linear_cross_entropy_loss),
    CASE(tern_averaged_model_swa),
    CASE(tern_averaged_model_ema),
    CASE(tern_averaged_model_avg_fn),
    CASE(tern_module_to),
    CASE(tern_metric_to),
    CASE(tern_loader_new),
    CASE(tern_dataset_to),
    CASE(tern_state_copy),
    CASE(tern_state_read),
    CASE(tern_set_default_device),
    CASE(tern_device_guard_open_),
    CASE(tern_default_generator),
    CASE(tern_synchronize),
    CASE(tern_nn_data_parallel),
    CASE(tern_nn_data_parallel_devices),
    CASE(tern_scatter_batch),
    CASE(tern_gather_batch),
    CASE(tern_replicate),
    CASE(tern_cuda_get_properties),
    CASE(tern_cuda_get_memory),
    CASE(tern_cuda_devices_by_free_memory),
    CASE(tern_cuda_memory_print),
    CASE(tern_cuda_memory_format),
    CASE(tern_cuda_stream_new),
    CASE(tern_cuda_stream_set),
    CASE(tern_cuda_event_new),
    CASE(tern_cuda_event_wait),
    CASE(tern_cuda_graph_begin),
    CASE(tern_cuda_set_device),
    CASE(tern_cuda_reset_peak_memory),
    CASE(tern_cuda_empty_cache),
    CASE(tern_device_parse),
    CASE(tern_try_all_gpus),
    CASE(tern_cpu),
    CASE(tern_cuda),
    CASE(tern_try_gpu),
    CASE(tern_device_string),
    CASE(tern_device_equal),
};
enum { CASES = sizeof cases / sizeof *cases };

static int find(const char *name)
{
    int i = 0;
    while (i < CASES && strcmp(cases[i].name, name) != 0)
        i++;
    return i;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        for (int i = 0; i < CASES; i++)
            puts(cases[i].name);
        return 0;
    }
    const int index = atoi(argv[2]), which = find(argv[1]);
    dev = tern_cuda(index);
    other = tern_cuda(1 - index);
    folder = argv[3];
    tern_scope scope = tern_scope_open();
    const bool worked = which < CASES && cases[which].works() && !tern_error_pending() &&
                        made(tern_ones(tern_dims(3), .device = dev));
    if (!worked)
        fprintf(stderr, "%s on cuda:%d: %s\n", argv[1], index, tern_error_message());
    tern_scope_close(scope);
    tern_shutdown();
    return worked ? 0 : 1;
}
