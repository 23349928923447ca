// SPDX-License-Identifier: Apache-2.0
// Visiting tensors. The check lists them; their values are written between the two visits, so that
// taking is the host's work alone.
#include "base/mem.h"
#include "state/visitor.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

// ---- what fits ----------------------------------------------------------------------------------

// With .convert. Integers to those that hold all of them.
static bool is_convertible(tern_dtype from, tern_dtype to)
{
    if (tern_dtype_is_floating(to) || tern_dtype_is_floating(from))
        return tern_dtype_is_floating(to);
    return from == TERN_BOOL || tern_dtype_size(from) < tern_dtype_size(to);
}

static bool dtypes_fit(tern_dtype from, tern_dtype to, bool convert)
{
    return from == to || (tern_dtype_is_floating(from) && tern_dtype_is_floating(to)) ||
           (convert && is_convertible(from, to));
}

// "float32 (2, 3)"
static const char *described(const tern_tensor *t, char *text, size_t size)
{
    snprintf(text, size, "%s %s", tern_dtype_name(t->dtype), tern_shape_string(tern_shape_get(t)));
    return text;
}

static tern_status differs(tern_state_visitor *visitor, tern_status code, const tern_tensor *from,
                           const tern_tensor *like)
{
    char there[256], here[256];
    return tern_visit_mismatch(visitor, code, "is %s in the state and %s here",
                               described(from, there, sizeof there),
                               described(like, here, sizeof here));
}

static bool is_expanded(const tern_tensor *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->stride[i] == 0 && t->size[i] > 1 && t->numel > 0)
            return true;
    return false;
}

// *fits unless it was listed.
static tern_status check_fit(tern_state_visitor *visitor, const tern_tensor *from,
                             const tern_tensor *like, bool *fits)
{
    const bool convert = visitor->loading->options->convert;
    *fits = false;
    if (!tern_shape_equal(tern_shape_get(from), tern_shape_get(like)))
        return differs(visitor, TERN_ERR_SHAPE, from, like);
    if (!dtypes_fit(from->dtype, like->dtype, convert))
        return differs(visitor, TERN_ERR_DTYPE, from, like);
    *fits = true;
    return TERN_OK;
}

// ---- checking -----------------------------------------------------------------------------------

static tern_status add_item(tern_loading *loading, tern_load_item item)
{
    TERN_TRY(tern_mem_grow((void **)&loading->items, &loading->capacity, loading->count + 1,
                           sizeof *loading->items));
    tern_tensor_retain(item.to);
    loading->items[loading->count++] = item;
    return TERN_OK;
}

static tern_status check_inplace(tern_state_visitor *visitor, const tern_state_entry *entry,
                                 tern_tensor *to)
{
    bool fits;
    if (is_expanded(to))
        return tern_visit_mismatch(visitor, TERN_ERR_STATE,
                                   "is expanded here: several of its elements share one place");
    TERN_TRY(check_fit(visitor, entry->value.tensor, to, &fits));
    if (!fits)
        return TERN_OK;
    return add_item(visitor->loading,
                    (tern_load_item){.entry = entry, .to = to, .source = entry->value.tensor});
}

// Storage that is still there can be written, so it is.
static bool can_stay(const tern_tensor *t, const tern_tensor *like)
{
    return t && t->dtype == like->dtype && tern_device_equal(tern_dev(t), tern_dev(like)) &&
           tern_shape_equal(tern_shape_get(t), tern_shape_get(like)) && !is_expanded(t);
}

static tern_status check_optional(tern_state_visitor *visitor, const tern_state_entry *entry,
                                  tern_tensor *there, const tern_tensor *like)
{
    bool fits;
    tern_tensor *from = entry->value.tensor;
    if (can_stay(there, like))
        return check_inplace(visitor, entry, there);
    TERN_TRY(check_fit(visitor, from, like, &fits));
    if (!fits)
        return TERN_OK;
    tern_tensor *made = tern_state_tensor_copy(from, tern_dev(like), like->dtype);
    if (!made)
        return tern_error_code();
    return add_item(visitor->loading, (tern_load_item){.entry = entry, .to = made, .made = true});
}

// ---- taking -------------------------------------------------------------------------------------

