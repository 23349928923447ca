// SPDX-License-Identifier: Apache-2.0
// Datasets that live on a device: nothing but the numbers of samples goes there for a batch.
#include "base/callback.h"
#include "base/fork.h"
#include "data/dataset.h"
#include "device/backend.h"
#include "ops/op.h"
#include "tensor/header.h"

static tern_status wait_for(tern_device device)
{
    return tern_backend_of(device.type)->device->synchronize(device.index);
}

tern_status tern_dataset_move(tern_tensor **slots, int count, tern_device device)
{
    tern_tensor *moved[TERN_BATCH_TENSORS];
    for (int i = 0; i < count; i++) {
        moved[i] = tern_to(slots[i], device);
        if (!moved[i])
            return tern_error_code();
    }
    TERN_TRY(wait_for(device));
    for (int i = 0; i < count; i++) {
        tern_tensor_retain(moved[i]);
        tern_tensor_release_as(slots[i], TERN_STAMP_HOLDER);
        slots[i] = moved[i];
    }
    return TERN_OK;
}

static tern_status move(tern_dataset *dataset, tern_device device)
{
    const char *name = tern_dataset_name(dataset);
    const int64_t workers = __atomic_load_n(&dataset->workers_, __ATOMIC_RELAXED);
    TERN_CHECK(workers == 0, TERN_ERR_STATE,
               "dataset_to: %lld worker%s of a loader ask%s %s for batches: move it between epochs",
               (long long)workers, workers == 1 ? "" : "s", workers == 1 ? "s" : "", name);
    TERN_CHECK(dataset->klass->to, TERN_ERR_UNSUPPORTED,
               "dataset_to: %s cannot be moved to %s: its class has no `to`; loaders with .device "
               "copy its batches there",
               name, tern_device_string(device));
    tern_callback_begin();
    tern_status status = dataset->klass->to(tern_dataset_retain_internal(dataset), device);
    tern_callback_end();
    tern_dataset_release_internal(dataset);
    if (status && !tern_error_pending())
        return tern_error_raise(status,
                                "dataset_to: %s could not be moved to %s and did not say "
                                "why",
                                name, tern_device_string(device));
    return status;
}

tern_dataset *tern_dataset_to(tern_dataset *dataset, tern_device device)
{
    if (tern_check_dataset("dataset_to", dataset) || tern_fork_check() ||
        tern_device_resolve("dataset_to", &device))
        return NULL;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    bool before = tern_set_grad_enabled(false);
    tern_status status = move(dataset, device);
    (void)tern_set_grad_enabled(before);
    tern_scope_close(scope);
    return status ? NULL : dataset;
}
