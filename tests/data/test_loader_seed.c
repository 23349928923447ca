// SPDX-License-Identifier: Apache-2.0
// A sample knows its seed: augmentation repeats by the loader's seed, not by the order of asking.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"

enum { COUNT = 23, WIDTH = 4, EPOCHS = 3 };

// Sample i is i + noise, WIDTH times, and what it was asked with.
static int64_t count_all(const tern_dataset *self)
{
    (void)self;
    return COUNT;
}

static tern_status noisy_item(const tern_dataset *self, const tern_sample_context *context,
                              int64_t index, tern_sample *out)
{
    (void)self;
    double noise[WIDTH];
    for (int k = 0; k < WIDTH; k++)
        noise[k] = (double)index + tern_sample_rand(context, index, k);
    const bool alone = test_workers() == 0; // which worker asks follows no rule
    const int64_t asked[] = {(int64_t)context->seed, context->epoch, alone ? context->worker : 0,
                             alone ? context->workers : 0};
    out->at[out->count++] = tern_from_data(tern_dims(WIDTH), noise, .dtype = TERN_FLOAT64);
    out->at[out->count++] = tern_from_data(tern_dims(4), asked, .dtype = TERN_INT64);
    return tern_error_code();
}

static const tern_dataset_class noisy_class = {
    .name = "noisy", .size = sizeof(tern_dataset), .count = count_all, .item = noisy_item};

// What each epoch gave for each sample.
typedef struct seen {
    double at[EPOCHS][COUNT][WIDTH];
    int64_t asked[EPOCHS][4]; // the last sample's
} seen;

static void note(seen *to, int epoch, const tern_batch *b)
{
    const double *x = tern_data(b->x);
    for (int64_t i = 0; i < b->size; i++)
        memcpy(to->at[epoch][b->index[i]], x + i * WIDTH, sizeof to->at[0][0]);
    memcpy(to->asked[epoch], tern_data(b->y), sizeof to->asked[0]);
}

static seen run_with(uint64_t seed, int64_t batch_size, bool shuffle)
{
    seen all = {0};
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_generator *own = tern_generator_new(seed);
    tern_loader *loader =
        tern_loader_new(set, .batch_size = batch_size, .shuffle = shuffle, .generator = own);
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        tern_each_batch (b, loader)
            note(&all, epoch, &b);
    assert_false(tern_error_pending());
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_generator_free(own);
    return all;
}

static void the_same_seed_gives_the_same_augmented_batches(void **state)
{
    (void)state;
    seen once = run_with(3, 5, true), again = run_with(3, 5, true), other = run_with(4, 5, true);
    assert_memory_equal(&once, &again, sizeof once);
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        for (int i = 0; i < COUNT; i++)
            assert_memory_not_equal(once.at[epoch][i], other.at[epoch][i], sizeof once.at[0][0]);
}

static void two_epochs_augment_differently(void **state)
{
    (void)state;
    seen all = run_with(3, 5, true);
    for (int i = 0; i < COUNT; i++)
        for (int epoch = 1; epoch < EPOCHS; epoch++)
            assert_memory_not_equal(all.at[epoch][i], all.at[epoch - 1][i], sizeof all.at[0][0]);
}

// Shuffling draws after the seed was drawn, so the first epochs have one seed.
static void the_order_of_asking_changes_no_sample(void **state)
{
    (void)state;
    seen in_turn = run_with(9, 1, false), shuffled = run_with(9, 7, true),
         whole = run_with(9, 100, false);
    assert_memory_equal(in_turn.at[0], shuffled.at[0], sizeof in_turn.at[0]);
    assert_memory_equal(in_turn.at, whole.at, sizeof in_turn.at);
}

// PyTorch: g = torch.Generator().manual_seed(11), then what DataLoader draws as its base_seed:
// torch.empty((), dtype=torch.int64).random_(generator=g), three times.
static void the_seed_is_pytorchs_base_seed(void **state)
{
    (void)state;
    static const int64_t drawn[EPOCHS] = {3325388913236545215, 359254775711865947,
                                          8544873655684927415};
    seen all = run_with(11, 6, false);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        assert_int_equal(all.asked[epoch][0], drawn[epoch]);
        assert_int_equal(all.asked[epoch][1], epoch + 1);
        assert_int_equal(all.asked[epoch][2], 0);
        assert_int_equal(all.asked[epoch][3], 0);
    }
}

