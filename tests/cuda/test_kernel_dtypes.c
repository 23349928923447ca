// SPDX-License-Identifier: Apache-2.0
// Kernels of a CUDA device that are called with a dtype that they do not exist for.
#include "support/lacking_kernel.h"
#include "mirror.h"

static unsigned char memory[LACKING_BYTES], before[LACKING_BYTES];

static void a_kernel_refuses_a_dtype_that_it_lacks_and_writes_nothing(void **state)
{
    (void)state;
    const tern_exec exec = exec_of(0);
    tern_generator *generator = tern_generator_new(1);
    memset(before, 1, sizeof before);
    memcpy(memory, before, sizeof memory);
    mirror on_device = MIRROR(memory);
    lacking_check_all(plugin.kernels, &exec, generator, on_device.device.data);
    mirror_end(&on_device);
    assert_memory_equal(memory, before, sizeof memory);
    tern_generator_free(generator);
}

// No tensor has it, but a switch over dtypes has a case for it.
static void a_kernel_of_every_dtype_refuses_one_that_is_not_specified(void **state)
{
    (void)state;
    const tern_exec exec = exec_of(0);
    mirror on_device = MIRROR(memory);
    const tern_strided y = VIEW(on_device.device.data, TERN_DTYPE_UNSPECIFIED, 2);
    const tern_strided index = VIEW(on_device.device.data, TERN_INT64, 2);
    const tern_scalar zero = tern_scalar_int(0);
    const tern_kernels *kernels = plugin.kernels;
    assert_int_equal(kernels->fill(&exec, &y, zero), TERN_ERR_DTYPE);
    assert_int_equal(kernels->copy(&exec, &y, &y), TERN_ERR_DTYPE);
    assert_int_equal(kernels->arange(&exec, &y, zero, zero), TERN_ERR_DTYPE);
    assert_int_equal(kernels->where(&exec, &y, &y, &y, &y), TERN_ERR_DTYPE);
    assert_int_equal(kernels->reduce(&exec, TERN_REDUCE_SUM, 0, &y, &y), TERN_ERR_DTYPE);
    assert_int_equal(kernels->arg_reduce(&exec, true, NULL, &index, &y, 0), TERN_ERR_DTYPE);
    assert_int_equal(kernels->gather(&exec, &y, &y, &index, 0), TERN_ERR_DTYPE);
    assert_int_equal(kernels->scatter_add(&exec, &y, &y, &index, 0, false), TERN_ERR_DTYPE);
    assert_error(TERN_ERR_DTYPE, "fill: no kernel for unspecified");
    mirror_end(&on_device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_refuses_a_dtype_that_it_lacks_and_writes_nothing),
        cmocka_unit_test(a_kernel_of_every_dtype_refuses_one_that_is_not_specified),
    };
    open_plugin();
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
