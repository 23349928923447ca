// SPDX-License-Identifier: Apache-2.0
#include "bounds.h"

#include "support/check.h"
#include "instruction_sets.h"

#define SETUPS 3 // the last ones of a case are its largest

setup enlarged_setup(const op_case *c, const setup *s, int factor)
{
    setup large = *s;
    for (int i = 0; i < c->inputs; i++) {
        for (int d = 0; d < s->in[i].rank; d++)
            large.in[i].dim[d] *= s->in[i].dim[d] == 1 ? 1 : factor;
        if (c->values[i] == LABEL && s->p[0] > 1)
            large.p[0] = s->p[0] * factor;
    }
    return large;
}

static double worst[TERN_BOOL + 1];

double bounds_worst(tern_dtype dtype)
{
    return worst[dtype];
}

static bool element_is_within(const op_case *c, const expected *want, int64_t i, real got)
{
    tern_dtype dtype = want->value.dtype;
    real unit = dtype == TERN_FLOAT64 ? 0x1p-53L : 0x1p-24L, exact = want->value.data[i];
    real magnitude = want->magnitude.data ? want->magnitude.data[i] : 0;
    real allowed = 2 * (real)want->terms * unit * magnitude, error = fabsl(got - exact);
    if (got == array_round(dtype, exact) || (isnan(got) && isnan(exact)))
        return true;
    if (allowed > 0)
        worst[dtype] = fmax(worst[dtype], (double)(error / allowed));
    if (error <= allowed)
        return true;
    print_error("%s%s%s, %s: element %lld is %.12Lg, exactly %.12Lg: off by %.3Lg of %.3Lg\n",
                c->op, c->note ? ", " : "", c->note ? c->note : "", tern_dtype_name(dtype),
                (long long)i, got, exact, error, allowed);
    return false;
}

static bool result_is_within(const op_case *c, const expected *want, tern_tensor *y)
{
    array got = array_of_tensor(y);
    bool within = got.numel == want->value.numel;
    for (int64_t i = 0; within && i < got.numel; i++)
        within = element_is_within(c, want, i, got.data[i]);
    array_free(&got);
    return within;
}

static tern_dtype result_dtype(const op_case *c, tern_dtype dtype)
{
    return c->result == TRUTH ? TERN_BOOL : c->result == PLACES ? TERN_INT64 : dtype;
}

static bool setup_is_within(const op_case *c, const setup *s, tern_dtype dtype)
{
    array in[MAX_IN] = {{0}};
    tern_tensor *operands[MAX_IN] = {NULL};
    expected want = {.value = {.dtype = result_dtype(c, dtype)}};
    bool within = true;
    tern_scope scope = tern_scope_open();
    make_inputs(c, s, dtype, false, in);
    for (int i = 0; i < c->inputs; i++)
        operands[i] = array_to_tensor(&in[i], tern_cpu(0), LAYOUT_CONTIGUOUS);
    c->reference(c, s, in, &want);
    FOR_EACH_INSTRUCTION_SET(set)
    {
        tern_tensor *y = c->call(operands, c, s);
        assert_no_error();
        if (result_is_within(c, &want, y))
            continue;
        print_error("under %s\n", instruction_set_name(set));
        within = false;
    }
    tern_scope_close(scope);
    for (int i = 0; i < MAX_IN; i++)
        array_free(&in[i]);
    array_free(&want.value);
    array_free(&want.magnitude);
    return within;
}

bool sums_are_within_bounds(const op_case *c, tern_dtype dtype, int factor)
{
    bool within = true;
    for (int k = c->setup_count < SETUPS ? 0 : c->setup_count - SETUPS; k < c->setup_count; k++) {
        setup large = enlarged_setup(c, &c->setups[k], factor);
        within = setup_is_within(c, &large, dtype) && within;
    }
    return within;
}
