// SPDX-License-Identifier: Apache-2.0
#include "parallel/replicas.h"

#include <string.h>
#include "base/mem.h"
#include "device/current.h"
#include "nn/module/tree.h"
#include "parallel/parallel.h"
#include "parallel/record.h"
#include "tensor/header.h"

// A tensor of the module, one for all places where it is.
typedef struct original {
    tern_tensor *tensor; // held, so that no other takes its address
    int64_t storage;     // its number
} original;

// What is copied of a storage: nothing, or it goes with what replicas have other values of, or with
// what is to leave the memory that it shares with that.
typedef enum group { GROUP_NONE, GROUP_STALE, GROUP_MOVED } group;

// Memory of the module, and where it is in what is copied at once. Of a tensor that is held the
// versions grow, also where it moves, so that an address which comes back is no mistake.
typedef struct source {
    tern_storage *storage; // not held; alive when is_same
    group group;
    int64_t byte;
} source;

// Memory of a replica.
typedef struct target {
    tern_storage *storage;  // NULL: none yet
    uint64_t from, version; // of the module's storage when it was copied, and its own then
} target;

typedef struct replica {
    tern_device device;
    tern_tree_copy tree;   // the shadows, by the module's modules, children first
    tern_tensor **tensors; // held, by number of the original; of the forward that runs
    target *targets;       // by number of the source
} replica;

struct tern_replicas {
    int count; // of devices
    bool made;
    int64_t *slots; // for each module, children first, the numbers of its tensors; -1: absent
    int64_t slot_count, slot_capacity;
    original *originals;
    int64_t tensor_count, tensor_capacity;
    source *sources;
    int64_t source_count, source_capacity;
    tern_tensor **scratch; // of a module's tensors while it is brought up to date
    int64_t scratch_capacity;
    replica at[]; // of device 1, 2, ...; [0] has no more than the device
};

// ---- making and freeing -------------------------------------------------------------------------

static size_t size_of(int count)
{
    return sizeof(tern_replicas) + (size_t)count * sizeof(replica);
}

tern_replicas *tern_replicas_new(const tern_device *devices, int count)
{
    tern_replicas *r = tern_mem_alloc(size_of(count));
    if (!r)
        return NULL;
    r->count = count;
    for (int i = 0; i < count; i++)
        r->at[i].device = tern_device_or_default(devices[i]);
    return r;
}

static void release_tensors(const tern_replicas *r, replica *at)
{
    for (int64_t i = 0; i < at->tree.modules.map.count; i++)
        tern_module_replica_release(at->tree.modules.to[i]);
    for (int64_t i = 0; at->tensors && i < r->tensor_count; i++) {
        tern_tensor_release_as(at->tensors[i], TERN_STAMP_HOLDER);
        at->tensors[i] = NULL;
    }
}

static void clear_replica(const tern_replicas *r, replica *at)
{
    release_tensors(r, at);
    tern_tree_copy_free(&at->tree);
    at->tree = (tern_tree_copy){0};
    for (int64_t i = 0; at->targets && i < r->source_count; i++)
        tern_storage_release(at->targets[i].storage);
    tern_mem_free(at->tensors, (size_t)r->tensor_count * sizeof *at->tensors);
    tern_mem_free(at->targets, (size_t)r->source_count * sizeof *at->targets);
    at->tensors = NULL;
    at->targets = NULL;
}

void tern_replicas_clear(tern_replicas *r)
{
    for (int i = 1; i < r->count; i++)
        clear_replica(r, &r->at[i]);
    for (int64_t i = 0; i < r->tensor_count; i++)
        tern_tensor_release_as(r->originals[i].tensor, TERN_STAMP_HOLDER);
    r->slot_count = r->tensor_count = r->source_count = 0;
    r->made = false;
}

void tern_replicas_free(tern_replicas *r)
{
    if (!r)
        return;
    tern_replicas_clear(r);
    tern_mem_free(r->slots, (size_t)r->slot_capacity * sizeof *r->slots);
    tern_mem_free(r->originals, (size_t)r->tensor_capacity * sizeof *r->originals);
    tern_mem_free(r->sources, (size_t)r->source_capacity * sizeof *r->sources);
    tern_mem_free(r->scratch, (size_t)r->scratch_capacity * sizeof *r->scratch);
    tern_mem_free(r, size_of(r->count));
}

tern_module *tern_replicas_at(const tern_replicas *r, int index)
{
    const tern_copied_map *modules = &r->at[index].tree.modules;
    return modules->to[modules->map.count - 1];
}

