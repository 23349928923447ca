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
/// over the cache (tern_data_map, tern_data_transform), not under it. Those that would
/// go beyond .max_bytes, and those that are not on the CPU, are made each time. tern_dataset_to
/// forgets what is kept; move the cache, not what it is over, which what is kept does not follow.
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

/// CIFAR-10 in its binary version: data_batch_1.bin to data_batch_5.bin, or test_batch.bin, with
/// the classes' names of batches.meta.txt where that is there. Images are kept as bytes; a batch
/// has x float32 (N, 3, 32, 32) = byte / 255 and y int64 (N), both on the CPU until
/// tern_dataset_to. Fails as tern_data_mnist_with.
TERN_API tern_dataset *tern_data_cifar10(const char *directory, tern_data_split split);

/// `tern_data_cifar100(directory, TERN_TRAIN)`.
typedef struct tern_data_cifar100_options {
    bool coarse; ///< labels are the 20 superclasses, not the 100 classes
    char reserved_;
    const char *directory; ///< where the files are
    tern_data_split split; ///< which of them
} tern_data_cifar100_options;

#define TERN_DATA_CIFAR100_DEFAULTS_ .coarse = false
#define TERN_DATA_CIFAR100_FIELDS_   2, 0, (directory, split), (text, split)
TERN_API tern_data_cifar100_options tern_data_cifar100_defaults(void);
/// CIFAR-100 in its binary version: train.bin or test.bin, with the names of fine_label_names.txt
/// or coarse_label_names.txt where those are there. Otherwise as tern_data_cifar10.
TERN_API tern_dataset *tern_data_cifar100_with(const tern_data_cifar100_options *options);
#define tern_data_cifar100(...)                                                                    \
    TERN_WITH_(tern_data_cifar100, tern_data_cifar100, TERN_DATA_CIFAR100, __VA_ARGS__)

/// `tern_data_npy("x.npy", .labels = "y.npy")`.
typedef struct tern_data_npy_options {
    const char *labels; ///< another file of as many rows, whose rows are y; NULL: there is no y
    char reserved_;
    const char *path; ///< the file whose rows are x
} tern_data_npy_options;

#define TERN_DATA_NPY_DEFAULTS_ .labels = NULL
#define TERN_DATA_NPY_FIELDS_   1, 0, (path), (text)
TERN_API tern_data_npy_options tern_data_npy_defaults(void);
/// Rows of numpy's arrays, which may be larger than memory: they stay in their files, and each is
/// read when it is asked for. A batch has x (N, ..), and y (N, ..), with the dtypes of the files,
/// on the CPU. The files stay open; one that is deleted meanwhile can still be read, and one that
/// is written to or cut is TERN_ERR_IO (TERN_ERR_FORMAT when that happens while a batch is read),
/// with its name and the number of the sample. NULL on failure: TERN_ERR_IO for a file that cannot
/// be read, TERN_ERR_FORMAT for one that is no array in C's order of a dtype of tern's, or whose
/// length is not that of its shape, and for numbers of rows that differ.
TERN_API tern_dataset *tern_data_npy_with(const tern_data_npy_options *options);
#define tern_data_npy(...) TERN_WITH_(tern_data_npy, tern_data_npy, TERN_DATA_NPY, __VA_ARGS__)

/// `tern_data_text("shakespeare.txt", 128)`.
typedef struct tern_data_text_options {
    int64_t stride;      ///< tokens from the beginning of a window to that of the next; 0: `length`
    int64_t token_bytes; ///< of a token: 1 (a byte of text), 2 or 4 (unsigned, little-endian)
    char reserved_;
    const char *path; ///< the file
    int64_t length;   ///< tokens of a window, 1 to 2^31 - 1
} tern_data_text_options;

