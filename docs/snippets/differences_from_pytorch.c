// SPDX-License-Identifier: Apache-2.0
// What docs/differences-from-pytorch.md says, tried.
#include "check.h"

static void numbers_keep_the_dtype(void)
{
    tern_tensor *i = tern_arange(0, 4, 1);
    expect(tern_dtype_of(tern_add_scalar(i, 2)) == TERN_INT64);
    expect(tern_dtype_of(tern_div_scalar(i, 2)) == TERN_FLOAT32);
    expect(!tern_add_scalar(i, 0.5));
    expect_error(TERN_ERR_DTYPE);
    expect(tern_dtype_of(tern_full(tern_dims(2), 3)) == TERN_FLOAT32);
    expect(tern_dtype_of(tern_arange(0, 1, 0.25, .dtype = TERN_FLOAT32)) == TERN_FLOAT32);
    expect(!tern_arange(0, 1, 0.25));
    expect_error(TERN_ERR_DTYPE);
}

static void no_promotion_and_no_integers(void)
{
    tern_tensor *f = tern_ones(tern_dims(2, 2)), *i = tern_arange(0, 2, 1);
    tern_tensor *d = tern_ones(tern_dims(2, 2), .dtype = TERN_FLOAT64);
    expect(tern_dtype_of(tern_mul(f, d)) == TERN_FLOAT64);
    expect(!tern_matmul(f, d) && tern_error_take(NULL, 0) == TERN_ERR_DTYPE);
    expect(!tern_matmul(i, i) && tern_error_take(NULL, 0) == TERN_ERR_DTYPE);
    expect(!tern_mse_loss(f, d, TERN_REDUCTION_MEAN) && tern_error_take(NULL, 0) == TERN_ERR_DTYPE);
}

static void losses_do_not_broadcast(void)
{
    expect(
        !tern_mse_loss(tern_ones(tern_dims(4)), tern_ones(tern_dims(4, 1)), TERN_REDUCTION_MEAN));
    expect_error(TERN_ERR_SHAPE);
}

static void losses_refuse_what_they_cannot_take(void)
{
    tern_tensor *x = tern_ones(tern_dims(3), .requires_grad = true);
    tern_tensor *target = tern_from_data(tern_dims(3), ((float[]){1, -1, 0}));
    expect(!tern_hinge_embedding_loss(x, target));
    expect_error(TERN_ERR_ARG);
    tern_zero_grad(x);
}

static void dropouts_say_what_they_want(void)
{
    tern_tensor *x = tern_full(tern_dims(4, 3), INFINITY), *y = tern_dropout(x, 1, true);
    expect(tern_item(tern_sum_all(y)) == 0);
    expect(!tern_dropout2d(tern_ones(tern_dims(2, 3, 4)), 0.5, true));
    expect_error(TERN_ERR_SHAPE);
}

static void at_most_8_dimensions(void)
{
    expect(tern_zeros(tern_dims(1, 1, 1, 1, 1, 1, 1, 1)) != NULL);
    expect(!tern_zeros(tern_dims(1, 1, 1, 1, 1, 1, 1, 1, 1)));
    expect_error(TERN_ERR_SHAPE);
}

static void a_load_is_all_or_nothing(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 2));
    tern_state *own = tern_module_state_dict(net), *state = tern_state_new();
    expect(tern_state_tensor(own, "0.bias") == tern_module_parameter(net, "0.bias"));
    expect(!tern_state_set_tensor(state, "0.wieght", tern_ones(tern_dims(2, 2))));
    expect(!tern_state_set_tensor(state, "0.bias", tern_full(tern_dims(2), 9)));
    expect(tern_module_load_state_dict(net, state) == TERN_ERR_ARG);
    expect_error(TERN_ERR_ARG);
    expect(tern_item(tern_sum_all(tern_module_parameter(net, "0.bias"))) < 9);
    tern_tensor *integers = tern_ones(tern_dims(2), .dtype = TERN_INT64);
    expect(!tern_state_set_tensor(state, "0.bias", integers));
    expect(tern_module_load_state_dict(net, state, .strict = false) == TERN_ERR_DTYPE);
    expect(tern_error_take(NULL, 0) == TERN_ERR_DTYPE);
    expect(!tern_module_load_state_dict(net, state, .strict = false, .convert = true));
    expect(tern_item(tern_sum_all(tern_module_parameter(net, "0.bias"))) == 2);
    tern_state_free(state);
    tern_state_free(own);
    tern_module_free(net);
}

static void a_graph_is_used_once(void)
{
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *loss = tern_sum_all(tern_mul(w, w));
    expect(!tern_backward(loss));
    expect(!tern_requires_grad(tern_grad(w))); // no backward of the backward
    expect(tern_backward(loss) == TERN_ERR_STATE);
    expect_error(TERN_ERR_STATE);
    loss = tern_sum_all(tern_mul(w, w));
    expect(!tern_backward(loss, .retain_graph = true) && !tern_backward(loss));
    expect(tern_item(tern_select(tern_grad(w), 0, 0)) == 6); // three backwards
    tern_zero_grad(w);
    expect(tern_grad(w) == NULL);
}

