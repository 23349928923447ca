// SPDX-License-Identifier: Apache-2.0
// What the tests of the simulated device share: they know nothing of tern.
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>
#include <simcuda.h>

#include "kernels.h"

// The call answers so; what it left for cudaGetLastError is taken.
#define assert_answer(call, answer)                                                                \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        (void)cudaGetLastError();                                                                  \
        if (got_ != (answer))                                                                      \
            fail_msg("%s: %s, not %s", #call, cudaGetErrorName(got_), cudaGetErrorName(answer));   \
    } while (0)
#define assert_done(call) assert_answer(call, cudaSuccess)

enum { floats = 64 }; // in a buffer

static inline bool is_lazy(void)
{
    const char *streams = getenv("TERN_SIM_STREAMS");
    return streams && !strcmp(streams, "lazy");
}

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

// Ends well when `body` does, in a process of its own with this in the environment.
static inline void in_child(const char *name, const char *value, void (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        setenv(name, value, 1);
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// For use within a child, where a failed assertion of cmocka has nowhere to go.
#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#endif
