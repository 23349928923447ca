// SPDX-License-Identifier: Apache-2.0
#include "support/tensor_check.h"

// What a summary writes; to be freed. NULL when it fails.
static char *summary(tern_module *m, tern_shape input, tern_dtype dtype)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    tern_status status = tern_module_summary_print(m, input, file, .dtype = dtype);
    fclose(file);
    if (!status)
        return text;
    free(text);
    return NULL;
}

#define RULE "--------------------------------------------------------------------------------\n"

static void a_summary_shows_shapes_and_parameters(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(
        tern_nn_flatten(), tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu()),
        tern_nn_dropout(), tern_nn_linear(512, 10, .bias = false));
    (void)tern_module_requires_grad_(tern_module_child(m, "3"), false);
    char *text = summary(m, tern_dims(64, 1, 28, 28), TERN_DTYPE_UNSPECIFIED);
    assert_non_null(text);
    // Kept for backward: the input, what ReLU gave, and the number of dropout's draw.
    assert_string_equal(
        text,
        "Layer                          Output shape           Parameters   Multiply-adds\n" //
        RULE "Sequential                     (64, 10)                        -               -\n"
        "  0 Flatten                    (64, 784)                       -               -  "
        "start_dim=1, end_dim=-1\n"
        "  1 Sequential                 (64, 512)                       -               -\n"
        "    0 Linear                   (64, 512)                 401,920      25,690,112  "
        "in_features=784, out_features=512, bias=True\n"
        "    1 ReLU                     (64, 512)                       -               -\n"
        "  2 Dropout                    (64, 512)                       -               -  "
        "p=0.5, inplace=False\n"
        "  3 Linear                     (64, 10)                    5,120         327,680  "
        "in_features=512, out_features=10, bias=False\n" //
        RULE "Parameters: 407,040, trainable: 401,920\n"
        "Multiply-adds: 26,017,792\n"
        "Bytes of parameters and buffers: 1,628,160\n"
        "Bytes of gradients: 1,607,680\n"
        "Bytes of activations for backward: 331,784\n");
    free(text);
    tern_module_free(m);
}

static void a_summary_leaves_no_trace(void **state)
{
    (void)state;
    tern_manual_seed(7);
    tern_module *m =
        tern_nn_sequential(tern_nn_linear(4, 4), tern_nn_dropout(), tern_nn_linear(4, 2));
    (void)tern_module_eval(tern_module_child(m, "1"));
    size_t size = tern_generator_state_size();
    char *before = malloc(size), *after = malloc(size);
    tern_generator *generator = tern_default_generator(tern_cpu(0));
    assert_int_equal(tern_generator_save(generator, before, size), TERN_OK);
    char *text = summary(m, tern_dims(3, 4), TERN_DTYPE_UNSPECIFIED);
    assert_non_null(text);
    assert_int_equal(tern_generator_save(generator, after, size), TERN_OK);
    assert_memory_equal(before, after, size);
    assert_true(tern_module_is_training(m) && tern_grad_enabled());
    assert_false(tern_module_is_training(tern_module_child(m, "1")));
    free(text);
    free(before);
    free(after);
    tern_module_free(m);
}

static void a_summary_as_text_is_the_one_that_is_printed_cut_where_the_buffer_ends(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_linear(8, 2));
    char *printed = summary(m, tern_dims(3, 4), TERN_DTYPE_UNSPECIFIED), text[1200], cut[100];
    int64_t length = (int64_t)strlen(printed);
    const tern_dtype dtype = TERN_DTYPE_UNSPECIFIED;
    assert_int_equal(tern_module_summary_format(m, tern_dims(3, 4), dtype, NULL, 0), length);
    assert_int_equal(tern_module_summary_format(m, tern_dims(3, 4), dtype, text, sizeof text),
                     length);
    assert_string_equal(text, printed);
    memset(cut, '#', sizeof cut);
    assert_int_equal(tern_module_summary_format(m, tern_dims(3, 4), dtype, cut, 90), length);
    assert_memory_equal(cut, printed, 89);
    assert_true(cut[89] == 0 && cut[90] == '#');
    free(printed);
    tern_module_free(m);
}

