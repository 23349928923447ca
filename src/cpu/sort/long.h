// SPDX-License-Identifier: Apache-2.0
// Few long lines that are sorted: all threads do chunks of one, then of the next.
#ifndef TERN_SRC_CPU_SORT_LONG_H
#define TERN_SRC_CPU_SORT_LONG_H

#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/reduce/scan.h"
#include "cpu/sort/line.h"

#define LONG_LINE  131072 // elements at least
#define LONG_LINES 8      // more are done side by side
#define CHUNK      65536  // elements at least
#define MAX_CHUNKS 64
#define EMIT       1024

static bool is_long(const sort_job *job)
{
    return job->n >= LONG_LINE && scan_lines(job->views[X], job->dim) <= LONG_LINES;
}

// ---- all keys -----------------------------------------------------------------------------------

// A run of words, at first all of them.
typedef struct long_run {
    const sort_job *job;
    char *const *data; // where the line begins in the views
    sort_key *keys;
    key_order order;
    int64_t first, n, chunk, chunks;
    key_window window;
    int pass;
    int64_t (*counts)[DIGITS];   // of each chunk, then where the first of each digit goes
    sort_key any[MAX_CHUNKS];    // bits in which keys of a chunk differ from the first of all
    int64_t begins[MAX_CHUNKS];  // where the first run of a chunk begins, or the chunk's end
    int64_t longest[MAX_CHUNKS]; // where a run begins that is too long for one thread, or -1
} long_run;

static int64_t chunk_size(int64_t n)
{
    return max_int64(CHUNK, ceil_div(n, MAX_CHUNKS));
}

static void set_range(long_run *run, int64_t first, int64_t n)
{
    run->first = first;
    run->n = n;
    run->chunk = chunk_size(n);
    run->chunks = ceil_div(n, run->chunk);
}

// The words of a chunk.
static int64_t chunk_begin(const long_run *run, int64_t chunk)
{
    return run->first + chunk * run->chunk;
}

static int64_t chunk_end(const long_run *run, int64_t chunk)
{
    return min_int64(chunk_begin(run, chunk + 1), run->first + run->n);
}

static void load_chunk(void *context, int64_t chunk)
{
    const long_run *run = context;
    const tern_strided *x = run->job->views[X];
    const int64_t begin = chunk_begin(run, chunk), end = chunk_end(run, chunk);
    const int64_t stride = x->stride[run->job->dim];
    load_keys(run->keys + begin, run->data[X] + begin * stride * (int64_t)tern_dtype_size(x->dtype),
              x->dtype, stride, end - begin, run->job->flip);
    for (int64_t i = begin; i < end; i++)
        run->order.words[i] = (uint64_t)i;
}

static void compare_chunk(void *context, int64_t chunk)
{
    long_run *run = context;
    const key_order *o = &run->order;
    const sort_key key = o->keys[word_position(o, o->words[run->first])];
    sort_key any = 0;
    for (int64_t i = chunk_begin(run, chunk), end = chunk_end(run, chunk); i < end; i++)
        any |= o->keys[word_position(o, o->words[i])] ^ key;
    run->any[chunk] = any;
}

static void make_chunk(void *context, int64_t chunk)
{
    const long_run *run = context;
    const key_order *o = &run->order;
    for (int64_t i = chunk_begin(run, chunk), end = chunk_end(run, chunk); i < end; i++) {
        const int64_t position = word_position(o, o->words[i]);
        o->words[i] = make_word(o, o->keys[position], run->window.shift, position);
    }
}

static void count_chunk(void *context, int64_t chunk)
{
    const long_run *run = context;
    int64_t *count = run->counts[chunk];
    memset(count, 0, sizeof *run->counts);
    for (int64_t i = chunk_begin(run, chunk), end = chunk_end(run, chunk); i < end; i++)
        count[digit_of(run->order.words[i], &run->window.digits, run->pass)]++;
}

static void move_chunk(void *context, int64_t chunk)
{
    const long_run *run = context;
    int64_t *offset = run->counts[chunk];
    for (int64_t i = chunk_begin(run, chunk), end = chunk_end(run, chunk); i < end; i++) {
        const uint64_t word = run->order.words[i];
        run->order.spare[offset[digit_of(word, &run->window.digits, run->pass)]++] = word;
    }
}

// The words of a digit come in the order of the chunks. False where all words have one digit.
static bool find_chunk_offsets(const long_run *run)
{
    int64_t before = run->first;
    for (int d = 0; d < DIGITS; d++) {
        const int64_t first = before;
        for (int64_t chunk = 0; chunk < run->chunks; chunk++) {
            const int64_t words = run->counts[chunk][d];
            run->counts[chunk][d] = before;
            before += words;
        }
        if (before - first == run->n)
            return false;
    }
    return true;
}

static void copy_chunk(void *context, int64_t chunk)
{
    const long_run *run = context;
    const int64_t begin = chunk_begin(run, chunk), end = chunk_end(run, chunk);
    memcpy(run->order.words + begin, run->order.spare + begin,
           (size_t)(end - begin) * sizeof *run->order.words);
}

static void exchange_memory(long_run *run)
{
    uint64_t *const words = run->order.words;
    run->order.words = run->order.spare;
    run->order.spare = words;
}

