// SPDX-License-Identifier: Apache-2.0
// What simcuda.h offers: memory of any size, failures on demand, counters and noted waits.
#include "check_sim.h"

#include <cublas_v2.h>
#include <curand.h>

static void memory_runs_out_and_comes_back(void **state)
{
    (void)state;
    void *first, *second;
    size_t available, total;
    tern_sim_set_memory(2, 1 << 20);
    assert_done(cudaSetDevice(2));
    assert_done(cudaMalloc(&first, 700 << 10));
    assert_answer(cudaMalloc(&second, 400 << 10), cudaErrorMemoryAllocation);
    assert_null(second);
    assert_done(cudaGetLastError());
    assert_done(cudaMemGetInfo(&available, &total));
    assert_int_equal(total, 1 << 20);
    assert_int_equal(available, (1 << 20) - (700 << 10));
    assert_done(cudaFree(first));
    assert_done(cudaMalloc(&second, 400 << 10));
    assert_done(cudaFree(second));
    assert_answer(cudaMalloc(&first, SIZE_MAX), cudaErrorMemoryAllocation);
    assert_done(cudaMemGetInfo(&available, &total));
    assert_int_equal(available, total);
    assert_done(cudaSetDevice(0));
}

static void meddling_changes_the_device_and_leaves_an_error(void **state)
{
    (void)state;
    int device = -1;
    tern_sim_meddle(1, cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_done(cudaGetDevice(&device));
    assert_int_equal(device, 1);
    tern_sim_meddle(0, cudaSuccess);
    assert_done(cudaGetLastError());
    assert_done(cudaGetDevice(&device));
    assert_int_equal(device, 0);
}

static void the_nth_call_fails_on_demand(void **state)
{
    (void)state;
    void *data;
    tern_sim_fail(TERN_SIM_MALLOC, 2, cudaErrorMemoryAllocation);
    assert_done(cudaMalloc(&data, 8));
    assert_done(cudaFree(data));
    assert_answer(cudaMalloc(&data, 8), cudaErrorMemoryAllocation);
    assert_done(cudaMalloc(&data, 8));
    assert_done(cudaFree(data));
    tern_sim_fail_from(TERN_SIM_MALLOC, 1, cudaErrorUnknown);
    assert_answer(cudaMalloc(&data, 8), cudaErrorUnknown);
    assert_answer(cudaMalloc(&data, 8), cudaErrorUnknown);
    tern_sim_fail_none();
    assert_done(cudaMalloc(&data, 8));
    assert_done(cudaFree(data));
}

// Whatever its kind and library; what frees something has freed it all the same.
static void the_nth_call_of_any_kind_fails_on_demand(void **state)
{
    (void)state;
    void *data;
    cublasHandle_t handle;
    int device;
    assert_int_equal(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    tern_sim_fail_any(3, TERN_SIM_INVALID);
    assert_null(tern_sim_failed());
    assert_done(cudaGetDevice(&device));
    assert_done(cudaMalloc(&data, 8));
    assert_int_equal(cublasSetStream(handle, NULL), CUBLAS_STATUS_INVALID_VALUE);
    assert_non_null(strstr(tern_sim_failed(), "cublasSetStream"));
    assert_int_equal(cublasSetStream(handle, NULL), CUBLAS_STATUS_SUCCESS);
    tern_sim_count_reset();
    tern_sim_fail_any(1, TERN_SIM_NO_MEMORY);
    assert_answer(cudaFree(data), cudaErrorMemoryAllocation);
    tern_sim_counts now;
    tern_sim_count(&now);
    assert_int_equal(now.frees, 1);
    tern_sim_fail_any(1, TERN_SIM_FAILED);
    assert_answer(cudaGetDevice(&device), cudaErrorLaunchFailure);
    assert_done(cudaGetDevice(&device));
    tern_sim_fail_any(1, TERN_SIM_BROKEN);
    assert_int_equal(cublasDestroy(handle), CUBLAS_STATUS_EXECUTION_FAILED);
    assert_answer(cudaMalloc(&data, 8), cudaErrorLaunchFailure);
    tern_sim_break_device(0, 0);
    tern_sim_fail_any(1, TERN_SIM_FAILED);
    tern_sim_fail_none();
    assert_done(cudaGetDevice(&device));
}

static void every_kind_of_call_fails_on_demand(void **state)
{
    (void)state;
    float *x = new_buffer(1), host[floats];
    void *data = NULL;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking), made;
    cudaEvent_t event = new_event(), another;
    const int code = cudaErrorUnknown;
    tern_sim_fail(TERN_SIM_HOST_ALLOC, 1, code);
    assert_answer(cudaHostAlloc(&data, 8, cudaHostAllocDefault), code);
    assert_null(data);
    tern_sim_fail(TERN_SIM_MEMCPY, 1, code);
    assert_answer(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream), code);
    tern_sim_fail(TERN_SIM_MEMSET, 1, code);
    assert_answer(cudaMemsetAsync(x, 0, sizeof host, stream), code);
    tern_sim_fail(TERN_SIM_LAUNCH, 1, code);
    launch_scale_and_add(stream, x, 1, 1);
    assert_answer(cudaGetLastError(), code);
    tern_sim_fail(TERN_SIM_STREAM_CREATE, 1, code);
    assert_answer(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), code);
    tern_sim_fail(TERN_SIM_EVENT_CREATE, 1, code);
    assert_answer(cudaEventCreateWithFlags(&another, cudaEventDisableTiming), code);
    tern_sim_fail(TERN_SIM_EVENT_RECORD, 1, code);
    assert_answer(cudaEventRecord(event, stream), code);
    tern_sim_fail(TERN_SIM_WAIT, 1, code);
    assert_answer(cudaStreamSynchronize(stream), code);
    tern_sim_fail(TERN_SIM_WAIT, 1, code);
    assert_answer(cudaDeviceSynchronize(), code);
    tern_sim_fail(TERN_SIM_CAPTURE, 1, code);
    assert_answer(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), code);
    assert_true(value_now(x) == 1); // nothing was done
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void calls_of_the_libraries_fail_on_demand(void **state)
{
    (void)state;
    const double one = 1;
    double *x;
    cublasHandle_t handle, another;
    curandGenerator_t generator, made;
    assert_done(cudaMalloc((void **)&x, sizeof *x));
    assert_int_equal(cublasCreate(&handle), 0);
    assert_int_equal(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10), 0);
    tern_sim_fail(TERN_SIM_BLAS, 1, CUBLAS_STATUS_ALLOC_FAILED);
    assert_int_equal(
        cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &one, x, 1),
        CUBLAS_STATUS_ALLOC_FAILED);
    tern_sim_fail(TERN_SIM_BLAS_CREATE, 1, CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasCreate(&another), CUBLAS_STATUS_NOT_INITIALIZED);
    tern_sim_fail(TERN_SIM_RAND, 1, CURAND_STATUS_LAUNCH_FAILURE);
    assert_int_equal(curandGenerate(generator, (unsigned *)x, 1), CURAND_STATUS_LAUNCH_FAILURE);
    tern_sim_fail(TERN_SIM_RAND_CREATE, 1, CURAND_STATUS_INITIALIZATION_FAILED);
    assert_int_equal(curandCreateGenerator(&made, CURAND_RNG_PSEUDO_PHILOX4_32_10),
                     CURAND_STATUS_INITIALIZATION_FAILED);
    assert_int_equal(curandDestroyGenerator(generator), 0);
    assert_int_equal(cublasDestroy(handle), 0);
    assert_done(cudaFree(x));
}

