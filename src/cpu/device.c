// SPDX-License-Identifier: Apache-2.0
// Memory and order of the CPU devices: host memory, and everything is done when a call returns.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/error.h"
#include "base/text.h"
#include "cpu/backend.h"

static pthread_once_t count_once = PTHREAD_ONCE_INIT;
static int device_count = 1;

static void read_count(void)
{
    const char *text = secure_getenv("TERN_CPU_DEVICES");
    if (!text || !*text)
        return;
    int count = tern_text_count(text, TERN_MAX_DEVICES);
    if (count > 0)
        device_count = count;
    else
        tern_log_send(TERN_LOG_WARN, "TERN_CPU_DEVICES is '%s', not a number from 1 to %d: ignored",
                      text, TERN_MAX_DEVICES);
}

static int cpu_count(void)
{
    pthread_once(&count_once, read_count);
    return device_count;
}

static void *cpu_alloc(int index, int64_t nbytes, void **block)
{
    (void)index;
    *block = NULL;
    return tern_cache_alloc((size_t)nbytes);
}

static void cpu_free(int index, void *data, int64_t nbytes, void *block)
{
    (void)index;
    (void)block;
    tern_cache_free(data, (size_t)nbytes);
}

static tern_status copy_bytes(void *to, const void *from, int64_t nbytes)
{
    if (nbytes > 0)
        memcpy(to, from, (size_t)nbytes);
    return TERN_OK;
}

static tern_status cpu_to_device(int index, void *data, const void *host, int64_t nbytes)
{
    (void)index;
    return copy_bytes(data, host, nbytes);
}

static tern_status cpu_to_host(int index, void *host, const void *data, int64_t nbytes)
{
    (void)index;
    return copy_bytes(host, data, nbytes);
}

static tern_status cpu_across(int to, void *data, int from, const void *source, int64_t nbytes)
{
    (void)to;
    (void)from;
    return copy_bytes(data, source, nbytes);
}

static tern_status cpu_synchronize(int index)
{
    (void)index;
    return TERN_OK;
}

// ---- state for kernels --------------------------------------------------------------------------

// Kernels write the fault; the draws are written here, while kernels of other threads may read.
static struct device_state {
    tern_fault fault;
    tern_draw_state draws;
} states[TERN_MAX_DEVICES];

static tern_exec cpu_exec(int index)
{
    return (tern_exec){
        .device = {TERN_CPU, index}, .fault = &states[index].fault, .draws = &states[index].draws};
}

static bool cpu_fault_seen(int index)
{
    return __atomic_load_n(&states[index].fault.set, __ATOMIC_ACQUIRE);
}

static void cpu_fault_publish(int index)
{
    (void)index;
}

static tern_status cpu_fault_read(int index, tern_fault *fault)
{
    *fault = states[index].fault;
    return TERN_OK;
}

static void cpu_fault_clear(int index)
{
    tern_fault *fault = &states[index].fault;
    fault->element = fault->value = 0;
    __atomic_store_n(&fault->set, 0, __ATOMIC_RELEASE);
}

static tern_status cpu_draws_write(int index, tern_draw_state state)
{
    tern_draw_state *draws = &states[index].draws;
    __atomic_store_n(&draws->seed, state.seed, __ATOMIC_RELAXED);
    __atomic_store_n(&draws->base, state.base, __ATOMIC_RELAXED);
    return TERN_OK;
}

static tern_status cpu_draws_advance(int index, uint64_t count)
{
    __atomic_fetch_add(&states[index].draws.base, count, __ATOMIC_RELAXED);
    return TERN_OK;
}

static tern_status cpu_draws_read(int index, tern_draw_state *state)
{
    *state = states[index].draws;
    return TERN_OK;
}

const tern_device_table tern_cpu_device_table = {
    .name = "cpu",
    .count = cpu_count,
    .open = cpu_draws_write,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .to_device = cpu_to_device,
    .to_host = cpu_to_host,
    .across = cpu_across,
    .synchronize = cpu_synchronize,
    .exec = cpu_exec,
    .fault_seen = cpu_fault_seen,
    .fault_publish = cpu_fault_publish,
    .fault_read = cpu_fault_read,
    .fault_clear = cpu_fault_clear,
    .draws_write = cpu_draws_write,
    .draws_advance = cpu_draws_advance,
    .draws_read = cpu_draws_read,
};
