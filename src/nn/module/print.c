// SPDX-License-Identifier: Apache-2.0
// Modules printed as PyTorch prints them.
#include <errno.h>
#include <string.h>
#include "base/cancel.h"
#include "base/text.h"
#include "nn/module/describe.h"

static bool are_alike_tensors(const tern_tensor *a, const tern_tensor *b)
{
    return a == b ||
           (a && b && a->dtype == b->dtype && tern_device_equal(tern_dev(a), tern_dev(b)) &&
            tern_shape_equal(tern_shape_get(a), tern_shape_get(b)));
}

// Whether what is printed of their parameters is the same.
static bool have_alike_parameters(const tern_module *a, const tern_module *b)
{
    const tern_module_tensors *x = &a->private_->parameters, *y = &b->private_->parameters;
    if (a->private_->print_style != TERN_PRINT_PARAMETERS)
        return true;
    if (x->count != y->count)
        return false;
    for (int64_t i = 0; i < x->count; i++)
        if (strcmp(x->at[i].name, y->at[i].name) != 0 ||
            !are_alike_tensors(x->at[i].tensor, y->at[i].tensor))
            return false;
    return true;
}

static bool are_alike(const tern_module *a, const tern_module *b)
{
    const tern_module_private *x = a->private_, *y = b->private_;
    tern_text of_a, of_b;
    tern_module_describe(a, &of_a);
    tern_module_describe(b, &of_b);
    if (strcmp(a->klass->name, b->klass->name) != 0 || strcmp(of_a.text, of_b.text) != 0 ||
        x->child_count != y->child_count || !have_alike_parameters(a, b))
        return false;
    for (int64_t i = 0; i < x->child_count; i++)
        if (strcmp(x->children[i].name, y->children[i].name) != 0 ||
            !are_alike(x->children[i].module, y->children[i].module))
            return false;
    return true;
}

// How many children from `first` on print alike and are shown once.
static int64_t count_alike(const tern_module *module, int64_t first)
{
    const tern_module_private *private_ = module->private_;
    int64_t next = first + 1;
    if (private_->print_style == TERN_PRINT_GROUPED_CHILDREN)
        while (next < private_->child_count &&
               are_alike(private_->children[first].module, private_->children[next].module))
            next++;
    return next - first;
}

static void write_module(const tern_module *module, int indent, tern_writer *writer);

static void write_children(const tern_module *module, int indent, tern_writer *writer)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0, alike; i < private_->child_count; i += alike) {
        alike = count_alike(module, i);
        tern_write(writer, "%*s(%s", indent, "", private_->children[i].name);
        if (alike > 1)
            tern_write(writer, "-%s): %lld x ", private_->children[i + alike - 1].name,
                       (long long)alike);
        else
            tern_write(writer, "): ");
        write_module(private_->children[i].module, indent, writer);
        tern_write(writer, "\n");
    }
}

static void write_parameters(const tern_module *module, int indent, tern_writer *writer)
{
    const tern_module_tensors *list = &module->private_->parameters;
    for (int64_t i = 0; i < list->count; i++) {
        const tern_tensor *t = list->at[i].tensor;
        tern_write(writer, "%*s(%s): Parameter containing: [torch.%s of size ", indent, "",
                   list->at[i].name, tern_dtype_name(t->dtype));
        for (int d = 0; d < t->rank; d++)
            tern_write(writer, "%s%lld", d ? "x" : "", (long long)t->size[d]);
        if (tern_dev(t).type == TERN_CUDA)
            tern_write(writer, " (%s)", tern_device_string(tern_dev(t)));
        tern_write(writer, "]\n");
    }
}

static void write_module(const tern_module *module, int indent, tern_writer *writer)
{
    tern_text description;
    tern_module_describe(module, &description);
    tern_write(writer, "%s%s(", module->private_->computed ? "Parametrized" : "",
               module->klass->name);
    if (module->private_->print_style == TERN_PRINT_PARAMETERS &&
        module->private_->parameters.count > 0) {
        tern_write(writer, "\n");
        write_parameters(module, indent + 4, writer);
        tern_write(writer, "%*s)", indent, "");
        return;
    }
    if (module->private_->child_count == 0) {
        tern_write(writer, "%s)", description.text);
        return;
    }
    tern_write(writer, "\n");
    if (description.text[0])
        tern_write(writer, "%*s%s\n", indent + 2, "", description.text);
    write_children(module, indent + 2, writer);
    tern_write(writer, "%*s)", indent, "");
}

tern_status tern_module_print(const tern_module *module, FILE *file)
{
    TERN_TRY(tern_check_module("module_print", module));
    tern_writer writer = {.file = file ? file : stdout};
    int saved = errno; // the first write to a stream may set it even if all goes well
    int cancel_state = tern_cancel_disable();
    write_module(module, 0, &writer);
    tern_write(&writer, "\n");
    bool written = !fflush(writer.file) && !ferror(writer.file);
    tern_cancel_restore(cancel_state);
    errno = saved;
    TERN_CHECK(written, TERN_ERR_IO, "module_print: the file cannot be written");
    return TERN_OK;
}
