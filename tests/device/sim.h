// SPDX-License-Identifier: Apache-2.0
// The controls of the simulated device, found in the plugin that is loaded. On a real device there
// are none: sim_begin returns false, and what needs them is skipped.
#ifndef TERN_TESTS_DEVICE_SIM_H
#define TERN_TESTS_DEVICE_SIM_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "simcuda/include/simcuda.h"

static struct {
    void (*fail_nth)(enum tern_sim_call call, long n, int code);
    void (*fail_from)(enum tern_sim_call call, long n, int code);
    void (*fail_none)(void);
    void (*fail_any)(long n, enum tern_sim_failure failure);
    const char *(*failed)(void);
    long (*calls)(enum tern_sim_call call);
    void (*break_device)(int device, int code);
    void (*count)(tern_sim_counts *counts);
    void (*count_reset)(void);
    void (*trace_waits)(void);
    size_t (*waits)(tern_sim_wait *waits, size_t capacity);
    void (*set_memory)(int device, size_t bytes);
    void (*last_graph)(tern_sim_graph_shape *shape);
} sim;

static inline bool sim_find(void *plugin, const char *name, void *slot)
{
    void *symbol = dlsym(plugin, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol;
}

static inline bool sim_begin(void)
{
    const char *path = getenv("TERN_CUDA_PLUGIN");
    void *plugin = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    bool found = plugin && sim_find(plugin, "tern_sim_fail", &sim.fail_nth) &&
                 sim_find(plugin, "tern_sim_fail_from", &sim.fail_from) &&
                 sim_find(plugin, "tern_sim_fail_none", &sim.fail_none) &&
                 sim_find(plugin, "tern_sim_fail_any", &sim.fail_any) &&
                 sim_find(plugin, "tern_sim_failed", &sim.failed) &&
                 sim_find(plugin, "tern_sim_calls", &sim.calls) &&
                 sim_find(plugin, "tern_sim_break_device", &sim.break_device) &&
                 sim_find(plugin, "tern_sim_count", &sim.count) &&
                 sim_find(plugin, "tern_sim_count_reset", &sim.count_reset) &&
                 sim_find(plugin, "tern_sim_trace_waits", &sim.trace_waits) &&
                 sim_find(plugin, "tern_sim_waits", &sim.waits) &&
                 sim_find(plugin, "tern_sim_set_memory", &sim.set_memory) &&
                 sim_find(plugin, "tern_sim_last_graph", &sim.last_graph);
    if (plugin)
        dlclose(plugin);
    return found;
}

// Codes of the CUDA runtime.
enum { SIM_OUT_OF_MEMORY = 2, SIM_ILLEGAL_ADDRESS = 700, SIM_LAUNCH_FAILURE = 719 };

#endif
