// SPDX-License-Identifier: Apache-2.0
// Normalisation of the channels of (N, C, S): blocks sum a channel of a segment of the samples, a
// thread combines those of a channel, and blocks write the elements. T. F. Chan, G. H. Golub,
// R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
#include "cuda/norm/norm.cuh"

// What a launch goes over: units are a channel of a segment of samples. Runs of a channel in a
// sample consist of `vecs` vectors.
typedef struct channel_grid {
    int64_t n, c, vecs, samples, segments;
    int64_divisor by_c, by_vecs;
} channel_grid;

// The unit's channel and samples.
typedef struct channel_unit {
    int64_t channel, segment, first, count; // count: of vectors
} channel_unit;

__device__ __forceinline__ channel_unit find_unit(const channel_grid &g, int64_t unit)
{
    const int64_t segment = fast_divmod(&unit, g.by_c), first = segment * g.samples;
    const int64_t samples = g.n - first < g.samples ? g.n - first : g.samples;
    return channel_unit{unit, segment, first, samples * g.vecs};
}

// Where vector i of the unit is.
__device__ __forceinline__ int64_t vec_offset(const channel_grid &g, const channel_unit &u,
                                              int64_t i)
{
    const int64_t sample = u.first + fast_divmod(&i, g.by_vecs);
    return (sample * g.c + u.channel) * g.vecs + i;
}

// ---- forward ------------------------------------------------------------------------------------

// Mean and sum of squared deviations of each unit: partial (segments, C, 2).
template <class T, int W, bool WARP>
__global__ void __launch_bounds__(NORM_THREADS)
    batch_moments(double *partial, const T *x, const channel_grid g)
{
    typedef opmath_t<T> C;
    typedef norm_team<WARP> team;
    for (int64_t unit = team::first(); unit < g.c * g.segments; unit += team::step()) {
        const channel_unit u = find_unit(g, unit);
        const C count = (C)(u.count * W);
        C sum = 0, off = 0, squares = 0;
        for (int64_t i = team::member(); i < u.count; i += team::SIZE) {
            const vec<T, W> in = vec_load<W>(x + vec_offset(g, u, i) * W);
            for (int k = 0; k < W; k++)
                sum += upcast(in.at[k]);
        }
        const C mean = team::sum(sum) / count;
        for (int64_t i = team::member(); i < u.count; i += team::SIZE) {
            const vec<T, W> in = vec_load<W>(x + vec_offset(g, u, i) * W);
            for (int k = 0; k < W; k++) {
                const C d = upcast(in.at[k]) - mean;
                off += d;
                squares += d * d;
            }
        }
        off = team::sum(off) / count; // what rounding left out of the mean
        squares = team::sum(squares);
        if (team::member() == 0) {
            partial[unit * 2] = (double)mean + (double)off;
            const double about = (double)squares - (double)count * (double)off * (double)off;
            partial[unit * 2 + 1] = about < 0 ? 0 : about;
        }
    }
}

template <class T> struct batch_state {
    typedef opmath_t<T> C;
    norm_param<T> running_mean, running_var;
    const int64_t *batches; // or NULL
    C *mean, *rstd;         // (C)
    double momentum, eps;
    bool batch;
};

__global__ void batch_count(int64_t *batches)
{
    *batches += 1;
}

template <class T>
__device__ __forceinline__ void update_running_stat(const norm_param<T> &running, int64_t c,
                                                    double momentum, double value)
{
    if (running.data)
        running.set(c,
                    (opmath_t<T>)((1 - momentum) * (double)running.get(c, 0) + momentum * value));
}

template <class T>
__global__ void __launch_bounds__(NORM_THREADS)
    batch_finish(const double *partial, const channel_grid g, int width, const batch_state<T> s)
{
    typedef opmath_t<T> C;
    const int64_t c = (int64_t)blockIdx.x * NORM_THREADS + threadIdx.x;
    if (c >= g.c)
        return;
    double count = 0, mean = 0, squares = 0, var = 1;
    for (int64_t i = 0; s.batch && i < g.segments; i++) {
        const int64_t left = g.n - i * g.samples;
        const double added = (double)((left < g.samples ? left : g.samples) * g.vecs * width);
        const double *sums = partial + (i * g.c + c) * 2;
        if (added == 0)
            continue;
        const double off = sums[0] - mean, all = count + added;
        mean += off * (added / all);
        squares += sums[1] + off * off * (count * added / all);
        count = all;
    }
    if (!s.batch) {
        mean = (double)s.running_mean.get(c, 0);
        var = (double)s.running_var.get(c, 1);
    } else if (count > 0) {
        var = squares / count;
    }
    s.mean[c] = (C)mean;
    s.rstd[c] = (C)(1 / sqrt(var + s.eps));
    if (!s.batch || count == 0)
        return;
    double momentum = s.momentum;
    if (momentum != momentum)
        momentum = s.batches ? 1 / (double)*s.batches : 0;
    update_running_stat(s.running_mean, c, momentum, mean);
    update_running_stat(s.running_var, c, momentum, squares / (count - 1));
}

