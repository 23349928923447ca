// SPDX-License-Identifier: Apache-2.0
#include <float.h>
#include <math.h>

#include "cpu/elementwise/elementwise.h"
#include "cpu/step/step.h"

#define REAL         float
#define REAL_SQRT    sqrtf
#define REAL_MIN     FLT_MIN
#define REAL_EPSILON FLT_EPSILON
#define ADAM(name)   name##_float
#include "cpu/step/adam_real.h"
#undef REAL
#undef REAL_SQRT
#undef REAL_MIN
#undef REAL_EPSILON
#undef ADAM

#define REAL         double
#define REAL_SQRT    sqrt
#define REAL_MIN     DBL_MIN
#define REAL_EPSILON DBL_EPSILON
#define ADAM(name)   name##_double
#include "cpu/step/adam_real.h"

tern_status TERN_ISA_NAME(adam)(const tern_exec *exec, const tern_adam_args *args,
                                const tern_step_tensor *tensors, int64_t count)
{
    const step_update update = {block_float, block_double, args};
    return TERN_ISA_NAME(step_all)(exec, &update, tensors, count);
}
