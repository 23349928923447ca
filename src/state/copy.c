// SPDX-License-Identifier: Apache-2.0
// Copies of tensors, across devices and dtypes, and of whole states.
#include "device/backend.h"
#include "device/capture.h"
#include "state/state.h"
#include "tensor/header.h"
#include "tensor/view.h"

static tern_tensor *across(tern_tensor *from, tern_device device)
{
    const int64_t size = (int64_t)tern_dtype_size(from->dtype);
    tern_tensor *to = tern_tensor_new("to", from->dtype, device, tern_shape_get(from));
    if (!to || tern_storage_copy(to->storage, 0, from->storage, from->offset * size,
                                 from->numel * size, true))
        return NULL;
    return to;
}

// The cast runs on `device`.
tern_tensor *tern_state_tensor_copy(const tern_tensor *t, tern_device device, tern_dtype dtype)
{
    tern_tensor *there = (tern_tensor *)(uintptr_t)t; // its values stay
    const bool same_device = tern_device_equal(tern_dev(t), device);
    if (!same_device)
        there = tern_make_contiguous(there);
    if (there && !same_device)
        there = across(there, device);
    if (!there || (!same_device && there->dtype == dtype))
        return there;
    tern_tensor *y = tern_tensor_new("to", dtype, device, tern_shape_get(t));
    return y && !tern_launch_copy(y, there) ? y : NULL;
}

tern_status tern_state_wait(tern_device device)
{
    return tern_backend_of(device.type)->device->synchronize(device.index);
}

// ---- a state ------------------------------------------------------------------------------------

static tern_status copy_tensor(tern_state_value *value, const tern_tensor *t, tern_device device)
{
    if (device.type == TERN_DEVICE_UNSPECIFIED)
        device = tern_dev(t);
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *copy = tern_state_tensor_copy(t, device, t->dtype);
    if (copy)
        *value = (tern_state_value){TERN_STATE_TENSOR, .tensor = tern_tensor_retain(copy)};
    tern_scope_close(scope);
    return copy ? TERN_OK : tern_error_code();
}

static tern_status copy_all(tern_state *to, const tern_state *from, tern_device device)
{
    for (int64_t i = 0; i < from->count; i++) {
        const tern_state_entry *entry = &from->at[i];
        tern_state_value value;
        if (entry->value.type == TERN_STATE_TENSOR)
            TERN_TRY(copy_tensor(&value, entry->value.tensor, device));
        else
            TERN_TRY(tern_state_value_copy(&value, &entry->value));
        TERN_TRY(tern_state_put("state_copy", to, entry->name, value));
    }
    if (!from->versions)
        return TERN_OK;
    to->versions = tern_state_new();
    return to->versions ? copy_all(to->versions, from->versions, device) : TERN_ERR_NOMEM;
}

// The caller may go on to change the originals.
static tern_status wait_for(const tern_state *state)
{
    const tern_tensor *last = NULL;
    for (int64_t i = 0; i < state->count; i++) {
        const tern_state_value *value = &state->at[i].value;
        if (value->type != TERN_STATE_TENSOR)
            continue;
        if (!last || !tern_device_equal(tern_dev(value->tensor), tern_dev(last)))
            TERN_TRY(tern_state_wait(tern_dev(value->tensor)));
        last = value->tensor;
    }
    return TERN_OK;
}

tern_state *tern_state_copy_with(const tern_state_copy_options *options)
{
    if (!options)
        return (void)tern_null_error("state_copy", "options"), NULL;
    tern_device device = options->device;
    if (tern_check_state("state_copy", options->state) ||
        (device.type != TERN_DEVICE_UNSPECIFIED && tern_device_resolve("state_copy", &device)) ||
        tern_capture_refuse("state_copy", "a copy would have no values before a replay"))
        return NULL;
    tern_state *copy = tern_state_new();
    if (!copy || (!copy_all(copy, options->state, device) && !wait_for(copy)))
        return copy;
    tern_state_free(copy);
    return NULL;
}
