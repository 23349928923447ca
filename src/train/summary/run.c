// SPDX-License-Identifier: Apache-2.0
// The forward in evaluation mode, and what its observers see.
#include "train/summary/table.h"

static void module_ended(tern_module *module, const tern_tensors *out, void *user)
{
    summary_table *t = user;
    int64_t index = tern_pointer_map_find(&t->map, module);
    if (index < 0)
        return;
    t->rows[index].ran = true;
    t->rows[index].outputs = out->count;
    if (out->count > 0)
        t->rows[index].output = tern_shape_get(out->at[0]);
}

static void operation_ended(const tern_op_call *call, tern_tensor *const *y, int outputs,
                            void *user)
{
    summary_table *t = user;
    const tern_forward_frame *frame = tern_forward_innermost();
    const int64_t count = outputs > 0 ? tern_summary_multiply_adds(call, y[0]) : 0;
    const int64_t index = frame ? tern_pointer_map_find(&t->map, frame->module) : -1;
    t->multiply_adds += count;
    if (index >= 0)
        t->rows[index].multiply_adds += count;
}

tern_status tern_summary_forward(tern_module *module, tern_tensor *x, tern_tensors *out,
                                 const tern_forward_observer *modules,
                                 const tern_op_observer *operations)
{
    const tern_forward_observer *modules_before = tern_forward_observe(modules);
    const tern_op_observer *operations_before = tern_op_observe(operations);
    const tern_status status =
        tern_module_forward(module, &(tern_tensors){.count = 1, .at = {x}}, out);
    (void)tern_op_observe(operations_before);
    (void)tern_forward_observe(modules_before);
    return status;
}

tern_status tern_summary_run(summary_table *t, tern_module *module, tern_tensor *x)
{
    const tern_forward_observer modules = {module_ended, t};
    const tern_op_observer operations = {.ended = operation_ended, .user = t};
    const bool recorded = tern_set_grad_enabled(false);
    tern_tensors out = {0};
    tern_summary_set_training(t, false);
    const tern_status status = tern_summary_forward(module, x, &out, &modules, &operations);
    tern_summary_restore_modes(t);
    (void)tern_set_grad_enabled(recorded);
    return status;
}
