// SPDX-License-Identifier: Apache-2.0
// What tables of numbers do not show: chance, faults, who shares and who keeps what.
#include "base/philox.h"
#include "device/backend.h"
#include "device/fault.h"
#include "support/tensor_check.h"

static const int64_t many = 10007;

static tern_tensor *labels(int64_t a, int64_t b, int64_t c)
{
    return tern_from_data(tern_dims(3), ((const int64_t[]){a, b, c}), .dtype = TERN_INT64);
}

// ---- chance ------------------------------------------------------------------------------------

static void dropout_keeps_the_elements_whose_philox_word_says_so(void **state)
{
    (void)state;
    tern_manual_seed(11);
    tern_tensor *x = tern_full(tern_dims(many), 3);
    for (uint64_t call = 0; call < 3; call++) {
        tern_tensor *y = tern_dropout(x, 0.3, true);
        assert_no_error();
        const float *values = tern_data(y);
        for (int64_t i = 0; i < many; i++) {
            uint32_t word = tern_philox(11, call, (uint64_t)i / 4).word[i % 4];
            double kept = word * 0x1p-32 >= 0.3 ? 3 / 0.7 : 0;
            assert_near(values[i], kept, 1e-6, 0);
        }
    }
}

static void the_backward_of_dropout_uses_the_mask_of_the_forward(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(many), .requires_grad = true);
    tern_tensor *y = tern_dropout(x, 0.5, true);
    (void)tern_dropout(x, 0.5, true); // another draw in between
    assert_int_equal(tern_backward(y, .gradient = tern_ones_like(y)), TERN_OK);
    assert_memory_equal(tern_data(tern_grad(x)), tern_data(y), (size_t)many * sizeof(float));
}

static void two_dropouts_draw_two_masks(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(many));
    tern_tensor *differ = tern_ne(tern_dropout(x, 0.5, true), tern_dropout(x, 0.5, true));
    double share = tern_item(tern_mean(tern_to_dtype(differ, TERN_FLOAT32), TERN_ALL_AXES, false));
    assert_near(share, 0.5, 0, 0.03); // six standard deviations
}

static void dropout_hands_back_its_input_when_it_does_not_train(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(3));
    assert_ptr_equal(tern_dropout(x, 0.5, false), x);
}

// ---- faults -------------------------------------------------------------------------------------

static void a_label_out_of_range_is_named_with_its_sample(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(3, 4), .requires_grad = true);
    assert_null(tern_cross_entropy(x, labels(1, 4, -2)));
    assert_error(TERN_ERR_INDEX, "cross_entropy: label of sample 1 is 4");
    tern_fault_clear_raised(tern_cpu(0));
    assert_non_null(tern_cross_entropy(x, labels(1, 3, -100)));
}

static void a_bad_index_is_named_with_its_place_in_the_list(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(5, 7));
    assert_null(tern_index_select(x, 0, labels(1, 5, 0)));
    assert_error(TERN_ERR_INDEX, "index_select: index 1 is 5");
    tern_fault_clear_raised(tern_cpu(0));
    assert_null(tern_index_select(x, 1, labels(1, 2, -1)));
    assert_error(TERN_ERR_INDEX, "index_select: index 2 is -1");
    tern_fault_clear_raised(tern_cpu(0));
    tern_tensor *pairs = tern_stack(((tern_tensor *[]){labels(0, 1, 2), labels(3, 9, 0)}), 2, 1);
    assert_null(tern_gather(x, 0, tern_transpose(pairs, 0, 1)));
    assert_error(TERN_ERR_INDEX, "gather: index 4 is 9");
    tern_fault_clear_raised(tern_cpu(0));
    assert_null(tern_one_hot(labels(0, 1, 2), 2));
    assert_error(TERN_ERR_INDEX, "one_hot: label 2 is 2");
    tern_fault_clear_raised(tern_cpu(0));
}

static void zero_grad_of_a_tensor_clears_a_value_error_that_was_raised(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(3, 4), .requires_grad = true);
    assert_null(tern_cross_entropy(x, labels(1, 4, 2)));
    assert_error(TERN_ERR_INDEX, "label of sample 1 is 4");
    assert_null(tern_cross_entropy(x, labels(1, 3, 2)));
    assert_error(TERN_ERR_STATE, "call zero_grad before going on");
    tern_zero_grad(x);
    assert_non_null(tern_cross_entropy(x, labels(1, 3, 2)));
}

// ---- gradients ----------------------------------------------------------------------------------

static void an_operand_that_meets_itself_gets_both_gradients(void **state)
{
    (void)state;
    const float w[] = {1, 2, 3, 4};
    tern_tensor *x = tern_from_data(tern_dims(2, 2), w, .requires_grad = true);
    assert_int_equal(tern_backward(tern_sum(tern_matmul(x, x), TERN_ALL_AXES, false)), TERN_OK);
    // d sum(x x) / d x[i][j] = (sum of row j) + (sum of column i)
    assert_values(tern_grad(x), 3 + 4, 7 + 4, 3 + 6, 7 + 6);
    tern_zero_grad(x);
    assert_int_equal(tern_backward(tern_sum(tern_mul(x, x), TERN_ALL_AXES, false)), TERN_OK);
    assert_values(tern_grad(x), 2, 4, 6, 8);
}

