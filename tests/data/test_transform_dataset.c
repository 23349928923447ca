// SPDX-License-Identifier: Apache-2.0
// Datasets of transformed samples, and batches that are transformed.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "transform_test.h"

// Samples (1, 4, 4) of tensors that are kept, by item, by get, or by both; also what they draw.
typedef struct images {
    tern_dataset base;
    tern_tensor *x, *y;
} images;

static int64_t count_ten(const tern_dataset *self)
{
    (void)self;
    return 10;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    const images *self = (const images *)dataset;
    out->at[out->count++] = tern_select(self->x, 0, index);
    out->at[out->count++] = tern_select(self->y, 0, index);
    out->at[out->count++] =
        tern_full(tern_dims(), tern_sample_rand(context, index, 0), .dtype = TERN_FLOAT64);
    return tern_error_code();
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    const images *self = (const images *)dataset;
    double draws[10];
    for (int64_t i = 0; i < count; i++)
        draws[i] = tern_sample_rand(context, index[i], 0);
    tern_tensor *numbers = tern_from_data(tern_dims(count), index);
    out->at[out->count++] = tern_index_select(self->x, 0, numbers);
    out->at[out->count++] = tern_index_select(self->y, 0, numbers);
    out->at[out->count++] = tern_from_data(tern_dims(count), draws);
    return tern_error_code();
}

static void release(tern_dataset *dataset)
{
    tern_release(((images *)dataset)->x);
    tern_release(((images *)dataset)->y);
}

static int64_t three(const tern_dataset *self)
{
    (void)self;
    return 3;
}

static const char *name_class(const tern_dataset *self, int64_t label)
{
    (void)self;
    static const char *const names[] = {"shirt", "bag", "boot"};
    return names[label];
}

static bool name_sample(const tern_dataset *self, int64_t index, char *buffer, size_t size)
{
    (void)self;
    return snprintf(buffer, size, "bag/%04d.png", (int)index) > 0;
}

static const tern_dataset_class classes[] = {
    {.name = "images",
     .size = sizeof(images),
     .count = count_ten,
     .item = item,
     .free = release,
     .class_count = three,
     .class_name = name_class,
     .sample_name = name_sample},
    {.name = "images", .size = sizeof(images), .count = count_ten, .get = get, .free = release},
    {.name = "images",
     .size = sizeof(images),
     .count = count_ten,
     .item = item,
     .get = get,
     .free = release},
};

static tern_dataset *images_new(int kind)
{
    images *self = (images *)tern_dataset_new(&classes[kind]);
    assert_non_null(self);
    self->x = tern_retain(ramp(10, 1, 4, 4));
    self->y = tern_retain(tern_arange(0, 10, 1, .dtype = TERN_INT64));
    return &self->base;
}

static tern_transform *augment(void)
{
    return tern_transform_compose(tern_transform_random_crop(3, .padding = 1),
                                  tern_transform_random_horizontal_flip(0.5),
                                  tern_transform_normalize(tern_channels(3), tern_channels(7)));
}

static tern_dataset *transformed_new(int kind)
{
    tern_dataset *inner = images_new(kind);
    tern_transform *transform = augment();
    tern_dataset *set = tern_data_transform(inner, transform);
    assert_non_null(set);
    tern_free(inner, transform); // the dataset holds both
    return set;
}

static const int64_t some[] = {7, 0, 7, 3, 9};

static void samples_and_batches_have_the_same_bits(void **state)
{
    (void)state;
    tern_batch batches[3];
    tern_dataset *sets[3];
    for (int kind = 0; kind < 3; kind++) {
        sets[kind] = transformed_new(kind);
        assert_int_equal(tern_dataset_get(sets[kind], some, 5, &batches[kind]), TERN_OK);
        assert_true(tern_shape_equal(tern_shape_of(batches[kind].x), tern_dims(5, 1, 3, 3)));
        assert_same_bits(batches[kind].x, batches[0].x);
        assert_memory_equal(tern_data(batches[kind].y), some, sizeof some);
        assert_ptr_equal(batches[kind].x, batches[kind].at[0]);
    }
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < 5; i++) {
            tern_sample s;
            assert_int_equal(tern_dataset_item(sets[kind], some[i], &s), TERN_OK);
            assert_same_bits(s.x, tern_select(batches[0].x, 0, i));
            assert_int_equal(tern_item_int(s.y), some[i]);
            assert_int_equal(tern_rank(s.y), 0);
        }
        tern_dataset_free(sets[kind]);
    }
}

