// SPDX-License-Identifier: Apache-2.0
// Lines as they are sorted: what a call knows of all of them, memory for some, from elements to
// sorted keys and back.
#ifndef TERN_SRC_CPU_SORT_LINE_H
#define TERN_SRC_CPU_SORT_LINE_H

#include "cpu/sort/keys.h"
#include "cpu/sort/order.h"
#include "cpu/sort/select.h"

#define SHORT         64   // elements of a line that is done with its neighbours
#define BLOCK         1024 // keys that are read at once where the first few are selected
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

// ---- a line in order ----------------------------------------------------------------------------

// `count` sorted words from `first` on.
static void emit(const key_order *o, int64_t first, int64_t count, const int64_t *positions,
                 sort_key *to, int64_t *to_positions)
{
    const uint64_t *words = o->words + first;
    const bool hold = words_hold_keys(o);
    for (int64_t i = 0; i < count; i++) {
        const int64_t position = word_position(o, words[i]);
        to[i] = hold ? (sort_key)(words[i] >> o->position_bits) : o->keys[position];
        to_positions[i] = positions ? positions[position] : position;
    }
}

// The k best of the candidates, in order.
static void sort_candidates(candidates *c, const key_order *o, sort_key *to, int64_t *to_positions)
{
    if (c->k <= SELECT_FEW) {
        memcpy(to, c->keys, (size_t)c->k * sizeof *to);
        memcpy(to_positions, c->positions, (size_t)c->k * sizeof *to_positions);
        return;
    }
    if (c->count > c->k)
        drop_candidates(c);
    sort_keys(o, c->k);
    emit(o, 0, c->k, c->positions, to, to_positions);
}

static void sort_line(const sort_job *job, const sort_scratch *s, const sort_key *keys, int64_t c)
{
    const key_order o = {keys, s->words, s->spare, position_bits(job->n)};
    sort_keys(&o, job->n);
    emit(&o, 0, job->k, NULL, s->keys + c * job->k, s->positions + c * job->k);
}

// Collects the candidates of elements `first` to `end` - 1 of a line, which begins at x; or of its
// keys, if they are loaded.
static void collect_line(const sort_job *job, sort_scratch *s, const sort_key *loaded,
                         const void *x, int64_t first, int64_t end)
{
    const tern_strided *view = job->views[X];
    const int64_t stride = view->stride[job->dim], size = (int64_t)tern_dtype_size(view->dtype);
    candidates *kept = &s->candidates;
    kept->count = 0;
    kept->k = job->k;
    kept->limited = false;
    kept->limit = 0;
    for (int64_t i = first; i < end; i += BLOCK) {
        const int64_t count = min_int64(end - i, BLOCK);
        if (!loaded)
            load_keys(s->loaded, (const char *)x + i * stride * size, view->dtype, stride, count,
                      job->flip);
        add_candidates(kept, loaded ? loaded + i : s->loaded, count, i);
    }
}

static void select_line(const sort_job *job, sort_scratch *s, const sort_key *loaded, const void *x,
                        int64_t c)
{
    candidates *kept = &s->candidates;
    collect_line(job, s, loaded, x, 0, job->n);
    sort_candidates(kept, &(key_order){kept->keys, s->words, s->spare, position_bits(job->k)},
                    s->keys + c * job->k, s->positions + c * job->k);
}

// ---- elements -----------------------------------------------------------------------------------

// Whether lines of `count` elements of a view follow each other.
static bool is_dense(const sort_job *job, int v, int64_t count, int64_t cols)
{
    return job->views[v]->stride[job->dim] == 1 && (cols == 1 || job->next[v] == count);
}

static void load_strip(const sort_job *job, sort_key *keys, const void *data, int64_t cols)
{
    const tern_strided *x = job->views[X];
    if (is_dense(job, X, job->n, cols))
        load_keys(keys, data, x->dtype, 1, job->n * cols, job->flip);
    else if (cols == 1)
        load_keys(keys, data, x->dtype, x->stride[job->dim], job->n, job->flip);
    else
        load_columns(keys, data, x->dtype, x->stride[job->dim], job->next[X], job->n, cols,
                     job->flip);
}

static void store_indices(const sort_job *job, const int64_t *positions, int64_t *to, int64_t n,
                          int64_t cols)
{
    const int64_t stride = job->views[INDICES]->stride[job->dim], next = job->next[INDICES];
    if (is_dense(job, INDICES, n, cols)) {
        memcpy(to, positions, (size_t)(n * cols) * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++)
            to[i * stride + c * next] = positions[c * n + i];
}

static void store_values(const sort_job *job, const sort_key *keys, const int64_t *positions,
                         char *y_data, const char *x_data, int64_t n, int64_t cols)
{
    const tern_strided *y = job->views[Y], *x = job->views[X];
    const int64_t size = (int64_t)tern_dtype_size(y->dtype);
    const bool dense = is_dense(job, Y, n, cols);
    store_columns(y_data, y->dtype, y->stride[job->dim], job->next[Y], keys, dense ? n * cols : n,
                  dense ? 1 : cols, job->flip);
    if (!any_zero_or_nan(keys, y->dtype, n * cols, job->flip))
        return;
    for (int64_t c = 0; c < cols; c++) {
        const line_pair line = {y_data + c * job->next[Y] * size, x_data + c * job->next[X] * size,
                                y->stride[job->dim], x->stride[job->dim]};
        copy_zeros_and_nan(&line, y->dtype, keys + c * n, positions + c * n, n, job->flip);
    }
}

// From (cols, n) sorted keys and their positions to elements `first` and on of as many lines, which
// begin at `data`.
static void store_line(const sort_job *job, const sort_key *keys, const int64_t *positions,
                       char *const *data, int64_t first, int64_t n, int64_t cols)
{
    const tern_strided *y = job->views[Y], *indices = job->views[INDICES];
    store_indices(job, positions,
                  (int64_t *)(void *)data[INDICES] + first * indices->stride[job->dim], n, cols);
    if (y)
        store_values(job, keys, positions,
                     data[Y] + first * y->stride[job->dim] * (int64_t)tern_dtype_size(y->dtype),
                     data[X], n, cols);
}

#endif
