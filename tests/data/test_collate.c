// SPDX-License-Identifier: Apache-2.0
// Batches that a function makes of samples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"
#include "golden/golden.h"

// Sample i has i % 4 + 1 rows of 2 and a label; as a test says it is of other shape.
static struct {
    int64_t wide_at, double_at, more_at;
} odd = {-1, -1, -1};

static int64_t count_all(const tern_dataset *self)
{
    (void)self;
    return 10;
}

static tern_status item(const tern_dataset *self, const tern_sample_context *context, int64_t index,
                        tern_sample *out)
{
    (void)self;
    (void)context;
    const tern_shape shape = tern_dims(index % 4 + 1, index == odd.wide_at ? 3 : 2);
    out->at[out->count++] = tern_full(
        shape, (double)index + 1, .dtype = index == odd.double_at ? TERN_FLOAT64 : TERN_FLOAT32);
    out->at[out->count++] = tern_full(tern_dims(), (double)index, .dtype = TERN_INT64);
    if (index == odd.more_at)
        out->at[out->count++] = tern_full(tern_dims(), 0);
    return tern_error_code();
}

static const tern_dataset_class ragged_class = {
    .name = "ragged", .size = sizeof(tern_dataset), .count = count_all, .item = item};

// ---- padded -------------------------------------------------------------------------------------

// Stored by tests/golden/make_sampling.py.
static void shorter_samples_are_padded_as_pytorch_pads_them(void **state)
{
    (void)state;
    const golden_case *c = golden_find("sampling", "padded");
    static const char *const names[] = {"part0", "part1", "part2"};
    tern_sample samples[3] = {0};
    for (int i = 0; i < 3; i++) {
        const golden_array *part = golden_find_array(c, names[i]);
        samples[i] = (tern_sample){.count = 1, .index = i};
        samples[i].at[0] = tern_from_data_with(&(tern_from_data_options){
            .dtype = TERN_FLOAT32, .shape = part->shape, .data = part->data});
    }
    tern_batch b = {0};
    double value = 9;
    assert_int_equal(tern_collate_padded(samples, 3, &value, &b), TERN_OK);
    assert_int_equal(b.count, 2);
    const golden_array *padded = golden_find_array(c, "padded");
    assert_true(tern_shape_equal(tern_shape_get(b.at[0]), padded->shape));
    assert_memory_equal(tern_data(b.at[0]), padded->data, (size_t)padded->numel * sizeof(float));
    assert_memory_equal(tern_data(b.at[1]), ((int64_t[]){3, 1, 4}), 24);
}

static void a_loader_pads_and_gives_the_lengths(void **state)
{
    (void)state;
    tern_dataset *set = tern_dataset_new(&ragged_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 3, .collate = tern_collate_padded);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_int_equal(b.count, 3);
    assert_int_equal(b.size, 3);
    assert_memory_equal(b.index, ((int64_t[]){0, 1, 2}), 24);
    assert_true(tern_shape_equal(tern_shape_get(b.x), tern_dims(3, 3, 2)));
    assert_memory_equal(tern_data(b.x),
                        ((float[]){1, 1, 0, 0, 0, 0, 2, 2, 2, 2, 0, 0, 3, 3, 3, 3, 3, 3}), 72);
    assert_true(tern_shape_equal(tern_shape_get(b.y), tern_dims(3)));
    assert_memory_equal(tern_data(b.at[2]), ((int64_t[]){1, 2, 3}), 24);
    assert_null(b.at[3]);
    assert_true(tern_loader_next(loader, &b));
    assert_true(tern_shape_equal(tern_shape_get(b.x), tern_dims(3, 4, 2)));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void assert_refused(tern_dataset *set, tern_status code, const char *sentence)
{
    tern_loader *loader = tern_loader_new(set, .batch_size = 3, .collate = tern_collate_padded);
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(code, sentence);
    tern_loader_free(loader);
}

static void samples_that_differ_otherwise_are_refused(void **state)
{
    (void)state;
    tern_dataset *set = tern_dataset_new(&ragged_class);
    odd.wide_at = 1;
    assert_refused(set, TERN_ERR_SHAPE,
                   "collate_padded: tensor 0 of sample 1 is (2, 3) float32 on cpu, and of sample 0 "
                   "(1, 2) float32 on cpu: only their first sizes may differ");
    odd.wide_at = -1;
    odd.double_at = 2;
    assert_refused(set, TERN_ERR_DTYPE,
                   "collate_padded: tensor 0 of sample 2 is (3, 2) float64 on cpu");
    odd.double_at = -1;
    odd.more_at = 2;
    assert_refused(set, TERN_ERR_SHAPE,
                   "collate_padded: sample 2 has 3 tensors, but sample 0 has 2");
    odd.more_at = -1;
    tern_dataset_free(set);
    tern_sample number = {.count = 1};
    number.at[0] = tern_full(tern_dims(), 1);
    tern_batch b;
    assert_int_equal(tern_collate_padded(&number, 1, NULL, &b), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "collate_padded: tensor 0 of sample 0 is a number");
    assert_int_equal(tern_collate_padded(&number, 0, NULL, &b), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "collate_padded: count is 0");
    assert_int_equal(tern_collate_padded(NULL, 1, NULL, &b), TERN_ERR_NULL);
    assert_error(TERN_ERR_NULL, "collate_padded: samples is NULL");
}

// ---- one's own ----------------------------------------------------------------------------------

typedef struct sums {
    _Atomic int calls; // workers add too
    tern_status status;
    int tensors;
} sums;

// The sum of the labels.
static tern_status add_labels(const tern_sample *samples, int64_t count, void *user,
                              tern_batch *out)
{
    sums *s = user;
    s->calls++;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(*(int64_t *)tern_data(samples[i].y), samples[i].index);
        sum += (double)samples[i].index;
    }
    for (int i = 0; i < s->tensors; i++)
        out->at[out->count++] = tern_full(tern_dims(), sum);
    return s->status;
}

static void a_function_of_ones_own_makes_the_batch(void **state)
{
    (void)state;
    if (test_workers() > 0)
        skip(); // batches are made before the test changes what comes out
    tern_dataset *set = tern_dataset_new(&ragged_class);
    sums s = {.tensors = 1};
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .collate = add_labels, .user = &s);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_true(*(float *)tern_data(b.x) == 6);
    assert_null(b.y);
    assert_int_equal(s.calls, 1);
    s.status = TERN_ERR_IO;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_IO, "loader_next: .collate failed and did not say why");
    s.status = TERN_OK;
    s.tensors = 0;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_ARG, "loader_next: .collate gave 0 tensors");
    s.tensors = 2;
    assert_true(tern_loader_next(loader, &b));
    assert_true(*(float *)tern_data(b.y) == 22); // the same four samples, asked for again
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void datasets_without_items_are_collated_too(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_tensors(tern_arange(0, 5, 1), tern_arange(0, 5, 1));
    sums s = {.tensors = 1};
    tern_loader *loader = tern_loader_new(set, .batch_size = 3, .collate = add_labels, .user = &s);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_true(*(float *)tern_data(b.x) == 3);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(shorter_samples_are_padded_as_pytorch_pads_them),
        DATA_TEST(a_loader_pads_and_gives_the_lengths),
        DATA_TEST(samples_that_differ_otherwise_are_refused),
        DATA_TEST(a_function_of_ones_own_makes_the_batch),
        DATA_TEST(datasets_without_items_are_collated_too),
    };
    return cmocka_run_group_tests_name("collate", tests, start_group, end_group);
}