tern_module *tern_replicas_take(tern_replicas *r, int index)
{
    tern_tree_copy *tree = &r->at[index].tree;
    tern_module *module = tern_module_retain(tern_replicas_at(r, index));
    tern_module_replica_retain(module);
    tern_tree_copy_free(tree);
    *tree = (tern_tree_copy){0};
    return module;
}

// ---- what the module is made of -----------------------------------------------------------------

static tern_status add_source(tern_replicas *r, tern_pointer_map *known, tern_storage *storage,
                              int64_t *number)
{
    TERN_TRY(tern_mem_grow((void **)&r->sources, &r->source_capacity, r->source_count + 1,
                           sizeof *r->sources));
    TERN_TRY(tern_pointer_map_add(known, storage, number));
    if (*number < r->source_count)
        return TERN_OK;
    r->sources[r->source_count++] = (source){.storage = storage};
    return TERN_OK;
}

static tern_status add_slots(tern_replicas *r, tern_pointer_map *tensors,
                             tern_pointer_map *storages, const tern_module_tensors *list)
{
    for (int64_t i = 0; i < list->count; i++) {
        tern_tensor *t = list->at[i].tensor;
        int64_t number = -1, storage;
        TERN_TRY(tern_mem_grow((void **)&r->slots, &r->slot_capacity, r->slot_count + 1,
                               sizeof *r->slots));
        TERN_TRY(tern_mem_grow((void **)&r->originals, &r->tensor_capacity, r->tensor_count + 1,
                               sizeof *r->originals));
        if (t) {
            TERN_TRY(tern_pointer_map_add(tensors, t, &number));
            if (number == r->tensor_count) {
                TERN_TRY(add_source(r, storages, t->storage, &storage));
                r->originals[r->tensor_count++] = (original){tern_tensor_retain(t), storage};
            }
        }
        r->slots[r->slot_count++] = number;
    }
    return TERN_OK;
}

static tern_status list_tensors(tern_replicas *r)
{
    tern_pointer_map tensors = {0}, storages = {0};
    const tern_copied_map *modules = &r->at[1].tree.modules;
    tern_status status = TERN_OK;
    for (int64_t i = 0; i < modules->map.count && !status; i++) {
        const tern_module_private *m = ((const tern_module *)modules->from[i])->private_;
        status = add_slots(r, &tensors, &storages, &m->parameters);
        if (!status)
            status = add_slots(r, &tensors, &storages, &m->buffers);
        const int64_t own = m->parameters.count + m->buffers.count;
        if (!status)
            status = tern_mem_grow((void **)&r->scratch, &r->scratch_capacity, own + 1,
                                   sizeof *r->scratch);
    }
    tern_pointer_map_free(&tensors);
    tern_pointer_map_free(&storages);
    return status;
}

static tern_status make_replica(const char *function, replica *at, const tern_module *module)
{
    at->tree = (tern_tree_copy){.function = function, .shares_user = true};
    TERN_TRY(tern_tree_copy_modules(&at->tree, module));
    const tern_copied_map *modules = &at->tree.modules;
    for (int64_t i = 0; i < modules->map.count; i++) {
        const tern_module *from = modules->from[i];
        TERN_CHECK(!from->private_->parallel, TERN_ERR_STATE,
                   "%s: the module has one in it that is data parallel itself", function);
        tern_module_replica(modules->to[i], from->private_->self);
    }
    return TERN_OK;
}

static tern_status make_lists(const tern_replicas *r, replica *at)
{
    if (r->tensor_count == 0)
        return TERN_OK;
    at->tensors = tern_mem_alloc((size_t)r->tensor_count * sizeof *at->tensors);
    if (!at->tensors)
        return TERN_ERR_NOMEM;
    at->targets = tern_mem_alloc((size_t)r->source_count * sizeof *at->targets);
    return at->targets ? TERN_OK : TERN_ERR_NOMEM;
}

static tern_status make(const char *function, tern_replicas *r, const tern_module *module)
{
    for (int i = 1; i < r->count; i++)
        TERN_TRY(make_replica(function, &r->at[i], module));
    TERN_TRY(list_tensors(r));
    for (int i = 1; i < r->count; i++)
        TERN_TRY(make_lists(r, &r->at[i]));
    r->made = true;
    return TERN_OK;
}

// ---- is it still made of that? ------------------------------------------------------------------

// The tensors of a list, whose slots begin at *slot, are those that were there.
static bool same_tensors(const tern_replicas *r, const tern_module_tensors *list,
                         const tern_module_tensors *copy, const int64_t *slot)
{
    if (list->count != copy->count)
        return false;
    for (int64_t i = 0; i < list->count; i++) {
        const tern_tensor *t = list->at[i].tensor;
        const original *o = slot[i] < 0 ? NULL : &r->originals[slot[i]];
        if (!o ? t != NULL : t != o->tensor || t->storage != r->sources[o->storage].storage)
            return false;
    }
    return true;
}

