// SPDX-License-Identifier: Apache-2.0
/// @file
/// Datasets, and the loader that makes batches of them.
///
///     tern_dataset *train = tern_data_mnist("/usr/share/datasets/fashion-mnist", TERN_TRAIN);
///     tern_loader *loader =
///         tern_loader_new(train, .batch_size = 64, .shuffle = true, .device = dev);
///     for (int epoch = 0; epoch < 5; epoch++)
///         tern_each_batch (b, loader)
///             step(b.x, b.y);                      // temporaries live until the next batch
///     tern_loader_free(loader);
///     tern_dataset_free(train);
///
/// A dataset counts its references, and a loader holds one: the two may be freed in any order. The
/// order of samples is PyTorch's for the same seed. Threads: a dataset or a loader is used by one
/// thread at a time; only a dataset's reference count is atomic.
#ifndef TERN_DATA_H
#define TERN_DATA_H

#include <tern/options.h>
#include <tern/device.h>
#include <tern/error.h>
#include <tern/random.h>
#include <tern/state.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// The most tensors that a sample has.
#define TERN_BATCH_TENSORS 8

/// A batch of samples: tensors whose first dimension is the number of samples.
typedef struct tern_batch {
    tern_tensor *x;                      ///< at[0]
    tern_tensor *y;                      ///< at[1]; NULL when a sample has one tensor
    int64_t size;                        ///< how many samples
    const int64_t *index;                ///< (size): the numbers of the samples in the dataset
    int count;                           ///< how many tensors
    tern_tensor *at[TERN_BATCH_TENSORS]; ///< (size, ..) each; NULL from `count` on
} tern_batch;

/// One sample.
typedef struct tern_sample {
    tern_tensor *x;                      ///< at[0]
    tern_tensor *y;                      ///< at[1]; NULL when a sample has one tensor
    int64_t index;                       ///< its number in the dataset
    int count;                           ///< how many tensors
    tern_tensor *at[TERN_BATCH_TENSORS]; ///< of any shape each; NULL from `count` on
} tern_sample;

// ---- datasets ---------------------------------------------------------------------------------

/// Samples that are found by number.
typedef struct tern_dataset tern_dataset;
TERN_REQUIRED_TYPE_(dataset, tern_dataset *)

/// One more reference. Returns the dataset. NULL stays NULL.
TERN_API tern_dataset *tern_dataset_retain(tern_dataset *dataset);
/// Gives a reference back; the last one frees the dataset. NULL is fine. When only loaders hold it
/// there is none to give back: TERN_ERR_STATE.
TERN_API void tern_dataset_free(tern_dataset *dataset);
/// The number of samples; -1 on failure.
TERN_API int64_t tern_dataset_count(const tern_dataset *dataset);
/// Puts the samples of the given numbers together, in that order; one may be named twice. The
/// tensors are temporaries of the innermost scope; `out->index` is `index`. The samples' context
/// has seed 0 and epoch 0, so that random ones are the same each time; but in a call of another
/// dataset's `item` or `get` it has that one's epoch, and a seed made from that one's.
/// TERN_ERR_INDEX for a number that is not 0 to tern_dataset_count - 1, TERN_ERR_ARG when
/// count < 1; on failure `*out` is zeroed.
TERN_API TERN_NODISCARD tern_status tern_dataset_get(tern_dataset *dataset, const int64_t *index,
                                                     int64_t count, tern_batch *out)
    TERN_READS_(2, 3);
/// One sample, to look at: as tern_dataset_get, but its tensors have no dimension of the batch.
/// Fails as that does.
TERN_API TERN_NODISCARD tern_status tern_dataset_item(tern_dataset *dataset, int64_t index,
                                                      tern_sample *out);
