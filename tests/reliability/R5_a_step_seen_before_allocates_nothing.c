// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <unistd.h>

#include "support/check.h"
#include "support/memory_hook.h"

// ---- the C library's heap, watched --------------------------------------------------------------

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

static _Atomic int64_t heap_calls; // of the whole process, on any thread

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const bool heap_is_watched = true;

void *__libc_malloc(size_t nbytes);
void *__libc_calloc(size_t count, size_t nbytes);
void *__libc_realloc(void *block, size_t nbytes);
void *__libc_memalign(size_t align, size_t nbytes);
void *memalign(size_t align, size_t nbytes);

void *malloc(size_t nbytes)
{
    heap_calls++;
    return __libc_malloc(nbytes);
}

void *calloc(size_t count, size_t nbytes)
{
    heap_calls++;
    return __libc_calloc(count, nbytes);
}

void *realloc(void *block, size_t nbytes)
{
    heap_calls++;
    return __libc_realloc(block, nbytes);
}

void *memalign(size_t align, size_t nbytes)
{
    heap_calls++;
    return __libc_memalign(align, nbytes);
}

void *aligned_alloc(size_t align, size_t nbytes)
{
    return memalign(align, nbytes);
}

int posix_memalign(void **block, size_t align, size_t nbytes)
{
    *block = memalign(align, nbytes);
    return *block ? 0 : ENOMEM;
}
#else
static const bool heap_is_watched = false; // sanitizers have a heap of their own
#endif

// What has been allocated since here, by whom.
static void begin_watch(void)
{
    fail_nth_allocation(0);
    heap_calls = 0;
}

static void assert_nothing_was_allocated(const char *what)
{
    int64_t heap = heap_calls;
    if (memory.calls || heap)
        fail_msg("%s: %lld calls of the allocator, %lld of the C library's heap", what,
                 (long long)memory.calls, (long long)heap);
}

// The counters count: before the steady state something was allocated.
static void assert_something_was_allocated(void)
{
    int64_t heap = heap_calls;
    assert_true(memory.calls > 10);
    assert_true(!heap_is_watched || heap > 10);
}

// ---- training -----------------------------------------------------------------------------------

typedef struct run {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_loader *train, *test;
} run;

static tern_dataset *samples(int64_t count)
{
    tern_scope scope = tern_scope_open();
    tern_dataset *set = tern_data_tensors(tern_rand(tern_dims(count, 1, 28, 28)),
                                          tern_randint(0, 10, tern_dims(count)));
    tern_scope_close(scope);
    return set;
}

static run begin(tern_dataset *train, tern_dataset *test, int64_t batch_size, tern_device device)
{
    tern_scope scope = tern_scope_open();
    run r = {
        .net = tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 64), tern_nn_relu(),
                                  tern_nn_dropout(0.2), tern_nn_linear(64, 32), tern_nn_gelu(),
                                  tern_nn_linear(32, 10)),
        .criterion =
            tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(10)), .label_smoothing = 0.1),
        .train =
            tern_loader_new(train, .batch_size = batch_size, .shuffle = true, .device = device),
        .test = tern_loader_new(test, .batch_size = batch_size, .device = device),
    };
    tern_scope_close(scope);
    (void)tern_module_to(r.net, device);
    (void)tern_module_to(r.criterion, device);
    tern_dataset_free(train);
    tern_dataset_free(test);
    assert_no_error();
    return r;
}

static void end(run *r)
{
    tern_loader_free(r->train);
    tern_loader_free(r->test);
    tern_optim_free(r->optim);
    tern_module_free(r->criterion);
    tern_module_free(r->net);
}

static tern_status step(const run *r, tern_tensor *x, tern_tensor *y)
{
    tern_tensor *loss = tern_loss(r->criterion, tern_forward(r->net, x), y);
    tern_optim_zero_grad(r->optim);
    if (tern_backward(loss) || !tern_clip_grad_norm(r->net, 1) || tern_clip_grad_value(r->net, 0.5))
        return tern_error_code();
    return tern_optim_step(r->optim);
}

static void train_an_epoch(const run *r)
{
    tern_batch b;
    while (tern_loader_next(r->train, &b))
        if (step(r, b.x, b.y))
            break;
    assert_no_error();
}

