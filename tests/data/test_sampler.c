// SPDX-License-Identifier: Apache-2.0
// Samplers: PyTorch's orders, one's own, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "loader_test.h"
#include "golden/golden.h"

// ---- PyTorch's bits -----------------------------------------------------------------------------

static tern_sampler *inner_of(const golden_case *c, const char *kind)
{
    const int64_t samples = (int64_t)golden_number(c, "samples", 0);
    const int64_t numbers = (int64_t)golden_number(c, "numbers", 0);
    const bool replacement = golden_number(c, "replacement", 0) != 0;
    if (strcmp(kind, "sequential") == 0)
        return tern_sampler_sequential(samples);
    if (strcmp(kind, "weighted") == 0)
        return tern_sampler_weighted(golden_values(c, "weights", TERN_FLOAT64, samples), samples,
                                     numbers, .replacement = replacement);
    return tern_sampler_random(samples, .replacement = replacement, .num_samples = numbers);
}

static tern_loader *loader_for(const golden_case *c, tern_dataset *set, tern_generator *own)
{
    const char *kind = golden_text(c, "kind");
    const int64_t batch_size = (int64_t)golden_number(c, "batch_size", 0);
    const bool drop_last = golden_number(c, "drop_last", 0) != 0;
    tern_sampler *sampler = inner_of(c, kind);
    assert_non_null(sampler);
    tern_loader *loader;
    if (strcmp(kind, "batch") == 0) {
        tern_sampler *batches = tern_sampler_batch(sampler, batch_size, drop_last);
        loader = tern_loader_new(set, .sampler = batches, .generator = own);
        tern_sampler_free(batches);
    } else {
        loader = tern_loader_new(set, .sampler = sampler, .generator = own,
                                 .batch_size = batch_size, .drop_last = drop_last);
    }
    tern_sampler_free(sampler);
    return loader;
}

static void check_epoch(const golden_case *c, int epoch, tern_loader *loader)
{
    static const char *const names[] = {"epoch0", "epoch1", "epoch2"};
    const golden_array *expected = golden_find_array(c, names[epoch]);
    const golden_array *sizes = golden_find_array(c, "sizes");
    int64_t done = 0, batches = 0;
    assert_int_equal(tern_loader_batches(loader), sizes->numel);
    tern_each_batch (b, loader) {
        assert_true(batches < sizes->numel && done + b.size <= expected->numel);
        assert_int_equal(b.size, ((const int64_t *)sizes->data)[batches++]);
        assert_memory_equal(b.index, (const int64_t *)expected->data + done,
                            (size_t)b.size * sizeof(int64_t));
        assert_memory_equal(tern_data(b.x), b.index, (size_t)b.size * sizeof(int64_t));
        done += b.size;
    }
    assert_false(tern_error_pending());
    assert_int_equal(batches, sizes->numel);
    assert_int_equal(done, expected->numel);
}

static void check_sampler(const golden_case *c)
{
    tern_manual_seed(7);
    tern_generator *own = golden_number(c, "own", 0) != 0 ? tern_generator_new(5) : NULL;
    tern_dataset *set = numbers((int64_t)golden_number(c, "samples", 0));
    tern_loader *loader = loader_for(c, set, own);
    assert_non_null(loader);
    for (int epoch = 0; epoch < 3; epoch++)
        check_epoch(c, epoch, loader);
    assert_memory_equal(tern_data(tern_rand(tern_dims(1), .generator = own)),
                        golden_values(c, "after", TERN_FLOAT32, 1), sizeof(float));
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_generator_free(own);
}

// Stored by tests/golden/make_sampling.py.
static void every_sampler_draws_as_pytorchs_does(void **state)
{
    (void)state;
    const golden_file *file = golden_read("sampling");
    int checked = 0;
    for (int i = 0; i < file->count; i++)
        if (strncmp(file->cases[i].name, "sampler ", 8) == 0) {
            check_sampler(&file->cases[i]);
            checked++;
        }
    assert_true(checked > 15);
}

