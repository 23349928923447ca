// SPDX-License-Identifier: Apache-2.0
// Devices: what they say of themselves, and which calls they refuse.
#include "check_sim.h"

#include <sys/wait.h>

static int count_of_devices(void)
{
    int count = 0;
    assert_done(cudaGetDeviceCount(&count));
    return count;
}

static void attributes_agree_with_properties(void **state)
{
    (void)state;
    static const enum cudaDeviceAttr attributes[] = {
        cudaDevAttrComputeCapabilityMajor,
        cudaDevAttrComputeCapabilityMinor,
        cudaDevAttrMultiProcessorCount,
        cudaDevAttrMaxThreadsPerBlock,
        cudaDevAttrMaxSharedMemoryPerBlock,
        cudaDevAttrMaxSharedMemoryPerBlockOptin,
        cudaDevAttrWarpSize,
    };
    for (int device = 0; device < count_of_devices(); device++) {
        struct cudaDeviceProp prop;
        assert_done(cudaGetDeviceProperties(&prop, device));
        assert_int_not_equal(prop.name[0], '\0');
        const size_t expected[] = {
            (size_t)prop.major,
            (size_t)prop.minor,
            (size_t)prop.multiProcessorCount,
            (size_t)prop.maxThreadsPerBlock,
            prop.sharedMemPerBlock,
            prop.sharedMemPerBlockOptin,
            (size_t)prop.warpSize,
        };
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            int value = -1;
            assert_done(cudaDeviceGetAttribute(&value, attributes[i], device));
            assert_int_equal(value, expected[i]);
        }
    }
}

static void devices_that_do_not_exist_are_101(void **state)
{
    (void)state;
    struct cudaDeviceProp prop;
    int value;
    const int wrong[] = {-1, count_of_devices()};
    for (int i = 0; i < 2; i++) {
        assert_answer(cudaGetDeviceProperties(&prop, wrong[i]), cudaErrorInvalidDevice);
        assert_answer(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, wrong[i]),
                      cudaErrorInvalidDevice);
        assert_answer(cudaSetDevice(wrong[i]), cudaErrorInvalidDevice);
    }
    assert_done(cudaGetDevice(&value));
    assert_int_equal(value, 0);
}

static void the_driver_is_as_new_as_the_runtime(void **state)
{
    (void)state;
    int runtime, driver;
    assert_done(cudaRuntimeGetVersion(&runtime));
    assert_int_equal(runtime, CUDART_VERSION);
    assert_done(cudaDriverGetVersion(&driver));
    assert_in_range(driver / 1000, runtime / 1000, 1000); // the same major version will do
}

static void peers_reach_each_others_memory_once_allowed(void **state)
{
    (void)state;
    int can = 0;
    need_two_devices();
    assert_done(cudaDeviceCanAccessPeer(&can, 1, 1));
    assert_false(can);
    assert_done(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (!can) {
        print_message("device 1 cannot access device 0\n");
        skip();
    }
    float *x = new_buffer(3);
    assert_done(cudaSetDevice(1));
    assert_answer(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    assert_answer(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
    assert_answer(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue);
    assert_done(cudaDeviceEnablePeerAccess(0, 0));
    assert_answer(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    float *y = new_buffer(0);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    launch_copy(stream, y, x);
    assert_done(cudaGetLastError());
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(y) == 3);
    assert_done(cudaDeviceDisablePeerAccess(0));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
    assert_done(cudaSetDevice(0));
}

// CUDA's manual does not say with which code.
static void a_forked_child_is_refused(void **state)
{
    (void)state;
    assert_done(cudaFree(new_buffer(0))); // the runtime is in use
    pid_t child = fork();
    if (child == 0) {
        void *data;
        alarm(20);
        _exit((int)cudaMalloc(&data, 8));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_refused((cudaError_t)WEXITSTATUS(status), cudaErrorInitializationError);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_agree_with_properties),
        cmocka_unit_test(devices_that_do_not_exist_are_101),
        cmocka_unit_test(the_driver_is_as_new_as_the_runtime),
        cmocka_unit_test(peers_reach_each_others_memory_once_allowed),
        cmocka_unit_test(a_forked_child_is_refused),
    };
    return run_cases(tests, NULL, NULL);
}
