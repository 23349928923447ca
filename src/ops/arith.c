// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two tensors that broadcast.
#include "ops/launch.h"

// What is kept for the backward depends on who needs a gradient: A, B or either.
enum { NOBODY = 0, A = 1, B = 2, EITHER = 3 };

typedef struct binary_function {
    tern_op op;
    tern_binary_op code;
    unsigned prepare;
    bool no_bool;
    int keep_a_for, keep_b_for, keep_y_for;
} binary_function;

static tern_status refuse_bool(const binary_function *function, const tern_tensor *a,
                               const tern_tensor *b)
{
    TERN_CHECK(
        a->dtype != TERN_BOOL && b->dtype != TERN_BOOL, TERN_ERR_DTYPE,
        "%s: a is %s and b is %s, and bool is not a number here (tern_to_dtype makes it one)",
        function->op.name, tern_tensor_string(a), tern_tensor_string(b));
    return TERN_OK;
}

static tern_tensor *end(const binary_function *function, const tern_op_call *call, tern_tensor *y)
{
    tern_tensor *const *in = call->in;
    int needs = (in[0]->requires_grad ? A : NOBODY) | (in[1]->requires_grad ? B : NOBODY);
    tern_tensor *saved[3] = {function->keep_a_for & needs ? in[0] : NULL,
                             function->keep_b_for & needs ? in[1] : NULL,
                             function->keep_y_for & needs ? y : NULL};
    return tern_op_end(call, y, saved, 3);
}

static tern_tensor *run(const binary_function *function, tern_tensor *a, tern_tensor *b)
{
    const char *name = function->op.name;
    tern_op_call call = {.op = &function->op, .count = 2, .in = {a, b}};
    if (tern_op_begin(&call, function->prepare | TERN_OP_BROADCAST | TERN_OP_PROMOTE))
        return NULL;
    if (function->no_bool && refuse_bool(function, a, b))
        return NULL;
    tern_tensor *y = tern_tensor_new(name, call.dtype, call.device, call.shape);
    if (!y || tern_launch_binary(function->code, 1, y, call.in[0], call.in[1]))
        return NULL;
    return end(function, &call, y);
}

// The gradient of an operand from one of the result's shape; a NULL is handed on as a failure.
static tern_status give(tern_node *node, int input, tern_tensor *gradient, tern_tensor **dx)
{
    if (gradient)
        dx[input] = tern_sum_to(gradient, tern_node_input_shape(node, input));
    return dx[input] ? TERN_OK : tern_failed();
}

static tern_status add_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    for (int i = 0; i < 2; i++)
        if (tern_node_needs(node, i))
            TERN_TRY(give(node, i, dy[0], dx));
    return TERN_OK;
}

static tern_status sub_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    if (tern_node_needs(node, 0))
        TERN_TRY(give(node, 0, dy[0], dx));
    if (!tern_node_needs(node, 1))
        return TERN_OK;
    TERN_TRY(give(node, 1, dy[0], dx));
    dx[1] = tern_neg(dx[1]);
    return dx[1] ? TERN_OK : tern_failed();
}

// Both gradients are wanted, and no operand was broadcast: one pass gives them.
static bool wants_pair(const tern_node *node, const tern_tensor *dy)
{
    bool pair = true;
    for (int i = 0; i < 2; i++)
        pair = pair && tern_node_needs(node, i) &&
               tern_shape_equal(tern_node_input_shape(node, i), tern_shape_get(dy));
    return pair;
}

static tern_status give_pair(tern_node *node, tern_binary_op op, const tern_tensor *dy,
                             tern_tensor **dx)
{
    for (int i = 0; i < 2; i++) {
        dx[i] = tern_node_grad_new(node, i);
        if (!dx[i])
            return tern_failed();
    }
    return tern_launch_binary_grad(op, dx, dy, tern_node_saved(node, 0), tern_node_saved(node, 1));
}

static tern_status mul_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    if (wants_pair(node, dy[0]))
        return give_pair(node, TERN_BINARY_MUL, dy[0], dx);
    for (int i = 0; i < 2; i++)
        if (tern_node_needs(node, i))
            TERN_TRY(give(node, i, tern_mul(dy[0], tern_node_saved(node, 1 - i)), dx));
    return TERN_OK;
}