static void a_fault_stays_with_its_device(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    assert_done(cudaSetDevice(1));
    float *y = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    tern_sim_fail(TERN_SIM_FAULT, 1, cudaErrorIllegalAddress);
    launch_scale_and_add(stream, y, 1, 1);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    void *data;
    assert_int_equal(cudaMalloc(&data, 8), cudaErrorIllegalAddress);
    assert_int_equal(cudaMemcpyAsync(y, y, 0, cudaMemcpyDefault, stream), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress); // is not cleared
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_true(value_now(x) == 1); // other devices go on
    tern_sim_break_device(1, cudaSuccess);
    assert_done(cudaSetDevice(1));
    assert_true(value_now(y) == 1); // the kernel did not run
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
    assert_done(cudaSetDevice(0));
}

static void calls_are_counted(void **state)
{
    (void)state;
    tern_sim_counts counts;
    tern_sim_count_reset();
    long mallocs = tern_sim_calls(TERN_SIM_MALLOC);
    float *x = new_buffer(1); // a stream, a copy and a wait of its own
    tern_sim_count(&counts);
    assert_int_equal(counts.live_blocks, 1);
    assert_int_equal(counts.live_bytes, floats * sizeof(float));
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaDeviceSynchronize());
    assert_done(cudaStreamQuery(stream));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
    tern_sim_count(&counts);
    assert_int_equal(counts.mallocs, 1);
    assert_int_equal(tern_sim_calls(TERN_SIM_MALLOC), mallocs + 1);
    assert_int_equal(counts.frees, 1);
    assert_int_equal(counts.free_waits, 1);
    assert_int_equal(counts.launches, 1);
    assert_int_equal(counts.copies_to_device, 1);
    assert_int_equal(counts.streams, 2);
    assert_int_equal(counts.stream_waits, 2);
    assert_int_equal(counts.device_waits, 1);
    assert_int_equal(counts.queries, 1);
    assert_int_equal(counts.live_blocks, 0);
    assert_int_equal(counts.live_bytes, 0);
}

