// SPDX-License-Identifier: Apache-2.0
// Cross-entropy over (N, C, S), softmax and all in one kernel, and its gradient. A group of lanes
// takes a sample: one thread where classes are few or lie apart (S > 1), up to a block where they
// are many, 16 bytes at once where rows are aligned. Losses are added by blocks; one more kernel
// adds several of them.
#include "cuda/fast_divide.cuh"
#include "cuda/exp_sum.cuh"
#include "cuda/fault.cuh"
#include "cuda/vec.cuh"

#define THREADS    256
#define RESIDENT   3 // blocks on a multiprocessor: ptxas would spill for more
#define MAX_BLOCKS 1024
#define FEW_ROUNDS 4 // of samples that one block may take, to spare the second kernel

template <class T> struct entropy {
    typedef opmath_t<T> C;
    const T *x;            /* (N, C, S) */
    const int64_t *labels; /* (N, S), or NULL */
    const T *q;            /* (N, C, S): probabilities, or NULL */
    const T *weight;       /* (C), or NULL */
    C *lse;                /* (N, S) */
    C *total;              /* (1) */
    T *loss;               /* (1), or (N, S) */
    int64_t samples, classes, ignore_index;
    int64_divisor spatial;
    bool log_probabilities;    // x has them, and lse is 0
    double smoothing, uniform; // uniform: what smoothing gives each class
    tern_reduction reduction;
    int lanes, rounds; // threads for a sample, samples for each group of them
    tern_fault *fault;
    uint32_t location;
};

// Losses of samples, and by what they count in the mean.
struct loss_sum {
    double loss, total;
};

// One sample and the index of the lane.
template <class T> struct class_row {
    const T *x, *q; // of its first class; q may be NULL
    int64_t stride; // to the next class
    int64_t classes;
    int lane, lanes;
};

template <class T>
__device__ __forceinline__ class_row<T> find_row(const entropy<T> &e, int64_t sample, bool inside)
{
    const int64_t s = (int64_t)e.spatial.size;
    int64_t inner = sample;
    const int64_t outer = fast_divmod(&inner, e.spatial), at = outer * e.classes * s + inner;
    return class_row<T>{
        e.x + at, e.q ? e.q + at : NULL, s, inside ? e.classes : 0, (int)threadIdx.x % e.lanes,
        e.lanes};
}

// Classes c to c + W - 1 of a row; where W > 1 they are neighbours, and aligned.
template <int W, class T>
__device__ __forceinline__ vec<T, W> classes_from(const class_row<T> &row, int64_t c)
{
    if (W > 1)
        return vec_load<W>(row.x + c);
    vec<T, W> one;
    one.at[0] = row.x[c * row.stride];
    return one;
}

// Over the lanes of a sample.
template <class V, class Combine>
__device__ __forceinline__ V lanes_reduce(V value, V identity, int lanes, Combine combine)
{
    if (lanes > WARP_SIZE)
        return block_reduce(value, identity, combine);
    for (int mask = lanes / 2; mask > 0; mask /= 2)
        value = combine(value, shuffle_xor(value, mask));
    return value;
}

// The probability that the target gives class c, smoothed; 1 for labels.
template <class T>
__device__ __forceinline__ double smooth(const entropy<T> &e, const class_row<T> &row, int64_t c)
{
    if (!row.q)
        return 1;
    return (double)upcast(row.q[c * row.stride]) * (1 - e.smoothing) + e.uniform;
}

template <class T> __device__ __forceinline__ double class_weight(const entropy<T> &e, int64_t c)
{
    return e.weight ? (double)upcast(e.weight[c]) : 1;
}

template <class T> __device__ __forceinline__ bool counts(const entropy<T> &e, int64_t label)
{
    return label != e.ignore_index && label >= 0 && label < e.classes;
}

// ---- forward ------------------------------------------------------------------------------------

// One thread looks for the largest first: a few exponentials that do not wait for each other.
template <int W, class T>
__device__ __forceinline__ exp_sum<opmath_t<T>> row_exp_sum(const class_row<T> &row)
{
    typedef opmath_t<T> C;
    exp_sum<C> all = exp_sum_identity<C>();
    if (row.lanes > 1) {
        for (int64_t c = row.lane * W; c < row.classes; c += row.lanes * W) {
            const vec<T, W> x = classes_from<W>(row, c);
            for (int k = 0; k < W; k++)
                exp_sum_add(all, (C)upcast(x.at[k]));
        }
        return lanes_reduce(all, exp_sum_identity<C>(), row.lanes, exp_sum_combine());
    }
    for (int64_t c = 0; c < row.classes; c++)
        all.max = nan_max()(all.max, (C)upcast(row.x[c * row.stride]));
    for (int64_t c = 0; c < row.classes; c++)
        all.sum += exponential((C)upcast(row.x[c * row.stride]) - all.max);
    return all;
}

