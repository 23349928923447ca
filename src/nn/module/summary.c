// SPDX-License-Identifier: Apache-2.0
// A table of a module: what each part gives and how many parameters it has.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "nn/module/describe.h"
#include "base/pointer_map.h"

// A module of the table, with what it gave when it ran last.
typedef struct row {
    const tern_module *module;
    bool training; // to go back to
    bool ran;
    tern_shape output;
    int outputs;
    int64_t own; // elements of its own parameters that did not come before
    int indent;
    char name[TERN_LABEL_SIZE]; // the last part of its full name
} row;

typedef struct table {
    tern_pointer_map map; // module -> its row
    tern_pointer_map tensors;
    row *rows;
    int64_t count, capacity;
    int64_t elements, trainable, nbytes;
} table;

static tern_status count_tensor(table *t, const tern_tensor *tensor, bool is_parameter, row *r)
{
    int64_t known = t->tensors.count, number;
    if (!tensor)
        return TERN_OK;
    TERN_TRY(tern_pointer_map_add(&t->tensors, tensor, &number));
    if (number < known)
        return TERN_OK;
    t->nbytes += tensor->numel * (int64_t)tern_dtype_size(tensor->dtype);
    if (is_parameter) {
        r->own += tensor->numel;
        t->elements += tensor->numel;
        t->trainable += tensor->requires_grad ? tensor->numel : 0;
    }
    return TERN_OK;
}

static int count_dots(const char *name)
{
    int dots = 0;
    for (; *name; name++)
        dots += *name == '.';
    return dots;
}

static tern_status add_row(const char *name, tern_module *module, void *user)
{
    table *t = user;
    const tern_module_private *private_ = module->private_;
    const char *dot = strrchr(name, '.');
    int64_t index;
    TERN_TRY(tern_mem_grow((void **)&t->rows, &t->capacity, t->count + 1, sizeof *t->rows));
    TERN_TRY(tern_pointer_map_add(&t->map, module, &index));
    row *r = &t->rows[t->count++];
    *r = (row){.module = module, .training = private_->training};
    r->indent = name[0] ? 2 * (1 + count_dots(name)) : 0;
    snprintf(r->name, sizeof r->name, "%s", dot ? dot + 1 : name);
    for (int64_t i = 0; i < private_->parameters.count; i++)
        TERN_TRY(count_tensor(t, private_->parameters.at[i].tensor, true, r));
    for (int64_t i = 0; i < private_->buffers.count; i++)
        TERN_TRY(count_tensor(t, private_->buffers.at[i].tensor, false, r));
    return TERN_OK;
}

// ---- the dry run --------------------------------------------------------------------------------

static void observe(tern_module *module, const tern_tensors *out, void *user)
{
    table *t = user;
    int64_t index = tern_pointer_map_find(&t->map, module);
    if (index < 0)
        return;
    t->rows[index].ran = true;
    t->rows[index].outputs = out->count;
    if (out->count > 0)
        t->rows[index].output = tern_shape_get(out->at[0]);
}

static void restore_modes(const table *t)
{
    for (int64_t i = 0; i < t->count; i++)
        t->rows[i].module->private_->training = t->rows[i].training;
}

// Zeros where the first floating parameter lives, and of its dtype unless told.
static tern_tensor *make_input(const tern_module *module,
                               const tern_module_summary_print_options *o)
{
    tern_dtype dtype = o->dtype;
    tern_device device = {TERN_DEVICE_UNSPECIFIED, 0};
    int64_t count = tern_module_num_parameters(module);
    if (count < 0)
        return NULL;
    if (count > 0) {
        const tern_tensor *first = tern_module_parameter_at(module, 0, NULL, 0);
        if (!first)
            return NULL;
        device = tern_dev(first);
        dtype = dtype == TERN_DTYPE_UNSPECIFIED ? first->dtype : dtype;
    }
    return tern_zeros(o->input, .dtype = dtype, .device = device);
}

