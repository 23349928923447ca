// SPDX-License-Identifier: Apache-2.0
// Max pooling, and its gradient by the taps of the largest elements.
#include "cpu/conv/pool_job.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define GROUP_ELEMENTS 32768 // in and out, of one group of planes
#define MAX_GROUPS     64

// Of two vectors the elements with even and odd positions; and these put together again.
#if defined(__AVX__)
#define POOL_BYTES 32
#define EVEN_4     0, 2, 4, 6, 8, 10, 12, 14
#define ODD_4      1, 3, 5, 7, 9, 11, 13, 15
#define LOW_4      0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_4     4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_8     0, 2, 4, 6
#define ODD_8      1, 3, 5, 7
#define LOW_8      0, 4, 1, 5
#define HIGH_8     2, 6, 3, 7
#else
#define POOL_BYTES 16
#define EVEN_4     0, 2, 4, 6
#define ODD_4      1, 3, 5, 7
#define LOW_4      0, 4, 1, 5
#define HIGH_4     2, 6, 3, 7
#define EVEN_8     0, 2
#define ODD_8      1, 3
#define LOW_8      0, 2
#define HIGH_8     1, 3
#endif

#define REAL            float
#define REAL_BITS       int32_t
#define POOL(name)      float_##name
#define POOL_PICK(half) half##_4
#include "cpu/conv/pool_real.h"
#undef REAL
#undef REAL_BITS
#undef POOL
#undef POOL_PICK
#define REAL            double
#define REAL_BITS       int64_t
#define POOL(name)      double_##name
#define POOL_PICK(half) half##_8
#include "cpu/conv/pool_real.h"

static int64_t volume_of(const tern_max_pool_args *args)
{
    return args->dim[0].kernel * args->dim[1].kernel * args->dim[2].kernel;
}

static size_t tables_bytes(const tern_max_pool_args *args)
{
    return (size_t)args->dim[2].out * sizeof(pool_window) +
           (size_t)volume_of(args) * sizeof(int64_t);
}

static void offsets_write(const pool_job *job)
{
    int64_t *to = job->offset;
    for (int64_t t = 0; t < job->d.kernel; t++)
        for (int64_t r = 0; r < job->h.kernel; r++)
            for (int64_t c = 0; c < job->w.kernel; c++)
                *to++ = (t * job->d.dilation * job->h.in + r * job->h.dilation) * job->w.in +
                        c * job->w.dilation;
}

static void windows_write(pool_job *job)
{
    const tern_pool_dim *w = &job->w;
    for (int64_t o = 0; o < w->out; o++)
        job->window[o] = pool_find_window(w, o);
    while (job->first < w->out && (w->adaptive || job->window[job->first].first > 0))
        job->first++;
    job->last = job->first;
    while (job->last < w->out && job->window[job->last].end == w->kernel)
        job->last++;
}

// `in` and `out` elements for each of the units.
static void groups_of(pool_job *job, int64_t units, int64_t elements)
{
    job->units = units;
    job->groups = units / (GROUP_ELEMENTS / (elements + 1) + 1) + 1;
    job->groups = job->groups > MAX_GROUPS ? MAX_GROUPS : job->groups;
    job->groups = job->groups > units ? units : job->groups;
}

static pool_job job_of(const tern_max_pool_args *args, const tern_strided *y, const tern_strided *x)
{
    pool_job job = {.d = args->dim[0], .h = args->dim[1], .w = args->dim[2]};
    job.y = y->data;
    job.x = x->data;
    if (args->tap && args->tap->dtype == TERN_UINT8)
        job.small = args->tap->data;
    else if (args->tap)
        job.large = args->tap->data;
    if (args->index)
        job.index = args->index->data;
    return job;
}

static bool is_pair(const tern_pool_dim *d)
{
    return !d->adaptive && d->kernel == 2 && d->stride == 2 && d->padding == 0 &&
           d->dilation == 1 && 2 * d->out <= d->in;
}