/// The number of classes that the labels of the samples count, so that they are 0 to this - 1; 0 when
/// the dataset knows none, -1 on failure.
TERN_API int64_t tern_dataset_class_count(const tern_dataset *dataset);
/// The name of class `label`, "cat", in UTF-8; the dataset's, valid while it lives. NULL, and no
/// error, when the class has no name; NULL on failure (TERN_ERR_INDEX for no class).
TERN_API const char *tern_dataset_class_name(const tern_dataset *dataset, int64_t label);
/// Writes where sample `index` comes from, "cat/0017.png", into `buffer`: at most `size` bytes with
/// the final 0. False, and "", when the dataset does not know it, and on failure (TERN_ERR_INDEX).
TERN_API bool tern_dataset_sample_name(const tern_dataset *dataset, int64_t index, char *buffer,
                                       size_t size) TERN_WRITES_(3, 4);
/// Moves what the dataset keeps to `device`, in place, and returns the dataset: batches are made
/// there from then on, of the same bits and in the same order, and loaders copy none. Waits. NULL
/// on failure, with the dataset as it was: TERN_ERR_NOMEM when it does not fit on the device (clear
/// the error and go on: loaders then copy batch by batch), TERN_ERR_UNSUPPORTED for a class without
/// `to`.
TERN_API tern_dataset *tern_dataset_to(tern_dataset *dataset, tern_device device);

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

// ---- a dataset of your own --------------------------------------------------------------------
//
// Sample i is (i, i + noise).
//
//     typedef struct noisy { tern_dataset base; int64_t count; } noisy;
//
//     static int64_t count(const tern_dataset *self) { return ((const noisy *)self)->count; }
//
//     static tern_status item(const tern_dataset *self, const tern_sample_context *context,
//                             int64_t index, tern_sample *out)
//     {
//         out->at[out->count++] = tern_full(tern_dims(1), (double)index);
//         out->at[out->count++] = tern_add_scalar(out->at[0], tern_sample_rand(context, index, 0));
//         return tern_error_code();
//     }
//     static const tern_dataset_class noisy_class = {
//         .name = "noisy", .size = sizeof(noisy), .count = count, .item = item};
//
//     noisy *set = (noisy *)tern_dataset_new(&noisy_class);

/// What samples are made for: a sample's random numbers depend on this and its number alone, so
/// that the order of asking and the number of workers change none of them.
typedef struct tern_sample_context {
    uint64_t seed; ///< the int64 that the epoch drew from the loader's generator (PyTorch's
                   ///< base_seed); otherwise see tern_dataset_get
    int64_t epoch; ///< the loader's tern_loader_epoch where it began, 1 for the first
    int worker;    ///< which worker asks; 0
    int workers;   ///< of how many; 0: the thread that asks the loader, so always in this version
} tern_sample_context;

/// The k-th random number of a sample, uniform in [0, 1) in steps of 2^-53; k is 0 to 2^32 - 1. The
/// same arguments give the same bits. Philox4x32-10: key words are the seed's low and high 32 bits;
/// counter words are the low and high 32 bits of `index`, k, and the low 32 bits of the epoch; the
/// number is the upper 53 bits of word1 * 2^32 + word0, times 2^-53. NaN on failure (TERN_ERR_NULL,
/// _ARG).
TERN_API double tern_sample_rand(const tern_sample_context *context, int64_t index, int64_t k);
/// The same draw as an integer in [low, high): low + (word1 * 2^32 + word0) mod (high - low), so a
/// bias below (high - low) / 2^64. It shares its words with tern_sample_rand of the same k: use
/// another. `low` on failure (TERN_ERR_NULL; TERN_ERR_ARG also when low >= high).
TERN_API int64_t tern_sample_randint(const tern_sample_context *context, int64_t index, int64_t k,
                                     int64_t low, int64_t high);

