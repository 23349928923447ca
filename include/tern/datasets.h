// SPDX-License-Identifier: Apache-2.0
/// @file
/// Datasets that the library has: over tensors in memory, and from files.
///
///     tern_dataset *train = tern_data_mnist("/usr/share/datasets/fashion-mnist", TERN_TRAIN);
///     tern_loader *loader = tern_loader_new(train, .batch_size = 64, .shuffle = true);
///
/// Each is a new dataset with one reference, the caller's, and NULL on failure, with an error
/// pending. Threads: as data.h says.
#ifndef TERN_DATASETS_H
#define TERN_DATASETS_H

#include <tern/data.h>
#include <tern/options.h>

TERN_BEGIN_DECLS

// ---- in memory ---------------------------------------------------------------------------------

/// Samples are the slices of `count` (1 to TERN_BATCH_TENSORS) tensors along their first dimension,
/// which is of one size. The tensors are held, not copied: changing them in place changes the
/// samples, until tern_dataset_to copies them elsewhere. A batch is on the device of its tensor and
/// has no history. NULL on failure, also when one of the tensors is NULL.
TERN_API tern_dataset *tern_data_tensors_new(int count, tern_tensor *const *tensors)
    TERN_READS_(2, 1);

#ifdef __cplusplus
/// `tern_data_tensors(x, y)`, `tern_data_tensors(x)`, ...
#define tern_data_tensors(...) (tern_cpp_::list(tern_data_tensors_new, {__VA_ARGS__}))
#else
/// `tern_data_tensors(x, y)`, `tern_data_tensors(x)`, ...
#define tern_data_tensors(...)                                                                     \
    tern_data_tensors_new(                                                                         \
        (int)(sizeof((tern_tensor *[]){NULL, __VA_ARGS__}) / sizeof(tern_tensor *)) - 1,           \
        (tern_tensor *[]){NULL, __VA_ARGS__} + 1)
#endif

// ---- from files --------------------------------------------------------------------------------

/// Which part of a data set. The zero value is no part.
typedef enum tern_data_split {
    TERN_SPLIT_UNSPECIFIED = 0, ///< refused
    TERN_TRAIN,                 ///< what a net learns from
    TERN_TEST                   ///< what it is judged by
} tern_data_split;
TERN_REQUIRED_TYPE_(split, tern_data_split)

/// `tern_data_mnist(directory, TERN_TRAIN)`.
typedef struct tern_data_mnist_options {
    int64_t classes; ///< labels are 0 to classes - 1; 1 to 256
    char reserved_;
    const char *directory; ///< where the four files are
    tern_data_split split; ///< which two of them
} tern_data_mnist_options;

#define TERN_DATA_MNIST_DEFAULTS_ .classes = 10
#define TERN_DATA_MNIST_FIELDS_   2, 0, (directory, split), (text, split)
TERN_API tern_data_mnist_options tern_data_mnist_defaults(void);
/// MNIST, Fashion-MNIST, or another data set of the same four files: train-images-idx3-ubyte,
/// train-labels-idx1-ubyte and the same with t10k for the test part, each plain or, with .gz added,
/// compressed. Images are kept as bytes; a batch has x float32 (N, 1, H, W) = byte / 255 and y
/// int64 (N), both on the CPU until tern_dataset_to. NULL on failure: TERN_ERR_IO for a file that
/// is not there or cannot be read, TERN_ERR_FORMAT for one that is not as it should be, for numbers
/// of images and labels that differ, and for a label out of range.
TERN_API tern_dataset *tern_data_mnist_with(const tern_data_mnist_options *options);
#define tern_data_mnist(...)                                                                       \
    TERN_WITH_(tern_data_mnist, tern_data_mnist, TERN_DATA_MNIST, __VA_ARGS__)

TERN_END_DECLS

#endif
