// SPDX-License-Identifier: Apache-2.0
// Writing what was checked, all of it or nothing. Values in another place or dtype are copied there
// first; a tensor on a device that may fail is copied before it is written, and put back where
// something after it fails.
#include "base/mem.h"
#include "base/pointer_map.h"
#include "device/draws.h"
#include "state/visitor.h"
#include "tensor/header.h"
#include "tensor/view.h"

// tern_state_tensor_copy, held by the caller and in no scope.
static tern_tensor *retained_copy(const tern_tensor *t, tern_device device, tern_dtype dtype)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *copy = scope ? tern_tensor_retain(tern_state_tensor_copy(t, device, dtype)) : NULL;
    if (scope)
        tern_scope_close(scope);
    return copy;
}

// ---- copying what cannot be written as it is ----------------------------------------------------

static bool is_same_memory(const tern_tensor *a, const tern_tensor *b)
{
    if (a->storage != b->storage || a->offset != b->offset || a->dtype != b->dtype)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->size[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}

// Is it where others are copied to?
static bool is_overwritten(const tern_pointer_map *written, const tern_tensor *t)
{
    return tern_pointer_map_find(written, t->storage) >= 0;
}

static tern_status stage_item(tern_load_item *item, const tern_pointer_map *written)
{
    const tern_tensor *to = item->to, *from = item->source;
    if (item->made)
        return TERN_OK;
    if (is_same_memory(to, from)) {
        item->source = NULL;
        return TERN_OK;
    }
    if (from->dtype == to->dtype && tern_device_equal(tern_dev(from), tern_dev(to)) &&
        !is_overwritten(written, from))
        return TERN_OK;
    item->staged = retained_copy(from, tern_dev(to), to->dtype);
    item->source = item->staged;
    return item->source ? TERN_OK : tern_error_code();
}

static tern_status stage_all(tern_loading *loading, tern_pointer_map *written)
{
    int64_t index;
    for (int64_t i = 0; i < loading->count; i++)
        TERN_TRY(tern_pointer_map_add(written, loading->items[i].to->storage, &index));
    for (int64_t i = 0; i < loading->count; i++)
        TERN_TRY(stage_item(&loading->items[i], written));
    for (int64_t i = 0; i < loading->count; i++) {
        tern_device device = tern_dev(loading->items[i].to);
        bool again = i > 0 && tern_device_equal(device, tern_dev(loading->items[i - 1].to));
        if (!again)
            TERN_TRY(tern_state_wait(device));
    }
    return TERN_OK;
}

tern_status tern_visit_stage(tern_loading *loading)
{
    tern_pointer_map written = {0};
    tern_status status = stage_all(loading, &written);
    tern_pointer_map_free(&written);
    return status;
}

// ---- writing ------------------------------------------------------------------------------------

static bool is_on_the_cpu(const tern_load_item *item)
{
    return tern_dev(item->to).type == TERN_CPU;
}

static tern_status write_item(tern_load_item *item)
{
    if (!item->source)
        return TERN_OK;
    if (!is_on_the_cpu(item)) {
        item->before = retained_copy(item->to, tern_dev(item->to), item->to->dtype);
        if (!item->before)
            return tern_error_code();
    }
    TERN_TRY(tern_launch_copy(item->to, item->source));
    tern_tensor_release(item->staged); // the next item's `before` gets its memory
    item->staged = NULL;
    return TERN_OK;
}

static tern_status write_draws(tern_load_draws *draws)
{
    TERN_TRY(tern_draw_save(draws->device, &draws->before));
    TERN_TRY(tern_draw_load(draws->device, draws->next));
    draws->written = true;
    return TERN_OK;
}

// What is on the CPU comes last: there nothing fails.
static tern_status write_all(tern_loading *loading)
{
    for (int64_t i = 0; i < loading->count; i++)
        if (!is_on_the_cpu(&loading->items[i]))
            TERN_TRY(write_item(&loading->items[i]));
    for (int64_t i = 0; i < loading->draw_count; i++)
        TERN_TRY(write_draws(&loading->draws[i]));
    for (int64_t i = 0; i < loading->count; i++)
        if (is_on_the_cpu(&loading->items[i]))
            TERN_TRY(write_item(&loading->items[i]));
    return TERN_OK;
}

// In the reverse order: an item may be written twice.
static void put_back(tern_loading *loading)
{
    for (int64_t i = loading->draw_count - 1; i >= 0; i--)
        if (loading->draws[i].written)
            (void)tern_draw_load(loading->draws[i].device, loading->draws[i].before);
    for (int64_t i = loading->count - 1; i >= 0; i--)
        if (loading->items[i].before)
            (void)tern_launch_copy(loading->items[i].to, loading->items[i].before);
}

tern_status tern_visit_write(tern_loading *loading)
{
    const tern_status status = write_all(loading);
    if (status)
        put_back(loading);
    return status;
}
