// SPDX-License-Identifier: Apache-2.0
// The bracket around every module's call: its path for messages, its hooks, checks of what it
// gives.
#include "nn/module/module.h"

#include "base/path.h"
#include "base/path_table.h"
#include "nn/module/describe.h"
#include "tensor/liveness.h"

static _Thread_local tern_forward_frame *innermost;
static _Thread_local const tern_forward_observer *observer;

const tern_forward_observer *tern_forward_observe(const tern_forward_observer *next)
{
    const tern_forward_observer *before = observer;
    observer = next;
    return before;
}

bool tern_forward_is_observed(void)
{
    return observer;
}

bool tern_forward_is_plain(const tern_module *module)
{
    const tern_module_private *private_ = module->private_;
    return !observer && private_->hook_count == 0 && !private_->computed && !private_->adapter.call;
}

// ---- the path -----------------------------------------------------------------------------------

// Containers that do not run themselves, between a module and the one that runs it, and itself.
#define LONGEST_WAY 4

static tern_module_link *link_of(const tern_module *parent, const tern_module *child)
{
    const tern_module_private *private_ = parent->private_;
    const tern_module *original = child->private_->original;
    for (int64_t i = 0; i < private_->child_count; i++)
        if (private_->children[i].module == child || private_->children[i].module == original)
            return &private_->children[i];
    return NULL;
}

// Finds the links from the module outwards until `root`, through containers that do not run
// themselves. Returns how many, 0 when the module is not below `root`.
static int find_way(tern_module_link **way, const tern_module *module, const tern_module *root)
{
    for (int count = 0; count < LONGEST_WAY; count++) {
        way[count] = link_of(root, module);
        if (way[count])
            return count + 1;
        const tern_module *parent = module->private_->parent;
        way[count] = parent ? link_of(parent, module) : NULL;
        if (!way[count])
            return 0;
        module = parent;
    }
    return 0;
}

// Of the class and what it says of itself, in errors: leaves room for names.
#define TITLE_SIZE 104

// Once for a place of a module; out of line, so that what every forward does stays inline.
__attribute__((noinline)) static tern_status path_of(uint32_t parent, const char *name,
                                                     const tern_module *module, uint32_t *path)
{
    char title[TITLE_SIZE];
    tern_module_title(module, title, sizeof title);
    return tern_path_child(parent, name, title, path);
}

// From the thread's path to that of a child. `known` keeps it for the next forward; another thread
// may run the module below another parent.
static tern_status step_down(_Atomic uint64_t *known, const char *name, const tern_module *module)
{
    const uint32_t parent = tern_path_current();
    const uint64_t last = atomic_load_explicit(known, memory_order_acquire);
    uint32_t path = (uint32_t)last;
    if (last >> 32 != parent || !tern_path_is_known(path)) {
        TERN_TRY(path_of(parent, name, module, &path));
        atomic_store_explicit(known, (uint64_t)parent << 32 | path, memory_order_release);
    }
    tern_path_set(path);
    return TERN_OK;
}

static tern_status enter_path(tern_module *module)
{
    tern_module_link *way[LONGEST_WAY];
    int count = innermost ? find_way(way, module, innermost->module) : 0;
    if (count == 0)
        return step_down(&module->private_->path, NULL, module);
    for (int i = count - 1; i >= 0; i--)
        TERN_TRY(step_down(&way[i]->path, way[i]->name, way[i]->module));
    return TERN_OK;
}

tern_status tern_forward_enter(tern_forward_frame *frame, tern_module *module)
{
    *frame = (tern_forward_frame){
        .module = module, .outside = innermost, .outside_path = tern_path_current()};
    tern_status status = enter_path(module);
    if (status) {
        tern_path_set(frame->outside_path);
        return status;
    }
    innermost = frame;
    tern_module_begin_run(module);
    return TERN_OK;
}

tern_forward_frame *tern_forward_innermost(void)
{
    return innermost;
}

tern_forward_frame *tern_forward_go_on_from(tern_forward_frame *frame)
{
    tern_forward_frame *before = innermost;
    innermost = frame;
    return before;
}

void tern_forward_leave(tern_forward_frame *frame)
{
    innermost = frame->outside;
    tern_path_set(frame->outside_path);
    tern_module_end_run(frame->module);
}

// ---- the bracket --------------------------------------------------------------------------------

static tern_status check_count(const char *what, int count)
{
    TERN_CHECK(count >= 0 && count <= TERN_MAX_TENSORS, TERN_ERR_ARG,
               "module_forward: %d %s, but 0 to %d are possible", count, what, TERN_MAX_TENSORS);
    return TERN_OK;
}

// NULL may stand for an optional one: the module says.
static tern_status check_inputs(const tern_tensors *in)
{
    TERN_TRY(check_count("inputs", in->count));
    for (int i = 0; i < in->count; i++)
        if (in->at[i])
            TERN_TRY(tern_check_tensor("module_forward", "an input", in->at[i]));
    return TERN_OK;
}

// A hook that is added or removed after the change `number`, by the hooks that run, counts from the
// next forward on, as in PyTorch.
static bool was_there(const tern_module_hook *hook, uint64_t number)
{
    return hook->number <= number && (!hook->removed || hook->removed > number);
}

static tern_status run_before(tern_module *module, tern_tensors *in)
{
    const tern_module_private *private_ = module->private_;
    const uint64_t number = tern_hook_last_number();
    for (int64_t i = 0; i < private_->hook_count; i++) {
        const tern_module_hook hook = private_->hooks[i];
        if (hook.before && was_there(&hook, number)) {
            TERN_TRY(hook.before(module, in, hook.user));
            TERN_TRY(check_count("inputs after a hook", in->count));
        }
    }
    return TERN_OK;
}

