// SPDX-License-Identifier: Apache-2.0
// Are the gradients of several devices those of one?
#include <math.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/mem.h"
#include "device/draws.h"
#include "parallel/data_parallel.h"
#include "parallel/parallel.h"
#include "tensor/front.h"

typedef struct comparison {
    const tern_parallel_check_options *options;
    tern_parallel_devices on;
    bool drew; // the first device alone: random numbers
} comparison;

// ---- the two runs -------------------------------------------------------------------------------

static tern_status run_backward(const comparison *c, tern_tensor *output)
{
    const tern_parallel_check_options *o = c->options;
    tern_tensor *loss = NULL;
    if (output && o->criterion)
        loss = tern_loss(o->criterion, output, o->y);
    else if (output && tern_dtype_is_floating(o->y->dtype))
        loss = tern_mse_loss(output, o->y, TERN_REDUCTION_MEAN);
    else if (output)
        loss = tern_cross_entropy(output, o->y);
    return loss ? tern_backward(loss) : tern_error_code();
}

static tern_tensor *run_pieces(const comparison *c, tern_module *module)
{
    tern_tensors pieces[TERN_MAX_DEVICES], outputs[TERN_MAX_DEVICES], out;
    tern_device first[TERN_MAX_DEVICES];
    const tern_tensors in = {.count = 1, .at = {c->options->x}};
    for (int i = 0; i < c->on.count; i++)
        first[i] = c->on.devices[0];
    const int used = tern_pieces_cut("parallel_check", &in, first, c->on.count, c->on.dim, pieces);
    for (int i = 0; i < used; i++)
        if (tern_module_forward(module, &pieces[i], &outputs[i]))
            return NULL;
    if (used < 1 ||
        tern_pieces_join("parallel_check", outputs, used, c->on.output_device, c->on.dim, &out))
        return NULL;
    TERN_CHECK_PTR(out.count == 1, TERN_ERR_ARG,
                   "parallel_check: the module gives %d tensors, but one can be compared",
                   out.count);
    return out.at[0];
}

static tern_status run_alone(comparison *c, tern_module *module)
{
    tern_draw_state before, after;
    TERN_TRY(tern_draw_save(c->on.devices[0], &before));
    TERN_TRY(run_backward(c, run_pieces(c, module)));
    TERN_TRY(tern_draw_save(c->on.devices[0], &after));
    c->drew = before.base != after.base;
    return TERN_OK;
}

// ---- comparing ----------------------------------------------------------------------------------

static tern_status compare_values(const comparison *c, const char *name, const double *many,
                                  const double *one, int64_t numel)
{
    double largest = 0;
    for (int64_t i = 0; i < numel; i++)
        largest = fmax(largest, fabs(one[i]));
    for (int64_t i = 0; i < numel; i++) {
        const bool same = many[i] == one[i] || (isnan(many[i]) && isnan(one[i])) ||
                          fabs(many[i] - one[i]) <= c->options->tolerance * largest;
        if (same)
            continue;
        TERN_CHECK(!c->drew, TERN_ERR_STATE,
                   "parallel_check: the module draws random numbers, other ones on each device, so "
                   "that the gradient of \"%s\" differs; compare in evaluation mode "
                   "(tern_module_eval)",
                   name);
        return tern_error_raise(TERN_ERR_NUMERIC,
                                "parallel_check: the gradient of \"%s\" differs: its element %lld "
                                "is %.9g over %d devices and %.9g on %s, which runs the same "
                                "pieces",
                                name, (long long)i, many[i], c->on.count, one[i],
                                tern_device_string(c->on.devices[0]));
    }
    return TERN_OK;
}

static tern_status compare_gradients(const comparison *c, const char *name, const tern_tensor *many,
                                     const tern_tensor *one)
{
    if (!many && !one)
        return TERN_OK;
    TERN_CHECK(many && one, TERN_ERR_NUMERIC,
               "parallel_check: \"%s\" has %s gradient over %d devices and %s on %s", name,
               many ? "a" : "no", c->on.count, one ? "a" : "no",
               tern_device_string(c->on.devices[0]));
    const size_t nbytes = (size_t)one->numel * sizeof(double);
    if (nbytes == 0)
        return TERN_OK;
    double *values = tern_mem_alloc(2 * nbytes);
    if (!values)
        return TERN_ERR_NOMEM;
    tern_status status = tern_download_as(many, TERN_FLOAT64, values);
    if (!status)
        status = tern_download_as(one, TERN_FLOAT64, values + one->numel);
    if (!status)
        status = compare_values(c, name, values, values + one->numel, one->numel);
    tern_mem_free(values, 2 * nbytes);
    return status;
}

static tern_status compare(const comparison *c, const tern_module *many, const tern_module *one)
{
    char name[TERN_NAME_SIZE];
    const int64_t count = tern_module_num_parameters(one);
    for (int64_t i = 0; i < count; i++) {
        const tern_tensor *a = tern_module_parameter_at(many, i, NULL, 0);
        const tern_tensor *b = tern_module_parameter_at(one, i, name, sizeof name);
        if (!a || !b)
            return tern_error_code();
        TERN_TRY(compare_gradients(c, name, tern_grad(a), tern_grad(b)));
    }
    return count < 0 ? tern_error_code() : TERN_OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static tern_status check_copies(comparison *c, tern_module *many, tern_module *one)
{
    tern_module *module = tern_module_child(many, "module");
    if (!module)
        return tern_error_code();
    tern_module_zero_grad(many);
    tern_module_zero_grad(one);
    TERN_TRY(run_alone(c, one));
    TERN_TRY(run_backward(c, tern_forward(many, c->options->x)));
    return compare(c, module, one);
}

static tern_status check_in_scope(comparison *c)
{
    tern_module *many = tern_module_copy(c->options->module);
    tern_module *one =
        many ? tern_module_copy(tern_module_child(c->options->module, "module")) : NULL;
    tern_status status = one ? check_copies(c, many, one) : tern_error_code();
    tern_module_free(one);
    tern_module_free(many);
    return status;
}

static tern_status check_options(const tern_parallel_check_options *o)
{
    TERN_TRY(tern_check_module("parallel_check", o->module));
    TERN_TRY(tern_check_tensor("parallel_check", "x", o->x));
    TERN_TRY(tern_check_tensor("parallel_check", "y", o->y));
    TERN_CHECK(tern_is_data_parallel(o->module), TERN_ERR_ARG,
               "parallel_check: this %s is not data parallel", o->module->klass->name);
    TERN_CHECK(o->tolerance >= 0, TERN_ERR_ARG,
               "parallel_check: .tolerance is %g, but must be 0 or more", o->tolerance);
    TERN_CHECK(tern_grad_enabled(), TERN_ERR_STATE,
               "parallel_check: called under tern_no_grad, where there are no gradients");
    return TERN_OK;
}

tern_parallel_check_options tern_parallel_check_defaults(void)
{
    return (tern_parallel_check_options){.tolerance = 1e-4};
}

tern_status tern_parallel_check_with(const tern_parallel_check_options *options)
{
    if (!options)
        return tern_null_error("parallel_check", "options");
    TERN_TRY(check_options(options));
    comparison c = {.options = options, .on = tern_data_parallel_on(options->module)};
    if (c.on.count < 2)
        return TERN_OK;
    const tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_status status = check_in_scope(&c);
    tern_scope_close(scope);
    return status;
}
