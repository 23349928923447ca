// SPDX-License-Identifier: Apache-2.0
// What a summary says a step costs: multiply-adds and memory, against hand calculations, known
// networks, and what the allocator and the optimizers really take.
#include "support/tensor_check.h"

static char text[1 << 16];

// What the summary says.
static const char *summary_with(tern_module *m, tern_shape input, tern_optim *optim, int width)
{
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    const tern_status status =
        tern_module_summary_print(m, input, file, .optim = optim, .width = width);
    fclose(file);
    return status ? NULL : text;
}

static const char *summary(tern_module *m, tern_shape input)
{
    return summary_with(m, input, NULL, 0);
}

// The number, with its commas, of the line that begins with `what`; -1: it is not there.
static int64_t total(const char *what)
{
    char line[100];
    snprintf(line, sizeof line, "\n%s: ", what);
    const char *at = strstr(text, line);
    if (!at || at[strlen(line)] < '0' || at[strlen(line)] > '9')
        return -1;
    int64_t number = 0;
    for (at += strlen(line); (*at >= '0' && *at <= '9') || *at == ','; at++)
        number = *at == ',' ? number : 10 * number + (*at - '0');
    return number;
}

#define ACTIVATIONS "Bytes of activations for backward"

// ---- multiply-adds ------------------------------------------------------------------------------

static void check_multiply_adds(tern_module *m, tern_shape input, int64_t wanted)
{
    assert_non_null(summary(m, input));
    if (total("Multiply-adds") != wanted)
        printf("%s", text);
    assert_int_equal(total("Multiply-adds"), wanted);
    tern_module_free(m);
}

static void multiply_adds_are_those_of_a_hand_calculation(void **state)
{
    (void)state;
    check_multiply_adds(tern_nn_linear(7, 5), tern_dims(3, 2, 7), 3 * 2 * 7 * 5);
    check_multiply_adds(tern_nn_conv1d(4, 6, 3), tern_dims(2, 4, 10), 2 * 6 * 8 * 4 * 3);
    // Groups, stride and padding: (2, 6, 4, 4) of 2 channels and 3 x 3 each.
    check_multiply_adds(tern_nn_conv2d(4, 6, 3, .groups = 2, .stride = 2, .padding = 1),
                        tern_dims(2, 4, 8, 8), 2 * 6 * 4 * 4 * 2 * 9);
    check_multiply_adds(tern_nn_conv3d(2, 3, 2), tern_dims(1, 2, 3, 3, 3), 3 * 8 * 2 * 8);
    // Each of 2 x 4 x 5 x 5 inputs goes to 3 channels of its group and 3 x 3.
    check_multiply_adds(tern_nn_conv_transpose2d(4, 6, 3, .groups = 2, .stride = 2),
                        tern_dims(2, 4, 5, 5), 2 * 4 * 5 * 5 * 3 * 9);
    check_multiply_adds(tern_nn_sequential(tern_nn_relu(), tern_nn_batch_norm1d(4)),
                        tern_dims(5, 4), 0);
    check_multiply_adds(tern_nn_linear(7, 5), tern_dims(0, 7), 0);
}

// (N, 3, 4) by its own transpose, then a child, then (N, 3, 3) by a vector.
static tern_status attend(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    tern_tensor *y = tern_matmul(x, tern_transpose(x, 1, 2));
    y = tern_forward(tern_module_child(module, "child"), y);
    out->count = 1;
    out->at[0] = tern_matmul(y, tern_ones(tern_dims(3)));
    return tern_error_code();
}

static void products_of_a_module_are_told_from_those_of_its_children(void **state)
{
    static const tern_module_class klass = {
        .name = "Attend", .size = sizeof(tern_module), .call = attend};
    tern_module *m = tern_module_new(&klass);
    (void)state;
    assert_non_null(tern_module_add_child(m, "child", NULL, tern_nn_linear(3, 3)));
    m = tern_module_done(m);
    assert_non_null(summary(m, tern_dims(2, 3, 4)));
    assert_non_null(strstr(text,
                           "\nAttend                         (2, 3)                          -"
                           "              90\n")); // 2 x 3 x 3 x 4 + 2 x 3 x 3
    assert_non_null(strstr(text,
                           "\n  child Linear                 (2, 3, 3)                      12"
                           "              54  in"));
    assert_int_equal(total("Multiply-adds"), 144);
    tern_module_free(m);
}

// Published as 1.814 and 15.47 thousand million, by torchvision among others.
static void known_networks_have_the_known_multiply_adds(void **state)
{
    (void)state;
    check_multiply_adds(tern_models_resnet18(.num_classes = 1000), tern_dims(1, 3, 224, 224),
                        1814073344);
    check_multiply_adds(tern_models_vgg16(.num_classes = 1000), tern_dims(1, 3, 224, 224),
                        15470264320);
}

// ---- activations --------------------------------------------------------------------------------

