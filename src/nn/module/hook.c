// SPDX-License-Identifier: Apache-2.0
// Forward hooks: adding and removing them, also while they run.
#include "base/callback.h"
#include "base/mem.h"
#include "nn/module/module.h"

static _Atomic uint64_t last_number;

static uint64_t new_number(void)
{
    return atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
}

uint64_t tern_hook_last_number(void)
{
    return atomic_load_explicit(&last_number, memory_order_relaxed);
}

// Closes the gaps of removed hooks. Not while a forward walks the list. What a program is handed
// back may make it add a hook: then the list is looked at anew.
static void sweep(tern_module_private *private_)
{
    tern_module_hook gone;
    do {
        int64_t kept = 0;
        if (private_->running > 0)
            return;
        gone = (tern_module_hook){0};
        for (int64_t i = 0; i < private_->hook_count; i++) {
            tern_module_hook hook = private_->hooks[i];
            if (hook.removed && !gone.free)
                gone = hook;
            else
                private_->hooks[kept++] = hook;
        }
        private_->hook_count = kept;
        tern_free_user(gone.free, gone.user);
    } while (gone.free);
}

static uint64_t add_hook(tern_module *module, tern_module_hook hook)
{
    tern_module_private *private_ = module->private_;
    sweep(private_);
    if (tern_mem_grow((void **)&private_->hooks, &private_->hook_capacity, private_->hook_count + 1,
                      sizeof *private_->hooks))
        return 0;
    hook.number = new_number();
    private_->hooks[private_->hook_count++] = hook;
    return hook.number;
}

uint64_t tern_module_add_forward_pre_hook(tern_module *module, tern_forward_pre_hook_fn *hook,
                                          void *user)
{
    if (tern_check_module("module_add_forward_pre_hook", module))
        return 0;
    if (!hook) {
        tern_null_error("module_add_forward_pre_hook", "hook");
        return 0;
    }
    return add_hook(module, (tern_module_hook){.before = hook, .user = user});
}

uint64_t tern_module_add_forward_hook(tern_module *module, tern_forward_hook_fn *hook, void *user)
{
    if (tern_check_module("module_add_forward_hook", module))
        return 0;
    if (!hook) {
        tern_null_error("module_add_forward_hook", "hook");
        return 0;
    }
    return add_hook(module, (tern_module_hook){.after = hook, .user = user});
}

void tern_module_remove_hook(tern_module *module, uint64_t number)
{
    if (tern_check_module("module_remove_hook", module))
        return;
    tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->hook_count; i++) {
        tern_module_hook *hook = &private_->hooks[i];
        if (hook->number == number && !hook->removed)
            hook->removed = new_number();
    }
    sweep(private_);
}

tern_status tern_module_set_hook_free(tern_module *module, uint64_t number, tern_free_fn *free)
{
    TERN_TRY(tern_check_module("module_set_hook_free", module));
    tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->hook_count; i++) {
        tern_module_hook *hook = &private_->hooks[i];
        if (hook->number == number && !hook->removed) {
            hook->free = free;
            return TERN_OK;
        }
    }
    return tern_error_raise(TERN_ERR_ARG, "module_set_hook_free: this %s has no hook %llu",
                            module->klass->name, (unsigned long long)number);
}