static void the_inner_dataset_draws_other_numbers_than_the_transform(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tern_dataset *set = transformed_new(kind);
        tern_batch b;
        assert_int_equal(tern_dataset_get(set, some, 5, &b), TERN_OK);
        for (int i = 0; i < 5; i++)
            assert_true(((double *)tern_data(b.at[2]))[i] != drawn(0, some[i], 0));
        assert_true(((double *)tern_data(b.at[2]))[0] == ((double *)tern_data(b.at[2]))[2]);
        tern_dataset_free(set);
    }
}

static void another_epoch_and_another_seed_draw_anew(void **state)
{
    (void)state;
    tern_dataset *set = transformed_new(1);
    tern_tensor *seen[4];
    for (int run = 0; run < 2; run++) {
        tern_manual_seed((uint64_t)run);
        tern_loader *loader = tern_loader_new(set, .batch_size = 10);
        for (int epoch = 0; epoch < 2; epoch++)
            tern_each_batch (b, loader)
                seen[run * 2 + epoch] = tern_retain(tern_clone(b.x));
        tern_loader_free(loader);
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(tern_data(seen[i]), tern_data(seen[k]), 10 * 9 * sizeof(float));
    for (int i = 0; i < 4; i++)
        tern_release(seen[i]);
    tern_dataset_free(set);
}

static void classes_and_names_are_those_of_the_inner_dataset(void **state)
{
    (void)state;
    tern_dataset *set = transformed_new(0), *silent = transformed_new(1);
    char name[32];
    assert_int_equal(tern_dataset_count(set), 10);
    assert_int_equal(tern_dataset_class_count(set), 3);
    assert_string_equal(tern_dataset_class_name(set, 2), "boot");
    assert_true(tern_dataset_sample_name(set, 7, name, sizeof name));
    assert_string_equal(name, "bag/0007.png");
    assert_int_equal(tern_dataset_class_count(silent), 0);
    assert_false(tern_dataset_sample_name(silent, 7, name, sizeof name));
    tern_free(set, silent);
}

static void a_dataset_that_can_move_moves_and_another_says_that_it_cannot(void **state)
{
    (void)state;
    tern_tensor *x = ramp(4, 1, 4, 4);
    tern_dataset *inner = tern_data_tensors(x), *fixed = transformed_new(0);
    tern_transform *transform = augment();
    tern_dataset *set = tern_data_transform(inner, transform);
    tern_batch here, there;
    assert_int_equal(tern_dataset_get(set, some + 1, 1, &here), TERN_OK);
    assert_ptr_equal(tern_dataset_to(set, tern_cpu(1)), set);
    assert_int_equal(tern_dataset_get(set, some + 1, 1, &there), TERN_OK);
    assert_true(tern_device_equal(tern_device_of(there.x), tern_cpu(1)));
    assert_same_bits(tern_to(there.x, tern_cpu(0)), here.x);
    assert_null(tern_dataset_to(fixed, tern_cpu(1)));
    assert_error(TERN_ERR_UNSUPPORTED, "images cannot be moved to cpu:1");
    tern_free(set, inner, fixed, transform);
}

static void a_transform_of_samples_that_are_no_images_says_so(void **state)
{
    (void)state;
    tern_dataset *inner = tern_data_tensors(tern_zeros(tern_dims(4, 3)));
    tern_transform *transform = augment();
    tern_dataset *set = tern_data_transform(inner, transform);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, some + 1, 1, &b), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "transform_random_crop: x has shape (1, 3), but must be images");
    tern_free(set, inner, transform);
}

static void what_fails_in_a_sample_names_the_sample(void **state)
{
    (void)state;
    tern_dataset *inner = images_new(0);
    tern_transform *crop = tern_transform_random_crop(5);
    tern_dataset *set = tern_data_transform(inner, crop);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, some, 1, &b), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "[in sample 7 of data_transform, from bag/0007.png]");
    tern_free(set, inner, crop);
}

static void a_freed_transform_is_found(void **state)
{
    (void)state;
    tern_transform *t = tern_transform_to_float();
    assert_ptr_equal(tern_transform_retain(t), t);
    tern_transform_free(t);
    tern_transform_free(t);
    tern_transform_free(t);
    assert_error(TERN_ERR_STATE, "transform_free: transform_to_float was freed already");
    assert_null(tern_transform_apply(t, ramp(1, 1, 1, 1), 0));
    assert_error(TERN_ERR_STATE, "transform_apply: transform_to_float was freed already");
    tern_memory_trim();
}

