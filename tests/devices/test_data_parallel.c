// SPDX-License-Identifier: Apache-2.0
// Data parallel as users meet it: what goes in and comes out, what replicas share with the module,
// what is refused.
#include <pthread.h>
#include "device/backend.h"
#include "devices/parallel_check.h"
#include "devices/sim.h"
#include "unit/own_module.h"

// ---- inputs and outputs -------------------------------------------------------------------------

static _Atomic int calls;
static _Atomic int64_t rows_of[TERN_MAX_DEVICES];

// What a piece is like; the sum and the mean of it.
static tern_status call_inspect(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    calls++;
    rows_of[tern_device_of(x).index] = tern_size(x, 0);
    for (int i = 1; i < in->count; i++)
        if (in->at[i] && !is_on(in->at[i], tern_device_of(x)))
            return TERN_ERR_DEVICE;
    out->at[out->count++] = tern_sum(x, tern_axes(1), false);
    out->at[out->count++] = tern_mean(x, TERN_ALL_AXES, false);
    return tern_error_code();
}

static void pieces_are_ceilings_and_outputs_come_back_in_order(void **state)
{
    (void)state;
    odd_call = call_inspect;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    const int64_t rows[] = {8, 7, 5, 3, 1};
    for (int k = 0; k < 5; k++) {
        calls = 0;
        tern_tensor *x = small_input(rows[k]), *expected = tern_sum(x, tern_axes(1), false);
        tern_tensors out, in = {.count = 1, .at = {x}}; // from the host, where no device is
        assert_int_equal(tern_module_forward(parallel, &in, &out), TERN_OK);
        const int64_t each = (rows[k] + device_count - 1) / device_count;
        const int used = (int)((rows[k] + each - 1) / each);
        assert_int_equal(calls, used);
        for (int i = 0; i < used; i++)
            assert_int_equal(rows_of[i], i < used - 1 ? each : rows[k] - each * (used - 1));
        assert_int_equal(out.count, 2);
        assert_true(is_on(out.at[0], devices[0]) && is_on(out.at[1], devices[0]));
        check_same(out.at[0], expected, 1e-6);
        assert_true(tern_shape_equal(tern_shape_of(out.at[1]), tern_dims(used))); // 0-dim ones
    }
    tern_module_free(parallel);
}

static tern_status call_with_extras(const tern_tensors *in, tern_tensors *out)
{
    assert_int_equal(in->count, 4);
    assert_null(in->at[2]);
    assert_int_equal(tern_rank(in->at[1]), 0);
    out->at[out->count++] = tern_add(tern_mul(in->at[0], in->at[1]), in->at[3]);
    return tern_error_code();
}

static void there_may_be_several_inputs_also_0_dim_ones_and_none(void **state)
{
    (void)state;
    odd_call = call_with_extras;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    tern_tensor *x = small_input(9), *two = tern_full(tern_dims(), 2);
    tern_tensor *y = tern_call(parallel, x, two, NULL, x);
    check_same(y, tern_mul_scalar(x, 3), 1e-6);
    tern_module_free(parallel);
}

static tern_status call_without_inputs(const tern_tensors *in, tern_tensors *out)
{
    calls++;
    assert_int_equal(in->count, 0);
    out->at[out->count++] = tern_ones(tern_dims(2), .device = devices[0]);
    return tern_error_code();
}

static void without_inputs_the_first_device_runs(void **state)
{
    (void)state;
    tern_tensors none = {0}, out;
    odd_call = call_without_inputs;
    calls = 0;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    assert_int_equal(tern_module_forward(parallel, &none, &out), TERN_OK);
    assert_int_equal(calls, 1);
    assert_tensor(out.at[0], tern_dims(2), 1, 1);
    tern_module_free(parallel);
}

static tern_status call_twice_as_much(const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_add(in->at[0], in->at[0]);
    return tern_error_code();
}

static void another_dimension_may_be_cut_and_another_device_joined_on(void **state)
{
    (void)state;
    odd_call = call_twice_as_much;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count,
                              .output_device = devices[1], .dim = -1);
    tern_tensor *x = small_input(5), *y = tern_forward(parallel, x);
    assert_true(is_on(y, devices[1]));
    check_same(y, tern_add(x, x), 0);
    tern_module_free(parallel);
}