static void activations_are_those_of_a_hand_calculation(void **state)
{
    tern_module *m = tern_nn_sequential(tern_nn_conv2d(1, 2, 3, .padding = 1),
                                        tern_nn_batch_norm2d(2), tern_nn_relu());
    (void)state;
    assert_non_null(summary(m, tern_dims(2, 1, 8, 8)));
    // The input, what batch norm gets with its 2 means and deviations, and what ReLU gives.
    assert_int_equal(total(ACTIVATIONS), 512 + 1024 + 16 + 1024);
    (void)tern_module_requires_grad_(m, false);
    assert_non_null(summary(m, tern_dims(2, 1, 8, 8)));
    assert_int_equal(total(ACTIVATIONS), 0);
    assert_int_equal(total("Bytes of gradients"), 0);
    tern_module_free(m);
}

static void activations_are_what_the_allocator_holds_after_a_forward(void **state)
{
    tern_module *m = tern_nn_sequential(tern_nn_conv2d(3, 16, 3, .padding = 1), tern_nn_relu(),
                                        tern_nn_dropout(), tern_nn_max_pool2d(2),
                                        tern_nn_conv2d(16, 32, 3, .padding = 1), tern_nn_gelu(),
                                        tern_nn_flatten(), tern_nn_linear(32 * 16 * 16, 10));
    (void)state;
    assert_non_null(summary(m, tern_dims(64, 3, 32, 32)));
    tern_tensor *x = tern_zeros(tern_dims(64, 3, 32, 32));
    (void)tern_forward(m, x); // what is cached afterwards does not count
    const int64_t before = tern_memory_live_bytes();
    tern_scope scope = tern_scope_open();
    tern_tensor *y = tern_scope_close_keep(scope, tern_forward(m, x));
    const int64_t held = tern_memory_live_bytes() - before;
    const int64_t input = 64 * 3 * 32 * 32 * 4, result = 64 * 10 * 4;
    assert_non_null(y);
    // Sizes that the allocator does not round up. The graph also has its nodes and headers.
    const int64_t nodes = held - (total(ACTIVATIONS) - input + result);
    if (nodes < 0 || nodes > 40000)
        printf("%lld bytes held, %s", (long long)held, text);
    assert_in_range(nodes, 0, 40000);
    tern_module_free(m);
}

static void activations_are_those_of_training_also_of_a_module_that_is_evaluated(void **state)
{
    tern_module *m = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_dropout(),
                                        tern_nn_linear(8, 2));
    (void)state;
    assert_non_null(summary(m, tern_dims(16, 4)));
    // The input, ReLU's and dropout's results, and the number of the draw.
    assert_int_equal(total(ACTIVATIONS), 16 * (4 + 8 + 8) * 4 + 8);
    (void)tern_module_eval(m);
    assert_non_null(summary(m, tern_dims(16, 4)));
    assert_int_equal(total(ACTIVATIONS), 16 * (4 + 8 + 8) * 4 + 8);
    assert_false(tern_module_is_training(m));
    tern_module_free(m);
}

static void a_forward_that_fails_in_training_is_said_and_leaves_no_error(void **state)
{
    tern_module *m = tern_nn_sequential(tern_nn_linear(4, 4), tern_nn_batch_norm1d(4));
    (void)state;
    assert_non_null(summary(m, tern_dims(1, 4)));
    assert_non_null(strstr(text, ACTIVATIONS ": not known (batch_norm: "));
    assert_false(tern_error_pending());
    tern_module_free(m);
}

// ---- nothing stays ------------------------------------------------------------------------------

static void buffers_and_generators_are_as_before(void **state)
{
    tern_manual_seed(3);
    tern_module *m = tern_nn_sequential(tern_nn_batch_norm1d(4), tern_nn_dropout());
    (void)state;
    tern_tensor *x = tern_reshape(tern_arange(0, 32, 1, .dtype = TERN_FLOAT32), tern_dims(8, 4));
    x = tern_mul(x, x);
    (void)tern_forward(m, tern_randn(tern_dims(8, 4)));
    float mean[4], after[4];
    tern_tensor *buffer = tern_module_buffer(m, "0.running_mean");
    assert_int_equal(tern_to_host(buffer, mean, sizeof mean), TERN_OK);
    // A backward that keeps the statistics finds them unchanged.
    tern_tensor *doubled = tern_mul(tern_ones(tern_dims(4), .requires_grad = true), buffer);
    assert_non_null(summary(m, tern_dims(8, 4)));
    assert_int_equal(tern_to_host(buffer, after, sizeof after), TERN_OK);
    assert_memory_equal(mean, after, sizeof mean);
    tern_tensor *tracked = tern_module_buffer(m, "0.num_batches_tracked");
    assert_int_equal(tern_item_int(tracked), 1);
    assert_int_equal(tern_backward(tern_sum_all(doubled)), TERN_OK);
    tern_tensor *with = tern_forward(m, x);
    tern_manual_seed(3);
    (void)tern_forward(m, tern_randn(tern_dims(8, 4)));
    tern_tensor *without = tern_forward(m, x);
    float a[32], b[32];
    int dropped = 0;
    assert_int_equal(tern_to_host(with, a, sizeof a), TERN_OK);
    assert_int_equal(tern_to_host(without, b, sizeof b), TERN_OK);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(a[i] == 0, b[i] == 0); // the same of them are dropped
        dropped += a[i] == 0;
    }
    assert_in_range(dropped, 1, 31);
    assert_true(tern_module_is_training(m));
    tern_module_free(m);
}

