// SPDX-License-Identifier: Apache-2.0
// Datasets on other devices than the CPU, and loaders that send batches to them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_test.h"
#include "data/elsewhere.h"

#define IMAGES 300
#define PIXELS 12 // 3 x 4

static unsigned char pixels[IMAGES * PIXELS], labels[IMAGES];

// Every byte is the value of some pixel.
static int write_images(void)
{
    static unsigned char images[16 + sizeof pixels] = {
        0, 0, 8, 3, 0, 0, IMAGES / 256, IMAGES % 256, 0, 0, 0, 3, 0, 0, 0, 4};
    static unsigned char numbers[8 + sizeof labels] = {0,           0, 8, 1, 0, 0, IMAGES / 256,
                                                       IMAGES % 256};
    for (int i = 0; i < IMAGES * PIXELS; i++)
        images[16 + i] = pixels[i] = (unsigned char)(i * 7);
    for (int i = 0; i < IMAGES; i++)
        numbers[8 + i] = labels[i] = (unsigned char)(i * 3 % 10);
    write_file("train-images-idx3-ubyte", images, sizeof images);
    write_file("train-labels-idx1-ubyte", numbers, sizeof numbers);
    return 0;
}

static int start_group(void **state)
{
    (void)state;
    return make_directory() || write_images();
}

static int end_group(void **state)
{
    (void)state;
    remove_directory();
    return all_given_back();
}

static tern_scope scope;

static int start(void **state)
{
    (void)state;
    tern_error_clear();
    scope = tern_scope_open();
    return scope ? 0 : -1;
}

static int leaves_nothing(void **state)
{
    (void)state;
    fail_nth_allocation(0);
    int status = tern_set_default_device(tern_cpu(0));
    tern_scope_close(scope);
    if (tern_error_pending())
        fprintf(stderr, "pending: %s\n", tern_error_message());
    return status || tern_error_pending() || tern_live_tensors() != 0;
}

static const tern_device unspecified = {TERN_DEVICE_UNSPECIFIED, 0};

static tern_dataset *images(void)
{
    tern_dataset *set = tern_data_mnist(directory, TERN_TRAIN);
    assert_non_null(set);
    return set;
}

// A batch of x = byte / 255 and y = label, by the numbers of its samples.
static void assert_images(const tern_batch *b, tern_device device)
{
    float x[IMAGES * PIXELS];
    int64_t y[IMAGES];
    for (int64_t i = 0; i < b->size; i++) {
        for (int k = 0; k < PIXELS; k++)
            x[i * PIXELS + k] = (float)pixels[b->index[i] * PIXELS + k] / 255.0f;
        y[i] = labels[b->index[i]];
    }
    assert_is_on(b->x, device);
    assert_is_on(b->y, device);
    assert_int_equal(tern_dtype_of(b->x), TERN_FLOAT32);
    assert_int_equal(tern_dtype_of(b->y), TERN_INT64);
    assert_true(tern_shape_equal(tern_shape_of(b->x), tern_dims(b->size, 1, 3, 4)));
    assert_true(tern_shape_equal(tern_shape_of(b->y), tern_dims(b->size)));
    assert_elements(b->x, x);
    assert_elements(b->y, y);
}

// ---- moved datasets -----------------------------------------------------------------------------

static tern_loader *shuffled(tern_dataset *set, tern_device device)
{
    tern_manual_seed(11);
    tern_loader *loader = tern_loader_new(set, .batch_size = 64, .shuffle = true, .device = device);
    assert_non_null(loader);
    return loader;
}

static void assert_same_epoch(tern_loader *loader, tern_loader *other, tern_device device)
{
    tern_batch b, c;
    int64_t samples = 0;
    while (tern_loader_next(loader, &b)) {
        assert_true(tern_loader_next(other, &c));
        assert_int_equal(b.size, c.size);
        assert_memory_equal(b.index, c.index, (size_t)b.size * sizeof *b.index);
        assert_images(&c, device);
        assert_same_bits(b.x, c.x);
        assert_same_bits(b.y, c.y);
        samples += b.size;
    }
    assert_false(tern_loader_next(other, &c));
    assert_int_equal(samples, IMAGES);
}

