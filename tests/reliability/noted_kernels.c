// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "check.h"
#include "instruction_sets.h"
#include "cpu/backend.h"
#include "noted_kernels.h"

// name, what its views are to be, arguments, parameters
#define SLOTS(X)                                                                                   \
    X(fill, EACH(y), (e, y, v), const tern_exec *e, const tern_strided *y, tern_scalar v)          \
    X(copy, EACH(y, x), (e, y, x), const tern_exec *e, const tern_strided *y,                      \
      const tern_strided *x)                                                                       \
    X(arange, (void)0, (e, y, from, step), const tern_exec *e, const tern_strided *y,              \
      tern_scalar from, tern_scalar step)                                                          \
    X(unary, EACH(y, x), (e, op, p, y, x), const tern_exec *e, tern_unary_op op,                   \
      const tern_scalar p[2], const tern_strided *y, const tern_strided *x)                        \
    X(unary_grad, EACH(dx, dy, s), (e, op, p, dx, dy, s), const tern_exec *e, tern_unary_op op,    \
      const double p[2], const tern_strided *dx, const tern_strided *dy, const tern_strided *s)    \
    X(binary, EACH(y, a, b), (e, op, alpha, y, a, b), const tern_exec *e, tern_binary_op op,       \
      double alpha, const tern_strided *y, const tern_strided *a, const tern_strided *b)           \
    X(where, EACH(y, c, a, b), (e, y, c, a, b), const tern_exec *e, const tern_strided *y,         \
      const tern_strided *c, const tern_strided *a, const tern_strided *b)                         \
    X(reduce, FOLDED(x, y), (e, op, p, y, x), const tern_exec *e, tern_reduce_op op, double p,     \
      const tern_strided *y, const tern_strided *x)                                                \
    X(var, FOLDED(x, var, mean), (e, correction, var, mean, x), const tern_exec *e,                \
      double correction, const tern_strided *var, const tern_strided *mean, const tern_strided *x) \
    X(arg_reduce, FOLDED(x, indices, values), (e, largest, values, indices, x, dim),               \
      const tern_exec *e, bool largest, const tern_strided *values, const tern_strided *indices,   \
      const tern_strided *x, int dim)                                                              \
    X(cumsum, (void)0, (e, y, x, dim, reverse), const tern_exec *e, const tern_strided *y,         \
      const tern_strided *x, int dim, bool reverse)                                                \
    X(matmul, (void)0, (e, args), const tern_exec *e, const tern_matmul_args *args)                \
    X(softmax, (void)0, (e, log, y, x), const tern_exec *e, bool log, const tern_strided *y,       \
      const tern_strided *x)                                                                       \
    X(softmax_grad, (void)0, (e, log, dx, dy, y), const tern_exec *e, bool log,                    \
      const tern_strided *dx, const tern_strided *dy, const tern_strided *y)                       \
    X(cross_entropy, (void)0, (e, args), const tern_exec *e, const tern_cross_entropy_args *args)  \
    X(cross_entropy_grad, (void)0, (e, args, dx, dloss), const tern_exec *e,                       \
      const tern_cross_entropy_args *args, const tern_strided *dx, const tern_strided *dloss)      \
    X(loss, (void)0, (e, args, loss), const tern_exec *e, const tern_loss_args *args,              \
      const tern_strided *loss)                                                                    \
    X(loss_grad, (void)0, (e, args, input, dx, dloss), const tern_exec *e,                         \
      const tern_loss_args *args, int input, const tern_strided *dx, const tern_strided *dloss)    \
    X(dropout, (void)0, (e, p, offset, replay, id, y, x), const tern_exec *e, double p,            \
      uint64_t offset, bool replay, uint64_t *id, const tern_strided *y, const tern_strided *x)    \
    X(gather, (void)0, (e, y, x, index, dim), const tern_exec *e, const tern_strided *y,           \
      const tern_strided *x, const tern_strided *index, int dim)                                   \
    X(scatter_add, (void)0, (e, y, x, index, dim), const tern_exec *e, const tern_strided *y,      \
      const tern_strided *x, const tern_strided *index, int dim)                                   \
    X(one_hot, (void)0, (e, y, labels), const tern_exec *e, const tern_strided *y,                 \
      const tern_strided *labels)                                                                  \
    X(random, (void)0, (e, kind, a, b, low, high, generator, y), const tern_exec *e,               \
      tern_random_kind kind, double a, double b, int64_t low, int64_t high,                        \
      tern_generator *generator, const tern_strided *y)                                            \
    X(sgd, (void)0, (e, args, tensors, count), const tern_exec *e, const tern_sgd_args *args,      \
      const tern_step_tensor *tensors, int64_t count)                                              \
    X(adam, (void)0, (e, args, tensors, count), const tern_exec *e, const tern_adam_args *args,    \
      const tern_step_tensor *tensors, int64_t count)                                              \
    X(list_norm, (void)0, (e, p, total, list, count), const tern_exec *e, double p,                \
      const tern_strided *total, const tern_strided *list, int64_t count)                          \
    X(list_clip, (void)0, (e, max_norm, total, list, count), const tern_exec *e, double max_norm,  \
      const tern_strided *total, const tern_strided *list, int64_t count)