// ---- optimizers ---------------------------------------------------------------------------------

// Bytes of the tensors that its state dict has.
static int64_t bytes_of_state(tern_optim *optim)
{
    int64_t nbytes = 0;
    tern_state *s = tern_optim_state_dict(optim);
    for (int64_t i = 0; i < tern_state_count(s); i++) {
        const char *name = tern_state_name_at(s, i);
        if (tern_state_type_at(s, i) != TERN_STATE_TENSOR)
            continue;
        const tern_tensor *t = tern_state_tensor(s, name);
        nbytes += tern_numel(t) * (int64_t)tern_dtype_size(tern_dtype_of(t));
    }
    tern_state_free(s);
    return nbytes;
}

static void check_optimizer(tern_optim *optim, tern_module *m, const char *name)
{
    char of[64];
    assert_non_null(optim);
    (void)tern_module_requires_grad_(tern_module_child(m, "0"), false); // it gets no state
    snprintf(of, sizeof of, "Bytes of optimizer state (%s)", name);
    assert_non_null(summary_with(m, tern_dims(4, 6), optim, 0));
    const int64_t foreseen = total(of);
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_backward(tern_sum_all(tern_forward(m, tern_ones(tern_dims(4, 6))))),
                     TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    assert_int_equal(foreseen, bytes_of_state(optim));
    assert_non_null(summary_with(m, tern_dims(4, 6), optim, 0));
    assert_int_equal(total(of), foreseen);
    (void)tern_module_requires_grad_(m, true);
    tern_optim_free(optim);
}

static void the_state_of_an_optimizer_is_what_it_has_after_a_step(void **state)
{
    tern_module *m = tern_nn_sequential(tern_nn_linear(6, 5), tern_nn_relu(), tern_nn_linear(5, 3));
    (void)state;
    check_optimizer(tern_optim_sgd(m, .lr = 0.1), m, "SGD");
    check_optimizer(tern_optim_sgd(m, .lr = 0.1, .momentum = 0.9), m, "SGD");
    check_optimizer(tern_optim_adam(m), m, "Adam");
    check_optimizer(tern_optim_adam(m, .amsgrad = true), m, "Adam");
    check_optimizer(tern_optim_adafactor(m), m, "Adafactor");
    check_optimizer(tern_optim_rmsprop(m, .centered = true), m, "RMSprop");
    tern_module_free(m);
}

static void lbfgs_has_its_whole_history(void **state)
{
    tern_module *m = tern_nn_linear(6, 5);
    tern_optim *optim = tern_optim_lbfgs(m, .history_size = 7);
    (void)state;
    assert_non_null(summary_with(m, tern_dims(4, 6), optim, 0));
    assert_int_equal(total("Bytes of optimizer state (LBFGS)"), (2 * 7 + 2) * 35 * 4);
    tern_optim_free(optim);
    tern_module_free(m);
}

// ---- width --------------------------------------------------------------------------------------

static int longest_line(void)
{
    int longest = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        longest = (int)strcspn(at, "\n") > longest ? (int)strcspn(at, "\n") : longest;
    return longest;
}

static void lines_are_no_longer_than_the_width(void **state)
{
    tern_module *m = tern_models_resnet18(.num_classes = 10);
    const tern_shape input = tern_dims(2, 3, 32, 32);
    (void)state;
    assert_non_null(summary_with(m, input, NULL, 60));
    assert_int_equal(longest_line(), 60);
    assert_non_null(
        strstr(text, "\nResNet             (2, 10)                 -               -\n"));
    assert_non_null(summary_with(m, input, NULL, 80));
    assert_int_equal(longest_line(), 80);
    assert_null(strstr(text, "kernel_size"));
    assert_non_null(summary_with(m, input, NULL, 120));
    assert_int_equal(longest_line(), 120);
    assert_non_null(strstr(text, "3, 64, kernel_size=(7, 7), stride=(2.."));
    assert_non_null(summary_with(m, input, NULL, 0));
    assert_true(longest_line() > 120);
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(multiply_adds_are_those_of_a_hand_calculation),
        CHECK_TEST(products_of_a_module_are_told_from_those_of_its_children),
        CHECK_TEST(known_networks_have_the_known_multiply_adds),
        CHECK_TEST(activations_are_those_of_a_hand_calculation),
        CHECK_TEST(activations_are_what_the_allocator_holds_after_a_forward),
        CHECK_TEST(activations_are_those_of_training_also_of_a_module_that_is_evaluated),
        CHECK_TEST(a_forward_that_fails_in_training_is_said_and_leaves_no_error),
        CHECK_TEST(buffers_and_generators_are_as_before),
        CHECK_TEST(the_state_of_an_optimizer_is_what_it_has_after_a_step),
        CHECK_TEST(lbfgs_has_its_whole_history),
        CHECK_TEST(lines_are_no_longer_than_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
