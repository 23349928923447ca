// SPDX-License-Identifier: Apache-2.0
// Looking things up in a module, by full name or by index, and counting them.
#include <stdio.h>
#include <string.h>
#include "nn/module/module.h"

// ---- by name ------------------------------------------------------------------------------------

static tern_module_link *find_link(const tern_module *module, const char *name, size_t length)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->child_count; i++) {
        const char *at = private_->children[i].name;
        if (strncmp(at, name, length) == 0 && at[length] == 0)
            return &private_->children[i];
    }
    return NULL;
}

tern_module *tern_module_find_owner(const tern_module *module, const char *name, const char **last)
{
    tern_module *at = module->private_->self;
    for (const char *dot = strchr(name, '.'); at && dot; dot = strchr(name, '.')) {
        const tern_module_link *link = find_link(at, name, (size_t)(dot - name));
        at = link ? link->module : NULL;
        name = dot + 1;
    }
    *last = name;
    return at;
}

static tern_module_tensor *find_tensor(const tern_module *module, const char *name,
                                       bool is_parameter, tern_module **owner)
{
    const char *last;
    *owner = tern_module_find_owner(module, name, &last);
    if (!*owner)
        return NULL;
    tern_module_private *private_ = (*owner)->private_;
    const tern_module_tensors *list = is_parameter ? &private_->parameters : &private_->buffers;
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, last) == 0)
            return &list->at[i];
    return NULL;
}

#define LISTED_SIZE 200

// Adds ", name" to a list for a message; what does not fit is left out.
static void list_name(char *listed, const char *name)
{
    size_t length = strlen(listed);
    if (length + strlen(name) + 8 < LISTED_SIZE)
        snprintf(listed + length, LISTED_SIZE - length, "%s%s", length ? ", " : "", name);
    else if (length > 3 && strcmp(listed + length - 3, "...") != 0)
        snprintf(listed + length, LISTED_SIZE - length, ", ...");
}

static tern_status list_entry(const tern_module_entry *entry, void *user)
{
    list_name(user, entry->name);
    return TERN_OK;
}

static tern_status list_module(const char *name, tern_module *module, void *user)
{
    (void)module;
    if (name[0])
        list_name(user, name);
    return TERN_OK;
}

static void not_found(const char *function, const tern_module *module, const char *kind,
                      const char *name, const char *listed)
{
    tern_error_raise(TERN_ERR_ARG, "%s: %s has no %s \"%.64s\"; it has %s", function,
                     module->klass->name, kind, name, listed[0] ? listed : "none");
}

static tern_status check_lookup(const char *function, const tern_module *module, const char *name)
{
    TERN_TRY(tern_check_module(function, module));
    return name ? TERN_OK : tern_null_error(function, "name");
}

static void no_tensor(const char *function, const tern_module *module, const char *name,
                      bool is_parameter)
{
    char listed[LISTED_SIZE] = "";
    if (is_parameter ? !tern_module_each_parameter(module, list_entry, listed)
                     : !tern_module_each_buffer(module, list_entry, listed))
        not_found(function, module, is_parameter ? "parameter" : "buffer", name, listed);
}

tern_module_tensor *tern_module_find_tensor(const char *function, const tern_module *module,
                                            const char *name, bool is_parameter,
                                            tern_module **owner)
{
    if (check_lookup(function, module, name))
        return NULL;
    tern_module_tensor *found = find_tensor(module, name, is_parameter, owner);
    if (!found)
        no_tensor(function, module, name, is_parameter);
    return found;
}

static tern_tensor *tensor_of(const char *function, const tern_module *module, const char *name,
                              bool is_parameter)
{
    tern_module *owner;
    const tern_module_tensor *found =
        tern_module_find_tensor(function, module, name, is_parameter, &owner);
    if (found && !found->tensor)
        no_tensor(function, module, name, is_parameter);
    return found ? found->tensor : NULL;
}

tern_tensor *tern_module_parameter(const tern_module *module, const char *name)
{
    return tensor_of("module_parameter", module, name, true);
}

tern_tensor *tern_module_buffer(const tern_module *module, const char *name)
{
    return tensor_of("module_buffer", module, name, false);
}

