// SPDX-License-Identifier: Apache-2.0
// The first elements of few long lines: threads select those of chunks, one those of all chunks'.
#ifndef TERN_SRC_CPU_SORT_LONG_SELECT_H
#define TERN_SRC_CPU_SORT_LONG_SELECT_H

#include "base/mem.h"
#include "cpu/sort/long.h"
#include "cpu/work.h"

#define SELECT_PART 128 // elements of a chunk for one that is selected, at least

// Of each chunk the best k are candidates.
typedef struct long_selection {
    const sort_job *job;
    char *const *data;
    int64_t chunk;
    sort_key *keys;     // k for each chunk
    int64_t *positions; // likewise
} long_selection;

static void select_of_chunk(void *context, int64_t chunk, void *memory)
{
    const long_selection *s = context;
    const sort_job *job = s->job;
    const int64_t first = chunk * s->chunk, end = min_int64(first + s->chunk, job->n);
    sort_scratch scratch;
    partition(job, memory, &scratch);
    candidates *kept = &scratch.candidates;
    collect_line(job, &scratch, NULL, s->data[X], first, end);
    if (kept->count > job->k)
        drop_candidates(kept);
    memcpy(s->keys + chunk * job->k, kept->keys, (size_t)kept->count * sizeof *s->keys);
    memcpy(s->positions + chunk * job->k, kept->positions,
           (size_t)kept->count * sizeof *s->positions);
}

static int64_t selection_chunk(const sort_job *job)
{
    return max_int64(CHUNK, SELECT_PART * job->k);
}

// Whether it pays to select in chunks.
static bool selects_in_chunks(const sort_job *job)
{
    return job->selects && selection_chunk(job) <= job->n / 2;
}

static void select_long_line(long_selection *s, const work_scratch *scratches)
{
    const sort_job *job = s->job;
    const int64_t chunks = ceil_div(job->n, s->chunk), before = (chunks - 1) * s->chunk;
    sort_scratch scratch;
    sort_job best = *job;
    work_run(scratches, chunks, select_of_chunk, s);
    best.n = (chunks - 1) * job->k + min_int64(job->k, job->n - before);
    partition(job, scratches->memory, &scratch);
    select_line(&best, &scratch, s->keys, NULL, 0);
    for (int64_t i = 0; i < job->k; i++)
        scratch.positions[i] = s->positions[scratch.positions[i]];
    store_line(job, scratch.keys, scratch.positions, s->data, 0, job->k, 1);
}

// Gives the bytes.
static int64_t partition_selection(char *memory, long_selection *s, work_scratch *scratches)
{
    int64_t offset = 0;
    const int64_t best = ceil_div(s->job->n, s->chunk) * s->job->k;
    s->keys = take(memory, &offset, best * (int64_t)sizeof *s->keys);
    s->positions = take(memory, &offset, best * 8);
    scratches->memory = take(memory, &offset, scratches->nbytes * scratches->count);
    return offset;
}

static tern_status select_long_lines(const sort_job *job)
{
    sort_scratch none;
    char *data[VIEWS];
    long_selection s = {.job = job, .data = data, .chunk = selection_chunk(job)};
    work_scratch scratches = {
        .nbytes = partition(job, NULL, &none),
        .count = work_scratch_count(ceil_div(job->n, s.chunk), tern_num_threads())};
    const size_t nbytes = (size_t)partition_selection(NULL, &s, &scratches);
    char *memory = tern_cache_alloc(nbytes);
    if (!memory)
        return TERN_ERR_NOMEM;
    partition_selection(memory, &s, &scratches);
    for (int64_t line = 0; line < scan_lines(job->views[X], job->dim); line++) {
        scan_line(job->views, VIEWS, job->dim, line, data);
        select_long_line(&s, &scratches);
    }
    tern_cache_free(memory, nbytes);
    return TERN_OK;
}

#endif
