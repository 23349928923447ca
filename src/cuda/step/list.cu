// SPDX-License-Identifier: Apache-2.0
// Clipping gradients: the total norm of a list of tensors, and scaling them by it. Pointers go by
// value, LIST_CHUNK tensors a launch; each block reduces a slice of one tensor in double, one more
// block combines them.
#include "cuda/block.cuh"
#include "cuda/fault.cuh"
#include "cuda/vec.cuh"

#define LIST_THREADS      256
#define LIST_CHUNK        128
#define LIST_MIN_ELEMENTS 4096 // elements of a block, at least
#define LIST_BLOCKS       4096 // more than this take more elements each

typedef struct list_chunk {
    void *data[LIST_CHUNK];
    int64_t numel[LIST_CHUNK];
    int first_block[LIST_CHUNK]; // of this launch
    uint8_t dtype[LIST_CHUNK];
    int count;
    int64_t block_elements; // elements of a block
} list_chunk;

// What a block works on.
typedef struct list_slice {
    void *data;
    tern_dtype dtype;
    int64_t first, last;
} list_slice;

__device__ __forceinline__ list_slice find_slice(const list_chunk &list, int block)
{
    int low = 0, high = list.count - 1; // the last tensor that begins no later
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (list.first_block[middle] <= block)
            low = middle;
        else
            high = middle - 1;
    }
    const int64_t first = (block - list.first_block[low]) * list.block_elements,
                  end = first + list.block_elements;
    const int64_t last = end < list.numel[low] ? end : list.numel[low];
    return list_slice{list.data[low], (tern_dtype)list.dtype[low], first, last};
}

// ---- the norm -----------------------------------------------------------------------------------

// What is added up, or compared, for the norm.
enum norm_kind { NORM_SQUARES, NORM_ABS, NORM_POWERS, NORM_COUNT, NORM_LARGEST, NORM_SMALLEST };

struct norm_combine {
    norm_kind kind;

    __device__ double operator()(double a, double b) const
    {
        if (kind < NORM_LARGEST)
            return a + b;
        const bool better = kind == NORM_LARGEST ? b > a : b < a;
        return better || b != b ? b : a;
    }
    __device__ double identity() const
    {
        return kind == NORM_SMALLEST ? INFINITY : 0;
    }
};

template <bool SQUARES>
__device__ __forceinline__ double norm_add(const norm_combine &combine, double total, double x,
                                           double p)
{
    if (SQUARES)
        return total + x * x;
    const double size = fabs(x);
    if (combine.kind == NORM_COUNT)
        return total + (x != 0);
    return combine(total, combine.kind == NORM_POWERS ? pow(size, p) : size);
}

template <bool SQUARES, class T>
__device__ __forceinline__ double reduce_slice(const list_slice &slice, const norm_combine &combine,
                                               double p)
{
    enum { WIDTH = vec_width<T>::value };
    const T *x = (const T *)slice.data;
    double total = combine.identity();
    int64_t vectorized = slice.first; // slices begin where a vector may
    if ((uintptr_t)x % VEC_BYTES == 0) {
        vectorized += (slice.last - slice.first) / WIDTH * WIDTH;
        for (int64_t i = slice.first + (int)threadIdx.x * WIDTH; i < vectorized;
             i += LIST_THREADS * WIDTH) {
            const vec<T, WIDTH> values = vec_load<WIDTH>(x + i);
            for (int k = 0; k < WIDTH; k++)
                total = norm_add<SQUARES>(combine, total, (double)upcast(values.at[k]), p);
        }
    }
    for (int64_t i = vectorized + (int)threadIdx.x; i < slice.last; i += LIST_THREADS)
        total = norm_add<SQUARES>(combine, total, (double)upcast(x[i]), p);
    return total;
}

template <bool SQUARES>
__global__ void __launch_bounds__(LIST_THREADS)
    list_norms(const list_chunk list, norm_combine combine, double p, double *totals)
{
    const list_slice slice = find_slice(list, (int)blockIdx.x);
    double total;
    if (slice.dtype == TERN_FLOAT32)
        total = reduce_slice<SQUARES, float>(slice, combine, p);
    else if (slice.dtype == TERN_FLOAT64)
        total = reduce_slice<SQUARES, double>(slice, combine, p);
    else if (slice.dtype == TERN_FLOAT16)
        total = reduce_slice<SQUARES, __half>(slice, combine, p);
    else
        total = reduce_slice<SQUARES, __nv_bfloat16>(slice, combine, p);
    total = block_reduce(total, combine.identity(), combine);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

__device__ __forceinline__ double finish_norm(norm_kind kind, double total, double p)
{
    if (kind == NORM_SQUARES)
        return sqrt(total);
    return kind == NORM_POWERS ? pow(total, 1 / p) : total;
}

// One block. Without elements the norm is 0.
__global__ void __launch_bounds__(LIST_THREADS)
    list_norm_reduce(norm_combine combine, double p, const double *totals, int count,
                     bool is_double, void *norm)
{
    double total = combine.identity();
    for (int i = (int)threadIdx.x; i < count; i += LIST_THREADS)
        total = combine(total, totals[i]);
    total = block_reduce(total, combine.identity(), combine);
    if (threadIdx.x == 0) {
        const double value = count == 0 ? 0 : finish_norm(combine.kind, total, p);
        if (is_double)
            *(double *)norm = value;
        else
            *(float *)norm = (float)value;
    }
}

// ---- scaling ------------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ void scale_slice(const list_slice &slice, double factor)
{
    enum { WIDTH = vec_width<T>::value };
    const opmath_t<T> by = (opmath_t<T>)factor;
    T *x = (T *)slice.data;
    int64_t vectorized = slice.first;
    if ((uintptr_t)x % VEC_BYTES == 0) {
        vectorized += (slice.last - slice.first) / WIDTH * WIDTH;
        for (int64_t i = slice.first + (int)threadIdx.x * WIDTH; i < vectorized;
             i += LIST_THREADS * WIDTH) {
            vec<T, WIDTH> values = vec_load<WIDTH>(x + i);
            for (int k = 0; k < WIDTH; k++)
                values.at[k] = downcast<T>(upcast(values.at[k]) * by);
            vec_store<WIDTH>(x + i, values);
        }
    }
    for (int64_t i = vectorized + (int)threadIdx.x; i < slice.last; i += LIST_THREADS)
        x[i] = downcast<T>(upcast(x[i]) * by);
}

// With a location a norm that is not finite is a fault, and nothing is scaled.
__global__ void __launch_bounds__(LIST_THREADS)
    list_scale(const list_chunk list, double max_norm, bool is_double, const void *norm,
               tern_fault *fault, uint32_t location)
{
    const double total = is_double ? *(const double *)norm : (double)*(const float *)norm;
    const double factor = max_norm / (total + 1e-6);
    if (location != 0 && !isfinite(total)) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            fault_report(fault, location, 0, 0);
        return;
    }
    if (factor >= 1)
        return;
    const list_slice slice = find_slice(list, (int)blockIdx.x);
    if (slice.dtype == TERN_FLOAT32)
        scale_slice<float>(slice, factor);
    else if (slice.dtype == TERN_FLOAT64)
        scale_slice<double>(slice, factor);
    else if (slice.dtype == TERN_FLOAT16)
        scale_slice<__half>(slice, factor);
    else
        scale_slice<__nv_bfloat16>(slice, factor);
}

