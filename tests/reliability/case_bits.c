// SPDX-License-Identifier: Apache-2.0
#include "case_bits.h"

#include "bits.h"

static tern_tensor *shifted_tensor(const array *a)
{
    array longer = array_new(a->dtype, tern_dims(a->numel + 1));
    for (int64_t i = 0; i < a->numel; i++)
        longer.data[i + 1] = a->data[i];
    tern_tensor *flat = array_to_tensor(&longer, tern_cpu(0), LAYOUT_CONTIGUOUS);
    array_free(&longer);
    return tern_reshape(tern_slice(flat, 0, 1, INT64_MAX, 1), a->shape);
}

// Different numbers of y's shape and dtype.
static tern_tensor *gradient_like(tern_tensor *y)
{
    tern_tensor *flat =
        tern_sin(tern_arange(1, 1 + (double)tern_numel(y), 1, .dtype = TERN_FLOAT32));
    return tern_to_dtype(tern_reshape(flat, tern_shape_of(y)), tern_dtype_of(y));
}

static bool has_gradient(const op_case *c, tern_dtype dtype, int input)
{
    return tern_dtype_is_floating(dtype) && (c->gradients >> input & 1);
}

uint64_t case_bits(const op_case *c, const setup *s, tern_dtype dtype, const array *in,
                   bool shifted)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *operands[MAX_IN] = {NULL};
    for (int i = 0; i < c->inputs; i++) {
        operands[i] = shifted ? shifted_tensor(&in[i])
                              : array_to_tensor(&in[i], tern_cpu(0), LAYOUT_CONTIGUOUS);
        if (has_gradient(c, dtype, i))
            tern_set_requires_grad(operands[i], true);
    }
    tern_tensor *y = c->call(operands, c, s);
    uint64_t hash = bits_of(y, NO_BITS);
    if (tern_dtype_is_floating(dtype) && c->gradients)
        assert_int_equal(tern_backward(y, .gradient = gradient_like(y)), TERN_OK);
    for (int i = 0; i < c->inputs; i++)
        if (has_gradient(c, dtype, i))
            hash = bits_of(tern_grad(operands[i]), hash);
    tern_scope_close(scope);
    return hash;
}

void each_case(void (*visit)(const op_case *c))
{
    for (int k = 0; k < OPERATION_LISTS; k++)
        for (int i = 0; i < operation_cases[k]->count; i++)
            visit(&operation_cases[k]->cases[i]);
}
