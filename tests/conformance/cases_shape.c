// SPDX-License-Identifier: Apache-2.0
// Views, copies, joining, and changes in place.
#include "conformance.h"

#include <math.h>
#include <string.h>

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define A(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                                         \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// `shape` is what must come out.
static const setup same_setups[] = {
    {.in = {{0}}},
    {.in = {S(7)}, .shape = S(7)},
    {.in = {S(5, 3)}, .shape = S(5, 3)},
    {.in = {S(2, 3, 4)}, .shape = S(2, 3, 4)},
    {.in = {S(0, 3)}, .shape = S(0, 3)},
    {.in = {S(33, 65)}, .shape = S(33, 65)},
};
static const setup reshape_setups[] = {
    {.in = {{0}}, .shape = S(1)},           {.in = {S(6)}, .shape = S(2, 3)},
    {.in = {S(2, 3, 4)}, .shape = S(6, 4)}, {.in = {S(2, 3, 4)}, .shape = S(3, 8)},
    {.in = {S(1, 5, 1)}, .shape = S(5)},    {.in = {S(0, 3)}, .shape = S(3, 0, 2)},
};
static const setup flatten_setups[] = {
    {.in = {S(2, 3, 4)}, .p = {1, -1}, .shape = S(2, 12)},
    {.in = {S(2, 3, 4)}, .p = {0, 1}, .shape = S(6, 4)},
    {.in = {S(2, 3, 4)}, .p = {0, -1}, .shape = S(24)},
    {.in = {S(5)}, .p = {0, 0}, .shape = S(5)},
    {.in = {S(0, 3, 2)}, .p = {1, 2}, .shape = S(0, 6)},
};
// p: how many sizes come from dim
static const setup unflatten_setups[] = {
    {.in = {S(6)}, .p = {2}, .shape = S(2, 3)},
    {.in = {S(2, 6, 4)}, .dim = 1, .p = {2}, .shape = S(2, 3, 2, 4)},
    {.in = {S(2, 8)}, .dim = -1, .p = {3}, .shape = S(2, 2, 2, 2)},
    {.in = {S(5, 3)}, .dim = 0, .p = {1}, .shape = S(5, 3)},
    {.in = {S(2, 0, 3)}, .dim = 1, .p = {2}, .shape = S(2, 4, 0, 3)},
};
// p: the factor, or groups
static const setup pixel_shuffle_setups[] = {
    {.in = {S(4, 2, 3)}, .p = {2}, .shape = S(1, 4, 6)},
    {.in = {S(2, 18, 2, 1)}, .p = {3}, .shape = S(2, 2, 6, 3)},
    {.in = {S(2, 3, 4)}, .p = {1}, .shape = S(2, 3, 4)},
    {.in = {S(2, 1, 2, 8, 3, 2)}, .p = {2}, .shape = S(2, 1, 2, 2, 6, 4)},
    {.in = {S(0, 4, 2, 3)}, .p = {2}, .shape = S(0, 1, 4, 6)},
};
static const setup pixel_unshuffle_setups[] = {
    {.in = {S(1, 4, 6)}, .p = {2}, .shape = S(4, 2, 3)},
    {.in = {S(2, 2, 6, 3)}, .p = {3}, .shape = S(2, 18, 2, 1)},
    {.in = {S(2, 3, 4)}, .p = {1}, .shape = S(2, 3, 4)},
    {.in = {S(2, 1, 2, 2, 6, 4)}, .p = {2}, .shape = S(2, 1, 2, 8, 3, 2)},
    {.in = {S(2, 3, 0, 4)}, .p = {2}, .shape = S(2, 12, 0, 2)},
};
static const setup channel_shuffle_setups[] = {
    {.in = {S(2, 6, 4)}, .p = {2}, .shape = S(2, 6, 4)},
    {.in = {S(1, 6, 2, 3)}, .p = {3}, .shape = S(1, 6, 2, 3)},
    {.in = {S(2, 5, 1)}, .p = {5}, .shape = S(2, 5, 1)},
    {.in = {S(0, 4, 3)}, .p = {2}, .shape = S(0, 4, 3)},
    {.in = {S(2, 0, 3)}, .p = {2}, .shape = S(2, 0, 3)},
};
static const setup squeeze_setups[] = {
    {.in = {S(1)}, .dim = 0},
    {.in = {S(3, 1)}, .dim = -1, .shape = S(3)},
    {.in = {S(3, 2)}, .dim = 1, .shape = S(3, 2)},
    {.in = {S(1, 4, 1)}, .dim = 0, .shape = S(4, 1)},
    {.in = {S(0, 1)}, .dim = 1, .shape = S(0)},
};
static const setup unsqueeze_setups[] = {
    {.in = {{0}}, .dim = 0, .shape = S(1)},
    {.in = {S(3)}, .dim = 0, .shape = S(1, 3)},
    {.in = {S(3)}, .dim = -1, .shape = S(3, 1)},
    {.in = {S(2, 4)}, .dim = 1, .shape = S(2, 1, 4)},
    {.in = {S(0, 2)}, .dim = 2, .shape = S(0, 2, 1)},
};
static const setup transpose_setups[] = {
    {.in = {S(3)}, .p = {0, 0}, .shape = S(3)},
    {.in = {S(3, 4)}, .p = {0, 1}, .shape = S(4, 3)},
    {.in = {S(2, 3, 4)}, .p = {0, 2}, .shape = S(4, 3, 2)},
    {.in = {S(2, 3, 4)}, .p = {1, 2}, .shape = S(2, 4, 3)},
    {.in = {S(0, 3)}, .p = {0, 1}, .shape = S(3, 0)},
};
static const setup permute_setups[] = {
    {.in = {S(3, 4)}, .axes = A(0, 1), .shape = S(3, 4)},
    {.in = {S(2, 3, 4)}, .axes = A(2, 0, 1), .shape = S(4, 2, 3)},
    {.in = {S(2, 3, 4)}, .axes = A(1, 0, 2), .shape = S(3, 2, 4)},
    {.in = {S(2, 1, 3, 2)}, .axes = A(3, 2, 1, 0), .shape = S(2, 3, 1, 2)},
    {.in = {S(0, 3)}, .axes = A(1, 0), .shape = S(3, 0)},
};
// p: start, length
static const setup narrow_setups[] = {
    {.in = {S(7)}, .p = {2, 3}, .shape = S(3)},
    {.in = {S(4, 3)}, .p = {3, 1}, .shape = S(1, 3)},
    {.in = {S(4, 3)}, .dim = -1, .p = {0, 2}, .shape = S(4, 2)},
    {.in = {S(4, 3)}, .p = {4, 0}, .shape = S(0, 3)},
    {.in = {S(2, 5, 3)}, .dim = 1, .p = {1, 3}, .shape = S(2, 3, 3)},
};
// p: start, end, step
static const setup slice_setups[] = {
    {.in = {S(7)}, .p = {1, 7, 2}, .shape = S(3)},
    {.in = {S(7)}, .p = {2, 3, 5}, .shape = S(1)},
    {.in = {S(4, 3)}, .p = {3, 3, 1}, .shape = S(0, 3)},
    {.in = {S(4, 9)}, .dim = 1, .p = {0, 9, 4}, .shape = S(4, 3)},
    {.in = {S(2, 5, 3)}, .dim = 1, .p = {1, 4, 1}, .shape = S(2, 3, 3)},
};
static const setup select_setups[] = {
    {.in = {S(7)}, .p = {2}},
    {.in = {S(4, 3)}, .p = {3}, .shape = S(3)},
    {.in = {S(4, 3)}, .dim = -1, .p = {0}, .shape = S(4)},
    {.in = {S(2, 5, 3)}, .dim = 1, .p = {4}, .shape = S(2, 3)},
    {.in = {S(0, 3)}, .dim = 1, .p = {1}, .shape = S(0)},
};
static const setup expand_setups[] = {
    {.in = {{0}}, .shape = S(3)},
    {.in = {S(1)}, .shape = S(4)},
    {.in = {S(3, 1)}, .shape = S(3, 4)},
    {.in = {S(3)}, .shape = S(2, 3)},
    {.in = {S(1, 3, 1)}, .shape = S(2, 2, 3, 4)},
    {.in = {S(1, 3)}, .shape = S(0, 3)},
};
// p: start and length of the piece; the size of pieces, which piece
static const setup split_setups[] = {
    {.in = {S(7)}, .p = {3, 3, 3, 1}, .shape = S(3)},
    {.in = {S(7)}, .p = {6, 1, 3, 2}, .shape = S(1)},
    {.in = {S(4, 3)}, .p = {0, 4, 4, 0}, .shape = S(4, 3)},
    {.in = {S(4, 3)}, .dim = 1, .p = {2, 1, 2, 1}, .shape = S(4, 1)},
    {.in = {S(2, 5, 3)}, .dim = 1, .p = {2, 2, 2, 1}, .shape = S(2, 2, 3)},
};
// p: start and length of the piece; the number of chunks, which one
static const setup chunk_setups[] = {
    {.in = {S(7)}, .p = {3, 3, 3, 1}, .shape = S(3)},
    {.in = {S(7)}, .p = {6, 1, 3, 2}, .shape = S(1)},
    {.in = {S(4, 3)}, .p = {0, 4, 1, 0}, .shape = S(4, 3)},
    {.in = {S(4, 3)}, .dim = 1, .p = {2, 1, 2, 1}, .shape = S(4, 1)},
    {.in = {S(2, 5, 3)}, .dim = 1, .p = {2, 2, 3, 1}, .shape = S(2, 2, 3)},
};
static const setup cat_setups[] = {
    {.in = {S(3), S(4), S(1)}, .shape = S(8)},
    {.in = {S(2, 3), S(1, 3), S(4, 3)}, .shape = S(7, 3)},
    {.in = {S(2, 3), S(2, 1), S(2, 2)}, .dim = -1, .shape = S(2, 6)},
    {.in = {S(2, 3), S(0, 3), S(1, 3)}, .shape = S(3, 3)},
    {.in = {S(2, 3, 2), S(2, 1, 2), S(2, 2, 2)}, .dim = 1, .shape = S(2, 6, 2)},
};
static const setup stack_setups[] = {
    {.in = {{0}, {0}, {0}}, .shape = S(3)},
    {.in = {S(4), S(4), S(4)}, .shape = S(3, 4)},
    {.in = {S(4), S(4), S(4)}, .dim = -1, .shape = S(4, 3)},
    {.in = {S(2, 3), S(2, 3), S(2, 3)}, .dim = 1, .shape = S(2, 3, 3)},
    {.in = {S(0, 3), S(0, 3), S(0, 3)}, .dim = 2, .shape = S(0, 3, 3)},
};
static const setup inplace_setups[] = {
    {.in = {{0}, {0}}},       {.in = {S(3), S(3)}},
    {.in = {S(5, 4), S(4)}},  {.in = {S(2, 3, 4), S(3, 1)}},
    {.in = {S(0, 3), S(3)}},  {.in = {S(37, 29), S(37, 29)}},
    {.in = {S(37, 29), {0}}},
};

// ---- where elements come from -------------------------------------------------------------------

static int dim_of(int dim, int rank)
{
    return dim < 0 ? dim + rank : dim;
}

// The same row-major order in another shape: from the flat place.
static void move_same(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    int64_t flat = 0;
    for (int d = 0; d < s->shape.rank; d++)
        flat = flat * s->shape.dim[d] + to[d];
    for (int d = in.rank - 1; d >= 0; d--) {
        from[d] = flat % in.dim[d];
        flat /= in.dim[d];
    }
}

static void move_pixel_shuffle(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    const int64_t r = (int64_t)s->p[0];
    const int c = in.rank - 3, h = in.rank - 2, w = in.rank - 1;
    memcpy(from, to, (size_t)in.rank * sizeof *to);
    from[c] = (to[c] * r + to[h] % r) * r + to[w] % r;
    from[h] = to[h] / r;
    from[w] = to[w] / r;
}

static void move_pixel_unshuffle(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    const int64_t r = (int64_t)s->p[0];
    const int c = in.rank - 3, h = in.rank - 2, w = in.rank - 1;
    memcpy(from, to, (size_t)in.rank * sizeof *to);
    from[c] = to[c] / (r * r);
    from[h] = to[h] * r + to[c] / r % r;
    from[w] = to[w] * r + to[c] % r;
}

// Channel g of the result is the one at (g % groups, g / groups).
static void move_channel_shuffle(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    const int64_t groups = (int64_t)s->p[0];
    memcpy(from, to, (size_t)in.rank * sizeof *to);
    from[1] = to[1] % groups * (in.dim[1] / groups) + to[1] / groups;
}

static void move_transpose(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    memcpy(from, to, (size_t)in.rank * sizeof *to);
    from[(int)s->p[0]] = to[(int)s->p[1]];
    from[(int)s->p[1]] = to[(int)s->p[0]];
}

static void move_permute(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    for (int d = 0; d < in.rank; d++)
        from[s->axes.axis[d]] = to[d];
}

static void move_narrow(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    memcpy(from, to, (size_t)in.rank * sizeof *to);
    from[dim_of(s->dim, in.rank)] += (int64_t)s->p[0];
}

static void move_slice(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    int dim = dim_of(s->dim, in.rank);
    memcpy(from, to, (size_t)in.rank * sizeof *to);
    from[dim] = (int64_t)s->p[0] + to[dim] * (int64_t)s->p[2];
}

static void move_select(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    int dim = dim_of(s->dim, in.rank);
    for (int d = 0; d < in.rank; d++)
        from[d] = d < dim ? to[d] : d == dim ? (int64_t)s->p[0] : to[d - 1];
}

static void move_expand(const setup *s, tern_shape in, const int64_t *to, int64_t *from)
{
    for (int d = 0; d < in.rank; d++)
        from[d] = in.dim[d] == 1 ? 0 : to[d + s->shape.rank - in.rank];
}

// ---- how they are called ------------------------------------------------------------------------

#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
CALL(reshape, tern_reshape(in[0], s->shape))
CALL(view, tern_view(tern_contiguous(in[0]), s->shape))
CALL(flatten, tern_flatten(in[0], (int)s->p[0], (int)s->p[1]))
CALL(pixel_shuffle, tern_pixel_shuffle(in[0], (int64_t)s->p[0]))
CALL(pixel_unshuffle, tern_pixel_unshuffle(in[0], (int64_t)s->p[0]))
CALL(channel_shuffle, tern_channel_shuffle(in[0], (int64_t)s->p[0]))
CALL(squeeze, tern_squeeze(in[0], s->dim))
CALL(unsqueeze, tern_unsqueeze(in[0], s->dim))
CALL(detach, tern_detach(in[0]))
CALL(contiguous, tern_contiguous(in[0]))
CALL(clone, tern_clone(in[0]))
// There and back again; the same device where there is only one.
CALL(to, tern_to(tern_to(in[0], tern_cpu(tern_device_count(TERN_CPU) - 1)), tern_device_of(in[0])))
CALL(to_dtype, tern_to_dtype(in[0], (tern_dtype)c->p[0]))
CALL(transpose, tern_transpose(in[0], (int)s->p[0], (int)s->p[1]))
CALL(permute, tern_permute(in[0], s->axes))
CALL(narrow, tern_narrow(in[0], s->dim, (int64_t)s->p[0], (int64_t)s->p[1]))
CALL(slice, tern_slice(in[0], s->dim, (int64_t)s->p[0], (int64_t)s->p[1], (int64_t)s->p[2]))
CALL(select, tern_select(in[0], s->dim, (int64_t)s->p[0]))
CALL(expand, tern_expand(in[0], s->shape))
CALL(cat, tern_cat(in, 3, s->dim))
CALL(stack, tern_stack(in, 3, s->dim))
CALL(copy_, tern_copy_(tern_clone(in[0]), in[1]))
CALL(fill_, tern_fill_(tern_clone(in[0]), c->p[0]))
CALL(zero_, tern_zero_(tern_clone(in[0])))
CALL(add_, tern_add_(tern_clone(in[0]), in[1], c->p[0]))
CALL(mul_, tern_mul_(tern_clone(in[0]), in[1]))
CALL(add_scalar_, tern_add_scalar_(tern_clone(in[0]), c->p[0]))
CALL(mul_scalar_, tern_mul_scalar_(tern_clone(in[0]), c->p[0]))

static tern_tensor *call_unflatten(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)c;
    tern_shape cut = {.rank = (int)s->p[0]};
    const int dim = dim_of(s->dim, tern_rank(in[0]));
    memcpy(cut.dim, s->shape.dim + dim, (size_t)cut.rank * sizeof *cut.dim);
    return tern_unflatten(in[0], s->dim, cut);
}