#define SLOT_NUMBER(name, ...) SLOT_##name,
enum { SLOTS(SLOT_NUMBER) SLOT_COUNT };

static const tern_kernels *kernels;
static long calls[SLOT_COUNT];

// ---- coalesced views ----------------------------------------------------------------------------

static char not_coalesced[128]; // the first kernel that was given such views

// Dims d and d + 1 of x's sizes are one step in all views, or one of them is no dim at all.
static bool could_be_one(const tern_strided *const *views, int d)
{
    const tern_strided *x = views[0];
    if (x->size[d] == 1 || x->size[d + 1] == 1)
        return true;
    for (; *views; views++)
        if ((*views)->stride[d] != (*views)->stride[d + 1] * x->size[d + 1])
            return false;
    return true;
}

// views ends with NULL; all have the sizes of the first.
static void check_each(const char *kernel, const tern_strided *const *views)
{
    for (int d = 0; d + 1 < views[0]->rank; d++)
        if (could_be_one(views, d) && !not_coalesced[0])
            snprintf(not_coalesced, sizeof not_coalesced,
                     "%s is given views whose dims %d and %d could be one", kernel, d, d + 1);
}

// The place of a dim among those of a reduction: kept, folded; broadcasts, falling strides.
static double rank_of(const tern_strided *x, const tern_strided *y, int d)
{
    const double stride = fabs((double)x->stride[d]);
    const double place = stride == 0 ? -INFINITY : -stride;
    return y->size[d] == 1 ? fmax(place, -0x1p62) + 0x1p63 : place;
}

// x, then results of a reduction of it, which may be NULL.
static void check_folded(const char *kernel, const tern_strided *const *views, int count)
{
    const tern_strided *given[3] = {NULL};
    int n = 0;
    for (int v = 0; v < count; v++)
        if (views[v])
            given[n++] = views[v];
    const tern_strided *x = given[0], *y = given[1];
    // the dim that an arg_reduce goes along may have size 1
    tern_strided outer = *x;
    outer.rank -= x->rank > 0 && x->size[x->rank - 1] == 1;
    given[0] = &outer;
    check_each(kernel, given);
    for (int d = 0; d + 1 < outer.rank && !not_coalesced[0]; d++)
        if (rank_of(x, y, d) > rank_of(x, y, d + 1))
            snprintf(not_coalesced, sizeof not_coalesced,
                     "%s is given dims %d and %d in the wrong order", kernel, d, d + 1);
}

#define LIST_(...)  ((const tern_strided *const[]){__VA_ARGS__})
#define COUNT_(...) ((int)(sizeof LIST_(__VA_ARGS__) / sizeof *LIST_(__VA_ARGS__)))
#define EACH(...)   check_each(__func__, LIST_(__VA_ARGS__, NULL))
#define FOLDED(...) check_folded(__func__, LIST_(__VA_ARGS__), COUNT_(__VA_ARGS__))

// ---- the table ----------------------------------------------------------------------------------

#define NOTED(name, check, arguments, ...)                                                         \
    static tern_status noted_##name(__VA_ARGS__)                                                   \
    {                                                                                              \
        calls[SLOT_##name]++;                                                                      \
        check;                                                                                     \
        return kernels->name arguments;                                                            \
    }
SLOTS(NOTED)

#define SLOT_ENTRY(slot, ...) .slot = noted_##slot,
static const tern_kernels noting = {.name = "noting", SLOTS(SLOT_ENTRY)};

#define SLOT_NAME(name, ...) #name,
static const char *const names[] = {SLOTS(SLOT_NAME)};

bool note_kernels(int index)
{
    kernels = tern_cpu_kernel_table_for(instruction_set_name(index));
    if (!kernels)
        return false;
    memset(calls, 0, sizeof calls);
    not_coalesced[0] = '\0';
    use_kernels(&noting);
    return true;
}

int check_all_kernels_were_called(void)
{
    // all members of the table but its name are slots
    assert_int_equal(SLOT_COUNT, (sizeof(tern_kernels) - sizeof(char *)) / sizeof(void (*)(void)));
    assert_string_equal(not_coalesced, "");
    for (int i = 0; i < SLOT_COUNT; i++)
        if (calls[i] < 2)
            fail_msg("the kernel %s was called %ld times", names[i], calls[i]);
    return SLOT_COUNT;
}