static void an_order_may_be_asked_for_without_a_loader(void **state)
{
    (void)state;
    int64_t order[7], again[7];
    tern_sampler *sampler = tern_sampler_random(10, .num_samples = 7);
    assert_int_equal(tern_sampler_count(sampler), 7);
    tern_generator *own = tern_generator_new(5);
    assert_int_equal(tern_sampler_order(sampler, own, order), TERN_OK);
    tern_generator_free(own);
    own = tern_generator_new(5);
    assert_int_equal(tern_sampler_order(sampler, own, again), TERN_OK);
    tern_generator_free(own);
    assert_memory_equal(order, again, sizeof order);
    tern_manual_seed(3);
    assert_int_equal(tern_sampler_order(sampler, NULL, again), TERN_OK);
    assert_memory_not_equal(order, again, sizeof order);
    tern_sampler_free(sampler);
}

// ---- one's own ----------------------------------------------------------------------------------

// Numbers and sizes of batches as a test says.
typedef struct told {
    tern_sampler base;
    int64_t count, batches;
    int64_t order[8], sizes[8];
    tern_status status;
} told;

static int64_t count_told(const tern_sampler *self)
{
    return ((const told *)self)->count;
}

static tern_status order_told(const tern_sampler *self, tern_generator *generator, int64_t *order)
{
    const told *t = (const told *)self;
    assert_non_null(generator);
    memcpy(order, t->order, (size_t)t->count * sizeof *order);
    return t->status;
}

static int64_t cut_told(const tern_sampler *self, const int64_t *order, int64_t count,
                        int64_t *sizes)
{
    const told *t = (const told *)self;
    assert_int_equal(count, t->count);
    if (!order)
        return -1;
    memcpy(sizes, t->sizes, (size_t)t->batches * sizeof *sizes);
    return t->batches;
}

static const tern_sampler_class told_class = {
    .name = "told", .size = sizeof(told), .count = count_told, .order = order_told};
static const tern_sampler_class told_batches_class = {.name = "told",
                                                      .size = sizeof(told),
                                                      .count = count_told,
                                                      .order = order_told,
                                                      .batches = cut_told};

static void a_sampler_of_ones_own_gives_the_order(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    told *sampler = (told *)tern_sampler_new(&told_class);
    sampler->count = 5;
    memcpy(sampler->order, (int64_t[]){5, 5, 0, 3, 1}, 40);
    tern_loader *loader = tern_loader_new(set, .sampler = &sampler->base, .batch_size = 2);
    assert_int_equal(tern_loader_batches(loader), 3);
    assert_next(loader, 2, (int64_t[]){5, 5});
    assert_next(loader, 2, (int64_t[]){0, 3});
    assert_next(loader, 1, (int64_t[]){1});
    assert_end(loader);
    sampler->order[3] = 6;
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_INDEX,
                 "loader_next: told gave 6 as number 3 of an epoch, but data_tensors "
                 "has samples 0 to 5");
    sampler->order[3] = -1;
    int64_t order[8];
    assert_int_equal(tern_sampler_order(&sampler->base, NULL, order), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "sampler_order: told gave -1 as number 3");
    sampler->status = TERN_ERR_IO;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_IO, "loader_next: told failed to give an order and did not say why");
    sampler->status = TERN_OK;
    sampler->count = -3;
    assert_int_equal(tern_loader_batches(loader), -1);
    assert_error(TERN_ERR_STATE, "loader_batches: told says that it has -3 samples");
    tern_loader_free(loader);
    tern_sampler_free(&sampler->base);
    tern_dataset_free(set);
}

