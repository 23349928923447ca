// SPDX-License-Identifier: Apache-2.0
// Datasets whose class makes one sample: stacking, and a sample's own random numbers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"

// Sample i is (2, 3) float32 of i, i + 1, ... and i as a number, int64; from `odd` on another way.
typedef struct odd_one {
    tern_dataset base;
    int64_t odd; // 0: none
    tern_status (*make)(int64_t index, tern_sample *out);
} odd_one;

static int64_t count_twenty(const tern_dataset *self)
{
    (void)self;
    return 20;
}

static tern_status make_plain(int64_t index, tern_sample *out)
{
    assert_false(tern_grad_enabled());
    tern_tensor *x = tern_arange((double)index, (double)index + 6, 1, .dtype = TERN_FLOAT32);
    out->at[out->count++] = tern_reshape(x, tern_dims(2, 3));
    out->at[out->count++] = tern_full(tern_dims(), (double)index, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status odd_item(const tern_dataset *dataset, const tern_sample_context *context,
                            int64_t index, tern_sample *out)
{
    (void)context;
    const odd_one *self = (const odd_one *)dataset;
    return self->odd && index >= self->odd ? self->make(index, out) : make_plain(index, out);
}

static const tern_dataset_class odd_class = {
    .name = "oddities", .size = sizeof(odd_one), .count = count_twenty, .item = odd_item};

static tern_dataset *odd_new(int64_t odd, tern_status (*make)(int64_t, tern_sample *))
{
    odd_one *self = (odd_one *)tern_dataset_new(&odd_class);
    assert_non_null(self);
    self->odd = odd;
    self->make = make;
    return &self->base;
}

// ---- stacking -----------------------------------------------------------------------------------

static void samples_are_stacked_in_the_order_of_asking(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(0, NULL);
    const int64_t index[] = {7, 0, 7};
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, index, 3, &b), TERN_OK);
    assert_int_equal(b.size, 3);
    assert_int_equal(b.count, 2);
    assert_ptr_equal(b.index, index);
    assert_ptr_equal(b.x, b.at[0]);
    assert_ptr_equal(b.y, b.at[1]);
    assert_null(b.at[2]);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(3, 2, 3)));
    assert_true(tern_shape_equal(tern_shape_of(b.y), tern_dims(3)));
    const float x[] = {7, 8, 9, 10, 11, 12, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12};
    assert_memory_equal(tern_data(b.x), x, sizeof x);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){7, 0, 7}), 24);
    assert_true(tern_grad_enabled());
    tern_dataset_free(set);
}

// A transposed view at an offset, as a dataset that keeps its samples in one tensor may give.
static tern_status make_view(int64_t index, tern_sample *out)
{
    tern_tensor *all = tern_reshape(tern_arange(0, 12, 1, .dtype = TERN_FLOAT32), tern_dims(3, 4));
    tern_tensor *part = tern_narrow(all, 1, 2, 2);
    out->at[out->count++] = index % 2 ? tern_transpose(part, 0, 1) : tern_zeros(tern_dims(2, 3));
    return TERN_OK;
}

static void views_are_stacked_by_their_own_elements(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(1, make_view);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 3}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((float[]){0, 0, 0, 0, 0, 0, 2, 6, 10, 3, 7, 11}), 48);
    assert_int_equal(b.count, 1);
    assert_null(b.y);
    tern_dataset_free(set);
}

static tern_status make_empty(int64_t index, tern_sample *out)
{
    (void)index;
    out->at[out->count++] = tern_zeros(tern_dims(0, 3));
    return TERN_OK;
}

static void samples_without_elements_stack_to_none(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(1, make_empty);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 3}, 2, &b), TERN_OK);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(2, 0, 3)));
    tern_dataset_free(set);
}

