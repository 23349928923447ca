// SPDX-License-Identifier: Apache-2.0
// Training on devices: the same losses as on the CPU, over two devices, and without waiting.
#include "device_check.h"
#include "sim.h"

#define ROWS 8

// A network with dropout, its optimizer and one batch, all on one device.
typedef struct training {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y;
} training;

static training training_on(tern_device device)
{
    tern_manual_seed(3);
    training t = {
        .net = tern_nn_sequential(tern_nn_linear(6, 32), tern_nn_relu(), tern_nn_dropout(0.25),
                                  tern_nn_linear(32, 3)),
        .criterion = tern_nn_cross_entropy_loss(.weight = tern_from_data(tern_dims(3),
                                                                         ((float[]){1, 2, 0.5f}))),
        .x = tern_to(small_input(ROWS), device),
        .y = tern_to(small_labels(ROWS), device),
    };
    assert_non_null(tern_module_to(t.net, device));
    assert_non_null(tern_module_to(t.criterion, device));
    t.optim = tern_optim_adam(t.net, .lr = 0.02);
    assert_non_null(t.optim);
    return t;
}

static void training_free(training *t)
{
    tern_optim_free(t->optim);
    tern_module_free(t->net);
    tern_module_free(t->criterion);
}

// Queues a step; the loss, where it is made, or NULL.
static tern_tensor *queue_step(training *t)
{
    tern_optim_zero_grad(t->optim);
    tern_tensor *loss = tern_loss(t->criterion, tern_forward(t->net, t->x), t->y);
    if (tern_backward(loss) || !tern_clip_grad_norm(t->net, 1.0) || tern_optim_step(t->optim))
        return NULL;
    return loss;
}

static void step(training *t)
{
    tern_scope scope = tern_scope_open();
    assert_non_null(queue_step(t));
    assert_no_error();
    tern_scope_close(scope);
}

static double step_and_read(training *t)
{
    tern_scope scope = tern_scope_open();
    const double loss = tern_item(queue_step(t));
    assert_no_error();
    tern_scope_close(scope);
    return loss;
}

static void a_run_gives_the_losses_of_the_cpu(void **state)
{
    (void)state;
    training device = training_on(here), cpu = training_on(tern_cpu(0));
    double first = 0, last = 0;
    double losses[12];
    for (int i = 0; i < 12; i++)
        losses[i] = step_and_read(&cpu);
    for (int i = 0; i < 12; i++) {
        last = step_and_read(&device);
        first = i ? first : last;
        assert_near(last, losses[i], 1e-5, 1e-6);
    }
    assert_true(last < 0.9 * first);
    training_free(&device);
    training_free(&cpu);
}

// x begins between the 16 bytes that a vectorized access reads, all else at such a bound.
static void a_batch_norm_reads_an_x_that_is_not_aligned(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *all = tern_arange(0, 49, 1, .dtype = TERN_FLOAT32, .device = here);
    tern_tensor *x = tern_reshape(tern_slice(all, 0, 1, 49, 1), tern_dims(2, 3, 8));
    tern_tensor *ones = tern_ones(tern_dims(3), .device = here);
    tern_tensor *zeros = tern_zeros(tern_dims(3), .device = here);
    tern_tensor *y = tern_batch_norm(x, .running_mean = zeros, .running_var = ones, .eps = 0);
    assert_near(tern_item(tern_sum_all(tern_abs(tern_sub(y, x)))), 0, 0, 0);
    tern_scope_close(scope);
}

// More than a launch takes; parameter i has the gradient i + 1.
static void a_step_reaches_each_of_many_parameters(void **state)
{
    (void)state;
    enum { MANY = 50 };
    tern_scope scope = tern_scope_open();
    tern_tensor *params[MANY], *loss = tern_zeros(tern_dims(1), .device = here);
    for (int i = 0; i < MANY; i++) {
        params[i] = tern_full(tern_dims(1), i, .device = here, .requires_grad = true);
        loss = tern_add(loss, tern_mul_scalar(params[i], i + 1));
    }
    tern_module *list = tern_nn_parameter_list_new(MANY, params);
    tern_optim *optim = tern_optim_sgd(list, .lr = 0.5);
    assert_int_equal(tern_backward(tern_sum_all(loss)), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    for (int i = 0; i < MANY; i++)
        assert_near(tern_item(params[i]), i - 0.5 * (i + 1), 0, 0);
    tern_optim_free(optim);
    tern_module_free(list);
    tern_scope_close(scope);
}

// ---- two devices --------------------------------------------------------------------------------

// Two halves, each where it was put; the values in between move.
typedef struct split_module {
    tern_module base;
    tern_device second_home;
} split_module;

static tern_status split_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const split_module *self = (const split_module *)module;
    tern_tensor *h = tern_forward(tern_module_child(module, "first"), in->at[0]);
    out->at[0] = tern_forward(tern_module_child(module, "second"), tern_to(h, self->second_home));
    out->count = 1;
    return out->at[0] ? TERN_OK : tern_error_code();
}

