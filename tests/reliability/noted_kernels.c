// SPDX-License-Identifier: Apache-2.0
#include "check.h"
#include "instruction_sets.h"
#include "cpu/backend.h"
#include "noted_kernels.h"

// name, arguments, parameters
#define SLOTS(X)                                                                                   \
    X(fill, (e, y, v), const tern_exec *e, const tern_strided *y, tern_scalar v)                   \
    X(copy, (e, y, x), const tern_exec *e, const tern_strided *y, const tern_strided *x)           \
    X(arange, (e, y, from, step), const tern_exec *e, const tern_strided *y, tern_scalar from,     \
      tern_scalar step)                                                                            \
    X(unary, (e, op, p, y, x), const tern_exec *e, tern_unary_op op, const tern_scalar p[2],       \
      const tern_strided *y, const tern_strided *x)                                                \
    X(unary_grad, (e, op, p, dx, dy, s), const tern_exec *e, tern_unary_op op, const double p[2],  \
      const tern_strided *dx, const tern_strided *dy, const tern_strided *s)                       \
    X(binary, (e, op, alpha, y, a, b), const tern_exec *e, tern_binary_op op, double alpha,        \
      const tern_strided *y, const tern_strided *a, const tern_strided *b)                         \
    X(where, (e, y, c, a, b), const tern_exec *e, const tern_strided *y, const tern_strided *c,    \
      const tern_strided *a, const tern_strided *b)                                                \
    X(reduce, (e, op, p, y, x), const tern_exec *e, tern_reduce_op op, double p,                   \
      const tern_strided *y, const tern_strided *x)                                                \
    X(var, (e, correction, var, mean, x), const tern_exec *e, double correction,                   \
      const tern_strided *var, const tern_strided *mean, const tern_strided *x)                    \
    X(arg_reduce, (e, largest, values, indices, x, dim), const tern_exec *e, bool largest,         \
      const tern_strided *values, const tern_strided *indices, const tern_strided *x, int dim)     \
    X(cumsum, (e, y, x, dim, reverse), const tern_exec *e, const tern_strided *y,                  \
      const tern_strided *x, int dim, bool reverse)                                                \
    X(matmul, (e, args), const tern_exec *e, const tern_matmul_args *args)                         \
    X(softmax, (e, log, y, x), const tern_exec *e, bool log, const tern_strided *y,                \
      const tern_strided *x)                                                                       \
    X(softmax_grad, (e, log, dx, dy, y), const tern_exec *e, bool log, const tern_strided *dx,     \
      const tern_strided *dy, const tern_strided *y)                                               \
    X(cross_entropy, (e, args), const tern_exec *e, const tern_cross_entropy_args *args)           \
    X(cross_entropy_grad, (e, args, dx, dloss), const tern_exec *e,                                \
      const tern_cross_entropy_args *args, const tern_strided *dx, const tern_strided *dloss)      \
    X(loss, (e, args, loss), const tern_exec *e, const tern_loss_args *args,                       \
      const tern_strided *loss)                                                                    \
    X(loss_grad, (e, args, input, dx, dloss), const tern_exec *e, const tern_loss_args *args,      \
      int input, const tern_strided *dx, const tern_strided *dloss)                                \
    X(dropout, (e, p, offset, replay, id, y, x), const tern_exec *e, double p, uint64_t offset,    \
      bool replay, uint64_t *id, const tern_strided *y, const tern_strided *x)                     \
    X(gather, (e, y, x, index, dim), const tern_exec *e, const tern_strided *y,                    \
      const tern_strided *x, const tern_strided *index, int dim)                                   \
    X(scatter_add, (e, y, x, index, dim), const tern_exec *e, const tern_strided *y,               \
      const tern_strided *x, const tern_strided *index, int dim)                                   \
    X(one_hot, (e, y, labels), const tern_exec *e, const tern_strided *y,                          \
      const tern_strided *labels)                                                                  \
    X(random, (e, kind, a, b, low, high, generator, y), const tern_exec *e, tern_random_kind kind, \
      double a, double b, int64_t low, int64_t high, tern_generator *generator,                    \
      const tern_strided *y)                                                                       \
    X(sgd, (e, args, tensors, count), const tern_exec *e, const tern_sgd_args *args,               \
      const tern_step_tensor *tensors, int64_t count)                                              \
    X(adam, (e, args, tensors, count), const tern_exec *e, const tern_adam_args *args,             \
      const tern_step_tensor *tensors, int64_t count)                                              \
    X(list_norm, (e, p, total, list, count), const tern_exec *e, double p,                         \
      const tern_strided *total, const tern_strided *list, int64_t count)                          \
    X(list_clip, (e, max_norm, total, list, count), const tern_exec *e, double max_norm,           \
      const tern_strided *total, const tern_strided *list, int64_t count)

#define SLOT_NUMBER(name, ...) SLOT_##name,
enum { SLOTS(SLOT_NUMBER) SLOT_COUNT };

static const tern_kernels *kernels;
static long calls[SLOT_COUNT];

#define NOTED(name, arguments, ...)                                                                \
    static tern_status noted_##name(__VA_ARGS__)                                                   \
    {                                                                                              \
        calls[SLOT_##name]++;                                                                      \
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
    use_kernels(&noting);
    return true;
}

int check_all_kernels_were_called(void)
{
    // all members of the table but its name are slots
    assert_int_equal(SLOT_COUNT, (sizeof(tern_kernels) - sizeof(char *)) / sizeof(void (*)(void)));
    for (int i = 0; i < SLOT_COUNT; i++)
        if (calls[i] < 2)
            fail_msg("the kernel %s was called %ld times", names[i], calls[i]);
    return SLOT_COUNT;
}
