// SPDX-License-Identifier: Apache-2.0
#include "cuda/tern_cu.h"
#include "product.h"

template <class T> __global__ void from_floats(T *to, const float *from, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = downcast<T>(from[i]);
}

template <class T> __global__ void to_floats(float *to, const T *from, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = upcast(from[i]);
}

// Whole numbers of 1/8 from -1 to 1, as random as a hash of their place.
__global__ void eighths(float *to, int64_t count, uint32_t seed)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint32_t h = ((uint32_t)i + seed) * 2654435761u;
        h = (h ^ (h >> 15)) * 2246822519u;
        to[i] = (float)((int)((h >> 8) % 17) - 8) / 8;
    }
}

enum { BLOCKS = 256, THREADS = 256 };

template <class T>
static void convert(cudaStream_t stream, void *to, const void *from, int64_t count, bool widens)
{
    if (widens)
        TERN_LAUNCH((to_floats<T>), BLOCKS, THREADS, 0, stream, static_cast<float *>(to),
                    static_cast<const T *>(from), count);
    else
        TERN_LAUNCH((from_floats<T>), BLOCKS, THREADS, 0, stream, static_cast<T *>(to),
                    static_cast<const float *>(from), count);
}

static void convert_any(cudaStream_t stream, cudaDataType type, void *to, const void *from,
                        int64_t count, bool widens)
{
    if (type == CUDA_R_16F)
        convert<__half>(stream, to, from, count, widens);
    else if (type == CUDA_R_16BF)
        convert<__nv_bfloat16>(stream, to, from, count, widens);
    else
        convert<float>(stream, to, from, count, widens);
}

void queue_from_floats(cudaStream_t stream, cudaDataType type, void *to, const float *from,
                       int64_t count)
{
    convert_any(stream, type, to, from, count, false);
}

void queue_to_floats(cudaStream_t stream, cudaDataType type, float *to, const void *from,
                     int64_t count)
{
    convert_any(stream, type, to, from, count, true);
}

void queue_eighths(cudaStream_t stream, float *to, int64_t count, uint32_t seed)
{
    TERN_LAUNCH(eighths, BLOCKS, THREADS, 0, stream, to, count, seed);
}
