// SPDX-License-Identifier: Apache-2.0
/// @file
/// Datasets: samples that are found by number, which loaders (loader.h) make batches of.
///
///     tern_dataset *train = tern_data_mnist("/usr/share/datasets/fashion-mnist", TERN_TRAIN);
///     tern_sample sample;
///     if (tern_dataset_item(train, 17, &sample))
///         return tern_error_print(stderr);
///     tern_dataset_free(train);
///
/// A dataset counts its references, and a loader holds one: the two may be freed in any order.
/// Threads: a dataset is used by one thread at a time, but for the workers of a loader, which ask
/// it for samples at once; its reference count is atomic.
#ifndef TERN_DATA_H
#define TERN_DATA_H

#include <tern/options.h>
#include <tern/device.h>
#include <tern/error.h>
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
/// The number of samples; -1 on failure (TERN_ERR_UNSUPPORTED for a stream, whose samples have no
/// numbers: tern_dataset_get and tern_dataset_item refuse it likewise).
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
/// The number of classes that the labels of the samples count, so that they are 0 to this - 1; 0
/// when the dataset knows none, -1 on failure.
TERN_API int64_t tern_dataset_class_count(const tern_dataset *dataset);
/// The name of class `label`, "cat", with the bytes that its folder or file has, which are mostly
/// UTF-8; the dataset's, valid while it lives. NULL, and no error, when the class has no name; NULL
/// on failure (TERN_ERR_INDEX for no class).
TERN_API const char *tern_dataset_class_name(const tern_dataset *dataset, int64_t label);
/// Writes where sample `index` comes from, "cat/0017.png", into `buffer`: at most `size` bytes with
/// the final 0. False, and "", when the dataset does not know it, and on failure (TERN_ERR_INDEX).
TERN_API bool tern_dataset_sample_name(const tern_dataset *dataset, int64_t index, char *buffer,
                                       size_t size) TERN_WRITES_(3, 4);
/// Moves what the dataset keeps to `device`, in place, and returns the dataset: batches are made
/// there from then on, of the same bits and in the same order, and loaders copy none. Waits. NULL
/// on failure, with the dataset as it was: TERN_ERR_NOMEM when it does not fit on the device (clear
/// the error and go on: loaders then copy batch by batch), TERN_ERR_UNSUPPORTED for a class without
/// `to`, TERN_ERR_STATE while workers of a loader ask it.
TERN_API tern_dataset *tern_dataset_to(tern_dataset *dataset, tern_device device);

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
    int worker;    ///< which of the loader's workers asks, from 0 on
    int workers;   ///< of how many; 0: there are none, and the thread that asks the loader does
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
/// For a stream, a log or a pipe, which has no number of samples: makes the next sample, as an item
/// is made, or leaves `out->count` 0 at the end. `index` counts the samples since the epoch began.
/// One thread at a time asks it, in order, and not again after the end. What it fails at is left
/// out by the next call, with the samples of the same batch before it.
typedef tern_status tern_dataset_next_fn(tern_dataset *self, const tern_sample_context *context,
                                         int64_t index, tern_sample *out);
/// For a stream: an epoch begins, from its first sample on, if the stream can go back to that.
typedef tern_status tern_dataset_begin_fn(tern_dataset *self);
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

/// Whether one thread at a time may run `item` and `get` of a dataset over others, whose class does
/// not know it: whether that holds for one of them.
typedef bool tern_dataset_is_serial_fn(const tern_dataset *self);

/// A kind of dataset; static storage. Initialise it by name: members may be added in the middle.
/// Batches are made by `get`; without one, of what `item` gives. tern_dataset_item asks `item`;
/// without one it is a batch of one sample. A class with both has to give the same by both.
typedef struct tern_dataset_class {
    const char *name;             ///< in messages
    size_t size;                  ///< bytes of the struct that begins with a tern_dataset
    tern_dataset_count_fn *count; ///< required
    tern_dataset_item_fn *item;   ///< this one or `get` is required
    tern_dataset_get_fn *get;     ///< a whole batch at once
    tern_dataset_next_fn
        *next; ///< instead of count, item and get: a stream. Loaders hand it out in
               ///< its order, and one worker at most asks it; one with `visit` is
               ///< asked by the thread that runs the loop
    tern_dataset_begin_fn *begin;             ///< may be NULL, and is without `next`
    tern_dataset_free_fn *free;               ///< may be NULL
    tern_dataset_to_fn *to;                   ///< may be NULL: samples stay where they are made
    tern_dataset_visit_fn *visit;             ///< may be NULL: there is nothing to save
    tern_dataset_class_count_fn *class_count; ///< may be NULL: labels count no classes
    tern_dataset_class_name_fn *class_name;   ///< may be NULL: they have no names
    tern_dataset_sample_name_fn *sample_name; ///< may be NULL: it is not known
    bool serial; ///< `item` and `get` write to what `self` leads to: one thread runs them at a
                 ///< time, and others wait; with `visit` too, the thread that runs the loop.
                 ///< Otherwise the workers of a loader do at once
    tern_dataset_is_serial_fn *is_serial; ///< may be NULL: `serial` says it
} tern_dataset_class;

/// The library's own: the i-th of the datasets that one is over, NULL behind them.
typedef tern_dataset *tern_dataset_inner_fn_(const tern_dataset *self, int64_t i);

/// The first member of every dataset's struct.
struct tern_dataset {
    const tern_dataset_class *klass; ///< set by tern_dataset_new
    int64_t refs_;                   ///< the library's own
    int64_t loaders_;                ///< likewise: how many of the references are loaders'
    int64_t workers_;                ///< likewise: how many threads of loaders ask it
    tern_dataset_inner_fn_ *inner_;  ///< likewise: those that it is over; or NULL
    const void *turn_;               ///< likewise: the thread that asks it
    int64_t turns_;                  ///< likewise: how deep in itself
};

/// A dataset with one reference, the rest of its struct zeroed. NULL on failure.
TERN_API tern_dataset *tern_dataset_new(const tern_dataset_class *dataset_class);

TERN_END_DECLS

#endif
