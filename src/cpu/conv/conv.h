// SPDX-License-Identifier: Apache-2.0
// Convolutions of one element type and instruction set; contiguous views of float or double.
//
// How the work is cut and in which order a sum is formed depends on shapes alone, so the bits are
// the same for any number of threads. TERN_ERR_NOMEM, the only failure, comes before a result is
// written.
#ifndef TERN_SRC_CPU_CONV_CONV_H
#define TERN_SRC_CPU_CONV_CONV_H

#include "cpu/isa.h"

typedef tern_status conv_fn(const tern_conv_args *args);

conv_fn TERN_ISA_NAME(conv_f32), TERN_ISA_NAME(conv_f64);
conv_fn TERN_ISA_NAME(conv_grad_input_f32), TERN_ISA_NAME(conv_grad_input_f64);
conv_fn TERN_ISA_NAME(conv_grad_weight_f32), TERN_ISA_NAME(conv_grad_weight_f64);

#endif
