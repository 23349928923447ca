// SPDX-License-Identifier: Apache-2.0
/// @file
/// Devices: where a tensor's bytes live and its kernels run.
///
/// A device is a small value, a type and an index. `cpu:0`, `cpu:1`, ... are devices too, as many
/// as `TERN_CPU_DEVICES` says (1): separate homes with the same kernels, so that code for several
/// devices can be written and tested where there is no GPU.
///
///     tern_device dev = tern_device_best();
///     tern_tensor *x = tern_zeros(tern_dims(2, 3), .device = dev);
///
/// The zero value `(tern_device){0}` stands for the calling thread's default device. Threads: any;
/// the default device is per thread.
#ifndef TERN_DEVICE_H
#define TERN_DEVICE_H

#include <tern/base.h>
#include <tern/error.h>

TERN_BEGIN_DECLS

/// Kinds of devices.
typedef enum tern_device_type {
    TERN_DEVICE_UNSPECIFIED = 0, ///< the default device
    TERN_CPU,                    ///< host memory and its kernels
    TERN_CUDA                    ///< a GPU
} tern_device_type;

/// The most devices of a type that are used: `TERN_CPU_DEVICES` asks for no more, CUDA devices
/// beyond them are left alone, and lists of devices are no longer.
#define TERN_MAX_DEVICES 64

/// A device by value. `index` counts from 0 within its type.
typedef struct tern_device {
    tern_device_type type; ///< what kind
    int index;             ///< from 0
} tern_device;

/// `cpu:index`, unchecked: a call that is given a device which does not exist says so.
TERN_API tern_device tern_cpu(int index);

/// `cuda:index`, unchecked; -1 stands for the calling thread's current one
/// (tern_cuda_set_device, tern_with_device).
TERN_API tern_device tern_cuda(int index);

/// `cuda:0` when there is one, else `cpu:0`. Never fails.
TERN_API tern_device tern_device_best(void);

/// `cuda:index` when there is such a device, else `cpu:0`. Never fails.
TERN_API tern_device tern_try_gpu(int index);

/// All CUDA devices, or `cpu:0` alone where there is none, to `out`, at most `most` of them.
/// Returns how many there are, 1 or more; `out` may be NULL to ask for that only. Never fails.
TERN_API int tern_try_all_gpus(tern_device *out, int most);

/// Reads "cpu", "cuda", "cpu:1", "cuda:0"; without an index cpu:0 or the current CUDA device. Fails
/// with TERN_ERR_ARG for other words and TERN_ERR_DEVICE when there is no such device; then `*out`
/// is left alone.
TERN_API TERN_NODISCARD tern_status tern_device_parse(const char *text, tern_device *out);

/// "cpu" (as long as there is one CPU device), "cpu:1", "cuda:0", ... for messages. The text
/// belongs to the thread and stays valid for the next 8 calls. Never NULL.
TERN_API const char *tern_device_string(tern_device device);

/// True when both are the same device; the unspecified one stands for the default.
TERN_API bool tern_device_equal(tern_device a, tern_device b);

/// How many devices of a type there are; 0 for a type that is not available. Never fails.
TERN_API int tern_device_count(tern_device_type type);

/// Makes `device` the calling thread's default for new tensors. Fails with TERN_ERR_DEVICE.
TERN_API TERN_NODISCARD tern_status tern_set_default_device(tern_device device);

/// The calling thread's default device; `cpu:0` at the start.
TERN_API tern_device tern_default_device(void);

/// What tern_with_device keeps while it is open.
typedef struct tern_device_guard_ {
    tern_device before; ///< the default device that it goes back to
    int cuda_before;    ///< the current CUDA device that it goes back to
    bool open;          ///< false once the block has run
} tern_device_guard_;

/// What entering tern_with_device runs: the block does not run when there is no such device.
TERN_API tern_device_guard_ tern_device_guard_open_(tern_device device);
/// What leaving it runs.
TERN_API void tern_device_guard_close_(tern_device_guard_ *guard);

/// Runs the statement or block that follows with `device` as the calling thread's default:
/// `tern_with_device(dev) { ... }`. A CUDA device is the current one there as well: "cuda" and
/// `tern_cuda(-1)` are that device. However the block is left, both are as before; `break` and
/// `continue` leave this block only. When there is no such device the block does not run and the
/// error is pending.
#define tern_with_device(device) TERN_WITH_DEVICE_(device, TERN_LINE_NAME_(tern_device_guard_))
/// A loop that runs once; its guard is closed however it is left.
#define TERN_WITH_DEVICE_(device, guard)                                                           \
    for (tern_device_guard_ guard                                                                  \
         __attribute__((cleanup(tern_device_guard_close_))) = tern_device_guard_open_(device);     \
         guard.open; guard.open = false)

/// Waits until everything queued on the device is done, then reports a value error that a kernel
/// found (a label out of range, ...) as TERN_ERR_INDEX or TERN_ERR_NUMERIC.
TERN_API TERN_NODISCARD tern_status tern_synchronize(tern_device device);

TERN_END_DECLS

#endif
