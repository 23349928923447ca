// SPDX-License-Identifier: Apache-2.0
// Inclusive scans along a dimension; floating sums are in double, integers wrap around. Many lines,
// or short ones, take a thread each; else a block goes along a line, SCAN_CHUNK elements at a time.
#include "cuda/block.cuh"
#include "cuda/fast_divide.cuh"

#define SCAN_THREADS 256
#define SCAN_EACH    4 // neighbours that a thread adds
#define SCAN_CHUNK   (SCAN_THREADS * SCAN_EACH)
#define SCAN_SHORT   128
#define SCAN_MANY    8192

typedef struct scan_plan {
    int rank; // of the other dimensions
    int64_divisor size[TERN_MAX_RANK];
    int64_t x_stride[TERN_MAX_RANK], y_stride[TERN_MAX_RANK];
    int64_t lines, n, x_step, y_step;
} scan_plan;

template <class T> struct scan_acc {
    typedef double type;
};
template <> struct scan_acc<int64_t> {
    typedef unsigned long long type;
};

// The line's first elements in x and y.
typedef struct scan_line {
    int64_t x, y;
} scan_line;

__device__ __forceinline__ scan_line scan_offsets(const scan_plan &plan, int64_t line)
{
    scan_line at = {0, 0};
    for (int d = plan.rank - 1; d >= 0; d--) {
        const int64_t outer = fast_divmod(&line, plan.size[d]);
        at.x += line * plan.x_stride[d];
        at.y += line * plan.y_stride[d];
        line = outer;
    }
    return at;
}

template <class T, class Sum> __device__ __forceinline__ T scan_store(Sum sum)
{
    return downcast<T>((opmath_t<T>)sum);
}

template <class T>
__global__ void __launch_bounds__(SCAN_THREADS) scan_threads(const scan_plan plan, T *y, const T *x)
{
    typedef typename scan_acc<T>::type Sum;
    for (int64_t line = (int64_t)blockIdx.x * SCAN_THREADS + threadIdx.x; line < plan.lines;
         line += (int64_t)gridDim.x * SCAN_THREADS) {
        const scan_line at = scan_offsets(plan, line);
        Sum sum = 0;
        for (int64_t i = 0; i < plan.n; i++) {
            sum += (Sum)upcast(x[at.x + i * plan.x_step]);
            y[at.y + i * plan.y_step] = scan_store<T>(sum);
        }
    }
}

// Exclusive scan over the block: the sum of the values of all threads before this one. *total is
// the sum of all.
template <class Sum> __device__ __forceinline__ Sum block_exclusive_scan(Sum value, Sum *total)
{
    enum { WARPS = SCAN_THREADS / WARP_SIZE };
    TERN_SHARED(Sum, partial, [WARPS]);
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    Sum sum = value;
    for (int by = 1; by < WARP_SIZE; by *= 2) {
        const Sum below = __shfl_up_sync(WARP_ALL, sum, by);
        sum += lane >= by ? below : 0;
    }
    __syncthreads(); // the previous call may still read `partial`
    if (lane == WARP_SIZE - 1)
        partial[warp] = sum;
    __syncthreads();
    // The warp begins with the sum of the warps before it. A lane's own value is not subtracted
    // from its inclusive sum, so that infinities stay.
    Sum before = 0, all = 0;
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? partial[w] : 0;
        all += partial[w];
    }
    const Sum left = __shfl_up_sync(WARP_ALL, sum, 1);
    *total = all;
    return lane > 0 ? before + left : before;
}

template <class T>
__global__ void __launch_bounds__(SCAN_THREADS) scan_blocks(const scan_plan plan, T *y, const T *x)
{
    typedef typename scan_acc<T>::type Sum;
    for (int64_t line = blockIdx.x; line < plan.lines; line += gridDim.x) {
        const scan_line at = scan_offsets(plan, line);
        Sum carry = 0;
        for (int64_t chunk = 0; chunk < plan.n; chunk += SCAN_CHUNK) {
            const int64_t first = chunk + (int)threadIdx.x * SCAN_EACH;
            Sum own[SCAN_EACH], sum = 0, total;
            for (int k = 0; k < SCAN_EACH; k++)
                own[k] = sum +=
                    first + k < plan.n ? (Sum)upcast(x[at.x + (first + k) * plan.x_step]) : 0;
            const Sum before = carry + block_exclusive_scan(sum, &total);
            for (int k = 0; k < SCAN_EACH && first + k < plan.n; k++)
                y[at.y + (first + k) * plan.y_step] = scan_store<T>(before + own[k]);
            carry += total;
        }
    }
}

// ---- launcher -----------------------------------------------------------------------------------

static scan_plan make_scan_plan(const tern_strided *y, const tern_strided *x, int dim, bool reverse)
{
    scan_plan plan = {};
    plan.n = y->size[dim];
    plan.x_step = reverse ? -x->stride[dim] : x->stride[dim];
    plan.y_step = reverse ? -y->stride[dim] : y->stride[dim];
    plan.lines = 1;
    for (int d = 0; d < y->rank; d++) {
        if (d == dim)
            continue;
        plan.size[plan.rank] = make_int64_divisor(y->size[d]);
        plan.x_stride[plan.rank] = x->stride[d];
        plan.y_stride[plan.rank++] = y->stride[d];
        plan.lines *= y->size[d];
    }
    return plan;
}

template <class T>
static tern_status run(const tern_exec *exec, const tern_strided *y, const tern_strided *x, int dim,
                       bool reverse)
{
    const scan_plan plan = make_scan_plan(y, x, dim, reverse);
    T *to = (T *)y->data + (reverse ? (plan.n - 1) * y->stride[dim] : 0);
    const T *from = (const T *)x->data + (reverse ? (plan.n - 1) * x->stride[dim] : 0);
    const bool threads = plan.n <= SCAN_SHORT || plan.lines >= SCAN_MANY;
    const int64_t blocks = threads ? ceil_div(plan.lines, SCAN_THREADS) : plan.lines;
    const unsigned grid = grid_stride_blocks(blocks);
    if (threads)
        return LAUNCH("cumsum", (scan_threads<T>), grid, SCAN_THREADS, exec->stream, plan, to,
                      from);
    return LAUNCH("cumsum", (scan_blocks<T>), grid, SCAN_THREADS, exec->stream, plan, to, from);
}

extern "C" tern_status tern_cuda_cumsum(const tern_exec *exec, const tern_strided *y,
                                        const tern_strided *x, int dim, bool reverse)
{
    if (tern_strided_numel(y) == 0)
        return TERN_OK;
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, run<T>(exec, y, x, dim, reverse))
        TERN_DTYPE_CASE(TERN_INT64, int64_t, T, run<T>(exec, y, x, dim, reverse))
    case TERN_INT32:
    case TERN_UINT8:
    case TERN_BOOL:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("cumsum", y->dtype);
}
