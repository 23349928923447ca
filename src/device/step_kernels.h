// SPDX-License-Identifier: Apache-2.0
// The kernels that go over the parameters of a model in one pass, as kernels.h has the others:
// updates of optimizers, averages, and the common norm of gradients.
#ifndef TERN_SRC_DEVICE_STEP_KERNELS_H
#define TERN_SRC_DEVICE_STEP_KERNELS_H

#include "device/exec.h"

// The updates of optimizers: step.def has their formulas.
#define STEP(CODE, ...) TERN_STEP_##CODE,
typedef enum tern_step_code {
#include "device/step.def"
} tern_step_code;

enum { TERN_STEP_STATES = 4, TERN_STEP_NUMBERS = 12 }; // of a formula, at most

// One parameter of an optimizer step: contiguous, floating; the state has the parameter's dtype.
typedef struct tern_step_tensor {
    void *param, *grad;
    void *state[TERN_STEP_STATES]; // in the order of the formula, NULL from its last on
    int64_t numel;
    tern_dtype dtype;
    double number[TERN_STEP_NUMBERS]; // in the order of the formula
} tern_step_tensor;

// One pass over all tensors of a group. Nothing is changed while the fault record is set.
typedef tern_status tern_kernel_step(const tern_exec *exec, tern_step_code code,
                                     const tern_step_tensor *tensors, int64_t count);

// One pass over averages of weights: param is an average, grad the newest value (AVERAGE of
// step.def). *averaged, memory of the device, is how many values are in the averages. The numbers
// of the tensors do not count, and neither does the fault record.
typedef tern_status tern_kernel_average(const tern_exec *exec, double decay,
                                        const int64_t *averaged, const tern_step_tensor *tensors,
                                        int64_t count);

// What part of the way an average goes to its newest value: all of it to the first; a decay of NAN
// stands for the mean of all.
#define TERN_AVERAGE_TAKE(decay, averaged)                                                         \
    ((averaged) == 0 ? 1.0 : isnan(decay) ? 1 / ((double)(averaged) + 1) : 1 - (decay))

// total (1 element, float64 on CPU) = p-norm over the elements of all views, contiguous.
typedef tern_status tern_kernel_list_norm(const tern_exec *exec, double p,
                                          const tern_strided *total, const tern_strided *list,
                                          int64_t count);
// x *= min(1, max_norm / (total + 1e-6)) for all views. Where the front cannot look at the total
// and gave a location, a total that is not finite goes to the fault record and nothing is scaled.
typedef tern_status tern_kernel_list_clip(const tern_exec *exec, double max_norm,
                                          const tern_strided *total, const tern_strided *list,
                                          int64_t count);

#endif
