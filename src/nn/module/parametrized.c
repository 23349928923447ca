// SPDX-License-Identifier: Apache-2.0
// What is computed of a parametrized module, and when: lists of originals and parametrizations, and
// the members that point to what they give while the module runs.
#include "nn/module/parametrized.h"

#include <tern/autograd.h>
#include <tern/ops/inplace.h>
#include <tern/ops/view.h>
#include <tern/scope.h>
#include "base/callback.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

// ---- lists --------------------------------------------------------------------------------------

static tern_status list_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_module_private *private_ = module->private_;
    tern_tensors x = {0};
    TERN_CHECK(in->count == 0, TERN_ERR_ARG, "ParametrizationList takes no tensors, not %d",
               in->count);
    for (int64_t i = 0; i < private_->parameters.count; i++)
        x.at[x.count++] = private_->parameters.at[i].tensor;
    for (int64_t i = 0; i < private_->child_count; i++) {
        tern_module *child = private_->children[i].module;
        TERN_TRY(tern_module_forward(child, &x, &x));
        TERN_CHECK(x.count == 1, TERN_ERR_ARG, "the parametrization %s gave %d tensors, not 1",
                   child->klass->name, x.count);
    }
    *out = x;
    return TERN_OK;
}

static void list_free(tern_module *module)
{
    tern_tensor_release_as(((tern_parametrization_list *)module)->idle, TERN_STAMP_HOLDER);
}

static tern_tensor *new_idle(const char *name, tern_shape shape, tern_dtype dtype)
{
    tern_tensor *idle = tern_header_new("parametrization");
    if (!idle)
        return NULL;
    tern_header_shape(idle, shape);
    idle->dtype = dtype;
    snprintf(idle->label, sizeof idle->label, "%s", name);
    idle->stamp = TERN_STAMP_COMPUTED;
    return idle;
}

static tern_status list_copy(tern_module *to, const tern_module *from)
{
    const tern_tensor *idle = ((const tern_parametrization_list *)from)->idle;
    tern_tensor *copy = new_idle(idle->label, idle->shape, idle->dtype);
    ((tern_parametrization_list *)to)->idle = copy;
    return copy ? TERN_OK : tern_error_code();
}

const tern_module_class tern_parametrization_list_class = {.name = "ParametrizationList",
                                                           .size =
                                                               sizeof(tern_parametrization_list),
                                                           .call = list_call,
                                                           .free = list_free,
                                                           .copy = list_copy};

static tern_status dict_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_STATE, "parametrizations run with their module only");
}

const tern_module_class tern_parametrizations_class = {
    .name = "ModuleDict", .size = sizeof(tern_module), .call = dict_call};

tern_module *tern_parametrizations_of(const tern_module *module)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0; private_->computed && i < private_->child_count; i++)
        if (private_->children[i].module->klass == &tern_parametrizations_class)
            return private_->children[i].module;
    return NULL;
}

tern_tensor *tern_parametrization_compute(tern_parametrization_list *list)
{
    tern_tensors out, in = {0};
    if (tern_module_forward(&list->base, &in, &out))
        return NULL;
    tern_tensor *y = out.at[0], *idle = list->idle;
    if (!tern_shape_equal(idle->shape, y->shape))
        tern_header_shape(idle, y->shape);
    if (idle->dtype != y->dtype)
        idle->dtype = y->dtype;
    return y;
}

// ---- from a value to the originals --------------------------------------------------------------

tern_status tern_parametrization_run_inverse(tern_right_inverse_fn *right_inverse,
                                             tern_module *parametrization, tern_tensor *value,
                                             tern_tensors *originals)
{
    tern_callback_begin();
    tern_status status = right_inverse(parametrization, value, originals);
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, "the right inverse of %s failed without saying why",
                                parametrization->klass->name);
    return status;
}

static tern_status run_inverse(const tern_parametrization_list *list, int64_t index,
                               tern_tensors *x)
{
    tern_module *parametrization = list->base.private_->children[index].module;
    tern_tensors originals = {0};
    TERN_CHECK(x->count == 1, TERN_ERR_ARG, "the right inverse of %s takes 1 tensor, not %d",
               parametrization->klass->name, x->count);
    TERN_TRY(tern_parametrization_run_inverse(list->right_inverse[index], parametrization, x->at[0],
                                              &originals));
    TERN_CHECK(originals.count > 0 && originals.count <= TERN_MAX_TENSORS, TERN_ERR_ARG,
               "the right inverse of %s gave %d tensors, but 1 to %d are possible",
               parametrization->klass->name, originals.count, TERN_MAX_TENSORS);
    *x = originals;
    return TERN_OK;
}

