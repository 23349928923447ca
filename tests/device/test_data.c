// SPDX-License-Identifier: Apache-2.0
// Datasets that live on a device, and loaders that send batches to one.
#include <unistd.h>
#include "device_check.h"
#include "sim.h"
#include "support/loader_workers.h"
#include "support/memory_hook.h"

#define IMAGES 300
#define PIXELS 12 // 3 x 4

static unsigned char pixels[IMAGES * PIXELS], labels[IMAGES];
static char directory[] = "/tmp/tern-test-XXXXXX"; // of a group of tests

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int write_file(const char *name, const void *bytes, size_t nbytes)
{
    FILE *file = fopen(path_of(name), "wb");
    bool written = file && fwrite(bytes, 1, nbytes, file) == nbytes;
    return file && fclose(file) == 0 && written ? 0 : -1;
}

// Every byte is the value of some pixel.
static int write_images(void **state)
{
    (void)state;
    static unsigned char images[16 + sizeof pixels] = {
        0, 0, 8, 3, 0, 0, IMAGES / 256, IMAGES % 256, 0, 0, 0, 3, 0, 0, 0, 4};
    static unsigned char numbers[8 + sizeof labels] = {0,           0, 8, 1, 0, 0, IMAGES / 256,
                                                       IMAGES % 256};
    for (int i = 0; i < IMAGES * PIXELS; i++)
        images[16 + i] = pixels[i] = (unsigned char)(i * 7);
    for (int i = 0; i < IMAGES; i++)
        numbers[8 + i] = labels[i] = (unsigned char)(i * 3 % 10);
    strcpy(directory + sizeof directory - sizeof "XXXXXX", "XXXXXX");
    if (!mkdtemp(directory) || write_file("train-images-idx3-ubyte", images, sizeof images))
        return -1;
    return write_file("train-labels-idx1-ubyte", numbers, sizeof numbers);
}

static int remove_images(void **state)
{
    (void)state;
    unlink(path_of("train-images-idx3-ubyte"));
    unlink(path_of("train-labels-idx1-ubyte"));
    return rmdir(directory);
}

// ---- what is expected ---------------------------------------------------------------------------

// Its elements are these, wherever it is.
static void assert_elements(tern_tensor *t, const void *bytes)
{
    tern_tensor *copy = tern_to(t, tern_cpu(0));
    assert_non_null(copy);
    assert_memory_equal(tern_data(copy), bytes,
                        (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t)));
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
    assert_true(is_on(b->x, device));
    assert_true(is_on(b->y, device));
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
        assert_images(&b, tern_cpu(0));
        samples += b.size;
    }
    assert_false(tern_loader_next(other, &c));
    assert_int_equal(samples, IMAGES);
}

// Each loader draws from a generator of its own, of the same seed.
static void assert_same_batches(tern_dataset *set, tern_device given, tern_device device)
{
    tern_dataset *on_cpu = images();
    tern_generator *left = tern_generator_new(11), *right = tern_generator_new(11);
    tern_loader *loader =
        tern_loader_new(on_cpu, .batch_size = 64, .shuffle = true, .generator = left);
    tern_loader *other = tern_loader_new(set, .batch_size = 64, .shuffle = true, .device = given,
                                         .generator = right);
    for (int epoch = 0; epoch < 2; epoch++)
        assert_same_epoch(loader, other, device);
    tern_loader_free(loader);
    tern_loader_free(other);
    tern_generator_free(left);
    tern_generator_free(right);
    tern_dataset_free(on_cpu);
}

static void batches_made_on_a_device_are_those_of_the_cpu(void **state)
{
    (void)state;
    tern_dataset *set = images();
    assert_ptr_equal(tern_dataset_to(set, here), set);
    assert_int_equal(tern_dataset_count(set), IMAGES);
    assert_same_batches(set, here, here);
    tern_dataset_free(set);
}

static void batches_sent_to_a_device_are_those_of_the_cpu(void **state)
{
    (void)state;
    tern_dataset *set = images();
    assert_same_batches(set, here, here);
    tern_dataset_free(set);
}

