// SPDX-License-Identifier: Apache-2.0
// Walks over a module and what is below, with full names, each thing once or under every name.
#include <string.h>
#include "nn/module/module.h"
#include "base/pointer_map.h"

typedef struct walk {
    bool every_name; // else each module once
    bool children_first;
    tern_module_fn *visit;
    void *user;
    tern_pointer_map seen;
    char name[TERN_NAME_SIZE];
    size_t length;
} walk;

// Appends ".name", or "name" at the root. `length` is left for the caller to go back.
static tern_status append(walk *w, const char *name)
{
    size_t dot = w->length > 0, length = strlen(name);
    TERN_CHECK(w->length + dot + length < TERN_NAME_SIZE, TERN_ERR_ARG,
               "the full name of \"%s\" is longer than %d bytes", name, TERN_NAME_SIZE - 1);
    if (dot)
        w->name[w->length++] = '.';
    memcpy(w->name + w->length, name, length + 1);
    w->length += length;
    return TERN_OK;
}

static void cut(walk *w, size_t length)
{
    w->name[w->length = length] = 0;
}

static tern_status walk_module(walk *w, tern_module *module);

static tern_status walk_inside(walk *w, tern_module *module)
{
    tern_module_private *private_ = module->private_;
    if (!w->children_first)
        TERN_TRY(w->visit(w->name, module, w->user));
    for (int64_t i = 0; i < private_->child_count; i++) {
        size_t before = w->length;
        TERN_TRY(append(w, private_->children[i].name));
        TERN_TRY(walk_module(w, private_->children[i].module));
        cut(w, before);
    }
    return w->children_first ? w->visit(w->name, module, w->user) : TERN_OK;
}

static tern_status walk_module(walk *w, tern_module *module)
{
    int64_t known = w->seen.count, number = known;
    if (!w->every_name)
        TERN_TRY(tern_pointer_map_add(&w->seen, module, &number));
    if (number < known)
        return TERN_OK;
    tern_module_begin_run(module); // a visitor may not exchange its children
    tern_status status = walk_inside(w, module);
    tern_module_end_run(module);
    return status;
}

static tern_status walk_modules(const char *function, const tern_module *module, walk *w)
{
    TERN_TRY(tern_check_module(function, module));
    if (!w->visit)
        return tern_null_error(function, "visit");
    tern_status status = walk_module(w, module->private_->self);
    tern_pointer_map_free(&w->seen);
    return status;
}

tern_status tern_module_each_module(tern_module *module, tern_module_fn *visit, void *user)
{
    return walk_modules("module_each_module", module, &(walk){.visit = visit, .user = user});
}

tern_status tern_module_apply(tern_module *module, tern_module_fn *visit, void *user)
{
    return walk_modules("module_apply", module,
                        &(walk){.children_first = true, .visit = visit, .user = user});
}

// ---- tensors ------------------------------------------------------------------------------------

typedef struct tensor_walk {
    walk modules;
    bool parameters, buffers;
    bool state; // every name, without buffers that are not persistent
    tern_pointer_map seen;
    tern_module_entry_fn *visit;
    void *user;
} tensor_walk;

static tern_status visit_tensor(tensor_walk *w, tern_module *owner, const tern_module_tensor *t,
                                bool is_parameter)
{
    int64_t known = w->seen.count, number = known;
    size_t before = w->modules.length;
    if (!t->tensor || (w->state && !t->persistent))
        return TERN_OK;
    if (!w->state)
        TERN_TRY(tern_pointer_map_add(&w->seen, t->tensor, &number));
    if (number < known)
        return TERN_OK;
    TERN_TRY(append(&w->modules, t->name));
    tern_module_entry entry = {.name = w->modules.name,
                               .tensor = t->tensor,
                               .owner = owner,
                               .is_parameter = is_parameter,
                               .persistent = t->persistent};
    TERN_TRY(w->visit(&entry, w->user));
    cut(&w->modules, before);
    return TERN_OK;
}

static tern_status visit_tensors(const char *name, tern_module *module, void *user)
{
    tensor_walk *w = user;
    const tern_module_private *private_ = module->private_;
    (void)name; // it is the walk's own
    for (int64_t i = 0; w->parameters && i < private_->parameters.count; i++)
        TERN_TRY(visit_tensor(w, module, &private_->parameters.at[i], true));
    for (int64_t i = 0; w->buffers && i < private_->buffers.count; i++)
        TERN_TRY(visit_tensor(w, module, &private_->buffers.at[i], false));
    return TERN_OK;
}

static tern_status walk_tensors(const char *function, const tern_module *module, tensor_walk *w)
{
    TERN_TRY(tern_check_module(function, module));
    if (!w->visit)
        return tern_null_error(function, "visit");
    w->modules.visit = visit_tensors;
    w->modules.user = w;
    w->modules.every_name = w->state;
    tern_status status = walk_modules(function, module, &w->modules);
    tern_pointer_map_free(&w->seen);
    return status;
}

tern_status tern_module_each_parameter(const tern_module *module, tern_module_entry_fn *visit,
                                       void *user)
{
    return walk_tensors("module_each_parameter", module,
                        &(tensor_walk){.parameters = true, .visit = visit, .user = user});
}

tern_status tern_module_each_buffer(const tern_module *module, tern_module_entry_fn *visit,
                                    void *user)
{
    return walk_tensors("module_each_buffer", module,
                        &(tensor_walk){.buffers = true, .visit = visit, .user = user});
}

tern_status tern_module_each_state(const tern_module *module, tern_module_entry_fn *visit,
                                   void *user)
{
    return walk_tensors(
        "module_each_state", module,
        &(tensor_walk){
            .parameters = true, .buffers = true, .state = true, .visit = visit, .user = user});
}

void tern_module_visit(tern_module *module, tern_module_every_fn *visit, void *user)
{
    const tern_module_private *private_ = module->private_;
    visit(module, user);
    for (int64_t i = 0; i < private_->child_count; i++)
        tern_module_visit(private_->children[i].module, visit, user);
}
