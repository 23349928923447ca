// SPDX-License-Identifier: Apache-2.0
// Datasets without a length: samples come in their order until there are no more.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"

// Sample i is 10 i, of `length` samples; `fails_at` fails once.
typedef struct ticker {
    tern_dataset base;
    int64_t next, length, fails_at;
    int begun, after_end;
} ticker;

static tern_status next(tern_dataset *dataset, const tern_sample_context *context, int64_t index,
                        tern_sample *out)
{
    ticker *self = (ticker *)dataset;
    assert_in_range(context->workers, 0, 1);
    if (self->next >= self->length) {
        self->after_end++;
        return TERN_OK;
    }
    const int64_t value = self->next++;
    if (self->fails_at < 0)
        assert_int_equal(index, value);
    if (value == self->fails_at)
        return tern_neg(NULL) ? TERN_OK : TERN_ERR_NULL;
    out->at[out->count++] = tern_full(tern_dims(), 10 * (double)value, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status begin(tern_dataset *dataset)
{
    ((ticker *)dataset)->next = 0;
    ((ticker *)dataset)->begun++;
    return TERN_OK;
}

static tern_status visit(tern_dataset *dataset, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "next", &((ticker *)dataset)->next);
}

static const tern_dataset_class ticker_class = {
    .name = "ticker", .size = sizeof(ticker), .next = next, .begin = begin};
static const tern_dataset_class pipe_class = {.name = "pipe", .size = sizeof(ticker), .next = next};
static const tern_dataset_class saved_class = {
    .name = "saved", .size = sizeof(ticker), .next = next, .begin = begin, .visit = visit};

static ticker *stream(const tern_dataset_class *klass, int64_t length)
{
    ticker *self = (ticker *)tern_dataset_new(klass);
    assert_non_null(self);
    self->length = length;
    self->fails_at = -1;
    return self;
}

static void assert_values(tern_loader *loader, int64_t count, const int64_t *values)
{
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_int_equal(b.size, count);
    assert_int_equal(tern_shape_of(b.x).dim[0], count);
    assert_memory_equal(tern_data(b.x), values, (size_t)count * sizeof *values);
}

static void a_stream_is_handed_out_until_it_ends(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 5);
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2);
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_values(loader, 2, (int64_t[]){0, 10});
        assert_values(loader, 2, (int64_t[]){20, 30});
        assert_values(loader, 1, (int64_t[]){40});
        assert_end(loader);
        assert_int_equal(tern_loader_position(loader), 3);
    }
    assert_int_equal(set->begun, 2);
    assert_int_equal(set->after_end, 2); // once an epoch
    tern_free(loader, &set->base);
}

static void a_stream_that_ends_with_a_full_batch_has_no_empty_one(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 4);
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2);
    assert_values(loader, 2, (int64_t[]){0, 10});
    assert_values(loader, 2, (int64_t[]){20, 30});
    assert_end(loader);
    tern_free(loader, &set->base);
}

static void a_short_last_batch_may_be_left_out(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 5);
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 3, .drop_last = true);
    assert_values(loader, 3, (int64_t[]){0, 10, 20});
    assert_end(loader);
    assert_values(loader, 3, (int64_t[]){0, 10, 20});
    tern_free(loader, &set->base);
}

static void a_pipe_goes_on_where_the_last_epoch_left_it(void **state)
{
    (void)state;
    ticker *set = stream(&pipe_class, 40);
    set->fails_at = 1000; // so that numbers may be other than the values
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2);
    assert_values(loader, 2, (int64_t[]){0, 10});
    tern_loader_reset(loader);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_true(*(int64_t *)tern_data(b.x) >= 20); // what a worker had ahead is lost
    tern_free(loader, &set->base);
}

static void after_a_failure_the_samples_behind_it_are_next(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 7);
    set->fails_at = 3;
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2);
    assert_values(loader, 2, (int64_t[]){0, 10});
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_NULL, "neg: x is NULL [in sample 3 of ticker]");
    assert_values(loader, 2, (int64_t[]){40, 50});
    assert_values(loader, 1, (int64_t[]){60});
    assert_end(loader);
    tern_free(loader, &set->base);
}

