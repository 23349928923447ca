// SPDX-License-Identifier: Apache-2.0
// The CPU backend's tables and how one of them is chosen.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tern/tensor.h>
#include <unistd.h>

#include <cmocka.h>

#include "cpu/backend.h"

static const char *const instruction_sets[] = {"portable", "avx2", "avx512"};
enum { SETS = sizeof instruction_sets / sizeof instruction_sets[0] };

// A table is a name and function pointers, all of one size.
static void every_kernel_slot_is_filled_for_every_instruction_set(void **state)
{
    (void)state;
    typedef void slot(void);
    slot *slots[(sizeof(tern_kernels) - sizeof(char *)) / sizeof(slot *)];
    int tables = 0;
    for (int s = 0; s < SETS; s++) {
        const tern_kernels *kernels = tern_cpu_kernel_table_for(instruction_sets[s]);
        if (!kernels)
            continue;
        tables++;
        assert_string_equal(kernels->name, instruction_sets[s]);
        memcpy(slots, (const char *)kernels + sizeof(char *), sizeof slots);
        for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
            if (!slots[i])
                print_message("%s: slot %zu is empty\n", kernels->name, i);
            assert_true(slots[i] != NULL);
        }
    }
    assert_true(tables >= 1);
}

static void an_unknown_instruction_set_has_no_table(void **state)
{
    (void)state;
    assert_null(tern_cpu_kernel_table_for("avx1024"));
    assert_null(tern_cpu_kernel_table_for(""));
}

static void the_device_table_is_complete(void **state)
{
    (void)state;
    const tern_device_table *device = tern_cpu_backend()->device;
    assert_string_equal(device->name, "cpu");
    assert_true(device->count && device->alloc && device->free && device->to_device);
    assert_true(device->to_host && device->across && device->synchronize && device->exec);
    assert_true(device->fault_seen && device->fault_publish && device->fault_read);
    assert_true(device->fault_clear && device->draws_write && device->draws_advance);
    assert_true(device->draws_read);
}

// The setting is read once in a process, so each value needs one of its own.
static int in_child_with(const char *name, const char *value, int (*answer)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        setenv(name, value, 1);
        _exit(answer());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int chosen_set(void)
{
    for (int s = 0; s < SETS; s++) {
        if (tern_cpu_backend()->kernels == tern_cpu_kernel_table_for(instruction_sets[s]))
            return s;
    }
    return SETS;
}

static void the_environment_chooses_the_instruction_set(void **state)
{
    (void)state;
    int best = 0;
    for (int s = 0; s < SETS; s++) {
        if (!tern_cpu_kernel_table_for(instruction_sets[s]))
            continue;
        best = s;
        assert_int_equal(in_child_with("TERN_CPU_ISA", instruction_sets[s], chosen_set), s);
    }
    assert_int_equal(in_child_with("TERN_CPU_ISA", "", chosen_set), best);
    assert_int_equal(in_child_with("TERN_CPU_ISA", "mmx", chosen_set), best);
}

static int device_count(void)
{
    return tern_cpu_backend()->device->count();
}

static void the_environment_sets_the_number_of_cpu_devices(void **state)
{
    (void)state;
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "3", device_count), 3);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "64", device_count), 64);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "65", device_count), 1);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "0", device_count), 1);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "two", device_count), 1);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "", device_count), 1);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", " 4", device_count), 1);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "+4", device_count), 1);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", "4 ", device_count), 1);
}

// With as many devices as there can be: the last one is used, the next one is refused by its name.
static int most_devices(void)
{
    const bool last = tern_zeros(tern_dims(1), .device = tern_cpu(TERN_MAX_DEVICES - 1)) != NULL;
    const bool next = tern_zeros(tern_dims(1), .device = tern_cpu(TERN_MAX_DEVICES)) != NULL;
    return last && !next && tern_error_code() == TERN_ERR_DEVICE &&
           strstr(tern_error_message(), "there is no device cpu:64: 64 of its kind are available");
}

static void an_index_past_the_most_devices_is_refused(void **state)
{
    (void)state;
    char most[16];
    snprintf(most, sizeof most, "%d", TERN_MAX_DEVICES);
    assert_int_equal(in_child_with("TERN_CPU_DEVICES", most, most_devices), true);
}

int main(void)
{
    // The parent must not read the settings before its children do.
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_chooses_the_instruction_set),
        cmocka_unit_test(the_environment_sets_the_number_of_cpu_devices),
        cmocka_unit_test(an_index_past_the_most_devices_is_refused),
        cmocka_unit_test(every_kernel_slot_is_filled_for_every_instruction_set),
        cmocka_unit_test(an_unknown_instruction_set_has_no_table),
        cmocka_unit_test(the_device_table_is_complete),
    };
    return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
