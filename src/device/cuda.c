// SPDX-License-Identifier: Apache-2.0
// The functions of <tern/cuda.h> about devices and memory: check, then ask the backend.
#include <math.h>
#include <stdlib.h>
#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/text.h"
#include "device/draws.h"
#include "device/fault.h"
#include "device/generator.h"
#include "device/plugin.h"

bool tern_cuda_is_available(void)
{
    return tern_cuda_backend() != NULL;
}

int tern_cuda_device_count(void)
{
    return tern_device_count(TERN_CUDA);
}

// The backend's own table, after `*index` was made that of a device that exists; NULL raises.
static const tern_cuda_table *find_table(const char *op, int *index)
{
    tern_device device = tern_cuda(*index);
    if (tern_fork_check() || tern_device_find(op, &device))
        return NULL;
    *index = device.index;
    return tern_cuda_backend()->cuda;
}

// The same, and the device is open.
static const tern_cuda_table *table_for(const char *op, int *index)
{
    const tern_cuda_table *table = find_table(op, index);
    return table && !tern_device_open(tern_cuda(*index)) ? table : NULL;
}

tern_status tern_cuda_get_properties(int index, tern_cuda_properties *out)
{
    if (!out)
        return tern_null_error("cuda_get_properties", "out");
    const tern_cuda_table *table = find_table("cuda_get_properties", &index);
    return table ? table->properties(index, out) : tern_error_code();
}

void tern_cuda_allow_tf32(bool allow)
{
    if (tern_cuda_is_available())
        tern_cuda_backend()->cuda->allow_tf32(allow);
}

// ---- memory -------------------------------------------------------------------------------------

tern_status tern_cuda_get_memory(int index, tern_cuda_memory *out)
{
    if (!out)
        return tern_null_error("cuda_get_memory", "out");
    const tern_cuda_table *table = find_table("cuda_get_memory", &index);
    if (!table)
        return tern_error_code();
    return tern_device_is_open(tern_cuda(index)) ? table->memory(index, out)
                                                 : table->memory_unopened(index, out);
}

tern_status tern_cuda_reset_peak_memory(int index)
{
    const tern_cuda_table *table = table_for("cuda_reset_peak_memory", &index);
    if (!table)
        return tern_error_code();
    table->reset_peak(index);
    return TERN_OK;
}

tern_status tern_cuda_empty_cache(int index)
{
    const tern_cuda_table *table = table_for("cuda_empty_cache", &index);
    return table ? table->empty_cache(index) : tern_error_code();
}

static double mebibytes(int64_t nbytes)
{
    return (double)nbytes / (1 << 20);
}

#define MAX_BLOCKS 8

static tern_status write_memory(const char *op, int index, tern_writer *writer)
{
    tern_cuda_memory memory;
    int64_t biggest[MAX_BLOCKS];
    const tern_cuda_table *table = table_for(op, &index);
    TERN_TRY(table ? table->memory(index, &memory) : tern_error_code());
    int blocks = table->biggest(index, biggest, MAX_BLOCKS), cancel_state = tern_cancel_disable();
    tern_write(writer,
               "cuda:%d memory in MiB: allocated %.2f (peak %.2f), reserved %.2f (peak %.2f), "
               "free on the device %.2f of %.2f\n",
               index, mebibytes(memory.allocated), mebibytes(memory.allocated_peak),
               mebibytes(memory.reserved), mebibytes(memory.reserved_peak), mebibytes(memory.free),
               mebibytes(memory.total));
    tern_write(writer, "  taken from the device %lld times; biggest blocks:",
               (long long)memory.device_allocs);
    for (int i = 0; i < blocks; i++)
        tern_write(writer, " %.2f", mebibytes(biggest[i]));
    tern_write(writer, blocks ? "\n" : " none\n");
    tern_cancel_restore(cancel_state);
    return TERN_OK;
}

tern_status tern_cuda_memory_print(int index, FILE *out)
{
    if (!out)
        return tern_null_error("cuda_memory_print", "out");
    return write_memory("cuda_memory_print", index, &(tern_writer){.file = out});
}