// What smoothing and probabilities need: loss is sum w q x, total is sum w q.
template <class T>
__device__ __forceinline__ loss_sum row_products(const entropy<T> &e, const class_row<T> &row)
{
    loss_sum s = {0, 0};
    for (int64_t c = row.lane; c < row.classes; c += row.lanes) {
        const double q = class_weight(e, c) * smooth(e, row, c);
        s.loss += q * (double)upcast(row.x[c * row.stride]);
        s.total += q;
    }
    s.loss = lanes_reduce(s.loss, 0.0, row.lanes, add_values());
    s.total = lanes_reduce(s.total, 0.0, row.lanes, add_values());
    return s;
}

template <class T>
__device__ __forceinline__ loss_sum label_loss(const entropy<T> &e, const class_row<T> &row,
                                               const exp_sum<opmath_t<T>> &all,
                                               const loss_sum &products, int64_t label)
{
    const double weight = class_weight(e, label);
    const double off = (double)(upcast(row.x[label * row.stride]) - all.max);
    const double hit = weight * ((double)logarithm(all.sum) - off);
    if (e.smoothing == 0)
        return loss_sum{hit, weight};
    const double lse = (double)all.max + (double)logarithm(all.sum);
    const double rest = products.total * lse - products.loss;
    return loss_sum{(1 - e.smoothing) * hit + e.uniform * rest, weight};
}

// All lanes call; what the sample gives is lane 0's.
template <int W, class T>
__device__ __forceinline__ loss_sum sample_loss(const entropy<T> &e, int64_t sample, bool inside)
{
    const class_row<T> row = find_row(e, inside ? sample : 0, inside);
    const exp_sum<opmath_t<T>> all =
        e.log_probabilities ? exp_sum<opmath_t<T>>{0, 1} : exp_sum_finish(row_exp_sum<W>(row));
    loss_sum products = {0, 0}, own = {0, 0};
    if (e.q || e.smoothing > 0)
        products = row_products(e, row);
    if (row.lane != 0 || !inside)
        return own;
    const double lse = (double)all.max + (double)logarithm(all.sum);
    const int64_t label = e.labels ? e.labels[sample] : 0;
    e.lse[sample] = all.max + logarithm(all.sum);
    if (e.q)
        own = loss_sum{products.total * lse - products.loss, 1};
    else if (counts(e, label))
        own = label_loss(e, row, all, products, label);
    else if (label != e.ignore_index)
        fault_report(e.fault, e.location, sample, label);
    if (e.reduction == TERN_REDUCTION_NONE)
        e.loss[sample] = downcast<T>((opmath_t<T>)own.loss);
    return own;
}

template <class T>
__device__ __forceinline__ void write_loss(const entropy<T> &e, const loss_sum &sum)
{
    typedef opmath_t<T> C;
    *e.total = (C)sum.total;
    if (e.reduction == TERN_REDUCTION_SUM)
        *e.loss = downcast<T>((C)sum.loss);
    else if (e.reduction != TERN_REDUCTION_NONE)
        *e.loss = downcast<T>((C)(sum.loss / sum.total));
}

