// SPDX-License-Identifier: Apache-2.0
// Taking what was registered out of a finished module.
#include "base/mem.h"
#include "nn/module/module.h"
#include "tensor/header.h"

tern_status tern_module_check_change(const char *function, const tern_module *module)
{
    TERN_CHECK(atomic_load(&module->private_->running) == 0, TERN_ERR_STATE,
               "%s: the %s runs or is traversed; wait for its end", function, module->klass->name);
    return TERN_OK;
}

void tern_module_take_tensor(tern_module_tensors *list, tern_module_tensor *entry)
{
    const int64_t index = entry - list->at;
    const tern_module_tensor taken = *entry;
    list->count--;
    memmove(entry, entry + 1, (size_t)(list->count - index) * sizeof *entry);
    tern_mem_free_string(taken.name);
    tern_tensor_release_as(taken.tensor, TERN_STAMP_HOLDER);
}

static bool has_child(const tern_module_private *private_, const tern_module *child)
{
    for (int64_t i = 0; i < private_->child_count; i++)
        if (private_->children[i].module == child)
            return true;
    return false;
}

void tern_module_take_child(tern_module *module, const tern_module *child)
{
    tern_module_private *private_ = module->private_;
    int64_t index = 0;
    while (private_->children[index].module != child)
        index++;
    const tern_module_link *link = &private_->children[index];
    tern_module *taken = link->module;
    tern_mem_free_string(link->name);
    tern_module_bind(module, link->member, NULL);
    private_->child_count--;
    memmove((void *)&private_->children[index], &private_->children[index + 1],
            (size_t)(private_->child_count - index) * sizeof *link);
    if (private_->child_count == 0) { // as it was before the first one
        tern_mem_free(private_->children,
                      (size_t)private_->child_capacity * sizeof *private_->children);
        private_->children = NULL;
        private_->child_capacity = 0;
    }
    if (taken->private_->parent == module && !has_child(private_, taken))
        taken->private_->parent = NULL;
    atomic_fetch_sub(&taken->private_->parent_refs, 1);
    tern_module_release(taken);
}