// ---- launchers ----------------------------------------------------------------------------------

static int64_t choose_block_elements(const tern_strided *list, int64_t count)
{
    int64_t numel = 0;
    for (int64_t i = 0; i < count; i++)
        numel += tern_strided_numel(&list[i]);
    return (numel / LIST_BLOCKS / LIST_MIN_ELEMENTS + 1) * LIST_MIN_ELEMENTS;
}

static int block_count(const tern_strided *view, int64_t block_elements)
{
    return (int)ceil_div(tern_strided_numel(view), block_elements);
}

// Takes tensors from list[*next] on into the chunk; the blocks that they need.
static int next_chunk(list_chunk *chunk, const tern_strided *list, int64_t count, int64_t *next,
                      int64_t block_elements)
{
    int blocks = 0;
    *chunk = {};
    chunk->block_elements = block_elements;
    for (; *next < count && chunk->count < LIST_CHUNK; ++*next) {
        const tern_strided *view = &list[*next];
        if (tern_strided_numel(view) == 0)
            continue;
        chunk->data[chunk->count] = view->data;
        chunk->numel[chunk->count] = tern_strided_numel(view);
        chunk->dtype[chunk->count] = (uint8_t)view->dtype;
        chunk->first_block[chunk->count++] = blocks;
        blocks += block_count(view, block_elements);
    }
    return blocks;
}

static norm_kind norm_kind_for(double p)
{
    if (isinf(p))
        return p > 0 ? NORM_LARGEST : NORM_SMALLEST;
    return p == 2 ? NORM_SQUARES : p == 1 ? NORM_ABS : p == 0 ? NORM_COUNT : NORM_POWERS;
}

extern "C" tern_status tern_cuda_list_norm(const tern_exec *exec, double p,
                                           const tern_strided *total, const tern_strided *list,
                                           int64_t count)
{
    TERN_TRY(tern_kernel_floating_list("list_norm", list, count));
    const norm_combine combine = {norm_kind_for(p)};
    const int64_t block_elements = choose_block_elements(list, count);
    int64_t all = 0, next = 0;
    list_chunk chunk;
    scratch_memory scratch(exec);
    double *totals;
    for (int64_t i = 0; i < count; i++)
        all += block_count(&list[i], block_elements);
    TERN_TRY(scratch.take(all + 1, &totals));
    const double *all_totals = totals;
    while (next < count) {
        const int blocks = next_chunk(&chunk, list, count, &next, block_elements);
        if (blocks > 0 && combine.kind == NORM_SQUARES)
            TERN_TRY(LAUNCH("list_norm", (list_norms<true>), (unsigned)blocks, LIST_THREADS,
                            exec->stream, chunk, combine, p, totals));
        else if (blocks > 0)
            TERN_TRY(LAUNCH("list_norm", (list_norms<false>), (unsigned)blocks, LIST_THREADS,
                            exec->stream, chunk, combine, p, totals));
        totals += blocks;
    }
    return LAUNCH("list_norm", list_norm_reduce, 1, LIST_THREADS, exec->stream, combine, p,
                  all_totals, (int)all, total->dtype == TERN_FLOAT64, total->data);
}

extern "C" tern_status tern_cuda_list_clip(const tern_exec *exec, double max_norm,
                                           const tern_strided *total, const tern_strided *list,
                                           int64_t count)
{
    TERN_TRY(tern_kernel_floating_list("list_clip", list, count));
    const int64_t block_elements = choose_block_elements(list, count);
    int64_t next = 0;
    list_chunk chunk;
    while (next < count) {
        const int blocks = next_chunk(&chunk, list, count, &next, block_elements);
        if (blocks > 0)
            TERN_TRY(LAUNCH("list_clip", list_scale, (unsigned)blocks, LIST_THREADS, exec->stream,
                            chunk, max_norm, total->dtype == TERN_FLOAT64,
                            (const void *)total->data, exec->fault, exec->location));
    }
    return TERN_OK;
}
