// SPDX-License-Identifier: Apache-2.0
// The text of tensors, against what PyTorch prints (tests/golden/make_print.py).
#include <errno.h>
#include <locale.h>

#include "golden/golden.h"
#include "support/tensor_check.h"

static tern_tensor *build(const golden_case *c)
{
    const golden_array *g = golden_find_array(c, "values");
    return tern_from_data(g->shape, g->data, .dtype = g->dtype,
                          .requires_grad = golden_number(c, "requires_grad", 0) != 0);
}

static void tensors_print_as_in_pytorch(void **state)
{
    (void)state;
    const golden_file *file = golden_read("print");
    char text[8192];
    int wrong = 0;
    for (int i = 0; i < file->count; i++) {
        const golden_case *c = &file->cases[i];
        int64_t length = tern_format(build(c), text, sizeof text);
        if (length == (int64_t)strlen(c->text) && strcmp(text, c->text) == 0)
            continue;
        print_error("%s: %lld characters\n%s\nnot\n%s\n", c->name, (long long)length, text,
                    c->text);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void views_print_as_their_values(void **state)
{
    (void)state;
    char text[256];
    tern_tensor *t = tern_slice(tern_transpose(check_2x3(false), 0, 1), 0, 0, 3, 2);
    assert_true(tern_format(t, text, sizeof text) > 0);
    assert_string_equal(text, "tensor([[0., 3.],\n        [2., 5.]])");
    const int64_t big[] = {INT64_MIN, INT64_MAX};
    assert_true(
        tern_format(tern_from_data(tern_dims(2), big, .dtype = TERN_INT64), text, sizeof text) > 0);
    assert_string_equal(text, "tensor([-9223372036854775808,  9223372036854775807])");
}

static void the_device_is_named_when_it_is_not_the_first(void **state)
{
    (void)state;
    char text[256];
    tern_tensor *t = tern_ones(tern_dims(2), .device = tern_cpu(1), .dtype = TERN_INT32);
    assert_true(tern_format(t, text, sizeof text) > 0);
    assert_string_equal(text, "tensor([1, 1], device=cpu:1, dtype=int32)");
    assert_true(tern_format(tern_ones(tern_dims(1)), text, sizeof text) > 0);
    assert_string_equal(text, "tensor([1.])");
    tern_tensor *made = tern_mul_scalar(tern_ones(tern_dims(1), .requires_grad = true), 2);
    assert_true(tern_format(made, text, sizeof text) > 0);
    assert_string_equal(text, "tensor([2.], grad_fn=<MulScalarBackward0>)");
}

static void a_short_buffer_cuts_and_the_length_is_whole(void **state)
{
    (void)state;
    char text[8] = "xxxxxxx";
    tern_tensor *t = tern_full(tern_dims(2), 1.5);
    assert_int_equal(tern_format(t, NULL, 0), strlen("tensor([1.5000, 1.5000])"));
    assert_int_equal(tern_format(t, text, 7), strlen("tensor([1.5000, 1.5000])"));
    assert_string_equal(text, "tensor");
    assert_int_equal(text[7], 0);
    assert_int_equal(tern_format(t, text, 1), strlen("tensor([1.5000, 1.5000])"));
    assert_string_equal(text, "");
    assert_int_equal(tern_format(t, NULL, 5), -1);
    assert_error(TERN_ERR_NULL, "format: buffer is NULL");
    assert_int_equal(tern_format(NULL, text, sizeof text), -1);
    assert_error(TERN_ERR_NULL, "format: t is NULL");
}

static void print_writes_the_text_and_a_newline(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(tern_print(check_2x3(false), file), TERN_OK);
    rewind(file);
    char text[128] = "";
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, "tensor([[0., 1., 2.],\n        [3., 4., 5.]])\n");
    assert_status(tern_print(NULL, stdout), TERN_ERR_NULL, "print: t is NULL");
    FILE *closed = fopen("/dev/null", "r");
    assert_non_null(closed);
    assert_status(tern_print(check_2x3(false), closed), TERN_ERR_IO, "print: the file");
    fclose(closed);
}

static void printing_follows_no_locale_and_records_nothing(void **state)
{
    (void)state;
    char text[64];
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        print_message("no German locale here: only the C locale was tried\n");
    tern_tensor *leaf = tern_full(tern_dims(1), 1.5, .requires_grad = true);
    int64_t live = tern_live_tensors();
    assert_true(tern_format(leaf, text, sizeof text) > 0);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "tensor([1.5000], requires_grad=true)");
    assert_int_equal(tern_live_tensors(), live);
    assert_int_equal(tern_format(tern_zeros(tern_dims(1001)), text, sizeof text),
                     strlen("tensor([0., 0., 0.,  ..., 0., 0., 0.])"));
}

// PyTorch 2.15 prints these.
static void a_result_with_a_history_names_its_operation(void **state)
{
    (void)state;
    char text[128];
    tern_tensor *x = tern_ones(tern_dims(2), .requires_grad = true);
    assert_true(tern_format(tern_mul(x, x), text, sizeof text) > 0);
    assert_string_equal(text, "tensor([1., 1.], grad_fn=<MulBackward0>)");
    assert_true(tern_format(tern_log_softmax(x, 0), text, sizeof text) > 0);
    assert_string_equal(text, "tensor([-0.6931, -0.6931], grad_fn=<LogSoftmaxBackward0>)");
    assert_true(tern_format(tern_sum_all(x), text, sizeof text) > 0);
    assert_string_equal(text, "tensor(2., grad_fn=<SumBackward0>)");
    assert_true(tern_format(tern_detach(tern_mul(x, x)), text, sizeof text) > 0);
    assert_string_equal(text, "tensor([1., 1.])");
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(tensors_print_as_in_pytorch),
        CHECK_TEST(views_print_as_their_values),
        CHECK_TEST(the_device_is_named_when_it_is_not_the_first),
        CHECK_TEST(a_short_buffer_cuts_and_the_length_is_whole),
        CHECK_TEST(print_writes_the_text_and_a_newline),
        CHECK_TEST(a_result_with_a_history_names_its_operation),
        CHECK_TEST(printing_follows_no_locale_and_records_nothing),
    };
    return cmocka_run_group_tests_name("print", tests, NULL, check_shutdown);
}
