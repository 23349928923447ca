// SPDX-License-Identifier: Apache-2.0
// What a backend is: two tables, one for memory and order, one for kernels.
#ifndef TERN_SRC_TENSOR_BACKEND_H
#define TERN_SRC_TENSOR_BACKEND_H

#include "tensor/kernels.h"

// Memory and order of a kind of device. `index` counts from 0; all calls are thread safe.
typedef struct tern_device_table {
    const char *name; // "cpu", "cuda"
    int (*count)(void);
    void *(*alloc)(int index, int64_t nbytes); // NULL raises TERN_ERR_NOMEM
    void (*free)(int index, void *data, int64_t nbytes);
    // Between the device and the host, and between two devices of this kind; in stream order.
    tern_status (*to_device)(int index, void *data, const void *host, int64_t nbytes);
    tern_status (*to_host)(int index, void *host, const void *data, int64_t nbytes); // waits
    tern_status (*across)(int to, void *data, int from, const void *source, int64_t nbytes);
    tern_status (*synchronize)(int index);
    void *(*stream)(int index); // the calling thread's; NULL on the CPU
} tern_device_table;

typedef struct tern_backend {
    const tern_device_table *device;
    const tern_kernels *kernels;
} tern_backend;

// The CPU's backend: the best kernel table for this machine, chosen once
// (TERN_CPU_ISA=portable|avx2|avx512 overrides).
const tern_backend *tern_cpu_backend(void);

// The backend of a kind of device; NULL when it is not available.
const tern_backend *tern_backend_of(tern_device_type type);

// The kernels for a device that exists.
const tern_kernels *tern_kernels_of(tern_device device);

// Where kernels of the device run from the calling thread.
tern_exec tern_exec_of(tern_device device);

// Turns the unspecified device into the default one and checks that the device exists.
tern_status tern_device_resolve(const char *op, tern_device *device);

// ---- value errors found by kernels -------------------------------------------------------------

// Remembers operation, module path and limit under a number that goes to tern_exec.site. `what`
// says what the element is ("label of sample", "index"); static strings.
uint32_t tern_fault_site(const char *op, const char *what, int64_t limit);

// Raises the error of the device's fault record, if one is set, and keeps the record set (optimizer
// kernels go on refusing). On the CPU fronts call it right after the kernel.
tern_status tern_fault_poll(tern_device device);

// The first zero_grad after the error was raised clears the record.
void tern_fault_clear_raised(tern_device device);

// ---- draws inside steps ------------------------------------------------------------------------

// The number of the next draw on the device since its base last moved; what a dropout kernel takes
// as `offset`.
uint64_t tern_draw_next(tern_device device);
// Moves the base on by the draws made since; tern_optim_step calls it.
void tern_draw_advance(tern_device device);
// Starts the draws of every device anew; tern_manual_seed calls it.
void tern_draw_seed(uint64_t seed);
// The state to go on from, draws since the base last moved included; and going back to one.
tern_draw_state tern_draw_save(tern_device device);
void tern_draw_load(tern_device device, tern_draw_state state);

#endif
