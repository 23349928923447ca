// SPDX-License-Identifier: Apache-2.0
// The element types that CUDA's libraries share; values as in CUDA 13.
#ifndef TERN_SIM_LIBRARY_TYPES_H
#define TERN_SIM_LIBRARY_TYPES_H

typedef enum cudaDataType_t {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_16BF = 14
} cudaDataType;

#endif