static void outside_an_epoch_seed_and_number_are_zero(void **state)
{
    (void)state;
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4);
    tern_batch in_epoch, b;
    tern_sample sample;
    assert_true(tern_loader_next(loader, &in_epoch));
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){5, 2}, 2, &b), TERN_OK);
    assert_int_equal(tern_dataset_item(set, 2, &sample), TERN_OK);
    assert_memory_equal(tern_data(sample.y), ((int64_t[]){0, 0, 0, 0}), 32);
    assert_memory_equal((double *)tern_data(b.x) + WIDTH, tern_data(sample.x),
                        WIDTH * sizeof(double));
    assert_memory_not_equal((double *)tern_data(in_epoch.x) + 2 * (size_t)WIDTH,
                            tern_data(sample.x), WIDTH * sizeof(double));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// The outer epoch goes on with its own seed and number.
static void an_epoch_inside_another_leaves_it_its_seed(void **state)
{
    (void)state;
    seen alone = run_with(6, 5, false);
    seen outer = {0}, inner = {0};
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_generator *own = tern_generator_new(6);
    tern_loader *loader = tern_loader_new(set, .batch_size = 5, .generator = own);
    int rounds = 0;
    tern_each_batch (b, loader) {
        note(&outer, 0, &b);
        if (rounds++ == 1)
            tern_each_batch (c, loader)
                note(&inner, 0, &c);
    }
    assert_int_equal(rounds, 5);
    assert_memory_equal(outer.at[0], alone.at[0], sizeof alone.at[0]);
    assert_memory_equal(inner.at[0], alone.at[1], sizeof alone.at[1]);
    assert_int_equal(outer.asked[0][1], 1);
    assert_int_equal(inner.asked[0][1], 2);
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_generator_free(own);
}

// ---- a dataset around another -------------------------------------------------------------------

// What the samples of `inner` drew, and what this one draws itself, with the same numbers.
typedef struct around {
    tern_dataset base;
    tern_dataset *inner;
} around;

static tern_status around_item(const tern_dataset *self, const tern_sample_context *context,
                               int64_t index, tern_sample *out)
{
    tern_sample inner;
    if (tern_dataset_item(((const around *)self)->inner, index, &inner))
        return tern_error_code();
    double own = (double)index + tern_sample_rand(context, index, 0);
    out->at[out->count++] = inner.x;
    out->at[out->count++] = inner.y;
    out->at[out->count++] = tern_full(tern_dims(), own, .dtype = TERN_FLOAT64);
    return tern_error_code();
}

static const tern_dataset_class around_class = {
    .name = "around", .size = sizeof(around), .count = count_all, .item = around_item};

static void a_dataset_inside_another_has_its_epoch_and_a_seed_of_its_own(void **state)
{
    (void)state;
    tern_dataset *inner = tern_dataset_new(&noisy_class);
    tern_dataset *outer = tern_dataset_new(&around_class);
    ((around *)outer)->inner = inner;
    double first[EPOCHS][COUNT] = {{0}};
    for (int run = 0; run < 2; run++) {
        tern_manual_seed(2);
        tern_loader *loader = tern_loader_new(outer, .batch_size = run ? 4 : 7, .shuffle = run);
        for (int epoch = 0; epoch < EPOCHS - 2 * run; epoch++)
            tern_each_batch (b, loader)
                for (int64_t i = 0; i < b.size; i++) {
                    double drawn = ((double *)tern_data(b.x))[i * WIDTH];
                    assert_true(drawn != ((double *)tern_data(b.at[2]))[i]);
                    assert_int_equal(((int64_t *)tern_data(b.y))[4 * i + 1], epoch + 1);
                    if (run)
                        assert_true(drawn == first[epoch][b.index[i]]);
                    else
                        first[epoch][b.index[i]] = drawn;
                }
        tern_loader_free(loader);
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(first[0][i] != first[1][i]);
    tern_sample sample; // outside again
    assert_int_equal(tern_dataset_item(inner, 0, &sample), TERN_OK);
    assert_int_equal(((int64_t *)tern_data(sample.y))[0], 0);
    tern_dataset_free(inner);
    tern_dataset_free(outer);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(the_same_seed_gives_the_same_augmented_batches),
        DATA_TEST(two_epochs_augment_differently),
        DATA_TEST(the_order_of_asking_changes_no_sample),
        DATA_TEST(the_seed_is_pytorchs_base_seed),
        DATA_TEST(outside_an_epoch_seed_and_number_are_zero),
        DATA_TEST(an_epoch_inside_another_leaves_it_its_seed),
        DATA_TEST(a_dataset_inside_another_has_its_epoch_and_a_seed_of_its_own),
    };
    return cmocka_run_group_tests_name("loader_seed", tests, start_group, end_group);
}
