// SPDX-License-Identifier: Apache-2.0
// What the tests of the simulated device share: they know nothing of tern. Those of what CUDA does
// are compiled a second time, for a real device (tests/cuda).
#ifndef TERN_SIM_CHECK_SIM_H
#define TERN_SIM_CHECK_SIM_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>

#include "kernels.h"

#ifdef TERN_CUDA_SIM
#include <simcuda.h>
enum { simulated = 1 };
#else
enum { simulated = 0 };
#endif

// The call answers so; what it left for cudaGetLastError is taken.
#define assert_answer(call, answer)                                                                \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        (void)cudaGetLastError();                                                                  \
        if (got_ != (answer))                                                                      \
            fail_msg("%s: %s, not %s", #call, cudaGetErrorName(got_), cudaGetErrorName(answer));   \
    } while (0)
#define assert_done(call) assert_answer(call, cudaSuccess)

static inline void note_refusal(const char *call, cudaError_t got, cudaError_t answer)
{
    (void)cudaGetLastError();
    if (got == cudaSuccess || (simulated && got != answer))
        fail_msg("%s: %s, not %s", call, cudaGetErrorName(got), cudaGetErrorName(answer));
    if (got != answer)
        print_message("%s: %s, not %s\n", call, cudaGetErrorName(got), cudaGetErrorName(answer));
}

// The call fails: with this code in the simulation, with any where CUDA's manual names none.
#define assert_refused(call, answer) note_refusal(#call, (call), answer)

// Says why, where there is no device.
static inline bool device_missing(void)
{
    int count = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return false;
    (void)cudaDriverGetVersion(&driver);
    print_message("skipped: %s\n", driver ? cudaGetErrorString(error) : "no NVIDIA driver");
    return true;
}

// Where there has to be a device, one that is missing is a failure.
static inline int end_without_device(void)
{
    return simulated || getenv("TERN_REQUIRE_CUDA") ? 1 : 77;
}

// What main returns.
#define run_cases(tests, set_up, tear_down)                                                        \
    (device_missing() ? end_without_device() : cmocka_run_group_tests(tests, set_up, tear_down))

static inline void need_two_devices(void)
{
    int count = 0;
    assert_done(cudaGetDeviceCount(&count));
    if (count < 2) {
        print_message("there is one device\n");
        skip();
    }
}

enum { floats = 64 }; // in a buffer

static inline cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream;
    assert_done(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static inline cudaEvent_t new_event(void)
{
    cudaEvent_t event;
    assert_done(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

// A buffer of the current device; its values are there when the call returns.
static inline float *new_buffer(float value)
{
    void *data;
    float host[floats];
    for (int i = 0; i < floats; i++)
        host[i] = value;
    assert_done(cudaMalloc(&data, sizeof host));
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, stream));
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaStreamDestroy(stream));
    return data;
}

// Value 0 of a buffer as it is now: the copy waits for no other stream.
static inline float value_now(const float *buffer)
{
    float host[floats];
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaMemcpyAsync(host, buffer, sizeof host, cudaMemcpyDeviceToHost, stream));
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaStreamDestroy(stream));
    for (int i = 1; i < floats; i++)
        assert_true(host[i] == host[0]);
    return host[0];
}

#endif