static void copies_are_counted_by_their_way(void **state)
{
    (void)state;
    float *here = new_buffer(1), *other = new_buffer(2), host[floats];
    const size_t nbytes = sizeof host;
    assert_done(cudaSetDevice(1));
    float *there = new_buffer(3);
    assert_done(cudaSetDevice(0));
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    tern_sim_counts counts;
    tern_sim_count_reset();
    assert_done(cudaMemcpyAsync(other, here, nbytes, cudaMemcpyDeviceToDevice, stream));
    assert_done(cudaMemcpyPeerAsync(here, 0, there, 1, nbytes, stream));
    assert_done(cudaMemcpyAsync(there, other, nbytes, cudaMemcpyDefault, stream));
    for (int i = 0; i < 3; i++)
        assert_done(cudaMemcpyAsync(host, there, nbytes, cudaMemcpyDefault, stream));
    assert_done(cudaMemsetAsync(other, 0, nbytes, stream));
    assert_done(cudaMemcpyAsync(here, other, nbytes, cudaMemcpyDeviceToDevice, stream));
    tern_sim_count(&counts);
    assert_int_equal(counts.copies_within, 2);
    assert_int_equal(counts.copies_across, 2);
    assert_int_equal(counts.copies_to_host, 3);
    assert_int_equal(counts.copies_to_device, 0);
    assert_int_equal(counts.memsets, 1);
    assert_int_equal(counts.copy_waits, 3);
    assert_int_equal(counts.stream_waits, 0);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(here));
    assert_done(cudaFree(there));
    assert_done(cudaFree(other));
}

static void waits_are_noted_with_who_waits_for_whom(void **state)
{
    (void)state;
    cudaStream_t here = new_stream(cudaStreamNonBlocking), there;
    assert_done(cudaSetDevice(1));
    there = new_stream(cudaStreamNonBlocking);
    assert_done(cudaSetDevice(0));
    cudaEvent_t event = new_event();
    tern_sim_trace_waits();
    assert_int_equal(tern_sim_waits(NULL, 0), 0);
    assert_done(cudaEventRecord(event, here));
    assert_done(cudaStreamWaitEvent(there, event, 0));
    assert_done(cudaStreamSynchronize(there));
    tern_sim_wait waits[3];
    assert_int_equal(tern_sim_waits(waits, 3), 2);
    assert_int_equal(waits[0].waiter, TERN_SIM_STREAM_ON_EVENT);
    assert_int_equal(waits[0].device, 1);
    assert_ptr_equal(waits[0].stream, there);
    assert_int_equal(waits[0].on_device, 0);
    assert_ptr_equal(waits[0].on_stream, here);
    assert_int_equal(waits[1].waiter, TERN_SIM_HOST_ON_STREAM);
    assert_int_equal(waits[1].device, -1);
    assert_ptr_equal(waits[1].on_stream, there);
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(here));
    assert_done(cudaStreamDestroy(there));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_runs_out_and_comes_back),
        cmocka_unit_test(meddling_changes_the_device_and_leaves_an_error),
        cmocka_unit_test(the_nth_call_fails_on_demand),
        cmocka_unit_test(the_nth_call_of_any_kind_fails_on_demand),
        cmocka_unit_test(every_kind_of_call_fails_on_demand),
        cmocka_unit_test(calls_of_the_libraries_fail_on_demand),
        cmocka_unit_test(a_fault_stays_with_its_device),
        cmocka_unit_test(calls_are_counted),
        cmocka_unit_test(copies_are_counted_by_their_way),
        cmocka_unit_test(waits_are_noted_with_who_waits_for_whom),
    };
    return run_cases(tests, NULL, NULL);
}