static void gradients_of_inputs_come_back(void **state)
{
    (void)state;
    odd_call = call_twice_as_much;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    tern_tensor *x = check_2x3(true);
    tern_tensor *y = tern_forward(parallel, x);
    assert_int_equal(tern_backward(tern_sum(tern_mul(y, y), TERN_ALL_AXES, false)), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 0, 8, 16, 24, 32, 40);
    tern_module_free(parallel);
}

static void inputs_that_are_not_one_batch_are_refused(void **state)
{
    (void)state;
    odd_call = call_twice_as_much;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    assert_null_with(tern_call(parallel, small_input(4), small_input(5)), TERN_ERR_SHAPE,
                     "data_parallel: input 0 has 4 elements along dimension 0 and input 1 has 5: "
                     "they are not one batch");
    tern_module_free(parallel);
    parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count, .dim = 2);
    assert_null_with(tern_forward(parallel, small_input(4)), TERN_ERR_ARG,
                     "which has no dimension 2 to be cut along [in DataParallel]");
    tern_module_free(parallel);
}

static void an_empty_batch_runs_on_the_first_device(void **state)
{
    (void)state;
    odd_call = call_twice_as_much;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    tern_tensor *y = tern_forward(parallel, tern_zeros(tern_dims(0, 3)));
    assert_empty(y, tern_dims(0, 3));
    tern_module_free(parallel);
}

// ---- one device, and none -----------------------------------------------------------------------

static void one_device_runs_the_module_on_the_whole_batch(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[1]);
    tern_module *parallel =
        tern_nn_data_parallel(tern_module_retain(net), .devices = &devices[1], .count = 1);
    tern_tensor *x = small_input(5);
    check_same(tern_forward(parallel, x), tern_forward(net, tern_to(x, devices[1])), 0);
    tern_device found[2];
    assert_int_equal(tern_nn_data_parallel_devices(parallel, found, 2), 1);
    assert_true(tern_device_equal(found[0], devices[1]));
    tern_module_free(parallel);
    tern_module_free(net);
}

static void without_devices_all_of_cuda_are_used(void **state)
{
    (void)state;
    tern_module *parallel = tern_nn_data_parallel(small_net());
    tern_device found[TERN_MAX_DEVICES];
    const int count = tern_nn_data_parallel_devices(parallel, found, TERN_MAX_DEVICES);
    assert_int_equal(count, tern_device_count(TERN_CUDA));
    for (int i = 0; i < count; i++)
        assert_true(tern_device_equal(found[i], tern_cuda(i)));
    tern_tensor *x = small_input(4);
    if (count == 0)
        check_same(tern_forward(parallel, x),
                   tern_forward(tern_module_child(parallel, "module"), x), 0);
    else if (count > 1)
        assert_null_with(tern_forward(parallel, x), TERN_ERR_DEVICE,
                         "data_parallel: \"0.weight\" of the module is on cpu");
    tern_error_clear();
    tern_module_free(parallel);
}

// ---- what replicas share with the module --------------------------------------------------------

// Counts its forwards in a buffer and in its struct.
typedef struct counting {
    tern_module base;
    tern_tensor *count;
    int forwards;
} counting;

static tern_status call_counting(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    counting *self = (counting *)module;
    self->forwards++;
    tern_no_grad {
        (void)!tern_add_scalar_(self->count, (double)tern_size(in->at[0], 0));
    }
    out->at[out->count++] = tern_add(in->at[0], self->count);
    return tern_error_code();
}

static const tern_module_class counting_class = {
    .name = "Counting", .size = sizeof(counting), .call = call_counting};

static tern_module *counting_new(void)
{
    counting *self = (counting *)tern_module_new(&counting_class);
    assert_non_null(self);
    tern_module_add_buffer(&self->base, "count", &self->count, tern_zeros(tern_dims()), true);
    return tern_module_done(&self->base);
}

