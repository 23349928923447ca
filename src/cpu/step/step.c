// SPDX-License-Identifier: Apache-2.0
#include "cpu/step/step.h"

#include <errno.h>
#include "base/pool.h"
#include "cpu/elementwise/copy.h"
#include "device/kernel_dtype.h"

typedef struct pass {
    const step_update *update;
    const tern_step_tensor *tensors;
} pass;

static int64_t numel_at(const void *list, int64_t i)
{
    return ((const tern_step_tensor *)list)[i].numel;
}

static void gather_arrays(void **array, const tern_step_tensor *t, int64_t begin)
{
    void *const start[STEP_ARRAYS] = {t->param, t->grad, t->state[0], t->state[1], t->state[2]};
    int64_t offset = begin * (int64_t)tern_dtype_size(t->dtype);
    for (int i = 0; i < STEP_ARRAYS; i++)
        array[i] = start[i] ? (char *)start[i] + offset : NULL;
}

static void convert(void *to, tern_dtype to_dtype, void *from, tern_dtype from_dtype, int64_t n)
{
    const tern_strided y = {to, to_dtype, 1, {n}, {1}}, x = {from, from_dtype, 1, {n}, {1}};
    TERN_ISA_NAME(copy_cast)(&y, &x);
}

// 16-bit elements: computed in float32, rounded once.
static void run_widened(const pass *p, const tern_step_tensor *t, int64_t begin, int64_t count)
{
    float wide[STEP_ARRAYS][STEP_BLOCK];
    void *narrow[STEP_ARRAYS], *array[STEP_ARRAYS];
    for (int64_t done = 0; done < count; done += STEP_BLOCK) {
        int64_t n = count - done < STEP_BLOCK ? count - done : STEP_BLOCK;
        gather_arrays(narrow, t, begin + done);
        for (int i = 0; i < STEP_ARRAYS; i++) {
            array[i] = narrow[i] ? wide[i] : NULL;
            if (narrow[i])
                convert(wide[i], TERN_FLOAT32, narrow[i], t->dtype, n);
        }
        p->update->in_float(p->update->args, t->step, array, n);
        for (int i = 0; i < STEP_ARRAYS; i++)
            if (narrow[i] && i != 1)
                convert(narrow[i], t->dtype, wide[i], TERN_FLOAT32, n);
    }
}

static void run_piece(void *context, int64_t index)
{
    const pass *p = context;
    step_range range = step_range_of(p->tensors, numel_at, index);
    const tern_step_tensor *t = &p->tensors[range.tensor];
    void *array[STEP_ARRAYS];
    gather_arrays(array, t, range.begin);
    if (t->dtype == TERN_FLOAT32)
        p->update->in_float(p->update->args, t->step, array, range.count);
    else if (t->dtype == TERN_FLOAT64)
        p->update->in_double(p->update->args, t->step, array, range.count);
    else
        run_widened(p, t, range.begin, range.count);
}

static int64_t numel_of_all(const tern_step_tensor *tensors, int64_t count)
{
    int64_t numel = 0;
    for (int64_t i = 0; i < count; i++)
        numel += tensors[i].numel;
    return numel;
}

// Waking other threads takes longer than small tensors do.
static void run_pieces(pass *p, int64_t count)
{
    const int64_t pieces = step_pieces(p->tensors, numel_at, count);
    const int saved = errno; // pow sets it
    if (numel_of_all(p->tensors, count) > STEP_PIECE)
        tern_pool_run(pieces, run_piece, p);
    else
        for (int64_t i = 0; i < pieces; i++)
            run_piece(p, i);
    errno = saved;
}

tern_status TERN_ISA_NAME(step_all)(const tern_exec *exec, const step_update *update,
                                    const tern_step_tensor *tensors, int64_t count)
{
    pass p = {update, tensors};
    TERN_TRY(tern_kernel_floating_step("optimizer step", tensors, count));
    if (!__atomic_load_n(&exec->fault->set, __ATOMIC_ACQUIRE))
        run_pieces(&p, count);
    return TERN_OK;
}
