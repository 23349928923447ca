// SPDX-License-Identifier: Apache-2.0
// What nothing on this GPU can be faster than: launches, edges of graphs, barriers across the
// device, copies, reads from the L2 cache.
//
//     gpu_floor [quick] MEASURE...    of: launch graph early barrier copy cache; quick: to try it
//
// Each measure prints a line a figure. A time is the median of 9 trials, by events of the device
// where nothing else is said.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor_kernels.h"
#include "timing.h"

#define MIB ((size_t)1 << 20)

typedef struct chain {
    float *x; // (blocks)
    int blocks;
    bool early;
    long links; // queued so far
} chain;

static int multiprocessors;
static bool quick;

static int scaled(int count)
{
    return quick ? count / 100 + 1 : count;
}

// ---- launches and edges -------------------------------------------------------------------------

static void queue_chain(cudaStream_t stream, void *work)
{
    chain *c = work;
    if (c->early)
        MUST(queue_early_link(stream, c->x, c->blocks));
    else
        queue_link(stream, c->x, c->blocks);
    c->links++;
}

static chain chain_new(int blocks, bool early)
{
    return (chain){device_zeros((size_t)blocks * sizeof(float)), blocks, early, 0};
}

static void chain_free(chain *c)
{
    MUST(cudaFree(c->x));
}

// Every block added 1 a link, in turn: else what was timed is not a chain.
static void expect_links(const chain *c, float links)
{
    float last = -1;
    MUST(cudaMemcpy(&last, c->x + c->blocks - 1, sizeof last, cudaMemcpyDeviceToHost));
    if (last != links) {
        printf("%g links ran, not %g\n", last, links);
        exit(1);
    }
}

static void measure_launch(const timer *t)
{
    const int calls = scaled(500);
    chain c = chain_new(1, false);
    const double queued = seconds_queued(t, calls, queue_chain, &c);
    MUST(cudaStreamSynchronize(t->stream));
    double start = host_seconds();
    for (int i = 0; i < calls; i++)
        queue_chain(t->stream, &c);
    const double host = (host_seconds() - start) / calls;
    MUST(cudaStreamSynchronize(t->stream));
    start = host_seconds();
    for (int i = 0; i < calls; i++) {
        queue_chain(t->stream, &c);
        MUST(cudaStreamSynchronize(t->stream));
    }
    const double there_and_back = (host_seconds() - start) / calls;
    expect_links(&c, (float)c.links);
    printf("launch: %.2f us a kernel in a row, %.2f us of the host's; %.2f us launched and waited "
           "for\n",
           queued * 1e6, host * 1e6, there_and_back * 1e6);
    chain_free(&c);
}

// What a graph takes with so many kernels behind each other, and what one more adds.
static void measure_edges(const timer *t, int blocks, bool early)
{
    const int kernels[] = {1, 10, 100, 1000}, launches = scaled(20);
    const float replays = (float)(t->trials * launches + 1); // one to warm up
    double seconds[4];
    for (int i = 0; i < 4; i++) {
        chain c = chain_new(blocks, early);
        seconds[i] = seconds_in_graph(t, kernels[i], launches, queue_chain, &c) * kernels[i];
        expect_links(&c, replays * (float)kernels[i] + 1);
        chain_free(&c);
    }
    printf("graph of %skernels of %d blocks: with 1, 10, 100, 1000: %.2f %.2f %.2f %.2f us; one "
           "more: %.3f us\n",
           early ? "early " : "", blocks, seconds[0] * 1e6, seconds[1] * 1e6, seconds[2] * 1e6,
           seconds[3] * 1e6, (seconds[3] - seconds[2]) / 900 * 1e6);
}

static void measure_graph(const timer *t)
{
    measure_edges(t, 1, false);
    measure_edges(t, multiprocessors, false);
}

static void measure_early(const timer *t)
{
    chain c = chain_new(1, true);
    const cudaError_t error = queue_early_link(t->stream, c.x, 1);
    MUST(cudaDeviceSynchronize());
    chain_free(&c);
    if (error == cudaErrorNotSupported) {
        puts("early: this device has no programmatic dependent launch");
        return;
    }
    MUST(error);
    measure_edges(t, 1, true);
    measure_edges(t, multiprocessors, true);
}

// ---- barriers across the device -----------------------------------------------------------------

typedef struct meetings {
    unsigned *counter, *marks, *late;
    int rounds;
    cudaError_t error;
} meetings;

static void queue_all_meetings(cudaStream_t stream, void *work)
{
    meetings *m = work;
    MUST(cudaMemsetAsync(m->counter, 0, sizeof *m->counter, stream));
    m->error = queue_meetings(stream, m->counter, m->marks, m->late, multiprocessors, m->rounds);
}

static double meeting_seconds(const timer *t, meetings *m, int rounds)
{
    m->rounds = rounds;
    return seconds_queued(t, 1, queue_all_meetings, m);
}

