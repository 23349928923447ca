// SPDX-License-Identifier: Apache-2.0
// The path of the module that runs, per thread: a number, which outlives the module. Once the table
// of paths is full all are forgotten: their numbers are not known any more, and no path gets one of
// them again.
#ifndef TERN_SRC_BASE_PATH_H
#define TERN_SRC_BASE_PATH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A module below another.
typedef struct tern_path_entry {
    uint32_t number;
    uint32_t parent;              // 0: none
    const char *name;             // among its parent's children; "" for a root
    const char *class_name;       // for example "Linear"
    struct tern_path_entry *next; // in the bucket of its hash
} tern_path_entry;

#define TERN_PATH_BLOCKS        256
#define TERN_PATH_BLOCK_ENTRIES 64

typedef struct tern_path_block {
    tern_path_entry at[TERN_PATH_BLOCK_ENTRIES];
} tern_path_block;

typedef struct tern_path_table {
    pthread_mutex_t lock;
    _Atomic uint32_t first; // number of the first entry, read without the lock; less: forgotten
    tern_path_block *blocks[TERN_PATH_BLOCKS];
} tern_path_table;
extern tern_path_table tern_paths;

// The path of the calling thread, 0 outside every module. Errors raised in a module end with
// " [in 0.fc1 (Linear)]".
extern _Thread_local uint32_t tern_path_of_thread;

static inline uint32_t tern_path_current(void)
{
    return tern_path_of_thread;
}

// Returns the one before.
static inline uint32_t tern_path_set(uint32_t path)
{
    const uint32_t before = tern_path_of_thread;
    tern_path_of_thread = path;
    return before;
}

// The operation whose backward runs on the calling thread, NULL: none. Errors for want of memory
// begin with "backward of linear: ", whatever needed it.
extern _Thread_local const char *tern_backward_of_thread;

// The sample that a dataset makes on the calling thread; NULL: none. Errors that are raised
// meanwhile end with " [in sample 17 of squares]", or " [in sample 17 of squares, from
// cat/17.png]".
typedef struct tern_sample_position {
    const char *dataset;
    int64_t index;
    // Writes where the sample comes from; false: not known. NULL: it is never known.
    bool (*name)(const void *object, int64_t index, char *buffer, size_t size);
    const void *object;
} tern_sample_position;
extern _Thread_local tern_sample_position tern_sample_of_thread;

// The device whose piece of a batch the calling thread works on, one of several; "": none. Errors
// that are raised meanwhile end with " [in module.0 (Linear), replica on cuda:1]".
extern _Thread_local char tern_replica_of_thread[24];

// False for 0 and for forgotten numbers.
static inline bool tern_path_is_known(uint32_t path)
{
    return path >= atomic_load_explicit(&tern_paths.first, memory_order_relaxed);
}

// NULL where the number is not known. Under the lock.
tern_path_entry *tern_path_entry_of(uint32_t path);

// Writes "0.fc1 (Linear)" into `buffer`, "" for a number that is not known; the root alone is shown
// as its class. What does not fit loses its beginning, the outer modules.
void tern_path_format(uint32_t path, char *buffer, size_t size);

#endif
