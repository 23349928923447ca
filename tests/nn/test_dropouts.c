// SPDX-License-Identifier: Apache-2.0
// Chance in layers: which channels are dropped, what alpha dropout keeps, which slopes are drawn.
#include "base/philox.h"
#include "support/tensor_check.h"

#define SEED 11

static double word_of(uint64_t call, int64_t draw)
{
    return tern_philox(SEED, call, (uint64_t)draw / 4).word[draw % 4] * 0x1p-32;
}

// ---- channels -----------------------------------------------------------------------------------

typedef tern_tensor *drop_fn(tern_tensor *x, double p, bool training);

// Element i belongs to channel i / inner.
static void check_channels(drop_fn *drop, tern_shape shape, int64_t inner)
{
    tern_manual_seed(SEED);
    for (uint64_t call = 0; call < 2; call++) {
        tern_tensor *x = tern_full(shape, 3, .requires_grad = true), *y = drop(x, 0.3, true);
        assert_no_error();
        assert_int_equal(tern_backward(y, .gradient = tern_ones_like(y)), TERN_OK);
        const float *values = tern_data(y), *slopes = tern_data(tern_grad(x));
        for (int64_t i = 0; i < tern_numel(y); i++) {
            const double scale = word_of(call, i / inner) >= 0.3 ? 1 / 0.7 : 0;
            assert_near(values[i], 3 * scale, 1e-6, 0);
            assert_near(slopes[i], scale, 1e-6, 0);
        }
    }
}

static void channels_are_dropped_whole(void **state)
{
    (void)state;
    check_channels(tern_dropout1d, tern_dims(5, 7, 9), 9);
    check_channels(tern_dropout1d, tern_dims(33, 4), 4);
    check_channels(tern_dropout2d, tern_dims(5, 7, 3, 5), 15);
    check_channels(tern_dropout2d, tern_dims(5, 7, 1, 1), 1);
    check_channels(tern_dropout2d, tern_dims(3, 64, 28, 28), 784);
    check_channels(tern_dropout3d, tern_dims(5, 7, 2, 2, 2), 8);
    check_channels(tern_dropout3d, tern_dims(33, 2, 2, 2), 8);
}

static void channels_of_a_view_are_its_own(void **state)
{
    (void)state;
    tern_manual_seed(SEED);
    tern_tensor *x = tern_full(tern_dims(4, 5, 6, 7), 3);
    tern_tensor *y = tern_dropout2d(tern_permute(x, tern_axes(3, 2, 0, 1)), 0.5, true);
    assert_no_error();
    const float *values = tern_data(tern_contiguous(y)); // (7, 6, 4, 5)
    for (int64_t i = 0; i < tern_numel(y); i++)
        assert_near(values[i], word_of(0, i / 20) >= 0.5 ? 6 : 0, 0, 0);
}

// ---- alpha dropout ------------------------------------------------------------------------------

// a and b of Klambauer et al. for p = 0.5, from Python: alpha = -1.7580993408473766,
// a = ((alpha**2 * p + 1) * (1 - p))**-0.5, b = -a * alpha * p
static void alpha_dropout_puts_the_limit_where_it_drops(void **state)
{
    (void)state;
    const double a = 0.886404894665932, b = 0.7791939305180317, limit = -1.7580993408473766;
    tern_manual_seed(SEED);
    tern_tensor *x = tern_full(tern_dims(1001), 0.5, .requires_grad = true);
    tern_tensor *y = tern_alpha_dropout(x, 0.5, true);
    assert_no_error();
    assert_int_equal(tern_backward(y, .gradient = tern_ones_like(y)), TERN_OK);
    const float *values = tern_data(y), *slopes = tern_data(tern_grad(x));
    for (int64_t i = 0; i < 1001; i++) {
        const bool kept = word_of(0, i) >= 0.5;
        assert_near(values[i], a * (kept ? 0.5 : limit) + b, 1e-6, 0);
        assert_near(slopes[i], kept ? a : 0, 1e-6, 0);
    }
}

static void alpha_dropout_keeps_mean_and_variance(void **state)
{
    (void)state;
    const double chances[] = {0.1, 0.5, 0.9};
    tern_manual_seed(SEED);
    for (int k = 0; k < 3; k++) {
        tern_tensor *x = tern_randn(tern_dims(100000));
        tern_tensor *y = tern_alpha_dropout(x, chances[k], true);
        assert_near(tern_item(tern_mean_all(y)), 0, 0, 0.03); // nine standard deviations
        assert_near(tern_item(tern_var(y, TERN_ALL_AXES, 1, false)), 1, 0, 0.05);
    }
}

// ---- slopes -------------------------------------------------------------------------------------

static void rrelu_multiplies_by_the_drawn_slope(void **state)
{
    (void)state;
    tern_manual_seed(SEED);
    tern_tensor *x = tern_linspace(-2, 1, 1001, .requires_grad = true);
    const float *in = tern_data(x);
    for (uint64_t call = 0; call < 2; call++) {
        tern_tensor *y = tern_rrelu(x, 0.125, 0.5, .training = true);
        assert_no_error();
        tern_zero_grad(x);
        assert_int_equal(tern_backward(y, .gradient = tern_ones_like(y)), TERN_OK);
        const float *values = tern_data(y), *slopes = tern_data(tern_grad(x));
        for (int64_t i = 0; i < 1001; i++) {
            const double slope = in[i] > 0 ? 1 : 0.125 + 0.375 * word_of(call, i);
            assert_near(values[i], (double)in[i] * slope, 1e-6, 0);
            assert_near(slopes[i], slope, 1e-6, 0);
        }
    }
}

// ---- modules ------------------------------------------------------------------------------------

static void layers_draw_in_training_only(void **state)
{
    (void)state;
    tern_module *layers[] = {tern_nn_dropout1d(), tern_nn_alpha_dropout(), tern_nn_rrelu()};
    tern_tensor *x = tern_full(tern_dims(50, 20, 3), -1);
    for (int i = 0; i < 3; i++) {
        tern_tensor *first = tern_forward(layers[i], x), *second = tern_forward(layers[i], x);
        assert_true(tern_item(tern_any(tern_ne(first, second), TERN_ALL_AXES, false)) != 0);
        tern_module_eval(layers[i]);
        first = tern_forward(layers[i], x), second = tern_forward(layers[i], x);
        assert_true(tern_item(tern_any(tern_ne(first, second), TERN_ALL_AXES, false)) == 0);
        tern_module_free(layers[i]);
    }
    assert_no_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(channels_are_dropped_whole),
        CHECK_TEST(channels_of_a_view_are_its_own),
        CHECK_TEST(alpha_dropout_puts_the_limit_where_it_drops),
        CHECK_TEST(alpha_dropout_keeps_mean_and_variance),
        CHECK_TEST(rrelu_multiplies_by_the_drawn_slope),
        CHECK_TEST(layers_draw_in_training_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
