// SPDX-License-Identifier: Apache-2.0
// Work on several devices at once: pieces of a batch, replicas of a module, a thread for each.
#ifndef TERN_SRC_PARALLEL_PARALLEL_H
#define TERN_SRC_PARALLEL_PARALLEL_H

#include <tern/parallel.h>
#include "device/backend.h"
#include "nn/module/module.h"

// 1 to TERN_MAX_DEVICES devices of one type, each once; opens them.
tern_status tern_parallel_check_devices(const char *function, const tern_device *devices,
                                        int count);

// A warning where one CUDA device has less than 3/4 of what another one has.
tern_status tern_parallel_warn_of_imbalance(const tern_device *devices, int count);

// The module's parameters and buffers are on the device, or TERN_ERR_DEVICE names one.
tern_status tern_parallel_check_home(const char *function, const tern_module *module,
                                     tern_device home);

// What goes in is a number of tensors, alive or NULL.
tern_status tern_tensors_check(const char *function, const tern_tensors *tensors);

// See tern_scatter_batch and tern_gather_batch; the arguments were checked.
int tern_shards_scatter(const char *function, const tern_tensors *in, const tern_device *devices,
                        int count, int dim, tern_tensors *shards);
tern_status tern_shards_gather(const char *function, const tern_tensors *shards, int count,
                               tern_device device, int dim, tern_tensors *out);

// ---- a thread for each device -------------------------------------------------------------------

// A forward on a device.
typedef struct tern_apply_job {
    tern_module *module;
    tern_device device; // where its tensors are
    tern_tensors in, out;
} tern_apply_job;

// Runs the jobs at once, the first on the calling thread, all of them below the module that runs
// there; the outputs become temporaries of its innermost scope. The first failure, in the order of
// the jobs, is the caller's error.
tern_status tern_apply_run(tern_apply_job *jobs, int count);

#endif
