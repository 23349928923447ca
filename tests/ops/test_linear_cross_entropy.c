// SPDX-License-Identifier: Apache-2.0
// The cross-entropy of a linear layer's logits in chunks, beside tern_linear and
// tern_cross_entropy; test_linear_cross_entropy [DEVICE].
#include "support/memory_hook.h"
#include "support/tensor_check.h"

static tern_device device;

// Of samples (N, In) and classes C; three chunks.
enum { SAMPLES = 600, FEATURES = 5, CLASSES = 300 };

typedef struct operands {
    tern_tensor *x, *weight, *bias, *target;
} operands;

static tern_tensor *leaf(tern_shape shape, tern_dtype dtype)
{
    tern_tensor *t = tern_to(tern_to_dtype(tern_randn(shape), dtype), device);
    return tern_set_requires_grad(tern_detach(t), true);
}

static operands make_operands(tern_dtype dtype)
{
    tern_manual_seed(3);
    operands o = {.x = leaf(tern_dims(SAMPLES, FEATURES), dtype),
                  .weight = leaf(tern_dims(CLASSES, FEATURES), dtype),
                  .bias = leaf(tern_dims(CLASSES), dtype)};
    o.target = tern_to(tern_randint(0, CLASSES, tern_dims(SAMPLES)), device);
    return o;
}

static tern_tensor *in_one(operands o, tern_reduction reduction)
{
    return tern_linear_cross_entropy(o.x, o.weight, o.target, .linear_bias = o.bias,
                                     .reduction = reduction);
}

static tern_tensor *in_two(operands o, tern_reduction reduction)
{
    return tern_cross_entropy(tern_linear(o.x, o.weight, o.bias, TERN_ACT_NONE), o.target,
                              .reduction = reduction);
}

// The largest difference, as a share of the largest element of b.
static double difference(tern_tensor *a, tern_tensor *b)
{
    tern_tensor *wide = tern_to_dtype(b, TERN_FLOAT64);
    tern_tensor *off = tern_sub(tern_to_dtype(a, TERN_FLOAT64), wide);
    return tern_item(tern_amax(tern_abs(off), TERN_ALL_AXES, false)) /
           tern_item(tern_amax(tern_abs(wide), TERN_ALL_AXES, false));
}

static void assert_same_gradients(operands a, operands b, double share)
{
    tern_tensor *const pairs[][2] = {{a.x, b.x}, {a.weight, b.weight}, {a.bias, b.bias}};
    for (int i = 0; i < 3; i++) {
        const double off = difference(tern_grad(pairs[i][0]), tern_grad(pairs[i][1]));
        assert_no_error();
        if (!(off <= share))
            fail_msg("gradient %d is off by %g of its largest element", i, off);
    }
}

static void the_gradient_of_the_loss_multiplies_those_of_the_operands(void **state)
{
    (void)state;
    for (tern_reduction r = TERN_REDUCTION_MEAN; r <= TERN_REDUCTION_SUM; r++) {
        operands one = make_operands(TERN_FLOAT64), two = make_operands(TERN_FLOAT64);
        assert_int_equal(tern_backward(tern_mul_scalar(in_one(one, r), -2.5)), TERN_OK);
        assert_int_equal(tern_backward(tern_mul_scalar(in_two(two, r), -2.5)), TERN_OK);
        assert_same_gradients(one, two, 1e-13);
    }
}

static void each_loss_has_a_gradient_of_its_own(void **state)
{
    (void)state;
    operands one = make_operands(TERN_FLOAT64), two = make_operands(TERN_FLOAT64);
    tern_tensor *own = tern_to(tern_randn(tern_dims(SAMPLES), .dtype = TERN_FLOAT64), device);
    assert_int_equal(tern_backward(in_one(one, TERN_REDUCTION_NONE), .gradient = own), TERN_OK);
    assert_int_equal(tern_backward(in_two(two, TERN_REDUCTION_NONE), .gradient = own), TERN_OK);
    assert_same_gradients(one, two, 1e-13);
}

