// SPDX-License-Identifier: Apache-2.0
// A state as the flat OrderedDict that torch.load gives: tensors, integers, numbers and texts, and
// bytes as tensors of uint8.
#include <string.h>
#include "base/mem.h"
#include "io/pickle.h"
#include "io/pickle_write.h"
#include "io/archive_entries.h"

// `keys` has the storage of each value so far; tied ones have one.
static void write_elements(tern_torch_writer *w, const tern_archive_entries *entries, int64_t index,
                           int64_t *keys)
{
    const tern_archive_entry *v = &entries->at[index];
    const bool tied = v->tensor && v->tied != index;
    keys[index] = tied ? keys[v->tied] : tern_torch_write_storage(w, v->body);
    tern_torch_write_tensor(w, keys[index], v->tensor ? v->tensor->dtype : TERN_UINT8,
                            v->tensor ? tern_shape_get(v->tensor) : tern_dims(v->body.nbytes));
}

static tern_status write_value(tern_torch_writer *w, const tern_archive_entries *entries,
                               int64_t index, int64_t *keys)
{
    const tern_archive_entry *v = &entries->at[index];
    tern_torch_write_text(w, v->name);
    switch (v->value->type) {
    case TERN_STATE_INT:
        tern_torch_write_int(w, v->value->integer);
        break;
    case TERN_STATE_DOUBLE:
        tern_torch_write_double(w, v->value->number);
        break;
    case TERN_STATE_TEXT:
        TERN_CHECK(v->body.nbytes <= TERN_PICKLE_TEXT_BYTES, TERN_ERR_ARG,
                   "state_write: the text \"%.200s\" has %lld bytes, more than %d; save it as "
                   "bytes",
                   v->name, (long long)v->body.nbytes, TERN_PICKLE_TEXT_BYTES);
        tern_torch_write_text(w, v->body.data);
        break;
    case TERN_STATE_TENSOR:
    case TERN_STATE_BYTES:
    case TERN_STATE_UNSPECIFIED:
        write_elements(w, entries, index, keys);
        break;
    }
    return w->status;
}

static tern_status write_all(tern_torch_writer *w, tern_save *save,
                             const tern_archive_entries *entries, int64_t *keys)
{
    tern_torch_write_begin(w);
    const int64_t begin = tern_torch_write_dict(w, true);
    for (int64_t i = 0; i < entries->count; i++)
        TERN_TRY(write_value(w, entries, i, keys));
    tern_torch_write_dict_end(w, begin);
    return tern_torch_write_end(w, save);
}

tern_status tern_torch_write(tern_save *save, const tern_archive_entries *entries)
{
    tern_torch_writer w = {.status = TERN_OK};
    const size_t nbytes = (size_t)(entries->count + 1) * sizeof(int64_t);
    int64_t *keys = tern_mem_alloc(nbytes); // of the storages of the values
    if (!keys)
        return TERN_ERR_NOMEM;
    tern_status status = write_all(&w, save, entries, keys);
    tern_torch_writer_free(&w);
    tern_mem_free(keys, nbytes);
    return status;
}
