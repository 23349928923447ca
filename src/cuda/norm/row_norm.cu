// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows: layer, group, instance and root mean square norm. Short rows take a warp
// each, long ones a block. The gradients of weights are sums down the rows: blocks of their own
// make sums of segments, which are added in order.
#include "cuda/norm/norm.cuh"

template <class T> struct row_norm {
    typedef opmath_t<T> C;
    int64_t rows, n, groups, inner, row_params;
    int64_divisor by_groups, by_inner;
    const T *x, *dy;
    C *mean, *rstd; // mean: NULL for root mean square
    norm_param<T> weight, bias;
    C eps;
};

// Where the weights of a row begin.
template <class T>
__device__ __forceinline__ int64_t param_offset(const row_norm<T> &a, int64_t row)
{
    (void)fast_divmod(&row, a.by_groups);
    return row * a.row_params;
}

// The weight of element j of a row.
template <class T>
__device__ __forceinline__ int64_t param_index(const row_norm<T> &a, int64_t at, int64_t j)
{
    return at + (a.inner == 1 ? j : fast_divmod(&j, a.by_inner));
}

// ---- forward ------------------------------------------------------------------------------------

// Vectors of W elements make a row.
template <class T, int W, bool WARP>
__global__ void __launch_bounds__(NORM_THREADS) norm_rows(T *y, const row_norm<T> a)
{
    typedef opmath_t<T> C;
    typedef norm_team<WARP> team;
    for (int64_t row = team::first(); row < a.rows; row += team::step()) {
        const T *x = a.x + row * a.n;
        const int64_t at = param_offset(a, row), vecs = a.n / W;
        C mean = 0, off = 0, squares = 0;
        for (int64_t i = team::member(); a.mean && i < vecs; i += team::SIZE) {
            const vec<T, W> in = vec_load<W>(x + i * W);
            for (int k = 0; k < W; k++)
                mean += upcast(in.at[k]);
        }
        mean = team::sum(mean) / (C)a.n;
        for (int64_t i = team::member(); i < vecs; i += team::SIZE) {
            const vec<T, W> in = vec_load<W>(x + i * W);
            for (int k = 0; k < W; k++) {
                const C d = upcast(in.at[k]) - mean;
                off += d;
                squares += d * d;
            }
        }
        off = a.mean ? team::sum(off) / (C)a.n : 0; // what rounding left out of the mean
        const C var = team::sum(squares) / (C)a.n - off * off;
        const C rstd = 1 / sqrt((var > 0 ? var : var * 0) + a.eps);
        mean += off;
        if (team::member() == 0) {
            if (a.mean)
                a.mean[row] = mean;
            a.rstd[row] = rstd;
        }
        for (int64_t i = team::member(); i < vecs; i += team::SIZE) {
            vec<T, W> v = vec_load<W>(x + i * W);
            for (int k = 0; k < W; k++) {
                const int64_t p = param_index(a, at, i * W + k);
                const C z = (upcast(v.at[k]) - mean) * rstd;
                v.at[k] = downcast<T>(z * a.weight.get(p, 1) + a.bias.get(p, 0));
            }
            vec_store<W>(y + row * a.n + i * W, v);
        }
    }
}

// ---- backward -----------------------------------------------------------------------------------

template <class T, int W, bool WARP>
__global__ void __launch_bounds__(NORM_THREADS) norm_rows_grad(T *dx, const row_norm<T> a)
{
    typedef opmath_t<T> C;
    typedef norm_team<WARP> team;
    for (int64_t row = team::first(); row < a.rows; row += team::step()) {
        const T *x = a.x + row * a.n, *dy = a.dy + row * a.n;
        const int64_t at = param_offset(a, row), vecs = a.n / W;
        const C mean = a.mean ? a.mean[row] : 0, rstd = a.rstd[row];
        C first = 0, second = 0; // means of g and g x^, where g = dy weight
        for (int64_t i = team::member(); i < vecs; i += team::SIZE) {
            const vec<T, W> in = vec_load<W>(x + i * W), d = vec_load<W>(dy + i * W);
            for (int k = 0; k < W; k++) {
                const C g = upcast(d.at[k]) * a.weight.get(param_index(a, at, i * W + k), 1);
                first += g;
                second += g * ((upcast(in.at[k]) - mean) * rstd);
            }
        }
        first = team::sum(first) / (C)a.n;
        second = team::sum(second) / (C)a.n;
        first = a.mean ? first : 0;
        for (int64_t i = team::member(); i < vecs; i += team::SIZE) {
            const vec<T, W> in = vec_load<W>(x + i * W);
            vec<T, W> d = vec_load<W>(dy + i * W);
            for (int k = 0; k < W; k++) {
                const C g = upcast(d.at[k]) * a.weight.get(param_index(a, at, i * W + k), 1);
                const C z = (upcast(in.at[k]) - mean) * rstd;
                d.at[k] = downcast<T>((g - first - z * second) * rstd);
            }
            vec_store<W>(dx + row * a.n + i * W, d);
        }
    }
}