static void a_graph_that_is_kept_runs_again(void **state)
{
    (void)state;
    for (tern_reduction r = TERN_REDUCTION_MEAN; r <= TERN_REDUCTION_NONE; r++) {
        operands one = make_operands(TERN_FLOAT64), two = make_operands(TERN_FLOAT64);
        tern_tensor *loss = tern_sum_all(in_one(one, r));
        assert_int_equal(tern_backward(loss, .retain_graph = true), TERN_OK);
        assert_int_equal(tern_backward(loss), TERN_OK);
        assert_int_equal(tern_backward(tern_mul_scalar(tern_sum_all(in_two(two, r)), 2)), TERN_OK);
        assert_same_gradients(one, two, 1e-13);
    }
}

// What made the operands gets the gradient, and what requires none has none.
static void operands_may_have_a_history(void **state)
{
    (void)state;
    for (tern_reduction r = TERN_REDUCTION_MEAN; r <= TERN_REDUCTION_NONE; r++) {
        operands one = make_operands(TERN_FLOAT64), two = make_operands(TERN_FLOAT64);
        operands made = one, like = two;
        made.x = tern_tanh(one.x), like.x = tern_tanh(two.x);
        made.bias = tern_detach(one.bias), like.bias = tern_detach(two.bias);
        assert_int_equal(tern_backward(tern_sum_all(in_one(made, r))), TERN_OK);
        assert_int_equal(tern_backward(tern_sum_all(in_two(like, r))), TERN_OK);
        assert_null(tern_grad(one.bias));
        assert_true(difference(tern_grad(one.x), tern_grad(two.x)) < 1e-13);
        assert_true(difference(tern_grad(one.weight), tern_grad(two.weight)) < 1e-13);
    }
}

// Each sample's class is itself.
static void the_input_may_be_the_weight(void **state)
{
    (void)state;
    tern_tensor *labels = tern_arange(0, CLASSES, 1, .device = device);
    for (tern_reduction r = TERN_REDUCTION_MEAN; r <= TERN_REDUCTION_NONE; r++) {
        operands one = make_operands(TERN_FLOAT64), two = make_operands(TERN_FLOAT64);
        one.target = two.target = labels;
        one.x = one.weight, two.x = two.weight;
        assert_int_equal(tern_backward(tern_sum_all(in_one(one, r))), TERN_OK);
        assert_int_equal(tern_backward(tern_sum_all(in_two(two, r))), TERN_OK);
        assert_same_gradients(one, two, 1e-13);
    }
}

// The gradient of a logit is about 1 / (600 * 300): too small for float16, and only its sums times
// what the loss was multiplied by are not.
static void a_scaled_loss_keeps_small_gradients_of_16_bits(void **state)
{
    (void)state;
    operands one = make_operands(TERN_FLOAT16), two = make_operands(TERN_FLOAT16);
    two.x = tern_set_requires_grad(tern_detach(tern_to_dtype(one.x, TERN_FLOAT64)), true);
    two.weight = tern_set_requires_grad(tern_detach(tern_to_dtype(one.weight, TERN_FLOAT64)), true);
    two.bias = tern_set_requires_grad(tern_detach(tern_to_dtype(one.bias, TERN_FLOAT64)), true);
    tern_tensor *loss = in_one(one, TERN_REDUCTION_MEAN);
    assert_int_equal(tern_dtype_of(loss), TERN_FLOAT16);
    assert_int_equal(tern_backward(tern_mul_scalar(loss, 1024)), TERN_OK);
    assert_int_equal(tern_backward(tern_mul_scalar(in_two(two, TERN_REDUCTION_MEAN), 1024)),
                     TERN_OK);
    assert_same_gradients(one, two, 0x1p-11);
}

// ---- memory -------------------------------------------------------------------------------------

static int64_t bytes_taken(void)
{
    tern_cuda_memory on_device = {0};
    if (device.type == TERN_CPU)
        return memory.bytes;
    assert_int_equal(tern_cuda_get_memory(device.index, &on_device), TERN_OK);
    return on_device.allocated;
}

