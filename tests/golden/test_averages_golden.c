// SPDX-License-Identifier: Apache-2.0
// Averaged models and update_bn give what PyTorch's do; exponential averages of float32 have its
// bits, where the processor rounds a b + c once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/backend.h"
#include "golden_test.h"

enum { UPDATES = 20, NUMEL = 75, BATCHES = 3, ROWS = 5, CHANNELS = 6 };

static tern_device device;

static tern_module *make_net(tern_dtype dtype)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 6), tern_nn_batch_norm1d(CHANNELS),
                                          tern_nn_relu(), tern_nn_linear(6, 3));
    return tern_module_to(tern_module_to_dtype(net, dtype), device);
}

// ---- states -------------------------------------------------------------------------------------

typedef struct flat_state {
    double values[NUMEL]; // of the floating tensors, in order
    int64_t at;
    int64_t tracked; // num_batches_tracked
} flat_state;

static tern_status set_entry(const tern_module_entry *entry, void *user)
{
    flat_state *s = user;
    tern_tensor *t = entry->tensor;
    tern_no_grad {
        if (tern_dtype_of(t) == TERN_INT64) {
            assert_non_null(tern_fill_(t, s->tracked));
        } else {
            assert_non_null(tern_copy_(
                t, tern_from_data(tern_shape_of(t), s->values + s->at, .dtype = TERN_FLOAT64)));
            s->at += tern_numel(t);
        }
    }
    return TERN_OK;
}

static tern_status get_entry(const tern_module_entry *entry, void *user)
{
    flat_state *s = user;
    tern_tensor *t = entry->tensor;
    if (tern_dtype_of(t) == TERN_INT64) {
        s->tracked = (int64_t)tern_item(t);
        return TERN_OK;
    }
    const size_t nbytes = (size_t)tern_numel(t) * sizeof(double);
    assert_int_equal(tern_to_host(tern_to_dtype(t, TERN_FLOAT64), s->values + s->at, nbytes),
                     TERN_OK);
    s->at += tern_numel(t);
    return TERN_OK;
}

static void set_state(tern_module *net, int update)
{
    const float *states =
        golden_values(golden_find("averages", "inputs"), "states", TERN_FLOAT32, UPDATES * NUMEL);
    flat_state s = {.tracked = 7 + 3 * update};
    for (int i = 0; i < NUMEL; i++)
        s.values[i] = (double)states[update * NUMEL + i];
    assert_int_equal(tern_module_each_state(net, set_entry, &s), TERN_OK);
}

// ---- what PyTorch has ---------------------------------------------------------------------------

static double value_at(const golden_case *c, const char *name, int64_t numel, int64_t i)
{
    const golden_array *a = golden_find_array(c, name);
    const void *values = golden_values(c, name, a->dtype, numel);
    return a->dtype == TERN_FLOAT64 ? ((const double *)values)[i]
                                    : (double)((const float *)values)[i];
}

static void check_values(const golden_case *c, const char *name, const double *values,
                         int64_t numel, bool exact)
{
    const bool is_double = golden_find_array(c, name)->dtype == TERN_FLOAT64;
    const double tolerance = exact ? 0 : is_double ? 1e-9 : 1e-6;
    for (int64_t i = 0; i < numel; i++)
        assert_near(name, i, values[i], value_at(c, name, numel, i), tolerance, tolerance);
}

static void check_average(const golden_case *c, tern_module *average, bool has_bits)
{
    flat_state s = {0};
    assert_int_equal(tern_module_each_state(tern_module_child(average, "module"), get_entry, &s),
                     TERN_OK);
    assert_int_equal(s.at, NUMEL);
    check_values(c, "average", s.values, NUMEL, has_bits);
    assert_int_equal(s.tracked, golden_number(c, "batches_tracked", 0));
    assert_int_equal(tern_item(tern_module_buffer(average, "n_averaged")),
                     golden_number(c, "n_averaged", 0));
}

