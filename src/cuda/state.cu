// SPDX-License-Identifier: Apache-2.0
// The state that a device keeps in its own memory, changed in stream order by one thread.
#include "cuda/launch.cuh"

__global__ void clear_fault(tern_fault *fault)
{
    fault->set = 0;
    fault->location = 0;
    fault->element = 0;
    fault->value = 0;
}

__global__ void propagate_fault(tern_fault *fault, const tern_fault *other)
{
    if (!fault->set && other->set)
        *fault = *other;
}

__global__ void write_draws(tern_draw_state *draws, uint64_t seed, uint64_t base)
{
    draws->seed = seed;
    draws->base = base;
}

__global__ void advance_draws(tern_draw_state *draws, uint64_t count)
{
    draws->base += count;
}

extern "C" tern_status tern_cuda_fault_clear(cudaStream_t stream, tern_fault *fault)
{
    return LAUNCH("fault_clear", clear_fault, 1, 1, stream, fault);
}

extern "C" tern_status tern_cuda_fault_propagate(cudaStream_t stream, tern_fault *fault,
                                                 const tern_fault *other)
{
    return LAUNCH("fault_propagate", propagate_fault, 1, 1, stream, fault, other);
}

extern "C" tern_status tern_cuda_draws_write(cudaStream_t stream, tern_draw_state *draws,
                                             tern_draw_state value)
{
    return LAUNCH("random state", write_draws, 1, 1, stream, draws, value.seed, value.base);
}

extern "C" tern_status tern_cuda_draws_advance(cudaStream_t stream, tern_draw_state *draws,
                                               uint64_t count)
{
    return LAUNCH("random state", advance_draws, 1, 1, stream, draws, count);
}
