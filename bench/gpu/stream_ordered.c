// SPDX-License-Identifier: Apache-2.0
// tern's plugin for CUDA, but that tensors get their memory from cudaMallocAsync instead of the
// caching allocator: bench/compare.py --plugin shows what that one is worth. The pool of the device
// keeps what is freed. For programs of one thread that use one stream and one graph at a time.
//
// In a capture the calls become nodes of the graph. A graph can be replayed only when it frees what
// it allocates: what is still held when its capture ends is freed there, so that a gradient of a
// captured step is to be used by that step alone.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "stream_ordered.h"
#include "device/abi.h"

typedef struct block block;
struct block {
    void *data;
    int capture;   // the number of that in which it was taken; 0: of none
    void *outside; // the other plugin's block, where that is what it is
    block *next;   // in one of the lists below
};

static const tern_host_api *host;
const tern_backend *real;
static int capture, captures; // the number of the one that runs, else 0; how many there were
static block *captured;       // taken in this capture, and held
static block *kept;           // freed in a capture that may use them: given back with its graph

static cudaStream_t stream_of(int index)
{
    return real->device->exec(index).stream;
}

static void raise_nomem(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    host->error_raise(TERN_ERR_NOMEM, format, words);
    va_end(words);
}

static tern_status open_device(int index, tern_draw_state draws)
{
    uint64_t everything = UINT64_MAX;
    cudaMemPool_t pool;
    const tern_status status = real->device->open(index, draws);
    if (status == TERN_OK && cudaDeviceGetDefaultMemPool(&pool, index) == cudaSuccess)
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything);
    return status;
}

// ---- memory -------------------------------------------------------------------------------------

static void push(block **list, block *b)
{
    b->next = *list;
    *list = b;
}

static void take_out(block **list, const block *b)
{
    while (*list != b)
        list = &(*list)->next;
    *list = b->next;
}

static void *take(int index, int64_t nbytes, void **taken)
{
    block *b = calloc(1, sizeof *b);
    const size_t size = nbytes > 0 ? (size_t)nbytes : 1;
    if (!b || cudaMallocAsync(&b->data, size, stream_of(index)) != cudaSuccess) {
        cudaGetLastError();
        free(b);
        raise_nomem("cuda:%d has no memory for %lld bytes", index, (long long)nbytes);
        return NULL;
    }
    b->capture = capture;
    if (capture)
        push(&captured, b);
    *taken = b;
    return b->data;
}

// What is written between replays may not be a node of the graph.
static void *take_outside(int index, int64_t nbytes, void **taken)
{
    block *b = calloc(1, sizeof *b);
    if (!b)
        raise_nomem("no memory of the host for a block of cuda:%d", index);
    else
        b->data = real->cuda->alloc_outside(index, nbytes, &b->outside);
    if (!b || !b->data) {
        free(b);
        return NULL;
    }
    *taken = b;
    return b->data;
}

static void free_in_order(const block *b, int index)
{
    if (cudaFreeAsync(b->data, stream_of(index)) != cudaSuccess)
        cudaGetLastError(); // the next launch is not what failed
}

static void give_back(block *b, int index)
{
    free_in_order(b, index);
    free(b);
}

static void give(int index, void *data, int64_t nbytes, void *given)
{
    block *b = given;
    if (!data)
        return;
    if (b->outside) {
        real->device->free(index, data, nbytes, b->outside);
        free(b);
    } else if (capture && b->capture != capture) {
        push(&kept, b);
    } else if (b->capture == capture) {
        if (capture)
            take_out(&captured, b);
        give_back(b, index);
    } else {
        free(b); // the graph frees the memory at its end
    }
}

// ---- captures -----------------------------------------------------------------------------------

static tern_status capture_begin(int index)
{
    const tern_status status = real->cuda->capture_begin(index);
    if (status == TERN_OK)
        capture = ++captures;
    return status;
}

static void *capture_end(int index, bool discard)
{
    for (; captured; captured = captured->next)
        free_in_order(captured, index);
    capture = 0;
    return real->cuda->capture_end(index, discard);
}

static void graph_free(void *graph)
{
    real->cuda->graph_free(graph);
    while (kept) {
        block *b = kept;
        kept = b->next;
        if (b->capture)
            free(b);
        else
            give_back(b, 0);
    }
}

// Beside what the plugin takes for itself.
static tern_status tell_memory(int index, tern_cuda_memory *out)
{
    uint64_t in_pool = 0, in_graphs = 0;
    cudaMemPool_t pool;
    const tern_status status = real->cuda->memory(index, out);
    if (status || cudaDeviceGetDefaultMemPool(&pool, index) != cudaSuccess)
        return status;
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &in_pool);
    cudaDeviceGetGraphMemAttribute(index, cudaGraphMemAttrReservedMemHigh, &in_graphs);
    out->reserved_peak += (int64_t)(in_pool + in_graphs);
    return TERN_OK;
}

// ---- the plugin ---------------------------------------------------------------------------------

static const tern_backend *wrapped(void)
{
    static tern_device_table device;
    static tern_cuda_table cuda;
    static tern_backend backend;
    device = *real->device;
    device.open = open_device;
    device.alloc = take;
    device.free = give;
    device.use = NULL;
    cuda = *real->cuda;
    cuda.memory = tell_memory;
    cuda.alloc_outside = take_outside;
    cuda.capture_begin = capture_begin;
    cuda.capture_end = capture_end;
    cuda.graph_free = graph_free;
    backend = (tern_backend){&device, real->kernels, &cuda};
    return &backend;
}

__attribute__((visibility("default"))) tern_plugin_entry tern_backend_v1;

// The other plugin is where the loader finds it for this one.
const tern_backend *tern_backend_v1(uint64_t abi, const tern_host_api *api)
{
    void *library = dlopen(WRAPPED, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, TERN_PLUGIN_ENTRY) : NULL;
    tern_plugin_entry *entry;
    memcpy(&entry, &symbol, sizeof entry);
    host = api;
    real = entry ? entry(abi, api) : NULL;
    return real && abi == TERN_ABI_HASH ? wrapped() : NULL;
}
