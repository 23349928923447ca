// SPDX-License-Identifier: Apache-2.0
// Planted bugs, in two tables: what is wrong within a kernel, and what is wrong around it.
#ifndef TERN_SIM_BUGS_H
#define TERN_SIM_BUGS_H

#include <cuda_runtime_api.h>

struct bug {
    const char *name;
    const char *(*run)(); // what was found; NULL: nothing
};

extern const bug kernel_bugs[], host_bugs[]; // a NULL name ends them

constexpr int bug_floats = 64; // of a buffer: one granule of an allocation, 256 bytes
extern cudaStream_t stream;

float *new_floats(float value);
const char *outcome(const float *x); // of a launch on it: its error, or NaN among the results
void launch_twice(cudaStream_t on, float *x, unsigned grid, unsigned block);
void launch_set_ones(cudaStream_t on, float *x);
void launch_set_held(cudaStream_t on, float *x); // as a member of a struct

#endif
