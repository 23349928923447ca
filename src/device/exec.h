// SPDX-License-Identifier: Apache-2.0
// What kernels are handed besides their numbers: views of tensors, and where and how they run.
#ifndef TERN_SRC_DEVICE_EXEC_H
#define TERN_SRC_DEVICE_EXEC_H

#include <tern/device.h>
#include <tern/dtype.h>

// A view of a tensor as a kernel sees it. data points to the first element.
typedef struct tern_strided {
    void *data;
    tern_dtype dtype;
    int rank;
    int64_t size[TERN_MAX_RANK];
    int64_t stride[TERN_MAX_RANK]; // elements
} tern_strided;

static inline int64_t tern_strided_numel(const tern_strided *view)
{
    int64_t numel = 1;
    for (int i = 0; i < view->rank; i++)
        numel *= view->size[i];
    return numel;
}

TERN_BEGIN_DECLS

// Merges neighbouring dims that all `count` views of the same sizes walk in one stride, and drops
// those of size 1.
void tern_views_coalesce(tern_strided *const *views, int count);

TERN_END_DECLS

// A device's sticky error, in its memory: the first value error that a kernel met since the record
// was last cleared. Of several in one kernel it is that of the smallest element.
typedef struct tern_fault {
    uint32_t set;
    uint32_t location; // which operation: tern_fault_location gave the number
    int64_t element;   // where
    int64_t value;     // what was there
} tern_fault;

// The Philox state of dropout: elements 4 k .. 4 k + 3 of call `id` have the counter (id, k), and
// the key is the seed.
typedef struct tern_draw_state {
    uint64_t seed;
    uint64_t base; // Philox offset: the ids of later calls count from it
} tern_draw_state;

// Arguments of an optimizer kernel on a CUDA device: a launch writes them to memory of the device,
// and the update reads them there. A captured graph holds the update alone; before each replay the
// host writes the arguments of that step.
typedef struct tern_step_plan {
    void *memory; // of the device: tern_step_plan_size(count) bytes, 256-byte aligned
    bool write;   // arguments and tensors to memory
    bool run;     // update, from memory
} tern_step_plan;

static inline int64_t tern_step_plan_size(int64_t count)
{
    return 192 * count;
}

// Where and how a kernel runs.
typedef struct tern_exec {
    tern_device device;
    void *stream;               // the backend's
    tern_fault *fault;          // of the device
    uint32_t location;          // for the fault record
    tern_draw_state *draws;     // of the device, in its memory
    const tern_step_plan *plan; // optimizer kernels; NULL: write and run, from scratch memory
} tern_exec;

#endif
