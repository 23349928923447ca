// SPDX-License-Identifier: Apache-2.0
#include <float.h>

#include "cpu/elementwise/elementwise.h"
#include "cpu/step/step.h"

#define REAL      float
#define REAL_MIN  FLT_MIN
#define SGD(name) name##_float
#include "cpu/step/sgd_real.h"
#undef REAL
#undef REAL_MIN
#undef SGD

#define REAL      double
#define REAL_MIN  DBL_MIN
#define SGD(name) name##_double
#include "cpu/step/sgd_real.h"

tern_status TERN_ISA_NAME(sgd)(const tern_exec *exec, const tern_sgd_args *args,
                               const tern_step_tensor *tensors, int64_t count)
{
    const step_update update = {block_float, block_double, args};
    return TERN_ISA_NAME(step_all)(exec, &update, tensors, count);
}
