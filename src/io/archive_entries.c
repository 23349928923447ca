// SPDX-License-Identifier: Apache-2.0
#include "io/archive_entries.h"

#include <string.h>
#include "base/mem.h"
#include "base/pointer_map.h"
#include "io/json.h"
#include "tensor/header.h"
#include "tensor/view.h"

// On the CPU; held. A copy is contiguous.
static tern_tensor *host_copy(tern_tensor *t)
{
    if (tern_dev(t).type == TERN_CPU)
        return tern_tensor_retain(t);
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    tern_tensor *there = tern_make_contiguous(t);
    if (there)
        there = tern_state_tensor_copy(there, tern_cpu(0), there->dtype);
    tern_tensor *held = tern_tensor_retain(there);
    tern_scope_close(scope);
    return held;
}

static tern_status check_text(const char *name, const char *text, size_t length)
{
    TERN_CHECK(tern_utf8_valid(text, length), TERN_ERR_ARG,
               "state_write: the text \"%.200s\" is not UTF-8; save it as bytes", name);
    return TERN_OK;
}

static tern_status fill(tern_archive_entry *v)
{
    const tern_state_value *value = v->value;
    TERN_CHECK(tern_utf8_valid(v->name, strlen(v->name)), TERN_ERR_ARG,
               "state_write: a name is not UTF-8: \"%.200s\"", v->name);
    if (value->type == TERN_STATE_TEXT || value->type == TERN_STATE_BYTES) {
        v->body = (tern_body){.data = value->bytes.data, .nbytes = (int64_t)value->bytes.size};
    }
    if (value->type == TERN_STATE_TEXT)
        return check_text(v->name, v->body.data, (size_t)v->body.nbytes);
    if (value->type != TERN_STATE_TENSOR)
        return TERN_OK;
    v->tensor = host_copy(value->tensor);
    if (!v->tensor)
        return tern_error_code();
    const int64_t size = (int64_t)tern_dtype_size(v->tensor->dtype);
    v->body = (tern_body){.tensor = v->tensor, .nbytes = v->tensor->numel * size};
    if (v->tensor->contiguous)
        v->body.data = (char *)v->tensor->storage->data + v->tensor->offset * size;
    return TERN_OK;
}

// ---- tied tensors -------------------------------------------------------------------------------

static bool same_view(const tern_tensor *a, const tern_tensor *b)
{
    bool same = a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
                a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->size[i] == b->size[i] && (a->size[i] == 1 || a->stride[i] == b->stride[i]);
    return same;
}

// Of the values of one storage, those before are looked at; `last` has the last one of each storage
// and `before` the one before each.
static tern_status find_ties(tern_archive_entries *w, tern_pointer_map *map, int64_t *last,
                             int64_t *before)
{
    for (int64_t i = 0; i < w->count; i++) {
        tern_archive_entry *v = &w->at[i];
        v->tied = i;
        if (v->value->type != TERN_STATE_TENSOR)
            continue;
        int64_t index;
        const tern_tensor *t = v->value->tensor;
        const bool known = tern_pointer_map_find(map, t->storage) >= 0;
        TERN_TRY(tern_pointer_map_add(map, t->storage, &index));
        before[i] = known ? last[index] : -1;
        last[index] = i;
        for (int64_t j = before[i]; j >= 0 && t->numel > 0; j = before[j])
            if (same_view(w->at[j].value->tensor, t))
                v->tied = w->at[j].tied;
    }
    return TERN_OK;
}

static tern_status tie(tern_archive_entries *w)
{
    tern_pointer_map map = {.slots = NULL};
    const size_t nbytes = 2 * (size_t)(w->count + 1) * sizeof(int64_t);
    int64_t *last = tern_mem_alloc(nbytes);
    if (!last)
        return TERN_ERR_NOMEM;
    tern_status status = find_ties(w, &map, last, last + w->count + 1);
    tern_pointer_map_free(&map);
    tern_mem_free(last, nbytes);
    return status;
}

static tern_status fill_all(tern_archive_entries *w)
{
    TERN_TRY(tie(w));
    for (int64_t i = 0; i < w->count; i++) {
        tern_archive_entry *v = &w->at[i];
        if (v->tied == i) {
            TERN_TRY(fill(v));
            continue;
        }
        const tern_archive_entry *first = &w->at[v->tied];
        TERN_TRY(check_text(v->name, v->name, strlen(v->name)));
        v->tensor = tern_tensor_retain(first->tensor);
        v->body = first->body;
    }
    return TERN_OK;
}

tern_status tern_archive_entries_begin(tern_archive_entries *w, const tern_state *state)
{
    *w = (tern_archive_entries){.at = NULL};
    if (state->count == 0)
        return TERN_OK;
    w->at = tern_mem_alloc((size_t)state->count * sizeof *w->at);
    if (!w->at)
        return TERN_ERR_NOMEM;
    w->count = state->count;
    for (int64_t i = 0; i < w->count; i++) {
        w->at[i].name = state->at[i].name;
        w->at[i].value = &state->at[i].value;
    }
    tern_status status = fill_all(w);
    if (status)
        tern_archive_entries_free(w);
    return status;
}

void tern_archive_entries_free(tern_archive_entries *w)
{
    for (int64_t i = 0; i < w->count; i++)
        tern_tensor_release(w->at[i].tensor);
    tern_mem_free(w->at, (size_t)w->count * sizeof *w->at);
    *w = (tern_archive_entries){.at = NULL};
}