static tern_status run_dry(table *t, const tern_module_summary_print_options *o)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    bool recorded = tern_set_grad_enabled(false);
    const tern_forward_observer observer = {observe, t};
    const tern_forward_observer *before = tern_forward_observe(&observer);
    tern_tensors out = {0};
    (void)tern_module_eval(o->module);
    tern_tensor *x = make_input(o->module, o);
    tern_status status = tern_error_code();
    if (x)
        status = tern_module_forward(o->module, &(tern_tensors){.count = 1, .at = {x}}, &out);
    restore_modes(t);
    (void)tern_forward_observe(before);
    (void)tern_set_grad_enabled(recorded);
    tern_scope_close(scope);
    return status;
}

// ---- writing ------------------------------------------------------------------------------------

#define NAME_WIDTH  34
#define SHAPE_WIDTH 26
#define RULE        "------------------------------------------------------------------------\n"

// 1234567 as "1,234,567".
static const char *with_commas(int64_t number, char text[32])
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%lld", (long long)number), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = 0;
    return text;
}

static void write_row(const row *r, tern_writer *writer)
{
    char name[128], shape[96] = "not run", number[32] = "-";
    snprintf(name, sizeof name, "%*s%s%s%s", r->indent < 40 ? r->indent : 40, "", r->name,
             r->name[0] ? " " : "", r->module->klass->name);
    if (r->ran && r->outputs > 0)
        snprintf(shape, sizeof shape, "%s%s", tern_shape_string(r->output),
                 r->outputs > 1 ? ", .." : "");
    else if (r->ran)
        snprintf(shape, sizeof shape, "nothing");
    if (r->own > 0)
        (void)with_commas(r->own, number);
    tern_text description;
    tern_module_describe(r->module, &description);
    tern_write(writer, "%-*s %-*s %10s%s%s\n", NAME_WIDTH, name, SHAPE_WIDTH, shape, number,
               description.text[0] ? "  " : "", description.text);
}

static void write_table(const table *t, tern_writer *writer)
{
    char number[32];
    tern_write(writer, "%-*s %-*s %10s\n" RULE, NAME_WIDTH, "Layer", SHAPE_WIDTH, "Output shape",
               "Parameters");
    for (int64_t i = 0; i < t->count; i++)
        write_row(&t->rows[i], writer);
    tern_write(writer, RULE "Parameters: %s", with_commas(t->elements, number));
    tern_write(writer, ", trainable: %s\n", with_commas(t->trainable, number));
    tern_write(writer, "Bytes of parameters and buffers: %s\n", with_commas(t->nbytes, number));
}

static tern_status print_table(const table *t, FILE *file)
{
    int saved = errno; // the first write to a stream may set it even if all goes well
    int cancel_state = tern_cancel_disable();
    write_table(t, &(tern_writer){.file = file});
    bool written = !fflush(file) && !ferror(file);
    tern_cancel_restore(cancel_state);
    errno = saved;
    TERN_CHECK(written, TERN_ERR_IO, "module_summary_print: the file cannot be written");
    return TERN_OK;
}

static tern_status make_table(table *t, const tern_module_summary_print_options *o)
{
    TERN_TRY(tern_module_each_module(o->module, add_row, t));
    return run_dry(t, o);
}

static void free_table(table *t)
{
    tern_mem_free(t->rows, (size_t)t->capacity * sizeof *t->rows);
    tern_pointer_map_free(&t->map);
    tern_pointer_map_free(&t->tensors);
}

tern_status tern_module_summary_print_with(const tern_module_summary_print_options *options)
{
    if (!options)
        return tern_null_error("module_summary_print", "options");
    TERN_TRY(tern_check_module("module_summary_print", options->module));
    table t = {0};
    tern_status status = make_table(&t, options);
    if (!status)
        status = print_table(&t, options->file ? options->file : stdout);
    free_table(&t);
    return status;
}

int64_t tern_module_summary_format(tern_module *module, tern_shape input, tern_dtype dtype,
                                   char *buffer, size_t size)
{
    const tern_module_summary_print_options options = {
        .module = module, .input = input, .dtype = dtype};
    table t = {0};
    if (tern_check_module("module_summary_format", module))
        return -1;
    if (!buffer && size > 0) {
        tern_null_error("module_summary_format", "buffer");
        return -1;
    }
    tern_writer writer = {.buffer = buffer, .size = size};
    tern_status status = make_table(&t, &options);
    if (!status)
        write_table(&t, &writer);
    free_table(&t);
    return status ? -1 : writer.length;
}