static tern_status refuse(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)in;
    (void)user;
    return tern_error_raise(TERN_ERR_ARG, "the hook ran");
}

static void hooks_do_not_run(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(4, 4);
    assert_true(tern_module_add_forward_pre_hook(m, refuse, NULL) > 0);
    char *text = summary(m, tern_dims(1, 4), TERN_DTYPE_UNSPECIFIED);
    assert_non_null(text);
    free(text);
    assert_null_with(tern_forward(m, tern_ones(tern_dims(1, 4))), TERN_ERR_ARG, "the hook ran");
    tern_module_free(m);
}

static tern_status pass_on(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    *out = *in;
    return TERN_OK;
}

static void a_module_that_does_not_run_is_shown_so_and_a_shared_one_once(void **state)
{
    (void)state;
    const tern_module_class idle_class = {
        .name = "Idle", .size = sizeof(tern_module), .call = pass_on};
    tern_module *idle = tern_module_new(&idle_class);
    assert_non_null(tern_module_add_child(idle, "unused", NULL, tern_nn_relu()));
    tern_module *twice = tern_nn_linear(4, 4, .dtype = TERN_FLOAT64);
    tern_module *m = tern_nn_sequential(tern_module_retain(twice), twice, tern_module_done(idle));
    char *text = summary(m, tern_dims(2, 4), TERN_DTYPE_UNSPECIFIED);
    assert_non_null(strstr(text, "  0 Linear                     (2, 4)   "));
    assert_null(strstr(text, "  1 Linear"));
    assert_non_null(strstr(text, "  2 Idle                       (2, 4)   "));
    assert_non_null(strstr(text, "    unused ReLU                not run   "));
    assert_non_null(strstr(text, "Parameters: 20, trainable: 20\n"));
    assert_non_null(strstr(text, "buffers: 160\n"));
    assert_non_null(strstr(text, "Multiply-adds: 64\n")); // it runs twice, 2 x 4 x 4
    free(text);
    tern_module_free(m);
}

static void a_failing_forward_fails_the_summary_and_restores_the_modes(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_linear(4, 4));
    assert_null_with(summary(m, tern_dims(2, 5), TERN_DTYPE_UNSPECIFIED), TERN_ERR_SHAPE,
                     "[in 0 (Linear(in_features=4, out_features=4, bias=True))]");
    assert_true(tern_module_is_training(tern_module_child(m, "0")) && tern_grad_enabled());
    assert_null_with(summary(m, tern_dims(2, 4), TERN_INT64), TERN_ERR_DTYPE,
                     "[in 0 (Linear(in_features=4, out_features=4, bias=True))]");
    assert_null_with(summary(m, tern_dims(2, -4), TERN_DTYPE_UNSPECIFIED), TERN_ERR_SHAPE, "");
    assert_null_with(summary(NULL, tern_dims(2, 4), TERN_DTYPE_UNSPECIFIED), TERN_ERR_NULL,
                     "module_summary_print: module is NULL");
    assert_status(tern_module_summary_print_with(NULL), TERN_ERR_NULL, "options is NULL");
    tern_module_free(m);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(4, 4);
    FILE *file = fopen("/dev/null", "r");
    assert_non_null(file);
    assert_status(tern_module_summary_print(m, tern_dims(4), file), TERN_ERR_IO,
                  "cannot be written");
    fclose(file);
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_summary_shows_shapes_and_parameters),
        CHECK_TEST(a_summary_leaves_no_trace),
        cmocka_unit_test(a_summary_as_text_is_the_one_that_is_printed_cut_where_the_buffer_ends),
        CHECK_TEST(hooks_do_not_run),
        CHECK_TEST(a_module_that_does_not_run_is_shown_so_and_a_shared_one_once),
        CHECK_TEST(a_failing_forward_fails_the_summary_and_restores_the_modes),
        CHECK_TEST(a_file_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
