// SPDX-License-Identifier: Apache-2.0
// What the tests of devices share. Each program runs on the kind of device that its argument names:
// "cuda" (real or simulated; skipped where there is none) or "cpu", whose devices are virtual.
#ifndef TERN_TESTS_DEVICE_DEVICE_CHECK_H
#define TERN_TESTS_DEVICE_DEVICE_CHECK_H

#include "support/tensor_check.h"

static tern_device_type kind;
static tern_device here, there; // two devices that are not cpu:0; `there` may be `here`
static bool have_two;

// 0, or the exit code of a program that has nothing to run on.
static int choose_devices(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "cuda";
    const bool cuda = strcmp(word, "cuda") == 0;
    if (cuda && cuda_missing())
        return cuda_missing();
    kind = cuda ? TERN_CUDA : TERN_CPU;
    int first = cuda ? 0 : 1, count = tern_device_count(kind);
    here = (tern_device){kind, first};
    have_two = count > first + 1;
    there = (tern_device){kind, have_two ? first + 1 : first};
    if (count <= first) {
        puts("skipped: TERN_CPU_DEVICES says 1");
        return 77;
    }
    return 0;
}

// The same for a program about what only CUDA devices have.
static inline int choose_cuda(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (!nothing && kind != TERN_CUDA)
        puts("skipped: this is about CUDA devices");
    return !nothing && kind != TERN_CUDA ? 77 : nothing;
}

#define NEEDS_TWO_DEVICES()                                                                        \
    do {                                                                                           \
        if (!have_two) {                                                                           \
            print_message("skipped: it takes two devices\n");                                      \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

static inline bool is_on(const tern_tensor *t, tern_device device)
{
    return t && tern_device_equal(tern_device_of(t), device);
}

// A perceptron 6-8-3 and its data, the same numbers in every call.
static inline tern_module *small_net(void)
{
    tern_manual_seed(7);
    return tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_relu(), tern_nn_linear(8, 3));
}

static inline tern_tensor *small_input(int64_t rows)
{
    float values[256];
    for (int64_t i = 0; i < rows * 6; i++)
        values[i] = (float)sin(0.7 * (double)i + 0.2);
    return tern_from_data(tern_dims(rows, 6), values);
}

static inline tern_tensor *small_labels(int64_t rows)
{
    int64_t labels[64];
    for (int64_t i = 0; i < rows; i++)
        labels[i] = (i * 5 + 1) % 3;
    return tern_from_data(tern_dims(rows), labels, .dtype = TERN_INT64);
}

// A step of training, nothing of which is left.
static inline tern_status train_step(tern_module *net, tern_optim *optim, tern_tensor *x,
                                     tern_tensor *y)
{
    tern_scope scope = tern_scope_open();
    tern_optim_zero_grad(optim);
    tern_status status = tern_backward(tern_cross_entropy(tern_forward(net, x), y));
    if (!status)
        status = tern_optim_step(optim);
    tern_scope_close(scope);
    return status;
}

// Two tensors, wherever they are, hold the same float32 numbers: by bits, or within rtol.
static inline void check_same(tern_tensor *a, tern_tensor *b, double rtol)
{
    const int64_t numel = tern_numel(a);
    assert_int_equal(numel, tern_numel(b));
    float *x = malloc((size_t)numel * 8 + 1), *y = x + numel;
    assert_non_null(x);
    assert_int_equal(tern_to_host(a, x, (size_t)numel * 4), TERN_OK);
    assert_int_equal(tern_to_host(b, y, (size_t)numel * 4), TERN_OK);
    for (int64_t i = 0; i < numel; i++)
        if (!(fabs((double)x[i] - (double)y[i]) <= rtol * (1 + fabs((double)y[i]))))
            fail_msg("element %lld is %.9g, not %.9g", (long long)i, (double)x[i], (double)y[i]);
    free(x);
}

// The end of main: the first list everywhere, the second on CUDA devices.
#define RUN_DEVICE_TESTS(everywhere, on_cuda)                                                      \
    do {                                                                                           \
        int failed_ = cmocka_run_group_tests(everywhere, NULL, NULL);                              \
        if (kind == TERN_CUDA)                                                                     \
            failed_ += cmocka_run_group_tests(on_cuda, NULL, NULL);                                \
        tern_shutdown();                                                                           \
        return failed_;                                                                            \
    } while (0)

#endif
