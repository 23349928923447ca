// SPDX-License-Identifier: Apache-2.0
// The tables of the CUDA backend, and the one symbol that the plugin exports.
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/table.h"
#include "cuda/kernels.h"
#include "device/abi.h"

// ---- tables -------------------------------------------------------------------------------------

static const tern_device_table devices = {
    .name = "cuda",
    .count = tern_plugin_count,
    .open = tern_plugin_open,
    .close = tern_plugin_close,
    .alloc = tern_plugin_alloc,
    .free = tern_plugin_free,
    .use = tern_plugin_use,
    .to_device = tern_plugin_to_device,
    .to_host = tern_plugin_to_host,
    .across = tern_plugin_across,
    .synchronize = tern_plugin_synchronize,
    .exec = tern_plugin_exec,
    .fault_seen = tern_plugin_fault_seen,
    .fault_publish = tern_plugin_fault_publish,
    .fault_read = tern_plugin_fault_read,
    .fault_clear = tern_plugin_fault_clear,
    .draws_write = tern_plugin_draws_write,
    .draws_advance = tern_plugin_draws_advance,
    .draws_read = tern_plugin_draws_read,
};

static const tern_cuda_table cuda = {
    .reason = tern_plugin_reason,
    .properties = tern_plugin_properties,
    .memory = tern_plugin_memory,
    .memory_unopened = tern_plugin_memory_unopened,
    .reset_peak = tern_plugin_reset_peak,
    .empty_cache = tern_plugin_empty_cache,
    .biggest = tern_plugin_biggest,
    .allow_tf32 = tern_plugin_allow_tf32,
    .pinned_alloc = tern_plugin_pinned_alloc,
    .pinned_free = tern_plugin_pinned_free,
    .pinned_to_device = tern_plugin_pinned_to_device,
    .pinned_to_host = tern_plugin_pinned_to_host,
    .stream_new = tern_plugin_stream_new,
    .stream_free = tern_plugin_stream_free,
    .stream_set = tern_plugin_stream_set,
    .stream_index = tern_plugin_stream_index,
    .stream_synchronize = tern_plugin_stream_synchronize,
    .event_new = tern_plugin_event_new,
    .event_free = tern_plugin_event_free,
    .event_record = tern_plugin_event_record,
    .event_wait = tern_plugin_event_wait,
    .event_synchronize = tern_plugin_event_synchronize,
    .event_elapsed = tern_plugin_event_elapsed,
    .capturing = tern_plugin_capturing,
    .alloc_outside = tern_plugin_alloc_outside,
    .capture_begin = tern_plugin_capture_begin,
    .capture_end = tern_plugin_capture_end,
    .graph_launch = tern_plugin_graph_launch,
    .graph_free = tern_plugin_graph_free,
};

#define SLOT(slot) .slot = tern_cuda_##slot,
static const tern_kernels kernels = {.name = "cuda", TERN_KERNELS(SLOT)};

const tern_backend tern_plugin_backend = {
    .device = &devices,
    .kernels = &kernels,
    .cuda = &cuda,
};

// ---- the plugin ---------------------------------------------------------------------------------

// Functions of src/base, which call the core's.
static const tern_host_api *host;

__attribute__((visibility("default"))) tern_plugin_entry tern_backend_v1;

const tern_backend *tern_backend_v1(uint64_t abi, const tern_host_api *api)
{
    if (abi != TERN_ABI_HASH || !api)
        return NULL;
    host = api;
    return &tern_plugin_backend;
}

tern_status tern_error_raise(tern_status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tern_status raised = host->error_raise(code, format, arguments);
    va_end(arguments);
    return raised;
}

void tern_log_send(tern_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    host->log(level, format, arguments);
    va_end(arguments);
}

void *tern_mem_alloc(size_t nbytes)
{
    return host->mem_alloc(nbytes);
}

void tern_mem_free(void *memory, size_t nbytes)
{
    if (memory)
        host->mem_free(memory, nbytes);
}
