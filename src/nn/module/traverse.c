// SPDX-License-Identifier: Apache-2.0
// The tree of a module traversed: modules and tensors with full names, each once or under every
// name.
#include <string.h>
#include "nn/module/module.h"
#include "base/pointer_map.h"

typedef struct traversal {
    bool every_name; // else each module once
    bool children_first;
    tern_module_fn *visit;
    void *user;
    tern_pointer_map visited;
    char name[TERN_NAME_SIZE];
    size_t length;
} traversal;

// Appends ".name", or "name" at the root. `length` is left for the caller to go back.
static tern_status append(traversal *w, const char *name)
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

static void cut(traversal *w, size_t length)
{
    w->name[w->length = length] = 0;
}

static tern_status traverse(traversal *w, tern_module *module);

static tern_status traverse_inside(traversal *w, tern_module *module)
{
    tern_module_private *private_ = module->private_;
    if (!w->children_first)
        TERN_TRY(w->visit(w->name, module, w->user));
    for (int64_t i = 0; i < private_->child_count; i++) {
        size_t before = w->length;
        TERN_TRY(append(w, private_->children[i].name));
        TERN_TRY(traverse(w, private_->children[i].module));
        cut(w, before);
    }
    return w->children_first ? w->visit(w->name, module, w->user) : TERN_OK;
}

static tern_status traverse(traversal *w, tern_module *module)
{
    int64_t known = w->visited.count, number = known;
    if (!w->every_name)
        TERN_TRY(tern_pointer_map_add(&w->visited, module, &number));
    if (number < known)
        return TERN_OK;
    tern_module_begin_run(module); // a visitor may not exchange its children
    tern_status status = traverse_inside(w, module);
    tern_module_end_run(module);
    return status;
}

static tern_status traverse_modules(const char *function, const tern_module *module, traversal *w)
{
    TERN_TRY(tern_check_module(function, module));
    if (!w->visit)
        return tern_null_error(function, "visit");
    tern_status status = traverse(w, module->private_->self);
    tern_pointer_map_free(&w->visited);
    return status;
}

tern_status tern_module_each_module(tern_module *module, tern_module_fn *visit, void *user)
{
    return traverse_modules("module_each_module", module,
                            &(traversal){.visit = visit, .user = user});
}

tern_status tern_module_apply(tern_module *module, tern_module_fn *visit, void *user)
{
    return traverse_modules("module_apply", module,
                            &(traversal){.children_first = true, .visit = visit, .user = user});
}

// ---- tensors ------------------------------------------------------------------------------------

typedef struct tensor_traversal {
    traversal modules;
    bool parameters, buffers;
    bool state; // every name, without buffers that are not persistent
    tern_pointer_map visited;
    tern_module_entry_fn *visit;
    void *user;
} tensor_traversal;

static tern_status visit_tensor(tensor_traversal *w, tern_module *owner,
                                const tern_module_tensor *t, bool is_parameter)
{
    int64_t known = w->visited.count, number = known;
    size_t before = w->modules.length;
    if (!t->tensor || (w->state && !t->persistent))
        return TERN_OK;
    if (!w->state)
        TERN_TRY(tern_pointer_map_add(&w->visited, t->tensor, &number));
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
    tensor_traversal *w = user;
    const tern_module_private *private_ = module->private_;
    (void)name; // it is the traversal's own
    for (int64_t i = 0; w->parameters && i < private_->parameters.count; i++)
        TERN_TRY(visit_tensor(w, module, &private_->parameters.at[i], true));
    for (int64_t i = 0; w->buffers && i < private_->buffers.count; i++)
        TERN_TRY(visit_tensor(w, module, &private_->buffers.at[i], false));
    return TERN_OK;
}

static tern_status traverse_tensors(const char *function, const tern_module *module,
                                    tensor_traversal *w)
{
    TERN_TRY(tern_check_module(function, module));
    if (!w->visit)
        return tern_null_error(function, "visit");
    w->modules.visit = visit_tensors;
    w->modules.user = w;
    w->modules.every_name = w->state;
    tern_status status = traverse_modules(function, module, &w->modules);
    tern_pointer_map_free(&w->visited);
    return status;
}

tern_status tern_module_each_parameter(const tern_module *module, tern_module_entry_fn *visit,
                                       void *user)
{
    return traverse_tensors("module_each_parameter", module,
                            &(tensor_traversal){.parameters = true, .visit = visit, .user = user});
}

tern_status tern_module_each_buffer(const tern_module *module, tern_module_entry_fn *visit,
                                    void *user)
{
    return traverse_tensors("module_each_buffer", module,
                            &(tensor_traversal){.buffers = true, .visit = visit, .user = user});
}

tern_status tern_module_each_state(const tern_module *module, tern_module_entry_fn *visit,
                                   void *user)
{
    return traverse_tensors(
        "module_each_state", module,
        &(tensor_traversal){
            .parameters = true, .buffers = true, .state = true, .visit = visit, .user = user});
}

void tern_module_visit(tern_module *module, tern_module_every_fn *visit, void *user)
{
    const tern_module_private *private_ = module->private_;
    visit(module, user);
    for (int64_t i = 0; i < private_->child_count; i++)
        tern_module_visit(private_->children[i].module, visit, user);
}