static tern_tensor *call_split(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)c;
    tern_tensor *out[8];
    int64_t count = 0;
    return tern_split(in[0], (int64_t)s->p[2], s->dim, out, 8, &count) ? NULL : out[(int)s->p[3]];
}

static tern_tensor *call_chunk(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)c;
    tern_tensor *out[8];
    int64_t count = 0;
    return tern_chunk(in[0], (int64_t)s->p[2], s->dim, out, 8, &count) ? NULL : out[(int)s->p[3]];
}

#define EACH(name, ...)                                                                            \
    static real each_##name(const real *x, const double *p)                                        \
    {                                                                                              \
        (void)x;                                                                                   \
        (void)p;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
EACH(copy_, x[1])
EACH(fill_, p[0])
EACH(zero_, 0)
EACH(add_, x[0] + p[0] * x[1])
EACH(mul_, x[0] * x[1])
EACH(add_scalar_, x[0] + p[0])
EACH(mul_scalar_, x[0] * p[0])
// p[0]: the dtype. As in PyTorch, 16-bit floats are made by way of float32.
static real each_to_dtype(const real *x, const double *p)
{
    tern_dtype dtype = (tern_dtype)p[0];
    if (dtype == TERN_BOOL)
        return x[0] != 0;
    if (!tern_dtype_is_floating(dtype))
        return truncl(x[0]);
    return tern_dtype_size(dtype) == 2 ? (real)(float)x[0] : x[0];
}

// clang-format off
#define MOVED(name, from, list, ...)                                                               \
    {.op = #name, .call = call_##name, .reference = reference_moved, .move = from,                 \
     .setups = list, .setup_count = COUNT(list), .inputs = 1, .values = {WIDE}, .dtypes = ALL,     \
     __VA_ARGS__}
#define DIFFERENTIABLE .gradients = 1
#define TO(name, dtype, kind, ...)                                                                 \
    {.op = "to_dtype", .note = name, .call = call_to_dtype, .reference = reference_each,           \
     .each = each_to_dtype, .setups = same_setups, .setup_count = COUNT(same_setups),              \
     .inputs = 1, .values = {kind}, .dtypes = ALL, .result = AS_ASKED, .p = {dtype}, __VA_ARGS__}
#define JOINED(name, list) \
    {.op = #name, .call = call_##name, .reference = reference_joined, .setups = list,              \
     .setup_count = COUNT(list), .inputs = 3, .values = {WIDE, WIDE, WIDE}, .dtypes = ALL,         \
     .gradients = 7}
#define INPLACE(name, count, ...)                                                                  \
    {.op = #name, .call = call_##name, .reference = reference_each, .each = each_##name,           \
     .setups = inplace_setups, .setup_count = COUNT(inplace_setups), .inputs = count,              \
     .values = {WIDE, WIDE}, .gradients = (1 << count) - 1, __VA_ARGS__}

static const op_case cases[] = {
    MOVED(reshape, move_same, reshape_setups, DIFFERENTIABLE),
    MOVED(view, move_same, reshape_setups, DIFFERENTIABLE),
    MOVED(flatten, move_same, flatten_setups, DIFFERENTIABLE),
    MOVED(unflatten, move_same, unflatten_setups, DIFFERENTIABLE),
    MOVED(pixel_shuffle, move_pixel_shuffle, pixel_shuffle_setups, DIFFERENTIABLE),
    MOVED(pixel_unshuffle, move_pixel_unshuffle, pixel_unshuffle_setups, DIFFERENTIABLE),
    MOVED(channel_shuffle, move_channel_shuffle, channel_shuffle_setups, DIFFERENTIABLE),
    MOVED(squeeze, move_same, squeeze_setups, DIFFERENTIABLE),
    MOVED(unsqueeze, move_same, unsqueeze_setups, DIFFERENTIABLE),
    MOVED(detach, move_same, same_setups, .gradients = 0),
    MOVED(contiguous, move_same, same_setups, DIFFERENTIABLE),
    MOVED(clone, move_same, same_setups, DIFFERENTIABLE),
    MOVED(to, move_same, same_setups, DIFFERENTIABLE),
    MOVED(transpose, move_transpose, transpose_setups, DIFFERENTIABLE),
    MOVED(permute, move_permute, permute_setups, DIFFERENTIABLE),
    MOVED(narrow, move_narrow, narrow_setups, DIFFERENTIABLE),
    MOVED(slice, move_slice, slice_setups, DIFFERENTIABLE),
    MOVED(select, move_select, select_setups, DIFFERENTIABLE),
    MOVED(expand, move_expand, expand_setups, DIFFERENTIABLE),
    MOVED(split, move_narrow, split_setups, DIFFERENTIABLE),
    MOVED(chunk, move_narrow, chunk_setups, DIFFERENTIABLE),
    TO("float64", TERN_FLOAT64, WIDE, .specials = true, DIFFERENTIABLE),
    TO("float32", TERN_FLOAT32, WIDE, .specials = true),
    TO("float16", TERN_FLOAT16, WIDE, .specials = true),
    TO("bfloat16", TERN_BFLOAT16, WIDE, .specials = true),
    TO("int64", TERN_INT64, ORDINARY, .gradients = 0),
    TO("int32", TERN_INT32, ORDINARY, .gradients = 0),
    TO("uint8", TERN_UINT8, POSITIVE, .gradients = 0),
    TO("bool", TERN_BOOL, SMALL, .specials = true),
    JOINED(cat, cat_setups),
    JOINED(stack, stack_setups),
    INPLACE(copy_, 2, .specials = true, .dtypes = ALL),
    INPLACE(fill_, 1, .dtypes = ALL, .p = {1}),
    INPLACE(zero_, 1, .dtypes = ALL),
    INPLACE(add_, 2, .dtypes = FLOATS | I64 | I32, .ulps = 2, .p = {2}),
    INPLACE(mul_, 2, .specials = true, .dtypes = NUMBERS, .ulps = 1),
    INPLACE(add_scalar_, 1, .dtypes = NUMBERS, .ulps = 1, .p = {3}),
    INPLACE(mul_scalar_, 1, .dtypes = NUMBERS, .ulps = 1, .p = {3}),
};
// clang-format on

const case_list shape_cases = {cases, COUNT(cases)};
