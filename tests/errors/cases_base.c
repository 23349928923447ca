// SPDX-License-Identifier: Apache-2.0
// base.h, error.h, device.h, memory.h, scope.h, threads.h and idx.h.
#include "errors.h"

// ---- base.h and error.h -------------------------------------------------------------------------

CANNOT_FAIL(tern_version, "a constant", strlen(tern_version()) >= 5)
CANNOT_FAIL(tern_shutdown, "frees what there is", 1 /* the fixture would end: R31 calls it */)
CANNOT_FAIL(tern_status_name, "any other number is \"unknown\"",
            strcmp(tern_status_name((tern_status)99), "unknown") == 0)
CANNOT_FAIL(tern_error_pending, "looks at the thread's error", !tern_error_pending())
CANNOT_FAIL(tern_error_code, "looks at the thread's error", tern_error_code() == TERN_OK)
CANNOT_FAIL(tern_error_message, "looks at the thread's error", !tern_error_message()[0])
CANNOT_FAIL(tern_error_location, "nothing is written where there is no room",
            !tern_error_location(NULL, 0))
CANNOT_FAIL(tern_error_print, "NULL stands for stderr; what cannot be written is lost",
            tern_error_print(NULL) == 0)
CANNOT_FAIL(tern_error_take, "NULL leaves the sentence out", tern_error_take(NULL, 0) == TERN_OK)
CANNOT_FAIL(tern_error_clear, "forgets the thread's error",
            (tern_error_clear(), !tern_error_pending()))
CANNOT_FAIL(tern_set_log, "NULL drops the lines", (tern_set_log(NULL, NULL), 1))
REFUSES(tern_error_raise, "TERN_OK: a failure does not read as a success", TERN_ERR_ARG,
        "an odd failure", tern_error_raise(TERN_OK, "an odd failure"))
REFUSES(tern_error_raise, "a code that does not exist", TERN_ERR_ARG, "an odd failure",
        tern_error_raise((tern_status)99, "an odd failure"))
TAKES(tern_error_take, "no buffer", tern_error_take(NULL, 0) == TERN_OK)
TAKES(tern_error_print, "NULL for the file", tern_error_print(NULL) == 0)

// ---- device.h -----------------------------------------------------------------------------------

CANNOT_FAIL(tern_cpu, "not checked: a call that is given it says so", tern_cpu(7).index == 7)
CANNOT_FAIL(tern_cuda, "not checked: a call that is given it says so",
            tern_cuda(7).type == TERN_CUDA)
CANNOT_FAIL(tern_device_best, "there is always a CPU",
            tern_device_count(tern_device_best().type) > 0)
CANNOT_FAIL(tern_device_string, "any value has a text, for messages",
            strcmp(tern_device_string(tern_cpu(1)), "cpu:1") == 0)
CANNOT_FAIL(tern_device_equal, "two values are compared",
            !tern_device_equal(tern_cpu(0), tern_cpu(1)))
CANNOT_FAIL(tern_device_count, "0 for a type that is not available",
            tern_device_count(TERN_CPU) == 2)
CANNOT_FAIL(tern_default_device, "looks at the thread's setting",
            tern_default_device().type == TERN_CPU)
TAKES(tern_device_string, "a device that cannot be",
      strlen(tern_device_string((tern_device){(tern_device_type)9, -4})) > 0)
TAKES(tern_device_count, "a type that cannot be", tern_device_count((tern_device_type)9) == 0)

static tern_device unread;
REFUSES(tern_device_parse, "text that is NULL", TERN_ERR_NULL, "device_parse: text is NULL",
        tern_device_parse(NULL, &unread))
REFUSES(tern_device_parse, "out that is NULL", TERN_ERR_NULL, "device_parse: out is NULL",
        tern_device_parse("cpu", NULL))
REFUSES(tern_device_parse, "another word", TERN_ERR_ARG, "device_parse: \"gpu\"|cpu:1|cuda:0",
        tern_device_parse("gpu", &unread))
REFUSES(tern_device_parse, "an index that is no number", TERN_ERR_ARG, "device_parse: \"cpu:one\"",
        tern_device_parse("cpu:one", &unread))
REFUSES(tern_device_parse, "an index with a sign", TERN_ERR_ARG, "device_parse: \"cpu:-1\"",
        tern_device_parse("cpu:-1", &unread))
REFUSES(tern_device_parse, "an empty text", TERN_ERR_ARG, "device_parse: \"\"",
        tern_device_parse("", &unread))
REFUSES(tern_device_parse, "a CPU that there is not", TERN_ERR_DEVICE,
        "device_parse: |cpu:2|2 of its kind", tern_device_parse("cpu:2", &unread))
REFUSES(tern_device_parse, "CUDA where there is none", TERN_ERR_DEVICE, "device_parse: |cuda:0",
        tern_device_parse("cuda", &unread))
REFUSES(tern_set_default_device, "a device that does not exist", TERN_ERR_DEVICE,
        "set_default_device: |cpu:7", tern_set_default_device(tern_cpu(7)))
REFUSES(tern_set_default_device, "the device that stands for the default", TERN_ERR_ARG,
        "set_default_device: |unspecified", tern_set_default_device((tern_device){0}))
