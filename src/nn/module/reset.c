// SPDX-License-Identifier: Apache-2.0
// Drawing the parameters of a module anew: all or nothing.
#include "base/mem.h"
#include "device/generator.h"
#include "nn/module/module.h"
#include "nn/module/parametrized.h"
#include "tensor/capture.h"

// What a reset may have changed when another one fails. The values are temporaries.
typedef struct kept_tensor {
    tern_tensor *tensor, *values;
    uint64_t version;
} kept_tensor;

typedef struct resetting {
    tern_generator *generator; // that is brought back
    tern_generator *given;     // NULL: the default one of the tensor's device
    kept_tensor *at;
    int64_t count, capacity;
} resetting;

static tern_status keep_tensors(resetting *r, const tern_module_tensors *list)
{
    for (int64_t i = 0; i < list->count; i++) {
        tern_tensor *t = list->at[i].tensor;
        if (!t)
            continue;
        TERN_TRY(tern_mem_grow((void **)&r->at, &r->capacity, r->count + 1, sizeof *r->at));
        tern_tensor *values = tern_clone(t);
        if (!values)
            return tern_error_code();
        r->at[r->count++] = (kept_tensor){t, values, atomic_load(&t->storage->version)};
    }
    return TERN_OK;
}

static tern_status keep(const char *name, tern_module *module, void *user)
{
    TERN_CHECK(!module->private_->adapter.merged, TERN_ERR_STATE,
               "module_reset_parameters: \"%s\" has LoRA merged, which would be drawn over; "
               "tern_lora_unmerge takes it away",
               name);
    if (!module->klass->reset)
        return TERN_OK;
    const tern_module *dict = tern_parametrizations_of(module);
    for (int64_t i = 0; dict && i < dict->private_->child_count; i++)
        TERN_TRY(keep_tensors(user, &tern_parametrization_at(dict, i)->base.private_->parameters));
    TERN_TRY(keep_tensors(user, &module->private_->parameters));
    return keep_tensors(user, &module->private_->buffers);
}

static void bring_back(const resetting *r, const void *state, size_t size)
{
    if (tern_generator_load(r->generator, state, size))
        return; // not its own state: cannot be
    for (int64_t i = 0; i < r->count; i++)
        if (atomic_load(&r->at[i].tensor->storage->version) != r->at[i].version)
            (void)tern_copy_(r->at[i].tensor, r->at[i].values);
}

static tern_status reset(const char *name, tern_module *module, void *user)
{
    (void)name;
    return tern_module_reset(module, ((resetting *)user)->given);
}

// With what the generator was at, in `state` of `size` bytes.
static tern_status run(tern_module *module, resetting *r, void *state, size_t size)
{
    tern_status status = tern_generator_save(r->generator, state, size);
    tern_no_grad {
        if (!status)
            status = tern_module_apply(module, keep, r);
        if (!status) {
            status = tern_module_apply(module, reset, r);
            if (status)
                bring_back(r, state, size);
        }
    }
    return status;
}

static tern_status run_in_scope(tern_module *module, resetting *r)
{
    const size_t size = tern_generator_state_size();
    void *state = tern_mem_alloc(size);
    tern_scope scope = state ? tern_scope_open() : 0;
    tern_status status = scope ? run(module, r, state, size) : TERN_ERR_NOMEM;
    tern_scope_close(scope);
    tern_mem_free(state, size);
    tern_mem_free(r->at, (size_t)r->capacity * sizeof *r->at);
    return status;
}

tern_status tern_module_reset_parameters(tern_module *module, tern_generator *generator)
{
    const char *function = "module_reset_parameters";
    TERN_TRY(tern_check_module(function, module));
    TERN_CHECK(module->private_->done, TERN_ERR_STATE,
               "%s: the constructor of %s did not end with tern_module_done", function,
               module->klass->name);
    TERN_TRY(tern_capture_refuse(function, "replays would not draw"));
    resetting r = {.generator = tern_generator_for(function, generator, tern_cpu(0)),
                   .given = generator};
    return r.generator ? run_in_scope(module, &r) : tern_error_code();
}