static tern_status check_outputs(const tern_module *module, const tern_tensors *out)
{
    TERN_TRY(check_count("outputs", out->count));
    for (int i = 0; i < out->count; i++) {
        if (out->at[i])
            TERN_TRY(tern_check_tensor(module->klass->name, "an output", out->at[i]));
        else
            return tern_error_pending()
                       ? tern_error_code()
                       : tern_error_raise(TERN_ERR_STATE, "%s gave NULL as output %d",
                                          module->klass->name, i);
    }
    return TERN_OK;
}

static tern_status run_after(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_module_private *private_ = module->private_;
    const uint64_t number = tern_hook_last_number();
    TERN_TRY(check_outputs(module, out));
    for (int64_t i = 0; i < private_->hook_count; i++) {
        const tern_module_hook hook = private_->hooks[i];
        if (hook.after && was_there(&hook, number)) {
            TERN_TRY(hook.after(module, in, out, hook.user));
            TERN_TRY(check_outputs(module, out));
        }
    }
    return TERN_OK;
}

// What its class computes, and what was put into the module after it was made.
static tern_status call_class(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_module_computed *computed = module->private_->computed;
    const tern_module_adapter *adapter = &module->private_->adapter;
    TERN_TRY(computed ? computed->call(module, in, out) : module->klass->call(module, in, out));
    return adapter->call ? adapter->call(module, in, out) : TERN_OK;
}

static tern_status run(tern_module *module, tern_tensors *in, tern_tensors *out)
{
    if (observer) {
        TERN_TRY(call_class(module, in, out));
        TERN_TRY(check_outputs(module, out));
        observer->observe(module, out, observer->user);
        return TERN_OK;
    }
    tern_forward_frame *frame = innermost;
    frame->in_hook = true;
    TERN_TRY(run_before(module, in));
    frame->in_hook = false;
    TERN_TRY(call_class(module, in, out));
    frame->in_hook = true;
    return run_after(module, in, out);
}

// A replica is the module that it stands for.
static const tern_module *original_of(const tern_module *module)
{
    const tern_module *original = module->private_->original;
    return original ? original : module;
}

static tern_status check_not_in_its_hook(const tern_module *module)
{
    for (const tern_forward_frame *f = innermost; f; f = f->outside)
        TERN_CHECK(!f->in_hook || original_of(f->module) != original_of(module), TERN_ERR_STATE,
                   "module_forward: a hook of this %s runs the module itself, which would not end",
                   module->klass->name);
    return TERN_OK;
}

tern_status tern_module_forward(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    if (!in || !out)
        return tern_null_error("module_forward", in ? "out" : "in");
    tern_tensors given = *in; // `in` and `out` may be the same
    out->count = 0;
    TERN_TRY(tern_check_module("module_forward", module));
    TERN_TRY(check_inputs(&given));
    TERN_CHECK(module->private_->done, TERN_ERR_STATE,
               "module_forward: the constructor of %s did not end with tern_module_done",
               module->klass->name);
    TERN_TRY(check_not_in_its_hook(module));
    tern_tensors result = {0};
    tern_forward_frame frame;
    TERN_TRY(tern_forward_enter(&frame, module));
    tern_status status = run(module, &given, &result);
    if (status && !tern_error_pending())
        status = tern_error_raise(status, "%s failed without saying why", module->klass->name);
    tern_forward_leave(&frame);
    if (!status)
        *out = result;
    return status;
}

// The one output of a module that should have one.
static tern_tensor *forward_one(tern_module *module, const tern_tensors *in)
{
    tern_tensors out;
    const char *class_name = module->klass->name; // a hook may let go of the module
    if (tern_module_forward(module, in, &out))
        return NULL;
    TERN_CHECK_PTR(out.count == 1, TERN_ERR_STATE,
                   "forward: %s gave %d tensors; call tern_module_forward for them", class_name,
                   out.count);
    return out.at[0];
}

tern_tensor *tern_forward(tern_module *module, tern_tensor *x)
{
    if (tern_check_module("forward", module) || tern_check_tensor("forward", "x", x))
        return NULL;
    return forward_one(module, &(tern_tensors){.count = 1, .at = {x}});
}

tern_tensor *tern_call_n(tern_module *module, int64_t count, tern_tensor *const *inputs)
{
    tern_tensors in = {0};
    if (tern_check_module("call", module))
        return NULL;
    if (count > 0 && !inputs) {
        tern_null_error("call", "inputs");
        return NULL;
    }
    TERN_CHECK_PTR(count >= 0 && count <= TERN_MAX_TENSORS, TERN_ERR_ARG,
                   "call: %lld inputs, but 0 to %d are possible", (long long)count,
                   TERN_MAX_TENSORS);
    for (; in.count < count; in.count++) {
        in.at[in.count] = inputs[in.count];
        if (!in.at[in.count] && tern_error_pending())
            return NULL; // not one that was left out
    }
    return forward_one(module, &in);
}

tern_tensor *tern_loss(tern_module *criterion, tern_tensor *input, tern_tensor *target)
{
    if (!criterion) {
        tern_null_error("loss", "criterion");
        return NULL;
    }
    if (tern_check_tensor("loss", "input", input) || tern_check_tensor("loss", "target", target))
        return NULL;
    return forward_one(criterion, &(tern_tensors){.count = 2, .at = {input, target}});
}
