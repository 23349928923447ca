// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/devices.md that need CUDA devices: four, of 1 GiB each. The test run has
// simulated ones.
#include "check.h"

static bool is_on(tern_tensor *t, tern_device device)
{
    return t && tern_device_equal(tern_device_of(t), device);
}

// First, while nothing else has taken memory: the sentence has the figures.
static void out_of_memory(void)
{
    tern_tensor *large =
        tern_empty(tern_dims(256 << 20), .dtype = TERN_UINT8, .device = tern_cuda(3));
    expect(large != NULL);
    // [oom]
    tern_tensor *x = tern_empty(tern_dims(1 << 28), .device = tern_cuda(3)); // 1 GiB: NULL
    // [/oom]
    expect(!x);
    expect_error(TERN_ERR_NOMEM);
}

// ---- what there is ------------------------------------------------------------------------------

static void listing(void)
{
    // [list]
    for (int i = 0; i < tern_cuda_device_count(); i++) {
        tern_cuda_properties p;
        tern_cuda_memory m;
        if (tern_cuda_get_properties(i, &p) || tern_cuda_get_memory(i, &m))
            break;
        printf("cuda:%d: %s, capability %d.%d, %lld of %lld MiB free\n", i, p.name, p.major,
               p.minor, (long long)(m.free >> 20), (long long)(m.total >> 20));
    }
    // [/list]
    // [freest]
    tern_device list[8];
    if (tern_cuda_devices_by_free_memory(list, 8)) // the one with most free memory first
        tern_error_print(stderr);
    // [/freest]
    expect(tern_device_equal(list[3], tern_cuda(3)));
    tern_module *net = tern_nn_linear(4, 2);
    // [data_parallel]
    tern_device freest[8];
    if (tern_cuda_devices_by_free_memory(freest, 8)) // PyTorch takes cuda:0 first, full or not
        tern_error_print(stderr);
    tern_module_to(net, freest[0]);
    tern_module *parallel = tern_nn_data_parallel(net, .devices = freest, .count = 2);
    // [/data_parallel]
    expect(parallel && tern_nn_data_parallel_devices(parallel, NULL, 0) == 2);
    tern_module_free(parallel);
}

static void current(void)
{
    // [current]
    if (tern_cuda_set_device(1)) // of this thread
        tern_error_print(stderr);
    tern_device dev;
    if (tern_device_parse("cuda", &dev)) // cuda:1
        tern_error_print(stderr);
    tern_tensor *x = tern_zeros(tern_dims(2), .device = tern_cuda(-1)); // on cuda:1
    tern_tensor *y = tern_zeros(tern_dims(2)); // on the default device: cpu
    // [/current]
    expect(tern_device_equal(dev, tern_cuda(1)) && is_on(x, tern_cuda(1)) && is_on(y, tern_cpu(0)));
    expect(tern_cuda_set_device(9) == TERN_ERR_DEVICE);
    expect_error(TERN_ERR_DEVICE);
    expect(tern_cuda_set_device(0) == TERN_OK);
}

static void reading(void)
{
    tern_tensor *x = tern_ones(tern_dims(2, 3), .device = tern_cuda(0));
    expect(!tern_data(x));
    expect_error(TERN_ERR_DEVICE);
    // [host]
    float back[6];
    if (tern_to_host(x, back, sizeof back)) // waits for the device
        tern_error_print(stderr);
    // [/host]
    expect(back[5] == 1);
    expect(!tern_add(x, tern_ones(tern_dims(2, 3))));
    expect_error(TERN_ERR_DEVICE);
}

static void seeds(void)
{
    // [cuda_seeds]
    tern_cuda_manual_seed(1);     // the current CUDA device
    tern_cuda_manual_seed_all(1); // all of them, but not the CPU
    // [/cuda_seeds]
    tern_tensor *a = tern_rand(tern_dims(4), .device = tern_cuda(0));
    tern_tensor *b = tern_rand(tern_dims(4), .device = tern_cuda(1));
    b = tern_to(b, tern_cuda(0));
    expect(tern_item_int(tern_all(tern_eq(a, b), TERN_ALL_AXES, false)) == 1);
}

// ---- memory -------------------------------------------------------------------------------------

