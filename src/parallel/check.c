// SPDX-License-Identifier: Apache-2.0
// Are the gradients of several devices those of one?
#include <math.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/mem.h"
#include "device/draws.h"
#include "parallel/data_parallel.h"
#include "parallel/parallel.h"
#include "tensor/factory.h"
#include "tensor/liveness.h"

typedef struct comparison {
    const tern_parallel_check_options *options;
    tern_module *criterion; // a copy, or NULL
    tern_parallel_devices on;
    tern_tensor **sums; // the gradients of one device, by number of the parameter; NULL: none
    int64_t count;      // of parameters
    bool drew;          // the first device alone: random numbers
} comparison;

// ---- the two runs -------------------------------------------------------------------------------

static tern_status run_backward(const comparison *c, tern_tensor *output)
{
    tern_tensor *y = c->options->y, *loss = NULL;
    if (output && c->criterion)
        loss = tern_loss(c->criterion, output, y);
    else if (output && tern_dtype_is_floating(y->dtype))
        loss = tern_mse_loss(output, y, TERN_REDUCTION_MEAN);
    else if (output)
        loss = tern_cross_entropy(output, y);
    return loss ? tern_backward(loss) : tern_error_code();
}

// The pieces, all of them on the first device, run one after another. Returns how many, -1.
static int run_shards(const comparison *c, tern_module *module, tern_tensors *outputs)
{
    tern_tensors shards[TERN_MAX_DEVICES];
    tern_device first[TERN_MAX_DEVICES];
    const tern_tensors in = {.count = 1, .at = {tern_detach(c->options->x)}};
    for (int i = 0; i < c->on.count; i++)
        first[i] = c->on.devices[0];
    const int used =
        in.at[0] ? tern_shards_scatter("parallel_check", &in, first, c->on.count, c->on.dim, shards)
                 : -1;
    for (int i = 0; i < used; i++)
        if (tern_module_forward(module, &shards[i], &outputs[i]))
            return -1;
    return used;
}

// What backward leaves for the joined outputs, which end here.
static tern_tensor *gradient_of(const comparison *c, const tern_tensors *outputs, int used)
{
    tern_tensors joined;
    if (tern_shards_gather("parallel_check", outputs, used, c->on.output_device, c->on.dim,
                           &joined))
        return NULL;
    TERN_CHECK_PTR(joined.count == 1, TERN_ERR_ARG,
                   "parallel_check: the module gives %d tensors, but one can be compared",
                   joined.count);
    tern_tensor *end = tern_detach(joined.at[0]);
    if (!end || !tern_set_requires_grad(end, true) || run_backward(c, end))
        return NULL;
    return tern_to(tern_grad(end), c->on.devices[0]);
}

static tern_status add_gradients(const comparison *c, const tern_module *module)
{
    for (int64_t i = 0; i < c->count; i++) {
        tern_tensor *grad = tern_grad(tern_module_parameter_at(module, i, NULL, 0));
        if (!grad)
            continue;
        c->sums[i] = c->sums[i] ? tern_add(c->sums[i], grad) : tern_clone(grad);
        if (!c->sums[i])
            return tern_error_code();
    }
    return tern_error_code();
}

// The next piece of it: an element for a 0-dim output, all of it where nothing was joined.
static tern_tensor *part_of(const comparison *c, tern_tensor *gradient, const tern_tensor *output,
                            int used, int index, int64_t *begin)
{
    if (output->rank == 0)
        return tern_select(gradient, 0, index);
    if (used == 1)
        return gradient;
    const int dim = c->on.dim < 0 ? c->on.dim + output->rank : c->on.dim;
    const int64_t at = *begin;
    *begin += output->size[dim];
    return tern_narrow(gradient, dim, at, output->size[dim]);
}