static void in_place_rules(void)
{
    tern_tensor *x = tern_ones(tern_dims(3), .requires_grad = true);
    tern_tensor *y = tern_mul_scalar(x, 1);
    // A view made before the base was changed with history.
    tern_tensor *view = tern_narrow(y, 0, 0, 2);
    expect(tern_add_(y, x, 1) != NULL);
    expect(!tern_neg(view));
    expect_error(TERN_ERR_STATE);
    // Two elements in one place.
    expect(!tern_zero_(tern_expand(tern_ones(tern_dims(1)), tern_dims(3))));
    tern_error_print(stdout);
}

static void clipping_refuses_what_is_not_finite(void)
{
    tern_tensor *w = tern_ones(tern_dims(1), .requires_grad = true);
    expect(!tern_backward(tern_mul_scalar(w, INFINITY)));
    expect(!tern_clip_grad_norm(NULL, 1, .params = &w, .param_count = 1));
    expect(tern_error_take(NULL, 0) == TERN_ERR_NUMERIC);
    expect(tern_clip_grad_norm(NULL, 1, .params = &w, .param_count = 1, .allow_nonfinite = true) !=
           NULL);
}

static void seeds_give_the_known_numbers(void)
{
    tern_manual_seed(0);
    float three[3];
    expect(!tern_to_host(tern_rand(tern_dims(3)), three, sizeof three));
    expect(near(three[0], 0.4962565899) && near(three[2], 0.0884774327));
    tern_manual_seed(0);
    int64_t order[8] = {0}, known[] = {4, 0, 7, 3, 2, 5, 1, 6};
    expect(!tern_to_host(tern_randperm(8), order, sizeof order));
    expect(memcmp(order, known, sizeof order) == 0);
}

static void casts_saturate(void)
{
    tern_tensor *x = tern_from_data(tern_dims(5), ((float[]){INFINITY, 3e9f, NAN, -INFINITY, 300}));
    int32_t whole[5];
    uint8_t bytes[5];
    expect(!tern_to_host(tern_to_dtype(x, TERN_INT32), whole, sizeof whole));
    expect(whole[0] == INT32_MAX && whole[1] == INT32_MAX && whole[2] == 0 &&
           whole[3] == INT32_MIN);
    expect(!tern_to_host(tern_to_dtype(x, TERN_UINT8), bytes, sizeof bytes));
    expect(bytes[0] == 255 && bytes[4] == 44);
    tern_tensor *large = tern_full(tern_dims(), 1LL << 40, .dtype = TERN_INT64);
    expect(tern_item_int(tern_to_dtype(large, TERN_INT32)) == 0); // the low bits
}

static void slopes_at_infinity(void)
{
    tern_tensor *x[3], *y[3];
    for (int i = 0; i < 3; i++)
        x[i] =
            tern_from_data(tern_dims(2), ((float[]){INFINITY, -INFINITY}), .requires_grad = true);
    y[0] = tern_gelu(x[0]);
    y[1] = tern_gelu(x[1], .approximate = TERN_APPROXIMATE_TANH);
    y[2] = tern_silu(x[2]);
    for (int i = 0; i < 3; i++) {
        float slope[2];
        expect(!tern_backward(tern_sum_all(y[i])));
        expect(!tern_to_host(tern_grad(x[i]), slope, sizeof slope));
        expect(slope[0] == 1 && slope[1] == 0);
    }
}

static void shapes_and_dtypes_stay(void)
{
    tern_tensor *bytes = tern_full(tern_dims(1), 44, .dtype = TERN_UINT8);
    expect(!tern_add_scalar(bytes, 300));
    expect_error(TERN_ERR_ARG);
    expect(!tern_item_int(tern_eq_scalar(bytes, 300)));
    tern_tensor *two[] = {tern_ones(tern_dims(1)), tern_arange(0, 1, 1)};
    expect(!tern_cat(two, 2, 0));
    expect_error(TERN_ERR_DTYPE);
    tern_tensor *one = tern_zeros(tern_dims(), .dtype = TERN_INT64);
    expect(!tern_gather(tern_ones(tern_dims(2)), 0, one));
    expect_error(TERN_ERR_SHAPE);
    tern_tensor *mask = tern_ones(tern_dims(2, 1), .dtype = TERN_BOOL);
    expect(!tern_masked_fill(tern_ones(tern_dims(3)), mask, 2));
    expect_error(TERN_ERR_SHAPE);
}

static void draws_without_an_end_are_refused(void)
{
    tern_tensor *weight = tern_zeros(tern_dims(2, 3));
    expect(!tern_init_trunc_normal(weight, .a = 3, .b = INFINITY));
    expect_error(TERN_ERR_ARG);
}

static void no_grad_is_left_by_break(void)
{
    int rounds = 0;
    for (int i = 0; i < 3; i++) {
        tern_no_grad {
            break; // leaves this block only
        }
        rounds++;
    }
    expect(rounds == 3 && tern_grad_enabled());
}

int main(void)
{
    void (*const pieces[])(void) = {
        numbers_keep_the_dtype,
        no_promotion_and_no_integers,
        losses_do_not_broadcast,
        losses_refuse_what_they_cannot_take,
        dropouts_say_what_they_want,
        at_most_8_dimensions,
        a_load_is_all_or_nothing,
        a_graph_is_used_once,
        in_place_rules,
        clipping_refuses_what_is_not_finite,
        seeds_give_the_known_numbers,
        casts_saturate,
        slopes_at_infinity,
        shapes_and_dtypes_stay,
        draws_without_an_end_are_refused,
        no_grad_is_left_by_break,
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        tern_scope scope = tern_scope_open();
        pieces[i]();
        tern_scope_close(scope);
    }
    return finished();
}