/// The number of samples, >= 0. Asked at the beginning of each epoch.
typedef int64_t tern_dataset_count_fn(const tern_dataset *self);
/// Makes the sample `index`, which is in range: sets `out->count` (0 before) and `out->at[]`. x, y
/// and index are filled in by the caller. All samples of a batch have the same number of tensors,
/// of the same shapes and dtypes and on the same devices: they are copied into the batch, and may
/// be what the dataset keeps. Runs without recording; its temporaries die. An error that is pending
/// afterwards is a failure, whatever is returned, and a sentence raised here ends with "[in sample
/// 17 of squares]". It may free the dataset, which is kept until it returns; the loader that asks
/// it cannot be freed, reset or asked for a batch by it (TERN_ERR_STATE).
typedef tern_status tern_dataset_item_fn(const tern_dataset *self,
                                         const tern_sample_context *context, int64_t index,
                                         tern_sample *out);
/// Makes a batch of the samples `index[0]` ... `index[count - 1]`, which are in range, where that
/// is faster than one by one: sets `out->count` (0 before) and `out->at[]`, tensors whose first
/// size is `count`. x, y, size and index are filled in by the caller. Otherwise as
/// tern_dataset_item_fn, but that errors name no sample.
typedef tern_status tern_dataset_get_fn(const tern_dataset *self,
                                        const tern_sample_context *context, const int64_t *index,
                                        int64_t count, tern_batch *out);
/// Frees what the dataset holds, but not `self`.
typedef void tern_dataset_free_fn(tern_dataset *self);
/// Moves what the dataset holds to a device that exists, or fails and changes nothing. Runs without
/// recording; its temporaries die.
typedef tern_status tern_dataset_to_fn(tern_dataset *self, tern_device device);
/// Says what of the dataset has to be saved for it to go on (state.h), under "dataset." in a state
/// of its loader.
typedef tern_status tern_dataset_visit_fn(tern_dataset *self, tern_state_visitor *visitor);

/// The number of classes, >= 0.
typedef int64_t tern_dataset_class_count_fn(const tern_dataset *self);
/// The name of class `label`, which is in range; NULL: it has none.
typedef const char *tern_dataset_class_name_fn(const tern_dataset *self, int64_t label);
/// Writes where sample `index`, which is in range, comes from; false: not known. Messages about a
/// sample end with it; it must not fail.
typedef bool tern_dataset_sample_name_fn(const tern_dataset *self, int64_t index, char *buffer,
                                         size_t size);

/// A kind of dataset; static storage. Initialise it by name: members may be added in the middle.
/// Batches are made by `get`; without one, of what `item` gives. tern_dataset_item asks `item`;
/// without one it is a batch of one sample. A class with both has to give the same by both.
typedef struct tern_dataset_class {
    const char *name;             ///< in messages
    size_t size;                  ///< bytes of the struct that begins with a tern_dataset
    tern_dataset_count_fn *count; ///< required
    tern_dataset_item_fn *item;   ///< this one or `get` is required
    tern_dataset_get_fn *get;     ///< a whole batch at once
    tern_dataset_free_fn *free;   ///< may be NULL
    tern_dataset_to_fn *to;       ///< may be NULL: samples stay where they are made
    tern_dataset_visit_fn *visit; ///< may be NULL: there is nothing to save
    tern_dataset_class_count_fn *class_count; ///< may be NULL: labels count no classes
    tern_dataset_class_name_fn *class_name;   ///< may be NULL: they have no names
    tern_dataset_sample_name_fn *sample_name; ///< may be NULL: it is not known
    bool serial; ///< `item` and `get` write to what `self` leads to: one thread may run them at
                 ///< a time. Otherwise several will, once loaders have workers
} tern_dataset_class;

/// The first member of every dataset's struct.
struct tern_dataset {
    const tern_dataset_class *klass; ///< set by tern_dataset_new
    int64_t refs_;                   ///< the library's own
    int64_t loaders_;                ///< likewise: how many of the references are loaders'
};

/// A dataset with one reference, the rest of its struct zeroed. NULL on failure.
TERN_API tern_dataset *tern_dataset_new(const tern_dataset_class *dataset_class);

// ---- loader -----------------------------------------------------------------------------------

/// Hands out batches, epoch after epoch.
typedef struct tern_loader tern_loader;
TERN_REQUIRED_TYPE_(loader, tern_loader *)