tern_status tern_parametrization_inverse(const tern_parametrization_list *list, tern_tensor *value,
                                         tern_tensors *originals)
{
    *originals = (tern_tensors){.count = 1, .at = {value}};
    tern_no_grad {
        for (int64_t i = list->base.private_->child_count - 1; i >= 0; i--)
            if (list->right_inverse[i])
                TERN_TRY(run_inverse(list, i, originals));
    }
    return TERN_OK;
}

static tern_status add_originals(tern_parametrization_list *list, tern_tensor *value)
{
    tern_tensors originals;
    TERN_TRY(tern_parametrization_inverse(list, value, &originals));
    for (int i = 0; i < originals.count; i++) {
        char name[sizeof "original" + 2];
        tern_tensor *original = originals.at[i];
        snprintf(name, sizeof name, originals.count > 1 ? "original%d" : "original", i);
        if (originals.count > 1 && original && original->storage == value->storage)
            original = tern_clone(tern_detach(original));
        TERN_TRY(tern_module_check_parameter("module_register_parametrization", name, original));
        if (!original)
            return tern_null_error("module_register_parametrization", name);
        TERN_TRY(
            tern_module_put_tensor(&list->base, &list->base.private_->parameters, name,
                                   (tern_module_tensor){.tensor = original, .persistent = true}));
        original->requires_grad = value->requires_grad;
    }
    return TERN_OK;
}

tern_parametrization_list *tern_parametrization_new(
    const tern_module_register_parametrization_options *options, tern_tensor *value, size_t member)
{
    const char *last = strrchr(options->name, '.');
    tern_parametrization_list *list =
        (tern_parametrization_list *)tern_module_new(&tern_parametrization_list_class);
    if (!list)
        return NULL;
    list->member = member;
    list->right_inverse[0] = options->right_inverse;
    tern_module *taken = tern_module_retain(options->parametrization);
    tern_status status = tern_module_put_child(&list->base, "0", 0, taken);
    if (status)
        tern_module_release(taken);
    if (!status) {
        list->idle = new_idle(last ? last + 1 : options->name, value->shape, value->dtype);
        status = list->idle ? add_originals(list, value) : tern_error_code();
    }
    list->base.private_->failed = status;
    return (tern_parametrization_list *)tern_module_done(&list->base);
}

// ---- members ------------------------------------------------------------------------------------

void tern_parametrized_rest(tern_module *module)
{
    const tern_module *dict = tern_parametrizations_of(module);
    for (int64_t i = 0; dict && i < dict->private_->child_count; i++) {
        const tern_parametrization_list *list = tern_parametrization_at(dict, i);
        tern_module_bind(module, list->member, list->idle);
    }
}

static tern_status bind_computed(tern_module *module)
{
    const tern_module *dict = tern_parametrizations_of(module);
    for (int64_t i = 0; dict && i < dict->private_->child_count; i++) {
        tern_parametrization_list *list = tern_parametrization_at(dict, i);
        const tern_tensor *y = tern_parametrization_compute(list);
        if (!y)
            return tern_error_code();
        tern_module_bind(module, list->member, y);
    }
    return TERN_OK;
}

// The forward in which the calling thread has the module's members, perhaps by way of another
// thread that waits; NULL: none.
static const tern_forward_frame *locked_frame(const tern_module *module)
{
    for (const tern_forward_frame *f = tern_forward_innermost(); f; f = f->outside)
        if (f->module == module && f->locked)
            return f;
    return NULL;
}

// Other threads that run the module wait: the members are one for all.
static tern_status call_bound(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_forward_frame *frame = tern_forward_innermost();
    tern_lock(&module->private_->members);
    frame->locked = true;
    tern_status status = bind_computed(module);
    if (!status) {
        frame->bound = true;
        status = module->klass->call(module, in, out);
        frame->bound = false;
    }
    frame->locked = false;
    tern_parametrized_rest(module);
    tern_unlock(&module->private_->members);
    return status;
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_forward_frame *frame = locked_frame(module);
    if (!frame)
        return call_bound(module, in, out);
    TERN_CHECK(frame->bound, TERN_ERR_STATE,
               "module_forward: a parametrization of this %s runs the module itself, which would "
               "not end",
               module->klass->name);
    return module->klass->call(module, in, out);
}