static void a_loaded_epoch_goes_on_behind_what_was_handed_out(void **state)
{
    (void)state;
    const tern_dataset_class *classes[] = {&ticker_class, &saved_class};
    for (int i = 0; i < 2; i++) {
        ticker *set = stream(classes[i], 7), *other = stream(classes[i], 7);
        tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2);
        tern_loader *resumed = tern_loader_new(&other->base, .batch_size = 2);
        assert_values(loader, 2, (int64_t[]){0, 10});
        assert_values(loader, 2, (int64_t[]){20, 30});
        tern_state *saved = tern_loader_state_dict(loader);
        assert_non_null(saved);
        assert_int_equal(tern_loader_load_state_dict(resumed, saved), TERN_OK);
        tern_state_free(saved);
        assert_values(resumed, 2, (int64_t[]){40, 50});
        assert_values(resumed, 1, (int64_t[]){60});
        assert_end(resumed);
        assert_values(resumed, 2, (int64_t[]){0, 10});
        assert_int_equal(other->begun, i == 0 ? 2 : 1);
        tern_free(loader, resumed, &set->base, &other->base);
    }
}

// (N, 1) of what is there.
static tern_status collate_column(const tern_sample *samples, int64_t count, void *user,
                                  tern_batch *out)
{
    (void)user;
    out->at[out->count++] = tern_zeros(tern_dims(count, 1), .dtype = TERN_INT64);
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)tern_data(out->at[0]))[i] = *(int64_t *)tern_data(samples[i].x);
    return TERN_OK;
}

static void a_stream_is_collated_too(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 3);
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2, .collate = collate_column);
    assert_values(loader, 2, (int64_t[]){0, 10});
    assert_values(loader, 1, (int64_t[]){20});
    assert_end(loader);
    tern_free(loader, &set->base);
}

static void a_batch_beyond_all_memory_is_an_error(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 3);
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = INT64_C(1) << 60);
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_NOMEM, "no memory");
    tern_free(loader, &set->base);
}

static void what_a_stream_has_not_is_refused(void **state)
{
    (void)state;
    ticker *set = stream(&ticker_class, 3);
    tern_batch b;
    tern_sample sample;
    assert_int_equal(tern_dataset_count(&set->base), -1);
    assert_error(
        TERN_ERR_UNSUPPORTED,
        "dataset_count: ticker is a stream: its samples have no number, and are not counted");
    assert_int_equal(tern_dataset_get(&set->base, (int64_t[]){0}, 1, &b), TERN_ERR_UNSUPPORTED);
    assert_error(TERN_ERR_UNSUPPORTED, "dataset_get: ticker is a stream");
    assert_int_equal(tern_dataset_item(&set->base, 0, &sample), TERN_ERR_UNSUPPORTED);
    assert_error(TERN_ERR_UNSUPPORTED, "dataset_item: ticker is a stream");
    assert_null(tern_loader_new(&set->base, .shuffle = true));
    assert_error(TERN_ERR_ARG, "loader_new: ticker is a stream, whose samples come in its order");
    tern_sampler *sampler = tern_sampler_sequential(3);
    assert_null(tern_loader_new(&set->base, .sampler = sampler));
    assert_error(TERN_ERR_ARG, "loader_new: ticker is a stream, whose samples come in its order");
    tern_sampler_free(sampler);
    tern_loader *loader = tern_loader_new(&set->base);
    assert_int_equal(tern_loader_batches(loader), -1);
    assert_error(TERN_ERR_UNSUPPORTED, "loader_batches: ticker is a stream");
    int rounds = 0;
    tern_each_batch (outer, loader) {
        rounds++;
        tern_each_batch (inner, loader)
            rounds += 100;
    }
    assert_int_equal(rounds, 1);
    assert_error(TERN_ERR_STATE,
                 "each_batch: ticker is a stream, and a loop over it is in progress");
    tern_free(loader, &set->base);
    assert_null(
        tern_dataset_new(&(const tern_dataset_class){.name = "both",
                                                     .size = sizeof(ticker),
                                                     .next = next,
                                                     .item = (tern_dataset_item_fn *)next}));
    assert_error(TERN_ERR_ARG, "dataset_new: both has `next`, and count, item or get");
    assert_null(tern_dataset_new(
        &(const tern_dataset_class){.name = "none", .size = sizeof(ticker), .begin = begin}));
    assert_error(TERN_ERR_ARG,
                 "dataset_new: none has `begin`, which is for streams, and no `next`");
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_stream_is_handed_out_until_it_ends),
        DATA_TEST(a_stream_that_ends_with_a_full_batch_has_no_empty_one),
        DATA_TEST(a_short_last_batch_may_be_left_out),
        DATA_TEST(a_pipe_goes_on_where_the_last_epoch_left_it),
        DATA_TEST(after_a_failure_the_samples_behind_it_are_next),
        DATA_TEST(a_loaded_epoch_goes_on_behind_what_was_handed_out),
        DATA_TEST(a_stream_is_collated_too),
        DATA_TEST(a_batch_beyond_all_memory_is_an_error),
        DATA_TEST(what_a_stream_has_not_is_refused),
    };
    return cmocka_run_group_tests_name("stream", tests, start_group, end_group);
}
