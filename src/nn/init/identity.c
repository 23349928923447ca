// SPDX-License-Identifier: Apache-2.0
// Identities: ones where an output is an input, zeros elsewhere.
#include "base/integer.h"
#include "nn/init/init.h"

tern_tensor *tern_init_eye(tern_tensor *t)
{
    TERN_INIT_OP("init_eye");
    tern_tensor *done = NULL;
    if (tern_init_check(&op, t, 2, 2))
        return NULL;
    tern_no_grad
        tern_with_scope {
            tern_tensor *eye =
                tern_eye(t->size[0], t->size[1], .dtype = t->dtype, .device = tern_dev(t));
            done = eye ? tern_copy_(t, eye) : NULL;
        }
    return done;
}

// The middle of every kernel of `t`, (O, C, kernel sizes ..), in `values` of its shape.
static void set_ones(float *values, const tern_tensor *t, int64_t groups)
{
    const int64_t outputs = t->size[0] / groups, inputs = t->size[1];
    int64_t area = 1, middle = 0;
    for (int i = 2; i < t->rank; i++) {
        area *= t->size[i];
        middle = middle * t->size[i] + t->size[i] / 2;
    }
    for (int64_t g = 0; g < groups; g++)
        for (int64_t d = 0; d < min_int64(outputs, inputs); d++)
            values[((g * outputs + d) * inputs + d) * area + middle] = 1;
}

tern_tensor *tern_init_dirac_with(const tern_init_dirac_options *o)
{
    TERN_INIT_OP("init_dirac");
    if (!o)
        return (void)tern_null_error(op.name, "options"), NULL;
    tern_tensor *done = NULL, *t = o->t;
    if (tern_init_check(&op, t, 3, 5))
        return NULL;
    TERN_CHECK_PTR(o->groups > 0 && t->size[0] % o->groups == 0, TERN_ERR_ARG,
                   "init_dirac: groups is %lld, which does not divide the %lld outputs of t",
                   (long long)o->groups, (long long)t->size[0]);
    tern_no_grad
        tern_with_scope {
            tern_tensor *ones =
                tern_zeros(tern_shape_get(t), .dtype = TERN_FLOAT32, .device = tern_cpu(0));
            if (ones && t->numel)
                set_ones(tern_data(ones), t, o->groups);
            done = ones ? tern_copy_(t, ones) : NULL;
        }
    return done;
}
