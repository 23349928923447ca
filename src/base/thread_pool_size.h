// SPDX-License-Identifier: Apache-2.0
// How many threads there should be when nobody says.
#ifndef TERN_SRC_BASE_THREAD_POOL_SIZE_H
#define TERN_SRC_BASE_THREAD_POOL_SIZE_H

#define TERN_MAX_THREADS 256

// The CPUs that this process may run on, no more than its CPU quota is worth; at least 1.
int tern_pool_cpus(void);

// TERN_NUM_THREADS where it is a number from 1 to TERN_MAX_THREADS, else the CPUs.
int tern_pool_default_threads(void);

#endif
