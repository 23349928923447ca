// SPDX-License-Identifier: Apache-2.0
// For tests of kernels that report what only they can see to be wrong: where they run, and what the
// fault record of device 0 then holds.
#ifndef TERN_TESTS_CUDA_FAULT_CHECK_H
#define TERN_TESTS_CUDA_FAULT_CHECK_H

#include "plugin_check.h"

#define SITE 5

static tern_exec exec;

static inline int clean_fault(void **state)
{
    (void)state;
    plugin.device->fault_clear(0);
    exec = exec_of(0);
    exec.location = SITE;
    return 0;
}

static inline tern_fault fault_now(void)
{
    tern_fault fault;
    assert_int_equal(plugin.device->fault_read(0, &fault), TERN_OK);
    return fault;
}

static inline void expect_fault(uint32_t location, int64_t element, int64_t value)
{
    const tern_fault fault = fault_now();
    assert_int_equal(fault.set, 1);
    assert_int_equal(fault.location, location);
    assert_int_equal(fault.element, element);
    assert_int_equal(fault.value, value);
}

#endif
