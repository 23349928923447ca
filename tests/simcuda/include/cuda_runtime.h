// SPDX-License-Identifier: Apache-2.0
// CUDA's device language, simulated: lets g++ and clang++ compile .cu files that keep to the
// rules of src/cuda/tern_cu.h. C++ only; the standard headers come first, because they use words
// that are macros below.
#ifndef TERN_SIM_CUDA_RUNTIME_H
#define TERN_SIM_CUDA_RUNTIME_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "cuda_runtime_api.h"

#define __global__ __attribute__((unused))
#define __device__
#define __host__
#define __constant__    static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define warpSize     32

#include "sim_vectors.h"
#include "sim_threads.h"
#include "sim_math.h"
#include "sim_atomics.h"
#include "sim_launch.h"

#endif
