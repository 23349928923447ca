// SPDX-License-Identifier: Apache-2.0
// Running an instruction: registers, memory, scopes, changes in place.
#include <stdlib.h>
#include <string.h>
#include "reference.h"

// Its arrays are made once, for one machine at a time: they are megabytes, and a program is short.
machine *machine_new(void)
{
    static machine arrays;
    if (!arrays.nodes) {
        arrays.nodes = malloc(MOST_NODES * sizeof *arrays.nodes);
        arrays.grad = malloc(MOST_NODES * sizeof *arrays.grad);
        arrays.grad_error = malloc(MOST_NODES * sizeof *arrays.grad_error);
    }
    machine *m = malloc(sizeof *m);
    *m = arrays;
    return m;
}

void machine_free(machine *m)
{
    free(m);
}

bool machine_needs(const machine *m, const array *v)
{
    return m->memories[v->memory].needs && !v->constant;
}

int machine_read(machine *m, const array *v, int i)
{
    const int own = m->place[v->place[i]];
    if (!v->constant && m->recording)
        return own;
    const int copy = machine_constant(m, machine_value(m, own));
    m->nodes[copy].error = m->nodes[own].error;
    return copy;
}

void machine_replace(machine *m, const array *v, int i, int next)
{
    scalar n = m->nodes[next];
    const int old = m->place[v->place[i]];
    n.parent[0] = old;
    n.parent[1] = -1;
    n.partial[0] = 1;
    n.slack[0] = 0;
    m->nodes[next] = n;
    m->place[v->place[i]] = next;
}

// ---- making registers --------------------------------------------------------------------------

static void put(machine *m, int out, array v)
{
    v.live = true;
    v.depth = m->depth;
    m->reg[out] = v;
}

static bool saves(op_code op)
{
    switch ((int)op) {
    case OP_neg:
    case OP_add:
    case OP_sub:
    case OP_add_scalar:
    case OP_sub_scalar:
    case OP_mul_scalar:
    case OP_div_scalar:
    case OP_sum:
    case OP_mean:
    case OP_cumsum:
    case OP_clone:
    case OP_index_select:
    case OP_cat:
    case OP_stack:
    case OP_copy_:
    case OP_fill_:
    case OP_zero_:
    case OP_add_:
    case OP_add_scalar_:
    case OP_mul_scalar_:
        return false;
    }
    return true;
}

// What the result of an instruction depends on.
static storage joined(machine *m, const instruction *ins)
{
    // A condition has no gradient.
    const int operands[] = {ins->op == OP_where ? -1 : ins->a, ins->b, ins->c};
    storage all = {.needs = false};
    for (int i = 0; i < 3 && m->recording; i++)
        if (operands[i] >= 0 && machine_needs(m, &m->reg[operands[i]])) {
            all.needs = true;
            all.leaves |= m->memories[m->reg[operands[i]].memory].leaves;
        }
    for (int i = 0; i < 3 && all.needs; i++)
        if (operands[i] >= 0)
            m->memories[m->reg[operands[i]].memory].saved |= saves(ins->op);
    all.saved = all.needs && saves(ins->op);
    return all;
}

// A register over memory of its own, its elements these nodes.
static bool put_new(machine *m, const instruction *ins, array v, const int *nodes)
{
    if (m->refused || m->place_count + v.numel > MOST_PLACES)
        return false;
    v.memory = m->memory_count;
    m->memories[m->memory_count++] = joined(m, ins);
    for (int i = 0; i < v.numel; i++) {
        v.place[i] = m->place_count;
        m->place[m->place_count++] = nodes[i];
    }
    put(m, ins->out, v);
    return true;
}

static bool is_row_major(const array *a)
{
    for (int i = 1; i < a->numel; i++)
        if (a->place[i] != a->place[0] + i)
            return false;
    return true;
}

static bool is_copy(op_code op)
{
    return op == OP_clone || op == OP_index_select || op == OP_loader;
}