static int64_t allocated(int index)
{
    tern_cuda_memory m = {0};
    expect(tern_cuda_get_memory(index, &m) == TERN_OK);
    return m.allocated;
}

static void memory(void)
{
    int64_t before = allocated(2);
    tern_scope scope = tern_scope_open();
    // [memory]
    tern_tensor *x = tern_ones(tern_dims(1024, 1024), .device = tern_cuda(2)); // 4 MiB
    tern_tensor *h = tern_to_dtype(x, TERN_FLOAT16);                           // 2 MiB
    tern_cuda_memory m;
    if (tern_cuda_get_memory(2, &m) || tern_cuda_memory_print(2, stdout))
        tern_error_print(stderr);
    // [/memory]
    expect(h && m.allocated - before == 6 << 20 && m.reserved >= m.allocated);
    tern_scope_close(scope);
    expect(allocated(2) == before);
    int64_t reserved = m.reserved;
    // [empty_cache]
    if (tern_cuda_empty_cache(2)) // what no tensor holds goes back to the device
        tern_error_print(stderr);
    // [/empty_cache]
    expect(tern_cuda_get_memory(2, &m) == TERN_OK && m.reserved < reserved);
}

static void pinned(void)
{
    tern_device dev = tern_cuda(0);
    tern_tensor *batch = tern_ones(tern_dims(64, 784));
    // [pinned]
    tern_tensor *host = tern_pin_memory(batch);       // a copy in page-locked memory
    tern_tensor *x = tern_to_non_blocking(host, dev); // returns at once; host must stay as it is
    tern_tensor *y = tern_relu(x);                    // queued behind the copy
    tern_tensor *back = tern_to_non_blocking(y, tern_cpu(0)); // not there yet
    if (tern_synchronize(dev))
        tern_error_print(stderr);
    // now host may be filled anew, and back be read
    // [/pinned]
    expect(tern_is_pinned(host) && is_on(y, dev) && tern_is_pinned(back));
    expect(tern_item(tern_sum(back, TERN_ALL_AXES, false)) == 64 * 784);
    expect(!tern_pin_memory(x));
    expect_error(TERN_ERR_DEVICE);
}

// ---- at the same time ---------------------------------------------------------------------------

static void two_devices(void)
{
    tern_tensor *a = tern_ones(tern_dims(8, 8), .device = tern_cuda(0));
    tern_tensor *b = tern_ones(tern_dims(8, 8), .device = tern_cuda(1));
    // [two]
    tern_tensor *c = tern_matmul(a, a); // queued on cuda:0
    tern_tensor *d = tern_matmul(b, b); // queued on cuda:1, while cuda:0 works
    if (tern_synchronize(tern_cuda(0)) || tern_synchronize(tern_cuda(1)))
        tern_error_print(stderr);
    // [/two]
    tern_tensor *sum = tern_add(c, tern_to(d, tern_cuda(0)));
    expect(tern_item(tern_sum(sum, TERN_ALL_AXES, false)) == 2 * 8 * 64);
}

static void streams(void)
{
    tern_device dev = tern_cuda(0);
    tern_tensor *x = tern_ones(tern_dims(8, 8), .device = dev);
    tern_tensor *host = tern_pin_memory(tern_full(tern_dims(8, 8), 2));
    // [stream]
    tern_cuda_stream *copies = tern_cuda_stream_new(0);
    tern_cuda_stream *usual = tern_cuda_stream_set(0, copies);
    tern_tensor *next = tern_to_non_blocking(host, dev); // queued on `copies`
    tern_cuda_stream_set(0, usual);
    tern_tensor *y = tern_matmul(x, x);    // meanwhile, on the usual one
    tern_tensor *z = tern_matmul(y, next); // waits for the copy, on the device
    // [/stream]
    expect(tern_item(tern_sum(z, TERN_ALL_AXES, false)) == 8 * 8 * 8 * 8 * 2);
    tern_cuda_stream_free(copies);

    // [event]
    tern_cuda_event *start = tern_cuda_event_new(0), *end = tern_cuda_event_new(0);
    if (tern_cuda_event_record(start))
        tern_error_print(stderr);
    y = tern_matmul(x, x);
    if (tern_cuda_event_record(end))
        tern_error_print(stderr);
    double milliseconds = tern_cuda_event_elapsed(start, end); // waits for both
    // [/event]
    expect(milliseconds >= 0);
    tern_cuda_event_free(end);
    tern_cuda_event_free(start);
}

