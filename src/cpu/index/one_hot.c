// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cpu/fault.h"
#include "cpu/isa.h"

tern_status TERN_ISA_NAME(one_hot)(const tern_exec *exec, const tern_strided *y,
                                   const tern_strided *labels)
{
    const int64_t rows = y->size[0], classes = y->size[1];
    int64_t *out = y->data;
    if (rows * classes > 0)
        memset(out, 0, (size_t)(rows * classes) * sizeof *out);
    for (int64_t n = 0; n < rows; n++) {
        int64_t label = ((const int64_t *)labels->data)[n * labels->stride[0]];
        if (label >= 0 && label < classes)
            out[n * classes + label] = 1;
        else
            tern_cpu_fault(exec, n, label);
    }
    return TERN_OK;
}
