// SPDX-License-Identifier: Apache-2.0
// Launches of kernels, on a device and on the simulated one alike.
#ifndef TERN_SRC_CUDA_LAUNCH_CUH
#define TERN_SRC_CUDA_LAUNCH_CUH

#include "base/integer.h"
#include "cuda/tern_cu.h"

// Launches a kernel without dynamic shared memory. TERN_OK, or raises the error of the launch,
// which begins with `op`. A template's name stands in parentheses.
#define LAUNCH(op, kernel, grid, block, stream, ...)                                               \
    (TERN_LAUNCH(kernel, grid, block, 0, stream, __VA_ARGS__), tern_cuda_launched(op))

// The grid of a grid-stride loop: as many blocks as there is work for, up to a limit.
static inline unsigned grid_stride_blocks(int64_t wanted)
{
    return (unsigned)min_int64(wanted, 1 << 20);
}

// Scratch memory of the kernels that one function launches: freed when the function returns.
struct scratch_memory {
    const tern_exec *exec;
    tern_cuda_scratch scratch;

    explicit scratch_memory(const tern_exec *exec) : exec(exec), scratch()
    {
    }
    scratch_memory(const scratch_memory &) = delete;
    ~scratch_memory()
    {
        if (scratch.data)
            tern_cuda_scratch_free(exec, &scratch);
    }
    template <class T> tern_status take(int64_t count, T **data)
    {
        TERN_TRY(tern_cuda_scratch_take(exec, count * (int64_t)sizeof(T), &scratch));
        *data = (T *)scratch.data;
        return TERN_OK;
    }
};

#endif