static void what_a_sample_leaves_dies_with_it(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(0, NULL);
    int64_t before = tern_live_tensors();
    tern_batch b;
    const int64_t index[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(tern_dataset_get(set, index, 10, &b), TERN_OK);
    assert_int_equal(tern_live_tensors(), before + 2); // the batch
    tern_dataset_free(set);
}

// ---- samples that do not fit --------------------------------------------------------------------

static tern_status make_wide(int64_t index, tern_sample *out)
{
    (void)make_plain(index, out);
    out->at[0] = tern_zeros(tern_dims(2, 4));
    return TERN_OK;
}

static tern_status make_doubles(int64_t index, tern_sample *out)
{
    (void)make_plain(index, out);
    out->at[1] = tern_zeros(tern_dims(), .dtype = TERN_FLOAT64);
    return TERN_OK;
}

static tern_status make_elsewhere(int64_t index, tern_sample *out)
{
    (void)make_plain(index, out);
    out->at[0] = tern_to(out->at[0], tern_cpu(1));
    return TERN_OK;
}

static tern_status make_single(int64_t index, tern_sample *out)
{
    (void)make_plain(index, out);
    out->count = 1;
    return TERN_OK;
}

static tern_status make_deep(int64_t index, tern_sample *out)
{
    (void)index;
    out->at[out->count++] = tern_zeros(tern_dims(1, 1, 1, 1, 1, 1, 1, 1));
    return TERN_OK;
}

static void check_refused(int64_t odd, tern_status (*make)(int64_t, tern_sample *),
                          tern_status code, const char *sentence)
{
    tern_dataset *set = odd_new(odd, make);
    tern_loader *loader = tern_loader_new(set, .batch_size = 20);
    tern_batch b = {.size = 9};
    assert_false(tern_loader_next(loader, &b));
    assert_int_equal(b.size, 0);
    assert_int_equal(tern_error_code(), code);
    assert_string_equal(tern_error_message(), sentence);
    tern_error_clear();
    assert_true(tern_grad_enabled());
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_sample_unlike_the_first_is_named_with_its_tensor(void **state)
{
    (void)state;
    check_refused(17, make_wide, TERN_ERR_SHAPE,
                  "loader_next: sample 17 of oddities: tensor 0 is (2, 4) float32, but sample 0 "
                  "gave (2, 3) float32");
    check_refused(5, make_doubles, TERN_ERR_DTYPE,
                  "loader_next: sample 5 of oddities: tensor 1 is () float64, but sample 0 gave () "
                  "int64");
    check_refused(19, make_elsewhere, TERN_ERR_DEVICE,
                  "loader_next: sample 19 of oddities: tensor 0 is (2, 3) float32 on cpu:1, but "
                  "sample 0 gave (2, 3) float32 on cpu:0");
    check_refused(1, make_single, TERN_ERR_SHAPE,
                  "loader_next: sample 1 of oddities: it has 1 tensor, but sample 0 has 2");
}

static void a_sample_of_most_dimensions_cannot_be_stacked(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(1, make_deep);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){4}, 1, &b), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "dataset_get: sample 4 of oddities: tensor 0 has 8 dimensions");
    tern_sample sample; // alone it is none
    assert_int_equal(tern_dataset_item(set, 4, &sample), TERN_OK);
    assert_int_equal(tern_shape_of(sample.x).rank, 8);
    tern_dataset_free(set);
}

// ---- errors inside ------------------------------------------------------------------------------

static tern_status fail_in_words(int64_t index, tern_sample *out)
{
    (void)index;
    (void)out;
    return tern_error_raise(TERN_ERR_IO, "photo.png cannot be read");
}

static tern_status fail_in_a_call(int64_t index, tern_sample *out)
{
    (void)make_plain(index, out);
    out->at[0] = tern_add(out->at[0], tern_zeros(tern_dims(5)));
    return tern_error_code();
}

static tern_status fail_mutely(int64_t index, tern_sample *out)
{
    (void)index;
    (void)out;
    return TERN_ERR_FORMAT;
}