/// `tern_loader_new(train, .batch_size = 64, .shuffle = true, .device = dev)`.
typedef struct tern_loader_new_options {
    int64_t batch_size; ///< >= 1
    bool shuffle;       ///< a new random order in each epoch
    bool drop_last;     ///< leave out a last batch that is not full
    tern_device device; ///< where batches go; unless said, the default device when that is not the
                        ///< CPU, else they stay where the dataset makes them. From the CPU to
                        ///< a CUDA device through page-locked memory, without a wait
    tern_generator *generator; ///< of the order; borrowed; the CPU's default generator unless said
    char reserved_;
    tern_dataset *dataset; ///< the loader takes a reference of its own
} tern_loader_new_options;

#define TERN_LOADER_NEW_DEFAULTS_                                                                  \
    .batch_size = 1, .shuffle = false, .drop_last = false, .device = {TERN_DEVICE_UNSPECIFIED, 0}, \
    .generator = NULL
#define TERN_LOADER_NEW_FIELDS_ 1, 0, (dataset), (dataset)
TERN_API tern_loader_new_options tern_loader_new_defaults(void);
/// A loader over `dataset`, which it holds a reference of. NULL on failure (TERN_ERR_NULL, _ARG,
/// _DEVICE, _NOMEM).
TERN_API tern_loader *tern_loader_new_with(const tern_loader_new_options *options);
#define tern_loader_new(...)                                                                       \
    TERN_WITH_(tern_loader_new, tern_loader_new, TERN_LOADER_NEW, __VA_ARGS__)
/// Frees the loader, its last batch, and the temporaries made since. NULL is fine.
TERN_API void tern_loader_free(tern_loader *loader);

/// What tern_each_batch keeps while it runs.
typedef struct tern_epoch_guard_ {
    tern_loader *loader; ///< NULL when no epoch was begun
    int outer;           ///< epochs of the loader that were set aside before
    int own;             ///< those that are while this one is in progress
    bool open;           ///< false once the loop has run
} tern_epoch_guard_;

/// What entering tern_each_batch runs: begins an epoch.
TERN_API tern_epoch_guard_ tern_epoch_guard_open_(tern_loader *loader);
/// What each round begins with: the batch; false when there is none.
TERN_API bool tern_epoch_guard_next_(tern_epoch_guard_ *guard, tern_batch *batch);
/// What leaving it runs: ends the epoch.
TERN_API void tern_epoch_guard_close_(tern_epoch_guard_ *guard);

/// Runs the statement or block that follows once for each batch of an epoch, which it declares as
/// `batch`: `tern_each_batch (b, loader) { ... }`. A loop of C: `continue` goes on with the next
/// batch, and `break`, `return` and `goto` end the epoch; the next loop begins another. The loop
/// ends on failure and while an error is pending; look for it behind the loop.
///
/// The batch, and the temporaries that the thread makes in a round, die when the round ends, and so
/// does what the last round made when the loop is left: tern_retain or tern_assign what is needed
/// behind it. Loops may stand inside each other, over one loader too: each has an epoch of its own,
/// and the outer one's batch and temporaries stay. An epoch that tern_loader_next has in progress
/// goes on after the loop.
///
/// Draws and reports as tern_loader_next; leaving early waits for nothing.
#define tern_each_batch(batch, loader)                                                             \
    TERN_EACH_BATCH_(batch, loader, TERN_LINE_NAME_(tern_epoch_guard_))
/// A loop that runs once around the loop over the batches; its guard is closed however it is left.
#define TERN_EACH_BATCH_(batch, loader, guard)                                                     \
    for (tern_epoch_guard_ guard                                                                   \
         __attribute__((cleanup(tern_epoch_guard_close_))) = tern_epoch_guard_open_(loader);       \
         guard.open; guard.open = false)                                                           \
        for (tern_batch batch; tern_epoch_guard_next_(&guard, &batch);)

