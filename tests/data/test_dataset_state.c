// SPDX-License-Identifier: Apache-2.0
// Every dataset of datasets.h: one sample is one of a batch, and a loader over another one of the
// same samples goes on in the middle of an epoch with the bits of the first, and with any number of
// workers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/worker.h"
#include "data_fixture.h"
#include "support/public_datasets.h"

enum { COUNT = 7, BATCH = 2, BATCHES = 4, MOST_BYTES = 200000 };

static const char *seven_images(void)
{
    write_mnist("train", COUNT, COUNT);
    return directory;
}

// Files of CIFAR-10 and CIFAR-100 with records of 0, 1, 2, ..., the label being the first byte.
static const char *seven_records(void)
{
    static unsigned char bytes[COUNT * 3074];
    for (size_t size = 3073; size <= 3074; size++) {
        for (size_t i = 0; i < COUNT * size; i++)
            bytes[i] = i % size < 2 ? (unsigned char)(i / size) : (unsigned char)i;
        write_file(size == 3073 ? "test_batch.bin" : "test.bin", bytes, COUNT * size);
    }
    return directory;
}

static const char *seven_rows(void)
{
    return write_file("seven.csv", "a,kind\n0,c\n1,b\n2,a\n3,c\n4,a\n5,b\n6,c\n", 35);
}

static const char *seven_bytes(void)
{
    static const char header[] = "\x93NUMPY\x01\0\x3a\0{'descr': '|u1', 'fortran_order': False, "
                                 "'shape': (7,), }\n";
    char bytes[sizeof header - 1 + COUNT];
    memcpy(bytes, header, sizeof header - 1);
    memcpy(bytes + sizeof header - 1, "tenants", COUNT);
    return write_file("seven.npy", bytes, sizeof bytes);
}

// Those that others are made over, which hold them too.
static tern_dataset *below[8];
static int below_count;

static tern_dataset *pairs(int64_t count)
{
    assert_true(below_count < 8);
    below[below_count] =
        tern_data_tensors(tern_rand(tern_dims(count, 3)), tern_arange(0, (double)count, 1));
    return below[below_count++];
}

static void free_below(void)
{
    while (below_count > 0)
        tern_dataset_free(below[--below_count]);
}

static tern_status draw_for_seven(const tern_sample_context *context, int64_t index,
                                  tern_sample *sample, void *user)
{
    (void)user;
    sample->x = tern_add_scalar(sample->x, tern_sample_rand(context, index, 0));
    return tern_error_code();
}

#define DATASET(name, ...)                                                                         \
    static tern_dataset *make_##name(void)                                                         \
    {                                                                                              \
        tern_manual_seed(3);                                                                       \
        return __VA_ARGS__;                                                                        \
    }
PUBLIC_DATASETS(DATASET)
#undef DATASET

#define DATASET(name, ...) make_##name,
static tern_dataset *(*const datasets[])(void) = {PUBLIC_DATASETS(DATASET)};
#undef DATASET
#define DATASETS (sizeof datasets / sizeof *datasets)

static tern_dataset *made(size_t i)
{
    tern_dataset *set = datasets[i]();
    assert_non_null(set);
    assert_int_equal(tern_dataset_count(set), COUNT);
    return set;
}

static size_t bytes_of(tern_tensor *t)
{
    return (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t));
}

static void check_sample(tern_dataset *set, const tern_batch *all, int64_t number)
{
    tern_sample one;
    assert_int_equal(tern_dataset_item(set, number, &one), TERN_OK);
    assert_int_equal(one.count, all->count);
    for (int k = 0; k < one.count; k++) {
        const size_t size = bytes_of(one.at[k]);
        assert_int_equal(size * COUNT, bytes_of(all->at[k]));
        assert_memory_equal(tern_data(one.at[k]),
                            (const char *)tern_data(all->at[k]) + size * (size_t)number, size);
    }
}

static void one_sample_is_one_of_a_batch(void **state)
{
    (void)state;
    const int64_t index[COUNT] = {0, 1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < DATASETS; i++) {
        tern_scope inner = tern_scope_open();
        tern_dataset *set = made(i);
        tern_batch all;
        assert_int_equal(tern_dataset_get(set, index, COUNT, &all), TERN_OK);
        for (int64_t number = 0; number < COUNT; number++)
            check_sample(set, &all, number);
        tern_dataset_free(set);
        free_below();
        tern_scope_close(inner);
    }
}

// The bytes of the next `count` batches; how many.
static size_t go_on(tern_loader *loader, int count, unsigned char *to)
{
    tern_batch b;
    size_t size = 0;
    while (count > 0) {
        const bool some = tern_loader_next(loader, &b);
        assert_false(tern_error_pending());
        for (int k = 0; some && k < b.count; k++) {
            assert_true(size + bytes_of(b.at[k]) <= MOST_BYTES);
            memcpy(to + size, tern_data(b.at[k]), bytes_of(b.at[k]));
            size += bytes_of(b.at[k]);
        }
        count -= some;
    }
    return size;
}

static void check_resume(size_t i, int before)
{
    static unsigned char past[MOST_BYTES], whole[MOST_BYTES], rest[MOST_BYTES];
    tern_dataset *set = made(i), *again = made(i);
    tern_loader *first = tern_loader_new(set, .batch_size = BATCH, .shuffle = true);
    tern_loader *second = tern_loader_new(again, .batch_size = BATCH, .shuffle = true);
    go_on(first, before, past);
    tern_state *loader = tern_loader_state_dict(first), *random = tern_random_state_dict();
    const size_t size = go_on(first, 2 * BATCHES - before, whole);
    tern_dataset_free(set);
    tern_loader_free(first);
    go_on(second, 2, past);
    assert_int_equal(tern_random_load_state_dict(random), TERN_OK);
    assert_int_equal(tern_loader_load_state_dict(second, loader), TERN_OK);
    assert_int_equal(go_on(second, 2 * BATCHES - before, rest), size);
    assert_memory_equal(rest, whole, size);
    tern_loader_free(second);
    tern_dataset_free(again);
    free_below();
    tern_state_free(loader);
    tern_state_free(random);
}

static void a_loader_over_another_one_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < DATASETS; i++)
        for (int before = 0; before <= BATCHES; before++)
            check_resume(i, before);
}

static size_t run_epochs(size_t i, int workers, unsigned char *to)
{
    tern_dataset *set = made(i);
    tern_manual_seed(9);
    tern_loader *loader =
        tern_loader_new(set, .batch_size = BATCH, .shuffle = true, .workers = workers);
    const size_t size = go_on(loader, 2 * BATCHES, to);
    tern_loader_free(loader);
    tern_dataset_free(set);
    free_below();
    return size;
}

static void any_number_of_workers_gives_the_same_batches_of_each(void **state)
{
    (void)state;
    static unsigned char alone[MOST_BYTES], helped[MOST_BYTES];
    for (size_t i = 0; i < DATASETS; i++) {
        const size_t size = run_epochs(i, 0, alone);
        for (int workers = 1; workers <= 4; workers += 3) {
            assert_int_equal(run_epochs(i, workers, helped), size);
            assert_memory_equal(alone, helped, size);
        }
    }
    tern_workers_shutdown(); // they keep scopes
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(one_sample_is_one_of_a_batch),
        DATA_TEST(a_loader_over_another_one_goes_on_with_the_same_bits),
        DATA_TEST(any_number_of_workers_gives_the_same_batches_of_each),
    };
    return cmocka_run_group_tests_name("dataset_state", tests, start_group, end_group);
}