// Windows of 2 x 2 in planes, whose indices nobody asks for.
static bool are_pairs(const pool_job *job)
{
    return job->d.in == 1 && job->d.kernel == 1 && job->d.out == 1 && is_pair(&job->h) &&
           is_pair(&job->w) && !job->index && !job->large;
}

static tern_status run(pool_job *job, const tern_max_pool_args *args, tern_pool_fn *fn)
{
    const size_t tables = tables_bytes(args),
                 scratch_nbytes = (size_t)(job->groups * job->scratch_nbytes);
    job->window = tern_cache_alloc(tables);
    job->scratch = job->window ? tern_cache_alloc(scratch_nbytes) : NULL;
    if (job->scratch) {
        job->offset = (int64_t *)(void *)(job->window + job->w.out);
        offsets_write(job);
        windows_write(job);
        tern_pool_run(job->groups, fn, job);
    }
    const tern_status status = job->scratch ? TERN_OK : TERN_ERR_NOMEM;
    tern_cache_free(job->scratch, scratch_nbytes);
    tern_cache_free(job->window, tables);
    return status;
}

static tern_status forward(const tern_max_pool_args *args, const tern_strided *y,
                           const tern_strided *x)
{
    pool_job job = job_of(args, y, x);
    const bool upcast = y->dtype == TERN_FLOAT64;
    const int64_t lines = job.d.kernel * job.h.in * job.w.out;
    if (tern_strided_numel(y) == 0)
        return TERN_OK;
    job.scratch_nbytes = lines * ((upcast ? 8 : 4) + 4) + job.w.out * 4;
    job.scratch_nbytes = (job.scratch_nbytes + 63) / 64 * 64;
    groups_of(&job, y->size[0] * job.d.out, job.h.in * job.w.in + job.h.out * job.w.out);
    if (are_pairs(&job)) {
        tern_pool_run(job.groups, upcast ? double_pairs : float_pairs, &job);
        return TERN_OK;
    }
    return run(&job, args, upcast ? double_planes : float_planes);
}

static tern_status backward(const tern_max_pool_args *args, const tern_strided *dx,
                            const tern_strided *dy)
{
    pool_job job = job_of(args, dx, dy);
    if (tern_strided_numel(dx) == 0)
        return TERN_OK;
    groups_of(&job, dx->size[0],
              job.d.in * job.h.in * job.w.in + job.d.out * job.h.out * job.w.out);
    const bool upcast = dx->dtype == TERN_FLOAT64;
    if (are_pairs(&job) && job.small) {
        tern_pool_run(job.groups, upcast ? double_spreads : float_spreads, &job);
        return TERN_OK;
    }
    return run(&job, args, upcast ? double_samples : float_samples);
}

typedef tern_status direction(const tern_max_pool_args *args, const tern_strided *y,
                              const tern_strided *x);

static tern_status run_upcast(direction *run_wide, const tern_max_pool_args *args,
                              const tern_strided *y, const tern_strided *x)
{
    tern_strided upcast_x = {0}, upcast_y = {0};
    tern_status status = upcast_copy(&upcast_x, x);
    if (status == TERN_OK)
        status = upcast_new(&upcast_y, y);
    if (status == TERN_OK)
        status = run_wide(args, &upcast_y, &upcast_x);
    if (status == TERN_OK)
        downcast_store(y, &upcast_y);
    upcast_free(&upcast_y);
    upcast_free(&upcast_x);
    return status;
}

tern_status TERN_ISA_NAME(max_pool)(const tern_exec *exec, const tern_max_pool_args *args,
                                    const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("max_pool", x->dtype));
    return upcast_needed(x->dtype) ? run_upcast(forward, args, y, x) : forward(args, y, x);
}

tern_status TERN_ISA_NAME(max_pool_grad)(const tern_exec *exec, const tern_max_pool_args *args,
                                         const tern_strided *dx, const tern_strided *dy)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("max_pool_grad", dx->dtype));
    return upcast_needed(dx->dtype) ? run_upcast(backward, args, dx, dy) : backward(args, dx, dy);
}
