// SPDX-License-Identifier: Apache-2.0
// Moving a module to another device or dtype: per storage, in place, all or nothing.
#include "base/mem.h"
#include "base/pointer_map.h"
#include "device/backend.h"
#include "nn/module/module.h"
#include "tensor/capture.h"
#include "tensor/header.h"

// One storage that moves. Both are held.
typedef struct move_item {
    tern_storage *from, *to;
    tern_dtype dtype; // of the elements in `from`
} move_item;

typedef struct move_plan {
    tern_device device;
    tern_dtype dtype;     // unspecified: the device changes, else the dtype
    tern_pointer_map map; // storage -> its item
    move_item *items;
    int64_t count, capacity;
} move_plan;

static bool is_to_move(const move_plan *plan, const tern_tensor *t)
{
    if (plan->dtype == TERN_DTYPE_UNSPECIFIED)
        return !tern_device_equal(tern_dev(t), plan->device);
    return tern_dtype_is_floating(t->dtype) && t->dtype != plan->dtype;
}

// ---- planning -----------------------------------------------------------------------------------

static tern_status plan_tensor(move_plan *plan, const tern_tensor *t)
{
    int64_t index;
    if (!t || !is_to_move(plan, t))
        return TERN_OK;
    TERN_TRY(tern_mem_grow((void **)&plan->items, &plan->capacity, plan->count + 1,
                           sizeof *plan->items));
    TERN_TRY(tern_pointer_map_add(&plan->map, t->storage, &index));
    if (index < plan->count)
        return TERN_OK;
    tern_storage_retain(t->storage);
    plan->items[plan->count++] = (move_item){.from = t->storage, .dtype = t->dtype};
    return TERN_OK;
}

static tern_status plan_module(const char *name, tern_module *module, void *user)
{
    const tern_module_private *private_ = module->private_;
    (void)name;
    for (int64_t i = 0; i < private_->buffers.count; i++)
        TERN_TRY(plan_tensor(user, private_->buffers.at[i].tensor));
    for (int64_t i = 0; i < private_->parameters.count; i++) {
        const tern_tensor *t = private_->parameters.at[i].tensor;
        TERN_TRY(plan_tensor(user, t));
        if (t && t->grad && t->grad_state == TERN_GRAD_PRESENT)
            TERN_TRY(plan_tensor(user, t->grad));
    }
    return TERN_OK;
}

// ---- copying ------------------------------------------------------------------------------------

static tern_strided flat(tern_storage *s, tern_dtype dtype)
{
    int64_t numel = s->nbytes / (int64_t)tern_dtype_size(dtype);
    tern_storage_use(s, "");
    return tern_view_contiguous(s->data, dtype, tern_shape_make(1, &numel));
}

static tern_status cast_elements(tern_storage *to, tern_dtype to_dtype, tern_storage *from,
                                 tern_dtype from_dtype)
{
    tern_exec exec = tern_exec_of(to->device);
    tern_strided y = flat(to, to_dtype), x = flat(from, from_dtype);
    return tern_kernels_of(to->device)->copy(&exec, &y, &x);
}

static tern_status copy_item(const move_plan *plan, move_item *item)
{
    bool cast = plan->dtype != TERN_DTYPE_UNSPECIFIED;
    tern_device device = cast ? item->from->device : plan->device;
    int64_t nbytes = item->from->nbytes;
    if (cast)
        nbytes =
            nbytes / (int64_t)tern_dtype_size(item->dtype) * (int64_t)tern_dtype_size(plan->dtype);
    item->to = tern_storage_new(device, nbytes);
    if (!item->to)
        return TERN_ERR_NOMEM;
    if (nbytes == 0)
        return TERN_OK;
    return cast ? cast_elements(item->to, plan->dtype, item->from, item->dtype)
                : tern_storage_copy(item->to, 0, item->from, 0, nbytes, true);
}

static tern_status wait_for(const move_plan *plan)
{
    for (int64_t i = 0; i < plan->count; i++) {
        tern_device device = plan->items[i].to->device;
        bool again = i > 0 && tern_device_equal(device, plan->items[i - 1].to->device);
        if (!again)
            TERN_TRY(tern_backend_of(device.type)->device->synchronize(device.index));
    }
    return TERN_OK;
}

// ---- switching: cannot fail ---------------------------------------------------------------------

static void switch_tensor(move_plan *plan, tern_tensor *t)
{
    int64_t index = t ? tern_pointer_map_find(&plan->map, t->storage) : -1;
    if (index < 0)
        return;
    t->storage->left = true;
    tern_storage_release(t->storage);
    t->storage = plan->items[index].to;
    tern_storage_retain(t->storage);
    if (plan->dtype != TERN_DTYPE_UNSPECIFIED)
        t->dtype = plan->dtype;
}

// The memory of an absent gradient does not move: the next backward makes it where it is needed.
static void switch_grad(move_plan *plan, tern_tensor *t)
{
    if (!t || !t->grad)
        return;
    if (t->grad_state == TERN_GRAD_PRESENT) {
        switch_tensor(plan, t->grad);
    } else if (is_to_move(plan, t->grad)) {
        tern_tensor_release_as(t->grad, TERN_STAMP_LEAF);
        t->grad = NULL;
    }
}

static void switch_module(tern_module *module, void *user)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->buffers.count; i++)
        switch_tensor(user, private_->buffers.at[i].tensor);
    for (int64_t i = 0; i < private_->parameters.count; i++) {
        switch_tensor(user, private_->parameters.at[i].tensor);
        switch_grad(user, private_->parameters.at[i].tensor);
    }
}

// A graph from before the move that needs a moved tensor finds it changed.
static void carry_versions(const move_plan *plan)
{
    for (int64_t i = 0; i < plan->count; i++) {
        uint64_t version = atomic_load(&plan->items[i].from->version);
        atomic_store(&plan->items[i].to->version, version + 1);
    }
}

static void free_plan(move_plan *plan)
{
    for (int64_t i = 0; i < plan->count; i++) {
        tern_storage_release(plan->items[i].to);
        tern_storage_release(plan->items[i].from);
    }
    tern_mem_free(plan->items, (size_t)plan->capacity * sizeof *plan->items);
    tern_pointer_map_free(&plan->map);
}

static tern_module *carry_out(tern_module *module, move_plan *plan)
{
    tern_status status = tern_module_each_module(module, plan_module, plan);
    for (int64_t i = 0; !status && i < plan->count; i++)
        status = copy_item(plan, &plan->items[i]);
    if (!status)
        status = wait_for(plan);
    if (!status) {
        carry_versions(plan);
        tern_module_visit(module, switch_module, plan);
    }
    free_plan(plan);
    return status ? NULL : module;
}

tern_module *tern_module_to(tern_module *module, tern_device device)
{
    if (tern_check_module("module_to", module) || tern_device_resolve("module_to", &device) ||
        tern_capture_refuse("module_to", "its work uses the parameters where they are"))
        return NULL;
    return carry_out(module, &(move_plan){.device = device});
}

tern_module *tern_module_to_dtype(tern_module *module, tern_dtype dtype)
{
    if (tern_check_module("module_to_dtype", module) ||
        tern_capture_refuse("module_to_dtype", "its work uses the parameters where they are"))
        return NULL;
    TERN_CHECK_PTR(tern_dtype_is_floating(dtype), TERN_ERR_DTYPE,
                   "module_to_dtype: %s is not a floating dtype", tern_dtype_name(dtype));
    return carry_out(module, &(move_plan){.dtype = dtype});
}