static void a_weight_that_two_layers_share_collects_from_both(void **state)
{
    (void)state;
    const float w[] = {1, 2, 3, 4};
    tern_tensor *x = tern_ones(tern_dims(1, 2));
    tern_tensor *weight = tern_from_data(tern_dims(2, 2), w, .requires_grad = true);
    tern_tensor *h = tern_linear(x, weight, NULL, TERN_ACT_NONE); // (3, 7)
    tern_tensor *y = tern_linear(h, weight, NULL, TERN_ACT_NONE);
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
    // outer layer: rows (3, 7); inner: dh = column sums (4, 6), times x
    assert_values(tern_grad(weight), 3 + 4, 7 + 4, 3 + 6, 7 + 6);
}

static void equal_values_share_the_gradient(void **state)
{
    (void)state;
    const float v[] = {2, 5, 5, 1};
    tern_tensor *x = tern_from_data(tern_dims(4), v, .requires_grad = true);
    assert_int_equal(tern_backward(tern_amax(x, TERN_ALL_AXES, false)), TERN_OK);
    assert_values(tern_grad(x), 0, 0.5, 0.5, 0);
    tern_zero_grad(x);
    assert_int_equal(tern_backward(tern_max(x, 0, false, NULL)), TERN_OK);
    assert_values(tern_grad(x), 0, 1, 0, 0);
    tern_zero_grad(x);
    tern_tensor *y = tern_maximum(x, tern_full(tern_dims(), 5));
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
    assert_values(tern_grad(x), 0, 0.5, 0.5, 0);
}

static void what_no_gradient_needs_may_change_before_the_backward(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *factor = tern_full(tern_dims(2), 3), *y = tern_mul(x, factor);
    tern_no_grad {
        assert_non_null(tern_fill_(x, 9)); // only factor is needed
    }
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
    assert_values(tern_grad(x), 3, 3);
    y = tern_mul(x, factor);
    assert_non_null(tern_fill_(factor, 9));
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "changed in place");
    tern_zero_grad(x);
}

static void comparisons_and_indices_have_no_history(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(3), .requires_grad = true), *at = NULL;
    assert_false(tern_requires_grad(tern_gt_scalar(x, 0)));
    assert_false(tern_requires_grad(tern_eq(x, x)));
    assert_false(tern_requires_grad(tern_argmax(x, 0, false)));
    assert_false(tern_requires_grad(tern_isfinite(x)));
    assert_true(tern_requires_grad(tern_max(x, 0, false, &at)));
    assert_false(tern_requires_grad(at));
    tern_no_grad {
        assert_false(tern_requires_grad(tern_exp(x)));
    }
}

static void a_null_chain_fails_once_and_says_why(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2, 3)), *w = tern_ones(tern_dims(5, 4));
    assert_null(tern_relu(tern_add(tern_linear(x, w, NULL, TERN_ACT_RELU), x)));
    assert_error(TERN_ERR_SHAPE,
                 "linear: x (2, 3) and weight (5, 4) do not fit: 3 features meet 4");
}

static void a_failed_bias_is_not_taken_for_no_bias(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2, 3)), *w = tern_ones(tern_dims(4, 3));
    tern_tensor *bias = tern_matmul(x, x); // fails
    assert_null(tern_linear(x, w, bias, TERN_ACT_NONE));
    assert_error(TERN_ERR_SHAPE, "matmul: a (2, 3) and b (2, 3) do not fit: 3 columns meet 2 rows");
}

// 1 + 2 + ... + n, exact in float32; ends fall everywhere between vectors.
static void a_sum_of_any_length_has_every_element(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; n++) {
        tern_tensor *x = tern_arange(1, n + 1, 1, .dtype = TERN_FLOAT32);
        assert_tensor(tern_sum(x, TERN_ALL_AXES, false), tern_dims(), n * (n + 1) / 2);
        x = tern_expand(tern_reshape(x, tern_dims(n, 1)), tern_dims(n, 3));
        assert_true(tern_item(tern_sum(tern_contiguous(x), TERN_ALL_AXES, false)) ==
                    3 * n * (n + 1) / 2);
    }
}

static void a_correction_may_be_any_number(void **state)
{
    (void)state;
    const float data[] = {1, 3};
    tern_tensor *x = tern_from_data(tern_dims(2), data, .requires_grad = true);
    tern_tensor *y = tern_var(x, TERN_ALL_AXES, INT64_MIN, false);
    assert_tensor(y, tern_dims(), 0x1p-62); // 2 / (2 + 2^63)
    assert_int_equal(tern_backward(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2), -0x1p-62, 0x1p-62); // 2 (x - mean) / (2 + 2^63)
}

