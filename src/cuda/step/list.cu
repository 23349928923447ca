// SPDX-License-Identifier: Apache-2.0
// Clipping gradients: the total norm of a list of tensors, and scaling them by it. Pointers go by
// value, LIST_CHUNK tensors a launch; each block folds a share of one tensor in double, one more
// block joins them.
#include "cuda/block.cuh"
#include "cuda/fault.cuh"
#include "cuda/vec.cuh"

#define LIST_THREADS 256
#define LIST_CHUNK   128
#define LIST_SHARE   4096 // elements of a block, at least
#define LIST_BLOCKS  4096 // more than this take more elements each

typedef struct list_chunk {
    void *data[LIST_CHUNK];
    int64_t numel[LIST_CHUNK];
    int first_block[LIST_CHUNK]; // of this launch
    uint8_t dtype[LIST_CHUNK];
    int count;
    int64_t share; // elements of a block
} list_chunk;

// What a block works on.
typedef struct list_part {
    void *data;
    tern_dtype dtype;
    int64_t first, last;
} list_part;

__device__ __forceinline__ list_part list_part_of(const list_chunk &list, int block)
{
    int low = 0, high = list.count - 1; // the last tensor that begins no later
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (list.first_block[middle] <= block)
            low = middle;
        else
            high = middle - 1;
    }
    const int64_t first = (block - list.first_block[low]) * list.share, end = first + list.share;
    const int64_t last = end < list.numel[low] ? end : list.numel[low];
    return list_part{list.data[low], (tern_dtype)list.dtype[low], first, last};
}

// ---- the norm -----------------------------------------------------------------------------------

// What is added up, or compared, for the norm.
enum norm_kind { NORM_SQUARES, NORM_ABS, NORM_POWERS, NORM_COUNT, NORM_LARGEST, NORM_SMALLEST };

struct norm_join {
    norm_kind kind;

    __device__ double operator()(double a, double b) const
    {
        if (kind < NORM_LARGEST)
            return a + b;
        const bool better = kind == NORM_LARGEST ? b > a : b < a;
        return better || b != b ? b : a;
    }
    __device__ double none() const
    {
        return kind == NORM_SMALLEST ? INFINITY : 0;
    }
};

template <bool SQUARES>
__device__ __forceinline__ double norm_add(const norm_join &join, double total, double x, double p)
{
    if (SQUARES)
        return total + x * x;
    const double size = fabs(x);
    if (join.kind == NORM_COUNT)
        return total + (x != 0);
    return join(total, join.kind == NORM_POWERS ? pow(size, p) : size);
}

template <bool SQUARES, class T>
__device__ __forceinline__ double norm_fold(const list_part &part, const norm_join &join, double p)
{
    enum { WIDTH = vec_width<T>::value };
    const T *x = (const T *)part.data;
    double total = join.none();
    int64_t vectorized = part.first; // shares begin where a vector may
    if ((uintptr_t)x % VEC_BYTES == 0) {
        vectorized += (part.last - part.first) / WIDTH * WIDTH;
        for (int64_t i = part.first + (int)threadIdx.x * WIDTH; i < vectorized;
             i += LIST_THREADS * WIDTH) {
            const vec<T, WIDTH> values = vec_load<WIDTH>(x + i);
            for (int k = 0; k < WIDTH; k++)
                total = norm_add<SQUARES>(join, total, (double)widen(values.at[k]), p);
        }
    }
    for (int64_t i = vectorized + (int)threadIdx.x; i < part.last; i += LIST_THREADS)
        total = norm_add<SQUARES>(join, total, (double)widen(x[i]), p);
    return total;
}

