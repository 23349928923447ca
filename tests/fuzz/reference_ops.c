// SPDX-License-Identifier: Apache-2.0
// What operations compute, in loops over the tape's scalars.
#include <math.h>
#include "reference.h"

array machine_shape(int rank, const int64_t *size)
{
    array v = {.live = true, .rank = rank, .numel = 1};
    for (int d = 0; d < rank; d++) {
        v.size[d] = size[d];
        v.numel *= (int)size[d];
    }
    return v;
}

static void index_of(const array *v, int i, int64_t index[MOST_RANK])
{
    for (int d = v->rank - 1; d >= 0; d--) {
        index[d] = i % v->size[d];
        i /= (int)v->size[d];
    }
}

// The element of `v` that broadcasts to `index` of a result of `rank` dimensions.
static int element_at(const array *v, const int64_t *index, int rank)
{
    int element = 0;
    for (int d = 0; d < v->rank; d++)
        element =
            element * (int)v->size[d] + (v->size[d] == 1 ? 0 : (int)index[d + rank - v->rank]);
    return element;
}

static int read_at(machine *m, const array *v, const int64_t *index, int rank)
{
    return machine_read(m, v, element_at(v, index, rank));
}

static bool broadcast(const array *a, const array *b, array *out)
{
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t size[MOST_RANK];
    for (int d = 1; d <= rank; d++) {
        const int64_t x = d <= a->rank ? a->size[a->rank - d] : 1;
        const int64_t z = d <= b->rank ? b->size[b->rank - d] : 1;
        if (x != z && x != 1 && z != 1)
            return false;
        size[rank - d] = x == 1 ? z : x;
    }
    *out = machine_shape(rank, size);
    return out->numel <= MOST_NUMEL;
}

// ---- elementwise -------------------------------------------------------------------------------

static bool unary(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a];
    *v = machine_shape(a->rank, a->size);
    for (int i = 0; i < v->numel; i++)
        out[i] = scalar_unary(m, ins->op, machine_read(m, a, i), ins->number);
    return true;
}

static int combine(machine *m, op_code op, int x, int z)
{
    switch ((int)op) {
    case OP_add:
        return scalar_add(m, x, z);
    case OP_sub:
        return scalar_sub(m, x, z);
    case OP_mul:
        return scalar_mul(m, x, z);
    case OP_div:
        return scalar_div(m, x, z);
    default:
        return scalar_largest(m, x, z, op == OP_minimum);
    }
}

static bool binary(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a], *b = &m->reg[ins->b];
    if (!broadcast(a, b, v))
        return false;
    for (int i = 0; i < v->numel; i++) {
        int64_t index[MOST_RANK];
        index_of(v, i, index);
        out[i] = combine(m, ins->op, read_at(m, a, index, v->rank), read_at(m, b, index, v->rank));
    }
    return true;
}

// b where a > 0, else c.
static bool choose(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a], *b = &m->reg[ins->b], *c = &m->reg[ins->c];
    array both;
    if (!broadcast(b, c, &both) || !broadcast(a, &both, v))
        return false;
    for (int i = 0; i < v->numel; i++) {
        int64_t index[MOST_RANK];
        index_of(v, i, index);
        const int condition = read_at(m, a, index, v->rank);
        (void)scalar_unary(m, OP_relu, condition, 0); // refuses what rounding may decide
        const array *from = machine_value(m, condition) > 0 ? b : c;
        out[i] = read_at(m, from, index, v->rank);
    }
    return true;
}

// ---- reductions --------------------------------------------------------------------------------

static int sum_of(machine *m, const int *x, int count)
{
    int sum = machine_constant(m, 0);
    for (int i = 0; i < count; i++)
        sum = scalar_add(m, sum, x[i]);
    return sum;
}

static int sum_of_squares(machine *m, const int *x, int count, int center)
{
    int squares[MOST_NUMEL];
    for (int i = 0; i < count; i++) {
        const int from = center < 0 ? x[i] : scalar_sub(m, x[i], center);
        squares[i] = scalar_mul(m, from, from);
    }
    return sum_of(m, squares, count);
}

// Equal values share the gradient.
static int extreme_of(machine *m, const int *x, int count, bool smaller)
{
    int best = x[0], tied[MOST_NUMEL], ties = 0;
    for (int i = 1; i < count; i++) {
        const int better = scalar_largest(m, best, x[i], smaller);
        best = machine_value(m, better) == machine_value(m, best) ? best : x[i];
    }
    for (int i = 0; i < count; i++)
        if (machine_value(m, x[i]) == machine_value(m, best))
            tied[ties++] = scalar_scale(m, x[i], 1);
    return scalar_scale(m, sum_of(m, tied, ties), 1.0 / ties);
}