// An original of the sizes that the tensor has, else one element that has them; NULL raises.
static const tern_tensor *similar_tensor(const tern_parametrization_list *list)
{
    const tern_module_tensors *originals = &list->base.private_->parameters;
    for (int64_t i = 0; i < originals->count; i++) {
        const tern_tensor *t = originals->at[i].tensor;
        if (t && tern_shape_equal(t->shape, list->idle->shape))
            return t;
    }
    return tern_expand(tern_zeros(tern_dims(), .dtype = list->idle->dtype), list->idle->shape);
}

// With similar tensors in the members that rest, from the one of list `index` on.
static void describe_from(tern_module *module, int64_t index, tern_text *out)
{
    const tern_module *dict = tern_parametrizations_of(module);
    const tern_tensor *before;
    if (!dict || index == dict->private_->child_count) {
        module->klass->describe(module, out);
        return;
    }
    const tern_parametrization_list *list = tern_parametrization_at(dict, index);
    memcpy(&before, (const char *)module + list->member, sizeof before);
    const tern_tensor *similar = before == list->idle ? similar_tensor(list) : NULL;
    if (similar)
        tern_module_bind(module, list->member, similar);
    describe_from(module, index + 1, out);
    tern_module_bind(module, list->member, before);
}

static void describe(const tern_module *module, tern_text *out)
{
    const bool locked = locked_frame(module);
    tern_scope scope = tern_scope_open();
    if (!locked)
        tern_lock(&module->private_->members);
    describe_from(module->private_->self, 0, out);
    if (!locked)
        tern_unlock(&module->private_->members);
    tern_scope_close(scope);
}

// ---- reset --------------------------------------------------------------------------------------

static tern_status bind_drafts(tern_module *module, const tern_module *dict)
{
    for (int64_t i = 0; i < dict->private_->child_count; i++) {
        const tern_parametrization_list *list = tern_parametrization_at(dict, i);
        const tern_tensor *original = list->base.private_->parameters.at[0].tensor;
        tern_tensor *draft =
            tern_empty(list->idle->shape, .dtype = original->dtype, .device = tern_dev(original));
        if (!draft)
            return tern_error_code();
        tern_module_bind(module, list->member, draft);
    }
    return TERN_OK;
}

// The class's reset draws what it wants to; what it leaves alone stays as it is.
static bool was_written(const tern_tensor *draft)
{
    return atomic_load(&draft->storage->version) > 0 || atomic_load(&draft->storage->exposed);
}

static tern_status take_draft(const tern_module *module, const tern_parametrization_list *list)
{
    const tern_module_tensors *to = &list->base.private_->parameters;
    tern_tensors originals;
    tern_tensor *draft;
    memcpy(&draft, (const char *)module + list->member, sizeof draft);
    TERN_TRY(tern_check_tensor("module_reset_parameters", list->idle->label, draft));
    if (!was_written(draft))
        return TERN_OK;
    TERN_TRY(tern_parametrization_inverse(list, draft, &originals));
    TERN_CHECK(originals.count == to->count, TERN_ERR_STATE,
               "module_reset_parameters: the right inverse gave %d tensors, but %lld are there",
               originals.count, (long long)to->count);
    for (int i = 0; i < originals.count; i++)
        if (!tern_copy_(to->at[i].tensor, originals.at[i]))
            return tern_error_code();
    return TERN_OK;
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    const tern_module *dict = tern_parametrizations_of(module);
    tern_scope scope = tern_scope_open();
    tern_status status = scope ? bind_drafts(module, dict) : tern_error_code();
    if (!status)
        status = module->klass->reset(module, generator);
    for (int64_t i = 0; !status && i < dict->private_->child_count; i++)
        status = take_draft(module, tern_parametrization_at(dict, i));
    tern_parametrized_rest(module);
    tern_scope_close(scope);
    return status;
}

const tern_module_computed tern_parametrized = {
    .call = call, .describe = describe, .reset = reset, .rest = tern_parametrized_rest};
