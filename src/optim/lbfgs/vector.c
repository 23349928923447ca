// SPDX-License-Identifier: Apache-2.0
#include "optim/lbfgs/vector.h"

#include "base/mem.h"

// NAN with an error pending, likewise below.
double tern_lbfgs_dot(tern_tensor *a, tern_tensor *b)
{
    double value = NAN;
    tern_with_scope
        value = tern_item(tern_sum(tern_mul(a, b), TERN_ALL_AXES, false));
    return value;
}

double tern_lbfgs_sum_of_sizes(tern_tensor *t)
{
    double value = NAN;
    tern_with_scope
        value = tern_item(tern_sum(tern_abs(t), TERN_ALL_AXES, false));
    return value;
}

double tern_lbfgs_largest(tern_tensor *t)
{
    double value = NAN;
    tern_with_scope
        value = tern_item(tern_amax(tern_abs(t), TERN_ALL_AXES, false));
    return value;
}

// ---- the parameters as one vector ---------------------------------------------------------------

static tern_tensor *flat(tern_tensor *t)
{
    return tern_reshape(tern_detach(t), tern_dims(-1));
}

static tern_tensor *flat_gradient(const tern_tensor *param)
{
    return param->grad_state == TERN_GRAD_PRESENT
               ? flat(param->grad)
               : tern_zeros(tern_dims(param->numel), .dtype = param->dtype,
                            .device = tern_dev(param));
}

tern_tensor *tern_lbfgs_join(const tern_optim *optim, bool gradients)
{
    const size_t nbytes = (size_t)optim->entry_count * sizeof(tern_tensor *);
    tern_tensor **parts = tern_mem_alloc(nbytes), *joined = NULL;
    if (!parts)
        return NULL;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_tensor *param = optim->entries[i].param;
        parts[i] = gradients ? flat_gradient(param) : flat(param);
    }
    joined = tern_cat(parts, optim->entry_count, 0);
    tern_mem_free(parts, nbytes);
    return joined;
}

// p += t v, or p = v without a t.
static tern_status change_parameters(const tern_optim *optim, tern_tensor *v, const double *t)
{
    int64_t first = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_tensor *param = optim->entries[i].param;
        tern_tensor *part =
            tern_reshape(tern_slice(v, 0, first, first + param->numel, 1), tern_shape_get(param));
        if (!(t ? tern_add_(param, part, *t) : tern_copy_(param, part)))
            return tern_error_code();
        first += param->numel;
    }
    return TERN_OK;
}

tern_status tern_lbfgs_add_to_parameters(const tern_optim *optim, tern_tensor *v, double t)
{
    tern_status status = TERN_ERR_NOMEM;
    tern_with_scope
        status = change_parameters(optim, v, &t);
    return status;
}

tern_status tern_lbfgs_set_parameters(const tern_optim *optim, tern_tensor *v)
{
    tern_status status = TERN_ERR_NOMEM;
    tern_with_scope
        status = change_parameters(optim, v, NULL);
    return status;
}