static void evaluate(const run *r)
{
    tern_batch b;
    double right = 0;
    (void)tern_module_eval(r->net);
    while (tern_loader_next(r->test, &b)) {
        tern_no_grad {
            tern_tensor *best = tern_argmax(tern_forward(r->net, b.x), 1, false);
            right += tern_item(tern_sum(tern_eq(best, b.y), TERN_ALL_AXES, false));
        }
    }
    (void)tern_module_train(r->net, true);
    assert_no_error();
    assert_true(right >= 0);
}

// Epochs with a short last batch and an evaluation after each; from the third on nothing is taken,
// at their borders neither.
static void assert_epochs_settle(const char *what, const run *r)
{
    begin_watch();
    for (int epoch = 0; epoch < 2; epoch++) {
        train_an_epoch(r);
        evaluate(r);
    }
    assert_something_was_allocated();
    int64_t live = tern_memory_live_bytes();
    begin_watch();
    for (int epoch = 0; epoch < 3; epoch++) {
        train_an_epoch(r);
        evaluate(r);
    }
    assert_nothing_was_allocated(what);
    assert_int_equal(tern_memory_live_bytes(), live);
}

// ---- tests --------------------------------------------------------------------------------------

static tern_optim *plain_sgd(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.01);
}

static tern_optim *nesterov(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.01, .momentum = 0.9, .nesterov = true);
}

static tern_optim *adam(tern_module *net)
{
    return tern_optim_adam(net);
}

static tern_optim *amsgrad(tern_module *net)
{
    return tern_optim_adamw(net, .amsgrad = true);
}

static tern_optim *rmsprop(tern_module *net)
{
    return tern_optim_rmsprop(net, .momentum = 0.5, .centered = true);
}

static const struct {
    const char *name;
    tern_optim *(*make)(tern_module *net);
} optimizers[] = {{"SGD", plain_sgd},
                  {"Nesterov", nesterov},
                  {"Adam", adam},
                  {"AdamW with AMSGrad", amsgrad},
                  {"RMSprop", rmsprop}};

// On `count` threads.
static void run_each_optimizer(int count, tern_device device)
{
    assert_int_equal(tern_set_num_threads(count), TERN_OK);
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        run r = begin(samples(150), samples(70), 64, device);
        r.optim = optimizers[i].make(r.net);
        assert_epochs_settle(optimizers[i].name, &r);
        end(&r);
        tern_memory_trim();
    }
}

static void epochs_of_every_optimizer_settle(void **state)
{
    (void)state;
    run_each_optimizer(1, tern_cpu(0));
}

static void epochs_on_several_threads_settle(void **state)
{
    (void)state;
    run_each_optimizer(3, tern_cpu(0));
}

static void epochs_on_another_device_settle(void **state)
{
    (void)state;
    run_each_optimizer(2, tern_cpu(1));
}

static void epochs_of_mnist_settle(void **state)
{
    (void)state;
    const char *directory = getenv("TERN_TEST_DATA");
    if (!directory || access(directory, R_OK)) {
        print_message("TERN_TEST_DATA names no directory\n");
        skip();
    }
    run r = begin(tern_data_mnist(directory, TERN_TEST), samples(70), 768, tern_cpu(0));
    r.optim = adam(r.net);
    assert_epochs_settle("MNIST", &r);
    end(&r);
}

// ---- samples that are made one by one -----------------------------------------------------------

static int64_t count_150(const tern_dataset *self)
{
    (void)self;
    return 150;
}

// A random image, shifted by a view, and its label.
static tern_status made_item(const tern_dataset *self, const tern_sample_context *context,
                             int64_t index, tern_sample *out)
{
    (void)self;
    tern_tensor *room = tern_full(tern_dims(1, 30, 30), tern_sample_rand(context, index, 0));
    int64_t top = tern_sample_randint(context, index, 1, 0, 3);
    out->at[out->count++] = tern_narrow(tern_narrow(room, 1, top, 28), 2, 1, 28);
    out->at[out->count++] = tern_full(tern_dims(), (double)(index % 10), .dtype = TERN_INT64);
    return tern_error_code();
}

