// SPDX-License-Identifier: Apache-2.0
// What the environment says of the simulated devices: how many, which, how large. It is read once,
// so each case runs in a process of its own.
#include "check_sim.h"

#include <sys/wait.h>

// Ends well when `body` does, in a process of its own with this in the environment.
static void in_child(const char *name, const char *value, void (*body)(void))
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

static int count_of_devices(void)
{
    int count = -1;
    cudaError_t error = cudaGetDeviceCount(&count);
    return error == cudaSuccess ? count : -(int)error;
}

// The number that the device has where nothing is renumbered.
static int physical_number(int device)
{
    struct cudaDeviceProp prop;
    require(cudaGetDeviceProperties(&prop, device) == cudaSuccess);
    return prop.pciBusID - 1;
}

static void see_four(void)
{
    require(count_of_devices() == 4);
    for (int i = 0; i < 4; i++)
        require(physical_number(i) == i);
}

static void see_one_less(void)
{
    require(count_of_devices() == 7);
}

static void see_third_and_first(void)
{
    require(count_of_devices() == 2);
    require(physical_number(0) == 2 && physical_number(1) == 0);
    require(cudaSetDevice(2) == cudaErrorInvalidDevice);
    require(cudaGetLastError() == cudaErrorInvalidDevice && !cudaGetLastError());
}

static void see_second(void)
{
    require(count_of_devices() == 1 && physical_number(0) == 1);
}

static void see_none(void)
{
    void *data;
    int device, version = -1;
    require(count_of_devices() == -(int)cudaErrorNoDevice);
    require(cudaSetDevice(0) == cudaErrorNoDevice);
    require(cudaGetDevice(&device) == cudaErrorNoDevice);
    require(cudaMalloc(&data, 1) == cudaErrorNoDevice);
    require(cudaDriverGetVersion(&version) == cudaSuccess);
}

static void the_environment_says_how_many_and_which(void **state)
{
    (void)state;
    in_child("TERN_SIM_SEED", "1", see_four);
    in_child("TERN_SIM_DEVICES", "7", see_one_less);
    in_child("TERN_SIM_DEVICES", "0", see_none);
    in_child("CUDA_VISIBLE_DEVICES", "2,0", see_third_and_first);
    in_child("CUDA_VISIBLE_DEVICES", "1,9,2", see_second); // ends at the first that is not there
    in_child("CUDA_VISIBLE_DEVICES", "1,-1,2", see_second);
    in_child("CUDA_VISIBLE_DEVICES", "", see_none);
    in_child("CUDA_VISIBLE_DEVICES", "-1", see_none);
    in_child("CUDA_VISIBLE_DEVICES", "1,1", see_none);
}

static size_t total_of(int device)
{
    size_t available = 0, total = 0;
    require(cudaSetDevice(device) == cudaSuccess);
    require(cudaMemGetInfo(&available, &total) == cudaSuccess && available == total);
    struct cudaDeviceProp prop;
    require(cudaGetDeviceProperties(&prop, device) == cudaSuccess);
    require(prop.totalGlobalMem == total);
    return total;
}

static void have_sizes(void)
{
    require(total_of(0) == 512 << 10 && total_of(1) == 3 << 20);
    require(total_of(2) == (size_t)1 << 30 && total_of(3) == (size_t)1 << 30);
}

static void have_sizes_of_their_own(void)
{
    setenv("TERN_SIM_MEMORY", "1M,2M,3M,4M", 1);
    require(total_of(0) == 4 << 20 && total_of(1) == 2 << 20);
}

static void memory_is_as_large_as_the_environment_says(void **state)
{
    (void)state;
    in_child("TERN_SIM_MEMORY", "512K,3M,1G", have_sizes);
    in_child("CUDA_VISIBLE_DEVICES", "3,1", have_sizes_of_their_own);
}

static void devices_are_simulated_ones(void **state)
{
    (void)state;
    struct cudaDeviceProp prop;
    int value;
    assert_done(cudaGetDeviceProperties(&prop, 1));
    assert_string_equal(prop.name, "tern simulated device");
    assert_int_equal(prop.major * 10 + prop.minor, 90);
    assert_done(cudaDriverGetVersion(&value));
    assert_int_equal(value, CUDART_VERSION);
    assert_done(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 1));
    assert_int_equal(value, 48 << 10);
    assert_done(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 1));
    assert_int_equal(value, 227 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_says_how_many_and_which), // before any other uses it
        cmocka_unit_test(memory_is_as_large_as_the_environment_says),
        cmocka_unit_test(devices_are_simulated_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