static tern_status forget_the_status(int64_t index, tern_sample *out)
{
    (void)tern_error_raise(TERN_ERR_IO, "label %d is missing", (int)index);
    return make_plain(index, out), TERN_OK;
}

static tern_status give_none(int64_t index, tern_sample *out)
{
    (void)index;
    (void)out;
    return TERN_OK;
}

static tern_status give_null(int64_t index, tern_sample *out)
{
    (void)make_plain(index, out);
    out->at[1] = NULL;
    return TERN_OK;
}

static tern_status give_dead(int64_t index, tern_sample *out)
{
    tern_scope inner = tern_scope_open();
    (void)make_plain(index, out);
    tern_scope_close(inner);
    return TERN_OK;
}

static void an_error_in_a_sample_says_which(void **state)
{
    (void)state;
    check_refused(3, fail_in_words, TERN_ERR_IO,
                  "photo.png cannot be read [in sample 3 of oddities]");
    check_refused(12, fail_in_a_call, TERN_ERR_SHAPE,
                  "add: a (2, 3) and b (5,) do not broadcast: sizes 3 and 5 meet [in sample 12 of "
                  "oddities]");
    check_refused(4, forget_the_status, TERN_ERR_IO,
                  "label 4 is missing [in sample 4 of oddities]");
    check_refused(2, fail_mutely, TERN_ERR_FORMAT,
                  "loader_next: oddities failed to make a sample and did not say why [in sample 2 "
                  "of oddities]");
    check_refused(9, give_none, TERN_ERR_ARG,
                  "loader_next: oddities gave 0 tensors, but a sample has 1 to 8 [in sample 9 of "
                  "oddities]");
    check_refused(8, give_null, TERN_ERR_NULL, "loader_next: y is NULL [in sample 8 of oddities]");
    check_refused(6, give_dead, TERN_ERR_STATE,
                  "loader_next: x (float32 (2, 3), made by reshape) died when its scope closed; "
                  "tern_retain it to keep it [in sample 6 of oddities]");
}

static void an_error_after_a_sample_names_none(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(3, fail_in_words);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){3}, 1, &b), TERN_ERR_IO);
    tern_error_clear();
    (void)tern_error_raise(TERN_ERR_ARG, "something else");
    assert_string_equal(tern_error_message(), "something else");
    tern_error_clear();
    tern_dataset_free(set);
}

static void an_error_that_was_pending_before_is_none_of_the_samples(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(1, make_empty);
    (void)tern_error_raise(TERN_ERR_ARG, "an old mistake");
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){3}, 1, &b), TERN_OK);
    assert_string_equal(tern_error_message(), "an old mistake");
    tern_error_clear();
    tern_dataset_free(set);
}

// ---- one sample ---------------------------------------------------------------------------------

static void a_single_sample_has_no_dimension_of_the_batch(void **state)
{
    (void)state;
    tern_dataset *made = odd_new(0, NULL);
    tern_tensor *x =
        tern_reshape(tern_arange(0, 120, 1, .dtype = TERN_FLOAT32), tern_dims(20, 2, 3));
    tern_dataset *sliced = tern_data_tensors(x, tern_arange(0, 20, 1));
    tern_dataset *sets[] = {made, sliced};
    for (int i = 0; i < 2; i++) {
        tern_sample sample;
        assert_int_equal(tern_dataset_item(sets[i], 6, &sample), TERN_OK);
        assert_int_equal(sample.index, 6);
        assert_int_equal(sample.count, 2);
        assert_true(tern_shape_equal(tern_shape_of(sample.x), tern_dims(2, 3)));
        assert_true(tern_shape_equal(tern_shape_of(sample.y), tern_dims()));
        const float from = i == 0 ? 6 : 36;
        const float row[] = {from, from + 1, from + 2, from + 3, from + 4, from + 5};
        assert_memory_equal(tern_data(sample.x), row, sizeof row);
        assert_int_equal(*(int64_t *)tern_data(sample.y), 6);
        assert_true(tern_grad_enabled());
        tern_dataset_free(sets[i]);
    }
}

