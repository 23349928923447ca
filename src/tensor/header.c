// SPDX-License-Identifier: Apache-2.0
#include "tensor/header.h"

#include <stdio.h>
#include <string.h>
#include "base/fork.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "base/poison.h"
#include "device/capture.h"
#include "device/dtype.h"
#include "tensor/node.h"
#include "tensor/scope.h"

#define BLOCK_HEADERS 4096 // also how many tensors die before a header is used again

typedef struct header_block {
    struct header_block *next;
    tern_tensor header[BLOCK_HEADERS];
} header_block;

// Everything below is under the lock. capacity == fresh + live + those in the free list.
static tern_mutex lock = TERN_MUTEX_INITIALIZER;
static header_block *blocks;
static int64_t fresh; // headers of the newest block, at its end, that were never used
static tern_tensor *free_first, *free_last;
static int64_t capacity;
static int64_t live;

// The fields of a live tensor. An access to those of a dead one is a fault of the library's own.
static void *live_part(tern_tensor *t)
{
    return &t->numel;
}

#define LIVE_PART_BYTES (sizeof(tern_tensor) - offsetof(tern_tensor, numel))

// Headers that were never used go to the free list: there are some only at the first allocation,
// which takes two blocks, so as to have more than BLOCK_HEADERS headers beyond the live ones.
__attribute__((noinline)) static tern_status add_block(void)
{
    tern_mutex_share(&lock); // the user's allocator may do anything
    header_block *block = tern_mem_try(sizeof *block);
    if (!block)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < fresh; i++) {
        tern_tensor *t = &blocks->header[BLOCK_HEADERS - fresh + i];
        t->next_free = free_first;
        free_first = t;
        if (!free_last)
            free_last = t;
    }
    block->next = blocks;
    blocks = block;
    fresh = BLOCK_HEADERS;
    capacity += BLOCK_HEADERS;
    return TERN_OK;
}

// The free list is as long as its headers have left the nearer caches when their turn comes: the
// next one is on its way while this one is used.
static void prefetch(const tern_tensor *t)
{
    for (size_t byte = 0; t && byte < sizeof *t; byte += TERN_CACHE_LINE)
        __builtin_prefetch((const char *)t + byte, 1);
}

static tern_tensor *allocate_header(void)
{
    while (live + 1 + BLOCK_HEADERS > capacity)
        if (add_block())
            return NULL;
    live++;
    if (fresh > 0)
        return &blocks->header[BLOCK_HEADERS - fresh--];
    tern_tensor *t = free_first;
    free_first = t->next_free;
    if (!free_first)
        free_last = NULL;
    prefetch(free_first);
    return t;
}

tern_tensor *tern_header_new(const char *op)
{
    if (tern_fork_check())
        return NULL;
    tern_mutex_lock(&lock);
    tern_tensor *t = allocate_header();
    tern_mutex_unlock(&lock);
    TERN_CHECK_PTR(t, TERN_ERR_NOMEM, "%s: no memory for %zu bytes of tensors' headers", op,
                   sizeof(header_block));
    TERN_UNPOISON(live_part(t), LIVE_PART_BYTES);
    memset(t, 0, sizeof *t);
    atomic_init(&t->refs, 1);
    atomic_init(&t->retains, 0);
    atomic_init(&t->last_stamp, TERN_STAMP_SCOPE);
    t->op = op;
    t->stamp = TERN_STAMP_ALIVE;
    return t;
}

static void free_header(tern_tensor *t)
{
    tern_mutex_lock(&lock);
    t->next_free = NULL;
    if (free_last)
        free_last->next_free = t;
    else
        free_first = t;
    free_last = t;
    live--;
    tern_mutex_unlock(&lock);
}

void tern_header_shutdown(void)
{
    tern_mutex_lock(&lock);
    tern_mutex_share(&lock);
    while (live == 0 && blocks) {
        header_block *block = blocks;
        blocks = block->next;
        TERN_UNPOISON(block, sizeof *block);
        tern_mem_free(block, sizeof *block);
    }
    if (live == 0) {
        free_first = free_last = NULL;
        fresh = capacity = 0;
    }
    tern_mutex_unlock(&lock);
}

int64_t tern_live_tensors(void)
{
    tern_mutex_lock(&lock);
    int64_t count = live;
    tern_mutex_unlock(&lock);
    return count;
}

// What messages need (sizes, dtype, names) stays readable until the header is used again.
void tern_tensor_die(tern_tensor *t)
{
    tern_node *node = t->node;
    tern_storage *storage = t->storage;
    tern_tensor *grad = t->grad;
    t->stamp = atomic_load_explicit(&t->last_stamp, memory_order_relaxed);
    t->node = NULL;
    t->storage = NULL;
    t->grad = NULL;
    TERN_POISON(live_part(t), LIVE_PART_BYTES);
    free_header(t);
    tern_tensor_release_as(grad, TERN_STAMP_LEAF);
    tern_storage_release(storage);
    tern_node_release(node);
}

