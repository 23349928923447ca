// SPDX-License-Identifier: Apache-2.0
// What L-BFGS remembers: holding it, and saving it under PyTorch's names.
#include "optim/lbfgs/state.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "state/visitor.h"
#include "tensor/header.h"

void tern_lbfgs_set(tern_tensor **slot, tern_tensor *t)
{
    tern_tensor *before = *slot;
    *slot = tern_tensor_retain(t);
    tern_tensor_release(before);
}

tern_status tern_lbfgs_set_made(tern_tensor **slot, tern_tensor *made)
{
    if (!made)
        return tern_error_code();
    tern_lbfgs_set(slot, made);
    return TERN_OK;
}

static void release_correction(tern_lbfgs_correction *c)
{
    tern_lbfgs_set(&c->gradient, NULL);
    tern_lbfgs_set(&c->step, NULL);
}

void tern_lbfgs_release_oldest(tern_lbfgs *l)
{
    release_correction(&l->history[0]);
    memmove(l->history, l->history + 1, (size_t)(--l->count) * sizeof *l->history);
    l->history[l->count] = (tern_lbfgs_correction){0}; // which loading looks at
}

void tern_lbfgs_release(tern_lbfgs *l)
{
    while (l->count > 0)
        release_correction(&l->history[--l->count]);
    tern_lbfgs_set(&l->d, NULL);
    tern_lbfgs_set(&l->prev_flat_grad, NULL);
    tern_mem_free(l->history, (size_t)l->capacity * sizeof *l->history);
    *l = (tern_lbfgs){0};
}

static tern_status reserve(tern_lbfgs *l, int64_t count)
{
    return tern_mem_grow((void **)&l->history, &l->capacity, count, sizeof *l->history);
}

tern_status tern_lbfgs_add(tern_lbfgs *l, tern_tensor *gradient, tern_tensor *step, double ro)
{
    TERN_TRY(reserve(l, l->count + 1));
    l->history[l->count++] =
        (tern_lbfgs_correction){tern_tensor_retain(gradient), tern_tensor_retain(step), ro, 0};
    return TERN_OK;
}

tern_status tern_lbfgs_copy(tern_lbfgs *to, const tern_lbfgs *from)
{
    *to = *from;
    to->history = NULL;
    to->count = to->capacity = 0;
    tern_tensor_retain(to->d);
    tern_tensor_retain(to->prev_flat_grad);
    TERN_TRY(reserve(to, from->count));
    for (; to->count < from->count; to->count++) {
        to->history[to->count] = from->history[to->count];
        tern_tensor_retain(to->history[to->count].gradient);
        tern_tensor_retain(to->history[to->count].step);
    }
    return TERN_OK;
}

static tern_status follow(const tern_tensor *param, tern_tensor **slot)
{
    if (!*slot ||
        ((*slot)->dtype == param->dtype && tern_same_device(tern_dev(*slot), tern_dev(param))))
        return TERN_OK;
    return tern_lbfgs_set_made(slot, tern_to_dtype(tern_to(*slot, tern_dev(param)), param->dtype));
}

// The state comes to where the parameters are.
tern_status tern_lbfgs_follow(tern_lbfgs *l, const tern_tensor *param)
{
    TERN_TRY(follow(param, &l->d));
    TERN_TRY(follow(param, &l->prev_flat_grad));
    for (int64_t i = 0; i < l->count; i++) {
        TERN_TRY(follow(param, &l->history[i].gradient));
        TERN_TRY(follow(param, &l->history[i].step));
    }
    return TERN_OK;
}

// ---- saving and loading -------------------------------------------------------------------------

typedef struct visited {
    tern_lbfgs *of;
    tern_tensor *like; // a vector of all parameters
    bool begun;        // of what is loaded
} visited;

// A tensor that has to be there once there was an iteration.
static tern_status visit_vector(const visited *v, tern_state_visitor *visitor, const char *name,
                                tern_tensor **slot)
{
    if (v->begun && !tern_visit_is_taking(visitor) && !tern_visit_peek_tensor(visitor, name))
        return tern_visit_refuse(visitor, name, "is no tensor, though there were iterations");
    return tern_visit_optional_retained(visitor, name, slot, v->like);
}