static void epochs_of_samples_that_are_made_one_by_one_settle(void **state)
{
    (void)state;
    static const tern_dataset_class made_class = {
        .name = "made", .size = sizeof(tern_dataset), .count = count_150, .item = made_item};
    for (int device = 0; device < 2; device++) {
        run r = begin(tern_dataset_new(&made_class), samples(70), 64, tern_cpu(device));
        r.optim = adam(r.net);
        assert_epochs_settle("samples made one by one", &r);
        end(&r);
        tern_memory_trim();
    }
}

// One shape: the third step is the first that takes nothing.
static void the_third_step_takes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        run r = begin(samples(64), samples(64), 64, tern_cpu(0));
        r.optim = optimizers[i].make(r.net);
        tern_tensor *x = tern_rand(tern_dims(64, 1, 28, 28)),
                    *y = tern_randint(0, 10, tern_dims(64));
        for (int n = 1; n <= 10; n++) {
            if (n == 3)
                begin_watch();
            tern_scope scope = tern_scope_open();
            assert_int_equal(step(&r, x, y), TERN_OK);
            tern_scope_close(scope);
        }
        assert_nothing_was_allocated(optimizers[i].name);
        end(&r);
        tern_shutdown(); // the next begins without pools
        assert_int_equal(tern_set_num_threads(2), TERN_OK);
    }
}

static void the_third_update_of_an_average_takes_nothing(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(20, 300), tern_nn_batch_norm1d(300),
                                          tern_nn_linear(300, 300));
    tern_module *averages[] = {tern_averaged_model_swa(net),
                               tern_averaged_model_ema(net, .use_buffers = true)};
    for (int n = 1; n <= 10; n++) {
        if (n == 3)
            begin_watch();
        for (int i = 0; i < 2; i++)
            assert_int_equal(tern_averaged_model_update(averages[i], net), TERN_OK);
    }
    assert_nothing_was_allocated("averages");
    tern_free(averages[0], averages[1], net);
}

static void live_bytes_stay_over_ten_thousand_steps(void **state)
{
    (void)state;
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(2, 16), tern_nn_tanh(), tern_nn_linear(16, 16),
                           tern_nn_relu(), tern_nn_linear(16, 1));
    tern_optim *optim = tern_optim_adam(net);
    tern_tensor *x = tern_rand(tern_dims(8, 2)), *y = tern_rand(tern_dims(8, 1));
    int64_t live = 0;
    for (int n = 1; n <= 10000; n++) {
        if (n == 3) {
            begin_watch();
            live = tern_memory_live_bytes();
        }
        tern_scope scope = tern_scope_open();
        tern_tensor *loss = tern_mse_loss(tern_forward(net, x), y, TERN_REDUCTION_MEAN);
        tern_optim_zero_grad(optim);
        if (tern_backward(loss) || tern_optim_step(optim))
            break;
        tern_scope_close(scope);
        if (n >= 3 && tern_memory_live_bytes() != live)
            fail_msg("step %d: %lld bytes more", n, (long long)(tern_memory_live_bytes() - live));
    }
    assert_no_error();
    assert_int_equal(tern_optim_step_count(optim, 0), 10000);
    assert_nothing_was_allocated("10000 steps");
    tern_optim_free(optim);
    tern_module_free(net);
}

int main(void)
{
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (use_memory_hook())
        return 1;
    print_message("%s\n", heap_is_watched ? "malloc and its like are watched"
                                          : "the sanitizer's heap is not watched, only the hook");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_of_every_optimizer_settle),
        cmocka_unit_test(epochs_on_several_threads_settle),
        cmocka_unit_test(epochs_on_another_device_settle),
        cmocka_unit_test(epochs_of_mnist_settle),
        cmocka_unit_test(epochs_of_samples_that_are_made_one_by_one_settle),
        cmocka_unit_test(the_third_step_takes_nothing),
        cmocka_unit_test(the_third_update_of_an_average_takes_nothing),
        cmocka_unit_test(live_bytes_stay_over_ten_thousand_steps),
    };
    return cmocka_run_group_tests_name("a step seen before allocates nothing", tests, NULL, NULL);
}