/// For loops that tern_each_batch does not fit. The next batch into `*batch`, and true; or false,
/// with `*batch` zeroed: at the end of an epoch, on failure, and while an error is pending. After
/// the end of an epoch the next call begins another; after a failure, or a `break` in between, it
/// goes on with the same one, which tern_loader_reset gives up. Loops of this call over one loader
/// inside each other share its epoch, and the inner one ends the outer one's batch.
///
/// The batch belongs to the loader until its next call, and so do the temporaries that the thread
/// makes meanwhile: each call ends those of the call before, but not those of another loader.
///
/// Each epoch draws as PyTorch's: from the generator one int64, whether shuffling or not, which is
/// the seed of tern_sample_context; then, when shuffling, without `.generator` one int64 that seeds
/// a permutation, with it the permutation itself. Reports a value error that a kernel found
/// (TERN_ERR_INDEX, ...) without waiting, but waits for the device before it ends an epoch.
TERN_API bool tern_loader_next(tern_loader *loader, tern_batch *batch);
/// Gives up the epoch in progress, if there is one: the next call begins another.
TERN_API void tern_loader_reset(tern_loader *loader);

/// Batches in an epoch; -1 on failure.
TERN_API int64_t tern_loader_batches(const tern_loader *loader);
/// Epochs begun so far: 0 before the first call of tern_loader_next, 1 in the first epoch. -1 on
/// failure.
TERN_API int64_t tern_loader_epoch(const tern_loader *loader);
/// Batches handed out in the epoch in progress, or, between epochs, in the last one. -1 on failure.
TERN_API int64_t tern_loader_position(const tern_loader *loader);

// ---- saving and loading -------------------------------------------------------------------------

/// Where the loader is: epoch and position, the state of its generator when the epoch in progress
/// began, and what the dataset's class visits. The order of samples is not saved, it is drawn
/// again. The loader's generator itself is not in it, nor are the default ones: save them too
/// (tern_random_state_dict), for the epochs that follow. Freed with tern_state_free. NULL on
/// failure; TERN_ERR_STATE in an inner one of two loops over the loader.
TERN_API tern_state *tern_loader_state_dict(tern_loader *loader);

/// `tern_loader_load_state_dict(loader, state)`.
typedef struct tern_loader_load_state_dict_options {
    const char *prefix;       ///< names of the state without it do not count, or NULL
    tern_load_report *report; ///< filled with what does not fit, or NULL
    char reserved_;
    tern_loader *loader;     ///< what goes there
    const tern_state *state; ///< what is loaded
} tern_loader_load_state_dict_options;
#define TERN_LOADER_LOAD_STATE_DICT_DEFAULTS_ .prefix = NULL, .report = NULL
#define TERN_LOADER_LOAD_STATE_DICT_FIELDS_   2, 0, (loader, state), (loader, state)
TERN_API tern_loader_load_state_dict_options tern_loader_load_state_dict_defaults(void);
/// Gives up the epoch in progress, and goes to where the saved loader was: tern_loader_next, or the
/// next tern_each_batch, hands out the rest of the saved epoch, the same samples in the same order,
/// random ones with the same numbers. No generator draws or changes. The batch that was handed out
/// last must not be used any more. The dataset's count, batch_size, shuffle, drop_last and whether
/// there is a generator must be those of the saved one, else it is refused and nothing changes;
/// errors are those of tern_state_load, and TERN_ERR_STATE as above.
TERN_API TERN_NODISCARD tern_status
tern_loader_load_state_dict_with(const tern_loader_load_state_dict_options *options);
#define tern_loader_load_state_dict(...)                                                           \
    tern_status_of_(TERN_WITH_(tern_loader_load_state_dict, tern_loader_load_state_dict,           \
                               TERN_LOADER_LOAD_STATE_DICT, __VA_ARGS__))

/// Visits a loader as a part of an object of yours; fails as tern_visit_part does, and with
/// TERN_ERR_STATE as above.
TERN_API TERN_NODISCARD tern_status tern_visit_loader(tern_state_visitor *visitor, const char *name,
                                                      tern_loader *loader);

TERN_END_DECLS

#endif
