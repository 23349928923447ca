// SPDX-License-Identifier: Apache-2.0
// Planted bugs around kernels: memory of others, work nobody waits for, captures that are broken.
#include "bugs.h"

#include <cublas_v2.h>
#include <curand.h>

#include <cstdio>
#include <cstring>

cudaStream_t stream;

float *new_floats(float value)
{
    void *data = nullptr;
    float host[bug_floats];
    for (float &each : host)
        each = value;
    cudaMalloc(&data, sizeof host);
    cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    return (float *)data;
}

const char *outcome(const float *x)
{
    cudaError_t error = cudaGetLastError();
    if (error)
        return cudaGetErrorName(error);
    float host[bug_floats], sum = 0;
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream);
    for (float each : host)
        sum += each;
    return sum != sum ? "NaN in the result" : nullptr;
}

static cudaStream_t stream_on(int device)
{
    cudaStream_t made = nullptr;
    cudaSetDevice(device);
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
}

static const char *block_too_big()
{
    float *x = new_floats(0);
    launch_twice(stream, x, 1, 2048);
    return outcome(x);
}

static const char *empty_grid()
{
    float *x = new_floats(0);
    launch_twice(stream, x, 0, 32);
    return outcome(x);
}

static const char *memory_not_written()
{
    void *x;
    cudaMalloc(&x, sizeof(float) * bug_floats);
    launch_twice(stream, (float *)x, 1, bug_floats);
    return outcome((float *)x);
}

static const char *freed_pointer()
{
    float *x = new_floats(0);
    cudaFree(x);
    launch_set_ones(stream, x);
    return nullptr;
}

static const char *freed_before_use()
{
    float *x = new_floats(0);
    launch_set_ones(stream, x);
    cudaFree(x);
    cudaStreamSynchronize(stream);
    return nullptr;
}

static const char *freed_before_copy()
{
    float *x = new_floats(0), *y = new_floats(0);
    cudaMemcpyAsync(y, x, sizeof(float) * bug_floats, cudaMemcpyDeviceToDevice, stream);
    cudaFree(x);
    cudaStreamSynchronize(stream);
    return nullptr;
}

static const char *freed_in_struct()
{
    float *x = new_floats(0);
    cudaFree(x);
    launch_set_held(stream, x);
    return nullptr;
}

static const char *freed_twice()
{
    float *x = new_floats(0);
    cudaFree(x);
    cudaFree(x);
    return nullptr;
}

static const char *other_device()
{
    float *x = new_floats(0);
    launch_set_ones(stream_on(1), x);
    return nullptr;
}

static const char *other_device_in_struct()
{
    float *x = new_floats(0);
    cudaStream_t other = stream_on(1);
    cudaFree(new_floats(0)); // device 1 has memory too
    launch_set_held(other, x);
    return nullptr;
}

static const char *host_pointer()
{
    float host[bug_floats];
    launch_set_ones(stream, host);
    return nullptr;
}

static const char *host_dereferences()
{
    return *(volatile float *)new_floats(0) != 0 ? "a wrong value" : nullptr;
}

static const char *copy_past_the_end()
{
    float host[bug_floats + 1] = {};
    cudaMemcpyAsync(new_floats(0), host, sizeof host, cudaMemcpyHostToDevice, stream);
    return nullptr;
}

static const char *copy_to_host_pointer()
{
    float host[bug_floats] = {}, other[bug_floats] = {};
    cudaMemcpyAsync(other, host, sizeof host, cudaMemcpyHostToDevice, stream);
    return nullptr;
}

static const char *no_wait_for_stream()
{
    float *x = new_floats(0);
    void *pinned;
    cudaMallocHost(&pinned, sizeof(float) * bug_floats);
    memset(pinned, 0, sizeof(float) * bug_floats);
    launch_set_ones(stream, x);
    cudaMemcpyAsync(pinned, x, sizeof(float) * bug_floats, cudaMemcpyDeviceToHost, stream);
    return *(float *)pinned != 1 ? "a wrong value" : nullptr; // read without waiting
}

static const char *no_event_between_streams()
{
    float host[bug_floats], *x = new_floats(1);
    cudaStreamSynchronize(stream);
    cudaStream_t other = stream_on(0);
    launch_twice(stream, x, 1, bug_floats);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, other); // waits for nothing
    cudaStreamSynchronize(other);
    return host[0] != 2 ? "a wrong value" : nullptr;
}

static const char *destroyed_stream()
{
    float *x = new_floats(0);
    cudaStreamDestroy(stream);
    launch_set_ones(stream, x);
    return nullptr;
}

static const char *end_of(cudaStream_t captured)
{
    cudaGraph_t graph;
    return cudaGetErrorName(cudaStreamEndCapture(captured, &graph));
}

static const char *wait_in_capture()
{
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaStreamSynchronize(stream);
    return end_of(stream);
}

static const char *fork_without_join()
{
    float *x = new_floats(0);
    cudaStream_t other = stream_on(0);
    cudaEvent_t fork;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork, 0);
    launch_set_ones(other, x);
    return end_of(stream);
}

static const char *random_in_capture()
{
    float *x = new_floats(0);
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    curandSetStream(generator, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    curandGenerateUniform(generator, x, bug_floats);
    return nullptr;
}

static const char *graph_of_freed_memory()
{
    float *x = new_floats(0);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    launch_set_ones(stream, x);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaFree(x);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    return nullptr;
}

static const char *product_past_the_end()
{
    const float one = 1, zero = 0;
    float *x = new_floats(1), *y = new_floats(0);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 9, &one, x, 8, x, 9, &zero, y, 8);
    return nullptr;
}

static const char *blas_on_other_device()
{
    const float one = 1, zero = 0;
    float *x = new_floats(1), *y = new_floats(0);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cudaSetDevice(1);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, x, 8, x, 8, &zero, y, 8);
    return nullptr;
}

static const char *leaked_memory()
{
    new_floats(0);
    cudaStreamSynchronize(stream);
    return nullptr; // found at the end, when TERN_SIM_LEAKS is set
}

const bug host_bugs[] = {
#define NAMED(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
    NAMED(block_too_big),         NAMED(empty_grid),
    NAMED(memory_not_written),    NAMED(freed_pointer),
    NAMED(freed_in_struct),       NAMED(freed_twice),
    NAMED(other_device),          NAMED(other_device_in_struct),
    NAMED(host_pointer),          NAMED(host_dereferences),
    NAMED(copy_past_the_end),     NAMED(copy_to_host_pointer),
    NAMED(no_wait_for_stream),    NAMED(no_event_between_streams),
    NAMED(destroyed_stream),      NAMED(wait_in_capture),
    NAMED(fork_without_join),     NAMED(random_in_capture),
    NAMED(graph_of_freed_memory), NAMED(product_past_the_end),
    NAMED(blas_on_other_device),  NAMED(leaked_memory),
    NAMED(freed_before_use),      NAMED(freed_before_copy),
    {nullptr, nullptr},
};

static const bug *named(const bug *bugs, const char *name)
{
    for (; bugs->name; bugs++)
        if (!strcmp(bugs->name, name))
            return bugs;
    return nullptr;
}

int main(int count, char **words)
{
    const bug *bug = count == 2 ? named(kernel_bugs, words[1]) : nullptr;
    if (!bug && count == 2)
        bug = named(host_bugs, words[1]);
    if (!bug) {
        fprintf(stderr, "usage: bugs NAME\n");
        return 99;
    }
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const char *found = bug->run();
    printf("%s\n", found ? found : "nothing found");
    return found != nullptr;
}