static void what_replicas_change_is_lost_but_for_the_first(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(counting_new(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    const int64_t rows = 3 * device_count - 1;
    tern_tensor *x = tern_zeros(tern_dims(rows));
    for (int i = 1; i <= 3; i++) {
        // Each replica begins with the module's count, and adds the size of its own piece.
        tern_tensor *y = tern_forward(parallel, x);
        double *values = tern_data(tern_to_dtype(tern_to(y, tern_cpu(0)), TERN_FLOAT64));
        assert_true(values[0] == 3 * i);
        assert_true(values[rows - 1] == 3 * (i - 1) + 2);
        assert_int_equal(((counting *)net)->forwards, i);
        assert_true(tern_item(tern_module_buffer(net, "count")) == 3 * i);
    }
    tern_module_free(parallel);
    tern_module_free(net);
}

static void running_statistics_are_those_of_the_first_piece(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(tern_nn_batch_norm1d(6), devices[0]);
    tern_module *one = tern_module_copy(net), *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(4 * device_count), *pieces[DEVICES];
    int64_t used;
    assert_non_null(tern_forward(parallel, x));
    assert_int_equal(tern_chunk(x, device_count, 0, pieces, DEVICES, &used), TERN_OK);
    assert_non_null(tern_forward(one, tern_to(pieces[0], devices[0])));
    check_same(tern_module_buffer(net, "running_mean"), tern_module_buffer(one, "running_mean"), 0);
    check_same(tern_module_buffer(net, "running_var"), tern_module_buffer(one, "running_var"), 0);
    tern_module_eval(parallel); // the mode is the replicas' as well
    tern_module_eval(one);
    check_same(tern_forward(parallel, x), tern_forward(one, tern_to(x, devices[0])), 0);
    tern_module_free(parallel);
    tern_module_free(net);
    tern_module_free(one);
}

static tern_status count_before(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)in;
    (*(_Atomic int *)user)++;
    return TERN_OK;
}

static tern_status double_after(tern_module *module, const tern_tensors *in, tern_tensors *out,
                                void *user)
{
    (void)module;
    (void)in;
    (void)user;
    out->at[0] = tern_add(out->at[0], out->at[0]);
    return tern_error_code();
}

static void hooks_run_with_every_piece(void **state)
{
    (void)state;
    _Atomic int before = 0, around = 0;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = tern_to(small_input(16), devices[0]), *plain = tern_forward(net, x);
    check_same(tern_forward(parallel, x), plain, 1e-6);
    // Replicas are there already: they get the hooks nevertheless.
    tern_module *inner = tern_module_child(net, "1");
    assert_int_not_equal(tern_module_add_forward_pre_hook(inner, count_before, &before), 0);
    assert_int_not_equal(tern_module_add_forward_pre_hook(parallel, count_before, &around), 0);
    const uint64_t hook = tern_module_add_forward_hook(net, double_after, NULL);
    check_same(tern_forward(parallel, x), tern_add(plain, plain), 1e-6);
    assert_int_equal(before, device_count);
    assert_int_equal(around, 1);
    tern_module_remove_hook(net, hook);
    check_same(tern_forward(parallel, x), plain, 1e-6);
    tern_module_free(parallel);
    tern_module_free(net);
}

static void without_recording_nothing_is_recorded(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_no_grad {
        tern_tensor *y = tern_forward(parallel, small_input(8));
        assert_false(tern_requires_grad(y));
    }
    assert_true(tern_requires_grad(tern_forward(parallel, small_input(8))));
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- dropout ------------------------------------------------------------------------------------

static void masks_differ_from_piece_to_piece_and_repeat(void **state)
{
    (void)state;
    tern_module *parallel =
        tern_nn_data_parallel(tern_nn_dropout(0.5), .devices = devices, .count = device_count);
    tern_tensor *x = tern_ones(tern_dims(device_count * 2, 500)), *runs[2];
    for (int k = 0; k < 2; k++) {
        tern_manual_seed(11);
        runs[k] = tern_to(tern_forward(parallel, x), tern_cpu(0));
    }
    check_same(runs[0], runs[1], 0);
    for (int i = 0; i < device_count; i++) {
        for (int k = 0; k < i; k++) {
            tern_tensor *a = tern_narrow(runs[0], 0, 2 * i, 2);
            tern_tensor *b = tern_narrow(runs[0], 0, 2 * k, 2);
            const double apart =
                tern_item(tern_mean(tern_abs(tern_sub(a, b)), TERN_ALL_AXES, false));
            assert_true(apart > 0.8 && apart < 1.2); // of 0 or 2, half of them differ
        }
    }
    tern_module_free(parallel);
}

// ---- changes between steps ----------------------------------------------------------------------

static void check_agrees(tern_module *parallel, tern_module *net, tern_tensor *x)
{
    check_same(tern_forward(parallel, x), tern_forward(net, tern_to(x, devices[0])), 1e-6);
}

static void replicas_follow_every_change_of_the_module(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(12);
    check_agrees(parallel, net, x);
    tern_no_grad {
        (void)!tern_mul_scalar_(tern_module_parameter(net, "0.weight"), 2);
    }
    check_agrees(parallel, net, x);
    tern_tensor *weight = tern_full(tern_dims(8, 6), 0.1, .device = devices[0]);
    assert_int_equal(tern_module_set_parameter(net, "0.weight", weight), TERN_OK);
    check_agrees(parallel, net, x);
    assert_int_equal(tern_module_set_parameter(net, "0.bias", NULL), TERN_OK);
    check_agrees(parallel, net, x);
    tern_module *tanh = tern_nn_tanh();
    assert_int_equal(tern_module_set_child(net, "1", tanh), TERN_OK);
    check_agrees(parallel, net, x);
    tern_module *wide = tern_nn_sequential(tern_nn_linear(8, 4), tern_nn_linear(4, 3));
    assert_int_equal(tern_module_set_child(net, "2", tern_module_to(wide, devices[0])), TERN_OK);
    check_agrees(parallel, net, x);
    tern_module_to_dtype(net, TERN_FLOAT64);
    tern_tensor *x64 = tern_to_dtype(x, TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_forward(parallel, x64)), TERN_FLOAT64);
    tern_module_to_dtype(net, TERN_FLOAT32);
    check_agrees(parallel, net, x);
    tern_module_free(parallel);
    tern_module_free(net);
}

// Autograd does not see it; the replicas do.
static void what_is_written_by_its_address_is_seen(void **state)
{
    (void)state;
    if (kind != TERN_CPU)
        return;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    float *weight = tern_data(tern_module_parameter(net, "0.weight"));
    tern_tensor *x = small_input(12);
    for (int i = 0; i < 3; i++) {
        weight[i] += 1;
        check_agrees(parallel, net, x);
    }
    tern_module_free(parallel);
    tern_module_free(net);
}

static void a_net_that_moves_away_is_an_error_until_it_is_back(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(12), *y = tern_forward(parallel, x);
    assert_non_null(tern_module_to(parallel, devices[1]));
    char sentence[300];
    snprintf(sentence, sizeof sentence,
             "data_parallel: \"0.weight\" of the module is on %s, but must be on %s, the first of "
             "the devices; move it there with tern_module_to",
             tern_device_string(devices[1]), tern_device_string(devices[0]));
    assert_null_with(tern_forward(parallel, x), TERN_ERR_DEVICE, sentence);
    assert_non_null(tern_module_to(parallel, devices[0]));
    check_same(tern_forward(parallel, x), y, 0);
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- failures -----------------------------------------------------------------------------------

static int failing_device;

static tern_status call_that_fails(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    if (tern_device_of(x).index == failing_device)
        x = tern_matmul(x, tern_ones(tern_dims(3, 3), .device = tern_device_of(x)));
    out->at[out->count++] = x;
    return tern_error_code();
}

static void a_replica_that_fails_is_named_by_its_device(void **state)
{
    (void)state;
    odd_call = call_that_fails;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    for (failing_device = 0; failing_device < device_count; failing_device++) {
        char sentence[100];
        snprintf(sentence, sizeof sentence,
                 "data_parallel on %s: matmul: ", tern_device_string(devices[failing_device]));
        assert_null(tern_forward(parallel, small_input(8)));
        assert_non_null(strstr(tern_error_message(), sentence));
        assert_error(TERN_ERR_SHAPE, "[in module (Odd)]");
    }
    assert_non_null(tern_forward(parallel, small_input(8)));
    tern_module_free(parallel);
}

static tern_status call_of_odd_shapes(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    const int64_t width = tern_device_of(x).index + 1;
    out->at[out->count++] = tern_narrow(x, 1, 0, width);
    return tern_error_code();
}

static void outputs_that_do_not_fit_are_an_error(void **state)
{
    (void)state;
    odd_call = call_of_odd_shapes;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    assert_null(tern_forward(parallel, small_input(8)));
    assert_error(TERN_ERR_SHAPE, "cat: ");
    tern_module_free(parallel);
}

static void what_cannot_be_wrapped_is_refused(void **state)
{
    (void)state;
    const tern_device twice[] = {devices[0], devices[0]}, mixed[] = {tern_cpu(0), tern_cuda(0)};
    const tern_device missing[] = {devices[0], {kind, 63}};
    assert_null_with(tern_nn_data_parallel(small_net(), .devices = twice, .count = 2), TERN_ERR_ARG,
                     "is listed twice");
    assert_null_with(tern_nn_data_parallel(small_net(), .devices = missing, .count = 2),
                     TERN_ERR_DEVICE, ":63");
    if (kind == TERN_CUDA)
        assert_null_with(tern_nn_data_parallel(small_net(), .devices = mixed, .count = 2),
                         TERN_ERR_ARG, "have to be of one type");
    assert_null_with(tern_nn_data_parallel(small_net(), .devices = devices, .count = 0),
                     TERN_ERR_ARG, "0 devices");
    assert_null_with(tern_nn_data_parallel(small_net(), .count = 2), TERN_ERR_NULL, ".devices");
    tern_module *inner = tern_nn_data_parallel(small_net(), .devices = devices, .count = 2);
    tern_module *net = tern_nn_sequential(inner, tern_nn_relu());
    assert_null_with(tern_nn_data_parallel(net, .devices = devices, .count = 2), TERN_ERR_STATE,
                     "\"0\" is data parallel already");
    // One that gets into it later.
    tern_module *parallel =
        tern_nn_data_parallel(tern_nn_sequential(tern_nn_relu()), .devices = devices, .count = 2);
    inner = tern_nn_data_parallel(tern_nn_relu(), .devices = devices, .count = 2);
    assert_int_equal(tern_module_set_child(parallel, "module.0", inner), TERN_OK);
    assert_null_with(tern_forward(parallel, small_input(8)), TERN_ERR_STATE,
                     "has one in it that is data parallel itself");
    tern_module_free(parallel);
}

// ---- modules with memory of their own -----------------------------------------------------------

typedef struct owner {
    tern_module base;
    float *factor; // owned
} owner;

static _Atomic int owned;

static tern_status call_owner(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_mul_scalar(in->at[0], (double)*((owner *)module)->factor);
    return tern_error_code();
}

static void free_owner(tern_module *module)
{
    owned -= ((owner *)module)->factor != NULL;
    free(((owner *)module)->factor);
}

static tern_status copy_owner(tern_module *to, const tern_module *from)
{
    owner *self = (owner *)to;
    self->factor = malloc(sizeof *self->factor);
    assert_non_null(self->factor);
    *self->factor = *((const owner *)from)->factor;
    owned++;
    return TERN_OK;
}

static const tern_module_class owner_class = {.name = "Owner",
                                              .size = sizeof(owner),
                                              .call = call_owner,
                                              .free = free_owner,
                                              .copy = copy_owner};
static const tern_module_class miser_class = {
    .name = "Miser", .size = sizeof(owner), .call = call_owner, .free = free_owner};

static tern_module *owner_new(const tern_module_class *klass)
{
    owner *self = (owner *)tern_module_new(klass);
    assert_non_null(self);
    self->factor = malloc(sizeof *self->factor);
    assert_non_null(self->factor);
    *self->factor = 3;
    owned++;
    return tern_module_done(&self->base);
}

static void memory_of_a_class_is_copied_or_it_is_refused(void **state)
{
    (void)state;
    tern_module *parallel =
        tern_nn_data_parallel(owner_new(&owner_class), .devices = devices, .count = device_count);
    tern_tensor *x = small_input(8);
    for (int i = 0; i < 3; i++) {
        check_same(tern_forward(parallel, x), tern_mul_scalar(x, 3 + i), 1e-6);
        assert_int_equal(owned, device_count);
        *((owner *)tern_module_child(parallel, "module"))->factor += 1;
    }
    tern_module_free(parallel);
    assert_int_equal(owned, 0);
    parallel =
        tern_nn_data_parallel(owner_new(&miser_class), .devices = devices, .count = device_count);
    assert_null_with(tern_forward(parallel, x), TERN_ERR_UNSUPPORTED,
                     "the module (Miser) cannot be copied: its class has a free and no copy");
    tern_module_free(parallel);
    assert_int_equal(owned, 0);
}

// ---- state dicts, copies, threads ---------------------------------------------------------------

static void states_have_the_prefix_and_go_both_ways(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count), *plain = small_net();
    tern_no_grad {
        (void)!tern_zero_(tern_module_parameter(plain, "0.weight"));
    }
    tern_state *of_parallel = tern_module_state_dict(parallel);
    tern_state *of_plain = tern_module_state_dict(plain);
    assert_string_equal(tern_state_name_at(of_parallel, 0), "module.0.weight");
    assert_string_equal(tern_state_name_at(of_plain, 0), "0.weight");
    assert_int_equal(tern_module_load_state_dict(plain, of_parallel, .strip = "module."), TERN_OK);
    check_same(tern_module_parameter(plain, "0.weight"), tern_module_parameter(net, "0.weight"), 0);
    assert_status(tern_module_load_state_dict(plain, of_parallel), TERN_ERR_ARG,
                  "load it with .strip = \"module.\"");
    tern_state_free(of_parallel);
    tern_state_free(of_plain);
    tern_module_free(plain);
    tern_module_free(parallel);
    tern_module_free(net);
}

static void a_copy_is_data_parallel_itself(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(8), *y = tern_forward(parallel, x);
    tern_module *copy = tern_module_copy(parallel);
    tern_module_free(parallel);
    tern_module_free(net);
    assert_int_equal(tern_nn_data_parallel_devices(copy, NULL, 0), device_count);
    check_same(tern_forward(copy, x), y, 0);
    tern_module_free(copy);
}

typedef struct runner {
    tern_module *module;
    tern_tensor *x, *expected;
    bool same;
} runner;

static void *run_forwards(void *user)
{
    runner *r = user;
    r->same = true;
    for (int i = 0; i < 20 && r->same; i++) {
        tern_scope scope = tern_scope_open();
        tern_no_grad {
            tern_tensor *y = tern_forward(r->module, r->x);
            r->same = y && tern_item(tern_sum(tern_abs(tern_sub(y, r->expected)), TERN_ALL_AXES,
                                              false)) == 0;
        }
        tern_scope_close(scope);
    }
    return NULL;
}

static void two_threads_may_run_one_at_once(void **state)
{
    (void)state;
    tern_module *net = tern_module_eval(tern_module_to(small_net(), devices[0]));
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(8), *y = tern_detach(tern_forward(parallel, x));
    runner runners[2] = {{parallel, x, y, false}, {parallel, x, y, false}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_forwards, &runners[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(runners[0].same && runners[1].same);
    tern_module_free(parallel);
    tern_module_free(net);
}

static void summaries_and_prints_show_the_module_once(void **state)
{
    (void)state;
    char text[2000];
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    assert_true(
        tern_module_summary_format(parallel, tern_dims(8, 6), TERN_FLOAT32, text, sizeof text) > 0);
    assert_non_null(strstr(text, "\nDataParallel"));
    assert_non_null(strstr(text, "\n    2 Linear "));
    assert_non_null(strstr(text, "\nParameters: 83, trainable: 83\n"));
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- the parts ----------------------------------------------------------------------------------

static void the_parts_together_are_the_module(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]), *replicas[DEVICES];
    tern_tensors in = {.count = 1, .at = {small_input(10)}}, pieces[DEVICES], outputs[DEVICES], out;
    const int used = tern_scatter_batch(&in, devices, device_count, 0, pieces);
    assert_true(used == device_count);
    assert_int_equal(tern_replicate(net, devices, used, replicas), TERN_OK);
    assert_ptr_equal(replicas[0], net);
    for (int i = 0; i < used; i++)
        assert_true(is_on(tern_module_parameter(replicas[i], "0.weight"), devices[i]));
    assert_int_equal(tern_parallel_apply(replicas, pieces, outputs, used), TERN_OK);
    assert_int_equal(tern_gather_batch(outputs, used, devices[1], 0, &out), TERN_OK);
    assert_true(is_on(out.at[0], devices[1]));
    check_same(out.at[0], tern_forward(net, tern_to(in.at[0], devices[0])), 1e-6);
    for (int i = 0; i < used; i++)
        tern_module_free(replicas[i]);
    // Gradients arrive at the net, though the replicas are gone.
    tern_tensor *ones = tern_ones_like(out.at[0]);
    assert_int_equal(tern_backward(out.at[0], .gradient = ones), TERN_OK);
    assert_non_null(tern_grad(tern_module_parameter(net, "0.weight")));
    tern_module_free(net);
}

// ---- on CUDA devices ----------------------------------------------------------------------------

static void a_capture_is_refused(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, 2);
    tern_tensor *x = tern_to(small_input(8), devices[0]);
    assert_int_equal(tern_cuda_graph_begin(0), TERN_OK);
    assert_null(tern_forward(parallel, x));
    assert_null(tern_cuda_graph_end());
    assert_error(TERN_ERR_STATE, "data_parallel: not while cuda:0 is captured: a graph is of one "
                                 "device");
    tern_module_free(parallel);
    tern_module_free(net);
}

static void steps_of_a_device(tern_module *parallel, tern_optim *optim, int steps)
{
    tern_tensor *x = tern_to(small_input(16), devices[0]);
    tern_tensor *y = tern_to(small_labels(16), devices[0]);
    for (int i = 0; i < steps; i++)
        assert_int_equal(train_step(parallel, optim, x, y), TERN_OK);
}

// Copies between devices: data and the fault record with it. Out go the input's piece and the
// parameters, back come the output and the gradients, and the output's gradient goes out.
static void parameters_and_gradients_cross_in_one_copy_each(void **state)
{
    (void)state;
    tern_module *nets[] = {small_net(),
                           tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_batch_norm1d(8),
                                              tern_nn_linear(8, 8), tern_nn_linear(8, 3))};
    for (int k = 0; k < 2; k++) {
        tern_module *net = tern_module_to(nets[k], devices[0]);
        tern_module *parallel = parallel_of(net, device_count);
        tern_optim *optim = tern_optim_sgd(parallel, .lr = 0.1);
        tern_sim_counts c;
        steps_of_a_device(parallel, optim, 2);
        sim.count_reset();
        steps_of_a_device(parallel, optim, 4);
        sim.count(&c);
        assert_int_equal(c.copies_across, 4 * (device_count - 1) * 5 * 2);
        assert_int_equal(c.device_waits + c.stream_waits + c.event_waits, 0);
        assert_int_equal(c.free_waits, 0);
        tern_optim_free(optim);
        tern_module_free(parallel);
        tern_module_free(net);
    }
}