static void a_single_sample_that_is_not_there_is_refused(void **state)
{
    (void)state;
    tern_dataset *set = odd_new(3, fail_in_words);
    tern_sample sample = {.count = 3};
    assert_int_equal(tern_dataset_item(set, 20, &sample), TERN_ERR_INDEX);
    assert_int_equal(sample.count, 0);
    assert_error(TERN_ERR_INDEX, "dataset_item: index is 20, but oddities has samples 0 to 19");
    assert_int_equal(tern_dataset_item(set, -1, &sample), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "index is -1");
    assert_int_equal(tern_dataset_item(set, 3, &sample), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "photo.png cannot be read [in sample 3 of oddities]");
    assert_int_equal(tern_dataset_item(set, 1, NULL), TERN_ERR_NULL);
    assert_error(TERN_ERR_NULL, "dataset_item: out is NULL");
    assert_int_equal(tern_dataset_item(NULL, 1, &sample), TERN_ERR_NULL);
    assert_error(TERN_ERR_NULL, "dataset_item: dataset is NULL");
    tern_dataset_free(set);
}

static tern_status get_minus_one(const tern_dataset *self, const tern_sample_context *context,
                                 const int64_t *index, int64_t count, tern_batch *out)
{
    (void)self;
    (void)context;
    (void)index;
    out->at[out->count++] = tern_full(tern_dims(count), -1);
    return TERN_OK;
}

static void with_both_get_makes_the_batches_and_item_the_samples(void **state)
{
    (void)state;
    tern_dataset_class both = odd_class;
    both.get = get_minus_one;
    tern_dataset *set = tern_dataset_new(&both);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){3, 4}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((float[]){-1, -1}), 8);
    tern_sample sample;
    assert_int_equal(tern_dataset_item(set, 3, &sample), TERN_OK);
    assert_int_equal(*(int64_t *)tern_data(sample.y), 3);
    tern_dataset_free(set);
}

// ---- random numbers -----------------------------------------------------------------------------

// Philox4x32-10 from the paper: two words of the block, joined.
static uint64_t philox(uint64_t seed, int64_t epoch, int64_t index, int64_t k)
{
    uint32_t c[4] = {(uint32_t)index, (uint32_t)((uint64_t)index >> 32), (uint32_t)k,
                     (uint32_t)epoch};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t p = c[0] * UINT64_C(0xD2511F53), q = c[2] * UINT64_C(0xCD9E8D57);
        const uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ key[0], (uint32_t)q,
                                  (uint32_t)(p >> 32) ^ c[3] ^ key[1], (uint32_t)p};
        memcpy(c, next, sizeof c);
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return (uint64_t)c[1] << 32 | c[0];
}

// The last of the paper's known answers, which has all of key and counter.
static void the_numbers_are_philox_by_the_documented_layout(void **state)
{
    (void)state;
    tern_sample_context pi = {.seed = UINT64_C(0x299f31d0a4093822), .epoch = 0x03707344};
    const int64_t index = (int64_t)UINT64_C(0x85a308d3243f6a88), k = 0x13198a2e;
    const uint64_t word = UINT64_C(0x94fdccebd16cfe09);
    assert_true(philox(pi.seed, pi.epoch, index, k) == word);
    assert_true(tern_sample_rand(&pi, index, k) == (double)(word >> 11) / 9007199254740992.0);
    const uint64_t numbers[] = {0, 1, 77, UINT64_C(0xdeadbeefcafe), INT64_MAX};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            for (int64_t draw = 0; draw < 3; draw++) {
                tern_sample_context at = {.seed = numbers[a], .epoch = (int64_t)numbers[b]};
                const int64_t sample = (int64_t)numbers[(a + b) % 5];
                uint64_t bits = philox(at.seed, at.epoch, sample, draw);
                assert_true(tern_sample_rand(&at, sample, draw) ==
                            ldexp((double)(bits >> 11), -53));
                assert_int_equal(tern_sample_randint(&at, sample, draw, -3, 7),
                                 (int64_t)(bits % 10) - 3);
            }
}