// Each loader draws from a generator of its own, of the same seed.
static void assert_same_batches(tern_dataset *set, tern_device given, tern_device device)
{
    tern_dataset *here = images();
    tern_generator *left = tern_generator_new(11), *right = tern_generator_new(11);
    tern_loader *loader =
        tern_loader_new(here, .batch_size = 64, .shuffle = true, .generator = left);
    tern_loader *other = tern_loader_new(set, .batch_size = 64, .shuffle = true, .device = given,
                                         .generator = right);
    for (int epoch = 0; epoch < 2; epoch++)
        assert_same_epoch(loader, other, device);
    tern_loader_free(loader);
    tern_loader_free(other);
    tern_generator_free(left);
    tern_generator_free(right);
    tern_dataset_free(here);
}

static void batches_made_on_a_device_are_those_of_the_cpu(void **state)
{
    (void)state;
    tern_dataset *set = images();
    assert_ptr_equal(tern_dataset_to(set, elsewhere(0)), set);
    assert_int_equal(tern_dataset_size(set), IMAGES);
    assert_same_batches(set, elsewhere(0), elsewhere(0));
    tern_dataset_free(set);
}

static void batches_sent_to_a_device_are_those_of_the_cpu(void **state)
{
    (void)state;
    tern_dataset *set = images();
    assert_same_batches(set, elsewhere(0), elsewhere(0));
    tern_dataset_free(set);
}

static void without_a_device_of_its_own_a_loader_leaves_them_there(void **state)
{
    (void)state;
    tern_dataset *set = tern_dataset_to(images(), elsewhere(0));
    assert_same_batches(set, unspecified, elsewhere(0));
    tern_dataset_free(set);
}

static void a_dataset_goes_from_device_to_device_and_back(void **state)
{
    (void)state;
    tern_dataset *set = images();
    const tern_device way[] = {elsewhere(1), elsewhere(0), elsewhere(0), tern_cpu(0)};
    const int64_t index[] = {299, 0, 36, 0};
    for (int i = 0; i < 4; i++) {
        tern_batch b;
        assert_ptr_equal(tern_dataset_to(set, way[i]), set);
        assert_int_equal(tern_dataset_get(set, index, 4, &b), TERN_OK);
        assert_images(&b, way[i]);
    }
    tern_dataset_free(set);
}

static void an_epoch_in_progress_goes_on_after_a_move(void **state)
{
    (void)state;
    tern_dataset *set = images();
    tern_loader *loader = shuffled(set, unspecified);
    bool seen[IMAGES] = {false};
    int64_t samples = 0;
    tern_batch b;
    while (tern_loader_next(loader, &b)) {
        assert_images(&b, samples == 0 ? tern_cpu(0) : elsewhere(0));
        for (int64_t i = 0; i < b.size; i++)
            seen[b.index[i]] = true;
        assert_non_null(tern_dataset_to(set, elsewhere(0)));
        samples += b.size;
    }
    assert_int_equal(samples, IMAGES);
    for (int i = 0; i < IMAGES; i++)
        assert_true(seen[i]);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void tensors_are_copied_when_their_dataset_moves(void **state)
{
    (void)state;
    tern_tensor *x = tern_arange(.start = 0, .end = 6, .step = 1, .dtype = TERN_FLOAT32);
    x = tern_reshape(x, tern_dims(2, 3));
    tern_tensor *y = tern_from_data(tern_dims(3), ((int64_t[]){7, 8, 9}), .dtype = TERN_INT64);
    tern_dataset *set = tern_data_tensors(tern_transpose(x, 0, 1), y);
    assert_non_null(tern_dataset_to(set, elsewhere(0)));
    assert_non_null(tern_fill_(x, -1));
    assert_is_on(x, tern_cpu(0));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 0}, 2, &b), TERN_OK);
    assert_is_on(b.x, elsewhere(0));
    assert_is_on(b.y, elsewhere(0));
    assert_elements(b.x, (float[]){2, 5, 0, 3});
    assert_elements(b.y, (int64_t[]){9, 7});
    tern_dataset_free(set);
}

