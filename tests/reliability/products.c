// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include "support/check.h"
#include "conformance.h"

// An operand of a product: element (i, k) is at[i * row + k * inner].
typedef struct operand {
    const float *at;
    int row, inner;
} operand;

static double largest_share;

static float *values_of(tern_tensor *t)
{
    size_t nbytes = (size_t)tern_numel(t) * sizeof(float);
    float *values = malloc(nbytes);
    assert_non_null(values);
    assert_int_equal(tern_to_host(t, values, nbytes), TERN_OK);
    return values;
}

// Of many sizes, so that sums cancel.
static tern_tensor *numbers(int rows, int cols)
{
    tern_tensor *t = tern_empty(tern_dims(rows, cols));
    float *values = values_of(t);
    for (int64_t i = 0; i < tern_numel(t); i++)
        values[i] = ldexpf((float)((int)(random_word() % 4001) - 2000), (int)(random_word() % 12));
    assert_int_equal(tern_from_host(t, values, (size_t)tern_numel(t) * sizeof *values), TERN_OK);
    free(values);
    tern_set_requires_grad(t, true);
    return t;
}

// Holds y (rows, cols) to a b, plus a bias (cols) or NULL.
static void check_product(const char *what, tern_tensor *y, operand a, operand b, int inner,
                          const float *bias)
{
    assert_no_error();
    float *got = values_of(y);
    int cols = (int)tern_size(y, 1);
    for (int64_t e = 0; e < tern_numel(y); e++) {
        const float *x = a.at + e / cols * a.row, *w = b.at + e % cols * b.row;
        double sum = bias ? (double)bias[e % cols] : 0, size = fabs(sum);
        for (int k = 0; k < inner; k++) {
            double term = (double)x[k * a.inner] * (double)w[k * b.inner];
            sum += term;
            size += fabs(term);
        }
        double bound = 2.0 * (inner + (bias != NULL)) * 0x1p-24 * size;
        double error = fabs((double)got[e] - sum);
        if (!(error <= bound))
            fail_msg("%s: element %lld is %.9g, exactly %.9g: off by %.3g of %.3g", what,
                     (long long)e, (double)got[e], sum, error, bound);
        largest_share = fmax(largest_share, bound > 0 ? error / bound : 0);
    }
    free(got);
}

typedef struct product {
    tern_tensor *x, *w, *g;
    float *x_values, *w_values, *g_values;
} product;

static product make_product(tern_tensor *x, tern_tensor *w, int rows, int cols)
{
    product p = {.x = x, .w = w, .g = tern_detach(numbers(rows, cols))};
    p.x_values = values_of(p.x);
    p.w_values = values_of(p.w);
    p.g_values = values_of(p.g);
    largest_share = 0;
    return p;
}

static void drop_product(product *p)
{
    free(p->x_values);
    free(p->w_values);
    free(p->g_values);
}

double check_linear(int rows, int inner, int cols)
{
    product p = make_product(numbers(rows, inner), numbers(cols, inner), rows, cols);
    tern_tensor *b = numbers(1, cols);
    float *bias = values_of(b), one = 1;
    tern_tensor *row = tern_detach(tern_reshape(b, tern_dims(cols)));
    tern_set_requires_grad(row, true);
    tern_tensor *y = tern_linear(p.x, p.w, row, TERN_ACT_NONE);
    check_product("linear", y, (operand){p.x_values, inner, 1}, (operand){p.w_values, inner, 1},
                  inner, bias);
    assert_int_equal(tern_backward(y, .gradient = p.g), TERN_OK);
    check_product("linear, dx", tern_grad(p.x), (operand){p.g_values, cols, 1},
                  (operand){p.w_values, 1, inner}, cols, NULL);
    check_product("linear, dweight", tern_grad(p.w), (operand){p.g_values, 1, cols},
                  (operand){p.x_values, 1, inner}, rows, NULL);
    check_product("linear, dbias", tern_unsqueeze(tern_grad(row), 0), (operand){&one, 0, 0},
                  (operand){p.g_values, 1, cols}, rows, NULL);
    free(bias);
    drop_product(&p);
    return largest_share;
}

double check_matmul(int rows, int inner, int cols)
{
    product p = make_product(numbers(rows, inner), numbers(inner, cols), rows, cols);
    tern_tensor *y = tern_matmul(p.x, p.w);
    check_product("matmul", y, (operand){p.x_values, inner, 1}, (operand){p.w_values, 1, cols},
                  inner, NULL);
    assert_int_equal(tern_backward(y, .gradient = p.g), TERN_OK);
    check_product("matmul, da", tern_grad(p.x), (operand){p.g_values, cols, 1},
                  (operand){p.w_values, cols, 1}, cols, NULL);
    check_product("matmul, db", tern_grad(p.w), (operand){p.x_values, 1, inner},
                  (operand){p.g_values, 1, cols}, rows, NULL);
    drop_product(&p);
    return largest_share;
}