static void a_result_that_cannot_be_counted_is_an_error_of_shape(void **state)
{
    (void)state;
    tern_tensor *column = tern_expand(tern_ones(tern_dims(1, 1)), tern_dims((int64_t)1 << 40, 1));
    assert_null(tern_matmul(column, tern_transpose(column, 0, 1)));
    assert_error(TERN_ERR_SHAPE, "matmul: the result (1099511627776, 1099511627776) has too many");
}

static void short_forms_are_over_all_elements(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(false); // 0 to 5
    assert_tensor(tern_sum_all(x), tern_dims(), 15);
    assert_tensor(tern_mean_all(x), tern_dims(), 2.5);
    assert_tensor(tern_sum_all(tern_ones(tern_dims(3), .dtype = TERN_BOOL)), tern_dims(), 3);
}

static void accuracy_is_the_share_of_right_labels(void **state)
{
    (void)state;
    const float logits[][3] = {{1, 5, 2}, {4, 4, 3}, {0, -1, 7}, {2, 1, 0}};
    tern_tensor *x = tern_from_data(tern_dims(4, 3), logits);
    const int64_t labels[] = {1, 0, 2, 2}; // of equal logits the first counts
    tern_tensor *y = tern_from_data(tern_dims(4), labels);
    assert_tensor(tern_accuracy(x, y), tern_dims(), 0.75);
    assert_int_equal(tern_dtype_of(tern_accuracy(x, y)), TERN_FLOAT32);
    assert_tensor(tern_accuracy(tern_select(x, 0, 3), tern_select(y, 0, 3)), tern_dims(), 0);
    tern_tensor *pixels = tern_reshape(tern_transpose(x, 0, 1), tern_dims(1, 3, 2, 2));
    tern_tensor *places = tern_to_dtype(tern_reshape(y, tern_dims(1, 2, 2)), TERN_UINT8);
    assert_tensor(tern_accuracy(pixels, places), tern_dims(), 0.75);
    tern_tensor *leaf = tern_ones(tern_dims(4, 3), .requires_grad = true);
    assert_false(tern_requires_grad(tern_accuracy(leaf, y)));
    assert_true(isnan(tern_item(tern_accuracy(tern_zeros(tern_dims(0, 3)),
                                              tern_zeros(tern_dims(0), .dtype = TERN_INT64)))));
}

// dy (1 - sigmoid(b)) sigmoid(b) a, of which dy sigmoid(b) a alone is past the largest float16.
static void the_gradient_of_glu_does_not_overflow_on_its_way(void **state)
{
    (void)state;
    const float values[] = {5, 4}, up = 16384;
    tern_tensor *x = tern_to_dtype(tern_from_data(tern_dims(2), values), TERN_FLOAT16);
    tern_set_requires_grad(x, true);
    tern_tensor *dy = tern_to_dtype(tern_from_data(tern_dims(1), &up), TERN_FLOAT16);
    assert_int_equal(tern_backward(tern_glu(x, 0), .gradient = dy), TERN_OK);
    const double s = 1 / (1 + exp(-4.0));
    assert_near(value_at(tern_grad(x), 0), up * s, 0, 16);
    assert_near(value_at(tern_grad(x), 1), up * s * (1 - s) * 5, 0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(the_gradient_of_glu_does_not_overflow_on_its_way),
        CHECK_TEST(dropout_keeps_the_elements_whose_philox_word_says_so),
        CHECK_TEST(the_backward_of_dropout_uses_the_mask_of_the_forward),
        CHECK_TEST(two_dropouts_draw_two_masks),
        CHECK_TEST(dropout_hands_back_its_input_when_it_does_not_train),
        CHECK_TEST(a_label_out_of_range_is_named_with_its_sample),
        CHECK_TEST(a_bad_index_is_named_with_its_place_in_the_list),
        CHECK_TEST(zero_grad_of_a_tensor_clears_a_value_error_that_was_raised),
        CHECK_TEST(an_operand_that_meets_itself_gets_both_gradients),
        CHECK_TEST(a_weight_that_two_layers_share_collects_from_both),
        CHECK_TEST(equal_values_share_the_gradient),
        CHECK_TEST(what_no_gradient_needs_may_change_before_the_backward),
        CHECK_TEST(comparisons_and_indices_have_no_history),
        CHECK_TEST(a_null_chain_fails_once_and_says_why),
        CHECK_TEST(a_failed_bias_is_not_taken_for_no_bias),
        CHECK_TEST(a_sum_of_any_length_has_every_element),
        CHECK_TEST(a_correction_may_be_any_number),
        CHECK_TEST(a_result_that_cannot_be_counted_is_an_error_of_shape),
        CHECK_TEST(short_forms_are_over_all_elements),
        CHECK_TEST(accuracy_is_the_share_of_right_labels),
    };
    return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