static void a_moved_batch_has_no_history(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(4, 2));
    assert_ptr_equal(tern_set_requires_grad(x, true), x);
    tern_dataset *set = tern_dataset_to(tern_data_tensors(x), elsewhere(0));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){1}, 1, &b), TERN_OK);
    assert_false(tern_requires_grad(b.x));
    assert_true(tern_grad_enabled());
    tern_dataset_free(set);
}

// ---- moves that fail ----------------------------------------------------------------------------

// The host's memory fails; where that is a device's too, so does the memory of the device.
static void a_move_that_fails_leaves_the_dataset_as_it_was(void **state)
{
    (void)state;
    tern_dataset *set = images();
    const int64_t index[] = {5, 250};
    int failures = 0;
    for (int64_t n = 1;; n++, failures++) {
        tern_batch b;
        tern_memory_trim();
        fail_nth_allocation(n);
        tern_dataset *moved = tern_dataset_to(set, elsewhere(0));
        bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        if (!failed)
            break;
        assert_null(moved);
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(tern_dataset_get(set, index, 2, &b), TERN_OK);
        assert_images(&b, tern_cpu(0));
    }
    assert_true(failures >= 2);
    tern_dataset_free(set);
}

static void a_missing_device_leaves_the_dataset_as_it_was(void **state)
{
    (void)state;
    tern_dataset *set = images();
    tern_batch b;
    assert_null(tern_dataset_to(set, tern_cpu(7)));
    assert_error(TERN_ERR_DEVICE, "dataset_to: there is no device cpu:7");
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){8}, 1, &b), TERN_OK);
    assert_images(&b, tern_cpu(0));
    tern_dataset_free(set);
}

static void a_dataset_that_was_not_made_does_not_move(void **state)
{
    (void)state;
    assert_null(tern_dataset_to(tern_data_mnist("/nowhere", TERN_TRAIN), elsewhere(0)));
    assert_error(TERN_ERR_IO, "/nowhere");
    assert_null(tern_dataset_to(NULL, elsewhere(0)));
    assert_error(TERN_ERR_NULL, "dataset_to: dataset is NULL");
}

// ---- the default device -------------------------------------------------------------------------

static void a_default_device_does_not_change_where_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(tern_set_default_device(elsewhere(0)), TERN_OK);
    tern_tensor *read = tern_idx_read(path_of("train-images-idx3-ubyte"));
    assert_is_on(read, tern_cpu(0));
    assert_elements(read, pixels);
    tern_dataset *set = images();
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){0, 299}, 2, &b), TERN_OK);
    assert_images(&b, tern_cpu(0));
    tern_loader *loader = shuffled(set, unspecified);
    assert_true(tern_loader_next(loader, &b));
    assert_images(&b, elsewhere(0));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_default_device_does_not_change_where_tensors_are(void **state)
{
    (void)state;
    tern_tensor *x = tern_from_data(tern_dims(3), ((float[]){1, 2, 3}));
    assert_int_equal(tern_set_default_device(elsewhere(0)), TERN_OK);
    tern_dataset *set = tern_data_tensors(x);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 1}, 2, &b), TERN_OK);
    assert_is_on(b.x, tern_cpu(0));
    assert_elements(b.x, (float[]){3, 2});
    tern_dataset_free(set);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, leaves_nothing)

int main(void)
{
    setenv("TERN_CPU_DEVICES", "3", 1);
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(batches_made_on_a_device_are_those_of_the_cpu),
        TEST(batches_sent_to_a_device_are_those_of_the_cpu),
        TEST(without_a_device_of_its_own_a_loader_leaves_them_there),
        TEST(a_dataset_goes_from_device_to_device_and_back),
        TEST(an_epoch_in_progress_goes_on_after_a_move),
        TEST(tensors_are_copied_when_their_dataset_moves),
        TEST(a_moved_batch_has_no_history),
        TEST(a_move_that_fails_leaves_the_dataset_as_it_was),
        TEST(a_missing_device_leaves_the_dataset_as_it_was),
        TEST(a_dataset_that_was_not_made_does_not_move),
        TEST(a_default_device_does_not_change_where_files_are_read),
        TEST(a_default_device_does_not_change_where_tensors_are),
    };
    return cmocka_run_group_tests_name("dataset_to", tests, start_group, end_group);
}
