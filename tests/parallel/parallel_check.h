// SPDX-License-Identifier: Apache-2.0
// What the tests of data parallel share: four devices, and one that runs the pieces in order.
#ifndef TERN_TESTS_PARALLEL_PARALLEL_CHECK_H
#define TERN_TESTS_PARALLEL_PARALLEL_CHECK_H

#include "device/device_check.h"

#define DEVICES 4

static tern_device devices[DEVICES];
static int device_count; // that there are, DEVICES at most

// 0, or the exit code of a program that has less than two devices.
static inline int choose_parallel_devices(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    for (; device_count < DEVICES && device_count < tern_device_count(kind); device_count++)
        devices[device_count] = (tern_device){kind, device_count};
    if (device_count >= 2)
        return 0;
    puts("skipped: it takes two devices");
    return 77;
}

static inline tern_module *parallel_of(tern_module *net, int count)
{
    tern_module *parallel =
        tern_nn_data_parallel(tern_module_retain(net), .devices = devices, .count = count);
    assert_non_null(parallel);
    return parallel;
}

// ---- one device that runs the pieces in order ---------------------------------------------------

#define MOST_PARAMETERS 16

// Gradients of each piece apart, added in order: what several devices are to give, bit for bit.
// The loss is that of the whole batch.
static inline void add_piece(tern_module *net, tern_tensor **sums)
{
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++) {
        tern_tensor *grad = tern_grad(tern_module_parameter_at(net, i, NULL, 0));
        if (grad)
            sums[i] = sums[i] ? tern_add(sums[i], grad) : tern_clone(grad);
    }
}

static inline void gradients_in_order(tern_module *net, tern_module *criterion, tern_tensor *x,
                                      tern_tensor *y, int count, tern_tensor **sums)
{
    tern_tensor *pieces[DEVICES], *outputs[DEVICES], *grads[DEVICES];
    int64_t used;
    assert_int_equal(tern_chunk(x, count, 0, pieces, DEVICES, &used), TERN_OK);
    for (int64_t i = 0; i < used; i++)
        outputs[i] = tern_forward(net, pieces[i]);
    tern_tensor *joined = tern_detach(tern_cat(outputs, used, 0));
    assert_non_null(tern_set_requires_grad(joined, true));
    assert_int_equal(tern_backward(tern_loss(criterion, joined, y)), TERN_OK);
    assert_int_equal(tern_chunk(tern_grad(joined), count, 0, grads, DEVICES, &used), TERN_OK);
    memset(sums, 0, MOST_PARAMETERS * sizeof *sums);
    for (int64_t i = 0; i < used; i++) {
        tern_module_zero_grad(net);
        assert_int_equal(tern_backward(outputs[i], .gradient = grads[i]), TERN_OK);
        add_piece(net, sums);
    }
}

// A forward and a backward over all devices leave those gradients in the net.
static inline void check_gradients(tern_module *net, tern_tensor *const *sums)
{
    char name[TERN_NAME_SIZE];
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++) {
        tern_tensor *grad = tern_grad(tern_module_parameter_at(net, i, name, sizeof name));
        if (!sums[i] != !grad)
            fail_msg("%s has %s gradient", name, grad ? "a" : "no");
        if (grad && tern_item(tern_sum(tern_ne(grad, sums[i]), TERN_ALL_AXES, false)) != 0)
            fail_msg("the gradient of %s has other bits", name);
    }
}

static inline void parallel_backward(tern_module *parallel, tern_module *criterion, tern_tensor *x,
                                     tern_tensor *y)
{
    tern_module_zero_grad(parallel);
    assert_int_equal(tern_backward(tern_loss(criterion, tern_forward(parallel, x), y)), TERN_OK);
}

#endif
