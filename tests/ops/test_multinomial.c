// SPDX-License-Identifier: Apache-2.0
// Indices drawn by weights, against PyTorch's (tests/golden/make_sampling.py).
#include "golden/golden.h"
#include "support/tensor_check.h"

static void check_case(const golden_case *c, tern_device device)
{
    const golden_array *p = golden_find_array(c, "p"), *drawn = golden_find_array(c, "drawn");
    tern_tensor *weights = tern_from_data_with(&(tern_from_data_options){
        .dtype = p->dtype, .device = device, .shape = p->shape, .data = p->data});
    tern_manual_seed(3);
    tern_tensor *y = tern_multinomial(weights, (int64_t)golden_number(c, "samples", 0),
                                      .replacement = golden_number(c, "replacement", 0) != 0);
    assert_non_null(y);
    assert_true(tern_shape_equal(tern_shape_of(y), drawn->shape));
    assert_true(tern_device_equal(tern_device_of(y), device));
    assert_memory_equal(tern_data(tern_to(y, tern_cpu(0))), drawn->data,
                        (size_t)drawn->numel * sizeof(int64_t));
    assert_memory_equal(tern_data(tern_rand(tern_dims(1))),
                        golden_values(c, "after", TERN_FLOAT32, 1), sizeof(float));
}

static void draws_are_pytorchs_on_every_device(void **state)
{
    (void)state;
    const golden_file *file = golden_read("sampling");
    int checked = 0;
    for (int i = 0; i < file->count; i++)
        if (strncmp(file->cases[i].name, "multinomial ", 12) == 0) {
            check_case(&file->cases[i], tern_cpu(0));
            check_case(&file->cases[i], tern_cpu(1));
            checked++;
        }
    assert_true(checked >= 10);
}

static void a_view_is_drawn_from_by_its_elements(void **state)
{
    (void)state;
    tern_tensor *p = tern_from_data(tern_dims(3, 2), ((float[]){0, 1, 0, 2, 5, 0}));
    tern_generator *own = tern_generator_new(1);
    tern_tensor *y = tern_multinomial(tern_transpose(p, 0, 1), 8, .replacement = true,
                                      .generator = own); // rows: (0, 0, 5) and (1, 2, 0)
    const int64_t *index = tern_data(y);
    int ones = 0;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(index[i], 2);
        assert_in_range(index[8 + i], 0, 1);
        ones += index[8 + i] == 1;
    }
    assert_in_range(ones, 1, 8);
    tern_generator_free(own);
}

static void indices_come_as_often_as_their_weights_say(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    tern_tensor *p = tern_from_data(tern_dims(4), ((float[]){1, 0, 3, 6}));
    tern_manual_seed(8);
    tern_tensor *y = tern_multinomial(p, DRAWS, .replacement = true);
    int64_t count[4] = {0};
    for (int i = 0; i < DRAWS; i++)
        count[((const int64_t *)tern_data(y))[i]]++;
    const double share[] = {0.1, 0, 0.3, 0.6};
    for (int k = 0; k < 4; k++) // five standard deviations of a binomial count
        assert_true(fabs((double)count[k] - DRAWS * share[k]) <=
                    5 * sqrt(DRAWS * share[k] * (1 - share[k])));
}

static void what_cannot_be_drawn_is_refused_and_draws_nothing(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_tensor *p = tern_from_data(tern_dims(2, 2), ((float[]){1, 1, 1, -1}));
    assert_null_with(tern_multinomial(p, 1), TERN_ERR_NUMERIC, "multinomial: weight 1 is -1");
    p = tern_from_data(tern_dims(3), ((double[]){1, 0, 0}), .dtype = TERN_FLOAT64);
    assert_null_with(tern_multinomial(p, 2), TERN_ERR_ARG,
                     "multinomial: 2 samples without replacement of 1 weights above 0");
    assert_null_with(tern_multinomial(tern_zeros(tern_dims(3)), 1), TERN_ERR_NUMERIC,
                     "multinomial: the sum of the weights is 0");
    assert_null_with(tern_multinomial(p, 0), TERN_ERR_ARG, "multinomial: num_samples is 0");
    assert_null_with(tern_multinomial(tern_zeros(tern_dims(2, 0)), 1), TERN_ERR_SHAPE,
                     "multinomial: p has shape (2, 0): there is nothing to draw from");
    assert_null_with(tern_multinomial(tern_zeros(tern_dims(1, 2, 3)), 1), TERN_ERR_SHAPE,
                     "multinomial: p has shape (1, 2, 3), but must be (C) or (N, C)");
    assert_null_with(tern_multinomial(tern_ones(tern_dims(3), .dtype = TERN_INT64), 1),
                     TERN_ERR_DTYPE, "multinomial: p is int64");
    tern_tensor *after = tern_rand(tern_dims(1));
    tern_manual_seed(3);
    assert_true(tern_item(after) == tern_item(tern_rand(tern_dims(1))));
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(draws_are_pytorchs_on_every_device),
        CHECK_TEST(a_view_is_drawn_from_by_its_elements),
        CHECK_TEST(indices_come_as_often_as_their_weights_say),
        CHECK_TEST(what_cannot_be_drawn_is_refused_and_draws_nothing),
    };
    return cmocka_run_group_tests_name("multinomial", tests, NULL, check_shutdown);
}
