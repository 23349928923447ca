// SPDX-License-Identifier: Apache-2.0
// parallel.h: data parallel and its parts, pipelines.
#include "errors.h"

static const tern_device both[] = {{TERN_CPU, 0}, {TERN_CPU, 1}};
static const tern_device twice[] = {{TERN_CPU, 1}, {TERN_CPU, 1}};
static const tern_device mixed[] = {{TERN_CPU, 0}, {TERN_CUDA, 0}};
static const tern_device missing[] = {{TERN_CPU, 0}, {TERN_CPU, 2}};
static const tern_device unsaid[] = {{TERN_DEVICE_UNSPECIFIED, 0}, {TERN_CPU, 1}};

static tern_status hand_on(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    *out = *in;
    return TERN_OK;
}

// What is there does not belong to the fixture's net.
static tern_module *wrapped(void)
{
    return tern_nn_data_parallel(tern_nn_linear(3, 2), .devices = both, .count = 2);
}

static tern_tensor *run_wrapped(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

static tern_tensor *call_wrapped(tern_tensor *x, tern_tensor *other)
{
    tern_module *module = wrapped();
    tern_tensor *y = tern_call(module, x, other);
    tern_module_free(module);
    return y;
}

// ---- making one ---------------------------------------------------------------------------------

#define LISTS(function, op, ...)                                                                   \
    REFUSES(function, "a device twice", TERN_ERR_ARG, op ": cpu:1 is listed twice",                \
            __VA_ARGS__(twice, 2))                                                                 \
    REFUSES(function, "a device that is not there", TERN_ERR_DEVICE, op ": |cpu:2",                \
            __VA_ARGS__(missing, 2))                                                               \
    REFUSES(function, "a device that is not said", TERN_ERR_ARG,                                   \
            op ": device 0 of the list is unspecified", __VA_ARGS__(unsaid, 2))                    \
    REFUSES(function, "no devices", TERN_ERR_ARG, op ": 0 devices, but 1 to 64 are possible",      \
            __VA_ARGS__(both, 0))                                                                  \
    REFUSES(function, "too many devices", TERN_ERR_ARG, op ": 65 devices", __VA_ARGS__(both, 65))

#define WRAP(list, n) tern_nn_data_parallel(tern_nn_relu(), .devices = list, .count = n)
LISTS(tern_nn_data_parallel_with, "nn_data_parallel", WRAP)
REFUSES(tern_nn_data_parallel_with, "options that are NULL", TERN_ERR_NULL,
        "nn_data_parallel: options is NULL", tern_nn_data_parallel_with(NULL))
REFUSES(tern_nn_data_parallel_with, "a module that is NULL", TERN_ERR_NULL,
        "nn_data_parallel: module is NULL",
        tern_nn_data_parallel(NULL, .devices = both, .count = 2))
REFUSES(tern_nn_data_parallel_with, "a number of no devices", TERN_ERR_NULL,
        "nn_data_parallel: .devices is NULL", tern_nn_data_parallel(tern_nn_relu(), .count = 2))
REFUSES(tern_nn_data_parallel_with, "a device of the output that is not there", TERN_ERR_DEVICE,
        "nn_data_parallel: |cpu:7",
        tern_nn_data_parallel(tern_nn_relu(), .devices = both, .count = 2,
                              .output_device = tern_cpu(7)))
REFUSES(tern_nn_data_parallel_with, "CUDA devices where there are none", TERN_ERR_DEVICE,
        "nn_data_parallel: |cuda:0",
        tern_nn_data_parallel(tern_nn_relu(), .devices = mixed, .count = 2))
REFUSES(tern_nn_data_parallel_with, "one that is data parallel", TERN_ERR_STATE,
        "nn_data_parallel: the module is data parallel already",
        tern_nn_data_parallel(wrapped(), .devices = both, .count = 2))
REFUSES(tern_nn_data_parallel_with, "one in which one is data parallel", TERN_ERR_STATE,
        "nn_data_parallel: \"1\" is data parallel already",
        tern_nn_data_parallel(tern_nn_sequential(tern_nn_relu(), wrapped()), .devices = both,
                              .count = 2))
REFUSES(tern_nn_data_parallel_devices, "a module that is NULL", TERN_ERR_NULL,
        "nn_data_parallel_devices: module is NULL",
        tern_nn_data_parallel_devices(NULL, NULL, 0) == -1)
REFUSES(tern_nn_data_parallel_devices, "another module", TERN_ERR_ARG,
        "nn_data_parallel_devices: this Sequential is not data parallel",
        tern_nn_data_parallel_devices(f->net, NULL, 0) == -1)

static int ask_without_room(void)
{
    tern_module *module = wrapped();
    const int count = tern_nn_data_parallel_devices(module, NULL, 1);
    tern_module_free(module);
    return count;
}
REFUSES(tern_nn_data_parallel_devices, "no room for them", TERN_ERR_NULL,
        "nn_data_parallel_devices: devices is NULL", ask_without_room() == -1)

// ---- its call -----------------------------------------------------------------------------------

REFUSES(tern_forward, "inputs of two batches", TERN_ERR_SHAPE,
        "data_parallel: input 0 has 2 elements along dimension 0 and input 1 has 3: they are not "
        "one batch [in DataParallel]",
        call_wrapped(f->x, f->turned))
// Its second piece is one sample.
static tern_tensor *normalise(tern_tensor *three_samples)
{
    tern_module *norm = tern_nn_batch_norm1d(2);
    return run_wrapped(tern_nn_data_parallel(norm, .devices = both, .count = 2), three_samples);
}
REFUSES(tern_forward, "a failing replica", TERN_ERR_SHAPE,
        "batch_norm: x (1, 2) has one value|[in module (BatchNorm1d(|, replica on cpu:1]",
        normalise(f->turned))

static tern_tensor *forward_elsewhere(fixture *f)
{
    tern_module *module = wrapped();
    tern_module_to(module, tern_cpu(1));
    return run_wrapped(module, f->x);
}
REFUSES(tern_forward, "a module that is not on the first device", TERN_ERR_DEVICE,
        "data_parallel: \"weight\" of the module is on cpu:1, but must be on cpu:0, the first of "
        "the devices; move it there with tern_module_to [in DataParallel]",
        forward_elsewhere(f))

// ---- parts --------------------------------------------------------------------------------------

#define SCATTER(list, n) (tern_scatter_batch(&f->in, list, n, 0, (tern_tensors[2]){{0}}) == -1)
LISTS(tern_scatter_batch, "scatter_batch", SCATTER)
REFUSES(tern_scatter_batch, "inputs that are NULL", TERN_ERR_NULL, "scatter_batch: in is NULL",
        tern_scatter_batch(NULL, both, 2, 0, (tern_tensors[2]){{0}}) == -1)
REFUSES(tern_scatter_batch, "devices that are NULL", TERN_ERR_NULL,
        "scatter_batch: devices is NULL",
        tern_scatter_batch(&f->in, NULL, 2, 0, (tern_tensors[2]){{0}}) == -1)
REFUSES(tern_scatter_batch, "pieces that are NULL", TERN_ERR_NULL, "scatter_batch: pieces is NULL",
        tern_scatter_batch(&f->in, both, 2, 0, NULL) == -1)
REFUSES(tern_scatter_batch, "a dimension that is not there", TERN_ERR_ARG,
        "scatter_batch: input 0 is float32 (2, 3) on cpu:0, which has no dimension 2 to be cut "
        "along",
        tern_scatter_batch(&f->in, both, 2, 2, (tern_tensors[2]){{0}}) == -1)
REFUSES(tern_scatter_batch, "a tensor that died", TERN_ERR_STATE, "scatter_batch: a tensor|died",
        tern_scatter_batch(&(tern_tensors){1, {f->dead}}, both, 2, 0, (tern_tensors[2]){{0}}) == -1)
REFUSES(tern_scatter_batch, "too many tensors", TERN_ERR_ARG,
        "scatter_batch: 9 tensors, but 0 to 8 are possible",
        tern_scatter_batch(&(tern_tensors){9, {f->x}}, both, 2, 0, (tern_tensors[2]){{0}}) == -1)

#define REPLICATE(list, n) tern_replicate(f->net, list, n, (tern_module *[2]){NULL})
LISTS(tern_replicate, "replicate", REPLICATE)
REFUSES(tern_replicate, "a module that is NULL", TERN_ERR_NULL, "replicate: module is NULL",
        tern_replicate(NULL, both, 2, (tern_module *[2]){NULL}))
static tern_status replicate_unfinished(void)
{
    static const tern_module_class unfinished_class = {
        .name = "Unfinished", .size = sizeof(tern_module), .call = hand_on};
    tern_module *m = tern_module_new(&unfinished_class), *replicas[2];
    const tern_status status = tern_replicate(m, both, 2, replicas);
    tern_module_free(tern_module_done(m));
    return status;
}
REFUSES(tern_replicate, "a module that is not finished", TERN_ERR_STATE,
        "replicate: the constructor of Unfinished did not end with tern_module_done",
        replicate_unfinished())
REFUSES(tern_replicate, "no room for them", TERN_ERR_NULL, "replicate: replicas is NULL",
        tern_replicate(f->net, both, 2, NULL))
REFUSES(tern_replicate, "a module that is elsewhere", TERN_ERR_DEVICE,
        "replicate: \"0.weight\" of the module is on cpu:0, but must be on cpu:1",
        tern_replicate(f->net, &both[1], 1, (tern_module *[2]){NULL}))

REFUSES(tern_parallel_apply, "modules that are NULL", TERN_ERR_NULL,
        "parallel_apply: modules is NULL", tern_parallel_apply(NULL, &f->in, &f->outs, 1))
REFUSES(tern_parallel_apply, "inputs that are NULL", TERN_ERR_NULL, "parallel_apply: in is NULL",
        tern_parallel_apply(&f->net, NULL, &f->outs, 1))
REFUSES(tern_parallel_apply, "no room for outputs", TERN_ERR_NULL, "parallel_apply: out is NULL",
        tern_parallel_apply(&f->net, &f->in, NULL, 1))
REFUSES(tern_parallel_apply, "no modules", TERN_ERR_ARG,
        "parallel_apply: 0 modules, but 1 to 64 are possible",
        tern_parallel_apply(&f->net, &f->in, &f->outs, 0))
REFUSES(tern_parallel_apply, "a module that is NULL", TERN_ERR_NULL,
        "parallel_apply: module is NULL",
        tern_parallel_apply(((tern_module *[1]){NULL}), &f->in, &f->outs, 1))
REFUSES(tern_parallel_apply, "a tensor that died", TERN_ERR_STATE, "parallel_apply: a tensor|died",
        tern_parallel_apply(&f->net, ((tern_tensors[1]){{1, {f->dead}}}), &f->outs, 1))
REFUSES(tern_parallel_apply, "a module that fails", TERN_ERR_SHAPE, "linear: |[in 0 (Linear(",
        tern_parallel_apply(&f->net, ((tern_tensors[1]){{1, {f->wide}}}), &f->outs, 1))

#define GATHER(inputs, n, dim) tern_gather_batch(inputs, n, tern_cpu(0), dim, &f->outs)
REFUSES(tern_gather_batch, "pieces that are NULL", TERN_ERR_NULL, "gather_batch: pieces is NULL",
        GATHER(NULL, 1, 0))
REFUSES(tern_gather_batch, "no room for them", TERN_ERR_NULL, "gather_batch: out is NULL",
        tern_gather_batch(&f->in, 1, tern_cpu(0), 0, NULL))
REFUSES(tern_gather_batch, "no pieces", TERN_ERR_ARG,
        "gather_batch: 0 pieces, but 1 to 64 are possible", GATHER(&f->in, 0, 0))
REFUSES(tern_gather_batch, "a device that is not there", TERN_ERR_DEVICE, "gather_batch: |cpu:9",
        tern_gather_batch(&f->in, 1, tern_cpu(9), 0, &f->outs))
REFUSES(tern_gather_batch, "pieces of other numbers of tensors", TERN_ERR_STATE,
        "gather_batch: piece 0 has 1 tensors and piece 1 has 2",
        GATHER(((tern_tensors[2]){{1, {f->x}}, {2, {f->x, f->x}}}), 2, 0))
REFUSES(tern_gather_batch, "a tensor that is NULL", TERN_ERR_NULL,
        "gather_batch: a tensor of a piece is NULL",
        GATHER(((tern_tensors[2]){{1, {f->x}}, {1, {NULL}}}), 2, 0))
REFUSES(tern_gather_batch, "a tensor that died", TERN_ERR_STATE, "gather_batch: a tensor|died",
        GATHER(((tern_tensors[2]){{1, {f->x}}, {1, {f->dead}}}), 2, 0))
REFUSES(tern_gather_batch, "shapes that do not fit", TERN_ERR_SHAPE,
        "cat: ", GATHER(((tern_tensors[2]){{1, {f->x}}, {1, {f->wide}}}), 2, 0))

// ---- the check, and pipelines -------------------------------------------------------------------

static tern_status check_wrapped(tern_tensor *x, tern_tensor *y, double tolerance)
{
    tern_module *module = wrapped();
    tern_status status = tern_parallel_check(module, x, y, .tolerance = tolerance);
    tern_module_free(module);
    return status;
}

REFUSES(tern_parallel_check_with, "options that are NULL", TERN_ERR_NULL,
        "parallel_check: options is NULL", tern_parallel_check_with(NULL))
REFUSES(tern_parallel_check_with, "a module that is NULL", TERN_ERR_NULL,
        "parallel_check: module is NULL", tern_parallel_check(NULL, f->x, f->labels))
REFUSES(tern_parallel_check_with, "another module", TERN_ERR_ARG,
        "parallel_check: this Sequential is not data parallel",
        tern_parallel_check(f->net, f->x, f->labels))
NULL_AND_DEAD(tern_parallel_check_with, "parallel_check", "x", check_wrapped(NULL, f->labels, 1),
              check_wrapped(f->dead, f->labels, 1))
NULL_AND_DEAD(tern_parallel_check_with, "parallel_check", "y", check_wrapped(f->x, NULL, 1),
              check_wrapped(f->x, f->dead, 1))
REFUSES(tern_parallel_check_with, "a tolerance below 0", TERN_ERR_ARG,
        "parallel_check: .tolerance is -1, but must be 0 or more",
        check_wrapped(f->x, f->labels, -1))

static tern_tensor *run_with_losses_apart(fixture *f)
{
    tern_module *criterion = tern_nn_cross_entropy_loss(.reduction = TERN_REDUCTION_NONE);
    tern_tensor *loss = tern_pipeline(f->net, criterion, f->x, f->labels);
    tern_module_free(criterion);
    return loss;
}

REFUSES(tern_pipeline_with, "options that are NULL", TERN_ERR_NULL, "pipeline: options is NULL",
        tern_pipeline_with(NULL))
REFUSES(tern_pipeline_with, "a module that is NULL", TERN_ERR_NULL, "pipeline: module is NULL",
        tern_pipeline(NULL, f->criterion, f->x, f->labels))
REFUSES(tern_pipeline_with, "a criterion that is NULL", TERN_ERR_NULL,
        "pipeline: criterion is NULL", tern_pipeline(f->net, NULL, f->x, f->labels))
NULL_AND_DEAD(tern_pipeline_with, "pipeline", "x",
              tern_pipeline(f->net, f->criterion, NULL, f->labels),
              tern_pipeline(f->net, f->criterion, f->dead, f->labels))
NULL_AND_DEAD(tern_pipeline_with, "pipeline", "y", tern_pipeline(f->net, f->criterion, f->x, NULL),
              tern_pipeline(f->net, f->criterion, f->x, f->dead))
REFUSES(tern_pipeline_with, "no micro-batches", TERN_ERR_ARG,
        "pipeline: .micro_batches is 0, but must be at least 1",
        tern_pipeline(f->net, f->criterion, f->x, f->labels, .micro_batches = 0))
REFUSES(tern_pipeline_with, "a loss that is not 0-dim", TERN_ERR_SHAPE,
        "pipeline: the criterion gives a loss of shape (1,), but it must be 0-dim",
        run_with_losses_apart(f))
REFUSES(tern_pipeline_with, "losses that stay apart", TERN_ERR_ARG,
        "pipeline: .reduction must be the mean or the sum",
        tern_pipeline(f->net, f->criterion, f->x, f->labels, .reduction = TERN_REDUCTION_NONE))
REFUSES(tern_pipeline_with, "a dimension that is not there", TERN_ERR_ARG,
        "pipeline: y is int64 (2,)|no dimension 1 to be cut along",
        tern_pipeline(f->net, f->criterion, f->turned, f->labels, .dim = 1))
REFUSES(tern_pipeline_with, "x and y of two batches", TERN_ERR_SHAPE,
        "pipeline: x has 3 elements along dimension 0 and y 2: they are not one batch",
        tern_pipeline(f->net, f->criterion, f->turned, f->labels))
REFUSES(tern_pipeline_with, "an empty batch", TERN_ERR_SHAPE, "pipeline: the batch is empty",
        tern_pipeline(f->net, f->criterion, f->empty, f->empty))
