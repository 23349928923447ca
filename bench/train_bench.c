// SPDX-License-Identifier: Apache-2.0
// Training steps of an MLP or of the network of examples/cnn_mnist on request, as bench/compare.py
// asks for them; torch_peer.py does the same work in PyTorch.
//
//     train_bench 784,512,512,10 64 cross_entropy    layer sizes, batch, cross_entropy or mse
//     train_bench cnn 64 cross_entropy               the convolutional network, without dropout
//     train_bench 784,512,512,10 64 cross_entropy cuda:0 graph tf32 adamw
//                       on a device; each step a replay of a captured one; with TF32 products;
//                       with AdamW in place of Adam
//
// One request a line on stdin, one answer a line on stdout:
//     info        what computes
//     reset       begins anew, with the weights of the start
//     losses N    the losses of the next N steps
//     run N       the seconds that the next N steps take
//     probe       what a float32 product adds to 1 where 2^-12 is right and TF32 gives 0
//     memory      the most memory that the process had so far, in MiB
//     peak        this core's multiply-adds at their fastest, in GFLOP/s
//     versions    of what computes
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../examples/cnn_mnist/net.h"
#include "fma_peak.h"
#include "cpu/backend.h"
#include <tern/tern.h>

enum { MAX_LAYERS = 1024, POOL = 8 }; // batches that take turns
enum { WARM_UP = 3 };                 // steps before one is captured

typedef struct task {
    int64_t size[MAX_LAYERS + 1];
    int layers;
    bool convolutional;
    int64_t batch;
    bool classes;
    bool decays; // AdamW
    tern_module *net, *criterion;
    tern_optim *opt;
    tern_state *start; // what the net has at the start
    tern_tensor *x[POOL], *y[POOL];
    int64_t step;
    tern_device device;
    bool captures;
    tern_cuda_graph *graph;                      // of a step, once it was captured
    tern_tensor *fixed_x, *fixed_y, *fixed_loss; // what it reads and writes
} task;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void read_sizes(task *t, const char *text)
{
    char *end = NULL;
    t->convolutional = !strcmp(text, "cnn");
    if (t->convolutional)
        text = "784,10";
    for (int i = 0; i <= MAX_LAYERS && *text; i++, text = *end ? end + 1 : end) {
        t->size[i] = strtol(text, &end, 10);
        t->layers = i;
    }
}

// The same seed and the same draws as in torch_peer.py: the same data and weights.
static void make_data(task *t)
{
    int64_t rows = POOL * t->batch, out = t->size[t->layers];
    tern_tensor *x = tern_rand(tern_dims(rows, t->size[0]), .dtype = TERN_FLOAT32);
    tern_tensor *y = t->classes ? tern_randint(0, out, tern_dims(rows))
                                : tern_rand(tern_dims(rows, out), .dtype = TERN_FLOAT32);
    if (t->convolutional)
        x = tern_reshape(x, tern_dims(rows, 1, 28, 28));
    x = tern_to(x, t->device);
    y = tern_to(y, t->device);
    for (int i = 0; i < POOL; i++) {
        t->x[i] = tern_retain(tern_narrow(x, 0, i * t->batch, t->batch));
        t->y[i] = tern_retain(tern_narrow(y, 0, i * t->batch, t->batch));
    }
    t->fixed_x = tern_retain(tern_clone(t->x[0]));
    t->fixed_y = tern_retain(tern_clone(t->y[0]));
    t->fixed_loss = tern_retain(tern_zeros(tern_dims(), .device = t->device));
}

static void free_data(task *t)
{
    for (int i = 0; i < POOL; i++) {
        tern_release(t->x[i]);
        tern_release(t->y[i]);
    }
    tern_release(t->fixed_x);
    tern_release(t->fixed_y);
    tern_release(t->fixed_loss);
}

static void free_net(task *t)
{
    tern_cuda_graph_free(t->graph);
    tern_state_free(t->start);
    tern_optim_free(t->opt);
    tern_module_free(t->criterion);
    tern_module_free(t->net);
}

static tern_module *make_mlp(const task *t)
{
    tern_module *layer[2 * MAX_LAYERS];
    int count = 0;
    for (int i = 0; i < t->layers; i++) {
        if (i > 0)
            layer[count++] = tern_nn_relu();
        layer[count++] = tern_nn_linear(t->size[i], t->size[i + 1]);
    }
    return tern_nn_sequential_new(count, layer);
}

static void make_net(task *t)
{
    tern_manual_seed(1);
    t->net = t->convolutional ? cnn(10, 0) : make_mlp(t);
    t->criterion = t->classes ? tern_nn_cross_entropy_loss() : tern_nn_mse_loss();
    t->opt = t->decays ? tern_optim_adamw(t->net, .lr = 1e-3) : tern_optim_adam(t->net, .lr = 1e-3);
    tern_module_to(t->net, t->device);
    tern_module_to(t->criterion, t->device);
    tern_state *now = tern_module_state_dict(t->net);
    t->start = tern_state_copy(now);
    tern_state_free(now);
}

static tern_status reset_optim(task *t, int i)
{
    tern_tensor *first = tern_optim_state(t->opt, i, "exp_avg");
    tern_tensor *second = tern_optim_state(t->opt, i, "exp_avg_sq");
    if (first && second) { // there is none before the first step
        tern_zero_(first);
        tern_zero_(second);
    }
    return tern_optim_set_step_count(t->opt, i, 0);
}

// In place: a captured step reads and writes where it did.
static void reset(task *t)
{
    tern_scope scope = tern_scope_open();
    tern_status status = tern_module_load_state_dict(t->net, t->start);
    tern_no_grad {
        for (int i = 0; i < tern_module_num_parameters(t->net) && status == TERN_OK; i++)
            status = reset_optim(t, i);
    }
    t->step = 0;
    tern_scope_close(scope);
}