static void measure_barrier(const timer *t)
{
    const int few = scaled(100), many = scaled(2000) + 100;
    unsigned late = 0;
    meetings m = {device_zeros(sizeof(unsigned)),
                  device_zeros((size_t)multiprocessors * sizeof(unsigned)),
                  device_zeros(sizeof(unsigned)), few, cudaSuccess};
    const double short_one = meeting_seconds(t, &m, few);
    const double long_one = m.error ? 0 : meeting_seconds(t, &m, many);
    MUST(cudaMemcpy(&late, m.late, sizeof late, cudaMemcpyDeviceToHost));
    if (m.error)
        printf("barrier: %s\n", cudaGetErrorName(m.error));
    else
        printf("barrier of %d blocks by one counter: %.3f us; %u of %d came late\n",
               multiprocessors, (long_one - short_one) / (many - few) * 1e6, late, many);
    MUST(cudaFree(m.counter));
    MUST(cudaFree(m.marks));
    MUST(cudaFree(m.late));
}

// ---- memory -------------------------------------------------------------------------------------

typedef struct transfer {
    void *to;
    void *from;
    size_t nbytes;
    int passes;
    int blocks;
} transfer;

static void queue_runtime_copy(cudaStream_t stream, void *work)
{
    const transfer *c = work;
    MUST(cudaMemcpyAsync(c->to, c->from, c->nbytes, cudaMemcpyDefault, stream));
}

static void queue_own_copy(cudaStream_t stream, void *work)
{
    const transfer *c = work;
    queue_wide_copy(stream, c->to, c->from, (int64_t)(c->nbytes / 16), c->blocks);
}

static void queue_all_reads(cudaStream_t stream, void *work)
{
    const transfer *c = work;
    queue_reads(stream, c->from, (int64_t)(c->nbytes / 16), c->passes, c->to, c->blocks);
}

static void print_rate(const char *what, size_t nbytes, double seconds)
{
    printf("%s: %.1f GB/s (%.2f us)\n", what, (double)nbytes / seconds * 1e-9, seconds * 1e6);
}

static void measure_host_copies(const timer *t, void *device, size_t nbytes)
{
    void *host = NULL;
    MUST(cudaMallocHost(&host, nbytes));
    memset(host, 0, nbytes);
    transfer up = {device, host, nbytes, 1, 0}, down = {host, device, nbytes, 1, 0};
    transfer value = {host, device, sizeof(float), 1, 0};
    print_rate("copy from pinned memory", nbytes, seconds_queued(t, 3, queue_runtime_copy, &up));
    print_rate("copy to pinned memory", nbytes, seconds_queued(t, 3, queue_runtime_copy, &down));
    const double start = host_seconds();
    for (int i = 0; i < 100; i++) {
        queue_runtime_copy(t->stream, &value);
        MUST(cudaStreamSynchronize(t->stream));
    }
    printf("one number read back: %.2f us by the host's clock\n", (host_seconds() - start) * 1e4);
    MUST(cudaFreeHost(host));
}

static void measure_copy(const timer *t)
{
    const size_t nbytes = quick ? MIB : 1024 * MIB;
    transfer c = {device_zeros(nbytes), device_zeros(nbytes), nbytes, 1, 8 * multiprocessors};
    print_rate("copy on the device, read and written, by cudaMemcpyAsync", 2 * nbytes,
               seconds_queued(t, 3, queue_runtime_copy, &c));
    print_rate("copy on the device, read and written, by a kernel", 2 * nbytes,
               seconds_queued(t, 3, queue_own_copy, &c));
    measure_host_copies(t, c.to, nbytes / 4);
    MUST(cudaFree(c.to));
    MUST(cudaFree(c.from));
}

static void measure_cache(const timer *t)
{
    const size_t sizes[] = {10 * MIB, 30 * MIB, 1024 * MIB};
    for (int i = 0; i < 3; i++) {
        const size_t nbytes = quick ? MIB / 16 : sizes[i];
        const int passes = quick || nbytes > 100 * MIB ? 2 : 50;
        transfer c = {device_zeros((size_t)multiprocessors * 32), device_zeros(nbytes), nbytes,
                      passes, 8 * multiprocessors};
        char what[64];
        snprintf(what, sizeof what, "%d times reading %zu MiB", passes, nbytes / MIB);
        print_rate(what, nbytes * (size_t)passes, seconds_queued(t, 3, queue_all_reads, &c));
        MUST(cudaFree(c.to));
        MUST(cudaFree(c.from));
    }
}

static const struct measure {
    const char *name;
    void (*run)(const timer *t);
} measures[] = {
    {"launch", measure_launch},   {"graph", measure_graph}, {"early", measure_early},
    {"barrier", measure_barrier}, {"copy", measure_copy},   {"cache", measure_cache},
};

static void run(const timer *t, const char *name)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (!strcmp(measures[i].name, name)) {
            measures[i].run(t);
            return;
        }
    printf("gpu_floor: unknown measure: %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    quick = argc > 1 && !strcmp(argv[1], "quick");
    timer t = timer_new(quick ? 1 : 9);
    MUST(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    for (int i = quick ? 2 : 1; i < argc; i++)
        run(&t, argv[i]);
    timer_free(&t);
    return 0;
}
