// SPDX-License-Identifier: Apache-2.0
// cuda.h, on a machine without a CUDA device: the environment of these tests hides every one.
#include "errors.h"

// ---- devices ------------------------------------------------------------------------------------

CANNOT_FAIL(tern_cuda_is_available, "false without a device", !tern_cuda_is_available())
CANNOT_FAIL(tern_cuda_reason, "there is always a sentence", strlen(tern_cuda_reason()) > 10)
CANNOT_FAIL(tern_cuda_device_count, "0 without a device", tern_cuda_device_count() == 0)
CANNOT_FAIL(tern_cuda_current_device, "looks at the thread's setting",
            tern_cuda_current_device() == 0)
CANNOT_FAIL(tern_cuda_manual_seed, "nothing is seeded where there is no device",
            (tern_cuda_manual_seed(1), 1))
CANNOT_FAIL(tern_cuda_manual_seed_all, "nothing is seeded where there is no device",
            (tern_cuda_manual_seed_all(1), 1))
CANNOT_FAIL(tern_cuda_allow_tf32, "nothing is set where there is no device",
            (tern_cuda_allow_tf32(true), 1))

#define NO_DEVICE(name, call, when, index, named)                                                  \
    REFUSES(tern_##name, when, TERN_ERR_DEVICE, #name ": there is no " named ": ", call(index))
// The current device where there is none, an index that there is not, and one that cannot be.
#define NEEDS_A_DEVICE(name, call)                                                                 \
    NO_DEVICE(name, call, "the current device, where there is none", -1, "cuda:0")                 \
    NO_DEVICE(name, call, "a device that there is not", 3, "cuda:3")                               \
    NO_DEVICE(name, call, "a negative index", -2, "cuda:-2")

static tern_cuda_properties properties = {.major = 7};
static tern_cuda_memory memory = {.total = 7};
static tern_device listed;

#define PROPERTIES(index)    tern_cuda_get_properties(index, &properties)
#define MEMORY(index)        tern_cuda_get_memory(index, &memory)
#define PRINT_MEMORY(index)  tern_cuda_memory_print(index, stdout)
#define FORMAT_MEMORY(index) (tern_cuda_memory_format(index, NULL, 0) == -1)
#define SET_STREAM(index)    tern_cuda_stream_set(index, NULL)

NEEDS_A_DEVICE(cuda_get_properties, PROPERTIES)
NEEDS_A_DEVICE(cuda_set_device, tern_cuda_set_device)
NEEDS_A_DEVICE(cuda_get_memory, MEMORY)
NEEDS_A_DEVICE(cuda_reset_peak_memory, tern_cuda_reset_peak_memory)
NEEDS_A_DEVICE(cuda_empty_cache, tern_cuda_empty_cache)
NEEDS_A_DEVICE(cuda_memory_print, PRINT_MEMORY)
NEEDS_A_DEVICE(cuda_memory_format, FORMAT_MEMORY)
NEEDS_A_DEVICE(cuda_stream_new, tern_cuda_stream_new)
NEEDS_A_DEVICE(cuda_stream_set, SET_STREAM)
NEEDS_A_DEVICE(cuda_event_new, tern_cuda_event_new)
NEEDS_A_DEVICE(cuda_graph_begin, tern_cuda_graph_begin)

REFUSES(tern_cuda_get_properties, "out that is NULL", TERN_ERR_NULL,
        "cuda_get_properties: out is NULL", tern_cuda_get_properties(0, NULL))
REFUSES(tern_cuda_get_memory, "out that is NULL", TERN_ERR_NULL, "cuda_get_memory: out is NULL",
        tern_cuda_get_memory(0, NULL))
REFUSES(tern_cuda_memory_print, "out that is NULL", TERN_ERR_NULL, "cuda_memory_print: out is NULL",
        tern_cuda_memory_print(0, NULL))
REFUSES(tern_cuda_memory_format, "a buffer that is NULL", TERN_ERR_NULL,
        "cuda_memory_format: buffer is NULL", tern_cuda_memory_format(0, NULL, 64) == -1)
REFUSES(tern_cuda_devices_by_free_memory, "out that is NULL", TERN_ERR_NULL,
        "cuda_devices_by_free_memory: out is NULL", tern_cuda_devices_by_free_memory(NULL, 1))
TAKES(tern_cuda_devices_by_free_memory, "a machine without a device: out is left alone",
      (listed = tern_cpu(5), tern_cuda_devices_by_free_memory(&listed, 1) == TERN_OK &&
                                 tern_device_equal(listed, tern_cpu(5))))

static int leaves_out_alone_and_says_the_reason(void)
{
    int same = tern_cuda_get_properties(0, &properties) == TERN_ERR_DEVICE &&
               properties.major == 7 && tern_cuda_get_memory(0, &memory) == TERN_ERR_DEVICE &&
               memory.total == 7 && strstr(tern_error_message(), tern_cuda_reason()) != NULL;
    tern_error_clear();
    return same;
}

TAKES(tern_cuda_reason, "its words in the sentence about a missing device",
      leaves_out_alone_and_says_the_reason())

// ---- device.h -----------------------------------------------------------------------------------

static int only_the_cpu(void)
{
    tern_device out[2] = {tern_cpu(5), tern_cpu(5)};
    int count = tern_try_all_gpus(out, 2);
    return count == 1 && tern_device_equal(out[0], tern_cpu(0)) &&
           tern_device_equal(out[1], tern_cpu(5));
}

CANNOT_FAIL(tern_try_gpu, "the CPU stands for a GPU that there is not",
            tern_device_equal(tern_try_gpu(0), tern_cpu(0)))
CANNOT_FAIL(tern_try_all_gpus, "the CPU stands for GPUs that there are not", only_the_cpu())
TAKES(tern_try_gpu, "an index that cannot be", tern_device_equal(tern_try_gpu(-1), tern_cpu(0)))
TAKES(tern_try_all_gpus, "NULL, to ask how many there are", tern_try_all_gpus(NULL, 0) == 1)
REFUSES(tern_device_guard_open_, "a device that does not exist", TERN_ERR_DEVICE,
        "set_default_device: |cpu:7", !tern_device_guard_open_(tern_cpu(7)).open)
CANNOT_FAIL(tern_device_guard_close_, "sets back what was",
            (tern_device_guard_close_(&(tern_device_guard_){.before = tern_cpu(0)}), 1))

static int runs_of_the_block(tern_device device)
{
    int runs = 0;
    tern_with_device(device) runs++;
    return runs;
}

REFUSES(tern_device_guard_open_, "a block on a device that does not exist", TERN_ERR_DEVICE,
        "set_default_device: |cpu:7", runs_of_the_block(tern_cpu(7)) == 0)
TAKES(tern_device_guard_open_, "a block on a device, and the default is as before",
      runs_of_the_block(tern_cpu(1)) == 1 && tern_device_equal(tern_default_device(), tern_cpu(0)))

// ---- pinned memory ------------------------------------------------------------------------------

#define TO_CPU_1(t) tern_to_non_blocking(t, tern_cpu(1))

NULL_AND_DEAD(tern_is_pinned, "is_pinned", "t", !tern_is_pinned(NULL), !tern_is_pinned(f->dead))
NULL_AND_DEAD(tern_to_non_blocking, "to_non_blocking", "t", TO_CPU_1(NULL), TO_CPU_1(f->dead))
REFUSES(tern_pin_memory, "a machine without a CUDA device", TERN_ERR_DEVICE,
        "pin_memory: there is no CUDA device: ", tern_pin_memory(f->x))
REFUSES(tern_to_non_blocking, "CUDA where there is none", TERN_ERR_DEVICE,
        "to_non_blocking: there is no cuda:0: ", tern_to_non_blocking(f->x, tern_cuda(0)))
REFUSES(tern_to_non_blocking, "a device that does not exist", TERN_ERR_DEVICE,
        "to_non_blocking: there is no device cpu:2", tern_to_non_blocking(f->x, tern_cpu(2)))
TAKES(tern_is_pinned, "memory that is not page-locked", !tern_is_pinned(f->x))

// ---- streams, events and graphs -----------------------------------------------------------------

// Without a device there are no streams, events and graphs but NULL.
CANNOT_FAIL(tern_cuda_stream_free, "NULL is fine", (tern_cuda_stream_free(NULL), 1))
CANNOT_FAIL(tern_cuda_event_free, "NULL is fine", (tern_cuda_event_free(NULL), 1))
CANNOT_FAIL(tern_cuda_graph_free, "NULL is fine", (tern_cuda_graph_free(NULL), 1))
REFUSES(tern_cuda_stream_synchronize, "a stream that is NULL", TERN_ERR_NULL,
        "cuda_stream_synchronize: stream is NULL", tern_cuda_stream_synchronize(NULL))
REFUSES(tern_cuda_event_record, "an event that is NULL", TERN_ERR_NULL,
        "cuda_event_record: event is NULL", tern_cuda_event_record(NULL))
REFUSES(tern_cuda_event_wait, "an event that is NULL", TERN_ERR_NULL,
        "cuda_event_wait: event is NULL", tern_cuda_event_wait(NULL, 0))
REFUSES(tern_cuda_event_synchronize, "an event that is NULL", TERN_ERR_NULL,
        "cuda_event_synchronize: event is NULL", tern_cuda_event_synchronize(NULL))
REFUSES(tern_cuda_event_elapsed, "events that are NULL", TERN_ERR_NULL,
        "cuda_event_elapsed: start is NULL", isnan(tern_cuda_event_elapsed(NULL, NULL)) != 0)
REFUSES(tern_cuda_graph_replay, "a graph that is NULL", TERN_ERR_NULL,
        "cuda_graph_replay: graph is NULL", tern_cuda_graph_replay(NULL))
REFUSES(tern_cuda_graph_end, "the end of what was not begun", TERN_ERR_STATE,
        "cuda_graph_end: this thread captures nothing", tern_cuda_graph_end())