int main(int argc, char **argv)
{
    const int nothing = choose_parallel_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(pieces_are_ceilings_and_outputs_come_back_in_order),
        CHECK_TEST(there_may_be_several_inputs_also_0_dim_ones_and_none),
        CHECK_TEST(without_inputs_the_first_device_runs),
        CHECK_TEST(another_dimension_may_be_cut_and_another_device_joined_on),
        CHECK_TEST(gradients_of_inputs_come_back),
        CHECK_TEST(inputs_that_are_not_one_batch_are_refused),
        CHECK_TEST(an_empty_batch_runs_on_the_first_device),
        CHECK_TEST(one_device_runs_the_module_on_the_whole_batch),
        CHECK_TEST(without_devices_all_of_cuda_are_used),
        CHECK_TEST(what_replicas_change_is_lost_but_for_the_first),
        CHECK_TEST(running_statistics_are_those_of_the_first_piece),
        CHECK_TEST(hooks_run_with_every_piece),
        CHECK_TEST(without_recording_nothing_is_recorded),
        CHECK_TEST(masks_differ_from_piece_to_piece_and_repeat),
        CHECK_TEST(replicas_follow_every_change_of_the_module),
        CHECK_TEST(what_is_written_by_its_address_is_seen),
        CHECK_TEST(a_net_that_moves_away_is_an_error_until_it_is_back),
        CHECK_TEST(a_replica_that_fails_is_named_by_its_device),
        CHECK_TEST(outputs_that_do_not_fit_are_an_error),
        CHECK_TEST(what_cannot_be_wrapped_is_refused),
        CHECK_TEST(memory_of_a_class_is_copied_or_it_is_refused),
        CHECK_TEST(states_have_the_prefix_and_go_both_ways),
        CHECK_TEST(a_copy_is_data_parallel_itself),
        CHECK_TEST(two_threads_may_run_one_at_once),
        CHECK_TEST(summaries_and_prints_show_the_module_once),
        CHECK_TEST(the_parts_together_are_the_module),
    };
    const struct CMUnitTest on_cuda[] = {CHECK_TEST(a_capture_is_refused)};
    const struct CMUnitTest on_simulated[] = {
        CHECK_TEST(parameters_and_gradients_cross_in_one_copy_each)};
    if (nothing)
        return nothing;
    if (kind == TERN_CUDA && tern_zeros(tern_dims(1), .device = here) && sim_begin() &&
        cmocka_run_group_tests(on_simulated, NULL, NULL))
        return 1;
    RUN_DEVICE_TESTS(tests, on_cuda);
}
