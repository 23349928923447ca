// SPDX-License-Identifier: Apache-2.0
// Backwards over the tape, and what optimizers make of gradients.
#include <math.h>
#include <string.h>
#include "reference.h"

#define UNIT 0x1p-23

// ---- backward ----------------------------------------------------------------------------------

// A gradient's error is the child's through the slope, and the slope's own.
static void sweep(machine *m)
{
    for (int i = m->node_count - 1; i >= 0; i--)
        for (int k = 0; k < 2 && m->grad_error[i] >= 0; k++) {
            const scalar *n = &m->nodes[i];
            const int parent = n->parent[k];
            if (parent < 0)
                continue;
            const double part = n->partial[k] * m->grad[i];
            const double error = fabs(n->partial[k]) * m->grad_error[i] +
                                 n->slack[k] * (fabs(m->grad[i]) + m->grad_error[i] * UNIT) +
                                 fabs(part);
            m->grad[parent] += part;
            m->grad_error[parent] = fmax(0, m->grad_error[parent]) + error + fabs(m->grad[parent]);
        }
}

static bool leaf_is_reached(const machine *m, const leaf *l)
{
    for (int i = 0; i < m->reg[l->reg].numel; i++)
        if (m->grad_error[l->first + i] >= 0)
            return true;
    return false;
}

static bool leaf_is_sane(const machine *m, const leaf *l)
{
    for (int i = 0; i < m->reg[l->reg].numel; i++) {
        const double grad = m->grad[l->first + i], error = m->grad_error[l->first + i];
        if (!(fabs(grad) <= 1e4) || !(error * UNIT <= 1e-3 * fmax(1, fabs(grad))))
            return false;
    }
    return true;
}

static void leaf_accumulate(const machine *m, leaf *l)
{
    const bool fresh = !l->has_grad, reached = leaf_is_reached(m, l);
    l->unsure = !reached && (fresh || l->unsure);
    l->has_grad = true;
    for (int i = 0; i < m->reg[l->reg].numel; i++) {
        const double error = fmax(0, m->grad_error[l->first + i]);
        l->grad[i] = (fresh ? 0 : l->grad[i]) + m->grad[l->first + i];
        l->error[i] = (fresh ? 0 : l->error[i]) + error + fabs(l->grad[i]);
        l->worst = fmax(l->worst, l->error[i] + fabs(l->grad[i]));
    }
}

// The graph is gone: what had a history cannot be used any more.
static void drop_graph(machine *m)
{
    for (int i = 0; i < REGISTERS; i++)
        if (!m->reg[i].leaf && machine_needs(m, &m->reg[i]))
            m->reg[i].live = false;
    for (int i = 0; i < m->memory_count; i++)
        m->memories[i].saved = false;
    m->changed_saved = false;
}

bool reference_backward(machine *m, const instruction *ins)
{
    const array *loss = &m->reg[ins->a];
    if (!machine_needs(m, loss) || loss->leaf || loss->numel == 0)
        return false;
    for (int i = 0; i < m->node_count; i++) {
        m->grad[i] = 0;
        m->grad_error[i] = -1;
    }
    for (int i = 0; i < loss->numel; i++) {
        const int own = m->place[loss->place[i]];
        m->grad[own] += loss->numel == 1 ? 1 : element_of(ins->seed, i);
        m->grad_error[own] = 0;
    }
    sweep(m);
    const unsigned leaves = m->memories[loss->memory].leaves;
    for (int i = 0; i < m->leaf_count; i++)
        if (!leaf_is_sane(m, &m->leaves[i]))
            return false;
    for (int i = 0; i < m->leaf_count; i++)
        if (leaves >> i & 1)
            leaf_accumulate(m, &m->leaves[i]);
    if (!ins->flag)
        drop_graph(m);
    return true;
}

// ---- gradients and steps -----------------------------------------------------------------------

void reference_zero_grad(machine *m)
{
    for (int i = 0; i < m->leaf_count; i++)
        m->leaves[i].has_grad = m->leaves[i].unsure = false;
}