// da = dy / b, db = -dy (a / b) / b
static tern_status div_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *a = tern_node_saved(node, 0), *b = tern_node_saved(node, 1);
    if (wants_pair(node, dy[0]))
        return give_pair(node, TERN_BINARY_DIV, dy[0], dx);
    if (tern_node_needs(node, 0))
        TERN_TRY(give(node, 0, tern_div(dy[0], b), dx));
    if (tern_node_needs(node, 1)) {
        tern_tensor *slope = tern_neg(tern_div(tern_div(a, b), b));
        TERN_TRY(give(node, 1, tern_mul(dy[0], slope), dx));
    }
    return TERN_OK;
}

// b a^(b - 1), and 0 where b is 0 even if a is 0 too
static tern_tensor *pow_slope_of_base(tern_tensor *a, tern_tensor *b)
{
    tern_tensor *slope = tern_mul(b, tern_pow(a, tern_sub_scalar(b, 1)));
    return tern_masked_fill(slope, tern_eq_scalar(b, 0), 0);
}

// a^b log a, and 0 where 0 to a power that is not negative would give 0 * -inf
static tern_tensor *pow_slope_of_exponent(tern_tensor *a, tern_tensor *b, tern_tensor *y)
{
    tern_tensor *slope = tern_mul(y, tern_log(a));
    tern_tensor *none = tern_logical_and(tern_eq_scalar(a, 0), tern_ge_scalar(b, 0));
    return tern_masked_fill(slope, none, 0);
}

static tern_status pow_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_tensor *a = tern_node_saved(node, 0), *b = tern_node_saved(node, 1);
    if (tern_node_needs(node, 0))
        TERN_TRY(give(node, 0, tern_mul(dy[0], pow_slope_of_base(a, b)), dx));
    if (tern_node_needs(node, 1)) {
        tern_tensor *slope = pow_slope_of_exponent(a, b, tern_node_saved(node, 2));
        TERN_TRY(give(node, 1, tern_mul(dy[0], slope), dx));
    }
    return TERN_OK;
}

// dy where the operand won, half of it in a tie, 0 where it lost.
static tern_status winners(tern_node *node, tern_tensor *dy, tern_tensor **dx, bool largest)
{
    tern_tensor *a = tern_node_saved(node, 0), *b = tern_node_saved(node, 1);
    tern_tensor *shared = tern_where(tern_eq(a, b), tern_mul_scalar(dy, 0.5), dy);
    for (int i = 0; i < 2; i++) {
        if (!tern_node_needs(node, i))
            continue;
        tern_tensor *loser = (i == 0) == largest ? tern_lt(a, b) : tern_gt(a, b);
        TERN_TRY(give(node, i, tern_masked_fill(shared, loser, 0), dx));
    }
    return TERN_OK;
}

static tern_status minimum_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    return winners(node, dy[0], dx, false);
}

static tern_status maximum_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    return winners(node, dy[0], dx, true);
}

tern_tensor *tern_add(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {.op = {"add", {"a", "b"}, add_backward},
                                             .code = TERN_BINARY_ADD};
    return run(&function, a, b);
}

tern_tensor *tern_sub(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {
        .op = {"sub", {"a", "b"}, sub_backward}, .code = TERN_BINARY_SUB, .no_bool = true};
    return run(&function, a, b);
}

tern_tensor *tern_mul(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {.op = {"mul", {"a", "b"}, mul_backward},
                                             .code = TERN_BINARY_MUL,
                                             .keep_a_for = B,
                                             .keep_b_for = A};
    return run(&function, a, b);
}

tern_tensor *tern_div(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {.op = {"div", {"a", "b"}, div_backward},
                                             .code = TERN_BINARY_DIV,
                                             .prepare = TERN_OP_TO_FLOATING,
                                             .keep_a_for = B,
                                             .keep_b_for = EITHER};
    return run(&function, a, b);
}

tern_tensor *tern_pow(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {.op = {"pow", {"a", "b"}, pow_backward},
                                             .code = TERN_BINARY_POW,
                                             .no_bool = true,
                                             .keep_a_for = EITHER,
                                             .keep_b_for = EITHER,
                                             .keep_y_for = B};
    return run(&function, a, b);
}

tern_tensor *tern_minimum(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {.op = {"minimum", {"a", "b"}, minimum_backward},
                                             .code = TERN_BINARY_MIN,
                                             .keep_a_for = EITHER,
                                             .keep_b_for = EITHER};
    return run(&function, a, b);
}

tern_tensor *tern_maximum(tern_tensor *a, tern_tensor *b)
{
    static const binary_function function = {.op = {"maximum", {"a", "b"}, maximum_backward},
                                             .code = TERN_BINARY_MAX,
                                             .keep_a_for = EITHER,
                                             .keep_b_for = EITHER};
    return run(&function, a, b);
}
