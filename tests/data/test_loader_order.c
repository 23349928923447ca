// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"
#include "golden/golden.h"

// ---- order --------------------------------------------------------------------------------------

static void ten_samples_come_in_the_order_that_pytorch_gives_for_seed_0(void **state)
{
    (void)state;
    tern_manual_seed(0);
    tern_dataset *set = numbers(10);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .shuffle = true);
    assert_next(loader, 4, (int64_t[]){6, 7, 1, 4});
    assert_next(loader, 4, (int64_t[]){2, 0, 9, 8});
    assert_next(loader, 2, (int64_t[]){3, 5});
    assert_end(loader);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void check_epoch(const golden_case *c, int epoch, tern_loader *loader)
{
    const char *names[] = {"epoch0", "epoch1", "epoch2"};
    int64_t order[24];
    int broken = epoch == 0 ? (int)golden_number(c, "broken", 0) : 0;
    int64_t count = run_epoch(loader, order, broken);
    assert_memory_equal(order, golden_values(c, names[epoch], TERN_INT64, count),
                        (size_t)count * sizeof *order);
    if (broken)
        tern_loader_reset(loader);
}

static void check_order(const golden_case *c)
{
    tern_manual_seed(7);
    tern_generator *own = golden_number(c, "own", 0) != 0 ? tern_generator_new(5) : NULL;
    tern_dataset *set = numbers((int64_t)golden_number(c, "samples", 0));
    tern_loader *loader =
        tern_loader_new(set, .batch_size = (int64_t)golden_number(c, "batch_size", 0),
                        .shuffle = golden_number(c, "shuffle", 0) != 0,
                        .drop_last = golden_number(c, "drop_last", 0) != 0, .generator = own);
    for (int epoch = 0; epoch < 3; epoch++)
        check_epoch(c, epoch, loader);
    assert_memory_equal(tern_data(tern_rand(tern_dims(1), .generator = own)),
                        golden_values(c, "after", TERN_FLOAT32, 1), sizeof(float));
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_generator_free(own);
}

// Stored by tests/golden/make_data.py: also what the generator gives afterwards.
static void every_kind_of_loader_draws_as_pytorchs_does(void **state)
{
    (void)state;
    const golden_file *file = golden_read("data");
    int checked = 0;
    for (int i = 0; i < file->count; i++)
        if (strncmp(file->cases[i].name, "order ", 6) == 0) {
            check_order(&file->cases[i]);
            checked++;
        }
    assert_true(checked > 10);
}

static void without_shuffling_samples_come_in_turn(void **state)
{
    (void)state;
    tern_dataset *set = numbers(7);
    tern_loader *loader = tern_loader_new(set, .batch_size = 3);
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_next(loader, 3, (int64_t[]){0, 1, 2});
        assert_next(loader, 3, (int64_t[]){3, 4, 5});
        assert_next(loader, 1, (int64_t[]){6});
        assert_end(loader);
    }
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void every_epoch_has_every_sample_once(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    tern_dataset *set = numbers(COUNT);
    tern_loader *loader = tern_loader_new(set, .batch_size = 64, .shuffle = true);
    int64_t order[2][COUNT];
    for (int epoch = 0; epoch < 2; epoch++) {
        bool seen[COUNT] = {false};
        assert_int_equal(run_epoch(loader, order[epoch], 0), COUNT);
        for (int i = 0; i < COUNT; i++) {
            assert_false(seen[order[epoch][i]]);
            seen[order[epoch][i]] = true;
        }
    }
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_loader_made_by_default_gives_single_samples_in_turn(void **state)
{
    (void)state;
    tern_loader_new_options options = tern_loader_new_defaults();
    tern_dataset *set = numbers(2);
    options.dataset = set;
    tern_loader *loader = tern_loader_new_with(&options);
    assert_next(loader, 1, (int64_t[]){0});
    assert_next(loader, 1, (int64_t[]){1});
    assert_end(loader);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// ---- epochs -------------------------------------------------------------------------------------

static void batches_epochs_and_positions_are_counted(void **state)
{
    (void)state;
    tern_dataset *set = numbers(10);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4);
    tern_loader *dropping = tern_loader_new(set, .batch_size = 4, .drop_last = true);
    tern_loader *whole = tern_loader_new(set, .batch_size = INT64_MAX);
    assert_int_equal(tern_loader_batches(loader), 3);
    assert_int_equal(tern_loader_batches(dropping), 2);
    assert_int_equal(tern_loader_batches(whole), 1);
    assert_int_equal(tern_loader_epoch(loader), 0);
    int64_t order[10];
    assert_int_equal(run_epoch(loader, order, 2), 8);
    assert_int_equal(tern_loader_epoch(loader), 1);
    assert_int_equal(tern_loader_position(loader), 2);
    assert_int_equal(run_epoch(loader, order, 0), 2);
    assert_int_equal(tern_loader_epoch(loader), 1);
    assert_int_equal(tern_loader_position(loader), 3);
    assert_int_equal(run_epoch(loader, order, 1), 4);
    assert_int_equal(tern_loader_epoch(loader), 2);
    assert_int_equal(tern_loader_position(loader), 1);
    assert_int_equal(run_epoch(dropping, order, 0), 8);
    assert_int_equal(run_epoch(whole, order, 0), 10);
    tern_loader_free(loader);
    tern_loader_free(dropping);
    tern_loader_free(whole);
    tern_dataset_free(set);
}

static void after_a_break_the_epoch_goes_on(void **state)
{
    (void)state;
    tern_dataset *set = numbers(5);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_batch b;
    while (tern_loader_next(loader, &b))
        break;
    assert_next(loader, 2, (int64_t[]){2, 3});
    assert_next(loader, 1, (int64_t[]){4});
    assert_end(loader);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_reset_begins_a_new_epoch(void **state)
{
    (void)state;
    tern_dataset *set = numbers(5);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_loader_reset(loader); // none has begun
    assert_next(loader, 2, (int64_t[]){0, 1});
    assert_int_equal(tern_loader_epoch(loader), 1);
    tern_loader_reset(loader);
    assert_next(loader, 2, (int64_t[]){0, 1});
    assert_int_equal(tern_loader_epoch(loader), 2);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void an_empty_dataset_ends_at_once(void **state)
{
    (void)state;
    tern_dataset *set = numbers(0);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .shuffle = true);
    assert_int_equal(tern_loader_batches(loader), 0);
    assert_end(loader);
    assert_end(loader);
    assert_int_equal(tern_loader_epoch(loader), 2);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

int main(void)
{
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(ten_samples_come_in_the_order_that_pytorch_gives_for_seed_0),
        DATA_TEST(every_kind_of_loader_draws_as_pytorchs_does),
        DATA_TEST(without_shuffling_samples_come_in_turn),
        DATA_TEST(every_epoch_has_every_sample_once),
        DATA_TEST(a_loader_made_by_default_gives_single_samples_in_turn),
        DATA_TEST(batches_epochs_and_positions_are_counted),
        DATA_TEST(after_a_break_the_epoch_goes_on),
        DATA_TEST(a_reset_begins_a_new_epoch),
        DATA_TEST(an_empty_dataset_ends_at_once),
    };
    return cmocka_run_group_tests_name("loader_order", tests, start_group, end_group);
}
