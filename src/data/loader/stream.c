// SPDX-License-Identifier: Apache-2.0
// Loaders over streams: their samples have no number, and end where the stream does.
#include "base/callback.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "ops/op.h"
#include "tensor/scope.h"

bool tern_loader_streams(const tern_loader *loader)
{
    return loader->dataset->klass->next;
}

tern_status tern_loader_begin_stream(tern_loader *loader)
{
    tern_dataset *dataset = loader->dataset;
    if (!dataset->klass->begin)
        return TERN_OK;
    const bool failed_before = tern_error_pending();
    tern_callback_begin();
    const tern_status status = dataset->klass->begin(dataset);
    tern_callback_end();
    return tern_dataset_check_result("loader_next", dataset, status, failed_before,
                                     "its first sample the next");
}

static tern_status skip_sample(const tern_loader *loader, int64_t index, bool *made)
{
    tern_sample sample;
    const tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    const bool before = tern_set_grad_enabled(false);
    const tern_status status =
        tern_dataset_make_item("loader_next", loader->dataset, &loader->context, index, &sample);
    (void)tern_set_grad_enabled(before);
    tern_scope_close(scope);
    *made = !status && sample.count > 0;
    return status;
}

tern_status tern_loader_catch_up(tern_loader *loader)
{
    if (!loader->dataset->klass->visit) {
        TERN_TRY(tern_loader_begin_stream(loader));
        bool made = true;
        for (int64_t i = 0; made && i < loader->done; i++) {
            TERN_TRY(skip_sample(loader, i, &made));
            if (!made) // it is shorter now, or its last batch was
                loader->samples = loader->done;
        }
    }
    loader->stream_due = false;
    return TERN_OK;
}

int64_t tern_loader_size_of_stream(tern_loader *loader, int64_t size)
{
    const int64_t made = loader->batch.size;
    if (made == size)
        return size;
    const int64_t last = loader->drop_last ? 0 : made;
    loader->samples = loader->done + last;
    if (last == 0)
        tern_batch_release(&loader->batch);
    return last;
}
