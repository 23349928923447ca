// SPDX-License-Identifier: Apache-2.0
// From what a file holds to a state: storages are read, and tensors are views of them.
#include <fnmatch.h>
#include <string.h>

#include "io/archive.h"
#include "io/locations.h"
#include "state/state.h"
#include "tensor/factory.h"
#include "tensor/header.h"
#include "tensor/tensor.h"

typedef struct load {
    tern_archive *c;
    const tern_locations *locations;
    tern_state *state;
} load;

// ---- storages -----------------------------------------------------------------------------------

// All elements on the CPU. What is packed is unpacked once without keeping it: only then is it
// known that there is so much.
static tern_tensor *read_elements(const load *l, const tern_file_storage *storage, const char *name)
{
    const int64_t size = (int64_t)tern_dtype_size(storage->dtype);
    if (storage->deflated && tern_archive_read_storage(l->c, storage, name, NULL))
        return NULL;
    tern_tensor *t = tern_tensor_new("state_read", storage->dtype, tern_cpu(0),
                                     tern_dims(storage->nbytes / size));
    if (!t || tern_archive_read_storage(l->c, storage, name, t->storage->data))
        return NULL;
    return t;
}

static tern_status read_storage(const load *l, tern_file_storage *storage, const char *name)
{
    tern_device device;
    TERN_TRY(tern_locations_find(l->locations, l->c->file, name, storage->location, &device));
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *t = read_elements(l, storage, name);
    if (t && !tern_device_equal(device, tern_cpu(0)))
        t = tern_state_tensor_copy(t, device, storage->dtype);
    if (t && !tern_state_wait(device))
        storage->tensor = tern_tensor_retain(t);
    tern_scope_close(scope);
    return storage->tensor ? TERN_OK : tern_error_code();
}

// ---- values -------------------------------------------------------------------------------------

static tern_status put_tensor(const load *l, const tern_file_value *v, const tern_tensor *all)
{
    tern_shape shape = {.rank = v->rank};
    int64_t stride[TERN_MAX_RANK], step = 1;
    for (int i = 0; i < v->rank; i++)
        shape.dim[i] = v->shape[i];
    TERN_TRY(tern_check_shape("state_read", shape, all->dtype));
    for (int i = v->rank - 1; i >= 0; i--) {
        stride[i] = v->stride ? v->stride[i] : step;
        step *= tern_shape_numel(shape) > 0 ? v->shape[i] : 1;
    }
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *t = tern_tensor_alias("state_read", all, shape, stride, v->offset);
    tern_status status = t ? tern_state_set_tensor(l->state, v->name, t) : tern_error_code();
    tern_scope_close(scope);
    return status;
}

static tern_status put_elements(const load *l, const tern_file_value *v)
{
    tern_file_storage *storage = &l->c->storages[v->storage];
    TERN_CHECK(storage->dtype != TERN_DTYPE_UNSPECIFIED, TERN_ERR_DTYPE,
               "%s: \"%.200s\" in %s is of the dtype %s, which tern does not have; .only reads the "
               "others",
               l->c->file->op, v->name, l->c->file->path, v->dtype);
    if (!storage->tensor)
        TERN_TRY(read_storage(l, storage, v->name));
    if (v->type == TERN_STATE_TENSOR)
        return put_tensor(l, v, storage->tensor);
    return tern_state_set_bytes(l->state, v->name, storage->tensor->storage->data,
                                (size_t)storage->nbytes);
}

static tern_status put(const load *l, const tern_file_value *v)
{
    switch (v->type) {
    case TERN_STATE_TENSOR:
        return put_elements(l, v);
    case TERN_STATE_BYTES:
        return v->storage < 0
                   ? tern_state_set_bytes(l->state, v->name, v->text, (size_t)v->shape[0])
                   : put_elements(l, v);
    case TERN_STATE_INT:
        return tern_state_set_int(l->state, v->name, v->integer);
    case TERN_STATE_DOUBLE:
        return tern_state_set_double(l->state, v->name, v->number);
    case TERN_STATE_TEXT:
        return tern_state_set_text(l->state, v->name, v->text);
    case TERN_STATE_UNSPECIFIED:
        break;
    }
    return tern_error_raise(TERN_ERR_FORMAT,
                            "%s: \"%.200s\" in %s %.150s, which tern cannot load; .only reads the "
                            "others",
                            l->c->file->op, v->name, l->c->file->path, v->text);
}

static tern_status put_all(const load *l, const char *only)
{
    int64_t count = 0;
    for (int64_t i = 0; i < l->c->count; i++) {
        const tern_file_value *v = &l->c->values[i];
        if (only && fnmatch(only, v->name, 0) != 0)
            continue;
        TERN_TRY(put(l, v));
        count++;
    }
    TERN_CHECK(count > 0 || l->c->count == 0, TERN_ERR_ARG,
               "%s: %s has %lld values, but none whose name fits .only = \"%.200s\"",
               l->c->file->op, l->c->file->path, (long long)l->c->count, only);
    return TERN_OK;
}

static tern_status put_versions(const load *l)
{
    for (int64_t i = 0; i < l->c->version_count; i++)
        TERN_TRY(
            tern_state_set_version(l->state, l->c->versions[i].module, l->c->versions[i].version));
    return TERN_OK;
}

tern_state *tern_archive_load(tern_archive *archive, const tern_locations *locations,
                              const char *only)
{
    load l = {archive, locations, tern_state_new()};
    if (!l.state ||
        (!put_all(&l, only) && !put_versions(&l) && !tern_file_check_same(archive->file)))
        return l.state;
    tern_state_free(l.state);
    return NULL;
}