static int reduced(machine *m, const instruction *ins, const int *x, int count)
{
    switch ((int)ins->op) {
    case OP_sum:
        return sum_of(m, x, count);
    case OP_mean:
        return scalar_scale(m, sum_of(m, x, count), 1.0 / count);
    case OP_var: {
        const int mean = scalar_scale(m, sum_of(m, x, count), 1.0 / count);
        return scalar_scale(m, sum_of_squares(m, x, count, mean), 1 / (count - ins->number));
    }
    case OP_norm:
        return scalar_unary(m, OP_sqrt, sum_of_squares(m, x, count, -1), 0);
    default:
        return extreme_of(m, x, count, ins->op == OP_amin);
    }
}

static bool reduce(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a];
    bool gone[MOST_RANK] = {false};
    int64_t kept[MOST_RANK], size[MOST_RANK];
    int rank = 0;
    for (int i = 0; i < ins->count; i++)
        gone[ins->n[i]] = true;
    for (int d = 0; d < a->rank; d++) {
        gone[d] = gone[d] || ins->count == 0;
        kept[d] = gone[d] ? 1 : a->size[d];
        if (!gone[d] || ins->flag)
            size[rank++] = kept[d];
    }
    const array places = machine_shape(a->rank, kept);
    *v = machine_shape(rank, size);
    if (a->numel == 0)
        return false;
    for (int o = 0; o < v->numel; o++) {
        int x[MOST_NUMEL], count = 0;
        for (int i = 0; i < a->numel; i++) {
            int64_t index[MOST_RANK];
            index_of(a, i, index);
            if (element_at(&places, index, a->rank) == o)
                x[count++] = machine_read(m, a, i);
        }
        if (ins->op == OP_var && count < 2)
            return false;
        out[o] = reduced(m, ins, x, count);
    }
    return true;
}

// x - log sum exp(x), the largest taken away first.
static void log_softmax(machine *m, const int *x, int count, int *y)
{
    int terms[MOST_NUMEL];
    double largest = machine_value(m, x[0]);
    for (int i = 1; i < count; i++)
        largest = fmax(largest, machine_value(m, x[i]));
    const int shift = machine_constant(m, largest);
    for (int i = 0; i < count; i++) {
        y[i] = scalar_sub(m, x[i], shift);
        terms[i] = scalar_unary(m, OP_exp, y[i], 0);
    }
    const int logarithm = scalar_unary(m, OP_log, sum_of(m, terms, count), 0);
    for (int i = 0; i < count; i++)
        y[i] = scalar_sub(m, y[i], logarithm);
}

static void row_along(machine *m, op_code op, const int *x, int count, int *y)
{
    if (op != OP_cumsum)
        log_softmax(m, x, count, y);
    for (int i = 0; i < count; i++)
        if (op == OP_softmax)
            y[i] = scalar_unary(m, OP_exp, y[i], 0);
        else if (op == OP_cumsum)
            y[i] = i ? scalar_add(m, y[i - 1], x[i]) : scalar_scale(m, x[i], 1);
}

static bool along(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a];
    *v = machine_shape(a->rank, a->size);
    if (a->rank == 0 || a->numel == 0)
        return false;
    int stride = 1;
    for (int d = a->rank - 1; d > ins->n[0]; d--)
        stride *= (int)a->size[d];
    const int length = (int)a->size[ins->n[0]];
    for (int i = 0; i < a->numel; i++) {
        int x[MOST_NUMEL], y[MOST_NUMEL];
        if (i / stride % length != 0)
            continue;
        for (int k = 0; k < length; k++)
            x[k] = machine_read(m, a, i + k * stride);
        row_along(m, ins->op, x, length, y);
        for (int k = 0; k < length; k++)
            out[i + k * stride] = y[k];
    }
    return true;
}

// ---- products and losses -----------------------------------------------------------------------

static int dot(machine *m, const array *a, int first, int step, const array *b, int start,
               int stride, int count)
{
    int sum = machine_constant(m, 0);
    for (int k = 0; k < count; k++)
        sum = scalar_add(m, sum,
                         scalar_mul(m, machine_read(m, a, first + k * step),
                                    machine_read(m, b, start + k * stride)));
    return sum;
}

// (.., M, K) x (.., K, N), both of at least two dimensions.
static bool matmul(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a], *b = &m->reg[ins->b];
    if (a->rank < 2 || b->rank < 2 || a->size[a->rank - 1] != b->size[b->rank - 2])
        return false;
    const int rows = (int)a->size[a->rank - 2], inner = (int)a->size[a->rank - 1];
    const int cols = (int)b->size[b->rank - 1];
    array over_a = machine_shape(a->rank - 2, a->size),
          over_b = machine_shape(b->rank - 2, b->size);
    array lead;
    if (!broadcast(&over_a, &over_b, &lead) || lead.numel * rows * cols > MOST_NUMEL)
        return false;
    lead.size[lead.rank] = rows;
    lead.size[lead.rank + 1] = cols;
    *v = machine_shape(lead.rank + 2, lead.size);
    for (int i = 0; i < v->numel; i++) {
        int64_t index[MOST_RANK];
        index_of(&lead, i / (rows * cols), index);
        const int left = element_at(&over_a, index, lead.rank) * rows + i / cols % rows;
        const int right = element_at(&over_b, index, lead.rank) * inner * cols + i % cols;
        out[i] = dot(m, a, left * inner, 1, b, right, cols, inner);
    }
    return true;
}