static void batches_of_ones_own_have_their_sizes(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    told *sampler = (told *)tern_sampler_new(&told_batches_class);
    sampler->count = 5;
    sampler->batches = 2;
    memcpy(sampler->order, (int64_t[]){4, 3, 2, 1, 0}, 40);
    memcpy(sampler->sizes, (int64_t[]){1, 3}, 16);
    tern_loader *loader = tern_loader_new(set, .sampler = &sampler->base);
    assert_int_equal(tern_loader_batches(loader), -1);
    assert_error(TERN_ERR_UNSUPPORTED,
                 "loader_batches: told cannot say how many batches an epoch has before it begins");
    assert_next(loader, 1, (int64_t[]){4});
    assert_next(loader, 3, (int64_t[]){3, 2, 1}); // what is left over is left out
    assert_end(loader);
    sampler->sizes[1] = 5;
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE,
                 "loader_next: told gave batch 1 the size 5, with 4 of 5 samples left");
    sampler->sizes[1] = 0;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE, "loader_next: told gave batch 1 the size 0");
    sampler->batches = 6;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE, "loader_next: told says that an epoch has 6 batches");
    tern_loader_free(loader);
    tern_sampler_free(&sampler->base);
    tern_dataset_free(set);
}

// ---- going on -----------------------------------------------------------------------------------

static tern_loader *sampled(tern_dataset *set, bool batches)
{
    tern_sampler *sampler = tern_sampler_random(20, .num_samples = 33);
    tern_sampler *cut = batches ? tern_sampler_batch(sampler, 5, false) : NULL;
    tern_loader *loader = batches ? tern_loader_new(set, .sampler = cut)
                                  : tern_loader_new(set, .sampler = sampler, .batch_size = 5);
    tern_sampler_free(cut);
    tern_sampler_free(sampler);
    return loader;
}

static void a_sampled_epoch_goes_on_where_it_was(void **state)
{
    (void)state;
    for (int batches = 0; batches < 2; batches++) {
        tern_dataset *set = numbers(20);
        tern_manual_seed(2);
        tern_loader *loader = sampled(set, batches), *other = sampled(set, batches);
        int64_t rest[40], again[40];
        (void)run_epoch(loader, rest, 3);
        tern_state *saved = tern_loader_state_dict(loader);
        const int64_t count = run_epoch(loader, rest, 0);
        assert_int_equal(count, 18);
        assert_int_equal(tern_loader_load_state_dict(other, saved), TERN_OK);
        assert_int_equal(run_epoch(other, again, 0), count);
        assert_memory_equal(rest, again, (size_t)count * sizeof *rest);
        tern_loader *plain = tern_loader_new(set, .batch_size = 5);
        assert_int_equal(tern_loader_load_state_dict(plain, saved), TERN_ERR_ARG);
        assert_error(TERN_ERR_ARG, "unexpected 1: \"sampler\"");
        tern_state_free(saved);
        tern_free(plain, loader, other, set);
    }
}

// ---- refused ------------------------------------------------------------------------------------

static void what_no_sampler_can_be_is_refused(void **state)
{
    (void)state;
    const double weights[] = {1, 0, 2};
    assert_null(tern_sampler_sequential(-1));
    assert_error(TERN_ERR_ARG, "sampler_sequential: count is -1");
    assert_null(tern_sampler_random(0));
    assert_error(TERN_ERR_ARG, "sampler_random: count is 0, but must be at least 1");
    assert_null(tern_sampler_random(3, .num_samples = -1));
    assert_error(TERN_ERR_ARG, "sampler_random: num_samples is -1");
    assert_null(tern_sampler_weighted(weights, 0, 1));
    assert_error(TERN_ERR_ARG, "sampler_weighted: count is 0");
    assert_null(tern_sampler_weighted(weights, 3, 0));
    assert_error(TERN_ERR_ARG, "sampler_weighted: num_samples is 0");
    assert_null(tern_sampler_weighted(weights, 3, 3, .replacement = false));
    assert_error(TERN_ERR_ARG,
                 "sampler_weighted: 3 samples without replacement of 2 weights above 0");
    assert_null(tern_sampler_weighted(((double[]){1, -1}), 2, 1));
    assert_error(TERN_ERR_NUMERIC, "sampler_weighted: weight 1 is -1, but must be finite and 0");
    assert_null(tern_sampler_weighted(((double[]){(double)NAN, 1}), 2, 1));
    assert_error(TERN_ERR_NUMERIC, "sampler_weighted: weight 0 is nan");
    assert_null(tern_sampler_weighted(((double[]){0, 0}), 2, 1));
    assert_error(TERN_ERR_NUMERIC, "sampler_weighted: the sum of the weights is 0");
    assert_null(tern_sampler_weighted(((double[]){1e308, 1e308}), 2, 1));
    assert_error(TERN_ERR_NUMERIC, "sampler_weighted: the sum of the weights is inf");
}

