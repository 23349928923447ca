// SPDX-License-Identifier: Apache-2.0
// Kernels that are called with a dtype that they do not exist for, on every instruction set.
#include "kernel_check.h"
#include "support/lacking_kernel.h"

static void a_kernel_refuses_a_dtype_that_it_lacks_and_writes_nothing(void **state)
{
    (void)state;
    _Alignas(8) unsigned char memory[LACKING_BYTES], before[LACKING_BYTES];
    tern_generator *generator = tern_generator_new(1);
    memset(before, 1, sizeof before);
    FOR_EACH_TABLE(kernels)
    {
        memcpy(memory, before, sizeof memory);
        lacking_check_all(kernels, &kernel_exec, generator, memory);
        assert_memory_equal(memory, before, sizeof memory);
    }
    tern_generator_free(generator);
}

static void the_error_names_kernel_and_dtype(void **state)
{
    (void)state;
    int64_t x[2] = {1, 2};
    const tern_strided view = VIEW(x, TERN_INT64, 1, 2, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->softmax(&kernel_exec, false, &view, &view), TERN_ERR_DTYPE);
        assert_error(TERN_ERR_DTYPE, "softmax: no kernel for int64");
    }
}

// Of a list every tensor counts, not the first alone.
static void the_last_tensor_of_a_list_may_be_the_wrong_one(void **state)
{
    (void)state;
    float param[2] = {1, 1}, grad[2] = {1, 1};
    int64_t other[2] = {1, 1};
    const tern_step_tensor list[] = {
        {.param = param, .grad = grad, .numel = 2, .dtype = TERN_FLOAT32},
        {.param = other, .grad = other, .numel = 2, .dtype = TERN_INT64}};
    const tern_strided views[] = {VIEW(param, TERN_FLOAT32, 1, 1, 2),
                                  VIEW(other, TERN_INT64, 1, 1, 2)};
    double norm = 0;
    const tern_strided total = VIEW(&norm, TERN_FLOAT64, 1, 1, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->step(&kernel_exec, TERN_STEP_SGD, list, 2), TERN_ERR_DTYPE);
        assert_error(TERN_ERR_DTYPE, "no kernel for int64");
        assert_int_equal(kernels->average(&kernel_exec, 0.5, &other[0], list, 2), TERN_ERR_DTYPE);
        assert_error(TERN_ERR_DTYPE, "no kernel for int64");
        assert_int_equal(kernels->list_clip(&kernel_exec, 1, &total, views, 2), TERN_ERR_DTYPE);
        assert_error(TERN_ERR_DTYPE, "no kernel for int64");
        assert_true(param[0] == 1 && other[0] == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_refuses_a_dtype_that_it_lacks_and_writes_nothing),
        cmocka_unit_test(the_error_names_kernel_and_dtype),
        cmocka_unit_test(the_last_tensor_of_a_list_may_be_the_wrong_one),
    };
    return cmocka_run_group_tests(tests, kernel_setup, NULL);
}