// ---- graphs -------------------------------------------------------------------------------------

typedef struct run {
    tern_module *net;
    tern_optim *opt;
    tern_tensor *x, *y, *loss; // of fixed places: what a replay reads and writes
} run;

// [graph_step]
static tern_status step(run *r)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_mse_loss(tern_forward(r->net, r->x), r->y, TERN_REDUCTION_MEAN);
    tern_optim_zero_grad(r->opt);
    tern_status status = tern_backward(loss);
    if (!status)
        status = tern_optim_step(r->opt);
    if (!status && !tern_copy_(r->loss, tern_detach(loss)))
        status = tern_error_code();
    tern_scope_close(scope);
    return status;
}
// [/graph_step]

static void fill(run *r, int i)
{
    tern_tensor *x = tern_full(tern_dims(16, 2), i % 5);
    expect(tern_copy_(r->x, x) && tern_copy_(r->y, tern_sum(x, tern_axes(1), true)));
}

static void replay(run *r)
{
    // [graph]
    for (int i = 0; i < 3; i++) // gradients, state and memory are there
        if (step(r))
            break;
    tern_status status = tern_cuda_graph_begin(0);
    if (!status)
        status = step(r); // captured, not run
    tern_cuda_graph *graph = tern_cuda_graph_end();
    for (int i = 0; i < 50 && graph && !tern_error_pending(); i++) {
        fill(r, i); // tern_copy_ into r->x and r->y
        if (tern_cuda_graph_replay(graph))
            break;
    }
    // [/graph]
    expect(graph && !status && tern_optim_step_count(r->opt, 0) == 54);
    expect(tern_module_to(r->net, tern_cuda(1)) != NULL);
    expect(tern_cuda_graph_replay(graph) == TERN_ERR_STATE);
    expect_error(TERN_ERR_STATE);
    expect(tern_module_to(r->net, tern_cuda(0)) != NULL);
    tern_cuda_graph_free(graph);
}

static void graphs(void)
{
    tern_device dev = tern_cuda(0);
    run r = {.net = tern_nn_linear(2, 1, .device = dev)};
    r.opt = tern_optim_adam(r.net, .lr = 0.05);
    r.x = tern_zeros(tern_dims(16, 2), .device = dev);
    r.y = tern_zeros(tern_dims(16, 1), .device = dev);
    r.loss = tern_zeros(tern_dims(), .device = dev);
    fill(&r, 3);
    expect(tern_cuda_graph_begin(0) == TERN_OK);
    expect(step(&r) == TERN_ERR_STATE);
    expect(!tern_cuda_graph_end());
    expect_error(TERN_ERR_STATE);
    tern_optim_zero_grad(r.opt);
    expect(step(&r) == TERN_OK);
    double first = tern_item(r.loss);
    replay(&r);
    fill(&r, 3);
    expect(step(&r) == TERN_OK && tern_item(r.loss) < first);

    expect(tern_cuda_graph_begin(0) == TERN_OK);
    expect(isnan(tern_item(r.loss)));
    expect(!tern_cuda_graph_end());
    expect_error(TERN_ERR_STATE);

    tern_tensor *far = tern_ones(tern_dims(2), .device = tern_cuda(1));
    expect(tern_cuda_graph_begin(0) == TERN_OK);
    expect(!tern_relu(far));
    expect(!tern_cuda_graph_end());
    expect_error(TERN_ERR_STATE);
    tern_optim_free(r.opt);
    tern_module_free(r.net);
}

int main(void)
{
    if (tern_cuda_device_count() < 4) {
        printf("skipped: %s\n", tern_cuda_reason());
        return 77;
    }
    tern_scope scope = tern_scope_open();
    out_of_memory();
    listing();
    current();
    reading();
    seeds();
    memory();
    pinned();
    two_devices();
    streams();
    graphs();
    tern_scope_close(scope);
    int status = finished();
    tern_shutdown();
    return status;
}