// Sums of the gradients of weights: partial (segments, 2, params). A segment has `samples` of the
// rows of a group.
typedef struct param_sums {
    double *partial;
    int64_t params, samples, segments, strips;
    int64_divisor by_params, by_row_params;
} param_sums;

// inner = 1: a block takes 32 adjacent weights of a segment, its warps share the rows. All lanes
// of a strip are of one group.
template <class T>
__global__ void __launch_bounds__(NORM_THREADS)
    norm_params_by_element(const param_sums s, const row_norm<T> a)
{
    typedef opmath_t<T> C;
    TERN_SHARED(C, partial, [2][NORM_WARPS][WARP_SIZE]);
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    for (int64_t unit = blockIdx.x; unit < s.strips * s.segments; unit += gridDim.x) {
        int64_t strip = unit;
        const int64_t segment = fast_divmod(&strip, s.by_params);
        const int64_t group = fast_divmod(&strip, s.by_row_params);
        const int64_t j = strip * WARP_SIZE + lane, first = segment * s.samples * a.groups;
        int64_t end = first + s.samples * a.groups;
        end = end < a.rows ? end : a.rows;
        C weight = 0, bias = 0;
        for (int64_t row = first + group + warp * a.groups; j < a.n && row < end;
             row += NORM_WARPS * a.groups) {
            const C dy = upcast(a.dy[row * a.n + j]), mean = a.mean ? a.mean[row] : 0;
            weight += dy * ((upcast(a.x[row * a.n + j]) - mean) * a.rstd[row]);
            bias += dy;
        }
        __syncthreads(); // the round before may still be read
        partial[0][warp][lane] = weight;
        partial[1][warp][lane] = bias;
        __syncthreads();
        if (warp < 2 && j < a.n) {
            double sum = 0;
            for (int w = 0; w < NORM_WARPS; w++)
                sum += (double)partial[warp][w][lane];
            s.partial[(segment * 2 + warp) * s.params + group * a.n + j] = sum;
        }
    }
}

// inner > 1: a block takes a weight of a segment.
template <class T>
__global__ void __launch_bounds__(NORM_THREADS)
    norm_params_by_channel(const param_sums s, const row_norm<T> a)
{
    typedef opmath_t<T> C;
    for (int64_t unit = blockIdx.x; unit < s.params * s.segments; unit += gridDim.x) {
        int64_t param = unit;
        const int64_t segment = fast_divmod(&param, s.by_params);
        int64_t k = param;
        const int64_t group = fast_divmod(&k, s.by_row_params), first = segment * s.samples;
        int64_t samples = a.rows - first * a.groups;
        samples = samples < s.samples * a.groups ? samples : s.samples * a.groups;
        C weight = 0, bias = 0;
        for (int64_t i = threadIdx.x; i * a.groups < samples * a.inner; i += NORM_THREADS) {
            int64_t along = i;
            const int64_t row = (first + fast_divmod(&along, a.by_inner)) * a.groups + group;
            const int64_t at = row * a.n + k * a.inner + along;
            const C dy = upcast(a.dy[at]), mean = a.mean ? a.mean[row] : 0;
            weight += dy * ((upcast(a.x[at]) - mean) * a.rstd[row]);
            bias += dy;
        }
        weight = block_sum(weight);
        bias = block_sum(bias);
        if (threadIdx.x == 0) {
            s.partial[segment * 2 * s.params + param] = (double)weight;
            s.partial[(segment * 2 + 1) * s.params + param] = (double)bias;
        }
    }
}

template <class T>
__global__ void __launch_bounds__(NORM_THREADS)
    norm_params_reduce(const param_sums s, const norm_param<T> dweight, const norm_param<T> dbias)
{
    const int64_t p = (int64_t)blockIdx.x * NORM_THREADS + threadIdx.x;
    double weight = 0, bias = 0;
    if (p >= s.params)
        return;
    for (int64_t i = 0; i < s.segments; i++) {
        weight += s.partial[i * 2 * s.params + p];
        bias += s.partial[(i * 2 + 1) * s.params + p];
    }
    dweight.set(p, (opmath_t<T>)weight);
    dbias.set(p, (opmath_t<T>)bias);
}

// ---- launchers ----------------------------------------------------------------------------------

