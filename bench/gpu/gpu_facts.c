// SPDX-License-Identifier: Apache-2.0
// What is to be known of a GPU and its libraries, beside what the tests hold.
//
//     gpu_facts FACT...     of, each in a process of its own:
//       start        how long the first calls take
//       first_use    whether work whose kernels were never loaded can be captured
//       graph_memory what a captured training step makes the driver allocate: nothing, one hopes
//       generator    what a captured curandGenerate does when it is replayed
//
// A line a figure. Nothing fails but what ends the program.
#include <cuda_runtime_api.h>
#include <curand.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"
#include <tern/tern.h>

static double last; // when the last line was printed

static void must_do(tern_status status)
{
    if (status)
        exit(tern_error_print(stdout));
}

// What passed since the last line.
static void print_since(const char *what)
{
    must_do(tern_error_code());
    printf("%s: %.2f ms\n", what, (host_seconds() - last) * 1e3);
    fflush(stdout);
    last = host_seconds();
}

static void show_start(void)
{
    const tern_device gpu = tern_cuda(0);
    last = host_seconds();
    printf("%d devices\n", tern_cuda_device_count());
    print_since("counting the devices, which loads the plugin");
    tern_tensor *x = tern_ones(tern_dims(64, 64), .device = gpu);
    print_since("the first tensor");
    tern_item(tern_sum(x, TERN_ALL_AXES, false));
    print_since("the first sum, read back");
    (void)!tern_matmul(x, x);
    must_do(tern_synchronize(gpu));
    print_since("the first product");
    tern_rand(tern_dims(64), .device = gpu);
    must_do(tern_synchronize(gpu));
    print_since("the first random fill");
    must_do(tern_cuda_graph_begin(0));
    (void)!tern_add(x, x);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    print_since("the first capture");
    must_do(tern_cuda_graph_replay(graph));
    must_do(tern_synchronize(gpu));
    print_since("its first replay");
    (void)!tern_matmul(x, x);
    must_do(tern_synchronize(gpu));
    print_since("another product");
    tern_cuda_graph_free(graph);
}

// ---- captures -----------------------------------------------------------------------------------

static tern_tensor *running(tern_tensor *x)
{
    return tern_cumsum(x, 1);
}

static tern_tensor *normalized(tern_tensor *x)
{
    return tern_softmax(x, 1);
}

static tern_tensor *squared(tern_tensor *x)
{
    return tern_matmul(x, x);
}

static double largest_difference(tern_tensor *a, tern_tensor *b)
{
    tern_tensor *difference = tern_abs(tern_sub(tern_to(a, tern_cpu(0)), b));
    return tern_item(tern_amax(difference, TERN_ALL_AXES, false));
}

static void show_first_use(void)
{
    static const struct {
        const char *name;
        tern_tensor *(*call)(tern_tensor *x);
    } uses[] = {{"cumsum", running}, {"softmax", normalized}, {"matmul", squared}};
    tern_tensor *host = tern_reshape(tern_linspace(-1, 1, 1024), tern_dims(32, 32));
    tern_tensor *x = tern_to(host, tern_cuda(0)), *y = tern_zeros_like(x);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        must_do(tern_cuda_graph_begin(0));
        tern_copy_(y, uses[i].call(x));
        tern_cuda_graph *graph = tern_cuda_graph_end();
        const bool ran = graph && !tern_cuda_graph_replay(graph);
        const double off = ran ? largest_difference(y, uses[i].call(host)) : NAN;
        printf("%s captured before it ever ran: off by %g\n", uses[i].name, off);
        tern_error_print(stdout);
        tern_cuda_graph_free(graph);
    }
}

typedef struct net {
    tern_module *module, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y;
} net;

static void step(net *n)
{
    tern_scope scope = tern_scope_open();
    tern_optim_zero_grad(n->optim);
    must_do(tern_backward(tern_loss(n->criterion, tern_forward(n->module, n->x), n->y)));
    must_do(tern_optim_step(n->optim));
    tern_scope_close(scope);
}

static net net_new(tern_device gpu)
{
    net n = {
        .module = tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_dropout(0.1),
                                     tern_nn_linear(512, 10)),
        .criterion = tern_nn_cross_entropy_loss(),
        .x = tern_rand(tern_dims(64, 784), .device = gpu),
        .y = tern_to(tern_randint(0, 10, tern_dims(64)), gpu),
    };
    tern_module_to(n.module, gpu);
    n.optim = tern_optim_adam(n.module, .lr = 1e-3);
    return n;
}

static unsigned long long graph_memory(void)
{
    unsigned long long most = 0;
    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &most));
    return most;
}

static void show_graph_memory(void)
{
    net n = net_new(tern_cuda(0));
    for (int i = 0; i < 3; i++)
        step(&n);
    must_do(tern_cuda_graph_begin(0));
    step(&n);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    for (int i = 0; i < 3; i++)
        must_do(tern_cuda_graph_replay(graph));
    must_do(tern_synchronize(tern_cuda(0)));
    printf("a captured step: %llu bytes allocated by its graph\n", graph_memory());
    tern_cuda_graph_free(graph);
    tern_optim_free(n.optim);
    tern_module_free(n.criterion);
    tern_module_free(n.module);
}

// ---- cuRAND -------------------------------------------------------------------------------------

enum { WORDS = 64 };

static void replay_into(cudaGraphExec_t exec, cudaStream_t stream, const unsigned *from,
                        unsigned *words)
{
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(words, from, WORDS * sizeof *words, cudaMemcpyDeviceToHost));
}

static void show_generator(void)
{
    curandGenerator_t generator;
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec;
    unsigned *device = device_zeros(WORDS * sizeof *device), first[WORDS], second[WORDS];
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int status = curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    if (!status)
        status = curandSetStream(generator, stream);
    if (!status)
        status = curandGenerate(generator, device, WORDS); // not the first call that is captured
    printf("cuRAND before the capture: status %d\n", status);
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    status = curandGenerate(generator, device, WORDS);
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    printf("curandGenerate in a capture: status %d, the capture's end: %s\n", status,
           cudaGetErrorName(error));
    if (error != cudaSuccess || !graph)
        return;
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    replay_into(exec, stream, device, first);
    replay_into(exec, stream, device, second);
    printf("two replays give %s numbers\n",
           memcmp(first, second, sizeof first) ? "new" : "the same");
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
}

static const struct fact {
    const char *name;
    void (*show)(void);
} facts[] = {
    {"start", show_start},
    {"first_use", show_first_use},
    {"graph_memory", show_graph_memory},
    {"generator", show_generator},
};

static void show(const char *name)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!strcmp(facts[i].name, name)) {
            facts[i].show();
            return;
        }
    printf("gpu_facts: unknown fact: %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        show(argv[i]);
    tern_shutdown();
    return 0;
}