static void without_a_device_of_its_own_a_loader_leaves_them_there(void **state)
{
    (void)state;
    tern_dataset *set = tern_dataset_to(images(), here);
    assert_same_batches(set, unspecified, here);
    tern_dataset_free(set);
}

static void a_dataset_goes_from_device_to_device_and_back(void **state)
{
    (void)state;
    tern_dataset *set = images();
    const tern_device way[] = {there, here, here, tern_cpu(0)};
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
    if (test_workers() > 0)
        skip(); // a dataset that workers ask is not moved
    tern_dataset *set = images();
    tern_loader *loader = shuffled(set, unspecified);
    bool seen[IMAGES] = {false};
    int64_t samples = 0;
    tern_batch b;
    while (tern_loader_next(loader, &b)) {
        assert_images(&b, samples == 0 ? tern_cpu(0) : here);
        for (int64_t i = 0; i < b.size; i++)
            seen[b.index[i]] = true;
        assert_non_null(tern_dataset_to(set, here));
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
    tern_tensor *x = tern_arange(0, 6, 1, .dtype = TERN_FLOAT32);
    x = tern_reshape(x, tern_dims(2, 3));
    tern_tensor *y = tern_from_data(tern_dims(3), ((int64_t[]){7, 8, 9}), .dtype = TERN_INT64);
    tern_dataset *set = tern_data_tensors(tern_transpose(x, 0, 1), y);
    assert_non_null(tern_dataset_to(set, here));
    assert_non_null(tern_fill_(x, -1));
    assert_true(is_on(x, tern_cpu(0)));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 0}, 2, &b), TERN_OK);
    assert_true(is_on(b.x, here));
    assert_true(is_on(b.y, here));
    assert_elements(b.x, (float[]){2, 5, 0, 3});
    assert_elements(b.y, (int64_t[]){9, 7});
    tern_dataset_free(set);
}

static void a_moved_batch_has_no_history(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(4, 2));
    assert_ptr_equal(tern_set_requires_grad(x, true), x);
    tern_dataset *set = tern_dataset_to(tern_data_tensors(x), here);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){1}, 1, &b), TERN_OK);
    assert_false(tern_requires_grad(b.x));
    assert_true(tern_grad_enabled());
    tern_dataset_free(set);
}

// ---- what a batch costs -------------------------------------------------------------------------

static long waits(void)
{
    tern_sim_counts c;
    sim.count(&c);
    return c.device_waits + c.stream_waits + c.event_waits + c.copy_waits + c.free_waits;
}

// The third epoch: no batch waits for the device, only the end does.
static void check_epoch(tern_loader *loader)
{
    tern_batch b;
    for (int epoch = 0; epoch < 2; epoch++)
        while (tern_loader_next(loader, &b))
            continue;
    sim.count_reset();
    for (int64_t left = tern_loader_batches(loader); left > 0; left--) {
        assert_true(tern_loader_next(loader, &b));
        assert_int_equal(waits(), 0);
    }
    assert_false(tern_loader_next(loader, &b));
    assert_no_error();
    assert_true(waits() > 0);
}