static int64_t most_bytes_taken(void)
{
    tern_cuda_memory on_device = {0};
    if (device.type == TERN_CPU)
        return memory.peak;
    assert_int_equal(tern_cuda_get_memory(device.index, &on_device), TERN_OK);
    return on_device.allocated_peak;
}

static int64_t begin_measuring(void)
{
    tern_memory_trim();
    if (device.type == TERN_CPU)
        memory.peak = memory.bytes;
    else
        assert_int_equal(tern_cuda_reset_peak_memory(device.index), TERN_OK);
    return bytes_taken();
}

// What a step takes at most besides the operands and their gradients.
static int64_t bytes_of_step(tern_tensor *(*loss)(operands, tern_reduction), tern_reduction r)
{
    operands o = {.x = leaf(tern_dims(8192, 4), TERN_FLOAT32),
                  .weight = leaf(tern_dims(256, 4), TERN_FLOAT32),
                  .bias = leaf(tern_dims(256), TERN_FLOAT32)};
    o.target = tern_to(tern_randint(0, 256, tern_dims(8192)), device);
    tern_tensor *all =
        tern_add(tern_sum_all(o.x), tern_add(tern_sum_all(o.weight), tern_sum_all(o.bias)));
    assert_int_equal(tern_backward(all), TERN_OK);
    const int64_t before = begin_measuring();
    assert_int_equal(tern_backward(tern_sum_all(loss(o, r))), TERN_OK);
    return most_bytes_taken() - before;
}

static void the_logits_of_the_batch_are_never_there(void **state)
{
    (void)state;
    for (tern_reduction r = TERN_REDUCTION_MEAN; r <= TERN_REDUCTION_NONE; r++) {
        const int64_t one = bytes_of_step(in_one, r), two = bytes_of_step(in_two, r);
        if (two < 2 * 8192 * 256 * 4 || one > two / 10)
            fail_msg("%lld bytes, and %lld where all logits are there", (long long)one,
                     (long long)two);
    }
}

static int64_t bytes_of_forward(operands o, bool records)
{
    const int64_t before = begin_measuring();
    const bool recorded = tern_set_grad_enabled(records);
    tern_tensor *loss = in_one(o, TERN_REDUCTION_MEAN);
    tern_set_grad_enabled(recorded);
    assert_int_equal(tern_requires_grad(loss), records);
    return most_bytes_taken() - before;
}

static void without_recording_no_gradient_is_made(void **state)
{
    (void)state;
    operands o = make_operands(TERN_FLOAT32);
    const int64_t gradients = (CLASSES + SAMPLES) * FEATURES * 4;
    assert_true(bytes_of_forward(o, false) + gradients <= bytes_of_forward(o, true));
}

static void a_forward_keeps_gradients_alone(void **state)
{
    (void)state;
    operands o = make_operands(TERN_FLOAT32);
    const int64_t tensors = tern_live_tensors();
    tern_tensor *loss = in_one(o, TERN_REDUCTION_MEAN);
    assert_no_error();
    assert_int_equal(tern_live_tensors(), tensors + 4); // the loss, of x, weight and bias
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_int_equal(tern_live_tensors(), tensors + 4); // the loss, and the leaves'
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(the_gradient_of_the_loss_multiplies_those_of_the_operands),
        CHECK_TEST(each_loss_has_a_gradient_of_its_own),
        CHECK_TEST(a_graph_that_is_kept_runs_again),
        CHECK_TEST(operands_may_have_a_history),
        CHECK_TEST(the_input_may_be_the_weight),
        CHECK_TEST(a_scaled_loss_keeps_small_gradients_of_16_bits),
        CHECK_TEST(the_logits_of_the_batch_are_never_there),
        CHECK_TEST(without_recording_no_gradient_is_made),
        CHECK_TEST(a_forward_keeps_gradients_alone),
    };
    if (use_memory_hook() || tern_device_parse(argc > 1 ? argv[1] : "cpu:0", &device))
        return tern_error_print(stderr);
    return cmocka_run_group_tests_name("linear_cross_entropy", tests, NULL, check_shutdown);
}