static const tern_module_class split_class = {
    .name = "Split", .size = sizeof(split_module), .call = split_call};

static tern_module *split_net(tern_device first, tern_device second)
{
    tern_manual_seed(3);
    tern_module *module = tern_module_new(&split_class);
    assert_non_null(module);
    ((split_module *)module)->second_home = second;
    tern_module *head = tern_module_add_child(
        module, "first", NULL, tern_nn_sequential(tern_nn_linear(6, 32), tern_nn_relu()));
    tern_module *tail = tern_module_add_child(module, "second", NULL, tern_nn_linear(32, 3));
    assert_non_null(tern_module_to(head, first));
    assert_non_null(tern_module_to(tail, second));
    return tern_module_done(module);
}

static tern_tensor *train_split(tern_device first, tern_device second)
{
    tern_module *net = split_net(first, second);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9);
    tern_tensor *x = tern_to(small_input(ROWS), first), *y = tern_to(small_labels(ROWS), second);
    for (int i = 0; i < 8; i++) {
        tern_optim_zero_grad(optim);
        tern_tensor *loss = tern_cross_entropy(tern_forward(net, x), y);
        assert_true(is_on(loss, second));
        assert_int_equal(tern_backward(loss), TERN_OK);
        assert_non_null(tern_clip_grad_norm(net, 0.5)); // of gradients on both
        assert_int_equal(tern_optim_step(optim), TERN_OK);
    }
    tern_tensor *weight = tern_module_parameter(net, "first.0.weight");
    assert_true(is_on(tern_grad(weight), first));
    weight = tern_clone(tern_detach(weight));
    tern_optim_free(optim);
    tern_module_free(net);
    return weight;
}

static void a_model_split_over_two_devices_trains_as_on_one(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_tensor *one = train_split(tern_cpu(0), tern_cpu(0)), *two = train_split(here, there);
    check_same(two, one, 1e-5);
}

static void two_devices_work_at_once(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    training a = training_on(here), b = training_on(there);
    for (int i = 0; i < 3; i++) {
        step(&a);
        step(&b);
    }
    sim.trace_waits();
    for (int i = 0; i < 3; i++) {
        step(&a);
        step(&b);
    }
    tern_sim_wait wait;
    if (sim.waits(&wait, 1))
        fail_msg("a wait of kind %d: device %d on device %d", (int)wait.waiter, wait.device,
                 wait.on_device);
    training_free(&a);
    training_free(&b);
}

static void a_value_error_on_one_device_stops_the_step_on_both(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_module *net = split_net(here, there);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *x = tern_to(small_input(ROWS), here), *y = tern_to(small_labels(ROWS), there);
    tern_tensor *first = tern_module_parameter(net, "first.0.weight");
    tern_tensor *second = tern_module_parameter(net, "second.weight");
    tern_tensor *kept[] = {tern_clone(tern_detach(first)), tern_clone(tern_detach(second))};
    assert_non_null(tern_fill_(tern_select(y, 0, 2), 7));
    tern_status status = tern_backward(tern_cross_entropy(tern_forward(net, x), y));
    if (!status)
        status = tern_optim_step(optim);
    if (!status)
        status = tern_synchronize(there);
    assert_int_equal(status, TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "label of sample 2 is 7, but must be 0 to 2");
    tern_error_clear();
    tern_optim_zero_grad(optim); // the record is clear again, on both
    check_same(first, kept[0], 0);
    check_same(second, kept[1], 0);
    y = tern_to(small_labels(ROWS), there);
    assert_int_equal(tern_backward(tern_cross_entropy(tern_forward(net, x), y)), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    assert_int_equal(tern_synchronize(there), TERN_OK);
    tern_optim_free(optim);
    tern_module_free(net);
}

// The gradient brings the error along to a device that the optimizer knows, from one that it does
// not know: dealt with on one, it is dealt with on both.
static void zero_grad_clears_the_device_that_a_value_error_came_from(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    if (kind != TERN_CUDA)
        skip(); // the CPU finds its errors at once
    tern_module *net = tern_module_to(small_net(), here);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *x = tern_to(small_input(ROWS), here);
    for (int wrong = 1; wrong >= 0; wrong--) {
        tern_tensor *y = tern_to(small_labels(ROWS), there);
        if (wrong)
            assert_non_null(tern_fill_(tern_select(y, 0, 2), 7));
        tern_status status =
            tern_backward(tern_cross_entropy(tern_to(tern_forward(net, x), there), y));
        status = status ? status : tern_synchronize(here);
        status = status ? status : tern_synchronize(there);
        assert_int_equal(status, wrong ? TERN_ERR_INDEX : TERN_OK);
        tern_error_clear();
        tern_optim_zero_grad(optim);
    }
    tern_optim_free(optim);
    tern_module_free(net);
}

// Of two that are at the same place, each is told.
static void value_errors_of_two_devices_are_told_apart(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    if (kind != TERN_CUDA)
        skip(); // the CPU finds its errors at once
    tern_module *net = tern_module_to(small_net(), here);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *y = small_labels(ROWS);
    assert_non_null(tern_fill_(tern_select(y, 0, 2), 7));
    assert_non_null(tern_one_hot(tern_to(y, here), 3));
    assert_non_null(
        tern_cross_entropy(tern_zeros(tern_dims(ROWS, 3), .device = there), tern_to(y, there)));
    assert_int_equal(tern_synchronize(here), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "one_hot: label 2 is 7");
    assert_int_equal(tern_synchronize(there), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "label of sample 2 is 7");
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_synchronize(there), TERN_OK);
    tern_optim_free(optim);
    tern_module_free(net);
}

