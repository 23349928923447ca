// SPDX-License-Identifier: Apache-2.0
// Gradients compared with central differences, element by element.
#include <math.h>
#include <string.h>

#include <tern/gradcheck.h>
#include "base/mem.h"
#include "nn/module/module.h"
#include "tensor/factory.h"
#include "tensor/liveness.h"

// One check. The variables are the inputs, then the parameters of the module.
typedef struct gradcheck {
    const char *op;
    const tern_gradcheck_options *o;
    tern_module *module; // NULL: the options' function is checked
    int64_t variables;   // tensors
    int64_t columns;     // elements of those that are checked
    tern_shape shape;    // of the result
    int64_t rows;        // elements of it
    double *backward;    /* (rows, columns) */
    double *results[2];  /* (rows) each */
    double *values;      // of one variable
    size_t nbytes;       // of all that memory
} gradcheck;

// The element whose gradients differ most, compared with what they may.
typedef struct worst_element {
    double excess;
    int64_t row, element, variable, count; // count: of all that differ
    double backward, difference;
} worst_element;

// ---- the function and its variables -------------------------------------------------------------

static tern_tensor *call(const gradcheck *g)
{
    if (!g->module)
        return g->o->function(g->o->inputs, g->o->user);
    return tern_call_n(g->module, g->o->count, g->o->inputs);
}

static tern_tensor *variable_at(const gradcheck *g, int64_t index)
{
    if (index < g->o->count)
        return g->o->inputs[index];
    return tern_module_parameter_at(g->module, index - g->o->count, NULL, 0);
}

// "input 1", `parameter "0.weight"`, into `text` (TERN_NAME_SIZE + 16 bytes).
static const char *name_variable(const gradcheck *g, int64_t index, char *text)
{
    char name[TERN_NAME_SIZE];
    text[0] = '\0';
    if (index < g->o->count)
        snprintf(text, TERN_NAME_SIZE + 16, "input %lld", (long long)index);
    else if (tern_module_parameter_at(g->module, index - g->o->count, name, sizeof name))
        snprintf(text, TERN_NAME_SIZE + 16, "parameter \"%s\"", name);
    return text;
}

static tern_status check_variable(const gradcheck *g, int64_t index)
{
    char text[TERN_NAME_SIZE + 16];
    const char *name = name_variable(g, index, text);
    const tern_tensor *t = variable_at(g, index);
    TERN_TRY(tern_check_tensor(g->op, name, t));
    if (!tern_requires_grad(t))
        return TERN_OK;
    TERN_CHECK(t->dtype == TERN_FLOAT64, TERN_ERR_DTYPE,
               "%s: %s is %s, but differences say enough in float64 only; convert it first", g->op,
               name, tern_dtype_name(t->dtype));
    TERN_CHECK(tern_is_leaf(t), TERN_ERR_STATE,
               "%s: %s is no leaf, so it keeps no gradient; take tern_detach of it", g->op, name);
    return TERN_OK;
}

static tern_status find_variables(gradcheck *g)
{
    const int64_t parameters = g->module ? tern_module_num_parameters(g->module) : 0;
    if (parameters < 0)
        return tern_error_code();
    g->variables = g->o->count + parameters;
    for (int64_t i = 0; i < g->variables; i++) {
        TERN_TRY(check_variable(g, i));
        if (tern_requires_grad(variable_at(g, i)))
            g->columns += variable_at(g, i)->numel;
    }
    TERN_CHECK(g->columns > 0, TERN_ERR_ARG, "%s: no element of an input requires a gradient",
               g->op);
    return TERN_OK;
}

// ---- by backward --------------------------------------------------------------------------------

static void forget_gradients(const gradcheck *g)
{
    for (int64_t i = 0; i < g->variables; i++)
        if (tern_requires_grad(variable_at(g, i)))
            tern_zero_grad(variable_at(g, i));
}

// Gradients of one element of the result, where it reaches a variable, into a row of zeros.
static tern_status take_gradients(const gradcheck *g, double *row)
{
    for (int64_t i = 0; i < g->variables; i++) {
        const tern_tensor *t = variable_at(g, i), *grad;
        if (!tern_requires_grad(t))
            continue;
        grad = tern_grad(t);
        if (grad)
            TERN_TRY(tern_download_as(grad, TERN_FLOAT64, row));
        row += t->numel;
    }
    return TERN_OK;
}