// a b^T + c; relu of it where n[0] says so.
static bool linear(machine *m, const instruction *ins, array *v, int *out)
{
    const array *x = &m->reg[ins->a], *w = &m->reg[ins->b];
    const array *bias = ins->c >= 0 ? &m->reg[ins->c] : NULL;
    const int last = x->rank - 1;
    if (x->rank < 1 || w->rank != 2 || x->size[last] != w->size[1] ||
        (bias && (bias->rank != 1 || bias->size[0] != w->size[0])))
        return false;
    const int inner = (int)w->size[1], cols = (int)w->size[0];
    *v = machine_shape(x->rank, x->size);
    v->size[last] = cols;
    *v = machine_shape(v->rank, v->size);
    if (v->numel > MOST_NUMEL)
        return false;
    for (int i = 0; i < v->numel; i++) {
        out[i] = dot(m, x, i / cols * inner, 1, w, i % cols * inner, 1, inner);
        if (ins->c >= 0)
            out[i] = scalar_add(m, out[i], machine_read(m, bias, i % cols));
        if (ins->n[0])
            out[i] = scalar_unary(m, OP_relu, out[i], 0);
    }
    return true;
}

static bool mse_loss(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a], *b = &m->reg[ins->b];
    int squares[MOST_NUMEL];
    if (a->rank != b->rank || a->numel == 0)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->size[d] != b->size[d])
            return false;
    *v = machine_shape(0, NULL);
    for (int i = 0; i < a->numel; i++) {
        const int from = scalar_sub(m, machine_read(m, a, i), machine_read(m, b, i));
        squares[i] = scalar_mul(m, from, from);
    }
    out[0] = scalar_scale(m, sum_of(m, squares, a->numel), 1.0 / a->numel);
    return true;
}

// Of the labels n, smoothed by the number.
static bool cross_entropy(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a];
    int losses[MOST_WORDS];
    if (a->rank != 2 || a->size[0] != ins->count || a->size[1] < 1 || ins->count < 1)
        return false;
    const int classes = (int)a->size[1];
    for (int i = 0; i < ins->count; i++) {
        int x[MOST_NUMEL], y[MOST_NUMEL];
        if (ins->n[i] >= classes)
            return false;
        for (int k = 0; k < classes; k++)
            x[k] = machine_read(m, a, i * classes + k);
        log_softmax(m, x, classes, y);
        losses[i] = scalar_add(m, scalar_scale(m, y[ins->n[i]], ins->number - 1),
                               scalar_scale(m, sum_of(m, y, classes), -ins->number / classes));
    }
    *v = machine_shape(0, NULL);
    out[0] = scalar_scale(m, sum_of(m, losses, ins->count), 1.0 / ins->count);
    return true;
}

// ---- all ---------------------------------------------------------------------------------------

static bool hooked(machine *m, const instruction *ins, array *v, int *out)
{
    const array *a = &m->reg[ins->a];
    *v = machine_shape(a->rank, a->size);
    for (int i = 0; i < v->numel; i++) {
        const int twice = scalar_scale(m, machine_read(m, a, i), 2);
        out[i] = scalar_unary(m, OP_add_scalar, scalar_unary(m, OP_tanh, twice, 0), 1);
    }
    return true;
}

#define FUZZ_CASE(name) case OP_##name:

bool compute(machine *m, const instruction *ins, array *v, int *out)
{
    switch ((int)ins->op) {
        FUZZ_UNARY(FUZZ_CASE)
        FUZZ_SCALAR(FUZZ_CASE)
        return unary(m, ins, v, out);
        FUZZ_BINARY(FUZZ_CASE)
        return binary(m, ins, v, out);
        FUZZ_REDUCE(FUZZ_CASE)
        return reduce(m, ins, v, out);
        FUZZ_ALONG(FUZZ_CASE)
        return along(m, ins, v, out);
    case OP_matmul:
        return matmul(m, ins, v, out);
    case OP_linear:
        return linear(m, ins, v, out);
    case OP_where:
        return choose(m, ins, v, out);
    case OP_mse_loss:
        return mse_loss(m, ins, v, out);
    case OP_cross_entropy:
        return cross_entropy(m, ins, v, out);
    case OP_hooked:
        return hooked(m, ins, v, out);
    }
    return false;
}
