// SPDX-License-Identifier: Apache-2.0
// Memory and order of the CPU devices: host memory, and everything is done when a call returns.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/error.h"
#include "cpu/backend.h"

#define MAX_DEVICES 64

static pthread_once_t count_once = PTHREAD_ONCE_INIT;
static int device_count = 1;

static void read_count(void)
{
    const char *text = getenv("TERN_CPU_DEVICES");
    if (!text || !*text)
        return;
    char *end;
    long count = strtol(text, &end, 10);
    if (*end == '\0' && count >= 1 && count <= MAX_DEVICES)
        device_count = (int)count;
    else
        tern_log_send(TERN_LOG_WARN, "TERN_CPU_DEVICES=%s is not a number from 1 to %d; using 1",
                      text, MAX_DEVICES);
}

static int cpu_count(void)
{
    pthread_once(&count_once, read_count);
    return device_count;
}

static void *cpu_alloc(int index, int64_t nbytes)
{
    (void)index;
    return tern_cache_alloc((size_t)nbytes);
}

static void cpu_free(int index, void *data, int64_t nbytes)
{
    (void)index;
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

static void *cpu_stream(int index)
{
    (void)index;
    return NULL;
}

const tern_device_table tern_cpu_device_table = {
    .name = "cpu",
    .count = cpu_count,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .to_device = cpu_to_device,
    .to_host = cpu_to_host,
    .across = cpu_across,
    .synchronize = cpu_synchronize,
    .stream = cpu_stream,
};
