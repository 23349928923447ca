// SPDX-License-Identifier: Apache-2.0
// Reports, errors and faults: what a call says when it does not do what was asked.
#include "core.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

#include "kernel.h"
#include "stream.h"

namespace sim
{

thread_local cudaError_t last_error;
static cudaError_t faults[max_devices];
static bool forked;

std::recursive_mutex &the_lock()
{
    static std::recursive_mutex &lock = *new std::recursive_mutex;
    return lock;
}

void broken_rule(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    fputs("simcuda: ", stderr);
    print_place(stderr);
    vfprintf(stderr, format, words);
    va_end(words);
    fputc('\n', stderr);
    fflush(stderr);
    abort();
}

void say(const char *text, ...)
{
    va_list words;
    va_start(words, text);
    fputs("simcuda: ", stderr);
    vfprintf(stderr, text, words);
    va_end(words);
    fputc('\n', stderr);
}

void fill_with_nan(void *data, size_t nbytes)
{
    __asm__ volatile("rep stosb" : "+D"(data), "+c"(nbytes) : "a"(0xFF) : "memory");
}

cudaError_t remember(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

cudaError_t fault_of(int device)
{
    return device >= 0 && device < max_devices ? faults[device] : cudaSuccess;
}

void set_fault(int device, cudaError_t error)
{
    if (device < 0 || device >= max_devices)
        return;
    faults[device] = error;
    if (error != cudaSuccess)
        drop_queued(device);
}

// CUDA does not live on in a child of the process that started it.
static void watch_for_forks()
{
    static const int watched = pthread_atfork(nullptr, nullptr, [] { forked = true; });
    (void)watched;
}

void Call::refuse(int device, const char *function)
{
    watch_for_forks();
    failure = demanded_failure_of_any(function);
    error = fault_of(device);
    if (device >= device_count())
        error = cudaErrorNoDevice;
    if (forked)
        error = cudaErrorInitializationError;
    if (error == cudaSuccess && failure)
        error = failure->cuda;
    remember(error);
}

Call::Call(const char *function) : hold(the_lock())
{
    refuse(-1, function);
}

Call::Call(int device, const char *function) : hold(the_lock())
{
    refuse(device, function);
}

Call::Call(tern_sim_call call, int device, const char *function) : hold(the_lock())
{
    refuse(device, function);
    int code = demanded_failure(call);
    if (error == cudaSuccess)
        error = remember((cudaError_t)code);
}

} // namespace sim

using namespace sim;

cudaError_t cudaPeekAtLastError(void)
{
    cudaError_t fault = fault_of(current_device());
    return fault ? fault : last_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} texts[] = {
#define TEXT(name, text)                                                                           \
    {                                                                                              \
        name, #name, text                                                                          \
    }
    TEXT(cudaSuccess, "no error"),
    TEXT(cudaErrorInvalidValue, "invalid argument"),
    TEXT(cudaErrorMemoryAllocation, "out of memory"),
    TEXT(cudaErrorInitializationError, "initialization error"),
    TEXT(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    TEXT(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    TEXT(cudaErrorInsufficientDriver,
         "CUDA driver version is insufficient for CUDA runtime version"),
    TEXT(cudaErrorInvalidDeviceFunction, "invalid device function"),
    TEXT(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    TEXT(cudaErrorInvalidDevice, "invalid device ordinal"),
    TEXT(cudaErrorNoKernelImageForDevice,
         "no kernel image is available for execution on the device"),
    TEXT(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    TEXT(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    TEXT(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    TEXT(cudaErrorNotReady, "device not ready"),
    TEXT(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    TEXT(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    TEXT(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    TEXT(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    TEXT(cudaErrorAssert, "device-side assert triggered"),
    TEXT(cudaErrorLaunchFailure, "unspecified launch failure"),
    TEXT(cudaErrorNotSupported, "operation not supported"),
    TEXT(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    TEXT(cudaErrorStreamCaptureInvalidated,
         "operation failed due to a previous error during capture"),
    TEXT(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate captures"),
    TEXT(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    TEXT(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    TEXT(cudaErrorStreamCaptureIsolation,
         "dependency created on uncaptured work in another stream"),
    TEXT(cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a "
                                         "capturing blocking stream"),
    TEXT(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a "
                                 "capturing stream"),
    TEXT(cudaErrorStreamCaptureWrongThread,
         "attempt to terminate a thread-local capture sequence from another thread"),
    TEXT(cudaErrorUnknown, "unknown error"),
#undef TEXT
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &entry : texts)
        if (entry.error == error)
            return entry.name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &entry : texts)
        if (entry.error == error)
            return entry.text;
    return "unrecognized error code";
}

#if SIM_ALIGNMENT
// What code compiled with -fsanitize=alignment calls, in place of UBSan's runtime.
extern "C" [[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(void *, void *address)
{
    sim::broken_rule("misaligned address %p", address);
}
#endif
