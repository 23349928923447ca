// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_TRIALS = 15 };

void must(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s (%s)\n", call, cudaGetErrorString(error), cudaGetErrorName(error));
    exit(1);
}

void *device_zeros(size_t nbytes)
{
    void *data = NULL;
    MUST(cudaMalloc(&data, nbytes));
    MUST(cudaMemset(data, 0, nbytes));
    MUST(cudaDeviceSynchronize());
    return data;
}

timer timer_new(int trials)
{
    timer t = {.trials = trials < MOST_TRIALS ? trials : MOST_TRIALS};
    MUST(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&t.begin));
    MUST(cudaEventCreate(&t.end));
    return t;
}

void timer_free(timer *t)
{
    MUST(cudaEventDestroy(t->begin));
    MUST(cudaEventDestroy(t->end));
    MUST(cudaStreamDestroy(t->stream));
}

double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double trial(const timer *t, int calls, queue_function *queue, void *work)
{
    float milliseconds = 0;
    MUST(cudaEventRecord(t->begin, t->stream));
    for (int i = 0; i < calls; i++)
        queue(t->stream, work);
    MUST(cudaEventRecord(t->end, t->stream));
    MUST(cudaEventSynchronize(t->end));
    MUST(cudaGetLastError());
    MUST(cudaEventElapsedTime(&milliseconds, t->begin, t->end));
    return (double)milliseconds * 1e-3 / calls;
}

double seconds_queued(const timer *t, int calls, queue_function *queue, void *work)
{
    double seconds[MOST_TRIALS];
    (void)trial(t, 1, queue, work);
    for (int i = 0; i < t->trials; i++)
        seconds[i] = trial(t, calls, queue, work);
    qsort(seconds, (size_t)t->trials, sizeof *seconds, compare);
    return seconds[t->trials / 2];
}

static void launch_graph(cudaStream_t stream, void *exec)
{
    MUST(cudaGraphLaunch(exec, stream));
}

double seconds_in_graph(const timer *t, int calls, int launches, queue_function *queue, void *work)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    queue(t->stream, work); // what a first launch loads is not for a capture
    MUST(cudaStreamSynchronize(t->stream));
    MUST(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; i++)
        queue(t->stream, work);
    MUST(cudaStreamEndCapture(t->stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    const double seconds = seconds_queued(t, launches, launch_graph, exec);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    return seconds / calls;
}