static void a_value_error_is_of_the_module_that_met_it_wherever_it_is_found(void **state)
{
    (void)state;
    tern_module *net = small_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    assert_non_null(tern_module_to(net, here));
    tern_tensor *x = tern_to(small_input(ROWS), here), *y = tern_to(small_labels(ROWS), here);
    assert_non_null(tern_fill_(tern_select(y, 0, 2), 7));
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
    if (loss && !tern_backward(loss) && !tern_forward(net, x))
        assert_true(tern_error_pending());
    (void)!tern_synchronize(here);
    assert_error(TERN_ERR_INDEX, "but must be 0 to 2 [in CrossEntropyLoss]");
    tern_optim_zero_grad(optim);
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
}

// ---- what a step costs --------------------------------------------------------------------------

static void from_the_third_step_on_nothing_waits_and_nothing_is_allocated(void **state)
{
    (void)state;
    training t = training_on(here);
    step(&t);
    step(&t);
    tern_cuda_memory before, after;
    assert_int_equal(tern_cuda_get_memory(here.index, &before), TERN_OK);
    if (sim_begin())
        sim.count_reset();
    for (int i = 0; i < 5; i++)
        step(&t);
    if (sim.count) {
        tern_sim_counts c;
        sim.count(&c);
        assert_int_equal(c.mallocs + c.frees + c.host_allocs + c.host_frees, 0);
        assert_int_equal(c.device_waits + c.stream_waits + c.event_waits, 0);
        assert_int_equal(c.copy_waits + c.free_waits, 0);
        assert_int_equal(c.streams + c.events, 0);
        print_message("a step: %ld launches, %ld products\n", c.launches / 5, c.products / 5);
    }
    assert_int_equal(tern_cuda_get_memory(here.index, &after), TERN_OK);
    assert_int_equal(after.device_allocs, before.device_allocs);
    assert_int_equal(after.allocated, before.allocated);
    training_free(&t);
}

static void the_memory_as_text_is_what_is_printed(void **state)
{
    (void)state;
    char text[400], begin[60], *printed = NULL;
    size_t size = 0;
    if (here.type != TERN_CUDA)
        return;
    assert_non_null(tern_zeros(tern_dims(1 << 18), .device = here));
    FILE *file = open_memstream(&printed, &size);
    assert_int_equal(tern_cuda_memory_print(here.index, file), TERN_OK);
    fclose(file);
    assert_int_equal(tern_cuda_memory_format(here.index, NULL, 0), size);
    assert_int_equal(tern_cuda_memory_format(here.index, text, sizeof text), size);
    assert_string_equal(text, printed);
    snprintf(begin, sizeof begin, "cuda:%d memory in MiB: allocated ", here.index);
    assert_memory_equal(text, begin, strlen(begin));
    assert_int_equal(tern_cuda_memory_format(here.index, begin, 10), size);
    assert_true(begin[9] == 0 && strncmp(begin, printed, 9) == 0);
    free(printed);
}

// ---- shutdown -----------------------------------------------------------------------------------

static double loss_of_a_run(void)
{
    tern_scope scope = tern_scope_open();
    training t = training_on(here);
    for (int i = 0; i < 3; i++)
        step(&t);
    const double loss = tern_item(tern_loss(t.criterion, tern_forward(t.net, t.x), t.y));
    training_free(&t);
    tern_scope_close(scope);
    return loss;
}

static void a_shutdown_gives_all_back_and_a_device_begins_anew(void **state)
{
    (void)state;
    const double first = loss_of_a_run();
    tern_shutdown();
    if (sim_begin()) {
        tern_sim_counts c;
        sim.count(&c);
        assert_int_equal(c.live_blocks, 0);
    }
    tern_cuda_memory memory;
    assert_int_equal(tern_cuda_get_memory(here.index, &memory), TERN_OK);
    assert_true(memory.reserved < 1 << 20); // no workspace yet
    assert_true(loss_of_a_run() == first);
    assert_no_error();
}