static void a_permutation_that_no_memory_holds_is_refused(void **state)
{
    (void)state;
    tern_sampler *sampler = tern_sampler_random((INT64_C(1) << 61) + 1, .num_samples = 1);
    int64_t order = 7;
    assert_int_equal(tern_sampler_order(sampler, NULL, &order), TERN_ERR_NOMEM);
    assert_error(TERN_ERR_NOMEM, "sampler_random: no memory for the order of 2305843009213693953");
    assert_int_equal(order, 7);
    tern_sampler_free(sampler);
}

static void what_no_loader_can_do_is_refused(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    tern_sampler *plain = tern_sampler_sequential(6);
    assert_null(tern_sampler_batch(plain, 0, false));
    assert_error(TERN_ERR_ARG, "sampler_batch: batch_size is 0");
    tern_sampler *batches = tern_sampler_batch(plain, 2, false);
    assert_null(tern_sampler_batch(batches, 2, false));
    assert_error(TERN_ERR_ARG, "sampler_batch: sampler_batch gives batches already");
    assert_null(tern_loader_new(set, .sampler = plain, .shuffle = true));
    assert_error(TERN_ERR_ARG,
                 "loader_new: .sampler gives the order, and .shuffle asks for another");
    assert_null(tern_loader_new(set, .sampler = batches, .batch_size = 2));
    assert_error(TERN_ERR_ARG, "loader_new: the batches of sampler_batch have sizes of their own");
    assert_null(tern_loader_new(set, .sampler = batches, .drop_last = true));
    assert_error(TERN_ERR_ARG, "loader_new: the batches of sampler_batch have sizes of their own");
    tern_sampler_free(batches);
    assert_null(tern_sampler_new(&(const tern_sampler_class){.name = "none", .order = order_told}));
    assert_error(TERN_ERR_NULL, "sampler_new: the class's count is NULL");
    assert_null(tern_sampler_new(&(const tern_sampler_class){
        .name = "small", .size = 8, .order = order_told, .count = count_told}));
    assert_error(TERN_ERR_ARG, "sampler_new: the struct of small has 8 bytes, less than");
    tern_sampler_free(plain);
    tern_dataset_free(set);
}

static void a_loader_holds_its_sampler(void **state)
{
    (void)state;
    tern_dataset *set = numbers(3);
    tern_sampler *sampler = tern_sampler_sequential(3);
    tern_loader *loader = tern_loader_new(set, .sampler = sampler, .batch_size = 3);
    tern_sampler_free(sampler);
    assert_next(loader, 3, (int64_t[]){0, 1, 2});
    tern_free(loader, set);
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(every_sampler_draws_as_pytorchs_does),
        DATA_TEST(an_order_may_be_asked_for_without_a_loader),
        DATA_TEST(a_sampler_of_ones_own_gives_the_order),
        DATA_TEST(batches_of_ones_own_have_their_sizes),
        DATA_TEST(a_sampled_epoch_goes_on_where_it_was),
        DATA_TEST(what_no_sampler_can_be_is_refused),
        DATA_TEST(a_permutation_that_no_memory_holds_is_refused),
        DATA_TEST(what_no_loader_can_do_is_refused),
        DATA_TEST(a_loader_holds_its_sampler),
    };
    return cmocka_run_group_tests_name("sampler", tests, start_group, end_group);
}
