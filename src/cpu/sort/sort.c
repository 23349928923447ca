// SPDX-License-Identifier: Apache-2.0
// The elements of lines in order, or the first of them: as keys, which are sorted or selected with
// their positions. Lines are done by threads side by side; a few long ones each by all threads.
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/real.h"
#include "cpu/reduce/scan.h"
#include "cpu/sort/keys.h"
#include "cpu/sort/order.h"
#include "cpu/sort/select.h"
#include "cpu/work.h"

#define STRIP         16     // neighbouring lines at most whose elements are read together
#define STRIP_NUMEL   131072 // keys of them
#define UNIT_NUMEL    8192   // elements of the lines that are one item of work, at least one strip
#define BLOCK         1024   // keys that are read at once where the first few are selected
#define SORT_ALIGN(n) (((n) + 63) / 64 * 64)

enum { X, INDICES, Y, VIEWS };

typedef struct sort_job {
    const tern_strided *views[VIEWS]; // Y may be NULL
    int dim;
    int64_t n, k;
    bool selects; // else all keys are sorted
    sort_key flip;
    // `cols` lines lie next[] apart in each view, and are done in strips of `width`
    int64_t next[VIEWS], cols, width, strips, units, units_per_item;
} sort_job;

typedef tern_status sort_fn(bool descending, const tern_strided *values,
                            const tern_strided *indices, const tern_strided *x, int dim);
REAL_DECLARE(sort_fn, sort);

// Memory of a thread: of one strip.
typedef struct sort_scratch {
    sort_key *loaded;      // (width, n), or a block
    candidates candidates; // of one line
    uint64_t *words, *spare;
    sort_key *keys;     // (width, k), in order
    int64_t *positions; // likewise
} sort_scratch;

// ---- scratch ------------------------------------------------------------------------------------

static void *take(char *memory, int64_t *offset, int64_t nbytes)
{
    void *taken = memory ? memory + *offset : NULL;
    *offset += SORT_ALIGN(nbytes);
    return taken;
}

static int64_t loaded_count(const sort_job *job)
{
    return job->selects && job->width == 1 ? min_int64(job->n, BLOCK) : job->width * job->n;
}

// Gives the bytes; of no memory NULLs.
static int64_t partition(const sort_job *job, char *memory, sort_scratch *s)
{
    int64_t offset = 0;
    const int64_t words = job->selects ? job->k : job->n, key = sizeof(sort_key);
    s->loaded = take(memory, &offset, loaded_count(job) * key);
    s->words = take(memory, &offset, words * 8);
    s->spare = take(memory, &offset, words * 8);
    s->keys = take(memory, &offset, job->width * job->k * key);
    s->positions = take(memory, &offset, job->width * job->k * 8);
    if (job->selects) {
        const int64_t capacity = candidate_capacity(job->n, job->k);
        s->candidates.keys = take(memory, &offset, capacity * key);
        s->candidates.spare = take(memory, &offset, capacity * key);
        s->candidates.positions = take(memory, &offset, capacity * 8);
    }
    return offset;
}

// ---- a line -------------------------------------------------------------------------------------

// The first k of sorted words.
static void emit(const key_order *o, int64_t k, const int64_t *positions, sort_key *to,
                 int64_t *to_positions)
{
    const bool hold = words_hold_keys(o);
    for (int64_t i = 0; i < k; i++) {
        const int64_t position = word_position(o, o->words[i]);
        to[i] = hold ? (sort_key)(o->words[i] >> o->position_bits % WORD_BITS) : o->keys[position];
        to_positions[i] = positions ? positions[position] : position;
    }
}

static void sort_line(const sort_job *job, const sort_scratch *s, const sort_key *keys, int64_t c)
{
    const key_order o = {keys, s->words, s->spare, position_bits(job->n)};
    sort_keys(&o, job->n);
    emit(&o, job->k, NULL, s->keys + c * job->k, s->positions + c * job->k);
}

// x: where the line begins, unless its keys are loaded.
static void select_line(const sort_job *job, sort_scratch *s, const sort_key *loaded, const void *x,
                        int64_t c)
{
    candidates *kept = &s->candidates;
    const tern_strided *view = job->views[X];
    const int64_t stride = view->stride[job->dim], size = (int64_t)tern_dtype_size(view->dtype);
    kept->count = 0;
    kept->k = job->k;
    kept->limited = false;
    kept->limit = 0;
    for (int64_t i = 0; i < job->n; i += BLOCK) {
        const int64_t count = min_int64(job->n - i, BLOCK);
        if (!loaded)
            load_keys(s->loaded, (const char *)x + i * stride * size, view->dtype, stride, count,
                      job->flip);
        add_candidates(kept, loaded ? loaded + i : s->loaded, count, i);
    }
    if (kept->count > job->k)
        drop_candidates(kept);
    const key_order o = {kept->keys, s->words, s->spare, position_bits(job->n)};
    sort_keys(&o, job->k);
    emit(&o, job->k, kept->positions, s->keys + c * job->k, s->positions + c * job->k);
}

// ---- strips of lines ----------------------------------------------------------------------------

