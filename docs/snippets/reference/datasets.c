// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/datasets.h, for the site.
#include "examples.h"

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

int datasets_examples(void)
{
    show_data_mnist();
    show_data_tensors_new();
    show_data_tensors();
    return failures;
}
