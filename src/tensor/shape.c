// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"
#include <stdio.h>

tern_shape tern_shape_make(int rank, const int64_t *dims)
{
    tern_shape shape = {.rank = rank};
    for (int i = 0; dims && i < rank && i < TERN_MAX_RANK; i++)
        shape.dim[i] = dims[i];
    return shape;
}

tern_axis_list tern_axis_list_make(int count, const int64_t *axes)
{
    tern_axis_list list = {.count = count};
    for (int i = 0; axes && i < count && i < TERN_MAX_RANK; i++)
        list.axis[i] = axes[i] < INT32_MIN || axes[i] > INT32_MAX ? INT32_MAX : (int)axes[i];
    return list;
}

int64_t tern_shape_numel(tern_shape shape)
{
    int64_t numel = 1;
    bool empty = false;
    for (int i = 0; i < shape.rank && i < TERN_MAX_RANK; i++) {
        if (shape.dim[i] < 0)
            return -1;
        if (shape.dim[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(numel, shape.dim[i], &numel))
            return -1;
    }
    return empty ? 0 : numel;
}

bool tern_shape_equal(tern_shape a, tern_shape b)
{
    if (a.rank != b.rank)
        return false;
    for (int i = 0; i < a.rank && i < TERN_MAX_RANK; i++)
        if (a.dim[i] != b.dim[i])
            return false;
    return true;
}

#define TEXTS     8
#define TEXT_SIZE 256
static _Thread_local char texts[TEXTS][TEXT_SIZE];
static _Thread_local unsigned next_text;

static char *take_text(void)
{
    return texts[next_text++ % TEXTS];
}

static void write_shape(char *text, tern_shape shape)
{
    int rank = shape.rank < 0 ? 0 : shape.rank < TERN_MAX_RANK ? shape.rank : TERN_MAX_RANK;
    int used = snprintf(text, TEXT_SIZE, "(");
    for (int i = 0; i < rank; i++)
        used += snprintf(text + used, (size_t)(TEXT_SIZE - used), i ? ", %lld" : "%lld",
                         (long long)shape.dim[i]);
    snprintf(text + used, (size_t)(TEXT_SIZE - used), shape.rank == 1 ? ",)" : ")");
}

const char *tern_shape_string(tern_shape shape)
{
    char *text = take_text();
    write_shape(text, shape);
    return text;
}

const char *tern_tensor_string(const tern_tensor *t)
{
    char *text = take_text(), sizes[TEXT_SIZE];
    write_shape(sizes, tern_shape_get(t));
    snprintf(text, TEXT_SIZE, "%s %.192s on %s", tern_dtype_name(t->dtype), sizes,
             tern_device_string(tern_dev(t)));
    return text;
}

const char *tern_identity_string(const tern_tensor *t)
{
    char *text = take_text(), sizes[TEXT_SIZE];
    const char *dtype = tern_dtype_name(t->dtype);
    write_shape(sizes, tern_shape_get(t));
    if (t->label[0])
        snprintf(text, TEXT_SIZE, "\"%s\", %s %.144s", t->label, dtype, sizes);
    else
        snprintf(text, TEXT_SIZE, "%s %.144s, made by %.64s", dtype, sizes, t->op);
    return text;
}

tern_status tern_check_dim(const char *op, int rank, int *dim)
{
    int limit = rank > 0 ? rank : 1;
    TERN_CHECK(*dim >= -limit && *dim < limit, TERN_ERR_ARG,
               "%s: dim %d is out of range for a tensor of %d dimensions (%d to %d)", op, *dim,
               rank, -limit, limit - 1);
    if (*dim < 0)
        *dim += limit;
    return TERN_OK;
}

tern_status tern_broadcast_shapes(const char *op, const char *a_name, tern_shape a,
                                  const char *b_name, tern_shape b, tern_shape *out)
{
    tern_shape shape = {.rank = a.rank > b.rank ? a.rank : b.rank};
    for (int i = 1; i <= shape.rank; i++) {
        int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1;
        int64_t y = i <= b.rank ? b.dim[b.rank - i] : 1;
        TERN_CHECK(x == y || x == 1 || y == 1, TERN_ERR_SHAPE,
                   "%s: %s %s and %s %s do not broadcast: sizes %lld and %lld meet", op, a_name,
                   tern_shape_string(a), b_name, tern_shape_string(b), (long long)x, (long long)y);
        shape.dim[shape.rank - i] = x == 1 ? y : x;
    }
    TERN_CHECK(tern_shape_numel(shape) >= 0, TERN_ERR_SHAPE,
               "%s: %s and %s broadcast to %s, which has too many elements", op, a_name, b_name,
               tern_shape_string(shape));
    *out = shape;
    return TERN_OK;
}