// All gradients times min(1, max_norm / (norm + 1e-6)).
bool reference_clip(machine *m, double max_norm)
{
    double squares = 0, errors = 0;
    int present = 0;
    for (int i = 0; i < m->leaf_count; i++)
        for (int k = 0; m->leaves[i].has_grad && k < m->reg[m->leaves[i].reg].numel; k++) {
            squares += m->leaves[i].grad[k] * m->leaves[i].grad[k];
            errors += m->leaves[i].error[k];
            present++;
        }
    const double norm = sqrt(squares), factor = fmin(1, max_norm / (norm + 1e-6));
    if (!present || fabs(max_norm / (norm + 1e-6) - 1) < 1e-3)
        return false;
    const double slack = factor < 1 ? 8 * factor + factor / norm * errors : 0;
    if (slack * UNIT > 1e-3)
        return false;
    for (int i = 0; i < m->leaf_count; i++)
        for (int k = 0; m->leaves[i].has_grad && k < m->reg[m->leaves[i].reg].numel; k++) {
            leaf *l = &m->leaves[i];
            l->error[k] = l->error[k] * factor + fabs(l->grad[k]) * slack;
            l->grad[k] *= factor;
        }
    return true;
}

// Sutskever et al. 2013, as PyTorch writes it.
static double sgd(leaf *l, int i, double p, bool nesterov)
{
    const double g = l->grad[i] + OPTIM_DECAY * p;
    double *buffer = &l->state[0][i];
    *buffer = l->steps == 0 ? g : OPTIM_MOMENTUM * *buffer + g;
    return p - OPTIM_LR * (nesterov ? g + OPTIM_MOMENTUM * *buffer : *buffer);
}

// Kingma and Ba 2014; Loshchilov and Hutter 2017 where the decay is decoupled.
static double adam(leaf *l, int i, double p, bool decoupled)
{
    const double t = (double)l->steps + 1;
    const double g = l->grad[i] + (decoupled ? 0 : OPTIM_DECAY * p);
    double *mean = &l->state[0][i], *square = &l->state[1][i];
    *mean = OPTIM_BETA1 * *mean + (1 - OPTIM_BETA1) * g;
    *square = OPTIM_BETA2 * *square + (1 - OPTIM_BETA2) * g * g;
    const double unbiased_mean = *mean / (1 - pow(OPTIM_BETA1, t));
    const double unbiased_square = *square / (1 - pow(OPTIM_BETA2, t));
    if (decoupled)
        p *= 1 - OPTIM_LR * OPTIM_DECAY;
    return p - OPTIM_LR * unbiased_mean / (sqrt(unbiased_square) + OPTIM_EPS);
}

// Far enough from the bounds of the tape that no step can leave them.
static bool may_step(const machine *m, const leaf *l)
{
    const array *v = &m->reg[l->reg];
    for (int i = 0; i < v->numel; i++) {
        const scalar *old = &m->nodes[m->place[v->place[i]]];
        if (fabs(old->value) > 100 || old->error * UNIT > 1e-4)
            return false;
    }
    return !l->unsure && l->worst <= 100 && m->node_count + v->numel < MOST_NODES;
}

static void step_leaf(machine *m, leaf *l)
{
    const array *v = &m->reg[l->reg];
    for (int i = 0; i < v->numel; i++) {
        const scalar *old = &m->nodes[m->place[v->place[i]]];
        const double p = old->value, error = old->error;
        const double next = m->optim - 1 < OPTIM_ADAM ? sgd(l, i, p, m->optim - 1 == OPTIM_NESTEROV)
                                                      : adam(l, i, p, m->optim - 1 == OPTIM_ADAMW);
        const int own = machine_constant(m, next);
        // A gradient's error counts 16 times at most: momentum, nesterov, 1 / eps.
        m->nodes[own].error = 2 * error + fabs(p) + 16 * OPTIM_LR * (l->worst + fabs(p));
        machine_replace(m, v, i, own);
    }
    machine_drop_views(m, v->memory, l->reg, false);
    l->steps++;
}

bool reference_step(machine *m)
{
    bool harms = false;
    if (!m->optim)
        return false;
    for (int i = 0; i < m->leaf_count; i++) {
        const leaf *l = &m->leaves[i];
        if (l->has_grad && !may_step(m, l))
            return false;
        harms |= l->has_grad && m->memories[m->reg[l->reg].memory].saved;
    }
    if (harms && !m->may_change_saved)
        return false;
    m->changed_saved |= harms;
    for (int i = 0; i < m->leaf_count; i++)
        if (m->leaves[i].has_grad)
            step_leaf(m, &m->leaves[i]);
    return true;
}
