// SPDX-License-Identifier: Apache-2.0
// Threads that use the library at once.
#include <pthread.h>

#include "check.h"

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
        cmocka_unit_test(threads_train_nets_of_their_own),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