REFUSES(tern_set_default_device, "a type that does not exist", TERN_ERR_DEVICE,
        "set_default_device: ", tern_set_default_device((tern_device){(tern_device_type)9, 0}))
REFUSES(tern_synchronize, "a device that does not exist", TERN_ERR_DEVICE, "synchronize: |cpu:2",
        tern_synchronize(tern_cpu(2)))

// ---- memory.h -----------------------------------------------------------------------------------

static void *no_memory(size_t nbytes, size_t align, void *user)
{
    (void)nbytes;
    (void)align;
    (void)user;
    return NULL;
}

static void no_free(void *memory, size_t nbytes, void *user)
{
    (void)memory;
    (void)nbytes;
    (void)user;
}

CANNOT_FAIL(tern_memory_live_bytes, "looks at a number", tern_memory_live_bytes() > 0)
CANNOT_FAIL(tern_memory_cached_bytes, "looks at a number", tern_memory_cached_bytes() >= 0)
CANNOT_FAIL(tern_memory_trim, "frees what there is", (tern_memory_trim(), 1))
REFUSES(tern_set_allocator, "an allocator without alloc", TERN_ERR_NULL, "set_allocator: |alloc",
        tern_set_allocator(&(tern_allocator){NULL, no_free, NULL}))
REFUSES(tern_set_allocator, "an allocator without free", TERN_ERR_NULL, "set_allocator: |free",
        tern_set_allocator(&(tern_allocator){no_memory, NULL, NULL}))
REFUSES(tern_set_allocator, "another one while memory is in use", TERN_ERR_STATE,
        "set_allocator: |bytes|tern_shutdown",
        tern_set_allocator(&(tern_allocator){no_memory, no_free, NULL}))

// ---- scope.h ------------------------------------------------------------------------------------

CANNOT_FAIL(tern_scope_open, "only without memory, which the suite fault looks at",
            tern_scope_open() != 0)
CANNOT_FAIL(tern_scope_close, "closing nothing does nothing",
            (tern_scope_close(tern_scope_open()), 1))
CANNOT_FAIL(tern_live_tensors, "looks at a number", tern_live_tensors() > 0)
TAKES(tern_scope_close, "0 and a scope that is closed",
      (tern_scope_close(0), tern_scope_close(99999), 1))
TAKES(tern_scope_close_keep, "NULL", tern_scope_close_keep(tern_scope_open(), NULL) == NULL)
REFUSES(tern_scope_close_keep, "a tensor that died, without a scope", TERN_ERR_STATE,
        "scope_close_keep: t (float32 (2, 3)|died", tern_scope_close_keep(0, f->dead))
TAKES(tern_release, "NULL", (tern_release(NULL), 1))
REFUSES(tern_scope_close_keep, "a tensor that died", TERN_ERR_STATE,
        "scope_close_keep: t (float32 (2, 3)|died",
        tern_scope_close_keep(tern_scope_open(), f->dead))
NULL_AND_DEAD(tern_retain, "retain", "t", tern_retain(NULL), tern_retain(f->dead))
REFUSES(tern_release, "a tensor that died", TERN_ERR_STATE, "release: t (float32 (2, 3)|died",
        (tern_release(f->dead), 1))
REFUSES(tern_release, "one release too many", TERN_ERR_STATE,
        "release: t (float32 (2, 3)|made by|more often than retained", (tern_release(f->x), 1))
REFUSES(tern_assign, "a slot that is NULL", TERN_ERR_NULL, "assign: slot is NULL",
        tern_assign(NULL, f->x))
REFUSES(tern_assign, "a tensor that died", TERN_ERR_STATE, "assign: t (float32 (2, 3)|died",
        tern_assign(&f->out[0], f->dead) == NULL && f->out[0] == NULL)

// ---- threads.h ----------------------------------------------------------------------------------

CANNOT_FAIL(tern_num_threads, "looks at a number", tern_num_threads() > 0)
REFUSES(tern_set_num_threads, "no threads", TERN_ERR_ARG, "set_num_threads: |0|1 to 256",
        tern_set_num_threads(0))
REFUSES(tern_set_num_threads, "too many threads", TERN_ERR_ARG, "set_num_threads: |257|256",
        tern_set_num_threads(257))

// ---- idx.h --------------------------------------------------------------------------------------

REFUSES(tern_idx_read, "a path that is NULL", TERN_ERR_NULL, "idx_read: path is NULL",
        tern_idx_read(NULL))
REFUSES(tern_idx_read, "a file that is not there", TERN_ERR_IO, "idx_read: |/nowhere/at-all",
        tern_idx_read("/nowhere/at-all"))
REFUSES(tern_idx_read, "a directory", TERN_ERR_IO, "idx_read: / is a directory", tern_idx_read("/"))
REFUSES(tern_idx_read, "a device file", TERN_ERR_IO, "idx_read: |/dev/null",
        tern_idx_read("/dev/null"))
REFUSES(tern_idx_read, "a file of another format", TERN_ERR_FORMAT, "idx_read: |" __FILE_NAME__,
        tern_idx_read(__FILE__))
