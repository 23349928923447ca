// SPDX-License-Identifier: Apache-2.0
// The plugin's entry, and making a device ready while calls fail.
#include "plugin_check.h"
#include "device/abi.h"

static void another_version_of_the_library_gets_no_tables(void **state)
{
    (void)state;
    assert_null(plugin.entry(TERN_ABI_HASH + 1, plugin.host));
    assert_null(plugin.entry(TERN_ABI_HASH, NULL));
    assert_non_null(plugin.entry(TERN_ABI_HASH, plugin.host));
}

// The words of a table are its slots.
static void assert_full(const void *table, size_t size)
{
    const void *const *slots = table;
    for (size_t i = 0; i < size / sizeof *slots; i++)
        if (!slots[i])
            fail_msg("slot %zu is empty", i);
}

static void the_tables_have_every_slot(void **state)
{
    (void)state;
    assert_full(plugin.device, sizeof *plugin.device);
    assert_full(plugin.kernels, sizeof *plugin.kernels);
    assert_full(plugin.cuda, sizeof *plugin.cuda);
}

static void a_device_opens_when_the_calls_that_failed_work_again(void **state)
{
    (void)state;
    const enum tern_sim_call calls[] = {TERN_SIM_MALLOC, TERN_SIM_HOST_ALLOC,
                                        TERN_SIM_STREAM_CREATE, TERN_SIM_MEMSET};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int n = 1;; n++) {
            const tern_sim_counts before = counts();
            plugin.fail_call(calls[i], n, cudaErrorUnknown);
            const tern_status status = plugin.device->open(0, (tern_draw_state){.seed = 0});
            plugin.fail_none();
            if (!status) {
                assert_true(n > 1);
                break;
            }
            assert_error(TERN_ERR_DEVICE, "cuda:0 cannot be used: CUDA: ");
            assert_int_equal(counts().live_bytes, before.live_bytes);
            assert_int_equal(counts().host_allocs - before.host_allocs,
                             counts().host_frees - before.host_frees);
        }
    }
    piece x = take(0, MIB);
    fill(&x, 2);
    assert_near(first_of(&x), 2, 0, 0);
    give(&x);
}

static void a_device_without_kernels_does_not_open(void **state)
{
    (void)state;
    const tern_sim_counts before = counts();
    plugin.fail_call(TERN_SIM_LAUNCH, 1, cudaErrorNoKernelImageForDevice);
    assert_int_equal(plugin.device->open(0, (tern_draw_state){.seed = 0}), TERN_ERR_DEVICE);
    assert_error(TERN_ERR_DEVICE, "(cudaErrorNoKernelImageForDevice): tern was built for other "
                                  "GPUs, its option gpu_archs says for which");
    plugin.fail_none();
    assert_int_equal(counts().live_bytes, before.live_bytes);
    assert_int_equal(counts().host_allocs - before.host_allocs,
                     counts().host_frees - before.host_frees);
}

static void a_device_opens_while_another_one_is_captured(void **state)
{
    (void)state;
    assert_int_equal(plugin.cuda->capture_begin(0), TERN_OK);
    assert_int_equal(plugin.device->open(1, (tern_draw_state){.seed = 0}), TERN_OK);
    void *graph = plugin.cuda->capture_end(0, false);
    assert_no_error();
    plugin.cuda->graph_free(graph);
}

static int only_the_plugin(void **state)
{
    (void)state;
    open_plugin();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_version_of_the_library_gets_no_tables),
        cmocka_unit_test(the_tables_have_every_slot),
        cmocka_unit_test(a_device_without_kernels_does_not_open),
        cmocka_unit_test(a_device_opens_when_the_calls_that_failed_work_again),
        cmocka_unit_test(a_device_opens_while_another_one_is_captured),
    };
    return cmocka_run_group_tests(tests, only_the_plugin, NULL);
}