// What a channel's elements go through: z = (x - mean) scale + shift.
template <class T> struct batch_channel {
    typedef opmath_t<T> C;
    const C *mean, *rstd; // (C)
    norm_param<T> weight, bias;
    bool relu;
};

template <class C> __device__ __forceinline__ bool relu_stops(bool relu, C z)
{
    return relu && z <= 0;
}

template <class T, int W, bool WARP>
__global__ void __launch_bounds__(NORM_THREADS)
    batch_elements(T *y, const T *x, const channel_grid g, const batch_channel<T> of)
{
    typedef opmath_t<T> C;
    typedef norm_team<WARP> team;
    for (int64_t unit = team::first(); unit < g.c * g.segments; unit += team::step()) {
        const channel_unit u = find_unit(g, unit);
        const C mean = of.mean[u.channel], shift = of.bias.get(u.channel, 0);
        const C scale = of.rstd[u.channel] * of.weight.get(u.channel, 1);
        for (int64_t i = team::member(); i < u.count; i += team::SIZE) {
            const int64_t at = vec_offset(g, u, i) * W;
            vec<T, W> v = vec_load<W>(x + at);
            for (int k = 0; k < W; k++) {
                const C z = (upcast(v.at[k]) - mean) * scale + shift;
                v.at[k] = downcast<T>(relu_stops(of.relu, z) ? 0 : z);
            }
            vec_store<W>(y + at, v);
        }
    }
}

// ---- backward -----------------------------------------------------------------------------------

// Sums of dz and of dz (x - mean) of each unit, dz being dy where relu lets it pass.
template <class T, int W, bool WARP>
__global__ void __launch_bounds__(NORM_THREADS)
    batch_sums(double *partial, const T *dy, const T *x, const channel_grid g,
               const batch_channel<T> of)
{
    typedef opmath_t<T> C;
    typedef norm_team<WARP> team;
    for (int64_t unit = team::first(); unit < g.c * g.segments; unit += team::step()) {
        const channel_unit u = find_unit(g, unit);
        const C mean = of.mean[u.channel], shift = of.bias.get(u.channel, 0);
        const C scale = of.rstd[u.channel] * of.weight.get(u.channel, 1);
        C gradient = 0, product = 0;
        for (int64_t i = team::member(); i < u.count; i += team::SIZE) {
            const int64_t at = vec_offset(g, u, i) * W;
            const vec<T, W> in = vec_load<W>(x + at), d = vec_load<W>(dy + at);
            for (int k = 0; k < W; k++) {
                const C off = upcast(in.at[k]) - mean;
                const C dz = relu_stops(of.relu, off * scale + shift) ? 0 : (C)upcast(d.at[k]);
                gradient += dz;
                product += dz * off;
            }
        }
        gradient = team::sum(gradient);
        product = team::sum(product);
        if (team::member() == 0) {
            partial[unit * 2] = (double)gradient;
            partial[unit * 2 + 1] = (double)product;
        }
    }
}

// dweight and dbias; the means of dz and of dz x^ stay in segment 0.
template <class T>
__global__ void __launch_bounds__(NORM_THREADS)
    batch_finish_grad(double *partial, const channel_grid g, double count, const opmath_t<T> *rstd,
                      const norm_param<T> dweight, const norm_param<T> dbias)
{
    typedef opmath_t<T> C;
    const int64_t c = (int64_t)blockIdx.x * NORM_THREADS + threadIdx.x;
    if (c >= g.c)
        return;
    double gradient = 0, product = 0;
    for (int64_t i = 0; i < g.segments; i++) {
        gradient += partial[(i * g.c + c) * 2];
        product += partial[(i * g.c + c) * 2 + 1];
    }
    product *= (double)rstd[c];
    dweight.set(c, (C)product);
    dbias.set(c, (C)gradient);
    partial[c * 2] = gradient / count;
    partial[c * 2 + 1] = product / count;
}