// The item of an entry: they come in the order of the check.
static tern_status next_item(tern_state_visitor *visitor, const tern_state_entry *entry,
                             tern_load_item **item)
{
    tern_loading *loading = visitor->loading;
    *item = &loading->items[loading->taken];
    TERN_CHECK(loading->taken < loading->count && (*item)->entry == entry, TERN_ERR_STATE,
               "visit: \"%.100s\" was not visited in this order when it was checked",
               visitor->name);
    loading->taken++;
    return TERN_OK;
}

// In place and not recorded: graphs that saved the old values notice.
static tern_status note_change(const tern_load_item *item)
{
    tern_tensor_touched(item->to);
    return TERN_OK;
}

static tern_status take(tern_state_visitor *visitor, const tern_state_entry *entry)
{
    tern_load_item *item;
    TERN_TRY(next_item(visitor, entry, &item));
    return note_change(item);
}

tern_status tern_visit_tensor(tern_state_visitor *visitor, const char *name, tern_tensor **slot)
{
    const tern_state_entry *entry;
    if (!slot)
        return tern_null_error("visit_tensor", "slot");
    TERN_TRY(tern_check_tensor("visit_tensor", name ? name : "name", *slot));
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_TENSOR, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return tern_state_set_tensor(visitor->into, visitor->name, *slot);
    if (!entry)
        return TERN_OK;
    return visitor->mode == TERN_VISIT_CHECK ? check_inplace(visitor, entry, *slot)
                                             : take(visitor, entry);
}

// ---- tensors that may be there or not -----------------------------------------------------------

// The ways in which a slot has its tensor: `give` takes it over, `let_go` gives it back.
typedef struct slot_owner {
    void (*take)(tern_tensor *t);
    void (*let_go)(tern_tensor *t);
} slot_owner;

static void take_retained_tensor(tern_tensor *t)
{
    tern_tensor_retain(t);
}

static void release_retained(tern_tensor *t)
{
    tern_tensor_release_as(t, TERN_STAMP_HOLDER);
}

static void take_retained(tern_tensor *t)
{
    tern_retain(t);
}

static const slot_owner held = {take_retained_tensor, release_retained};
static const slot_owner retained = {take_retained, tern_release};

static tern_status take_optional(tern_state_visitor *visitor, const tern_state_entry *entry,
                                 tern_tensor **slot, const slot_owner *owner)
{
    tern_load_item *item;
    TERN_TRY(next_item(visitor, entry, &item));
    if (!item->made)
        return note_change(item);
    tern_tensor *before = *slot;
    owner->take(item->to);
    *slot = item->to;
    owner->let_go(before);
    return TERN_OK;
}

static tern_status release_slot(const tern_state_visitor *visitor, tern_tensor **slot,
                                const slot_owner *owner)
{
    if (visitor->mode != TERN_VISIT_TAKE || !visitor->loading->options->strict || !*slot)
        return TERN_OK;
    owner->let_go(*slot);
    *slot = NULL;
    return TERN_OK;
}

static tern_status visit_optional(tern_state_visitor *visitor, const char *name, tern_tensor **slot,
                                  const tern_tensor *like, const slot_owner *owner)
{
    const tern_state_entry *entry;
    if (!slot)
        return tern_null_error("visit_optional_tensor", "slot");
    TERN_TRY(tern_check_tensor("visit_optional_tensor", "like", like));
    if (*slot)
        TERN_TRY(tern_check_tensor("visit_optional_tensor", name ? name : "name", *slot));
    TERN_TRY(tern_visit_begin_optional(visitor, name, TERN_STATE_TENSOR, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return *slot ? tern_state_set_tensor(visitor->into, visitor->name, *slot) : TERN_OK;
    if (!entry) // not there, or of another type, which is listed
        return release_slot(visitor, slot, owner);
    return visitor->mode == TERN_VISIT_CHECK ? check_optional(visitor, entry, *slot, like)
                                             : take_optional(visitor, entry, slot, owner);
}

tern_status tern_visit_optional_tensor(tern_state_visitor *visitor, const char *name,
                                       tern_tensor **slot, const tern_tensor *like)
{
    return visit_optional(visitor, name, slot, like, &retained);
}

tern_status tern_visit_optional_retained(tern_state_visitor *visitor, const char *name,
                                         tern_tensor **slot, const tern_tensor *like)
{
    return visit_optional(visitor, name, slot, like, &held);
}
