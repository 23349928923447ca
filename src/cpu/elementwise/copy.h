// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_CPU_ELEMENTWISE_COPY_H
#define TERN_SRC_CPU_ELEMENTWISE_COPY_H

#include "cpu/elementwise/elementwise.h"

// y = x for different dtypes.
void TERN_ISA_NAME(copy_cast)(const tern_strided *y, const tern_strided *x);

#endif