static bool same_children(const tern_module_private *m, const tern_module_private *copy)
{
    if (m->child_count != copy->child_count)
        return false;
    for (int64_t i = 0; i < m->child_count; i++)
        if (m->children[i].module != copy->children[i].module->private_->original)
            return false;
    return true;
}

// From the root on: what was looked at holds what is looked at next, so that it is alive.
static bool is_same(const tern_replicas *r, const tern_module *module)
{
    const tern_copied_map *modules = &r->at[1].tree.modules;
    int64_t i = modules->map.count - 1, slot = r->slot_count;
    if (modules->from[i] != module)
        return false;
    for (; i >= 0; i--) {
        const tern_module *m = modules->from[i], *copy = modules->to[i];
        const tern_module_private *own = m->private_, *other = copy->private_;
        slot -= other->parameters.count + other->buffers.count;
        if (m->klass != copy->klass || !same_children(own, other) ||
            !same_tensors(r, &own->parameters, &other->parameters, r->slots + slot) ||
            !same_tensors(r, &own->buffers, &other->buffers,
                          r->slots + slot + other->parameters.count))
            return false;
    }
    return true;
}

// ---- memory -------------------------------------------------------------------------------------

static bool is_stale(const source *from, const target *to)
{
    return !to->storage || from->storage->exposed || to->storage->exposed ||
           to->from != from->storage->version || to->version != to->storage->version;
}

// Says where each storage of a group is in what is copied at once; its bytes, -1 for an empty one.
static int64_t lay_out(tern_replicas *r, group which)
{
    int64_t nbytes = 0;
    bool found = false;
    for (int64_t k = 0; k < r->source_count; k++) {
        source *from = &r->sources[k];
        if (from->group != which)
            continue;
        found = true;
        from->byte = nbytes;
        nbytes += tern_flat_bytes(from->storage->nbytes);
    }
    return found ? nbytes : -1;
}

static bool find_stale(tern_replicas *r, int used)
{
    bool found = false;
    for (int64_t k = 0; k < r->source_count; k++) {
        source *from = &r->sources[k];
        from->group = GROUP_NONE;
        for (int i = 1; i < used; i++)
            if (is_stale(from, &r->at[i].targets[k]))
                from->group = GROUP_STALE;
        found = found || from->group == GROUP_STALE;
    }
    return found;
}

// The memory that the replicas' part of a source, which is not stale, lies in.
static const tern_storage *whole_of(const tern_replicas *r, int64_t k)
{
    return r->at[1].targets[k].storage->whole;
}

// What stays of a copy keeps all of its memory: where that is less than half, it gets its own.
static void move_remnants(tern_replicas *r, int64_t k)
{
    const tern_storage *whole = whole_of(r, k);
    int64_t left = 0;
    for (int64_t i = k; i < r->source_count; i++)
        if (r->sources[i].group == GROUP_NONE && whole_of(r, i) == whole)
            left += tern_flat_bytes(r->sources[i].storage->nbytes);
    for (int64_t i = k; i < r->source_count && left < whole->nbytes - left; i++)
        if (r->sources[i].group == GROUP_NONE && whole_of(r, i) == whole)
            r->sources[i].group = GROUP_MOVED;
}

static void find_remnants(tern_replicas *r)
{
    const tern_storage *last = NULL; // most of the time there is one
    for (int64_t k = 0; k < r->source_count; k++) {
        if (r->sources[k].group != GROUP_NONE || whole_of(r, k) == last)
            continue;
        last = whole_of(r, k);
        move_remnants(r, k);
    }
}

// One after another into one storage, of whichever device.
static tern_status pack(const tern_replicas *r, group which, tern_storage *flat)
{
    for (int64_t k = 0; k < r->source_count; k++) {
        const source *from = &r->sources[k];
        if (from->group == which)
            TERN_TRY(tern_storage_copy(flat, from->byte, from->storage, 0, from->storage->nbytes,
                                       false));
    }
    return TERN_OK;
}

// What it had before is given back first: most of the time its place is taken at once.
static void release_group(const tern_replicas *r, group which, replica *at)
{
    for (int64_t k = 0; k < r->source_count; k++) {
        if (r->sources[k].group == which) {
            tern_storage_release(at->targets[k].storage);
            at->targets[k].storage = NULL;
        }
    }
}