static void integers_may_have_any_range(void **state)
{
    (void)state;
    tern_sample_context at = {.seed = 5, .epoch = 2};
    for (int64_t k = 0; k < 100; k++) {
        assert_int_equal(tern_sample_randint(&at, 9, k, 4, 5), 4);
        int64_t any = tern_sample_randint(&at, 9, k, INT64_MIN, INT64_MAX);
        assert_true(any == (int64_t)(philox(5, 2, 9, k) % UINT64_MAX + (UINT64_C(1) << 63)));
    }
}

// 100000 draws: the mean's standard deviation is 0.00091.
static void the_numbers_are_uniform(void **state)
{
    (void)state;
    tern_sample_context at = {.seed = 1, .epoch = 1};
    double sum = 0;
    int below = 0;
    for (int64_t i = 0; i < 100000; i++) {
        double u = tern_sample_rand(&at, i % 1000, i / 1000);
        assert_true(u >= 0 && u < 1);
        sum += u;
        below += u < 0.1;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.0046);
    assert_in_range(below, 10000 - 475, 10000 + 475);
}

static void the_first_and_the_last_draw_are_draws(void **state)
{
    (void)state;
    tern_sample_context at = {.seed = 3};
    const double first = tern_sample_rand(&at, 5, 0), last = tern_sample_rand(&at, 5, UINT32_MAX);
    assert_true(first >= 0 && first < 1 && last >= 0 && last < 1 && first != last);
    assert_in_range(tern_sample_randint(&at, 5, UINT32_MAX, 5, 9), 5, 8);
}

static void draws_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    tern_sample_context at = {0};
    assert_true(isnan(tern_sample_rand(NULL, 0, 0)));
    assert_error(TERN_ERR_NULL, "sample_rand: context is NULL");
    assert_true(isnan(tern_sample_rand(&at, 0, -1)));
    assert_error(TERN_ERR_ARG, "sample_rand: k is -1, but must be 0 to 4294967295");
    assert_int_equal(tern_sample_randint(NULL, 0, 0, 4, 9), 4);
    assert_error(TERN_ERR_NULL, "sample_randint: context is NULL");
    assert_int_equal(tern_sample_randint(&at, 0, INT64_C(1) << 32, 4, 9), 4);
    assert_error(TERN_ERR_ARG, "sample_randint: k is 4294967296");
    assert_int_equal(tern_sample_randint(&at, 0, 0, 4, 4), 4);
    assert_error(TERN_ERR_ARG, "sample_randint: low is 4 and high 4");
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(samples_are_stacked_in_the_order_of_asking),
        DATA_TEST(views_are_stacked_by_their_own_elements),
        DATA_TEST(samples_without_elements_stack_to_none),
        DATA_TEST(what_a_sample_leaves_dies_with_it),
        DATA_TEST(a_sample_unlike_the_first_is_named_with_its_tensor),
        DATA_TEST(a_sample_of_most_dimensions_cannot_be_stacked),
        DATA_TEST(an_error_in_a_sample_says_which),
        DATA_TEST(an_error_after_a_sample_names_none),
        DATA_TEST(an_error_that_was_pending_before_is_none_of_the_samples),
        DATA_TEST(a_single_sample_has_no_dimension_of_the_batch),
        DATA_TEST(a_single_sample_that_is_not_there_is_refused),
        DATA_TEST(with_both_get_makes_the_batches_and_item_the_samples),
        DATA_TEST(the_numbers_are_philox_by_the_documented_layout),
        DATA_TEST(integers_may_have_any_range),
        DATA_TEST(the_numbers_are_uniform),
        DATA_TEST(draws_that_make_no_sense_are_refused),
        DATA_TEST(the_first_and_the_last_draw_are_draws),
    };
    return cmocka_run_group_tests_name("dataset_item", tests, start_group, end_group);
}