static void the_inner_dataset_cannot_be_freed_twice(void **state)
{
    (void)state;
    tern_dataset *inner = images_new(0);
    tern_transform *transform = augment();
    tern_dataset *set = tern_data_transform(inner, transform);
    tern_dataset_free(inner);
    tern_dataset_free(inner);
    assert_error(TERN_ERR_STATE, "dataset_free: images was freed already");
    assert_int_equal(tern_dataset_count(set), 10);
    tern_free(set, transform);
}

// ---- streams, workers, states -------------------------------------------------------------------

// The numbers from 0 to 6 as images (1, 2, 2), and where it is.
typedef struct counting {
    tern_dataset base;
    int64_t at;
} counting;

static tern_status count_on(tern_dataset *self, const tern_sample_context *context, int64_t index,
                            tern_sample *out)
{
    (void)context;
    (void)index;
    if (((counting *)self)->at < 7)
        out->at[out->count++] = tern_full(tern_dims(1, 2, 2), (double)((counting *)self)->at++);
    return tern_error_code();
}

static tern_status from_the_first(tern_dataset *self)
{
    ((counting *)self)->at = 0;
    return TERN_OK;
}

static void a_stream_is_transformed_sample_by_sample(void **state)
{
    (void)state;
    static const tern_dataset_class klass = {
        .name = "counting", .size = sizeof(counting), .next = count_on, .begin = from_the_first};
    tern_dataset *stream = tern_dataset_new(&klass);
    tern_transform *transform = tern_transform_normalize(tern_channels(1), tern_channels(2));
    tern_dataset *set = tern_data_transform(stream, transform);
    tern_loader *loader = tern_loader_new(set, .batch_size = 3);
    for (int epoch = 0; epoch < 2; epoch++) {
        float next = 0;
        tern_each_batch (b, loader)
            for (int64_t i = 0; i < b.size; i++, next++)
                assert_float_equal(values_of(b.x)[4 * i], (next - 1) / 2, 0);
        assert_float_equal(next, 7, 0);
    }
    assert_int_equal(tern_dataset_count(set), -1);
    assert_error(TERN_ERR_UNSUPPORTED, "data_transform is a stream");
    tern_free(loader, set, stream, transform);
}

static void any_number_of_workers_makes_the_same_images(void **state)
{
    (void)state;
    tern_tensor *seen[4];
    for (int kind = 0; kind < 2; kind++) {
        tern_dataset *set = transformed_new(kind);
        for (int workers = 0; workers < 4; workers += 3) {
            tern_tensor **first = &seen[kind * 2 + (workers > 0)];
            tern_generator *generator = tern_generator_new(3);
            tern_loader *loader = tern_loader_new(set, .batch_size = 4, .shuffle = true,
                                                  .workers = workers, .generator = generator);
            tern_tensor *parts[3];
            int count = 0;
            tern_each_batch (b, loader)
                parts[count++] = tern_retain(tern_clone(b.x));
            assert_int_equal(count, 3);
            *first = tern_cat(parts, 3, 0);
            for (int i = 0; i < 3; i++)
                tern_release(parts[i]);
            tern_free(loader, generator);
        }
        tern_dataset_free(set);
    }
    for (int i = 1; i < 4; i++)
        assert_same_bits(seen[i], seen[0]);
}

static tern_status visit_count(tern_dataset *self, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "at", &((counting *)self)->at);
}

static void what_is_saved_is_the_inner_datasets(void **state)
{
    (void)state;
    static const tern_dataset_class klass = {.name = "counting",
                                             .size = sizeof(counting),
                                             .next = count_on,
                                             .begin = from_the_first,
                                             .visit = visit_count};
    tern_dataset *stream = tern_dataset_new(&klass);
    tern_transform *transform = tern_transform_to_float();
    tern_dataset *set = tern_data_transform(stream, transform);
    tern_loader *loader = tern_loader_new(set, .batch_size = 3);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    tern_state *saved = tern_loader_state_dict(loader);
    ((counting *)stream)->at = 0;
    assert_int_equal(tern_loader_load_state_dict(loader, saved), TERN_OK);
    assert_int_equal(((counting *)stream)->at, 3);
    assert_true(tern_loader_next(loader, &b));
    assert_float_equal(values_of(b.x)[0], 3, 0);
    tern_state_free(saved);
    tern_free(loader, set, stream, transform);
}

