// SPDX-License-Identifier: Apache-2.0
// A device that is full, or out of order, is asked about like the others, and chosen last.
#include "device_check.h"
#include "sim.h"
#include "device/backend.h"

enum { DEVICES = 3 };

static bool has_nvml(void)
{
    return getenv("TERN_NVML_FREE") != NULL;
}

static void check_nothing_was_opened(void)
{
    for (int i = 0; i < DEVICES; i++)
        assert_false(tern_device_is_open(tern_cuda(i)));
    assert_int_equal(sim.calls(TERN_SIM_MALLOC), 0);
    assert_int_equal(sim.calls(TERN_SIM_STREAM_CREATE), 0);
}

static void check_order(int first, int second, int third)
{
    tern_device list[DEVICES];
    assert_int_equal(tern_cuda_devices_by_free_memory(list, DEVICES), TERN_OK);
    assert_no_error();
    assert_int_equal(list[0].index, first);
    assert_int_equal(list[1].index, second);
    assert_int_equal(list[2].index, third);
}

static void names_and_properties_open_no_device(void **state)
{
    (void)state;
    tern_device device;
    tern_cuda_properties properties;
    assert_int_equal(tern_device_parse("cuda:2", &device), TERN_OK);
    assert_int_equal(tern_cuda_get_properties(0, &properties), TERN_OK);
    assert_int_equal(properties.total_memory, 1024);
    check_nothing_was_opened();
}

// cuda:0 has 1 KiB; of the others NVML says 100 and 300 MiB, CUDA 1 and 2 GiB.
static void a_full_device_comes_last_and_stays_closed(void **state)
{
    (void)state;
    tern_cuda_memory memory;
    check_order(2, 1, 0);
    assert_int_equal(tern_cuda_get_memory(2, &memory), TERN_OK);
    assert_int_equal(memory.free, (int64_t)(has_nvml() ? 300 : 2048) << 20);
    assert_int_equal(memory.total, (int64_t)2 << 30);
    assert_int_equal(memory.reserved, 0);
    check_nothing_was_opened();
}

static void a_device_that_cannot_be_asked_comes_last(void **state)
{
    (void)state;
    tern_cuda_memory memory;
    sim.break_device(2, SIM_LAUNCH_FAILURE);
    if (has_nvml())
        check_order(2, 1, 0);
    else {
        check_order(1, 0, 2);
        assert_int_equal(tern_cuda_get_memory(2, &memory), TERN_ERR_DEVICE);
        assert_error(TERN_ERR_DEVICE, "cuda_get_memory");
    }
    sim.break_device(2, 0);
    check_nothing_was_opened();
}

static void an_error_that_was_pending_stays(void **state)
{
    (void)state;
    tern_device list[DEVICES];
    assert_null(tern_zeros(tern_dims(-2)));
    sim.break_device(1, SIM_LAUNCH_FAILURE);
    assert_int_equal(tern_cuda_devices_by_free_memory(list, DEVICES), TERN_OK);
    sim.break_device(1, 0);
    assert_error(TERN_ERR_SHAPE, "zeros");
}

static void the_others_work(void **state)
{
    (void)state;
    tern_cuda_memory memory;
    assert_null(tern_zeros(tern_dims(3), .device = tern_cuda(0)));
    assert_error(TERN_ERR_NOMEM, "cuda:0 cannot be used");
    assert_non_null(tern_zeros(tern_dims(3), .device = tern_cuda(1)));
    assert_true(tern_device_is_open(tern_cuda(1)));
    assert_int_equal(tern_cuda_get_memory(1, &memory), TERN_OK);
    assert_true(memory.allocated > 0 && memory.free < memory.total);
}

static char warning[300];

static void keep_warning(tern_log_level level, const char *line, void *user)
{
    (void)user;
    if (level == TERN_LOG_WARN)
        snprintf(warning, sizeof warning, "%s", line);
}

static void devices_that_are_not_alike_are_a_warning(void **state)
{
    (void)state;
    const tern_device devices[] = {tern_cuda(2), tern_cuda(1)};
    tern_set_log(keep_warning, NULL);
    tern_module *parallel = tern_nn_data_parallel(tern_nn_relu(), .devices = devices, .count = 2);
    tern_set_log(NULL, NULL);
    assert_non_null(parallel);
    assert_non_null(strstr(warning, "nn_data_parallel: cuda:1 has 50 % of the memory of cuda:2: "));
    tern_module_free(parallel);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(names_and_properties_open_no_device),
        CHECK_TEST(a_full_device_comes_last_and_stays_closed),
        CHECK_TEST(a_device_that_cannot_be_asked_comes_last),
        CHECK_TEST(an_error_that_was_pending_stays),
        CHECK_TEST(the_others_work),
        CHECK_TEST(devices_that_are_not_alike_are_a_warning),
    };
    if (!nothing && !sim_begin()) {
        puts("skipped: no real device is made full");
        return 77;
    }
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
