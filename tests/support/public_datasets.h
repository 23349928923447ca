// SPDX-License-Identifier: Apache-2.0
// The datasets of datasets.h: a row is the constructor without tern_data_, _with and _new, and a
// call that makes one of 7 samples. The manifest (tests/conformance) asks for every constructor,
// and tests/data/test_dataset_state.c loads each.
#ifndef TERN_TESTS_SUPPORT_PUBLIC_DATASETS_H
#define TERN_TESTS_SUPPORT_PUBLIC_DATASETS_H

#define PUBLIC_DATASETS(DATASET)                                                                   \
    DATASET(cifar10, tern_data_cifar10(seven_records(), TERN_TEST))                                \
    DATASET(cifar100, tern_data_cifar100(seven_records(), TERN_TEST))                              \
    DATASET(csv, tern_data_csv(seven_rows(), .label = "kind"))                                     \
    DATASET(npy, tern_data_npy(seven_bytes(), .labels = seven_bytes()))                            \
    DATASET(text, tern_data_text(seven_rows(), 4, .stride = 5))                                    \
    DATASET(cache, tern_data_cache(pairs(7)))                                                      \
    DATASET(concat, tern_data_concat(pairs(7), pairs(0)))                                          \
    DATASET(map, tern_data_map(pairs(7), draw_for_seven))                                          \
    DATASET(mnist, tern_data_mnist(seven_images(), TERN_TRAIN))                                    \
    DATASET(subset, tern_data_subset(pairs(7), (int64_t[]){6, 0, 5, 1, 4, 2, 3}, 7))               \
    DATASET(tensors, tern_data_tensors(tern_rand(tern_dims(7, 3)), tern_arange(0, 7, 1)))

#endif
