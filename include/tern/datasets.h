// SPDX-License-Identifier: Apache-2.0
/// @file
/// Datasets that the library has: over tensors in memory, over other datasets, and from files.
///
///     tern_dataset *train = tern_data_mnist("/usr/share/datasets/fashion-mnist", TERN_TRAIN);
///     tern_loader *loader = tern_loader_new(train, .batch_size = 64, .shuffle = true);
///
/// Each is a new dataset with one reference, the caller's, and NULL on failure, with an error
/// pending. Threads: as data.h says.
#ifndef TERN_DATASETS_H
#define TERN_DATASETS_H

#include <tern/data.h>
#include <tern/generator.h>
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

// ---- over other datasets -----------------------------------------------------------------------

// Each holds a reference of its own to what it is made over, so that yours may be freed. Classes,
// their names, the names of samples, what is saved with a loader, and whether one thread at a time
// may ask are those of the inner dataset; tern_dataset_to moves that, for all that are made over
// it. An inner dataset that has fewer samples later is TERN_ERR_STATE when the missing ones are
// asked for.

/// The samples `index[0]` ... `index[count - 1]` of a dataset, as torch.utils.data.Subset; one may
/// be named twice. The numbers are copied. Random samples draw what they draw in `dataset`. A state
/// of a loader over other numbers is refused. count >= 0; TERN_ERR_INDEX for a number that is none.
TERN_API tern_dataset *tern_data_subset(tern_dataset *dataset, const int64_t *index, int64_t count)
    TERN_READS_(2, 3);

/// `tern_data_random_split(all, 2, part, .fractions = (double[]){0.8, 0.2})`.
typedef struct tern_data_random_split_options {
    const int64_t *lengths;    ///< (count): samples of each part, which add up to all
    const double *fractions;   ///< (count): 0 to 1 each, which add up to 1 within 1e-9
    tern_generator *generator; ///< of the order; the CPU's default generator unless said; borrowed
    char reserved_;
    tern_dataset *dataset; ///< what is split
    int64_t count;         ///< of parts, >= 1
    tern_dataset **parts;  ///< (count): set to the parts, or to NULL on failure
} tern_data_random_split_options;
TERN_REQUIRED_TYPE_(datasets, tern_dataset **)
#define TERN_DATA_RANDOM_SPLIT_DEFAULTS_ .lengths = NULL, .fractions = NULL, .generator = NULL
#define TERN_DATA_RANDOM_SPLIT_FIELDS_   3, 0, (dataset, count, parts), (dataset, int64, datasets)
TERN_API tern_data_random_split_options tern_data_random_split_defaults(void);
/// Parts of a dataset that have no sample in common, each a subset that the caller frees, with the
/// samples that torch.utils.data.random_split chooses for the same seed: their numbers are a
/// randperm of the generator. Either .lengths or .fractions is given; of fraction f a part gets
/// floor(f * samples), and what is left goes to the parts in turn, one sample each. A part may be
/// empty. TERN_ERR_ARG for lengths or fractions that are not as they should be; nothing is drawn
/// on failure.
TERN_API TERN_NODISCARD tern_status
tern_data_random_split_with(const tern_data_random_split_options *options);
#define tern_data_random_split(...)                                                                \
    tern_status_of_(TERN_WITH_(tern_data_random_split, tern_data_random_split,                     \
                               TERN_DATA_RANDOM_SPLIT, __VA_ARGS__))

/// `count` (>= 1) datasets one after the other, as torch.utils.data.ConcatDataset; their numbers of
/// samples are asked once, here. Each draws its samples' random numbers from a seed of its own.
/// Samples that go into one batch have tensors of one shape, dtype and device (else
/// TERN_ERR_SHAPE). It has the classes of the first dataset where all have as many, else none. It
/// is moved by moving the datasets: tern_dataset_to of it is refused.
TERN_API tern_dataset *tern_data_concat_new(int64_t count, tern_dataset *const *datasets)
    TERN_READS_(2, 1);
/// `tern_data_concat(a, b)`, `tern_data_concat(a, b, c)`, ...
#define tern_data_concat(...) TERN_ITEMS_(tern_dataset *, (NULL), tern_data_concat_new, __VA_ARGS__)

/// Changes a sample, which has its tensors and its number: sets `sample->x`, `sample->y`, or
/// `sample->at[]` and `sample->count`, to tensors of its own; what it was given may be what the
/// dataset keeps, and is not changed in place. Draws by tern_sample_rand(context, index, k), which
/// have nothing in common with those of the inner dataset. Runs without recording, from several
/// threads at once unless `.serial`; otherwise as tern_dataset_item_fn.
///
///     static tern_status flip(const tern_sample_context *context, int64_t index,
///                             tern_sample *sample, void *user)
///     {
///         if (tern_sample_rand(context, index, 0) < 0.5)
///             sample->x = tern_flip(sample->x, tern_axes(2));
///         return tern_error_code();
///     }
typedef tern_status tern_data_map_fn(const tern_sample_context *context, int64_t index,
                                     tern_sample *sample, void *user);
TERN_REQUIRED_TYPE_(data_map_fn, tern_data_map_fn *)

/// `tern_data_map(train, flip)`, `tern_data_map(train, scale, .user = &factor)`.
typedef struct tern_data_map_options {
    void *user;         ///< handed to the function
    tern_free_fn *free; ///< called with `user` when the dataset is freed, and at once on failure
    bool serial;        ///< one thread at a time may run the function
    char reserved_;
    tern_dataset *dataset; ///< whose samples it gets
    tern_data_map_fn *fn;  ///< what changes them
} tern_data_map_options;
#define TERN_DATA_MAP_DEFAULTS_ .user = NULL, .free = NULL, .serial = false
#define TERN_DATA_MAP_FIELDS_   2, 0, (dataset, fn), (dataset, data_map_fn)
TERN_API tern_data_map_options tern_data_map_defaults(void);
/// The samples of a dataset, each changed by a function whenever it is asked for.
TERN_API tern_dataset *tern_data_map_with(const tern_data_map_options *options);
#define tern_data_map(...) TERN_WITH_(tern_data_map, tern_data_map, TERN_DATA_MAP, __VA_ARGS__)

/// `tern_data_cache(files)`, `tern_data_cache(files, .max_bytes = INT64_C(8) << 30)`.
typedef struct tern_data_cache_options {
    int64_t max_bytes; ///< the most bytes that are kept, >= 0
    char reserved_;
    tern_dataset *dataset; ///< whose samples are kept
} tern_data_cache_options;
#define TERN_DATA_CACHE_DEFAULTS_ .max_bytes = INT64_MAX
#define TERN_DATA_CACHE_FIELDS_   1, 0, (dataset), (dataset)
TERN_API tern_data_cache_options tern_data_cache_defaults(void);
/// The samples of a dataset, each kept in memory from when it was first asked for: for those that
/// are slow to read or decode. Random samples would be the same ones ever after: put what draws
/// over the cache (`tern_data_map(tern_data_cache(files), flip)`), not under it. Those that would
/// go beyond .max_bytes, and those that are not on the CPU, are made each time. tern_dataset_to
/// forgets what is kept.
TERN_API tern_dataset *tern_data_cache_with(const tern_data_cache_options *options);
#define tern_data_cache(...)                                                                       \
    TERN_WITH_(tern_data_cache, tern_data_cache, TERN_DATA_CACHE, __VA_ARGS__)

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