static tern_status unpack(const tern_replicas *r, group which, replica *at, tern_storage *whole)
{
    for (int64_t k = 0; k < r->source_count; k++) {
        const source *from = &r->sources[k];
        target *to = &at->targets[k];
        if (from->group != which)
            continue;
        to->storage = tern_storage_new_part(whole, from->byte, from->storage->nbytes);
        if (!to->storage)
            return TERN_ERR_NOMEM;
        to->from = from->storage->version;
        to->version = to->storage->version;
    }
    return TERN_OK;
}

// `flat` is the group, packed on the first device; without it each storage is copied.
static tern_status send_to(const tern_replicas *r, group which, replica *at, tern_storage *flat,
                           int64_t nbytes)
{
    release_group(r, which, at);
    tern_storage *whole = tern_storage_new(at->device, nbytes);
    if (!whole)
        return TERN_ERR_NOMEM;
    tern_status status =
        flat ? tern_storage_copy(whole, 0, flat, 0, nbytes, false) : pack(r, which, whole);
    if (!status)
        status = unpack(r, which, at, whole);
    tern_storage_release(whole);
    return status;
}

// A group goes to each device in one copy; between CPU devices nothing is won by that.
static tern_status send_group(tern_replicas *r, group which, int used)
{
    const bool packed = r->at[0].device.type != TERN_CPU;
    const int64_t nbytes = lay_out(r, which);
    if (nbytes < 0)
        return TERN_OK;
    tern_storage *flat = packed ? tern_storage_new(r->at[0].device, nbytes) : NULL;
    if (packed && !flat)
        return TERN_ERR_NOMEM;
    tern_status status = packed ? pack(r, which, flat) : TERN_OK;
    for (int i = 1; i < used && !status; i++)
        status = send_to(r, which, &r->at[i], flat, nbytes);
    tern_storage_release(flat);
    return status;
}

static tern_status send(tern_replicas *r, int used)
{
    if (!find_stale(r, used))
        return TERN_OK;
    find_remnants(r);
    TERN_TRY(send_group(r, GROUP_MOVED, used));
    return send_group(r, GROUP_STALE, used);
}

// ---- tensors ------------------------------------------------------------------------------------

// New ones every time: each forward has a graph of its own.
static tern_status make_tensors(const tern_replicas *r, replica *at)
{
    for (int64_t i = 0; i < r->tensor_count; i++) {
        const original *o = &r->originals[i];
        at->tensors[i] = tern_header_over("replicate", o->tensor, at->targets[o->storage].storage);
        if (!at->tensors[i])
            return TERN_ERR_NOMEM;
    }
    return TERN_OK;
}

static tern_status update_replicas(const char *function, tern_replicas *r, replica *at)
{
    const tern_copied_map *modules = &at->tree.modules;
    const int64_t *slot = r->slots;
    for (int64_t i = 0; i < modules->map.count; i++) {
        tern_module *copy = modules->to[i];
        const tern_module_private *own = copy->private_;
        const int64_t count = own->parameters.count + own->buffers.count;
        for (int64_t k = 0; k < count; k++, slot++)
            r->scratch[k] = *slot < 0 ? NULL : at->tensors[*slot];
        TERN_TRY(tern_module_replica_update(function, copy, own->original, r->scratch));
    }
    return TERN_OK;
}

static tern_status record(tern_replicas *r, const replica *at, tern_tensor **originals)
{
    for (int64_t i = 0; i < r->tensor_count; i++)
        originals[i] = r->originals[i].tensor;
    return tern_replicas_record(originals, at->tensors, r->tensor_count);
}

// The last device's first: backward runs the other way round.
static tern_status make_results(const char *function, tern_replicas *r, int used)
{
    const size_t size = (size_t)r->tensor_count * sizeof(tern_tensor *);
    tern_tensor **originals = tern_cache_alloc(size);
    tern_status status = originals ? TERN_OK : TERN_ERR_NOMEM;
    for (int i = used - 1; i > 0 && !status; i--) {
        status = make_tensors(r, &r->at[i]);
        if (!status)
            status = record(r, &r->at[i], originals);
        if (!status)
            status = update_replicas(function, r, &r->at[i]);
    }
    tern_cache_free(originals, size);
    return status;
}

static tern_status update(const char *function, tern_replicas *r, tern_module *module, int used)
{
    if (r->made && !is_same(r, module))
        tern_replicas_clear(r);
    if (!r->made)
        TERN_TRY(make(function, r, module));
    for (int i = 1; i < r->count; i++)
        release_tensors(r, &r->at[i]);
    TERN_TRY(send(r, used));
    return make_results(function, r, used);
}

tern_status tern_replicas_update(const char *function, tern_replicas *r, tern_module *module,
                                 int used)
{
    if (used < 2)
        return TERN_OK;
    tern_status status = update(function, r, module, used);
    if (status)
        tern_replicas_clear(r);
    return status;
}
