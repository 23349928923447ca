// SPDX-License-Identifier: Apache-2.0
// What a backend is: two tables, one for memory and order, one for kernels.
#ifndef TERN_SRC_DEVICE_BACKEND_H
#define TERN_SRC_DEVICE_BACKEND_H

#include <stdarg.h>
#include <tern/cuda.h>
#include "device/kernels.h"

#define TERN_DEVICE_TYPES (TERN_CUDA + 1)

// Memory, order and state of a kind of device. `index` counts from 0; all calls are thread safe.
// The stream is always the calling thread's current one of the device.
typedef struct tern_device_table {
    const char *name; // "cpu", "cuda"
    int (*count)(void);
    // Makes the device ready, with the draws to begin with; called once, before anything else.
    tern_status (*open)(int index, tern_draw_state draws);
    // Gives back all that the device took, so that it may be opened anew. False, and it stays open,
    // while memory, streams or graphs of it are alive, or when it is broken. May be NULL.
    bool (*close)(int index);

    // Memory, in stream order. `*block` is the backend's, given back to free and use.
    void *(*alloc)(int index, int64_t nbytes, void **block); // NULL raises TERN_ERR_NOMEM
    void (*free)(int index, void *data, int64_t nbytes, void *block);
    // The stream is about to use the block: what other streams do with it comes first. May be NULL.
    void (*use)(int index, void *block);

    // Between the device and the host, and between two devices of this kind; in stream order. The
    // host's memory may be reused when the call returns.
    tern_status (*to_device)(int index, void *data, const void *host, int64_t nbytes);
    tern_status (*to_host)(int index, void *host, const void *data, int64_t nbytes); // waits
    tern_status (*across)(int to, void *data, int from, const void *source, int64_t nbytes);
    tern_status (*synchronize)(int index);

    // Device, stream, fault and draws; makes the device the one that launches go to.
    tern_exec (*exec)(int index);

    // The fault record. `seen` does not wait; `publish` queues what lets later looks see it.
    bool (*fault_seen)(int index);
    void (*fault_publish)(int index);
    tern_status (*fault_read)(int index, tern_fault *fault); // waits
    void (*fault_clear)(int index);

    // The Philox state of dropout, in stream order. On failure it is as it was.
    tern_status (*draws_write)(int index, tern_draw_state state);
    tern_status (*draws_advance)(int index, uint64_t count);
    tern_status (*draws_read)(int index, tern_draw_state *state); // waits
} tern_device_table;

// What only CUDA devices have; the functions of <tern/cuda.h> check and call these.
typedef struct tern_cuda_table {
    const char *(*reason)(void); // why count is 0: what CUDA says
    tern_status (*properties)(int index, tern_cuda_properties *out);
    tern_status (*memory)(int index, tern_cuda_memory *out);
    tern_status (*memory_unopened)(int index,
                                   tern_cuda_memory *out); // of a device that is not open
    void (*reset_peak)(int index);
    tern_status (*empty_cache)(int index);
    // The nbytes of the biggest blocks in use, in descending order; returns their count.
    int (*biggest)(int index, int64_t *nbytes, int capacity);
    void (*allow_tf32)(bool allow);

    // Page-locked host memory. `pinned_use`: a queued copy on the device uses the block.
    void *(*pinned_alloc)(int64_t nbytes, void **block); // NULL raises
    void (*pinned_free)(void *data, int64_t nbytes, void *block);
    tern_status (*pinned_to_device)(int index, void *data, const void *host, int64_t nbytes,
                                    void *block);
    tern_status (*pinned_to_host)(int index, void *host, const void *data, int64_t nbytes,
                                  void *block);

    tern_cuda_stream *(*stream_new)(int index);    // NULL raises
    void (*stream_free)(tern_cuda_stream *stream); // raises, and it stays, while it is captured
    tern_cuda_stream *(*stream_set)(int index, tern_cuda_stream *stream);
    int (*stream_index)(const tern_cuda_stream *stream); // its device
    tern_status (*stream_synchronize)(tern_cuda_stream *stream);

    tern_cuda_event *(*event_new)(int index); // NULL raises
    void (*event_free)(tern_cuda_event *event);
    tern_status (*event_record)(tern_cuda_event *event);
    tern_status (*event_wait)(tern_cuda_event *event, int index);
    tern_status (*event_synchronize)(tern_cuda_event *event);
    double (*event_elapsed)(tern_cuda_event *start, tern_cuda_event *end);

    // Capture of the calling thread's current stream of the device. Memory taken meanwhile belongs
    // to the graph, and goes back to the cache with it. Another stream's work is captured once that
    // waited for an event of this one: whether the current one's is, `capturing` tells.
    bool (*capturing)(int index);
    // Memory that is not the graph's, though the thread captures. NULL raises.
    void *(*alloc_outside)(int index, int64_t nbytes, void **block);
    tern_status (*capture_begin)(int index);
    void *(*capture_end)(int index, bool discard); // NULL when discarded or failed, which raises
    tern_status (*graph_launch)(void *graph);
    void (*graph_free)(void *graph);
} tern_cuda_table;

typedef struct tern_backend {
    const tern_device_table *device;
    const tern_kernels *kernels;
    const tern_cuda_table *cuda; // NULL but for CUDA
} tern_backend;

// ---- the plugin ---------------------------------------------------------------------------------

// What a plugin may call back.
typedef struct tern_host_api {
    tern_status (*error_raise)(tern_status code, const char *format, va_list arguments);
    void (*log)(tern_log_level level, const char *format, va_list arguments);
    void *(*mem_alloc)(size_t nbytes); // zeroed; NULL raises
    void (*mem_free)(void *memory, size_t nbytes);
} tern_host_api;

// The one symbol of a plugin. `abi` is TERN_ABI_HASH of the core; the plugin answers NULL when its
// own is another, else with its tables.
#define TERN_PLUGIN_ENTRY "tern_backend_v1"
typedef const tern_backend *tern_plugin_entry(uint64_t abi, const tern_host_api *host);

// The CPU's backend: the best kernel table for this machine, chosen once
// (TERN_CPU_ISA=portable|avx2|avx512 overrides).
const tern_backend *tern_cpu_backend(void);

// The backend of a kind of device; NULL when it is not available.
const tern_backend *tern_backend_of(tern_device_type type);

// The kernels for a device that exists.
const tern_kernels *tern_kernels_of(tern_device device);

// Where kernels of the device run from the calling thread.
tern_exec tern_exec_of(tern_device device);

// Makes a device that exists ready for use; at once when it is.
tern_status tern_device_open(tern_device device);
bool tern_device_is_open(tern_device device);
// Closes it if it can be; no other thread is inside the library.
void tern_device_close(tern_device device);

// Turns the unspecified device into the default one and checks that the device exists.
tern_status tern_device_find(const char *op, tern_device *device);
// The same, and opens it.
tern_status tern_device_resolve(const char *op, tern_device *device);

#endif
