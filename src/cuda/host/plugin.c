// SPDX-License-Identifier: Apache-2.0
// The plugin's one exported symbol, and names of src/base that the core answers.
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/table.h"
#include "device/abi.h"

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
    va_list words;
    va_start(words, format);
    tern_status raised = host->error_raise(code, format, words);
    va_end(words);
    return raised;
}

void tern_log_send(tern_log_level level, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    host->log(level, format, words);
    va_end(words);
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