template <bool SQUARES>
__global__ void __launch_bounds__(LIST_THREADS)
    list_norms(const list_chunk list, norm_join join, double p, double *totals)
{
    const list_part part = list_part_of(list, (int)blockIdx.x);
    double total;
    if (part.dtype == TERN_FLOAT32)
        total = norm_fold<SQUARES, float>(part, join, p);
    else if (part.dtype == TERN_FLOAT64)
        total = norm_fold<SQUARES, double>(part, join, p);
    else if (part.dtype == TERN_FLOAT16)
        total = norm_fold<SQUARES, __half>(part, join, p);
    else
        total = norm_fold<SQUARES, __nv_bfloat16>(part, join, p);
    total = block_reduce(total, join.none(), join);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

__device__ __forceinline__ double norm_of(norm_kind kind, double total, double p)
{
    if (kind == NORM_SQUARES)
        return sqrt(total);
    return kind == NORM_POWERS ? pow(total, 1 / p) : total;
}

// One block. Without elements the norm is 0.
__global__ void __launch_bounds__(LIST_THREADS)
    list_norm_join(norm_join join, double p, const double *totals, int count, bool wide, void *norm)
{
    double total = join.none();
    for (int i = (int)threadIdx.x; i < count; i += LIST_THREADS)
        total = join(total, totals[i]);
    total = block_reduce(total, join.none(), join);
    if (threadIdx.x == 0) {
        const double value = count == 0 ? 0 : norm_of(join.kind, total, p);
        if (wide)
            *(double *)norm = value;
        else
            *(float *)norm = (float)value;
    }
}

// ---- scaling ------------------------------------------------------------------------------------

template <class T> __device__ __forceinline__ void scale_part(const list_part &part, double factor)
{
    enum { WIDTH = vec_width<T>::value };
    const computed_t<T> by = (computed_t<T>)factor;
    T *x = (T *)part.data;
    int64_t vectorized = part.first;
    if ((uintptr_t)x % VEC_BYTES == 0) {
        vectorized += (part.last - part.first) / WIDTH * WIDTH;
        for (int64_t i = part.first + (int)threadIdx.x * WIDTH; i < vectorized;
             i += LIST_THREADS * WIDTH) {
            vec<T, WIDTH> values = vec_load<WIDTH>(x + i);
            for (int k = 0; k < WIDTH; k++)
                values.at[k] = narrow<T>(widen(values.at[k]) * by);
            vec_store<WIDTH>(x + i, values);
        }
    }
    for (int64_t i = vectorized + (int)threadIdx.x; i < part.last; i += LIST_THREADS)
        x[i] = narrow<T>(widen(x[i]) * by);
}

// With a location a norm that is not finite is a fault, and nothing is scaled.
__global__ void __launch_bounds__(LIST_THREADS)
    list_scale(const list_chunk list, double max_norm, bool wide, const void *norm,
               tern_fault *fault, uint32_t location)
{
    const double total = wide ? *(const double *)norm : (double)*(const float *)norm;
    const double factor = max_norm / (total + 1e-6);
    if (location != 0 && !isfinite(total)) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            fault_report(fault, location, 0, 0);
        return;
    }
    if (factor >= 1)
        return;
    const list_part part = list_part_of(list, (int)blockIdx.x);
    if (part.dtype == TERN_FLOAT32)
        scale_part<float>(part, factor);
    else if (part.dtype == TERN_FLOAT64)
        scale_part<double>(part, factor);
    else if (part.dtype == TERN_FLOAT16)
        scale_part<__half>(part, factor);
    else
        scale_part<__nv_bfloat16>(part, factor);
}

// ---- launchers ----------------------------------------------------------------------------------

static int64_t share_for(const tern_strided *list, int64_t count)
{
    int64_t numel = 0;
    for (int64_t i = 0; i < count; i++)
        numel += tern_strided_numel(&list[i]);
    return (numel / LIST_BLOCKS / LIST_SHARE + 1) * LIST_SHARE;
}

static int blocks_of(const tern_strided *view, int64_t share)
{
    return (int)ceil_div(tern_strided_numel(view), share);
}

// Takes tensors from list[*next] on into the chunk; the blocks that they need.
static int take_chunk(list_chunk *chunk, const tern_strided *list, int64_t count, int64_t *next,
                      int64_t share)
{
    int blocks = 0;
    *chunk = {};
    chunk->share = share;
    for (; *next < count && chunk->count < LIST_CHUNK; ++*next) {
        const tern_strided *view = &list[*next];
        if (tern_strided_numel(view) == 0)
            continue;
        chunk->data[chunk->count] = view->data;
        chunk->numel[chunk->count] = tern_strided_numel(view);
        chunk->dtype[chunk->count] = (uint8_t)view->dtype;
        chunk->first_block[chunk->count++] = blocks;
        blocks += blocks_of(view, share);
    }
    return blocks;
}

static norm_kind kind_of(double p)
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
    const norm_join join = {kind_of(p)};
    const int64_t share = share_for(list, count);
    int64_t all = 0, next = 0;
    list_chunk chunk;
    scratch_memory scratch(exec);
    double *totals;
    for (int64_t i = 0; i < count; i++)
        all += blocks_of(&list[i], share);
    TERN_TRY(scratch.take(all + 1, &totals));
    const double *all_totals = totals;
    while (next < count) {
        const int blocks = take_chunk(&chunk, list, count, &next, share);
        if (blocks > 0 && join.kind == NORM_SQUARES)
            TERN_TRY(LAUNCH("list_norm", (list_norms<true>), (unsigned)blocks, LIST_THREADS,
                            exec->stream, chunk, join, p, totals));
        else if (blocks > 0)
            TERN_TRY(LAUNCH("list_norm", (list_norms<false>), (unsigned)blocks, LIST_THREADS,
                            exec->stream, chunk, join, p, totals));
        totals += blocks;
    }
    return LAUNCH("list_norm", list_norm_join, 1, LIST_THREADS, exec->stream, join, p, all_totals,
                  (int)all, total->dtype == TERN_FLOAT64, total->data);
}

extern "C" tern_status tern_cuda_list_clip(const tern_exec *exec, double max_norm,
                                           const tern_strided *total, const tern_strided *list,
                                           int64_t count)
{
    TERN_TRY(tern_kernel_floating_list("list_clip", list, count));
    const int64_t share = share_for(list, count);
    int64_t next = 0;
    list_chunk chunk;
    while (next < count) {
        const int blocks = take_chunk(&chunk, list, count, &next, share);
        if (blocks > 0)
            TERN_TRY(LAUNCH("list_clip", list_scale, (unsigned)blocks, LIST_THREADS, exec->stream,
                            chunk, max_norm, total->dtype == TERN_FLOAT64,
                            (const void *)total->data, exec->fault, exec->location));
    }
    return TERN_OK;
}