static void one_thread_at_a_time_asks_what_was_serial(void **state)
{
    (void)state;
    static const tern_dataset_class klass = {
        .name = "serial", .size = sizeof(images), .count = count_ten, .item = item, .serial = true};
    tern_dataset *inner = tern_dataset_new(&klass);
    tern_transform *transform = tern_transform_to_float();
    tern_dataset *set = tern_data_transform(inner, transform), *plain = transformed_new(0);
    assert_true(tern_dataset_is_serial(set));
    assert_false(tern_dataset_is_serial(plain));
    tern_free(set, inner, transform, plain);
}

// ---- batches ------------------------------------------------------------------------------------

static void a_batch_is_transformed_as_its_samples_numbers_say(void **state)
{
    (void)state;
    tern_tensor *x = ramp(10, 1, 4, 4);
    tern_transform *transform = augment();
    const tern_sample_context context = {.seed = 5};
    tern_tensor *all = tern_transform_apply(transform, x, 5);
    tern_tensor *numbers = tern_from_data(tern_dims(5), some);
    tern_batch b = {.size = 5, .count = 2, .index = some};
    b.at[0] = tern_index_select(x, 0, numbers);
    b.at[1] = numbers;
    assert_int_equal(tern_transform_batch(transform, &context, &b), TERN_OK);
    assert_same_bits(b.x, tern_index_select(all, 0, numbers));
    assert_ptr_equal(b.y, numbers);
    tern_transform_free(transform);
}

static void a_batch_that_could_not_be_transformed_is_as_before(void **state)
{
    (void)state;
    tern_transform *crop = tern_transform_random_crop(9);
    const tern_sample_context context = {.seed = 5};
    tern_tensor *x = ramp(1, 1, 4, 4);
    tern_batch b = {.size = 1, .count = 1, .index = some, .at = {x}};
    assert_int_equal(tern_transform_batch(crop, &context, &b), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "transform_random_crop");
    assert_ptr_equal(b.at[0], x);
    tern_transform_free(crop);
}

static tern_status fail_silently(const tern_transform *transform,
                                 const tern_sample_context *context, int64_t first_draw,
                                 tern_batch *batch)
{
    (void)transform;
    (void)context;
    (void)first_draw;
    batch->at[0] = NULL;
    return TERN_ERR_STATE;
}

static void a_transform_that_fails_without_a_word_is_named(void **state)
{
    (void)state;
    static const tern_transform_class klass = {
        .name = "silent", .size = sizeof(tern_transform), .apply = fail_silently};
    tern_transform *silent = tern_transform_new(&klass);
    assert_null(tern_transform_apply(silent, ramp(1, 1, 1, 1), 0));
    assert_error(TERN_ERR_STATE, "transform_apply: silent failed and did not say why");
    tern_transform_free(silent);
}

int main(void)
{
    setenv("TERN_CACHE", "1", 1);
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(samples_and_batches_have_the_same_bits),
        DATA_TEST(the_inner_dataset_draws_other_numbers_than_the_transform),
        DATA_TEST(another_epoch_and_another_seed_draw_anew),
        DATA_TEST(classes_and_names_are_those_of_the_inner_dataset),
        DATA_TEST(a_dataset_that_can_move_moves_and_another_says_that_it_cannot),
        DATA_TEST(a_transform_of_samples_that_are_no_images_says_so),
        DATA_TEST(what_fails_in_a_sample_names_the_sample),
        DATA_TEST(a_freed_transform_is_found),
        DATA_TEST(the_inner_dataset_cannot_be_freed_twice),
        DATA_TEST(a_stream_is_transformed_sample_by_sample),
        DATA_TEST(any_number_of_workers_makes_the_same_images),
        DATA_TEST(what_is_saved_is_the_inner_datasets),
        DATA_TEST(one_thread_at_a_time_asks_what_was_serial),
        DATA_TEST(a_batch_is_transformed_as_its_samples_numbers_say),
        DATA_TEST(a_batch_that_could_not_be_transformed_is_as_before),
        DATA_TEST(a_transform_that_fails_without_a_word_is_named),
    };
    return cmocka_run_group_tests_name("transform_dataset", tests, start_group, end_group);
}
