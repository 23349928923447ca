// SPDX-License-Identifier: Apache-2.0
// Streams and events: work on several streams of a device meets in the right order by itself, and
// threads may share a device.
#include <pthread.h>
#include "device_check.h"

static void a_tensor_of_another_stream_is_waited_for(void **state)
{
    (void)state;
    tern_cuda_stream *side = tern_cuda_stream_new(here.index);
    assert_non_null(side);
    tern_tensor *x = tern_to(check_2x3(false), here);
    tern_tensor *y = tern_mul_scalar(x, 2); // on the first stream
    assert_null(tern_cuda_stream_set(here.index, side));
    tern_tensor *z = tern_add_scalar(y, 1); // on the other: reads y, and its memory is reused
    tern_tensor *w = tern_mul(z, z);
    assert_ptr_equal(tern_cuda_stream_set(here.index, NULL), side);
    tern_tensor *sum = tern_add(w, y); // and back
    assert_tensor(sum, tern_dims(2, 3), 1, 11, 29, 55, 89, 131);
    assert_int_equal(tern_cuda_stream_synchronize(side), TERN_OK);
    tern_cuda_stream_free(side);
}

static void memory_that_another_stream_used_is_not_reused_too_early(void **state)
{
    (void)state;
    tern_cuda_stream *side = tern_cuda_stream_new(here.index);
    tern_tensor *kept = tern_zeros(tern_dims(1000), .device = here);
    for (int i = 0; i < 20; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_full(tern_dims(1000), i, .device = here);
        tern_cuda_stream_set(here.index, side);
        assert_non_null(tern_add_(kept, x, 1)); // still reads x when it dies
        tern_cuda_stream_set(here.index, NULL);
        tern_scope_close(scope);
        assert_non_null(tern_full(tern_dims(1000), -1e6, .device = here)); // may take its place
    }
    assert_near(value_at(kept, 0), 190, 0, 0);
    assert_near(value_at(kept, 999), 190, 0, 0);
    tern_cuda_stream_free(side);
}

static void events_order_streams_and_measure(void **state)
{
    (void)state;
    tern_cuda_event *start = tern_cuda_event_new(here.index),
                    *end = tern_cuda_event_new(here.index);
    tern_tensor *x = tern_ones(tern_dims(64, 64), .device = here);
    assert_int_equal(tern_cuda_event_record(start), TERN_OK);
    for (int i = 0; i < 4; i++)
        x = tern_mul_scalar(tern_matmul(x, x), 1.0 / 64);
    assert_int_equal(tern_cuda_event_record(end), TERN_OK);
    assert_int_equal(tern_cuda_event_synchronize(end), TERN_OK);
    const double elapsed = tern_cuda_event_elapsed(start, end);
    assert_true(elapsed >= 0 && elapsed < 60000);
    assert_int_equal(tern_cuda_event_wait(end, there.index), TERN_OK); // of another device, too
    assert_near(value_at(tern_to(x, there), 5), 1, 1e-6, 0);
    tern_cuda_event_free(start);
    tern_cuda_event_free(end);
}

static void copies_that_do_not_wait_arrive(void **state)
{
    (void)state;
    tern_tensor *pinned = tern_pin_memory(check_2x3(false));
    assert_true(tern_is_pinned(pinned) && !tern_is_pinned(check_2x3(false)));
    assert_true(is_on(pinned, tern_cpu(0)));
    assert_ptr_equal(tern_pin_memory(pinned), pinned);
    tern_tensor *y = tern_to_non_blocking(pinned, here);
    tern_tensor *back = tern_to_non_blocking(tern_mul_scalar(y, 3), tern_cpu(0));
    assert_int_equal(tern_synchronize(here), TERN_OK);
    assert_tensor(back, tern_dims(2, 3), 0, 3, 6, 9, 12, 15);
}

// ---- threads ------------------------------------------------------------------------------------

enum { THREADS = 3, STEPS = 4 };

typedef struct worker {
    tern_device device;
    float weight[48];
    bool failed;
} worker;

static void *train(void *argument)
{
    worker *w = argument;
    tern_scope scope = tern_scope_open();
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    tern_no_grad {
        tern_copy_(weight, tern_reshape(tern_linspace(-1, 1, 48), tern_dims(8, 6)));
        tern_fill_(tern_module_parameter(net, "0.bias"), 0);
        tern_fill_(tern_module_parameter(net, "2.weight"), 0.1);
        tern_fill_(tern_module_parameter(net, "2.bias"), 0);
    }
    tern_module_to(net, w->device);
    tern_optim *optim = tern_optim_adam(net, .lr = 0.05);
    tern_tensor *x = tern_to(small_input(8), w->device), *y = tern_to(small_labels(8), w->device);
    for (int i = 0; i < STEPS; i++) {
        tern_scope step = tern_scope_open();
        tern_optim_zero_grad(optim);
        w->failed |= tern_backward(tern_cross_entropy(tern_forward(net, x), y)) != TERN_OK;
        w->failed |= tern_optim_step(optim) != TERN_OK;
        tern_scope_close(step);
    }
    w->failed |= tern_to_host(weight, w->weight, sizeof w->weight) != TERN_OK;
    tern_error_print(stderr);
    tern_optim_free(optim);
    tern_module_free(net);
    tern_scope_close(scope);
    return NULL;
}

static void threads_train_on_shared_and_on_own_devices(void **state)
{
    (void)state;
    worker alone = {.device = here},
           workers[THREADS] = {{.device = here}, {.device = here}, {.device = there}};
    pthread_t threads[THREADS];
    train(&alone);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, train, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_false(workers[i].failed);
        assert_memory_equal(workers[i].weight, alone.weight, sizeof alone.weight);
    }
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_tensor_of_another_stream_is_waited_for),
        CHECK_TEST(memory_that_another_stream_used_is_not_reused_too_early),
        CHECK_TEST(events_order_streams_and_measure),
        CHECK_TEST(copies_that_do_not_wait_arrive),
        CHECK_TEST(threads_train_on_shared_and_on_own_devices),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
