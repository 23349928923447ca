// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/data.h, for the site.
#include "examples.h"

static int64_t count_squares(const tern_dataset *self)
{
    (void)self;
    return 100;
}

static tern_status make_square(const tern_dataset *self, const tern_sample_context *context,
                               int64_t index, tern_sample *out)
{
    (void)self;
    (void)context;
    out->at[out->count++] = tern_full(tern_dims(1), (double)(index * index));
    return tern_error_code();
}

static const tern_dataset_class squares_class = {
    .name = "squares", .size = sizeof(tern_dataset), .count = count_squares, .item = make_square};

static void write_file(const char *path, const unsigned char *head, size_t size, size_t zeros)
{
    FILE *file = fopen(path, "wb");
    expect(file && fwrite(head, 1, size, file) == size);
    for (size_t i = 0; file && i < zeros; i++)
        fputc(0, file);
    expect(file && fclose(file) == 0);
}

// Two black images of 28 x 28 with the labels 0 and 0, as IDX files.
static void write_two_images(void)
{
    const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28};
    const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2};
    write_file("train-images-idx3-ubyte", images, sizeof images, 2 * 28 * 28);
    write_file("train-labels-idx1-ubyte", labels, sizeof labels, 2);
}

static void show_dataset_retain(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    tern_dataset *data = tern_data_tensors(x, y);
    // [tern_dataset_retain]
    tern_dataset *mine = tern_dataset_retain(data);
    tern_dataset_free(data); // mine is still there
    // [/tern_dataset_retain]
    expect(tern_dataset_count(mine) == 10);
    tern_dataset_free(mine);
}

static void show_data_mnist(void)
{
    const char *folder = ".";
    write_two_images();
    // [tern_data_mnist]
    tern_dataset *train = tern_data_mnist(folder, TERN_TRAIN);
    int64_t count = tern_dataset_count(train); // 60000 in the whole one
    // [/tern_data_mnist]
    expect(count == 2);
    tern_dataset_free(train);
}

static void show_data_tensors_new(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    // [tern_data_tensors_new]
    tern_tensor *tensors[] = {x, y};
    tern_dataset *data = tern_data_tensors_new(2, tensors);
    // [/tern_data_tensors_new]
    expect(tern_dataset_count(data) == 10);
    tern_dataset_free(data);
}

static void show_data_tensors(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    // [tern_data_tensors]
    tern_dataset *data = tern_data_tensors(x, y); // sample i is (x[i], y[i])
    int64_t count = tern_dataset_count(data);     // 10
    // [/tern_data_tensors]
    expect(count == 10);
    tern_dataset_free(data);
}

static void show_dataset_new(void)
{
    // [tern_dataset_new]
    tern_dataset *data = tern_dataset_new(&squares_class);
    int64_t count = tern_dataset_count(data); // 100
    // [/tern_dataset_new]
    expect(count == 100);
    tern_dataset_free(data);
}

int data_examples(void)
{
    show_dataset_retain();
    show_data_mnist();
    show_data_tensors_new();
    show_data_tensors();
    show_dataset_new();
    return failures;
}
