// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loaders, which make batches of a dataset.
///
///     tern_loader *loader = tern_loader_new(train, .batch_size = 64, .shuffle = true);
///     for (int epoch = 0; epoch < 5; epoch++)
///         tern_each_batch (b, loader)
///             step(b.x, b.y);                      // temporaries live until the next batch
///     tern_loader_free(loader);
///
/// With `.workers = 4` threads make the batches ahead, so that a step does not wait for files and
/// transforms: the same samples in the same order, of the same bits, for any number of them.
///
/// A loader holds a reference of its dataset. The order of samples is PyTorch's for the same seed.
/// Threads: a loader is used by one thread at a time; its workers end with the epoch.
#ifndef TERN_LOADER_H
#define TERN_LOADER_H

#include <tern/data.h>
#include <tern/random.h>
#include <tern/sampler.h>

TERN_BEGIN_DECLS

/// Hands out batches, epoch after epoch.
typedef struct tern_loader tern_loader;
TERN_REQUIRED_TYPE_(loader, tern_loader *)

/// Makes a batch of `count` samples, whose tensors live as long as the call: sets `out->count` (0
/// before) and `out->at[]`, of any shapes, which are temporaries. x, y, size and index are filled
/// in by the caller. With workers it runs on several threads at once. Otherwise as
/// tern_dataset_get_fn.
typedef tern_status tern_collate_fn(const tern_sample *samples, int64_t count, void *user,
                                    tern_batch *out);
TERN_REQUIRED_TYPE_(collate_fn, tern_collate_fn *)

/// For `.collate`: samples of different lengths. Each tensor becomes (N, L, ..), where L is the
/// longest of the samples' first sizes; what is behind a shorter one is `*(const double *)user`, 0
/// for NULL. A tensor without dimensions, a label, becomes (N). The last tensor of the batch is
/// the lengths of tensor 0: int64 (N) on the CPU (PyTorch's pad_sequence with batch_first).
/// TERN_ERR_SHAPE, _DTYPE for samples that differ otherwise.
TERN_API tern_status tern_collate_padded(const tern_sample *samples, int64_t count, void *user,
                                         tern_batch *out);

/// Runs on each worker of a loader before its first batch of an epoch: `worker` is 0 to workers -
/// 1. A failure is raised by the calls that ask for batches.
typedef tern_status tern_worker_init_fn(int worker, int workers, void *user);

/// `tern_loader_new(train, .batch_size = 64, .shuffle = true, .device = dev)`.
typedef struct tern_loader_new_options {
    int64_t batch_size; ///< >= 1
    bool shuffle;       ///< a new random order in each epoch
    bool drop_last;     ///< leave out a last batch that is not full
    tern_device device; ///< where batches go; unless said, the default device when that is not the
                        ///< CPU, else they stay where the dataset makes them. From the CPU to
                        ///< a CUDA device through page-locked memory, without a wait
    tern_generator *generator; ///< of the order; borrowed; the CPU's default generator unless said
    tern_sampler
        *sampler; ///< which samples, in which order, instead of `shuffle`; the loader holds a
                  ///< reference. One that gives batches decides of batch_size, drop_last too
    int workers;  ///< threads that make batches, 0 to 256; 0: the thread that asks. A dataset whose
                  ///< class is `serial` gets one at most
    int64_t prefetch;         ///< batches that are made ahead for each worker, 1 to 1000
    double timeout;           ///< seconds to wait for a worker's batch, > 0; 0: as long as it takes
    tern_collate_fn *collate; ///< how a batch is made of samples; unless said they are stacked
    tern_worker_init_fn *worker_init; ///< what each worker begins with, or NULL
    void *user;                       ///< what collate and worker_init get; borrowed
    char reserved_;
    tern_dataset *dataset; ///< the loader takes a reference of its own
} tern_loader_new_options;

#define TERN_LOADER_NEW_DEFAULTS_                                                                  \
    .batch_size = 1, .shuffle = false, .drop_last = false, .device = {TERN_DEVICE_UNSPECIFIED, 0}, \
    .generator = NULL, .sampler = NULL, .workers = 0, .prefetch = 2, .timeout = 0,                 \
    .collate = NULL, .worker_init = NULL, .user = NULL
#define TERN_LOADER_NEW_FIELDS_ 1, 0, (dataset), (dataset)
TERN_API tern_loader_new_options tern_loader_new_defaults(void);
/// A loader over `dataset`, which it holds a reference of. NULL on failure (TERN_ERR_NULL, _ARG,
/// _DEVICE, _NOMEM).
///
/// Workers ask the dataset for batches at once, each on a thread of the library's with the settings
/// of the thread that asks the loader; their operations run on that one thread, and copies to a
/// CUDA device on a stream of their own. What one fails with is raised where its batch is due, and
/// the next call has it made again. They are ended with the epoch, which waits for the batches that
/// they are at, up to `timeout`: a thread that is stuck keeps its memory and a reference to the
/// dataset until it returns. Where no thread can be started, the thread that asks makes the
/// batches.
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
/// Draws and reports as tern_loader_next; leaving early waits for nothing but batches that workers
/// are at, which are lost.
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

/// Batches in an epoch; -1 on failure (TERN_ERR_UNSUPPORTED for a sampler that cannot say so).
TERN_API int64_t tern_loader_batches(const tern_loader *loader);
/// Epochs begun so far: 0 before the first call of tern_loader_next, 1 in the first epoch. -1 on
/// failure.
TERN_API int64_t tern_loader_epoch(const tern_loader *loader);
/// Batches handed out in the epoch in progress, or, between epochs, in the last one. -1 on failure.
TERN_API int64_t tern_loader_position(const tern_loader *loader);

/// The share, 0 to 1, of the time since the epoch began that its loop spent waiting for batches
/// (all of their making when there are no workers); between epochs that of the last one, 0 before
/// the first. A step that is long enough for the workers has a share near 0. NaN on failure.
TERN_API double tern_loader_wait_share(const tern_loader *loader);

// ---- saving and loading -------------------------------------------------------------------------

/// Where the loader is: epoch and position, the state of its generator when the epoch in progress
/// began, and what the dataset's class visits. Batches that workers have made ahead do not count.
/// The order of samples is not saved, it is drawn again. The loader's generator itself is not in
/// it, nor are the default ones: save them too (tern_random_state_dict), for the epochs that
/// follow. Freed with tern_state_free. NULL on failure; TERN_ERR_STATE in an inner one of two loops
/// over the loader.
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
/// last must not be used any more. The dataset's count, batch_size, shuffle, drop_last, the
/// sampler's class and whether there is a generator must be those of the saved one, else it is
/// refused and nothing changes; errors are those of tern_state_load, and TERN_ERR_STATE as above.
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