// Each piece's gradients apart, added in the order of the pieces.
static tern_status run_backwards(const comparison *c, tern_module *module,
                                 const tern_tensors *outputs, int used)
{
    tern_tensor *gradient = gradient_of(c, outputs, used);
    int64_t begin = 0;
    for (int i = 0; i < used && gradient; i++) {
        tern_tensor *output = outputs[i].at[0];
        tern_tensor *part = part_of(c, gradient, output, used, i, &begin);
        tern_module_zero_grad(module);
        if (!part || (output->requires_grad && tern_backward(output, .gradient = part)))
            return tern_error_code();
        TERN_TRY(add_gradients(c, module));
    }
    return gradient ? TERN_OK : tern_error_code();
}

static tern_status run_alone(comparison *c, tern_module *module)
{
    tern_tensors outputs[TERN_MAX_DEVICES];
    tern_draw_state before, after;
    TERN_TRY(tern_draw_save(c->on.devices[0], &before));
    const int used = run_shards(c, module, outputs);
    if (used < 1)
        return tern_error_code();
    TERN_TRY(run_backwards(c, module, outputs, used));
    TERN_TRY(tern_draw_save(c->on.devices[0], &after));
    c->drew = before.base != after.base;
    return TERN_OK;
}

// ---- comparing ----------------------------------------------------------------------------------

// What the largest gradient may be off by rounding: 16 units of the dtype, which the tolerance is
// above for all but those of 16 bits.
static double share_of(const comparison *c, tern_dtype dtype)
{
    const double unit = dtype == TERN_FLOAT16 ? 0x1p-10 : dtype == TERN_BFLOAT16 ? 0x1p-7 : 0;
    return fmax(c->options->tolerance, 16 * unit);
}

static tern_status compare_values(const comparison *c, const char *name, tern_dtype dtype,
                                  const double *many, const double *one, int64_t numel)
{
    double largest = 0;
    for (int64_t i = 0; i < numel; i++)
        largest = fmax(largest, fabs(one[i]));
    for (int64_t i = 0; i < numel; i++) {
        const bool same = many[i] == one[i] || (isnan(many[i]) && isnan(one[i])) ||
                          fabs(many[i] - one[i]) <= share_of(c, dtype) * largest;
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
        status = compare_values(c, name, one->dtype, values, values + one->numel, one->numel);
    tern_mem_free(values, 2 * nbytes);
    return status;
}

static tern_status compare(const comparison *c, const tern_module *many)
{
    char name[TERN_NAME_SIZE];
    for (int64_t i = 0; i < c->count; i++) {
        const tern_tensor *p = tern_module_parameter_at(many, i, name, sizeof name);
        if (!p)
            return tern_error_code();
        TERN_TRY(compare_gradients(c, name, tern_grad(p), c->sums[i]));
    }
    return TERN_OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static tern_status copy_criterion(comparison *c)
{
    if (c->options->criterion)
        c->criterion = tern_module_copy(c->options->criterion);
    return c->options->criterion && !c->criterion ? tern_error_code() : TERN_OK;
}

static tern_status check_copies(comparison *c, tern_module *many, tern_module *one)
{
    tern_tensor *x = tern_detach(c->options->x);
    const tern_module *module = tern_module_child(many, "module");
    if (!x || !module)
        return tern_error_code();
    TERN_TRY(copy_criterion(c));
    tern_module_zero_grad(many);
    TERN_TRY(run_alone(c, one));
    TERN_TRY(run_backward(c, tern_forward(many, x)));
    return compare(c, module);
}

static tern_status check_in_scope(comparison *c)
{
    tern_module *many = tern_module_copy(c->options->module);
    tern_module *one =
        many ? tern_module_copy(tern_module_child(c->options->module, "module")) : NULL;
    c->count = one ? tern_module_num_parameters(one) : 0;
    c->sums = one ? tern_mem_alloc((size_t)(c->count + 1) * sizeof *c->sums) : NULL;
    tern_status status = c->sums ? check_copies(c, many, one) : tern_error_code();
    tern_mem_free(c->sums, (size_t)(c->count + 1) * sizeof *c->sums);
    tern_module_free(c->criterion);
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