static bool run_arrange(machine *m, const instruction *ins)
{
    array v;
    int picked[MOST_NUMEL], nodes[MOST_NUMEL];
    const array *a = &m->reg[ins->a];
    // Of other strides it depends whether the result is a view.
    if ((ins->op == OP_reshape && !is_row_major(a)) || !arrange(m, ins, &v, picked))
        return false;
    if (is_copy(ins->op)) {
        array from = *a;
        m->recording = m->recording && ins->op != OP_loader;
        from.constant |= ins->op == OP_loader;
        for (int i = 0; i < v.numel; i++)
            nodes[i] = machine_read(m, &from, picked[i]);
        return put_new(m, ins, v, nodes);
    }
    v.memory = a->memory;
    v.view = true;
    v.by_detach = ins->op == OP_detach;
    v.constant = a->constant || v.by_detach || !m->recording;
    for (int i = 0; i < v.numel; i++)
        v.place[i] = a->place[picked[i]];
    put(m, ins->out, v);
    return true;
}

// cat along the dimension n[0], and stack, which is a cat of unsqueezed operands.
static bool run_join(machine *m, const instruction *ins)
{
    const array *parts[] = {&m->reg[ins->a], &m->reg[ins->b]};
    const bool stack = ins->op == OP_stack;
    const int dim = (int)ins->n[0], rank = parts[0]->rank;
    int64_t size[MOST_RANK + 1] = {0};
    int nodes[2 * MOST_NUMEL], count = 0, outer = 1;
    if (rank != parts[1]->rank || rank + stack > MOST_RANK || (!stack && rank == 0))
        return false;
    for (int d = 0; d < rank; d++) {
        if ((stack || d != dim) && parts[0]->size[d] != parts[1]->size[d])
            return false;
        size[d + (stack && d >= dim)] = parts[0]->size[d];
        outer *= d < dim ? (int)parts[0]->size[d] : 1;
    }
    size[dim] = stack ? 2 : size[dim] + parts[1]->size[dim];
    const array v = machine_shape(rank + stack, size);
    if (v.numel > MOST_NUMEL)
        return false;
    for (int o = 0; o < outer; o++)
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < parts[p]->numel / outer; i++)
                nodes[count++] = machine_read(m, parts[p], o * (parts[p]->numel / outer) + i);
    return put_new(m, ins, v, nodes);
}

static bool run_source(machine *m, const instruction *ins)
{
    array v = machine_shape(ins->count, ins->n);
    int nodes[MOST_NUMEL] = {0};
    const bool is_leaf = ins->op == OP_leaf;
    if (v.numel > MOST_NUMEL || (is_leaf && (m->leaf_count == MOST_LEAVES || m->optim)))
        return false;
    v.leaf = is_leaf;
    const int first = m->node_count;
    for (int i = 0; i < v.numel; i++)
        nodes[i] = machine_constant(m, element_of(ins->seed, i));
    if (!put_new(m, ins, v, nodes) || !is_leaf)
        return !m->refused;
    storage *own = &m->memories[m->memory_count - 1];
    own->needs = own->is_leaf = true;
    own->leaves = 1U << m->leaf_count;
    leaf *l = &m->leaves[m->leaf_count++];
    memset(l, 0, sizeof *l);
    l->reg = ins->out;
    l->first = first;
    return true;
}

// ---- in place ----------------------------------------------------------------------------------

static bool has_shared_places(const array *a)
{
    for (int i = 0; i < a->numel; i++)
        for (int k = 0; k < i; k++)
            if (a->place[i] == a->place[k])
                return true;
    return false;
}

// Whether tern lets `a` be changed by `b` in this mode, and gradients are what they would be in
// PyTorch. *history: the change is recorded.
static bool may_change(machine *m, const instruction *ins, bool *history)
{
    const array *a = &m->reg[ins->a], *b = ins->b < 0 ? NULL : &m->reg[ins->b];
    const storage *own = &m->memories[a->memory];
    const bool target = m->recording && machine_needs(m, a);
    const bool source = m->recording && b && machine_needs(m, b);
    *history = target || source;
    if (has_shared_places(a) || (b && ins->a != ins->b && a->memory == b->memory))
        return false;
    if (m->recording && a->constant && own->needs && !a->by_detach)
        return false;
    if ((target && (own->is_leaf || a->view)) || (source && (a->view || a->constant)))
        return false;
    const bool harms = own->saved || (ins->op == OP_mul_ && source);
    m->changed_saved |= harms && m->may_change_saved;
    return !harms || m->may_change_saved;
}

