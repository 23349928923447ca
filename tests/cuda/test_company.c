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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_current_device_changes_nothing),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