static tern_status visit_number(tern_state_visitor *visitor, const char *name, double *number)
{
    double saved;
    if (tern_visit_peek_double(visitor, name, &saved) && !isfinite(saved))
        return tern_visit_refuse(visitor, name, "is %g", saved);
    return tern_visit_double(visitor, name, number);
}

static tern_status visit_count(tern_state_visitor *visitor, const char *name, int64_t *count)
{
    int64_t saved;
    if (tern_visit_peek_int(visitor, name, &saved) && saved < 0)
        return tern_visit_refuse(visitor, name, "is %lld", (long long)saved);
    return tern_visit_int(visitor, name, count);
}

static const char *item(char name[32], const char *list, int64_t index)
{
    snprintf(name, 32, "%s.%lld", list, (long long)index);
    return name;
}

static tern_status visit_correction(const visited *v, tern_state_visitor *visitor, int64_t index)
{
    char name[32];
    tern_lbfgs_correction *c = &v->of->history[index];
    TERN_TRY(visit_vector(v, visitor, item(name, "old_dirs", index), &c->gradient));
    TERN_TRY(visit_vector(v, visitor, item(name, "old_stps", index), &c->step));
    return visit_number(visitor, item(name, "ro", index), &c->ro);
}

static int64_t corrections_of(const tern_lbfgs *l, const tern_state_visitor *visitor)
{
    int64_t count = 0;
    char name[32];
    if (!tern_visit_is_loading(visitor))
        return l->count;
    while (tern_visit_peek_tensor(visitor, item(name, "old_dirs", count)))
        count++;
    return count;
}

static tern_status visit_history(const visited *v, tern_state_visitor *visitor)
{
    tern_lbfgs *l = v->of;
    const int64_t count = corrections_of(l, visitor);
    TERN_TRY(reserve(l, count));
    for (int64_t i = 0; i < count; i++)
        TERN_TRY(visit_correction(v, visitor, i));
    while (tern_visit_is_taking(visitor) && l->count > count)
        release_correction(&l->history[--l->count]);
    if (tern_visit_is_taking(visitor))
        l->count = count;
    return TERN_OK;
}

static tern_status visit_all(const visited *v, tern_state_visitor *visitor)
{
    tern_lbfgs *l = v->of;
    TERN_TRY(visit_count(visitor, "func_evals", &l->func_evals));
    TERN_TRY(visit_count(visitor, "n_iter", &l->n_iter));
    TERN_TRY(visit_vector(v, visitor, "d", &l->d));
    TERN_TRY(visit_number(visitor, "t", &l->t));
    TERN_TRY(visit_history(v, visitor));
    TERN_TRY(visit_number(visitor, "H_diag", &l->h_diag));
    TERN_TRY(visit_vector(v, visitor, "prev_flat_grad", &l->prev_flat_grad));
    return visit_number(visitor, "prev_loss", &l->prev_loss);
}

// A vector of all parameters, in the scope.
static tern_tensor *vector_like(const tern_optim *optim)
{
    const tern_tensor *param = optim->entries[0].param;
    int64_t numel = 0;
    for (int64_t i = 0; i < optim->entry_count; i++)
        numel += optim->entries[i].param->numel;
    tern_tensor *one = tern_zeros(tern_dims(1), .dtype = param->dtype, .device = tern_dev(param));
    return tern_expand(one, tern_dims(numel));
}

tern_status tern_lbfgs_visit(tern_optim *optim, tern_state_visitor *visitor)
{
    int64_t iterations = 0;
    visited v = {.of = optim->own,
                 .begun = tern_visit_peek_int(visitor, "n_iter", &iterations) && iterations > 0};
    tern_status status = TERN_ERR_NOMEM;
    if (tern_visit_is_taking(visitor)) { // which does not look at what they are like, nor may fail
        v.like = optim->entries[0].param;
        return visit_all(&v, visitor);
    }
    tern_with_scope {
        v.like = vector_like(optim);
        status = v.like ? visit_all(&v, visitor) : tern_error_code();
    }
    return status;
}