static tern_status run_backward(const gradcheck *g, tern_tensor *y, int64_t row)
{
    memset(g->results[0], 0, (size_t)g->rows * sizeof(double));
    g->results[0][row] = 1;
    tern_tensor *dy = tern_new_empty(y, g->shape);
    if (!dy)
        return tern_error_code();
    TERN_TRY(tern_upload(g->op, dy, g->results[0]));
    forget_gradients(g);
    TERN_TRY(tern_backward(y, .gradient = dy, .retain_graph = row + 1 < g->rows));
    return take_gradients(g, g->backward + row * g->columns);
}

// A result without history has gradients of 0.
static tern_status fill_backward(const gradcheck *g)
{
    tern_tensor *y = call(g);
    if (!y)
        return tern_error_code();
    memset(g->backward, 0, (size_t)(g->rows * g->columns) * sizeof(double));
    tern_status status = TERN_OK;
    for (int64_t row = 0; !status && row < g->rows && tern_requires_grad(y); row++) {
        status = TERN_ERR_NOMEM; // where there is none for a scope
        tern_with_scope
            status = run_backward(g, y, row);
    }
    return status;
}

// ---- by differences -----------------------------------------------------------------------------

static tern_status evaluate(const gradcheck *g, double *result)
{
    tern_status status = TERN_ERR_NOMEM;
    tern_no_grad
        tern_with_scope {
            const tern_tensor *y = call(g);
            status = y ? TERN_OK : tern_error_code();
            if (y && (y->dtype != TERN_FLOAT64 || !tern_shape_equal(tern_shape_get(y), g->shape)))
                status =
                    tern_error_raise(TERN_ERR_STATE, "%s: two calls gave float64 %s and %s", g->op,
                                     tern_shape_string(g->shape), tern_tensor_string(y));
            status = status ? status : tern_download_as(y, TERN_FLOAT64, result);
        }
    return status;
}

static tern_status check_repeatable(const gradcheck *g)
{
    TERN_TRY(evaluate(g, g->results[0]));
    TERN_TRY(evaluate(g, g->results[1]));
    TERN_CHECK(memcmp(g->results[0], g->results[1], (size_t)g->rows * sizeof(double)) == 0,
               TERN_ERR_STATE,
               "%s: two calls with the same inputs gave other values; a module that draws is "
               "checked after tern_module_eval",
               g->op);
    return TERN_OK;
}

static tern_status set_values(const gradcheck *g, tern_tensor *t)
{
    tern_status status = TERN_OK;
    tern_no_grad
        status = tern_from_host(t, g->values, (size_t)t->numel * sizeof(double));
    return status;
}

// The results with element `i` of a variable moved to either side.
static tern_status evaluate_beside(const gradcheck *g, tern_tensor *t, int64_t i)
{
    const double value = g->values[i];
    tern_status status = TERN_OK;
    for (int side = 0; side < 2 && !status; side++) {
        g->values[i] = side ? value + g->o->eps : value - g->o->eps;
        status = set_values(g, t);
        status = status ? status : evaluate(g, g->results[side]);
    }
    g->values[i] = value;
    const tern_status restored = set_values(g, t);
    return status ? status : restored;
}

// Compares a column: what backward and the differences say of one element of a variable.
static void compare(const gradcheck *g, int64_t column, int64_t variable, int64_t element,
                    worst_element *worst)
{
    for (int64_t row = 0; row < g->rows; row++) {
        const double backward = g->backward[row * g->columns + column];
        const double difference = (g->results[1][row] - g->results[0][row]) / (2 * g->o->eps);
        const double allowed = g->o->atol + g->o->rtol * fabs(difference);
        if (fabs(backward - difference) <= allowed)
            continue;
        const double over = fabs(backward - difference) - allowed;
        const double excess = isnan(over) ? INFINITY : over;
        if (worst->count++ == 0 || excess > worst->excess)
            *worst =
                (worst_element){excess, row, element, variable, worst->count, backward, difference};
    }
}

static tern_status compare_all(const gradcheck *g, worst_element *worst)
{
    int64_t column = 0;
    for (int64_t v = 0; v < g->variables; v++) {
        tern_tensor *t = variable_at(g, v);
        if (!tern_requires_grad(t))
            continue;
        TERN_TRY(tern_download_as(t, TERN_FLOAT64, g->values));
        for (int64_t i = 0; i < t->numel; i++, column++) {
            TERN_TRY(evaluate_beside(g, t, i));
            compare(g, column, v, i, worst);
        }
    }
    return TERN_OK;
}

// ---- the check ----------------------------------------------------------------------------------

