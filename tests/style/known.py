# SPDX-License-Identifier: Apache-2.0
"""Circles of files that are still to be opened; a part of one is known too."""
CIRCLES = {
    frozenset({
        'src/cuda/host/allocator.c', 'src/cuda/host/blas.c', 'src/cuda/host/device.c',
        'src/cuda/host/fence.c', 'src/cuda/host/free_set.c', 'src/cuda/host/graph.c',
        'src/cuda/host/heap.c', 'src/cuda/host/memory.c', 'src/cuda/host/pinned.c',
        'src/cuda/host/pool.h', 'src/cuda/host/segment.c', 'src/cuda/host/staging.c',
        'src/cuda/host/stream.c', 'src/cuda/random/random.c',
    }),
}