// constant: the statistics do not depend on x.
template <class T, int W, bool WARP>
__global__ void __launch_bounds__(NORM_THREADS)
    batch_gradients(T *dx, const T *dy, const T *x, const double *means, bool constant,
                    const channel_grid g, const batch_channel<T> of)
{
    typedef opmath_t<T> C;
    typedef norm_team<WARP> team;
    for (int64_t unit = team::first(); unit < g.c * g.segments; unit += team::step()) {
        const channel_unit u = find_unit(g, unit);
        const C mean = of.mean[u.channel], shift = of.bias.get(u.channel, 0);
        const C rstd = of.rstd[u.channel], scale = rstd * of.weight.get(u.channel, 1);
        const C first = (C)means[u.channel * 2], second = (C)means[u.channel * 2 + 1];
        for (int64_t i = team::member(); i < u.count; i += team::SIZE) {
            const int64_t at = vec_offset(g, u, i) * W;
            const vec<T, W> in = vec_load<W>(x + at);
            vec<T, W> d = vec_load<W>(dy + at);
            for (int k = 0; k < W; k++) {
                const C off = upcast(in.at[k]) - mean;
                const C dz = relu_stops(of.relu, off * scale + shift) ? 0 : (C)upcast(d.at[k]);
                const C all = dz - first - off * rstd * second;
                d.at[k] = downcast<T>((constant ? dz : all) * scale);
            }
            vec_store<W>(dx + at, d);
        }
    }
}

// ---- launchers ----------------------------------------------------------------------------------

static channel_grid make_channel_grid(const tern_batch_norm_args *args, int width)
{
    channel_grid g = {args->x.size[0], args->x.size[1], args->x.size[2] / width, 1, 1, {}, {}};
    const int64_t segments = norm_segments(g.n, g.n * args->x.size[2], g.c > 0 ? g.c : 1);
    g.samples = ceil_div(g.n, segments);
    g.segments = g.samples > 0 ? ceil_div(g.n, g.samples) : 1;
    g.by_c = make_int64_divisor(g.c);
    g.by_vecs = make_int64_divisor(g.vecs);
    return g;
}

template <class T> static batch_channel<T> make_channel(const tern_batch_norm_args *args)
{
    typedef opmath_t<T> C;
    return batch_channel<T>{(const C *)args->mean.data, (const C *)args->rstd.data,
                            make_norm_param<T>(args->weight), make_norm_param<T>(args->bias),
                            args->relu};
}

static unsigned channel_blocks(const channel_grid &g)
{
    return (unsigned)ceil_div(g.c, NORM_THREADS);
}

template <class T, int W, bool WARP>
static tern_status launch_forward(const tern_exec *exec, const tern_batch_norm_args *args, T *y,
                                  double *partial)
{
    typedef opmath_t<T> C;
    const T *x = (const T *)args->x.data;
    const channel_grid g = make_channel_grid(args, W);
    const unsigned units = norm_team_grid<WARP>(g.c * g.segments);
    const bool empty = g.n * g.vecs == 0;
    if (args->batch && args->batches)
        TERN_TRY(LAUNCH("batch_norm", batch_count, 1, 1, exec->stream, args->batches));
    if (g.c == 0)
        return TERN_OK;
    if (args->batch && !empty)
        TERN_TRY(LAUNCH("batch_norm", (batch_moments<T, W, WARP>), units, NORM_THREADS,
                        exec->stream, partial, x, g));
    const batch_state<T> state = {make_norm_param<T>(args->running_mean),
                                  make_norm_param<T>(args->running_var),
                                  args->batches,
                                  (C *)args->mean.data,
                                  (C *)args->rstd.data,
                                  args->momentum,
                                  args->eps,
                                  args->batch};
    TERN_TRY(LAUNCH("batch_norm", (batch_finish<T>), channel_blocks(g), NORM_THREADS, exec->stream,
                    (const double *)partial, g, W, state));
    if (empty)
        return TERN_OK;
    return LAUNCH("batch_norm", (batch_elements<T, W, WARP>), units, NORM_THREADS, exec->stream, y,
                  x, g, make_channel<T>(args));
}