static void what_is_alive_on_a_device_outlives_a_shutdown(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_retain(tern_full(tern_dims(5), 3, .device = here));
    tern_tensor *sum = tern_retain(tern_zeros(tern_dims(), .device = here));
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    tern_copy_(sum, tern_sum(x, TERN_ALL_AXES, false));
    tern_cuda_graph *graph = tern_cuda_graph_end();
    tern_scope_close(scope);
    tern_shutdown();
    scope = tern_scope_open();
    assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK);
    assert_true(tern_item(sum) == 15);
    tern_release(x);
    tern_release(sum);
    tern_scope_close(scope);
    tern_shutdown(); // the graph alone
    tern_cuda_stream *stream = tern_cuda_stream_new(here.index);
    tern_cuda_graph_free(graph);
    tern_shutdown(); // the stream alone
    assert_int_equal(tern_cuda_stream_synchronize(stream), TERN_OK);
    tern_cuda_stream_free(stream);
    assert_no_error();
}

// A leaf whose gradient is (a, b).
static tern_tensor *leaf_with_gradient(tern_device device, tern_dtype dtype, double a, double b)
{
    const double gradient[] = {a, b};
    tern_tensor *p =
        tern_zeros(tern_dims(2), .dtype = dtype, .device = device, .requires_grad = true);
    tern_tensor *w = tern_to(tern_from_data(tern_dims(2), gradient, .dtype = TERN_FLOAT64), device);
    tern_tensor *product = tern_mul(p, tern_to_dtype(w, dtype));
    assert_int_equal(tern_backward(tern_sum(product, TERN_ALL_AXES, false)), TERN_OK);
    return p;
}

// A norm in float32 would lose eight digits, and be infinite or 0 beyond its range.
static void clipping_computes_in_float64(void **state)
{
    (void)state;
    const double sizes[] = {0.1, 1e-60, 1e60};
    for (int i = 0; i < 3; i++) {
        const double size = sizes[i], max_norm = size / 7;
        tern_tensor *list[] = {leaf_with_gradient(here, TERN_FLOAT64, size, 2 * size),
                               leaf_with_gradient(there, TERN_FLOAT64, 2 * size, 0)};
        tern_tensor *norm = tern_clip_grad_norm(NULL, max_norm, .params = list, .param_count = 2);
        assert_tensor_near(norm, 1e-15 * size, tern_dims(), 3 * size);
        const double factor = max_norm / (3 * size + 1e-6);
        assert_tensor_near(tern_grad(list[0]), 1e-15 * size, tern_dims(2), size * factor,
                           2 * size * factor);
        assert_tensor_near(tern_grad(list[1]), 1e-15 * size, tern_dims(2), 2 * size * factor, 0);
    }
    // The norm, 4.2e38, is beyond float32; the gradients are not.
    tern_tensor *p = leaf_with_gradient(here, TERN_FLOAT32, 3e38, -3e38);
    tern_tensor *norm = tern_clip_grad_norm(NULL, 1e6, .params = &p, .param_count = 1);
    assert_tensor(norm, tern_dims(), INFINITY);
    assert_int_equal(tern_dtype_of(norm), TERN_FLOAT32);
    assert_tensor_near(tern_grad(p), 0.1, tern_dims(2), 1e6 * sqrt(0.5), -1e6 * sqrt(0.5));
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest everywhere[] = {
        CHECK_TEST(a_run_gives_the_losses_of_the_cpu),
        CHECK_TEST(a_step_reaches_each_of_many_parameters),
        CHECK_TEST(a_batch_norm_reads_an_x_that_is_not_aligned),
        CHECK_TEST(a_model_split_over_two_devices_trains_as_on_one),
        CHECK_TEST(a_value_error_on_one_device_stops_the_step_on_both),
        CHECK_TEST(zero_grad_clears_the_device_that_a_value_error_came_from),
        CHECK_TEST(value_errors_of_two_devices_are_told_apart),
        CHECK_TEST(a_value_error_is_of_the_module_that_met_it_wherever_it_is_found),
        CHECK_TEST(clipping_computes_in_float64),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(from_the_third_step_on_nothing_waits_and_nothing_is_allocated),
        cmocka_unit_test(the_memory_as_text_is_what_is_printed),
        cmocka_unit_test(a_shutdown_gives_all_back_and_a_device_begins_anew),
        cmocka_unit_test(what_is_alive_on_a_device_outlives_a_shutdown),
    };
    const struct CMUnitTest on_simulated[] = {
        CHECK_TEST(two_devices_work_at_once),
    };
    if (nothing)
        return nothing;
    if (sim_begin() && cmocka_run_group_tests(on_simulated, NULL, NULL))
        return 1;
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