tern_module_link *tern_module_find_link(const char *function, const tern_module *module,
                                        const char *name, tern_module **owner)
{
    const char *last;
    if (check_lookup(function, module, name))
        return NULL;
    *owner = tern_module_find_owner(module, name, &last);
    tern_module_link *found = *owner ? find_link(*owner, last, strlen(last)) : NULL;
    char listed[LISTED_SIZE] = "";
    if (!found && !tern_module_each_module(module->private_->self, list_module, listed))
        not_found(function, module, "child", name, listed);
    return found;
}

tern_module *tern_module_child(const tern_module *module, const char *name)
{
    if (check_lookup("module_child", module, name))
        return NULL;
    if (!name[0])
        return module->private_->self;
    tern_module *owner;
    const tern_module_link *link = tern_module_find_link("module_child", module, name, &owner);
    return link ? link->module : NULL;
}

bool tern_module_is(const tern_module *module, const char *class_name)
{
    if (tern_check_module("module_is", module))
        return false;
    if (!class_name)
        return (void)tern_null_error("module_is", "class_name"), false;
    return strcmp(module->klass->name, class_name) == 0;
}

// ---- counts -------------------------------------------------------------------------------------

typedef struct counts {
    int64_t tensors, elements;
    bool trainable_only;
} counts;

static tern_status count_entry(const tern_module_entry *entry, void *user)
{
    counts *c = user;
    if (c->trainable_only && !entry->tensor->requires_grad)
        return TERN_OK;
    c->tensors++;
    c->elements += entry->tensor->numel;
    return TERN_OK;
}

int64_t tern_module_num_parameters(const tern_module *module)
{
    counts c = {0};
    if (tern_check_module("module_num_parameters", module) ||
        tern_module_each_parameter(module, count_entry, &c))
        return -1;
    return c.tensors;
}

int64_t tern_module_num_buffers(const tern_module *module)
{
    counts c = {0};
    if (tern_check_module("module_num_buffers", module) ||
        tern_module_each_buffer(module, count_entry, &c))
        return -1;
    return c.tensors;
}

int64_t tern_module_num_elements(const tern_module *module, bool trainable_only)
{
    counts c = {.trainable_only = trainable_only};
    if (tern_check_module("module_num_elements", module) ||
        tern_module_each_parameter(module, count_entry, &c))
        return -1;
    return c.elements;
}

int64_t tern_module_num_children(const tern_module *module)
{
    return tern_check_module("module_num_children", module) ? -1 : module->private_->child_count;
}

// ---- by index -----------------------------------------------------------------------------------

typedef struct index_search {
    int64_t left;
    tern_tensor *found;
    char *name;
    size_t size;
} index_search;

static tern_status search_entry(const tern_module_entry *entry, void *user)
{
    index_search *search = user;
    if (search->left-- != 0)
        return TERN_OK;
    search->found = entry->tensor;
    if (search->name && search->size > 0)
        snprintf(search->name, search->size, "%s", entry->name);
    return TERN_OK;
}

static tern_tensor *index_result(const char *function, const tern_module *module, int64_t index,
                                 const index_search *search)
{
    TERN_CHECK_PTR(search->found, TERN_ERR_INDEX, "%s: there is no number %lld; %s has %lld",
                   function, (long long)index, module->klass->name,
                   (long long)(index - search->left));
    return search->found;
}

tern_tensor *tern_module_parameter_at(const tern_module *module, int64_t index, char *name,
                                      size_t size)
{
    index_search search = {.left = index, .name = name, .size = size};
    if (tern_check_module("module_parameter_at", module) ||
        tern_module_each_parameter(module, search_entry, &search))
        return NULL;
    return index_result("module_parameter_at", module, index, &search);
}

tern_tensor *tern_module_buffer_at(const tern_module *module, int64_t index, char *name,
                                   size_t size)
{
    index_search search = {.left = index, .name = name, .size = size};
    if (tern_check_module("module_buffer_at", module) ||
        tern_module_each_buffer(module, search_entry, &search))
        return NULL;
    return index_result("module_buffer_at", module, index, &search);
}

tern_module *tern_module_child_at(const tern_module *module, int64_t index)
{
    if (tern_check_module("module_child_at", module))
        return NULL;
    int64_t count = module->private_->child_count;
    int64_t at = index < 0 ? index + count : index;
    TERN_CHECK_PTR(at >= 0 && at < count, TERN_ERR_INDEX,
                   "module_child_at: there is no child %lld; %s has %lld", (long long)index,
                   module->klass->name, (long long)count);
    return module->private_->children[at].module;
}
