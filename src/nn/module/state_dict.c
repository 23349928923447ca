// SPDX-License-Identifier: Apache-2.0
// What is saved of a module: its tensors, then its children, as PyTorch orders them.
#include "nn/module/module.h"
#include "state/visitor.h"

// The state that is loaded is older than the tensor, and has none.
static bool is_older(const tern_state_visitor *visitor, const tern_module_tensor *entry)
{
    return entry->since && tern_visit_is_loading(visitor) &&
           tern_visit_version(visitor) < entry->since &&
           tern_visit_peek(visitor, entry->name) == TERN_STATE_UNSPECIFIED;
}

static tern_status visit_tensors(tern_state_visitor *visitor, tern_module_tensors *list)
{
    for (int64_t i = 0; i < list->count; i++) {
        tern_module_tensor *entry = &list->at[i];
        if (entry->persistent && entry->tensor && !is_older(visitor, entry))
            TERN_TRY(tern_visit_tensor(visitor, entry->name, &entry->tensor));
    }
    return TERN_OK;
}

static tern_status visit_module(void *object, tern_state_visitor *visitor)
{
    tern_module *module = object;
    tern_module_private *private_ = module->private_;
    TERN_TRY(visit_tensors(visitor, &private_->parameters));
    TERN_TRY(visit_tensors(visitor, &private_->buffers));
    if (module->klass->visit)
        TERN_TRY(module->klass->visit(module, visitor));
    for (int64_t i = 0; i < private_->child_count; i++)
        TERN_TRY(tern_visit_part(visitor, private_->children[i].name, visit_module,
                                 private_->children[i].module));
    return TERN_OK;
}

tern_status tern_visit_module(tern_state_visitor *visitor, const char *name, tern_module *module)
{
    TERN_TRY(tern_check_module("visit_module", module));
    return tern_visit_part(visitor, name, visit_module, module);
}

tern_state *tern_module_state_dict(tern_module *module)
{
    if (tern_check_module("module_state_dict", module))
        return NULL;
    tern_module_begin_run(module);
    tern_state *state = tern_state_of_as("module_state_dict", visit_module, module);
    tern_module_end_run(module);
    return state;
}

tern_status tern_module_load_state_dict_with(const tern_module_load_state_dict_options *options)
{
    if (!options)
        return tern_null_error("module_load_state_dict", "options");
    tern_module *module = options->module;
    TERN_TRY(tern_check_module("module_load_state_dict", module));
    tern_module_begin_run(module);
    tern_status status = tern_state_load_as(
        &(tern_load_caller){.function = "module_load_state_dict", .options = TERN_LOAD_ALL},
        &(tern_state_load_options){
            TERN_LOAD_OPTIONS(options),
            .convert = options->convert,
            .visit = visit_module,
            .object = module,
        });
    tern_module_end_run(module);
    return status;
}