// partials (blocks), or NULL where one block does all.
template <class T, int W>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    entropy_forward(const entropy<T> e, loss_sum *partials)
{
    const int groups = THREADS / e.lanes;
    int64_t sample = (int64_t)blockIdx.x * e.rounds * groups + (int)threadIdx.x / e.lanes;
    loss_sum sum = {0, 0};
    for (int round = 0; round < e.rounds; round++, sample += groups) {
        const loss_sum own = sample_loss<W>(e, sample, sample < e.samples);
        sum.loss += own.loss;
        sum.total += own.total;
    }
    sum.loss = block_sum(sum.loss);
    sum.total = block_sum(sum.total);
    if (threadIdx.x == 0) {
        if (partials)
            partials[blockIdx.x] = sum;
        else
            write_loss(e, sum);
    }
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    entropy_reduce_partials(const entropy<T> e, const loss_sum *partials, int count)
{
    loss_sum sum = {0, 0};
    for (int i = (int)threadIdx.x; i < count; i += THREADS) {
        sum.loss += partials[i].loss;
        sum.total += partials[i].total;
    }
    sum.loss = block_sum(sum.loss);
    sum.total = block_sum(sum.total);
    if (threadIdx.x == 0)
        write_loss(e, sum);
}

// ---- backward -----------------------------------------------------------------------------------

// Labels: dx[c] = g ((1 - e) w[t] + e / C sum w) p[c] - g e / C w[c], and g (1 - e) w[t] less at c
// = t. Probabilities q: dx[c] = g (sum w q) p[c] - g w[c] q[c]. p is the softmax, e the smoothing.
template <class C> struct factors {
    C scale, share, hit;
    int64_t label; // -1: none
    bool counts;
};

template <class T>
__device__ __forceinline__ factors<opmath_t<T>> make_factors(const entropy<T> &e, int64_t sample,
                                                             double g, double mass)
{
    typedef opmath_t<T> C;
    if (e.q)
        return factors<C>{(C)(g * mass), (C)g, 0, -1, true};
    const int64_t label = e.labels[sample];
    if (!counts(e, label))
        return factors<C>{0, 0, 0, -1, false};
    const double hit = g * ((1 - e.smoothing) * class_weight(e, label));
    return factors<C>{(C)(hit + g * (e.uniform * mass)), (C)(g * e.uniform), (C)hit, label, true};
}

// The gradient of a sample's loss.
template <class T>
__device__ __forceinline__ double loss_gradient(const entropy<T> &e, const T *dloss, int64_t sample)
{
    if (e.reduction == TERN_REDUCTION_NONE)
        return (double)upcast(dloss[sample]);
    const double g = (double)upcast(*dloss);
    return e.reduction == TERN_REDUCTION_SUM ? g : g / (double)*e.total;
}

template <class T>
__device__ __forceinline__ opmath_t<T> class_gradient(const entropy<T> &e, const class_row<T> &row,
                                                      const factors<opmath_t<T>> &f, opmath_t<T> x,
                                                      opmath_t<T> lse, int64_t c)
{
    typedef opmath_t<T> C;
    if (!f.counts)
        return 0;
    C dx = exponential(x - lse) * f.scale;
    if (e.log_probabilities)
        dx = 0;
    if (f.share != 0)
        dx -= (C)(class_weight(e, c) * smooth(e, row, c)) * f.share;
    return c == f.label ? dx - f.hit : dx;
}

// All classes of a sample, in the shares of its lanes.
template <int W, class T>
__device__ __forceinline__ void sample_gradient(const entropy<T> &e, const class_row<T> &row,
                                                const factors<opmath_t<T>> &f, opmath_t<T> lse,
                                                T *dx)
{
    for (int64_t c = row.lane * W; c < row.classes; c += row.lanes * W) {
        vec<T, W> line = classes_from<W>(row, c);
        for (int k = 0; k < W; k++)
            line.at[k] = downcast<T>(class_gradient(e, row, f, upcast(line.at[k]), lse, c + k));
        if (W > 1)
            vec_store<W>(dx + c, line);
        else
            dx[c * row.stride] = line.at[0];
    }
}

template <class T, int W>
__global__ void __launch_bounds__(THREADS)
    entropy_backward(const entropy<T> e, T *dx, const T *dloss)
{
    const int groups = THREADS / e.lanes;
    const bool massive = e.q || (e.smoothing > 0 && e.weight);
    for (int64_t base = (int64_t)blockIdx.x * groups; base < e.samples;
         base += (int64_t)gridDim.x * groups) {
        const int64_t sample = base + (int)threadIdx.x / e.lanes;
        const bool inside = sample < e.samples;
        const class_row<T> row = find_row(e, inside ? sample : 0, inside);
        double mass = massive ? 0 : (double)e.classes;
        for (int64_t c = row.lane; massive && c < row.classes; c += row.lanes)
            mass += class_weight(e, c) * smooth(e, row, c);
        if (massive)
            mass = lanes_reduce(mass, 0.0, e.lanes, add_values());
        if (inside) {
            const factors<opmath_t<T>> f =
                make_factors(e, sample, loss_gradient(e, dloss, sample), mass);
            sample_gradient<W>(e, row, f, e.lse[sample], dx + (row.x - e.x));
        }
    }
}

// ---- launchers ----------------------------------------------------------------------------------

template <class T>
static entropy<T> make_entropy(const tern_exec *exec, const tern_cross_entropy_args *args)
{
    typedef opmath_t<T> C;
    entropy<T> e = {};
    e.x = (const T *)args->x.data;
    e.labels = args->probabilities ? NULL : (const int64_t *)args->target.data;
    e.q = args->probabilities ? (const T *)args->target.data : NULL;
    e.weight = args->weight ? (const T *)args->weight->data : NULL;
    e.lse = (C *)args->lse.data;
    e.total = (C *)args->total.data;
    e.loss = (T *)args->loss.data;
    e.classes = args->x.size[1];
    e.spatial = make_int64_divisor(args->x.size[2]);
    e.samples = args->x.size[0] * args->x.size[2];
    e.ignore_index = args->ignore_index;
    e.log_probabilities = args->log_probabilities;
    e.smoothing = args->label_smoothing;
    e.uniform = e.smoothing / (double)e.classes;
    e.reduction = args->reduction;
    e.fault = exec->fault;
    e.location = exec->location;
    return e;
}

// Lanes for a sample: one up to `few` classes.
template <class T> static int lanes_for(const entropy<T> &e, int64_t few)
{
    if (e.spatial.size > 1 || e.classes <= few)
        return 1;
    return e.classes <= 128 ? 8 : e.classes <= 2048 ? WARP_SIZE : THREADS;
}

// Whether lanes that share a row may read whole vectors of it.
template <class T> static bool rows_are_vecs(const entropy<T> &e, const T *x)
{
    return e.lanes > 1 && e.classes >= 8 * vec_width<T>::value &&
           vec_aligned(x, e.classes, (int64_t)sizeof(T));
}

template <class T>
static tern_status launch_forward(const tern_exec *exec, const entropy<T> &e, int blocks,
                                  loss_sum *partials)
{
    if (rows_are_vecs(e, e.x))
        return LAUNCH("cross_entropy", (entropy_forward<T, vec_width<T>::value>), blocks, THREADS,
                      exec->stream, e, partials);
    return LAUNCH("cross_entropy", (entropy_forward<T, 1>), blocks, THREADS, exec->stream, e,
                  partials);
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const tern_cross_entropy_args *args)
{
    entropy<T> e = make_entropy<T>(exec, args);
    e.lanes = lanes_for(e, 16);
    const int64_t groups = THREADS / e.lanes, steps = ceil_div(e.samples, groups);
    const int64_t rounds = steps <= FEW_ROUNDS ? steps : ceil_div(steps, MAX_BLOCKS);
    scratch_memory scratch(exec);
    loss_sum *partials;
    e.rounds = (int)rounds;
    if (steps <= FEW_ROUNDS)
        return launch_forward<T>(exec, e, 1, NULL);
    const int blocks = (int)(ceil_div(steps, rounds));
    TERN_TRY(scratch.take(blocks, &partials));
    TERN_TRY(launch_forward(exec, e, blocks, partials));
    return LAUNCH("cross_entropy", (entropy_reduce_partials<T>), 1, THREADS, exec->stream, e,
                  partials, blocks);
}

extern "C" tern_status tern_cuda_cross_entropy(const tern_exec *exec,
                                               const tern_cross_entropy_args *args)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_forward<T>(exec, args))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("cross_entropy", args->x.dtype);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const tern_cross_entropy_args *args,
                                const tern_strided *dx, const tern_strided *dloss)
{
    entropy<T> e = make_entropy<T>(exec, args);
    e.lanes = lanes_for(e, 2);
    const int64_t groups = THREADS / e.lanes, blocks = ceil_div(e.samples, groups);
    if (blocks == 0)
        return TERN_OK;
    const unsigned grid = grid_stride_blocks(blocks);
    if (rows_are_vecs(e, e.x) && rows_are_vecs(e, (const T *)dx->data))
        return LAUNCH("cross_entropy_grad", (entropy_backward<T, vec_width<T>::value>), grid,
                      THREADS, exec->stream, e, (T *)dx->data, (const T *)dloss->data);
    return LAUNCH("cross_entropy_grad", (entropy_backward<T, 1>), grid, THREADS, exec->stream, e,
                  (T *)dx->data, (const T *)dloss->data);
}

extern "C" tern_status tern_cuda_cross_entropy_grad(const tern_exec *exec,
                                                    const tern_cross_entropy_args *args,
                                                    const tern_strided *dx,
                                                    const tern_strided *dloss)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_backward<T>(exec, args, dx, dloss))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("cross_entropy_grad", args->x.dtype);
}
