// SPDX-License-Identifier: Apache-2.0
// Times of work on a device, for the programs of this folder: each must be told a stream first.
#ifndef TERN_BENCH_GPU_TIMING_H
#define TERN_BENCH_GPU_TIMING_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

// Ends the program with a sentence when a call of CUDA's fails.
#define MUST(call) must((call), #call)
void must(cudaError_t error, const char *call);

// Memory of the device, all of its bits 0.
void *device_zeros(size_t nbytes);

// By the host's clock.
double host_seconds(void);

// Queues work on `stream`.
typedef void queue_function(cudaStream_t stream, void *work);

typedef struct timer {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    int trials; // odd; their median counts
} timer;

timer timer_new(int trials);
void timer_free(timer *t);

// Seconds that one call takes when `calls` are queued behind each other, after one to warm up.
double seconds_queued(const timer *t, int calls, queue_function *queue, void *work);
// The same with the calls in a graph, which is launched `launches` times.
double seconds_in_graph(const timer *t, int calls, int launches, queue_function *queue, void *work);

#endif