static tern_tensor *queue_step(task *t, tern_tensor *x, tern_tensor *y)
{
    tern_tensor *loss = tern_loss(t->criterion, tern_forward(t->net, x), y);
    tern_optim_zero_grad(t->opt);
    return tern_backward(loss) || tern_optim_step(t->opt) ? NULL : loss;
}

static void queue_fixed_step(task *t)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = queue_step(t, t->fixed_x, t->fixed_y);
    if (loss)
        tern_copy_(t->fixed_loss, tern_detach(loss));
    tern_scope_close(scope);
}

static void capture_step(task *t)
{
    if (tern_cuda_graph_begin(t->device.index))
        return;
    queue_fixed_step(t);
    t->graph = tern_cuda_graph_end();
}

// The batch goes where the captured step reads it.
static tern_tensor *replay_step(task *t, int at)
{
    tern_copy_(t->fixed_x, t->x[at]);
    tern_copy_(t->fixed_y, t->y[at]);
    if (t->step > WARM_UP && !t->graph)
        capture_step(t);
    if (t->step <= WARM_UP)
        queue_fixed_step(t);
    else if (!t->graph || tern_cuda_graph_replay(t->graph))
        return NULL;
    return t->fixed_loss;
}

static double train_step(task *t, bool wants_loss)
{
    tern_scope scope = tern_scope_open();
    int at = (int)(t->step++ % POOL);
    tern_tensor *loss = t->captures ? replay_step(t, at) : queue_step(t, t->x[at], t->y[at]);
    double value = wants_loss ? tern_item(loss) : 0;
    tern_scope_close(scope);
    if (tern_error_pending())
        exit(tern_error_print(stderr));
    return value;
}

static void wait(const task *t)
{
    if (tern_synchronize(t->device))
        exit(tern_error_print(stderr));
}

static double run_steps(task *t, long count)
{
    wait(t);
    double start = seconds();
    for (long i = 0; i < count; i++)
        train_step(t, false);
    wait(t);
    return seconds() - start;
}

static double probe(const task *t)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *a =
        tern_full(tern_dims(64, 64), 1 + 0x1p-12, .dtype = TERN_FLOAT32, .device = t->device);
    tern_tensor *identity = tern_eye(64, 64, .dtype = TERN_FLOAT32, .device = t->device);
    tern_tensor *product = tern_matmul(a, identity);
    double value = tern_item(tern_select(tern_select(product, 0, 0), 0, 0)) - 1;
    tern_scope_close(scope);
    return value;
}

static void tell_info(const task *t)
{
    tern_cuda_memory memory;
    printf("tern %s, %s, %d thread(s), %s%s", tern_version(), tern_cpu_backend()->kernels->name,
           tern_num_threads(), tern_device_string(t->device), t->captures ? ", replayed" : "");
    if (t->device.type == TERN_CUDA && !tern_cuda_get_memory(t->device.index, &memory))
        printf(", %.1f MiB reserved", (double)memory.reserved_peak / (1 << 20));
    printf("\n");
}

static double peak_mib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss / 1024;
}

static void answer(task *t, const char *request)
{
    long count = strchr(request, ' ') ? strtol(strchr(request, ' '), NULL, 10) : 0;
    if (!strncmp(request, "info", 4))
        tell_info(t);
    else if (!strncmp(request, "losses", 6)) {
        for (long i = 0; i < count; i++)
            printf("%.9g ", train_step(t, true));
        printf("\n");
    } else if (!strncmp(request, "run", 3))
        printf("%.9f\n", run_steps(t, count));
    else if (!strncmp(request, "peak", 4))
        printf("%.6g\n", fma_peak(0.02) * 1e-9);
    else if (!strncmp(request, "probe", 5))
        printf("%.9g\n", probe(t));
    else if (!strncmp(request, "memory", 6))
        printf("%.1f\n", peak_mib());
    else if (!strncmp(request, "versions", 8))
        printf("tern %s\n", tern_version());
    else {
        reset(t);
        printf("done\n");
    }
    fflush(stdout);
}

// The words behind the loss: a device, an optimizer, graph and tf32, in any order.
static tern_status read_words(task *t, int count, char **word)
{
    t->device = tern_cpu(0);
    for (int i = 0; i < count; i++) {
        if (!strcmp(word[i], "graph"))
            t->captures = true;
        else if (!strcmp(word[i], "tf32"))
            tern_cuda_allow_tf32(true);
        else if (!strncmp(word[i], "adam", 4))
            t->decays = !strcmp(word[i], "adamw");
        else if (tern_device_parse(word[i], &t->device))
            return tern_error_code();
    }
    if (t->captures && t->device.type != TERN_CUDA)
        return tern_error_raise(TERN_ERR_ARG, "train_bench: graph takes a CUDA device");
    return TERN_OK;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr,
                       "usage: train_bench SIZES|cnn BATCH cross_entropy|mse [DEVICE] [adam|adamw] "
                       "[graph] [tf32]\n"),
               2;
    task t = {.batch = strtol(argv[2], NULL, 10)};
    char request[64];
    t.classes = !strcmp(argv[3], "cross_entropy");
    read_sizes(&t, argv[1]);
    if (read_words(&t, argc - 4, argv + 4))
        return tern_error_print(stderr);
    tern_manual_seed(0);
    make_data(&t);
    make_net(&t);
    while (!tern_error_pending() && fgets(request, sizeof request, stdin))
        answer(&t, request);
    free_data(&t);
    free_net(&t);
    const int status = tern_error_print(stderr);
    tern_shutdown();
    return status;
}
