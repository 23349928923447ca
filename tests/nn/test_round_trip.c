// SPDX-License-Identifier: Apache-2.0
// Every module's state comes back bit for bit, and what the module computes with it, whatever it
// was before and wherever it is; test_round_trip [DEVICE].
#include "module_rows.h"
#include "support/state_check.h"

#define MOST_BYTES 4096

static tern_device other; // a device besides the CPU

// ---- comparing ----------------------------------------------------------------------------------

// Every value of the module's state is the saved one, or none is.
static void check_values(tern_module *m, const tern_state *saved, bool same)
{
    tern_state *now = tern_module_state_dict(m);
    check_states(now, saved, same);
    tern_state_free(now);
}

// What a module gives in both modes.
typedef struct outcome {
    size_t size[2];
    unsigned char bytes[2][MOST_BYTES];
} outcome;

static outcome outcome_of(const public_module *row, tern_module *m, tern_device device)
{
    outcome o = {.size = {0}};
    for (int mode = 0; mode < 2; mode++) {
        tern_module_train(m, mode);
        tern_tensor *y = run_row(row, m, device);
        assert_no_error();
        if (!y)
            continue;
        o.size[mode] = (size_t)tern_numel(y) * tern_dtype_size(tern_dtype_of(y));
        assert_true(o.size[mode] <= MOST_BYTES);
        assert_int_equal(tern_to_host(y, o.bytes[mode], o.size[mode]), TERN_OK);
    }
    return o;
}

// ---- round trips --------------------------------------------------------------------------------

static void change_number(tern_state *state, const char *name)
{
    int64_t whole;
    double number;
    if (tern_state_type_of(state, name) == TERN_STATE_INT) {
        assert_int_equal(tern_state_get_int(state, name, &whole), TERN_OK);
        assert_int_equal(tern_state_set_int(state, name, whole + 1), TERN_OK);
    } else if (tern_state_type_of(state, name) == TERN_STATE_DOUBLE) {
        assert_int_equal(tern_state_get_double(state, name, &number), TERN_OK);
        assert_int_equal(tern_state_set_double(state, name, number + 1), TERN_OK);
    }
}

static tern_status flip(const tern_module_entry *entry, void *user)
{
    (void)user;
    unsigned char *bytes = tern_data(entry->tensor);
    const size_t size =
        (size_t)tern_numel(entry->tensor) * tern_dtype_size(tern_dtype_of(entry->tensor));
    for (size_t i = 0; i < size; i++)
        bytes[i] ^= 1;
    return TERN_OK;
}

// Changes every value of a module on the CPU: the bytes of tensors in place, numbers by loading.
static void disturb(tern_module *m)
{
    tern_state *state = tern_module_state_dict(m);
    for (int64_t i = 0; i < tern_state_count(state); i++)
        change_number(state, tern_state_name_at(state, i));
    assert_int_equal(tern_module_load_state_dict(m, state), TERN_OK);
    assert_int_equal(tern_module_each_state(m, flip, NULL), TERN_OK);
    tern_state_free(state);
}

static tern_module *made(const public_module *row, uint64_t seed)
{
    tern_manual_seed(seed);
    tern_module *m = row->make();
    assert_no_error();
    return m;
}

static void load(tern_module *m, const tern_state *saved)
{
    assert_int_equal(tern_module_load_state_dict(m, saved), TERN_OK);
    check_values(m, saved, true);
}

static void check_outcome(const public_module *row, tern_module *m, tern_device device,
                          const outcome *expected)
{
    const outcome o = outcome_of(row, m, device);
    assert_memory_equal(&o, expected, sizeof o);
}

static void a_state_comes_back_into_the_module_and_a_new_one(const public_module *row)
{
    tern_module *m = made(row, 1), *fresh = made(row, 2);
    tern_state *own = tern_module_state_dict(m), *saved = tern_state_copy(own);
    const outcome before = outcome_of(row, m, tern_cpu(0));
    disturb(m);
    check_values(m, saved, false);
    load(m, saved);
    check_outcome(row, m, tern_cpu(0), &before);
    disturb(fresh);
    check_values(fresh, saved, false);
    load(fresh, saved);
    check_outcome(row, fresh, tern_cpu(0), &before);
    tern_state_free(own);
    tern_state_free(saved);
    tern_module_free(m);
    tern_module_free(fresh);
}

static void a_state_comes_to_another_device_and_back(const public_module *row)
{
    tern_module *m = made(row, 1), *there = made(row, 2), *back = made(row, 3);
    tern_state *own = tern_module_state_dict(m), *saved = tern_state_copy(own);
    disturb(there);
    assert_non_null(tern_module_to(there, other));
    load(there, saved);
    tern_state *moved = tern_module_state_dict(there);
    disturb(back);
    load(back, moved);
    const outcome before = outcome_of(row, m, tern_cpu(0));
    check_outcome(row, back, tern_cpu(0), &before);
    load(m, saved);
    assert_non_null(tern_module_to(m, other));
    const outcome on_it = outcome_of(row, m, other);
    check_outcome(row, there, other, &on_it);
    tern_state_free(own);
    tern_state_free(saved);
    tern_state_free(moved);
    tern_module_free(m);
    tern_module_free(there);
    tern_module_free(back);
}

static void run_case(void **state)
{
    const int64_t number = (int64_t)(intptr_t)*state;
    const public_module row = module_row((int)(number / 2));
    if (number % 2)
        a_state_comes_to_another_device_and_back(&row);
    else
        a_state_comes_back_into_the_module_and_a_new_one(&row);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[2 * MODULE_ROWS];
    static char names[2 * MODULE_ROWS][128];
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu:1", &other))
        return tern_error_print(stderr);
    for (int i = 0; i < 2 * MODULE_ROWS; i++) {
        snprintf(names[i], sizeof names[i], "a_state_comes_%s: %s",
                 i % 2 ? "to_another_device_and_back" : "back_into_the_module_and_a_new_one",
                 module_row(i / 2).name);
        tests[i] =
            (struct CMUnitTest){names[i], run_case, check_open, check_close, (void *)(intptr_t)i};
    }
    return _cmocka_run_group_tests("round trip", tests, 2 * MODULE_ROWS, NULL, check_shutdown);
}