// The position of an element, as a shape is written: (0, 2).
static tern_shape position_of(tern_shape shape, int64_t element)
{
    tern_shape position = shape;
    for (int i = shape.rank - 1; i >= 0; i--) {
        position.dim[i] = element % shape.dim[i];
        element /= shape.dim[i];
    }
    return position;
}

static tern_status report(const gradcheck *g, const worst_element *worst)
{
    char text[TERN_NAME_SIZE + 16];
    const tern_shape shape = tern_shape_get(variable_at(g, worst->variable));
    return tern_error_raise(
        TERN_ERR_NUMERIC,
        "%s: at element %s of %s backward gives %.6g and differences %.6g, for element %s of the "
        "result; %lld of %lld gradients differ",
        g->op, tern_shape_string(position_of(shape, worst->element)),
        name_variable(g, worst->variable, text), worst->backward, worst->difference,
        tern_shape_string(position_of(g->shape, worst->row)), (long long)worst->count,
        (long long)(g->rows * g->columns));
}

static tern_status run(const gradcheck *g)
{
    worst_element worst = {0};
    TERN_TRY(check_repeatable(g));
    TERN_TRY(fill_backward(g));
    TERN_TRY(compare_all(g, &worst));
    return worst.count ? report(g, &worst) : TERN_OK;
}

// The shape of the result.
static tern_status measure(gradcheck *g)
{
    const tern_tensor *y = NULL;
    tern_no_grad
        y = call(g);
    if (!y)
        return tern_error_code();
    TERN_CHECK(y->dtype == TERN_FLOAT64, TERN_ERR_DTYPE,
               "%s: the result is %s, but differences say enough in float64 only", g->op,
               tern_dtype_name(y->dtype));
    TERN_CHECK(y->numel > 0, TERN_ERR_ARG, "%s: the result is %s, which has no elements", g->op,
               tern_tensor_string(y));
    g->shape = tern_shape_get(y);
    g->rows = y->numel;
    return TERN_OK;
}

static tern_status run_in_memory(gradcheck *g)
{
    TERN_TRY(measure(g));
    const int64_t counts[] = {g->rows * g->columns, g->rows, g->rows, g->columns};
    double **const parts[] = {&g->backward, &g->results[0], &g->results[1], &g->values};
    g->nbytes = (size_t)(counts[0] + counts[1] + counts[2] + counts[3]) * sizeof(double);
    double *memory = tern_cache_alloc(g->nbytes);
    if (!memory)
        return tern_error_code();
    *parts[0] = memory;
    for (int i = 1; i < 4; i++)
        *parts[i] = *parts[i - 1] + counts[i - 1];
    const tern_status status = run(g);
    forget_gradients(g);
    tern_cache_free(memory, g->nbytes);
    return status;
}

static tern_status check_options(const gradcheck *g)
{
    const tern_gradcheck_options *o = g->o;
    if (!o->inputs)
        return tern_null_error(g->op, "inputs");
    TERN_CHECK(o->count > 0, TERN_ERR_ARG, "%s: count is %lld, but must be positive", g->op,
               (long long)o->count);
    TERN_CHECK(o->eps > 0 && isfinite(o->eps), TERN_ERR_ARG,
               "%s: eps is %g, but must be positive and finite", g->op, o->eps);
    TERN_CHECK(o->atol >= 0 && o->rtol >= 0, TERN_ERR_ARG,
               "%s: atol is %g and rtol %g, but neither may be negative", g->op, o->atol, o->rtol);
    return TERN_OK;
}

static tern_status check(gradcheck *g)
{
    TERN_TRY(check_options(g));
    TERN_TRY(find_variables(g));
    const bool before = tern_set_grad_enabled(true);
    tern_status status = TERN_ERR_NOMEM;
    tern_with_scope
        status = run_in_memory(g);
    tern_set_grad_enabled(before);
    return status;
}

tern_status tern_gradcheck_with(const tern_gradcheck_options *o)
{
    gradcheck g = {.op = "gradcheck", .o = o};
    if (!o)
        return tern_null_error(g.op, "options");
    if (!o->function)
        return tern_null_error(g.op, "function");
    return check(&g);
}

tern_status tern_gradcheck_module_with(const tern_gradcheck_module_options *o)
{
    gradcheck g = {.op = "gradcheck_module"};
    if (!o)
        return tern_null_error(g.op, "options");
    TERN_TRY(tern_check_module(g.op, o->module));
    const tern_gradcheck_options options = {
        .eps = o->eps, .atol = o->atol, .rtol = o->rtol, .inputs = o->inputs, .count = o->count};
    g.module = o->module;
    g.o = &options;
    return check(&g);
}
