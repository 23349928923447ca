// SPDX-License-Identifier: Apache-2.0
// Other CUDA code in the process: what it does between two calls on the same thread.
#include "plugin_check.h"

static void another_current_device_changes_nothing(void **state)
{
    (void)state;
    plugin.meddle(1, cudaSuccess);
    piece x = take(0, 8 * MIB), y = take(0, 8 * MIB); // from the device
    plugin.meddle(1, cudaSuccess);
    fill(&x, 3); // memory of the other device would be refused
    plugin.meddle(1, cudaSuccess);
    copy(&y, &x);
    plugin.meddle(1, cudaSuccess);
    assert_near(first_of(&y), 3, 0, 0);
    plugin.meddle(1, cudaSuccess);
    give(&x);
    give(&y);
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
}

static void an_error_that_others_left_is_not_raised(void **state)
{
    (void)state;
    const int left = cudaErrorMemoryAllocation;
    tern_draw_state draws;
    piece x = take(0, MIB), y = take(1, MIB);
    plugin.meddle(0, left);
    fill(&x, 3);
    plugin.meddle(0, left);
    copy(&y, &x);
    assert_near(first_of(&y), 3, 0, 0);
    plugin.meddle(0, left);
    plugin.device->draws_write(0, (tern_draw_state){.seed = 4});
    plugin.meddle(0, left);
    plugin.device->draws_advance(0, 1);
    plugin.meddle(0, left);
    plugin.device->fault_clear(0);
    assert_int_equal(plugin.device->draws_read(0, &draws), TERN_OK);
    assert_int_equal(draws.base, 1);
    assert_no_error();
    give(&x);
    give(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_current_device_changes_nothing),
        cmocka_unit_test(an_error_that_others_left_is_not_raised),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