static void sort_chunks_by_digits(long_run *run)
{
    bool elsewhere = false;
    for (run->pass = 0; run->pass < run->window.digits.passes; run->pass++) {
        tern_pool_run(run->chunks, count_chunk, run);
        if (!find_chunk_offsets(run))
            continue;
        tern_pool_run(run->chunks, move_chunk, run);
        exchange_memory(run);
        elsewhere = !elsewhere;
    }
    if (!elsewhere)
        return;
    exchange_memory(run);
    tern_pool_run(run->chunks, copy_chunk, run);
}

// Where the first run begins that begins in a chunk, or the chunk's end.
static void find_run_of_chunk(void *context, int64_t chunk)
{
    long_run *run = context;
    const key_order *o = &run->order;
    const int64_t end = chunk_end(run, chunk);
    int64_t i = chunk_begin(run, chunk);
    while (i > run->first && i < end &&
           o->words[i] >> o->position_bits == o->words[i - 1] >> o->position_bits)
        i++;
    run->begins[chunk] = i;
}

// Where the last of them ends: a run of equal bits may go on through several chunks.
static int64_t end_of_runs(const long_run *run, int64_t chunk)
{
    for (chunk++; chunk < run->chunks; chunk++)
        if (run->begins[chunk] < chunk_end(run, chunk))
            return run->begins[chunk];
    return run->first + run->n;
}

// The runs that begin in a chunk: words that no other chunk looks at meanwhile. One that is as long
// as a chunk is its last.
static void sort_runs_of_chunk(void *context, int64_t chunk)
{
    long_run *run = context;
    const key_order *o = &run->order;
    run->longest[chunk] = -1;
    if (run->begins[chunk] == chunk_end(run, chunk))
        return;
    const int64_t end = end_of_runs(run, chunk), too_long = max_int64(LONG_LINE, run->chunk);
    for (int64_t i = run->begins[chunk]; i < end;) {
        const int64_t length = run_length(o, i, end);
        if (length >= too_long)
            run->longest[chunk] = i;
        else if (length > 1)
            sort_run(o, i, length);
        i += length;
    }
}

static void sort_long_run(long_run *run, int64_t first, int64_t n);

static void sort_long_runs(long_run *run)
{
    int64_t longest[MAX_CHUNKS];
    const int64_t chunks = run->chunks, last = run->first + run->n;
    tern_pool_run(chunks, find_run_of_chunk, run);
    tern_pool_run(chunks, sort_runs_of_chunk, run);
    memcpy(longest, run->longest, sizeof longest);
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        if (longest[chunk] >= 0)
            sort_long_run(run, longest[chunk], run_length(&run->order, longest[chunk], last));
}

// As sort_run.
static void sort_long_run(long_run *run, int64_t first, int64_t n)
{
    sort_key varying = 0;
    set_range(run, first, n);
    tern_pool_run(run->chunks, compare_chunk, run);
    for (int64_t chunk = 0; chunk < run->chunks; chunk++)
        varying |= run->any[chunk];
    if (varying == 0 && first > 0)
        return;
    run->window = varying ? find_window(&run->order, varying) : (key_window){0};
    tern_pool_run(run->chunks, make_chunk, run);
    sort_chunks_by_digits(run);
    if (run->window.shift > 0)
        sort_long_runs(run);
}

static void emit_chunk(void *context, int64_t chunk)
{
    const long_run *run = context;
    const int64_t end = min_int64(chunk_end(run, chunk), run->job->k);
    sort_key keys[EMIT];
    int64_t positions[EMIT];
    for (int64_t i = chunk_begin(run, chunk); i < end; i += EMIT) {
        const int64_t count = min_int64(end - i, EMIT);
        emit(&run->order, i, count, NULL, keys, positions);
        store_line(run->job, keys, positions, run->data, i, count, 1);
    }
}

static void sort_long_line(long_run *run, char *const *data)
{
    run->data = data;
    set_range(run, 0, run->job->n);
    tern_pool_run(run->chunks, load_chunk, run);
    sort_long_run(run, 0, run->job->n);
    set_range(run, 0, run->job->n);
    tern_pool_run(run->chunks, emit_chunk, run);
}

// Gives the bytes.
static int64_t partition_long_run(char *memory, long_run *run)
{
    const int64_t n = run->job->n, chunks = ceil_div(n, chunk_size(n));
    int64_t offset = 0;
    run->keys = take(memory, &offset, n * (int64_t)sizeof *run->keys);
    run->order.words = take(memory, &offset, n * 8);
    run->order.spare = take(memory, &offset, n * 8);
    run->counts = take(memory, &offset, chunks * (int64_t)sizeof *run->counts);
    run->order.keys = run->keys;
    run->order.position_bits = position_bits(n);
    return offset;
}

static tern_status sort_long_lines(const sort_job *job)
{
    long_run run = {.job = job};
    const size_t nbytes = (size_t)partition_long_run(NULL, &run);
    char *memory = tern_cache_alloc(nbytes), *data[VIEWS];
    if (!memory)
        return TERN_ERR_NOMEM;
    partition_long_run(memory, &run);
    for (int64_t line = 0; line < scan_lines(job->views[X], job->dim); line++) {
        scan_line(job->views, VIEWS, job->dim, line, data);
        sort_long_line(&run, data);
    }
    tern_cache_free(memory, nbytes);
    return TERN_OK;
}

#endif
