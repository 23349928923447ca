// SPDX-License-Identifier: Apache-2.0
// Kernels that go along one dimension of a view, once for every place in the others.
#ifndef TERN_SRC_CPU_REDUCE_SCAN_H
#define TERN_SRC_CPU_REDUCE_SCAN_H

#include "cpu/isa.h"

#define SCAN_CHUNK 8192 // elements that one chunk reads, at least one line
#define SCAN_VIEWS 4

// Line `line`: the first element of each view there, by the lines' row-major order.
static inline void scan_line(const tern_strided *const *views, int count, int dim, int64_t line,
                             char **data)
{
    for (int v = 0; v < count; v++)
        data[v] = views[v] ? views[v]->data : NULL;
    const int outermost = dim == 0 ? 1 : 0;
    for (int d = views[0]->rank - 1; d >= outermost; d--) {
        if (d == dim)
            continue;
        const int64_t i = d > outermost ? line % views[0]->size[d] : line;
        line = d > outermost ? line / views[0]->size[d] : line;
        for (int v = 0; v < count; v++)
            if (views[v])
                data[v] += i * views[v]->stride[d] * (int64_t)tern_dtype_size(views[v]->dtype);
    }
}

// scan_line, and in `step` the bytes to the next line of each view. Gives how many lines, this one
// counted, lie so.
static inline int64_t scan_run(const tern_strided *const *views, int count, int dim, int64_t line,
                               char **data, int64_t *step)
{
    const int last = views[0]->rank - 1, inner = dim == last ? last - 1 : last;
    scan_line(views, count, dim, line, data);
    for (int v = 0; v < count; v++)
        step[v] = views[v] && inner >= 0
                      ? views[v]->stride[inner] * (int64_t)tern_dtype_size(views[v]->dtype)
                      : 0;
    return inner >= 0 ? views[0]->size[inner] - line % views[0]->size[inner] : 1;
}

static inline int64_t scan_lines(const tern_strided *view, int dim)
{
    int64_t lines = 1;
    for (int d = 0; d < view->rank; d++)
        lines *= d == dim ? 1 : view->size[d];
    return lines;
}

static inline int64_t scan_lines_per_chunk(int64_t length)
{
    return length > 0 && length < SCAN_CHUNK ? SCAN_CHUNK / length : 1;
}

#endif
