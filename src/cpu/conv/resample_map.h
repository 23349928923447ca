// SPDX-License-Identifier: Apache-2.0
// Maps of one dimension of a resampling: the inputs and weights of every output. The gradient has
// maps with inputs and outputs exchanged.
#ifndef TERN_SRC_CPU_CONV_RESAMPLE_MAP_H
#define TERN_SRC_CPU_CONV_RESAMPLE_MAP_H

#include <math.h>
#include <string.h>

#include "cpu/real.h"

#define RESAMPLE_FN                static inline __attribute__((unused))
#define RESAMPLE_DIM               tern_resample_dim
#define RESAMPLE_BY(n, dim, field) ((n) / (dim)->field)
#define REAL                       real
#define TAPS(name)                 resample_##name
#define FLOOR                      REAL_C_FUNCTION(floor)
#include "device/resample_taps.h"

#define WINDOW_TAPS 32 // for each input and output, from which on they are not listed

typedef struct resample_map {
    int64_t in, out;
    int64_t *start; // (out + 1): where an output's taps begin
    int32_t *index; // of the input
    real *weight;
    bool copies; // y[o] = x[o]
    // Long windows: output o sums the inputs from start[o] up to end[o], and the weight is that of
    // the window, which is an input of the gradient.
    bool windows, by_input;
    int64_t *end;
} resample_map;

// A list of all taps would be many times longer than what is read and written.
static bool has_windows(const tern_resample_dim *d, int64_t taps)
{
    return d->kind == TERN_RESAMPLE_WINDOW && taps / WINDOW_TAPS > d->in + d->out;
}

// The outputs whose windows hold an input lie side by side, as the inputs of a window do.
static void windows_write(resample_map *map, const tern_resample_dim *d, bool transposed,
                          real scale)
{
    resample_taps taps;
    int64_t first = 0, end = 0;
    map->by_input = transposed;
    for (int64_t o = 0; o < d->out; o++) {
        resample_find(d, o, &taps);
        map->weight[o] = taps.weight * scale;
        if (!transposed) {
            map->start[o] = taps.first;
            map->end[o] = taps.first + taps.count;
        }
    }
    for (int64_t i = 0; transposed && i < d->in; i++) {
        for (; first < d->out; first++) {
            resample_find(d, first, &taps);
            if (taps.first + taps.count > i)
                break;
        }
        for (; end < d->out; end++) {
            resample_find(d, end, &taps);
            if (taps.first > i)
                break;
        }
        map->start[i] = first;
        map->end[i] = end > first ? end : first;
    }
}

// `nbytes` from the beginning of *memory, in lines of their own.
static void *partition(char **memory, int64_t nbytes)
{
    void *const begin = *memory;
    *memory += (nbytes + 63) / 64 * 64;
    return begin;
}

static int64_t count_taps(const tern_resample_dim *d)
{
    int64_t count = 0;
    for (int64_t o = 0; o < d->out; o++) {
        resample_taps taps;
        resample_find(d, o, &taps);
        count += taps.count;
    }
    return count;
}

// Cuts the memory of a map off *memory.
static void map_partition(resample_map *map, const tern_resample_dim *d, bool transposed,
                          char **memory)
{
    const int64_t taps = count_taps(d);
    map->in = transposed ? d->out : d->in;
    map->out = transposed ? d->in : d->out;
    map->start = partition(memory, (map->out + 2) * (int64_t)sizeof *map->start);
    map->windows = has_windows(d, taps);
    if (map->windows) {
        map->end = partition(memory, map->out * (int64_t)sizeof *map->end);
        map->weight = partition(memory, d->out * (int64_t)sizeof *map->weight);
        return;
    }
    map->weight = partition(memory, taps * (int64_t)sizeof *map->weight);
    map->index = partition(memory, taps * (int64_t)sizeof *map->index);
}

// start[i] begins as the count of what comes before, and ends there after the taps were written.
static void map_write(resample_map *map, const tern_resample_dim *d, bool transposed, real scale)
{
    int64_t *next = map->start + 1;
    if (map->windows) {
        windows_write(map, d, transposed, scale);
        return;
    }
    memset(map->start, 0, (size_t)(map->out + 2) * sizeof *map->start);
    map->copies = d->kind == TERN_RESAMPLE_SAME && scale == 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t o = 0; o < d->out; o++) {
            resample_taps taps;
            resample_find(d, o, &taps);
            for (int64_t k = 0; k < taps.count; k++) {
                const int64_t i = resample_index(d, &taps, k), row = transposed ? i : o;
                if (pass == 0) {
                    next[row + 1]++;
                    continue;
                }
                map->index[next[row]] = (int32_t)(transposed ? o : i);
                map->weight[next[row]++] = resample_weight(d, &taps, k) * scale;
            }
        }
        for (int64_t i = 0; pass == 0 && i < map->out; i++)
            next[i + 1] += next[i];
    }
}

static int64_t map_bytes(const tern_resample_dim *d, bool transposed)
{
    const int64_t rows = transposed ? d->in : d->out, taps = count_taps(d);
    if (has_windows(d, taps))
        return (2 * rows + 2) * (int64_t)sizeof(int64_t) + d->out * (int64_t)sizeof(real) + 3 * 64;
    return (rows + 2) * (int64_t)sizeof(int64_t) + taps * (int64_t)(sizeof(real) + 4) + 3 * 64;
}

#endif
