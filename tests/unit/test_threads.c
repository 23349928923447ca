// SPDX-License-Identifier: Apache-2.0
// The number of threads changes no bit of any result. Sizes are such that every operation is cut
// into several pieces.
#include <pthread.h>

#include "check.h"

static const int counts[] = {1, 2, 3, 8};
#define COUNTS (sizeof counts / sizeof *counts)

// FNV-1a over the elements' bytes.
static uint64_t hash_of(tern_tensor *t, uint64_t hash)
{
    size_t nbytes = (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t));
    unsigned char *bytes = malloc(nbytes + 1);
    assert_non_null(bytes);
    assert_int_equal(tern_to_host(t, bytes, nbytes), TERN_OK);
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    free(bytes);
    return hash;
}

typedef uint64_t run_fn(void);

static void assert_same_bits(run_fn *run)
{
    uint64_t first = 0;
    for (size_t i = 0; i < COUNTS; i++) {
        tern_scope scope = tern_scope_open();
        assert_int_equal(tern_set_num_threads(counts[i]), TERN_OK);
        uint64_t hash = run();
        assert_no_error();
        if (i == 0)
            first = hash;
        if (hash != first)
            fail_msg("%d threads give other bits than 1", counts[i]);
        tern_scope_close(scope);
    }
}

static uint64_t hash_all(tern_tensor *const *results, int count)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < count; i++)
        hash = hash_of(results[i], hash);
    return hash;
}
#define HASH(...)                                                                                  \
    hash_all((tern_tensor *const[]){__VA_ARGS__},                                                  \
             (int)(sizeof((tern_tensor *const[]){__VA_ARGS__}) / sizeof(tern_tensor *)))

static tern_tensor *numbers(int64_t rows, int64_t cols)
{
    tern_manual_seed(7);
    return tern_randn(tern_dims(rows, cols));
}

static uint64_t elementwise(void)
{
    tern_tensor *x = numbers(700, 513);
    tern_tensor *half = tern_to_dtype(x, TERN_FLOAT16);
    return HASH(tern_gelu(x), tern_add(tern_transpose(x, 0, 1), tern_transpose(x, 0, 1)),
                tern_exp(half), tern_pow_scalar(tern_abs(x), 1.5));
}

static uint64_t reductions(void)
{
    tern_tensor *x = numbers(1001, 517);
    return HASH(tern_sum(x, TERN_ALL_AXES, false), tern_sum(x, tern_axes(0), false),
                tern_mean(x, tern_axes(1), false), tern_var(x, TERN_ALL_AXES, 1, false),
                tern_norm(x, 3, tern_axes(0), false), tern_amax(x, tern_axes(1), false),
                tern_argmax(x, 0, false), tern_cumsum(x, 1));
}

static uint64_t products(void)
{
    tern_tensor *x = numbers(301, 1103);
    tern_tensor *w = tern_transpose(numbers(257, 1103), 0, 1);
    return HASH(tern_matmul(x, w), tern_matmul(tern_transpose(x, 0, 1), x),
                tern_matmul(tern_to_dtype(x, TERN_FLOAT64), tern_to_dtype(w, TERN_FLOAT64)));
}

static uint64_t softmaxes_and_losses(void)
{
    tern_tensor *x = numbers(3001, 129);
    tern_tensor *labels = tern_randint(0, 129, tern_dims(3001));
    return HASH(tern_softmax(x, 1), tern_log_softmax(x, 0), tern_cross_entropy(x, labels),
                tern_mse_loss(x, tern_mul_scalar(x, 0.5), TERN_REDUCTION_MEAN),
                tern_dropout(x, 0.3, true));
}

// A few steps of a net that has everything, with clipping.
static uint64_t training(void)
{
    tern_manual_seed(3);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(300, 400), tern_nn_relu(), tern_nn_dropout(.p = 0.2),
                           tern_nn_linear(400, 500), tern_nn_gelu(), tern_nn_linear(500, 11));
    tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
    tern_optim *optim = tern_optim_adamw(net, .lr = 1e-2);
    tern_tensor *x = tern_randn(tern_dims(515, 300));
    tern_tensor *y = tern_randint(0, 11, tern_dims(515));
    uint64_t hash = 14695981039346656037u;
    for (int step = 0; step < 4; step++) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
        tern_optim_zero_grad(optim);
        assert_int_equal(tern_backward(loss), TERN_OK);
        hash = hash_of(tern_clip_grad_norm(net, 0.5), hash_of(loss, hash));
        assert_int_equal(tern_optim_step(optim), TERN_OK);
    }
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++)
        hash = hash_of(tern_module_parameter_at(net, i, NULL, 0), hash);
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
    return hash;
}

static void elementwise_operations_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(elementwise);
}

static void reductions_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(reductions);
}

static void products_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(products);
}

static void softmaxes_and_losses_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(softmaxes_and_losses);
}

static void training_gives_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(training);
}

// Trains a net of this thread's own; returns NULL when all went well.
static void *train_alone(void *failed)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(100, 300), tern_nn_relu(),
                                          tern_nn_dropout(.p = 0.1), tern_nn_linear(300, 10));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *optim = tern_optim_adam(net);
    for (int step = 0; step < 20; step++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_randn(tern_dims(200, 100));
        tern_tensor *y = tern_randint(0, 10, tern_dims(200));
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
        tern_optim_zero_grad(optim);
        if (tern_backward(loss) || tern_optim_step(optim))
            break;
        tern_scope_close(scope);
    }
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
    return tern_error_pending() ? failed : NULL;
}

static void threads_train_nets_of_their_own(void **state)
{
    (void)state;
    pthread_t threads[3];
    int64_t live = tern_live_tensors();
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, train_alone, threads), 0);
    for (int i = 0; i < 3; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(tern_live_tensors(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_operations_give_the_same_bits),
        cmocka_unit_test(reductions_give_the_same_bits),
        cmocka_unit_test(products_give_the_same_bits),
        cmocka_unit_test(softmaxes_and_losses_give_the_same_bits),
        cmocka_unit_test(training_gives_the_same_bits),
        cmocka_unit_test(threads_train_nets_of_their_own),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
