// SPDX-License-Identifier: Apache-2.0
/// @file
/// CUDA devices: what there is, memory, streams, events.
///
/// The CUDA backend is a plugin that is opened when a CUDA device is first asked for; a program
/// that never asks pays nothing, and one on a machine without a GPU gets a reason in words.
///
///     if (!tern_cuda_is_available())
///         printf("on the CPU: %s\n", tern_cuda_reason());
///     tern_device dev = tern_device_best();
///
/// `CUDA_VISIBLE_DEVICES` hides and renumbers devices, as for every CUDA program. Work on a device
/// is queued on the calling thread's current stream; a call that hands values to the host waits for
/// it. Functions that take an index accept -1 for the calling thread's current device, and fail
/// with TERN_ERR_DEVICE where there is no such device; so does whatever meets a fault of the
/// device. A required pointer that is NULL is TERN_ERR_NULL. Threads: any, unless said otherwise;
/// the current device and the current streams are per thread.
#ifndef TERN_CUDA_H
#define TERN_CUDA_H

#include <stdio.h>
#include <tern/device.h>

TERN_BEGIN_DECLS

// ---- devices ------------------------------------------------------------------------------------

/// True when there is at least one usable CUDA device. Opens the plugin; never fails.
TERN_API bool tern_cuda_is_available(void);
/// Why there is no CUDA device ("no NVIDIA driver (libcuda.so.1)", ...), or what there is. Never
/// NULL; owned by the library.
TERN_API const char *tern_cuda_reason(void);
/// How many CUDA devices there are; 0 without any. Never fails.
TERN_API int tern_cuda_device_count(void);

/// What a device is.
typedef struct tern_cuda_properties {
    char name[256];       ///< "NVIDIA H200", ...
    int major;            ///< compute capability
    int minor;            ///< compute capability
    int multiprocessors;  ///< streaming multiprocessors
    int64_t total_memory; ///< bytes
    char pci_bus_id[16];  ///< "0000:1b:00.0": domain, bus, device and function
    char uuid[48];        ///< "GPU-8dfb...", as nvidia-smi -L and CUDA_VISIBLE_DEVICES write it
} tern_cuda_properties;

/// Fills `*out`, without opening the device. TERN_ERR_DEVICE when there is no such device; then
/// `*out` is left alone.
TERN_API TERN_NODISCARD tern_status tern_cuda_get_properties(int index, tern_cuda_properties *out);

/// Makes `cuda:index` the calling thread's current device: what the word "cuda" means, and where
/// `tern_cuda(-1)` is. It does not move tensors, nor change tern_default_device. TERN_ERR_DEVICE
/// when there is no such device.
TERN_API TERN_NODISCARD tern_status tern_cuda_set_device(int index);
/// The calling thread's current device; 0 at the start. In a tern_with_device of a CUDA device it
/// is that one.
TERN_API int tern_cuda_current_device(void);

/// Seeds the default generator of the current CUDA device and the dropout on it. Without a device
/// it does nothing, as in PyTorch; nor while the calling thread captures one, which raises
/// TERN_ERR_STATE.
TERN_API void tern_cuda_manual_seed(uint64_t seed);
/// The same for all CUDA devices.
TERN_API void tern_cuda_manual_seed_all(uint64_t seed);

/// Whether float32 products and convolutions may use TF32 (10 bits of mantissa, much faster); false
/// at the start. For the whole process.
TERN_API void tern_cuda_allow_tf32(bool allow);

/// All CUDA devices, the one with most free memory first, to `out`, at most `capacity` of them;
/// one that cannot be asked comes last. Opens none of them, as tern_cuda_get_memory.
TERN_API TERN_NODISCARD tern_status tern_cuda_devices_by_free_memory(tern_device *out,
                                                                     int capacity);

// ---- memory -------------------------------------------------------------------------------------

/// Memory of a device in bytes, by tern's allocator, but for the last two.
typedef struct tern_cuda_memory {
    int64_t allocated;      ///< held by tensors
    int64_t allocated_peak; ///< its maximum since tern_cuda_reset_peak_memory
    int64_t reserved;       ///< taken from the device: held by tensors, or cached
    int64_t reserved_peak;  ///< its maximum since tern_cuda_reset_peak_memory
    int64_t device_allocs;  ///< times that memory was taken from the device
    int64_t free;           ///< of the device, for all processes
    int64_t total;          ///< of the device
} tern_cuda_memory;

/// Fills `*out`. TERN_ERR_DEVICE when there is no such device; then `*out` is left alone. A device
/// that nothing used is not opened: NVML tells what is free, and where there is none
/// (libnvidia-ml.so.1) CUDA does, which takes some memory of the device to do so.
TERN_API TERN_NODISCARD tern_status tern_cuda_get_memory(int index, tern_cuda_memory *out);
/// Starts the peaks anew from what is held now.
TERN_API TERN_NODISCARD tern_status tern_cuda_reset_peak_memory(int index);
/// Gives cached memory back to the device, for other processes; waits for it. Tensors keep theirs.
TERN_API TERN_NODISCARD tern_status tern_cuda_empty_cache(int index);
/// Prints what tern_cuda_get_memory tells, and the biggest owners, to `out`.
TERN_API TERN_NODISCARD tern_status tern_cuda_memory_print(int index, FILE *out);
/// The same text into `buffer`, cut at `size`; returns the length it has uncut, -1 on failure. NULL
/// with 0 to measure.
TERN_API int64_t tern_cuda_memory_format(int index, char *buffer, size_t size);

// ---- streams and events -------------------------------------------------------------------------

/// A queue of work on one device. Every device has one to begin with. Using a tensor on another
/// stream than the one it was made on waits there, on the device, for the work queued so far.
typedef struct tern_cuda_stream tern_cuda_stream;

/// A stream of its own; freed with tern_cuda_stream_free. NULL on failure.
TERN_API tern_cuda_stream *tern_cuda_stream_new(int index);
/// Waits for its work and frees it; it must not be current in any thread. NULL is fine. While its
/// work is captured the error is TERN_ERR_STATE, and it stays.
TERN_API void tern_cuda_stream_free(tern_cuda_stream *stream);
/// Makes `stream` the calling thread's current one on its device, NULL the one that device `index`
/// had to begin with. Returns the one before (NULL for that one, and on failure, with an error).
TERN_API tern_cuda_stream *tern_cuda_stream_set(int index, tern_cuda_stream *stream);
/// Waits, on the host, for the work queued on the stream so far.
TERN_API TERN_NODISCARD tern_status tern_cuda_stream_synchronize(tern_cuda_stream *stream);

/// A point in a stream's work.
typedef struct tern_cuda_event tern_cuda_event;

/// An event on a device; freed with tern_cuda_event_free. NULL on failure.
TERN_API tern_cuda_event *tern_cuda_event_new(int index);
/// NULL is fine.
TERN_API void tern_cuda_event_free(tern_cuda_event *event);
/// Puts the event behind the work queued so far on its device's current stream.
TERN_API TERN_NODISCARD tern_status tern_cuda_event_record(tern_cuda_event *event);
/// The current stream of device `index` waits for the event, on the device.
TERN_API TERN_NODISCARD tern_status tern_cuda_event_wait(tern_cuda_event *event, int index);
/// Waits for it on the host.
TERN_API TERN_NODISCARD tern_status tern_cuda_event_synchronize(tern_cuda_event *event);
/// Milliseconds between two recorded events of one device; waits for both. NAN on failure.
TERN_API double tern_cuda_event_elapsed(tern_cuda_event *start, tern_cuda_event *end);

TERN_END_DECLS

#endif
