// SPDX-License-Identifier: Apache-2.0
// A table of a module: what each part gives, what it has and computes, and what training it takes.
#include <errno.h>
#include "base/cancel.h"
#include "base/terminal.h"
#include "train/summary/optimizer.h"
#include "train/summary/table.h"

#define MIN_WIDTH 60

// Zeros where the first floating parameter lives, and of its dtype unless told.
static tern_tensor *make_input(const tern_module_summary_print_options *o)
{
    tern_dtype dtype = o->dtype;
    tern_device device = {TERN_DEVICE_UNSPECIFIED, 0};
    int64_t count = tern_module_num_parameters(o->module);
    if (count < 0)
        return NULL;
    if (count > 0) {
        const tern_tensor *first = tern_module_parameter_at(o->module, 0, NULL, 0);
        if (!first)
            return NULL;
        device = tern_dev(first);
        dtype = dtype == TERN_DTYPE_UNSPECIFIED ? first->dtype : dtype;
    }
    return tern_zeros(o->input, .dtype = dtype, .device = device);
}

// Its input and results die here.
static tern_status run(summary_table *t, const tern_module_summary_print_options *o)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_tensor *x = make_input(o);
    tern_status status = x ? tern_summary_run(t, o->module, x) : tern_error_code();
    if (!status)
        status = tern_summary_train(t, o->module, x);
    tern_scope_close(scope);
    return status;
}

static tern_status make_table(summary_table *t, const tern_module_summary_print_options *o)
{
    TERN_TRY(tern_summary_make(t, o->module));
    if (o->optim)
        TERN_TRY(tern_summary_optimizer(o->optim, &t->optim_name, &t->memory.optim));
    return run(t, o);
}

// A terminal that is narrower than a table can be wraps it.
static int width_of(const tern_module_summary_print_options *o, FILE *file)
{
    const int columns = o->width ? o->width : tern_terminal_columns(file, 0);
    return columns == 0 || columns >= MIN_WIDTH ? columns : MIN_WIDTH;
}

static tern_status print_table(const summary_table *t, int width, FILE *file)
{
    int saved = errno; // the first write to a stream may set it even if all goes well
    int cancel_state = tern_cancel_disable();
    tern_summary_write(t, width, &(tern_writer){.file = file});
    bool written = !fflush(file) && !ferror(file);
    tern_cancel_restore(cancel_state);
    errno = saved;
    TERN_CHECK(written, TERN_ERR_IO, "module_summary_print: the file cannot be written");
    return TERN_OK;
}

static tern_status check(const tern_module_summary_print_options *o)
{
    const char *function = "module_summary_print";
    TERN_TRY(tern_check_module(function, o->module));
    TERN_CHECK(o->width == 0 || o->width >= MIN_WIDTH, TERN_ERR_ARG,
               "%s: a width of %d is too small; a table has %d columns or more", function, o->width,
               MIN_WIDTH);
    return TERN_OK;
}

tern_status tern_module_summary_print_with(const tern_module_summary_print_options *options)
{
    if (!options)
        return tern_null_error("module_summary_print", "options");
    TERN_TRY(check(options));
    FILE *file = options->file ? options->file : stdout;
    summary_table t = {0};
    tern_status status = make_table(&t, options);
    if (!status)
        status = print_table(&t, width_of(options, file), file);
    tern_summary_free(&t);
    return status;
}

int64_t tern_module_summary_format(tern_module *module, tern_shape input, tern_dtype dtype,
                                   char *buffer, size_t size)
{
    const tern_module_summary_print_options options = {
        .module = module, .input = input, .dtype = dtype};
    summary_table t = {0};
    if (tern_check_module("module_summary_format", module))
        return -1;
    if (!buffer && size > 0) {
        tern_null_error("module_summary_format", "buffer");
        return -1;
    }
    tern_writer writer = {.buffer = buffer, .size = size};
    tern_status status = make_table(&t, &options);
    if (!status)
        tern_summary_write(&t, 0, &writer);
    tern_summary_free(&t);
    return status ? -1 : writer.length;
}