static void no_batch_waits_for_the_device(void **state)
{
    (void)state;
    tern_dataset *sent = images(), *kept = tern_dataset_to(images(), here);
    tern_loader *loader = shuffled(sent, here), *other = shuffled(kept, here);
    check_epoch(loader);
    check_epoch(other);
    tern_loader_free(loader);
    tern_loader_free(other);
    tern_dataset_free(sent);
    tern_dataset_free(kept);
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
        tern_dataset *moved = tern_dataset_to(set, here);
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

static int fail_calls(tern_dataset *set, enum tern_sim_call call)
{
    const int64_t index[] = {5, 250};
    for (int n = 1; n < 50; n++) {
        tern_batch b;
        assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
        sim.fail_nth(call, n, SIM_LAUNCH_FAILURE);
        tern_dataset *moved = tern_dataset_to(set, here);
        sim.fail_none();
        if (moved) {
            assert_ptr_equal(tern_dataset_to(set, tern_cpu(0)), set);
            return n - 1;
        }
        assert_int_equal(tern_error_code(), TERN_ERR_DEVICE);
        tern_error_clear();
        assert_int_equal(tern_dataset_get(set, index, 2, &b), TERN_OK);
        assert_images(&b, tern_cpu(0));
    }
    fail_msg("the move never went through");
    return 0;
}

static void a_device_that_fails_leaves_the_dataset_as_it_was(void **state)
{
    (void)state;
    tern_dataset *set = images();
    assert_true(fail_calls(set, TERN_SIM_MEMCPY) > 1); // images, labels
    assert_true(fail_calls(set, TERN_SIM_WAIT) > 0);
    tern_dataset_free(set);
}

static void a_dataset_that_does_not_fit_stays_whole(void **state)
{
    (void)state;
    tern_batch b;
    tern_tensor *small = tern_ones(tern_dims(1024)), *large = tern_ones(tern_dims(1024, 4096));
    tern_dataset *set = tern_data_tensors(small, large);
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    assert_non_null(tern_ones(tern_dims(1), .device = here)); // beside which the small one fits
    sim.fail_from(TERN_SIM_MALLOC, 1, SIM_OUT_OF_MEMORY);
    assert_null(tern_dataset_to(set, here));
    sim.fail_none();
    assert_error(TERN_ERR_NOMEM, "for 16777216 bytes");
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){8}, 1, &b), TERN_OK);
    assert_true(is_on(b.x, tern_cpu(0)) && is_on(b.y, tern_cpu(0)));
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
    assert_null(tern_dataset_to(tern_data_mnist("/nowhere", TERN_TRAIN), here));
    assert_error(TERN_ERR_IO, "/nowhere");
    assert_null(tern_dataset_to(NULL, here));
    assert_error(TERN_ERR_NULL, "dataset_to: dataset is NULL");
}

// ---- the default device -------------------------------------------------------------------------

static void a_default_device_does_not_change_where_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(tern_set_default_device(here), TERN_OK);
    tern_tensor *read = tern_idx_read(path_of("train-images-idx3-ubyte"));
    assert_true(is_on(read, tern_cpu(0)));
    assert_elements(read, pixels);
    tern_dataset *set = images();
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){0, 299}, 2, &b), TERN_OK);
    assert_images(&b, tern_cpu(0));
    tern_loader *loader = shuffled(set, unspecified);
    assert_true(tern_loader_next(loader, &b));
    assert_images(&b, here);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_default_device_does_not_change_where_tensors_are(void **state)
{
    (void)state;
    tern_tensor *x = tern_from_data(tern_dims(3), ((float[]){1, 2, 3}));
    assert_int_equal(tern_set_default_device(here), TERN_OK);
    tern_dataset *set = tern_data_tensors(x);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 1}, 2, &b), TERN_OK);
    assert_true(is_on(b.x, tern_cpu(0)));
    assert_elements(b.x, (float[]){3, 2});
    tern_dataset_free(set);
}

static int back_to_the_cpu(void **state)
{
    fail_nth_allocation(0);
    return tern_set_default_device(tern_cpu(0)) ? -1 : check_close(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, check_open, back_to_the_cpu)

int main(int argc, char **argv)
{
    if (use_memory_hook())
        return 1;
    const int nothing = choose_devices(argc, argv);
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
    const struct CMUnitTest on_simulated[] = {
        TEST(no_batch_waits_for_the_device), // only this one counts waits, and fails on demand
        TEST(a_device_that_fails_leaves_the_dataset_as_it_was),
        TEST(a_dataset_that_does_not_fit_stays_whole),
    };
    if (nothing)
        return nothing;
    int failed = cmocka_run_group_tests(tests, write_images, remove_images);
    if (sim_begin())
        failed += cmocka_run_group_tests(on_simulated, write_images, remove_images);
    tern_shutdown();
    return failed;
}
