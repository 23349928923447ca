// SPDX-License-Identifier: Apache-2.0
// What tests may ask of the simulated device: to fail on demand, to count what was asked of it, and
// to tell which streams waited for which. All are exported from the plugin that the simulation is
// linked into: a test that opened it finds them with dlsym, as
//
//     void (*fail)(enum tern_sim_call, long, int) = dlsym(plugin, "tern_sim_fail");
//     fail(TERN_SIM_MALLOC, 3, cudaErrorMemoryAllocation);  // the third cudaMalloc from here on
//
// Settings come from the environment, read at the first call:
//   TERN_SIM_DEVICES=n              4 by default, 0 to 8; CUDA_VISIBLE_DEVICES picks and renumbers
//   TERN_SIM_MEMORY=8G[,4G...]      of each device, the last for the rest; K, M, G; 8G by default
//   TERN_SIM_ORDER=forward|reverse|random, TERN_SIM_SEED=n    of threads, blocks, streams, nodes
//   TERN_SIM_STREAMS=lazy           work runs only when something waits for it
//   TERN_SIM_GUARD=1                device memory is out of reach but for work of its device
//   TERN_SIM_INTERBLOCK=1           under TSan: races between blocks are reported as well
//   TERN_SIM_POISON=0               leaves new device memory and shared memory unfilled
//   TERN_SIM_LEAKS=1                device memory that was never freed fails the process
//   TERN_SIM_STATS=1                totals at the end
#ifndef TERN_SIM_SIMCUDA_H
#define TERN_SIM_SIMCUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_SIM_EXPORT __attribute__((visibility("default")))

enum tern_sim_call {
    TERN_SIM_MALLOC,
    TERN_SIM_HOST_ALLOC,
    TERN_SIM_MEMCPY, // of any kind, cudaMemcpyPeerAsync included
    TERN_SIM_MEMSET,
    TERN_SIM_LAUNCH, // of kernels; cudaGetLastError tells
    TERN_SIM_STREAM_CREATE,
    TERN_SIM_EVENT_CREATE,
    TERN_SIM_EVENT_RECORD,
    TERN_SIM_WAIT, // host synchronisations of all kinds
    TERN_SIM_CAPTURE,
    TERN_SIM_GRAPH_INSTANTIATE,
    TERN_SIM_GRAPH_LAUNCH,
    TERN_SIM_BLAS_CREATE, // its code is a cublasStatus_t
    TERN_SIM_BLAS,        // products; a cublasStatus_t
    TERN_SIM_RAND_CREATE, // a curandStatus_t
    TERN_SIM_RAND,        // a curandStatus_t
    TERN_SIM_FAULT,       // a kernel that runs: its device then answers every call with the code
    TERN_SIM_CALLS
};

enum tern_sim_failure {
    TERN_SIM_NO_MEMORY, // cudaErrorMemoryAllocation, CUBLAS_STATUS_ALLOC_FAILED, ...
    TERN_SIM_INVALID,   // cudaErrorInvalidValue, ...
    TERN_SIM_FAILED,    // cudaErrorLaunchFailure, of that call alone
    TERN_SIM_BROKEN     // the same, and the current device answers every call with it from then on
};

// The n-th call of CUDA, cuBLAS or cuRAND from here on, of whatever kind, fails and does nothing;
// one that frees or ends something does that and fails.
TERN_SIM_EXPORT void tern_sim_fail_any(long n, enum tern_sim_failure failure);
// The function, or kernel, that tern_sim_fail_any has failed; NULL while it has not.
TERN_SIM_EXPORT const char *tern_sim_failed(void);

// The n-th call of the kind from here on (1: the next) fails with the code and does nothing.
TERN_SIM_EXPORT void tern_sim_fail(enum tern_sim_call call, long n, int code);
// The n-th and all after it.
TERN_SIM_EXPORT void tern_sim_fail_from(enum tern_sim_call call, long n, int code);
// Takes all of that back; faults that have happened stay.
TERN_SIM_EXPORT void tern_sim_fail_none(void);
// Calls of the kind since the process began, failed ones included.
TERN_SIM_EXPORT long tern_sim_calls(enum tern_sim_call call);
// Makes a device answer every call with the code, as after a fault, and drops what is queued on it;
// 0 mends it, which no real device does before its process ends.
TERN_SIM_EXPORT void tern_sim_break_device(int device, int code);

typedef struct tern_sim_counts {
    long mallocs, frees; // of device memory
    long host_allocs, host_frees;
    long device_waits, stream_waits, event_waits; // host synchronisations that were asked for
    long copy_waits;                              // cudaMemcpy, pageable copies to the host
    long free_waits;                              // cudaFree, cudaFreeHost
    long queries;                                 // of streams and events
    long launches;                                // of kernels, captured ones included
    long copies_to_device, copies_to_host, copies_within, copies_across, memsets;
    long streams, events, records;
    long event_orders;        // cudaStreamWaitEvent
    long event_orders_across; // between streams of different devices
    long captures, instantiations, graph_launches;
    long products;            // of cuBLAS
    long products_unprepared; // captured without a workspace of the caller: they would allocate
    long fills;               // of cuRAND
    long live_blocks;         // of device memory, now
    int64_t live_bytes;
} tern_sim_counts;

TERN_SIM_EXPORT void tern_sim_count(tern_sim_counts *counts);
TERN_SIM_EXPORT void tern_sim_count_reset(void); // all but the live ones

typedef struct tern_sim_graph_shape {
    int nodes, kernels, products, copies; // copies: memory is copied or set; products: of cuBLAS
    int longest_path;                     // nodes that come after one another
} tern_sim_graph_shape;

// What the graph that was instantiated last consists of.
TERN_SIM_EXPORT void tern_sim_last_graph(tern_sim_graph_shape *shape);

enum tern_sim_waiter {
    TERN_SIM_STREAM_ON_EVENT,  // cudaStreamWaitEvent
    TERN_SIM_STREAM_ON_LEGACY, // the legacy stream's rule
    TERN_SIM_HOST_ON_STREAM,
    TERN_SIM_HOST_ON_EVENT,
    TERN_SIM_HOST_ON_DEVICE,
    TERN_SIM_HOST_ON_COPY,
    TERN_SIM_HOST_ON_FREE
};

typedef struct tern_sim_wait {
    enum tern_sim_waiter waiter;
    int device;         // of the stream that waits; -1: the host
    const void *stream; // NULL: the legacy one, or the host
    int on_device;      // what is waited for
    const void *on_stream;
} tern_sim_wait;

// Forgets the waits so far and notes those from here on.
TERN_SIM_EXPORT void tern_sim_trace_waits(void);
// How many were noted; the first `capacity` of them are written to `waits`.
TERN_SIM_EXPORT size_t tern_sim_waits(tern_sim_wait *waits, size_t capacity);

// What other code of the process may do between two calls: the device is the calling thread's then,
// and the error is what its next cudaGetLastError tells.
TERN_SIM_EXPORT void tern_sim_meddle(int device, int error);

// Sets what the device has in all; what is in use stays.
TERN_SIM_EXPORT void tern_sim_set_memory(int device, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