static int changed(machine *m, const instruction *ins, int old, int other)
{
    switch ((int)ins->op) {
    case OP_copy_:
        return scalar_scale(m, other, 1);
    case OP_fill_:
    case OP_zero_:
        return machine_constant(m, ins->op == OP_zero_ ? 0 : ins->number);
    case OP_add_:
        return scalar_add(m, old, scalar_scale(m, other, ins->number));
    case OP_mul_:
        return scalar_mul(m, old, other);
    default:
        return scalar_unary(m, ins->op, old, ins->number);
    }
}

// Tensors with a history whose memory was changed through another one cannot be used any more, nor
// views from before a change that is recorded.
void machine_drop_views(machine *m, int number, int but, bool history)
{
    for (int i = 0; i < REGISTERS; i++) {
        array *v = &m->reg[i];
        const bool stale = history ? !v->by_detach : machine_needs(m, v) && !v->leaf;
        if (i != but && v->memory == number && stale)
            v->live = false;
    }
}

static bool run_change(machine *m, const instruction *ins)
{
    array *a = &m->reg[ins->a];
    bool history;
    int next[MOST_NUMEL];
    if (!may_change(m, ins, &history))
        return false;
    array expanded = *a;
    if (ins->b >= 0) {
        instruction expand = {.op = OP_expand, .a = ins->b, .count = a->rank};
        memcpy(expand.n, a->size, sizeof a->size);
        int picked[MOST_NUMEL];
        if (!arrange(m, &expand, &expanded, picked))
            return false;
        expanded.constant = m->reg[ins->b].constant;
        for (int i = 0; i < expanded.numel; i++)
            expanded.place[i] = m->reg[ins->b].place[picked[i]];
    }
    const storage all = joined(m, ins);
    for (int i = 0; i < a->numel; i++)
        next[i] = changed(m, ins, machine_read(m, a, i), machine_read(m, &expanded, i));
    if (m->refused)
        return false;
    for (int i = 0; i < a->numel; i++)
        if (history)
            m->place[a->place[i]] = next[i];
        else
            machine_replace(m, a, i, next[i]);
    if (history) {
        storage *own = &m->memories[a->memory];
        own->needs = true;
        own->leaves |= all.leaves;
    }
    machine_drop_views(m, a->memory, ins->a, history);
    return true;
}

// ---- all ---------------------------------------------------------------------------------------

static bool run_close(machine *m, const instruction *ins)
{
    if (m->depth == 0 || (ins->a >= 0 && m->reg[ins->a].depth != m->depth))
        return false;
    m->depth--;
    for (int i = 0; i < REGISTERS; i++)
        if (m->reg[i].live && m->reg[i].depth > m->depth) {
            m->reg[i].live = i == ins->a;
            m->reg[i].depth = m->depth;
        }
    return true;
}

static bool run(machine *m, instruction *ins)
{
    array v;
    int nodes[MOST_NUMEL] = {0};
    switch ((int)ins->op) {
    case OP_leaf:
    case OP_constant:
        return run_source(m, ins);
    case OP_cat:
    case OP_stack:
        return run_join(m, ins);
    case OP_open:
        return ++m->depth;
    case OP_close:
        return run_close(m, ins);
    case OP_optim:
        return m->leaf_count && !m->optim && (m->optim = 1 + (int)ins->n[0]);
    case OP_backward:
        ins->may_refuse = m->changed_saved;
        return reference_backward(m, ins);
    case OP_step:
        return reference_step(m);
    case OP_clip:
        return reference_clip(m, ins->number);
    case OP_zero_grad:
        reference_zero_grad(m);
        return true;
    case OP_dead:
    case OP_mistake:
        return true;
    case OP_loader:
    case OP_reshape:
    case OP_transpose:
    case OP_narrow:
    case OP_slice:
    case OP_select:
    case OP_expand:
    case OP_unsqueeze:
    case OP_squeeze:
    case OP_detach:
    case OP_clone:
    case OP_index_select:
        return run_arrange(m, ins);
    case OP_copy_:
    case OP_fill_:
    case OP_zero_:
    case OP_add_:
    case OP_mul_:
    case OP_add_scalar_:
    case OP_mul_scalar_:
        return run_change(m, ins);
    }
    return compute(m, ins, &v, nodes) && put_new(m, ins, v, nodes);
}

bool machine_run(machine *m, instruction *ins)
{
    const int node_count = m->node_count, place_count = m->place_count;
    m->recording = !ins->no_grad;
    m->refused = false;
    if (run(m, ins))
        return true;
    m->node_count = node_count;
    m->place_count = place_count;
    return false;
}
