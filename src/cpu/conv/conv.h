// SPDX-License-Identifier: Apache-2.0
// Convolutions of one element type and instruction set; contiguous views of float or double.
//
// How the work is cut and in which order a sum is formed depends on shapes alone, so the bits are
// the same for any number of threads. TERN_ERR_NOMEM, the only failure, comes before a result is
// written.
#ifndef TERN_SRC_CPU_CONV_CONV_H
#define TERN_SRC_CPU_CONV_CONV_H

#include "cpu/real.h"

typedef tern_status conv_fn(const tern_conv_args *args);

REAL_DECLARE(conv_fn, conv);
REAL_DECLARE(conv_fn, conv_grad_input);
REAL_DECLARE(conv_fn, conv_grad_weight);

#endif
