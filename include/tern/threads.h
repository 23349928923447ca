// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many threads the CPU kernels use. Results are the same bits for any number.
///
/// Arithmetic is done in the rounding mode, and with the flushing of subnormals to zero, that the
/// calling thread has set; workers take both from it, and no call changes them. Calls may raise
/// floating-point exception flags of their thread and never clear one. Traps (feenableexcept) must
/// be off: kernels also compute values that they then drop.
///
/// A thread that calls the library needs 128 KiB of stack, for modules of any depth; with a CUDA
/// device, what its driver needs as well.
///
/// No call is a cancellation point, and functions of yours (hooks, modules, datasets, visitors,
/// backward functions, the allocator, the log callback) are called with cancellation disabled:
/// pthread_cancel takes effect after the call. So a function that waits without end keeps its
/// thread; one that enables cancellation and is cancelled leaves what the call worked on unusable.
/// Asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) must be off inside every call, and every
/// cancellation inside one that uses a CUDA device: its driver decides there.
#ifndef TERN_THREADS_H
#define TERN_THREADS_H

#include <tern/base.h>
#include <tern/error.h>

TERN_BEGIN_DECLS

/// Sets the number of threads that CPU kernels use, the calling one included (1 to 256). The start
/// value is `TERN_NUM_THREADS`, else the number of CPUs the process may run on, no more than the
/// CPU quota of its control group is worth. When fewer threads can be started, fewer are used.
/// Waits for work in progress. Fails with TERN_ERR_ARG.
TERN_API TERN_NODISCARD tern_status tern_set_num_threads(int count);

/// The number of threads in use.
TERN_API int tern_num_threads(void);

TERN_END_DECLS

#endif
