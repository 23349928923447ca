// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/datasets.h, for the site.
#include <string.h>
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

// Two records of zeros.
static void write_two_records(void)
{
    const unsigned char none[] = {0};
    write_file("test_batch.bin", none, 1, 2 * 3073 - 1);
    write_file("test.bin", none, 1, 2 * 3074 - 1);
}

static void write_text(const char *path, const char *text)
{
    write_file(path, (const unsigned char *)text, strlen(text), 0);
}

static void show_data_cifar10(void)
{
    const char *folder = ".";
    write_two_records();
    // [tern_data_cifar10]
    tern_dataset *test = tern_data_cifar10(folder, TERN_TEST);
    int64_t count = tern_dataset_count(test); // 10000 in the whole one
    // [/tern_data_cifar10]
    expect(count == 2);
    tern_dataset_free(test);
}

static void show_data_cifar100(void)
{
    const char *folder = ".";
    write_two_records();
    // [tern_data_cifar100]
    tern_dataset *test = tern_data_cifar100(folder, TERN_TEST, .coarse = true);
    int64_t classes = tern_dataset_class_count(test); // 20
    // [/tern_data_cifar100]
    expect(classes == 20);
    tern_dataset_free(test);
}

static void show_data_csv(void)
{
    write_text("iris.csv", "length,width,species\n5.1,3.5,setosa\n6.4,3.2,versicolor\n");
    // [tern_data_csv]
    tern_dataset *data = tern_data_csv("iris.csv", .label = "species");
    const char *first = tern_dataset_class_name(data, 0); // "setosa"
    // [/tern_data_csv]
    expect(first && strcmp(first, "setosa") == 0);
    tern_dataset_free(data);
}

static void show_data_npy(void)
{
    tern_state *state = tern_state_new();
    expect(tern_state_set_tensor(state, "array", tern_rand(tern_dims(10, 3))) == TERN_OK &&
           tern_state_write(state, "x.npy") == TERN_OK);
    tern_state_free(state);
    // [tern_data_npy]
    tern_dataset *data = tern_data_npy("x.npy"); // of float32 (10, 3), which stays in the file
    int64_t count = tern_dataset_count(data);    // 10
    // [/tern_data_npy]
    expect(count == 10);
    tern_dataset_free(data);
}

static void show_data_text(void)
{
    write_text("text.txt", "To be, or not to be");
    // [tern_data_text]
    tern_dataset *data = tern_data_text("text.txt", 8, .stride = 1);
    int64_t count = tern_dataset_count(data); // "To be, o", "o be, or", ...: 11
    // [/tern_data_text]
    expect(count == 11);
    tern_dataset_free(data);
}

static tern_dataset *ten_pairs(void)
{
    return tern_data_tensors(tern_rand(tern_dims(10, 3)), tern_randint(0, 2, tern_dims(10)));
}

static void show_data_subset(void)
{
    tern_dataset *data = ten_pairs();
    // [tern_data_subset]
    const int64_t index[] = {0, 2, 4};
    tern_dataset *even = tern_data_subset(data, index, 3); // samples 0, 2 and 4
    // [/tern_data_subset]
    expect(tern_dataset_count(even) == 3);
    tern_dataset_free(even);
    tern_dataset_free(data);
}

static void show_data_random_split(void)
{
    tern_dataset *data = ten_pairs();
    // [tern_data_random_split]
    tern_dataset *part[2]; // 8 samples and 2
    if (tern_data_random_split(data, 2, part, .fractions = (double[]){0.8, 0.2}))
        tern_error_print(stderr);
    // [/tern_data_random_split]
    expect(tern_dataset_count(part[0]) == 8 && tern_dataset_count(part[1]) == 2);
    tern_dataset_free(part[0]);
    tern_dataset_free(part[1]);
    tern_dataset_free(data);
}

static void show_data_concat_new(void)
{
    tern_dataset *a = ten_pairs(), *b = ten_pairs();
    // [tern_data_concat_new]
    tern_dataset *list[] = {a, b};
    tern_dataset *both = tern_data_concat_new(2, list);
    // [/tern_data_concat_new]
    expect(tern_dataset_count(both) == 20);
    tern_free(both, a, b);
}

static void show_data_concat(void)
{
    tern_dataset *a = ten_pairs(), *b = ten_pairs();
    // [tern_data_concat]
    tern_dataset *both = tern_data_concat(a, b); // those of a, then those of b
    int64_t count = tern_dataset_count(both);    // 20
    // [/tern_data_concat]
    expect(count == 20);
    tern_free(both, a, b);
}

static tern_status negate(const tern_sample_context *context, int64_t index, tern_sample *sample,
                          void *user)
{
    (void)context;
    (void)index;
    (void)user;
    sample->x = tern_neg(sample->x);
    return tern_error_code();
}

static void show_data_map(void)
{
    tern_dataset *data = ten_pairs();
    // [tern_data_map]
    tern_dataset *negated = tern_data_map(data, negate); // negate sets sample->x
    // [/tern_data_map]
    expect(tern_dataset_count(negated) == 10);
    tern_free(negated, data);
}

static void show_data_cache(void)
{
    tern_dataset *data = ten_pairs();
    // [tern_data_cache]
    tern_dataset *fast = tern_data_cache(data, .max_bytes = INT64_C(1) << 30);
    // [/tern_data_cache]
    expect(tern_dataset_count(fast) == 10);
    tern_free(fast, data);
}

int datasets_examples(void)
{
    show_data_cifar10();
    show_data_cifar100();
    show_data_csv();
    show_data_npy();
    show_data_text();
    show_data_subset();
    show_data_random_split();
    show_data_concat_new();
    show_data_concat();
    show_data_map();
    show_data_cache();
    show_data_mnist();
    show_data_tensors_new();
    show_data_tensors();
    return failures;
}