#define TERN_DATA_TEXT_DEFAULTS_ .stride = 0, .token_bytes = 1
#define TERN_DATA_TEXT_FIELDS_   2, 0, (path, length), (text, int64)
TERN_API tern_data_text_options tern_data_text_defaults(void);
/// Windows of a text, for language models: x int64 (N, length) are the bytes from index * stride
/// on, y int64 (N, length) those from one further on, so that y[i] comes after x[i]; 256 classes.
/// With .token_bytes = 2 the file is one of tokens, as numpy's tofile writes uint16. Windows that
/// would go past the end are left out. The file is read window by window, and may be larger than
/// memory; otherwise as tern_data_npy_with. TERN_ERR_FORMAT for a file of fewer than length + 1
/// tokens.
TERN_API tern_dataset *tern_data_text_with(const tern_data_text_options *options);
#define tern_data_text(...) TERN_WITH_(tern_data_text, tern_data_text, TERN_DATA_TEXT, __VA_ARGS__)

/// .label_column of a CSV file without labels.
#define TERN_CSV_NO_COLUMN INT64_MIN

/// `tern_data_csv("iris.csv", .label = "species")`.
typedef struct tern_data_csv_options {
    const char *label;      ///< the name of the column of labels; NULL: there is none
    int64_t label_column;   ///< its number instead: from 0, or back from -1, which is the last
    tern_dtype label_dtype; ///< int64: classes; float32, float64: numbers
    tern_dtype dtype;       ///< of the features: float32 or float64
    bool header;            ///< the first line has the names of the columns
    int separator;          ///< between cells: an ASCII character
    bool fill_empty;        ///< an empty cell of a feature is `fill`; else it is refused
    double fill;            ///< 0, NAN, ..; also where the column has texts
    const char *missing;    ///< what counts as an empty cell too, "NA" or "?"; or NULL
    const char *const *categories; ///< names of columns whose numbers are texts, then NULL; or NULL
    const char *const *skip;       ///< names of columns that do not count, then NULL; or NULL
    tern_dataset *like; ///< of another file: its categories and classes are used; or NULL
    char reserved_;
    const char *path; ///< the file
} tern_data_csv_options;

#define TERN_DATA_CSV_DEFAULTS_                                                                    \
    .label = NULL, .label_column = TERN_CSV_NO_COLUMN, .label_dtype = TERN_INT64,                  \
    .dtype = TERN_FLOAT32, .header = true, .separator = ',', .fill_empty = false, .fill = 0,       \
    .missing = NULL, .categories = NULL, .skip = NULL, .like = NULL
#define TERN_DATA_CSV_FIELDS_ 1, 0, (path), (text)
TERN_API tern_data_csv_options tern_data_csv_defaults(void);
/// The rows of a CSV file (RFC 4180; lines end with LF or CRLF, empty ones are passed over, a byte
/// order mark of UTF-8 too). A batch has x (N, features), and y (N) where there is a label; all is
/// in memory, on the CPU until tern_dataset_to. In a file without a header columns are called "0",
/// "1", and so on.
///
/// A column has numbers or texts, as its first cell that is not empty: decimal ones, in every
/// locale, rounded to the nearest double and then to `dtype`; blanks around them do not count.
/// Texts of a feature are categories: x has the number of the text among those of the column,
/// sorted by their bytes. Likewise labels that are texts are classes, sorted by name; labels that
/// are integers are y as they are, with classes 0 to the largest (none when one is negative).
///
///     tern_dataset *train = tern_data_csv("train.csv", .label = "species");
///     tern_dataset *test = tern_data_csv("test.csv", .label = "species", .like = train);
///
/// NULL on failure: TERN_ERR_IO for a file that cannot be read, TERN_ERR_FORMAT, with file and
/// line, for a row of more or fewer cells, an empty cell or missing label, a number among texts or
/// a text among numbers, a number that `dtype` does not hold (1e999), a label or category that
/// `like` has not seen, a quote in the wrong place, a NUL byte, texts that are no UTF-8, a record
/// of more than 16 MiB. The file is read twice, in memory of bounded size beside the result.
TERN_API tern_dataset *tern_data_csv_with(const tern_data_csv_options *options);
#define tern_data_csv(...) TERN_WITH_(tern_data_csv, tern_data_csv, TERN_DATA_CSV, __VA_ARGS__)

TERN_END_DECLS

#endif
