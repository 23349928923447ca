// SPDX-License-Identifier: Apache-2.0
// What kernels.cu needs for nvcc: the words that the simulation has, too.
#ifndef TERN_SIM_NVCC_LAUNCH_H
#define TERN_SIM_NVCC_LAUNCH_H

#ifndef TERN_CUDA_SIM
#define TERN_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
#define TERN_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define TERN_DYN_SHARED(type, name)                                                                \
    extern __shared__ __align__(16) unsigned char tern_dynamic_shared_[];                          \
    type *name = reinterpret_cast<type *>(tern_dynamic_shared_)
#endif

#endif
