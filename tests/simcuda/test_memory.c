// SPDX-License-Identifier: Apache-2.0
// Memory that runs out, copies of every kind, and launches that a device refuses.
#include "check_sim.h"

static int attribute(enum cudaDeviceAttr which)
{
    int value = 0;
    assert_done(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static void more_memory_than_there_is_is_refused(void **state)
{
    (void)state;
    void *data;
    size_t available, total;
    assert_done(cudaMemGetInfo(&available, &total));
    assert_in_range(available, 1, total);
    assert_answer(cudaMalloc(&data, total + 1), cudaErrorMemoryAllocation);
    assert_done(cudaGetLastError());
    assert_done(cudaMalloc(&data, 400 << 10));
    assert_done(cudaFree(data));
}

static void nothing_can_be_freed(void **state)
{
    (void)state;
    assert_done(cudaFree(NULL));
}

static void device_memory_is_aligned(void **state)
{
    (void)state;
    for (size_t nbytes = 1; nbytes < 3000; nbytes += 333) {
        void *data;
        assert_done(cudaMalloc(&data, nbytes));
        assert_int_equal((uintptr_t)data % 256, 0);
        assert_done(cudaFree(data));
    }
}

static void pointers_tell_what_they_are(void **state)
{
    (void)state;
    struct cudaPointerAttributes a;
    void *pinned;
    float *x = new_buffer(0);
    assert_done(cudaMallocHost(&pinned, 100));
    assert_done(cudaPointerGetAttributes(&a, x + 3));
    assert_int_equal(a.type, cudaMemoryTypeDevice);
    assert_int_equal(a.device, 0);
    assert_ptr_equal(a.devicePointer, x + 3);
    assert_done(cudaPointerGetAttributes(&a, pinned));
    assert_int_equal(a.type, cudaMemoryTypeHost);
    assert_done(cudaPointerGetAttributes(&a, &a));
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    assert_done(cudaFree(x));
    assert_done(cudaFreeHost(pinned));
}

static void assert_holds(const float *buffer, float value, cudaStream_t stream)
{
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(buffer) == value);
}

static void copies_go_within_a_device_and_to_the_host(void **state)
{
    (void)state;
    float *x = new_buffer(1), *y = new_buffer(2), host[floats];
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaMemcpyAsync(y, x, sizeof host, cudaMemcpyDeviceToDevice, stream));
    assert_done(cudaMemsetAsync(x, 0, sizeof host, stream));
    assert_done(cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDefault, stream));
    assert_done(cudaStreamSynchronize(stream));
    assert_true(host[0] == 1 && host[floats - 1] == 1);
    assert_holds(x, 0, stream);
    assert_done(cudaMemcpyAsync(x, y, sizeof host, cudaMemcpyDefault, stream));
    assert_holds(x, 1, stream);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
}

static void copies_go_between_devices_without_peer_access(void **state)
{
    (void)state;
    need_two_devices();
    struct cudaPointerAttributes a;
    float *here = new_buffer(1), *other = new_buffer(2);
    assert_done(cudaSetDevice(1));
    float *there = new_buffer(3);
    assert_done(cudaPointerGetAttributes(&a, there));
    assert_int_equal(a.device, 1);
    assert_done(cudaSetDevice(0));
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    const size_t nbytes = floats * sizeof(float);
    assert_done(cudaMemcpyPeerAsync(here, 0, there, 1, nbytes, stream));
    assert_holds(here, 3, stream);
    assert_done(cudaMemcpyAsync(there, other, nbytes, cudaMemcpyDefault, stream));
    assert_done(cudaMemcpyAsync(here, there, nbytes, cudaMemcpyDefault, stream));
    assert_holds(here, 2, stream);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(here));
    assert_done(cudaFree(there));
    assert_done(cudaFree(other));
}

static void launches_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    float *x = new_buffer(0);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    const int usual = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    launch_too_large(stream, x);
    assert_answer(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_done(launch_with_shared(stream, x, (size_t)usual, 0));
    assert_refused(launch_with_shared(stream, x, (size_t)usual + 4, 0), cudaErrorInvalidValue);
    assert_answer(launch_with_shared(stream, x, 4, most + 4), cudaErrorInvalidValue);
    assert_done(launch_with_shared(stream, x, (size_t)most, most));
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 1);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_memory_than_there_is_is_refused),
        cmocka_unit_test(nothing_can_be_freed),
        cmocka_unit_test(device_memory_is_aligned),
        cmocka_unit_test(pointers_tell_what_they_are),
        cmocka_unit_test(copies_go_within_a_device_and_to_the_host),
        cmocka_unit_test(copies_go_between_devices_without_peer_access),
        cmocka_unit_test(launches_beyond_the_limits_are_refused),
    };
    return run_cases(tests, NULL, NULL);
}
