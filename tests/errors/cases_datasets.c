// SPDX-License-Identifier: Apache-2.0
// datasets.h, what is made over other datasets and from files
#include "errors.h"

#define INDEX(...)   ((const int64_t[]){__VA_ARGS__})
#define SETS(...)    ((tern_dataset *[]){__VA_ARGS__})
#define DOUBLES(...) ((const double[]){__VA_ARGS__})
#define NO_OPTIONS(family, op)                                                                     \
    REFUSES(family##_with, "options that are NULL", TERN_ERR_NULL, op ": options is NULL",         \
            family##_with(NULL))

// ---- over other datasets ------------------------------------------------------------------------

REFUSES(tern_data_subset, "a dataset that is NULL", TERN_ERR_NULL, "data_subset: dataset is NULL",
        tern_data_subset(NULL, INDEX(0), 1))
REFUSES(tern_data_subset, "numbers that are NULL", TERN_ERR_NULL, "data_subset: index is NULL",
        tern_data_subset(f->dataset, NULL, 1))
REFUSES(tern_data_subset, "fewer than none", TERN_ERR_ARG, "data_subset: count is -1|at least 0",
        tern_data_subset(f->dataset, INDEX(0), -1))
REFUSES(tern_data_subset, "a number past the end", TERN_ERR_INDEX,
        "data_subset: index[1] is 2|0 to 1", tern_data_subset(f->dataset, INDEX(0, 2), 2))
REFUSES(tern_data_subset, "a negative number", TERN_ERR_INDEX, "data_subset: index[0] is -1",
        tern_data_subset(f->dataset, INDEX(-1), 1))

REFUSES(tern_data_concat_new, "none", TERN_ERR_ARG, "data_concat: count is 0|at least 1",
        tern_data_concat_new(0, SETS(f->dataset)))
REFUSES(tern_data_concat_new, "datasets that are NULL", TERN_ERR_NULL,
        "data_concat: datasets is NULL", tern_data_concat_new(1, NULL))
REFUSES(tern_data_concat_new, "a NULL among them", TERN_ERR_NULL, "data_concat: dataset is NULL",
        tern_data_concat_new(2, SETS(f->dataset, NULL)))

static tern_status same(const tern_sample_context *context, int64_t index, tern_sample *sample,
                        void *user)
{
    (void)context;
    (void)index;
    (void)sample;
    (void)user;
    return TERN_OK;
}

NO_OPTIONS(tern_data_map, "data_map")
REFUSES(tern_data_map_with, "a dataset that is NULL", TERN_ERR_NULL, "data_map: dataset is NULL",
        tern_data_map(NULL, same))
REFUSES(tern_data_map_with, "no function", TERN_ERR_NULL, "data_map: fn is NULL",
        tern_data_map(f->dataset, NULL))

NO_OPTIONS(tern_data_cache, "data_cache")
REFUSES(tern_data_cache_with, "a dataset that is NULL", TERN_ERR_NULL,
        "data_cache: dataset is NULL", tern_data_cache(NULL))
REFUSES(tern_data_cache_with, "less than no bytes", TERN_ERR_ARG,
        "data_cache: max_bytes is -1|at least 0", tern_data_cache(f->dataset, .max_bytes = -1))

static tern_dataset *part[2];

static tern_generator *freed_generator(void)
{
    tern_generator *generator = tern_generator_new(1);
    tern_generator_free(generator);
    return generator;
}

NO_OPTIONS(tern_data_random_split, "data_random_split")
REFUSES(tern_data_random_split_with, "a dataset that is NULL", TERN_ERR_NULL,
        "data_random_split: dataset is NULL",
        tern_data_random_split(NULL, 2, part, .lengths = INDEX(1, 1)))
REFUSES(tern_data_random_split_with, "parts that are NULL", TERN_ERR_NULL,
        "data_random_split: parts is NULL",
        tern_data_random_split(f->dataset, 2, NULL, .lengths = INDEX(1, 1)))
REFUSES(tern_data_random_split_with, "no parts", TERN_ERR_ARG,
        "data_random_split: count is 0|at least 1",
        tern_data_random_split(f->dataset, 0, part, .lengths = INDEX(1, 1)))
REFUSES(tern_data_random_split_with, "neither lengths nor fractions", TERN_ERR_ARG,
        "data_random_split: |.lengths or .fractions", tern_data_random_split(f->dataset, 2, part))
REFUSES(tern_data_random_split_with, "both", TERN_ERR_ARG, "data_random_split: |not both",
        tern_data_random_split(f->dataset, 2, part, .lengths = INDEX(1, 1),
                               .fractions = DOUBLES(0.5, 0.5)))
REFUSES(tern_data_random_split_with, "a negative length", TERN_ERR_ARG,
        "data_random_split: lengths[1] is -1",
        tern_data_random_split(f->dataset, 2, part, .lengths = INDEX(3, -1)))
REFUSES(tern_data_random_split_with, "lengths that leave samples out", TERN_ERR_ARG,
        "data_random_split: the lengths add up to 1|has 2 samples",
        tern_data_random_split(f->dataset, 2, part, .lengths = INDEX(1, 0)))
REFUSES(tern_data_random_split_with, "lengths of more than there can be", TERN_ERR_ARG,
        "data_random_split: the lengths add up to more",
        tern_data_random_split(f->dataset, 2, part, .lengths = INDEX(INT64_MAX, 1)))
REFUSES(tern_data_random_split_with, "a fraction that is none", TERN_ERR_ARG,
        "data_random_split: fractions[0] is 1.5|0 to 1",
        tern_data_random_split(f->dataset, 2, part, .fractions = DOUBLES(1.5, -0.5)))
REFUSES(tern_data_random_split_with, "a fraction that is no number", TERN_ERR_ARG,
        "data_random_split: fractions[0] is |nan",
        tern_data_random_split(f->dataset, 2, part, .fractions = DOUBLES((double)NAN, 1)))
REFUSES(tern_data_random_split_with, "fractions of less than all", TERN_ERR_ARG,
        "data_random_split: the fractions add up to 0.7",
        tern_data_random_split(f->dataset, 2, part, .fractions = DOUBLES(0.5, 0.2)))
REFUSES(tern_data_random_split_with, "a freed generator", TERN_ERR_STATE, "data_random_split: ",
        tern_data_random_split(f->dataset, 2, part, .lengths = INDEX(1, 1),
                               .generator = freed_generator()))

// ---- from files ---------------------------------------------------------------------------------

REFUSES(tern_data_cifar10, "a directory that is NULL", TERN_ERR_NULL,
        "data_cifar10: directory is NULL", tern_data_cifar10(NULL, TERN_TRAIN))
REFUSES(tern_data_cifar10, "no split", TERN_ERR_ARG, "data_cifar10: |TERN_TRAIN or TERN_TEST",
        tern_data_cifar10("/", TERN_SPLIT_UNSPECIFIED))
REFUSES(tern_data_cifar10, "a directory without the files", TERN_ERR_IO,
        "data_cifar10: |/dev/test_batch.bin", tern_data_cifar10("/dev", TERN_TEST))

NO_OPTIONS(tern_data_cifar100, "data_cifar100")
REFUSES(tern_data_cifar100_with, "a directory that is NULL", TERN_ERR_NULL,
        "data_cifar100: directory is NULL", tern_data_cifar100(NULL, TERN_TRAIN))
REFUSES(tern_data_cifar100_with, "no split", TERN_ERR_ARG,
        "data_cifar100: |TERN_TRAIN or TERN_TEST", tern_data_cifar100("/", TERN_SPLIT_UNSPECIFIED))
REFUSES(tern_data_cifar100_with, "a directory that is not there", TERN_ERR_IO,
        "data_cifar100: |/nowhere/train.bin", tern_data_cifar100("/nowhere", TERN_TRAIN))

NO_OPTIONS(tern_data_csv, "data_csv")
REFUSES(tern_data_csv_with, "a path that is NULL", TERN_ERR_NULL, "data_csv: path is NULL",
        tern_data_csv(NULL))
REFUSES(tern_data_csv_with, "a file that is not there", TERN_ERR_IO, "data_csv: |/nowhere.csv",
        tern_data_csv("/nowhere.csv"))
REFUSES(tern_data_csv_with, "a device", TERN_ERR_IO, "data_csv: /dev/null is a pipe or a device",
        tern_data_csv("/dev/null"))
REFUSES(tern_data_csv_with, "a separator that is a quote", TERN_ERR_ARG,
        "data_csv: separator is the byte 34", tern_data_csv("/nowhere.csv", .separator = '"'))
REFUSES(tern_data_csv_with, "no separator", TERN_ERR_ARG, "data_csv: separator is the byte 0",
        tern_data_csv("/nowhere.csv", .separator = 0))
REFUSES(tern_data_csv_with, "features that are integers", TERN_ERR_DTYPE,
        "data_csv: dtype is int64|float32 or float64",
        tern_data_csv("/nowhere.csv", .dtype = TERN_INT64))
REFUSES(tern_data_csv_with, "labels that are bytes", TERN_ERR_DTYPE,
        "data_csv: label_dtype is uint8|int64, float32 or float64",
        tern_data_csv("/nowhere.csv", .label_dtype = TERN_UINT8))
REFUSES(tern_data_csv_with, "two columns of labels", TERN_ERR_ARG,
        "data_csv: |.label or .label_column, not both",
        tern_data_csv("/nowhere.csv", .label = "a", .label_column = 0))
REFUSES(tern_data_csv_with, "one that is to be like another class's", TERN_ERR_ARG,
        "data_csv: like is data_tensors", tern_data_csv("/nowhere.csv", .like = f->dataset))

NO_OPTIONS(tern_data_npy, "data_npy")
REFUSES(tern_data_npy_with, "a path that is NULL", TERN_ERR_NULL, "data_npy: path is NULL",
        tern_data_npy(NULL))
REFUSES(tern_data_npy_with, "a file that is not there", TERN_ERR_IO, "data_npy: |/nowhere.npy",
        tern_data_npy("/nowhere.npy"))
REFUSES(tern_data_npy_with, "labels that are a directory", TERN_ERR_IO, "data_npy: |/nowhere.npy",
        tern_data_npy("/nowhere.npy", .labels = "/"))

NO_OPTIONS(tern_data_text, "data_text")
REFUSES(tern_data_text_with, "a path that is NULL", TERN_ERR_NULL, "data_text: path is NULL",
        tern_data_text(NULL, 3))
REFUSES(tern_data_text_with, "a file that is not there", TERN_ERR_IO, "data_text: |/nowhere.txt",
        tern_data_text("/nowhere.txt", 3))
REFUSES(tern_data_text_with, "windows of nothing", TERN_ERR_ARG,
        "data_text: length is 0|1 to 2147483647", tern_data_text("/nowhere.txt", 0))
REFUSES(tern_data_text_with, "a negative stride", TERN_ERR_ARG, "data_text: stride is -1",
        tern_data_text("/nowhere.txt", 3, .stride = -1))
REFUSES(tern_data_text_with, "tokens of three bytes", TERN_ERR_ARG,
        "data_text: token_bytes is 3|1, 2 or 4",
        tern_data_text("/nowhere.txt", 3, .token_bytes = 3))
