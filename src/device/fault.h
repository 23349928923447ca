// SPDX-License-Identifier: Apache-2.0
// Value errors that kernels find: noted on the device, raised by the host.
#ifndef TERN_SRC_DEVICE_FAULT_H
#define TERN_SRC_DEVICE_FAULT_H

#include "device/backend.h"

// Remembers operation, module path and limit under a number that goes to tern_exec.location. `what`
// says what the element is ("label of sample", "index"); static strings.
// With TERN_FAULT_NOT_FINITE as the limit, `what` is a number that is not finite; with
// TERN_FAULT_INVALID a rule that an element does not keep ("target must be 1 or -1").
#define TERN_FAULT_NOT_FINITE (-1)
#define TERN_FAULT_INVALID    (-2)
uint32_t tern_fault_location(const char *op, const char *what, int64_t limit);

// Raises the error of the device's fault record, if one is set, and keeps the record set (optimizer
// kernels go on refusing). On the CPU fronts call it right after the kernel.
tern_status tern_fault_poll(tern_device device);

// The same after everything queued on the device is done.
tern_status tern_fault_wait(tern_device device);

// The first zero_grad after the error was raised clears the record.
void tern_fault_clear_raised(tern_device device);
// Whether there is one that was.
bool tern_fault_is_raised(tern_device device);

#endif