static void check_update_bn(const golden_case *c, tern_module *average, tern_dtype dtype)
{
    const float *batches = golden_values(golden_find("averages", "inputs"), "batches", TERN_FLOAT32,
                                         BATCHES * ROWS * 4);
    tern_tensor *x = tern_from_data(tern_dims(BATCHES * ROWS, 4), batches);
    tern_dataset *data = tern_data_tensors(tern_to(tern_to_dtype(x, dtype), device));
    tern_loader *loader = tern_loader_new(data, .batch_size = ROWS, .device = device);
    assert_int_equal(tern_update_bn(average, loader), TERN_OK);
    static const char *const names[] = {"module.1.running_mean", "module.1.running_var"};
    for (int i = 0; i < 2; i++) {
        double values[CHANNELS];
        tern_tensor *t = tern_to_dtype(tern_module_buffer(average, names[i]), TERN_FLOAT64);
        assert_int_equal(tern_to_host(t, values, sizeof values), TERN_OK);
        check_values(c, i ? "var" : "mean", values, CHANNELS, false);
    }
    assert_int_equal(tern_item(tern_module_buffer(average, "module.1.num_batches_tracked")),
                     golden_number(c, "tracked", 0));
    tern_free(loader, data);
}

// The avg_fn of make_averages.py.
static tern_tensor *polynomial(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                               void *user)
{
    const double eta = *(const double *)user;
    tern_tensor *next = tern_add_scalar(n_averaged, 1 + eta);
    tern_tensor *way = tern_mul_scalar(tern_sub(value, average), eta + 1);
    return tern_add(average, tern_div(way, next));
}

static tern_module *make_average(tern_module *net, double decay, bool use_buffers)
{
    static double eta = 3;
    if (decay == -2)
        return tern_averaged_model_avg_fn(net, polynomial, .user = &eta,
                                          .use_buffers = use_buffers);
    return decay < 0 ? tern_averaged_model_swa(net, .use_buffers = use_buffers)
                     : tern_averaged_model_ema(net, .decay = decay, .use_buffers = use_buffers);
}

static void averages_are_pytorchs(void **state)
{
    const golden_case *c = *state;
    const tern_dtype dtype = golden_find_array(c, "average")->dtype;
    const double decay = golden_number(c, "decay", 0);
    const bool use_buffers = golden_number(c, "use_buffers", 0) != 0;
    const bool fuses = strcmp(tern_kernels_of(device)->name, "portable") != 0;
    tern_scope scope = tern_scope_open();
    tern_module *net = make_net(dtype);
    tern_module *average = make_average(net, decay, use_buffers);
    for (int i = 0; i < UPDATES; i++) {
        set_state(net, i);
        assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    }
    check_average(c, average, fuses && decay >= 0);
    check_update_bn(c, average, dtype);
    assert_fine();
    tern_free(average, net);
    tern_scope_close(scope);
}

static tern_status add_key(const tern_module_entry *entry, void *user)
{
    strcat(strcat(user, entry->name), "\n");
    return TERN_OK;
}

static void keys_are_pytorchs(void **state)
{
    char keys[1024] = "";
    tern_module *net = make_net(TERN_FLOAT32), *average = tern_averaged_model_swa(net);
    (void)state;
    assert_int_equal(tern_module_each_state(average, add_key, keys), TERN_OK);
    keys[strlen(keys) - 1] = 0; // the last newline
    assert_string_equal(keys, golden_find("averages", "keys")->text);
    tern_free(average, net);
}

#define MOST_CASES 32

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    const golden_file *file = golden_read("averages");
    static struct CMUnitTest tests[MOST_CASES];
    int count = 0;
    tests[count++] =
        (struct CMUnitTest){"keys are PyTorch's", keys_are_pytorchs, start, leaves_nothing, NULL};
    for (int i = 0; i < file->count && count < MOST_CASES; i++)
        if (golden_find_array(&file->cases[i], "average"))
            tests[count++] =
                (struct CMUnitTest){file->cases[i].name, averages_are_pytorchs, start,
                                    leaves_nothing, (void *)(uintptr_t)&file->cases[i]};
    return _cmocka_run_group_tests("averages", tests, (size_t)count, NULL, NULL);
}