int64_t tern_cuda_memory_format(int index, char *buffer, size_t size)
{
    tern_writer writer = {.buffer = buffer, .size = size};
    if (!buffer && size > 0) {
        tern_null_error("cuda_memory_format", "buffer");
        return -1;
    }
    return write_memory("cuda_memory_format", index, &writer) ? -1 : writer.length;
}

void tern_cuda_shutdown(void)
{
    for (int i = 0; i < TERN_MAX_DEVICES; i++)
        tern_device_close(tern_cuda(i));
}

// ---- devices by free memory ---------------------------------------------------------------------

typedef struct free_memory {
    int index;
    int64_t nbytes;
} free_memory;

// Most free memory first; of equals the lower index.
static int compare_free(const void *a, const void *b)
{
    const free_memory *x = a, *y = b;
    if (x->nbytes != y->nbytes)
        return x->nbytes < y->nbytes ? 1 : -1;
    return x->index - y->index;
}

// Less than any device has for one that cannot be asked: its place says so, not an error.
static int64_t query_free(int index)
{
    const bool pending = tern_error_pending();
    tern_cuda_memory memory;
    tern_error_delay();
    bool known = !tern_cuda_get_memory(index, &memory);
    if (!known && !pending)
        tern_error_clear();
    tern_error_report();
    return known ? memory.free : -1;
}

tern_status tern_cuda_devices_by_free_memory(tern_device *out, int capacity)
{
    free_memory list[TERN_MAX_DEVICES];
    if (!out)
        return tern_null_error("cuda_devices_by_free_memory", "out");
    TERN_TRY(tern_fork_check());
    int count = tern_cuda_device_count();
    for (int i = 0; i < count; i++)
        list[i] = (free_memory){i, query_free(i)};
    qsort(list, (size_t)count, sizeof *list, compare_free);
    for (int i = 0; i < count && i < capacity; i++)
        out[i] = tern_cuda(list[i].index);
    return TERN_OK;
}

// ---- streams and events -------------------------------------------------------------------------

static const tern_cuda_table *cuda_table(void)
{
    return tern_cuda_backend()->cuda;
}

tern_cuda_stream *tern_cuda_stream_new(int index)
{
    const tern_cuda_table *table = table_for("cuda_stream_new", &index);
    return table ? table->stream_new(index) : NULL;
}

void tern_cuda_stream_free(tern_cuda_stream *stream)
{
    if (stream)
        cuda_table()->stream_free(stream);
}

tern_cuda_stream *tern_cuda_stream_set(int index, tern_cuda_stream *stream)
{
    const tern_cuda_table *table = table_for("cuda_stream_set", &index);
    if (!table)
        return NULL;
    if (stream)
        index = table->stream_index(stream);
    return table->stream_set(index, stream);
}

tern_status tern_cuda_stream_synchronize(tern_cuda_stream *stream)
{
    if (!stream)
        return tern_null_error("cuda_stream_synchronize", "stream");
    TERN_TRY(cuda_table()->stream_synchronize(stream));
    return tern_fault_poll(tern_cuda(cuda_table()->stream_index(stream)));
}

tern_cuda_event *tern_cuda_event_new(int index)
{
    const tern_cuda_table *table = table_for("cuda_event_new", &index);
    return table ? table->event_new(index) : NULL;
}

void tern_cuda_event_free(tern_cuda_event *event)
{
    if (event)
        cuda_table()->event_free(event);
}

tern_status tern_cuda_event_record(tern_cuda_event *event)
{
    if (!event)
        return tern_null_error("cuda_event_record", "event");
    return cuda_table()->event_record(event);
}

tern_status tern_cuda_event_wait(tern_cuda_event *event, int index)
{
    if (!event)
        return tern_null_error("cuda_event_wait", "event");
    const tern_cuda_table *table = table_for("cuda_event_wait", &index);
    return table ? table->event_wait(event, index) : tern_error_code();
}

tern_status tern_cuda_event_synchronize(tern_cuda_event *event)
{
    if (!event)
        return tern_null_error("cuda_event_synchronize", "event");
    return cuda_table()->event_synchronize(event);
}

double tern_cuda_event_elapsed(tern_cuda_event *start, tern_cuda_event *end)
{
    if (!start || !end) {
        tern_null_error("cuda_event_elapsed", start ? "end" : "start");
        return NAN;
    }
    return cuda_table()->event_elapsed(start, end);
}
