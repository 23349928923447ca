// SPDX-License-Identifier: Apache-2.0
// What is saved of a module: its tensors, then its children, as PyTorch orders them.
#include <stdio.h>
#include "nn/module/parametrized.h"
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

// A list in a state that has PyTorch's older names for its originals.
static bool has_old_names(tern_state_visitor *visitor, const char *name,
                          const tern_parametrization_list *list)
{
    char old[TERN_NAME_SIZE];
    if (!list->old_names || !tern_visit_is_loading(visitor))
        return false;
    for (int i = 0; i < 2; i++) {
        snprintf(old, sizeof old, "%s%s", name, list->old_names->suffix[i]);
        if (tern_visit_peek(visitor, old) == TERN_STATE_UNSPECIFIED)
            return false;
    }
    return true;
}

static tern_status visit_module(void *object, tern_state_visitor *visitor);

static tern_status visit_children(void *object, tern_state_visitor *visitor)
{
    const tern_module_private *private_ = ((tern_module *)object)->private_;
    for (int64_t i = 0; i < private_->child_count; i++)
        TERN_TRY(tern_visit_part(visitor, private_->children[i].name, visit_module,
                                 private_->children[i].module));
    return TERN_OK;
}

typedef struct parametrization_part {
    const char *name; // of the tensor
    tern_parametrization_list *list;
    bool without_originals;
} parametrization_part;

static tern_status visit_parametrization(void *object, tern_state_visitor *visitor)
{
    const parametrization_part *part = object;
    return tern_visit_part(visitor, part->name,
                           part->without_originals ? visit_children : visit_module, part->list);
}

static tern_status visit_old_names(tern_state_visitor *visitor, const char *name,
                                   tern_parametrization_list *list)
{
    char old[TERN_NAME_SIZE];
    for (int i = 0; i < 2; i++) {
        snprintf(old, sizeof old, "%s%s", name, list->old_names->suffix[i]);
        TERN_TRY(tern_visit_tensor(visitor, old, &list->base.private_->parameters.at[i].tensor));
    }
    return TERN_OK;
}

// Each list alone, since older names of its originals stand beside "parametrizations".
static tern_status visit_parametrizations(tern_state_visitor *visitor, const char *dict_name,
                                          const tern_module *dict)
{
    for (int64_t i = 0; i < dict->private_->child_count; i++) {
        parametrization_part part = {.name = dict->private_->children[i].name,
                                     .list = tern_parametrization_at(dict, i)};
        part.without_originals = has_old_names(visitor, part.name, part.list);
        if (part.without_originals)
            TERN_TRY(visit_old_names(visitor, part.name, part.list));
        TERN_TRY(tern_visit_part(visitor, dict_name, visit_parametrization, &part));
    }
    return TERN_OK;
}

static tern_status visit_child(tern_state_visitor *visitor, const tern_module_link *child)
{
    if (child->module->klass == &tern_parametrizations_class)
        return visit_parametrizations(visitor, child->name, child->module);
    return tern_visit_part(visitor, child->name, visit_module, child->module);
}

static tern_status visit_module(void *object, tern_state_visitor *visitor)
{
    tern_module *module = object;
    tern_module_private *private_ = module->private_;
    TERN_CHECK(!private_->adapter.merged, TERN_ERR_STATE,
               "a %s has LoRA merged, which a state would not say; tern_lora_unmerge takes it "
               "away, or tern_lora_unload the adapter out",
               module->klass->name);
    TERN_TRY(visit_tensors(visitor, &private_->parameters));
    TERN_TRY(visit_tensors(visitor, &private_->buffers));
    if (module->klass->visit)
        TERN_TRY(module->klass->visit(module, visitor));
    for (int64_t i = 0; i < private_->child_count; i++)
        TERN_TRY(visit_child(visitor, &private_->children[i]));
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