template <class T> static row_norm<T> make_row_norm(const tern_norm_args *args)
{
    typedef opmath_t<T> C;
    row_norm<T> a = {};
    a.rows = args->x.size[0];
    a.n = args->x.size[1];
    a.groups = args->groups;
    a.inner = args->inner;
    a.row_params = a.n / a.inner;
    a.by_groups = make_int64_divisor(a.groups);
    a.by_inner = make_int64_divisor(a.inner);
    a.x = (const T *)args->x.data;
    a.mean = args->rms ? NULL : (C *)args->mean.data;
    a.rstd = (C *)args->rstd.data;
    a.weight = make_norm_param<T>(args->weight);
    a.bias = make_norm_param<T>(args->bias);
    a.eps = (C)args->eps;
    return a;
}

// y: dx in the backward.
template <class T, int W, bool WARP>
static tern_status launch_rows(const tern_exec *exec, const row_norm<T> &a, T *y)
{
    const unsigned grid = norm_team_grid<WARP>(a.rows);
    if (a.dy)
        return LAUNCH("norm_grad", (norm_rows_grad<T, W, WARP>), grid, NORM_THREADS, exec->stream,
                      y, a);
    return LAUNCH("norm", (norm_rows<T, W, WARP>), grid, NORM_THREADS, exec->stream, y, a);
}

template <class T> static tern_status run_rows(const tern_exec *exec, const row_norm<T> &a, T *y)
{
    const int64_t size = (int64_t)sizeof(T);
    const bool vectorized =
        vec_aligned(a.x, a.n, size) && vec_aligned(y, a.n, size) && vec_aligned(a.dy, a.n, size);
    if (a.n <= NORM_SHORT && vectorized)
        return launch_rows<T, vec_width<T>::value, true>(exec, a, y);
    if (a.n <= NORM_SHORT)
        return launch_rows<T, 1, true>(exec, a, y);
    if (vectorized)
        return launch_rows<T, vec_width<T>::value, false>(exec, a, y);
    return launch_rows<T, 1, false>(exec, a, y);
}

template <class T> static param_sums make_param_sums(const row_norm<T> &a)
{
    param_sums s = {};
    const int64_t samples = a.rows / a.groups, strips = ceil_div(a.n, WARP_SIZE);
    s.params = a.groups * a.row_params;
    s.strips = a.inner == 1 ? a.groups * strips : s.params;
    s.segments = a.inner == 1
                     ? norm_segments(ceil_div(samples, NORM_WARPS), samples * WARP_SIZE, s.strips)
                     : norm_segments(samples, samples * a.inner, s.strips);
    s.samples = ceil_div(samples, s.segments);
    s.segments = ceil_div(samples, s.samples);
    s.by_params = make_int64_divisor(s.strips);
    s.by_row_params = make_int64_divisor(a.inner == 1 ? strips : a.row_params);
    return s;
}

template <class T>
static tern_status run_params(const tern_exec *exec, const row_norm<T> &a,
                              const tern_norm_grads *grads)
{
    scratch_memory scratch(exec);
    param_sums s = make_param_sums(a);
    const unsigned grid = grid_stride_blocks(s.strips * s.segments);
    TERN_TRY(scratch.take(s.segments * 2 * s.params, &s.partial));
    if (a.inner == 1)
        TERN_TRY(LAUNCH("norm_grad", (norm_params_by_element<T>), grid, NORM_THREADS, exec->stream,
                        s, a));
    else
        TERN_TRY(LAUNCH("norm_grad", (norm_params_by_channel<T>), grid, NORM_THREADS, exec->stream,
                        s, a));
    return LAUNCH("norm_grad", (norm_params_reduce<T>), (unsigned)ceil_div(s.params, NORM_THREADS),
                  NORM_THREADS, exec->stream, s, make_norm_param<T>(grads->dweight),
                  make_norm_param<T>(grads->dbias));
}

static bool is_empty(const tern_norm_args *args)
{
    return args->x.size[0] == 0 || args->x.size[1] == 0;
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const tern_norm_args *args,
                               const tern_strided *y)
{
    if (is_empty(args))
        return TERN_OK;
    return run_rows(exec, make_row_norm<T>(args), (T *)y->data);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const tern_norm_args *args,
                                const tern_norm_grads *grads, const tern_strided *dy)
{
    if (is_empty(args))
        return TERN_OK;
    row_norm<T> a = make_row_norm<T>(args);
    a.dy = (const T *)dy->data;
    if (grads->dweight || grads->dbias)
        TERN_TRY(run_params(exec, a, grads));
    return grads->dx ? run_rows(exec, a, (T *)grads->dx->data) : TERN_OK;
}

extern "C" tern_status tern_cuda_norm(const tern_exec *exec, const tern_norm_args *args,
                                      const tern_strided *y)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_forward<T>(exec, args, y))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("norm", args->x.dtype);
}

extern "C" tern_status tern_cuda_norm_grad(const tern_exec *exec, const tern_norm_args *args,
                                           const tern_norm_grads *grads, const tern_strided *dy)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_backward<T>(exec, args, grads, dy))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("norm_grad", args->x.dtype);
}