template <class T, int W, bool WARP>
static tern_status launch_backward(const tern_exec *exec, const tern_batch_norm_args *args,
                                   const tern_norm_grads *grads, const T *dy, double *partial)
{
    const T *x = (const T *)args->x.data;
    const channel_grid g = make_channel_grid(args, W);
    const batch_channel<T> of = make_channel<T>(args);
    const unsigned units = norm_team_grid<WARP>(g.c * g.segments);
    const double count = (double)g.n * (double)args->x.size[2];
    const bool empty = g.n * g.vecs == 0;
    if (g.c == 0)
        return TERN_OK;
    TERN_TRY(LAUNCH("batch_norm_grad", (batch_sums<T, W, WARP>), units, NORM_THREADS, exec->stream,
                    partial, dy, x, g, of));
    TERN_TRY(LAUNCH("batch_norm_grad", (batch_finish_grad<T>), channel_blocks(g), NORM_THREADS,
                    exec->stream, partial, g, count, of.rstd, make_norm_param<T>(grads->dweight),
                    make_norm_param<T>(grads->dbias)));
    if (!grads->dx || empty)
        return TERN_OK;
    return LAUNCH("batch_norm_grad", (batch_gradients<T, W, WARP>), units, NORM_THREADS,
                  exec->stream, (T *)grads->dx->data, dy, x, (const double *)partial, !args->batch,
                  g, of);
}

// Runs of a channel consist of whole vectors in all views.
template <class T>
static bool vectorized(const tern_batch_norm_args *args, const void *a, const void *b)
{
    const int64_t run = args->x.size[2], size = (int64_t)sizeof(T);
    return run > 0 && vec_aligned(args->x.data, run, size) && vec_aligned(a, run, size) &&
           vec_aligned(b, run, size);
}

static bool is_short(const tern_batch_norm_args *args)
{
    return args->x.size[0] * args->x.size[2] <= NORM_SHORT;
}

// The number of doubles that the sums of all units take.
static int64_t partial_count(const tern_batch_norm_args *args)
{
    const channel_grid g = make_channel_grid(args, 1);
    return 2 * max_int64(g.c * g.segments, 1);
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const tern_batch_norm_args *args,
                               const tern_strided *y)
{
    scratch_memory scratch(exec);
    double *partial;
    TERN_TRY(scratch.take(partial_count(args), &partial));
    const bool vec = vectorized<T>(args, y->data, NULL), warp = is_short(args);
    if (vec && warp)
        return launch_forward<T, vec_width<T>::value, true>(exec, args, (T *)y->data, partial);
    if (vec)
        return launch_forward<T, vec_width<T>::value, false>(exec, args, (T *)y->data, partial);
    if (warp)
        return launch_forward<T, 1, true>(exec, args, (T *)y->data, partial);
    return launch_forward<T, 1, false>(exec, args, (T *)y->data, partial);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const tern_batch_norm_args *args,
                                const tern_norm_grads *grads, const tern_strided *dy)
{
    scratch_memory scratch(exec);
    double *partial;
    TERN_TRY(scratch.take(partial_count(args), &partial));
    const T *gradient = (const T *)dy->data;
    const bool vec = vectorized<T>(args, dy->data, grads->dx ? grads->dx->data : NULL);
    const bool warp = is_short(args);
    if (vec && warp)
        return launch_backward<T, vec_width<T>::value, true>(exec, args, grads, gradient, partial);
    if (vec)
        return launch_backward<T, vec_width<T>::value, false>(exec, args, grads, gradient, partial);
    if (warp)
        return launch_backward<T, 1, true>(exec, args, grads, gradient, partial);
    return launch_backward<T, 1, false>(exec, args, grads, gradient, partial);
}

extern "C" tern_status tern_cuda_batch_norm(const tern_exec *exec, const tern_batch_norm_args *args,
                                            const tern_strided *y)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_forward<T>(exec, args, y))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("batch_norm", args->x.dtype);
}

extern "C" tern_status tern_cuda_batch_norm_grad(const tern_exec *exec,
                                                 const tern_batch_norm_args *args,
                                                 const tern_norm_grads *grads,
                                                 const tern_strided *dy)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_backward<T>(exec, args, grads, dy))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("batch_norm_grad", args->x.dtype);
}