static void store_strip(const sort_job *job, const sort_scratch *s, char *const *data, int64_t cols)
{
    const tern_strided *y = job->views[Y], *x = job->views[X], *indices = job->views[INDICES];
    int64_t *to = (int64_t *)(void *)data[INDICES];
    for (int64_t i = 0; i < job->k; i++)
        for (int64_t c = 0; c < cols; c++)
            to[i * indices->stride[job->dim] + c * job->next[INDICES]] =
                s->positions[c * job->k + i];
    if (!y)
        return;
    const int64_t size = (int64_t)tern_dtype_size(y->dtype);
    store_columns(data[Y], y->dtype, y->stride[job->dim], job->next[Y], s->keys, job->k, cols,
                  job->flip);
    for (int64_t c = 0; c < cols; c++) {
        const line_pair line = {data[Y] + c * job->next[Y] * size,
                                data[X] + c * job->next[X] * size, y->stride[job->dim],
                                x->stride[job->dim]};
        copy_zeros_and_nan(&line, y->dtype, s->keys + c * job->k, s->positions + c * job->k, job->k,
                           job->flip);
    }
}

static void run_strip(const sort_job *job, sort_scratch *s, int64_t strip)
{
    char *data[VIEWS];
    const tern_strided *x = job->views[X];
    const int64_t first = strip % job->strips * job->width;
    const int64_t cols = min_int64(job->cols - first, job->width);
    const int64_t stride = x->stride[job->dim];
    scan_line(job->views, VIEWS, job->dim, strip / job->strips * job->cols + first, data);
    const bool load = !job->selects || job->width > 1;
    if (load && cols == 1)
        load_keys(s->loaded, data[X], x->dtype, stride, job->n, job->flip);
    else if (load)
        load_columns(s->loaded, data[X], x->dtype, stride, job->next[X], job->n, cols, job->flip);
    for (int64_t c = 0; c < cols; c++) {
        const sort_key *keys = load ? s->loaded + c * job->n : NULL;
        if (job->selects)
            select_line(job, s, keys, data[X], c);
        else
            sort_line(job, s, keys, c);
    }
    store_strip(job, s, data, cols);
}

static void run_item(void *context, int64_t item, void *memory)
{
    const sort_job *job = context;
    sort_scratch scratch;
    partition(job, memory, &scratch);
    const int64_t end = min_int64((item + 1) * job->units_per_item, job->units);
    for (int64_t strip = item * job->units_per_item; strip < end; strip++)
        run_strip(job, &scratch, strip);
}

// ---- all of them --------------------------------------------------------------------------------

// The lines along the innermost of the other dimensions.
static void plan_strips(sort_job *job)
{
    const tern_strided *x = job->views[X];
    const int last = x->rank - 1, inner = job->dim == last ? last - 1 : last;
    job->cols = inner < 0 ? 1 : x->size[inner];
    for (int v = 0; v < VIEWS; v++)
        job->next[v] = inner < 0 || !job->views[v] ? 0 : job->views[v]->stride[inner];
    // Lines whose neighbours share cache lines are read together.
    const bool apart = job->next[X] >= x->stride[job->dim] || job->next[X] <= -x->stride[job->dim];
    job->width = apart ? 1 : min_int64(STRIP, max_int64(1, STRIP_NUMEL / job->n));
    job->width = min_int64(job->width, job->cols);
    job->strips = ceil_div(job->cols, job->width);
    job->units = scan_lines(x, job->dim) / job->cols * job->strips;
    job->units_per_item = max_int64(1, UNIT_NUMEL / (job->width * job->n));
}

static tern_status run_lines(sort_job *job)
{
    sort_scratch none;
    const int64_t items = ceil_div(job->units, job->units_per_item);
    work_scratch scratches = {.nbytes = partition(job, NULL, &none),
                              .count = work_scratch_count(items, tern_num_threads())};
    const size_t nbytes = (size_t)(scratches.nbytes * scratches.count);
    scratches.memory = tern_cache_alloc(nbytes);
    if (!scratches.memory)
        return TERN_ERR_NOMEM;
    work_run(&scratches, items, run_item, job);
    tern_cache_free(scratches.memory, nbytes);
    return TERN_OK;
}

tern_status REAL_NAME(sort)(bool descending, const tern_strided *values,
                            const tern_strided *indices, const tern_strided *x, int dim)
{
    sort_job job = {.views = {x, indices, values},
                    .dim = dim,
                    .n = x->size[dim],
                    .k = indices->size[dim],
                    .flip = descending ? ~(sort_key)0 : 0};
    job.selects = job.n > 64 && job.k <= job.n / 2;
    plan_strips(&job);
    return run_lines(&job);
}

#if REAL_IS_FLOAT
tern_status TERN_ISA_NAME(sort)(const tern_exec *exec, bool descending, const tern_strided *values,
                                const tern_strided *indices, const tern_strided *x, int dim)
{
    (void)exec;
    if (tern_strided_numel(indices) == 0)
        return TERN_OK;
    return tern_dtype_size(x->dtype) == 8
               ? TERN_ISA_NAME(sort_double)(descending, values, indices, x, dim)
               : TERN_ISA_NAME(sort_float)(descending, values, indices, x, dim);
}
#endif
