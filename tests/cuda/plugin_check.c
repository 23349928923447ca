// SPDX-License-Identifier: Apache-2.0
#include "plugin_check.h"

#include <dlfcn.h>
#include "base/error.h"
#include "base/mem.h"
#include "device/abi.h"

plugin_check plugin;

static tern_status raise_from_plugin(tern_status code, const char *format, va_list words)
{
    char sentence[600];
    vsnprintf(sentence, sizeof sentence, format, words);
    return tern_error_raise(code, "%s", sentence);
}

static void log_from_plugin(tern_log_level level, const char *format, va_list words)
{
    (void)level;
    vprintf(format, words);
    putchar('\n');
}

static const tern_host_api host = {
    .error_raise = raise_from_plugin,
    .log = log_from_plugin,
    .mem_alloc = tern_mem_alloc,
    .mem_free = tern_mem_free,
};

static void *library;

// Functions come as object pointers; the caller says where to.
static void find(const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("%s\n", dlerror());
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

void open_plugin(void)
{
    const char *path = getenv("TERN_CUDA_PLUGIN");
    library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        printf("%s\n", path ? dlerror() : "TERN_CUDA_PLUGIN does not name the simulated plugin");
        exit(path ? 1 : 77);
    }
    plugin.host = &host;
    find(TERN_PLUGIN_ENTRY, &plugin.entry);
    const tern_backend *backend = plugin.entry(TERN_ABI_HASH, &host);
    if (!backend) {
        printf("the plugin belongs to another build\n");
        exit(1);
    }
    plugin.device = backend->device;
    plugin.kernels = backend->kernels;
    plugin.cuda = backend->cuda;
    find("tern_sim_fail", &plugin.fail_call);
    find("tern_sim_fail_from", &plugin.fail_from);
    find("tern_sim_fail_any", &plugin.fail_any);
    find("tern_sim_fail_none", &plugin.fail_none);
    find("tern_sim_calls", &plugin.calls);
    find("tern_sim_break_device", &plugin.break_device);
    find("tern_sim_count", &plugin.count);
    find("tern_sim_trace_waits", &plugin.trace_waits);
    find("tern_sim_waits", &plugin.waits);
    find("tern_sim_meddle", &plugin.meddle);
    find("tern_sim_set_memory", &plugin.set_memory);
}

int open_devices(void **state)
{
    (void)state;
    open_plugin();
    assert_true(plugin.device->count() >= 2);
    assert_int_equal(plugin.device->open(0, (tern_draw_state){.seed = 0}), TERN_OK);
    assert_int_equal(plugin.device->open(1, (tern_draw_state){.seed = 0}), TERN_OK);
    return 0;
}

piece take(int index, int64_t nbytes)
{
    piece taken = {.index = index, .nbytes = nbytes};
    taken.data = plugin.device->alloc(index, nbytes, &taken.block);
    assert_no_error();
    assert_non_null(taken.data);
    return taken;
}

void give(piece *taken)
{
    plugin.device->free(taken->index, taken->data, taken->nbytes, taken->block);
    *taken = (piece){0};
}

tern_exec exec_of(int index)
{
    return plugin.device->exec(index);
}

void fill(const piece *y, float value)
{
    const tern_exec exec = exec_of(y->index);
    const tern_strided view = {y->data, TERN_FLOAT32, 1, {y->nbytes / 4}, {1}};
    assert_int_equal(plugin.kernels->fill(&exec, &view, tern_scalar_double(value)), TERN_OK);
}

void copy(const piece *y, const piece *x)
{
    assert_int_equal(plugin.device->across(y->index, y->data, x->index, x->data, y->nbytes),
                     TERN_OK);
}

float first_of(const piece *x)
{
    float value = NAN;
    assert_int_equal(plugin.device->to_host(x->index, &value, x->data, sizeof value), TERN_OK);
    return value;
}

tern_cuda_memory memory_of(int index)
{
    tern_cuda_memory memory = {0};
    assert_int_equal(plugin.cuda->memory(index, &memory), TERN_OK);
    return memory;
}

tern_sim_counts counts(void)
{
    tern_sim_counts now;
    plugin.count(&now);
    return now;
}
