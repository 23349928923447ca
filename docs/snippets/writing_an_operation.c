// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/writing-an-operation.md.
#include "check.h"

// [round]
// Rounds, and lets gradients pass as if it had not ("straight through").
static tern_status round_backward(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, tern_context_grad(context));
}

static const tern_function round_function = {"round_through", round_backward};

static tern_tensor *round_through(tern_tensor *x)
{
    tern_tensor *y = NULL;
    tern_no_grad {
        y = tern_round(x);
    }
    return tern_record(&round_function, y, &x, 1, NULL, 0, NULL, 0);
}
// [/round]

// [loop]
// Element i of float32 or float64 data.
static double load(tern_tensor *t, int64_t i)
{
    const void *data = tern_data(t);
    return tern_dtype_of(t) == TERN_FLOAT64 ? ((const double *)data)[i]
                                            : (double)((const float *)data)[i];
}

static void store(tern_tensor *t, int64_t i, double value)
{
    void *data = tern_data(t);
    if (tern_dtype_of(t) == TERN_FLOAT64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

// y = log(cosh(beta x)) / beta
static tern_status log_cosh_backward(tern_backward_context *context)
{
    double beta = *(const double *)tern_context_data(context);
    tern_tensor *x = tern_context_saved(context, 0);
    tern_tensor *dy = tern_contiguous(tern_context_grad(context));
    tern_tensor *dx = tern_empty_like(x);
    if (!dy || !dx)
        return tern_error_code();
    for (int64_t i = 0; i < tern_numel(x); i++)
        store(dx, i, load(dy, i) * tanh(beta * load(x, i)));
    return tern_context_set_grad(context, 0, dx);
}

static const tern_function log_cosh_function = {"log_cosh", log_cosh_backward};

static tern_tensor *log_cosh(tern_tensor *x, double beta)
{
    tern_tensor *dense = NULL, *y = NULL;
    tern_dtype dtype = tern_dtype_of(x);
    if (!tern_error_pending() && dtype != TERN_FLOAT32 && dtype != TERN_FLOAT64)
        tern_error_raise(TERN_ERR_DTYPE, "log_cosh: x is %s, but must be float32 or float64",
                         tern_dtype_name(dtype));
    if (tern_error_pending() || !tern_data(x)) // NULL, dead, or not on the CPU
        return NULL;
    tern_no_grad {
        dense = tern_contiguous(x);
        y = dense ? tern_empty_like(dense) : NULL;
    }
    if (!y)
        return NULL;
    for (int64_t i = 0; i < tern_numel(y); i++)
        store(y, i, log(cosh(beta * load(dense, i))) / beta);
    return tern_record(&log_cosh_function, y, &x, 1, &dense, 1, &beta, sizeof beta);
}
// [/loop]

// [two]
// (a - b)^2 without the mean: two inputs, and no work for one that needs no gradient.
static tern_status distance_backward(tern_backward_context *context)
{
    tern_tensor *difference = tern_context_saved(context, 0);
    tern_tensor *da = tern_mul(tern_context_grad(context), tern_mul_scalar(difference, 2));
    tern_status status = TERN_OK;
    if (tern_context_needs(context, 0))
        status = tern_context_set_grad(context, 0, da);
    if (!status && tern_context_needs(context, 1))
        status = tern_context_set_grad(context, 1, tern_neg(da));
    return status;
}

static const tern_function distance_function = {"distance", distance_backward};

static tern_tensor *distance(tern_tensor *a, tern_tensor *b)
{
    tern_tensor *difference = NULL, *y = NULL;
    tern_no_grad {
        difference = tern_sub(a, b);
        y = tern_mul(difference, difference);
    }
    return tern_record(&distance_function, y, (tern_tensor *[]){a, b}, 2, &difference, 1, NULL, 0);
}
// [/two]

// [check]
static tern_tensor *log_cosh_of_2x(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return log_cosh(inputs[0], 2);
}

static void log_cosh_is_differentiated_rightly(void)
{
    tern_tensor *x = tern_linspace(-2, 2, 9, .dtype = TERN_FLOAT64, .requires_grad = true);
    assert(!tern_gradcheck(log_cosh_of_2x, &x, 1));
}
// [/check]

static tern_tensor *distance_of(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return distance(inputs[0], inputs[1]);
}

static tern_tensor *rounded(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return round_through(inputs[0]);
}

static void others_too(void)
{
    tern_tensor *pair[2];
    for (int i = 0; i < 2; i++)
        pair[i] = tern_randn(tern_dims(3, 2), .dtype = TERN_FLOAT64, .requires_grad = true);
    expect(!tern_gradcheck(distance_of, pair, 2));
    tern_tensor *x = tern_full(tern_dims(2), 0.3, .dtype = TERN_FLOAT64, .requires_grad = true);
    expect(tern_gradcheck(rounded, &x, 1) == TERN_ERR_NUMERIC);
    expect_error(TERN_ERR_NUMERIC);
    tern_tensor *w = tern_full(tern_dims(2), 1.4, .requires_grad = true);
    tern_tensor *y = round_through(tern_mul_scalar(w, 3));
    expect(tern_item(tern_select(y, 0, 0)) == 4);
    expect(!tern_backward(tern_sum(y, TERN_ALL_AXES, false)));
    expect(tern_item(tern_select(tern_grad(w), 0, 0)) == 3);
    // A transposed operand.
    tern_tensor *table = tern_reshape(tern_linspace(-2, 3, 6), tern_dims(2, 3));
    tern_tensor *turned = log_cosh(tern_transpose(table, 0, 1), 1);
    expect(near(tern_item(tern_select(tern_select(turned, 0, 2), 0, 1)), log(cosh(3))));
}

static void mistakes(void)
{
    expect(!log_cosh(tern_arange(0, 3, 1), 1));
    expect_error(TERN_ERR_DTYPE);
    expect(!log_cosh(NULL, 1) && tern_error_code() == TERN_ERR_NULL);
    tern_error_clear();
    // [changed]
    tern_tensor *x = tern_ones(tern_dims(3), .requires_grad = true);
    tern_tensor *y = log_cosh(x, 1);
    tern_no_grad {
        tern_zero_(x); // x is needed by the backward
    }
    tern_status status = tern_backward(tern_sum(y, TERN_ALL_AXES, false));
    // [/changed]
    expect(status == TERN_ERR_STATE);
    expect_error(TERN_ERR_STATE);
}

static tern_status forgetful_backward(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, tern_zeros(tern_dims(2)));
}

static void a_wrong_shape(void)
{
    static const tern_function forgetful = {"forgetful", forgetful_backward};
    tern_tensor *x = tern_ones(tern_dims(3), .requires_grad = true), *y = NULL;
    tern_no_grad {
        y = tern_neg(x);
    }
    y = tern_record(&forgetful, y, &x, 1, NULL, 0, NULL, 0);
    expect(tern_backward(tern_sum(y, TERN_ALL_AXES, false)) == TERN_ERR_SHAPE);
    expect_error(TERN_ERR_SHAPE);
}

int main(void)
{
    void (*const pieces[])(void) = {log_cosh_is_differentiated_rightly, others_too, mistakes,
                                    a_wrong_shape};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        tern_scope scope = tern_scope_open();
        pieces[i]();
        tern_scope_close(scope);
    }
    return finished();
}
