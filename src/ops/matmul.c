// SPDX-License-Identifier: Apache-2.0
// Products of matrices, of vectors, and of stacks of them that broadcast.
#include "ops/launch.h"

// The shapes of a product when vectors are written as matrices.
typedef struct problem {
    tern_shape a, b, y; // (.., M, K), (.., K, N), (.., M, N)
    tern_shape result;  // y without the dims that vectors brought in
} problem;

static tern_shape as_matrix(tern_shape shape, bool right)
{
    if (shape.rank == 1)
        shape = right ? (tern_shape){2, {shape.dim[0], 1}} : (tern_shape){2, {1, shape.dim[0]}};
    return shape;
}

static tern_shape leading(tern_shape shape)
{
    shape.rank -= 2;
    return shape;
}

static tern_status plan(tern_shape a, tern_shape b, problem *p)
{
    TERN_CHECK(a.rank > 0 && b.rank > 0, TERN_ERR_SHAPE,
               "matmul: a %s and b %s: both need a dimension (tern_mul takes scalars)",
               tern_shape_string(a), tern_shape_string(b));
    p->a = as_matrix(a, false);
    p->b = as_matrix(b, true);
    int64_t cols = p->a.dim[p->a.rank - 1], rows = p->b.dim[p->b.rank - 2];
    TERN_CHECK(cols == rows, TERN_ERR_SHAPE,
               "matmul: a %s and b %s do not fit: %lld columns meet %lld rows",
               tern_shape_string(a), tern_shape_string(b), (long long)cols, (long long)rows);
    TERN_TRY(tern_broadcast_shapes("matmul", "a's leading sizes", leading(p->a),
                                   "b's leading sizes", leading(p->b), &p->y));
    p->result = p->y;
    p->y.dim[p->y.rank++] = p->a.dim[p->a.rank - 2];
    p->y.dim[p->y.rank++] = p->b.dim[p->b.rank - 1];
    if (a.rank > 1)
        p->result.dim[p->result.rank++] = p->y.dim[p->y.rank - 2];
    if (b.rank > 1)
        p->result.dim[p->result.rank++] = p->y.dim[p->y.rank - 1];
    return TERN_OK;
}

static tern_strided matrix_view(const tern_tensor *t, bool right)
{
    tern_strided view = tern_view_of(t);
    if (t->rank > 1)
        return view;
    (void)tern_view_rows(&view);
    if (right)
        tern_view_transpose(&view);
    return view;
}

// dx of one operand: the product, `full` in matrices, summed where the operand (`matrix`) was
// broadcast.
static tern_status gradient(tern_node *node, int input, tern_device device, tern_shape matrix,
                            tern_shape full, tern_product *p, tern_tensor **dx)
{
    if (tern_shape_numel(matrix) == tern_shape_numel(full)) {
        dx[input] = tern_node_grad_into(node, input, &p->accumulate);
        if (!dx[input])
            return tern_failed();
        p->y = tern_view_shaped(dx[input], full);
        return tern_launch_product(device, p);
    }
    tern_tensor *whole = tern_tensor_new("matmul", p->a.dtype, device, full);
    if (!whole)
        return tern_failed();
    p->y = tern_view_of(whole);
    TERN_TRY(tern_launch_product(device, p));
    whole = tern_sum_to(whole, matrix);
    dx[input] = whole ? tern_reshape(whole, tern_node_input_shape(node, input)) : NULL;
    return dx[input] ? TERN_OK : tern_failed();
}

// (.., K) as (R, K), copied where strides force it.
static tern_status rows_of(tern_tensor *t, tern_strided view, tern_strided *rows)
{
    *rows = view;
    if (tern_view_rows(rows))
        return TERN_OK;
    t = tern_make_contiguous(t);
    if (!t)
        return tern_failed();
    *rows = tern_view_of(t);
    (void)tern_view_rows(rows);
    return TERN_OK;
}

// The last two sizes from `matrix`, the leading ones from y.
static tern_shape full_shape(const problem *p, tern_shape matrix)
{
    tern_shape full = p->y;
    full.dim[full.rank - 2] = matrix.dim[matrix.rank - 2];
    full.dim[full.rank - 1] = matrix.dim[matrix.rank - 1];
    return full;
}

// da = dy b^T
static tern_status gradient_a(tern_node *node, const problem *p, tern_tensor *dy, tern_tensor **dx)
{
    tern_strided b = matrix_view(tern_node_saved(node, 1), true);
    tern_view_transpose(&b);
    tern_product product = {.a = tern_view_shaped(dy, p->y), .b = b};
    return gradient(node, 0, tern_dev(dy), p->a, full_shape(p, p->a), &product, dx);
}

// db = a^T dy; when one b met many matrices, all their rows are one product.
static tern_status gradient_b(tern_node *node, const problem *p, tern_tensor *dy, tern_tensor **dx)
{
    tern_tensor *a = tern_node_saved(node, 0);
    tern_product product = {.a = matrix_view(a, false), .b = tern_view_shaped(dy, p->y)};
    tern_shape full = full_shape(p, p->b);
    if (p->b.rank == 2 && p->y.rank > 2) {
        TERN_TRY(rows_of(a, product.a, &product.a));
        (void)tern_view_rows(&product.b);
        full = p->b;
    }
    tern_view_transpose(&product.a);
    return gradient(node, 1, tern_dev(dy), p->b, full, &product, dx);
}

static tern_status matmul_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    problem p;
    TERN_TRY(plan(tern_node_input_shape(node, 0), tern_node_input_shape(node, 1), &p));
    tern_tensor *dense = tern_make_contiguous(dy[0]);
    if (!dense)
        return tern_failed();
    if (tern_node_needs(node, 0))
        TERN_TRY(gradient_a(node, &p, dense, dx));
    return tern_node_needs(node, 1) ? gradient_b(node, &p, dense, dx) : TERN_OK;
}

tern_tensor *tern_matmul(tern_tensor *a, tern_tensor *b)
{
    static const tern_op matmul = {"matmul", {"a", "b"}, matmul_backward};
    tern_op_call call = {.op = &matmul, .count = 2, .in = {a, b}};
    problem p;
    if (tern_op_begin(&call, TERN_OP_SAME_DTYPE | TERN_OP_ONLY_FLOATING) ||
        plan(tern_shape_get(call.in[0]), tern_shape_get(call.in[1]), &p))
        return NULL;
    tern_tensor *y = tern_tensor_new("matmul", call.dtype, call.device, p.result);
    if (!y)
        return NULL;
    tern_product product = {.y = tern_view_shaped(y, p.y),
                            .a = matrix_view(call.in[0], false),
                            .b = matrix_view(call.in[1], true)};
    if (tern_launch_product(call.device, &product))
        return NULL;
    tern_tensor *saved[] = {call.in[1]->requires_grad ? call.in[0] : NULL,
                            call.in[0]->requires_grad ? call.in[1] : NULL};
    return tern_op_end(&call, y, saved, 2);
}
