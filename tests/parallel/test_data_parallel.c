// SPDX-License-Identifier: Apache-2.0
// Data parallel as users meet it: what goes in and comes out, on several devices, one and none.
#include <pthread.h>
#include "device/backend.h"
#include "parallel_check.h"
#include "device/sim.h"
#include "support/own_module.h"

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
        for (int i = 0; i < 2; i++) { // replicas are made anew
            assert_int_equal(tern_module_set_child(net, "1", tern_nn_identity()), TERN_OK);
            sim.count_reset();
            steps_of_a_device(parallel, optim, 1);
            sim.count(&c);
            assert_int_equal(c.copies_across, (device_count - 1) * 5 * 2);
        }
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
        CHECK_TEST(masks_differ_from_piece_to_piece_and_repeat),
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
