// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "cpu/loss/cross_entropy_job.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/reduce/fold_ops.h"
#include "cpu/vecmath.h"

#define REAL      float
#define REAL_BITS int32_t
#define ROW_EXP   vm_exp_below
#define ROW_LOG   vm_log
#define ROW(name) row_##name
#include "cpu/row.h"
#include "cpu/loss/cross_entropy_real.h"
#include "cpu/loss/cross_entropy_grad_real.h"

void ce_forward_float(const ce_job *job, int64_t piece, int64_t first, int64_t last)
{
    row_forward(job, piece, first, last);
}

void ce_backward_float(const ce_job *job, int64_t piece, int64_t first, int64_t last)
{
    row_backward(job, piece, first, last);
}
