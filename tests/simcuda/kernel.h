// SPDX-License-Identifier: Apache-2.0
// Kernels: launches that were checked, and running them.
#ifndef TERN_SIM_KERNEL_H
#define TERN_SIM_KERNEL_H

#include <cstdio>

struct tern_sim_launch;

namespace sim
{

bool kernel_runs();
void print_place(FILE *file); // "kernel add, block (0,0,0), thread (3,0,0): " while one runs

} // namespace sim

#endif