void tern_header_shape(tern_tensor *t, tern_shape shape)
{
    int64_t stride = 1;
    bool countable = true, empty = false;
    t->rank = shape.rank;
    for (int i = shape.rank - 1; i >= 0; i--) {
        const int64_t size = shape.dim[i];
        t->size[i] = size;
        t->stride[i] = stride;
        const bool overflow = __builtin_mul_overflow(stride, size > 0 ? size : 1, &stride);
        countable = countable && !overflow && size >= 0;
        empty = empty || size == 0;
    }
    t->numel = !countable ? -1 : empty ? 0 : stride; // tern_shape_numel
    t->contiguous = true;
}

static bool strides_are_contiguous(const tern_tensor *t)
{
    int64_t expected = 1;
    if (t->numel == 0)
        return true;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->size[i] != 1 && t->stride[i] != expected)
            return false;
        expected *= t->size[i];
    }
    return true;
}

tern_tensor *tern_header_alias(const char *op, const tern_tensor *base, tern_shape shape,
                               const int64_t *stride, int64_t offset)
{
    tern_tensor *t = tern_header_new(op);
    if (!t)
        return NULL;
    tern_header_shape(t, shape);
    memcpy(t->stride, stride, (size_t)shape.rank * sizeof *stride);
    t->contiguous = strides_are_contiguous(t);
    t->dtype = base->dtype;
    t->offset = offset;
    t->is_view = true;
    t->detached = base->detached;
    t->storage = base->storage;
    t->history_version = base->storage->version;
    tern_storage_retain(t->storage);
    return t;
}

tern_tensor *tern_header_over(const char *op, const tern_tensor *from, tern_storage *storage)
{
    tern_tensor *t = tern_header_alias(op, from, tern_shape_get(from), from->stride, from->offset);
    if (!t)
        return NULL;
    tern_storage_retain(storage);
    tern_storage_release(t->storage);
    t->storage = storage;
    t->history_version = storage->version;
    t->is_view = t->detached = false; // of no tensor that is left
    tern_tensor_set_label(t, from->label);
    return t;
}

static tern_tensor *adopted(tern_tensor *t)
{
    if (t && tern_scope_adopt(t)) {
        tern_tensor_release(t);
        return NULL;
    }
    return t;
}

tern_tensor *tern_tensor_alias(const char *op, const tern_tensor *base, tern_shape shape,
                               const int64_t *stride, int64_t offset)
{
    return adopted(tern_header_alias(op, base, shape, stride, offset));
}

// What only knows bytes has said how many there is no memory for; here it is known what they were
// for.
static void raise_no_memory(const char *op, const tern_tensor *t, tern_device device,
                            int64_t nbytes)
{
    char why[512];
    tern_error_take(why, sizeof why);
    tern_error_report();
    bool explained = device.type == TERN_CUDA; // what there is, and who has it
    tern_error_raise(TERN_ERR_NOMEM, "%s: no memory on %s for %lld bytes: the result is %s %s%s%s",
                     op, tern_device_string(device), (long long)nbytes, tern_dtype_name(t->dtype),
                     tern_shape_string(tern_shape_get(t)), explained ? "; " : "",
                     explained ? why : "");
}

tern_storage *tern_header_storage(const char *op, const tern_tensor *t, tern_device device,
                                  bool pinned)
{
    bool first = !tern_error_pending();
    int64_t nbytes = t->numel * tern_element_size(t->dtype);
    tern_error_delay();
    tern_storage *storage =
        pinned ? tern_storage_new_pinned(nbytes) : tern_storage_new(device, nbytes);
    if (!storage && first && tern_error_code() == TERN_ERR_NOMEM)
        raise_no_memory(op, t, device, nbytes);
    tern_error_report();
    return storage;
}

static tern_tensor *make(const char *op, tern_dtype dtype, tern_device device, tern_shape shape,
                         bool pinned)
{
    tern_tensor *t = tern_capture_check(op, device) ? NULL : tern_header_new(op);
    if (!t)
        return NULL;
    tern_header_shape(t, shape);
    t->dtype = dtype;
    bool countable = t->numel >= 0 && t->numel <= INT64_MAX / 16;
    if (countable)
        t->storage = tern_header_storage(op, t, device, pinned);
    else
        tern_error_raise(TERN_ERR_SHAPE, "%s: the result %s has too many elements", op,
                         tern_shape_string(shape));
    if (!t->storage) {
        tern_tensor_release(t);
        return NULL;
    }
    return adopted(t);
}

tern_tensor *tern_tensor_new(const char *op, tern_dtype dtype, tern_device device, tern_shape shape)
{
    return make(op, dtype, device, shape, false);
}

tern_tensor *tern_tensor_new_pinned(const char *op, tern_dtype dtype, tern_shape shape)
{
    return make(op, dtype, tern_cpu(0), shape, true);
}

void tern_tensor_set_label(tern_tensor *t, const char *label)
{
    const size_t length = strlen(label), space = sizeof t->label - 1;
    snprintf(t->label, sizeof t->label, "%s", length > space ? label + (length - space) : label);
}
