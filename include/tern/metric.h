// SPDX-License-Identifier: Apache-2.0
/// @file
/// Metrics, which say how good predictions are, over any number of batches.
///
///     tern_metric *accuracy = tern_metric_accuracy(.num_classes = 10);      // metrics.h
///     double loss;
///     if (tern_evaluate(net, loader, .criterion = criterion, .loss = &loss,
///                       .metrics = tern_metrics(accuracy)))
///         return tern_error_print(stderr);
///     printf("loss %g, accuracy %g\n", loss, tern_metric_value(accuracy));
///     tern_metric_free(accuracy);
///
/// A metric has sums and counts, its states, which stay on the device: an update only makes
/// operations and waits for nothing. What is computed of them is that of all samples together,
/// whatever batches they came in. A metric is counted: tern_metric_free gives a reference back.
/// Failed calls return NULL or a status, with an error pending, and leave the states as they were;
/// a label out of range that a CUDA device finds is not counted, and reported as value errors are
/// (error.h). Threads: a metric is used by one thread at a time.
#ifndef TERN_METRIC_H
#define TERN_METRIC_H

#include <tern/checkpoint.h>
#include <tern/loader.h>
#include <tern/module.h>
#include <tern/options.h>
#include <tern/reduction.h>
#include <tern/state.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// States, and what becomes of them.
typedef struct tern_metric tern_metric;
TERN_REQUIRED_TYPE_(metric, tern_metric *)

/// One more reference. Returns the metric. NULL stays NULL.
TERN_API tern_metric *tern_metric_retain(tern_metric *metric);
/// Gives a reference back; with the last one the metric goes. NULL is fine; one that was freed is
/// TERN_ERR_STATE, here and wherever it is used.
TERN_API void tern_metric_free(tern_metric *metric);

/// Takes the predictions of a batch and what they should be, as the constructor says, without
/// recording and in a scope of its own. The states are where the first update after the metric was
/// made, loaded or reset has `preds`; TERN_ERR_DEVICE for a later one that is elsewhere, unless
/// tern_metric_to moved them, and for a target that is. `target` may be NULL where the metric says
/// so. An update that moves the states is refused while the calling thread captures
/// (TERN_ERR_STATE); any other may be captured, unless the metric says otherwise.
TERN_API TERN_NODISCARD tern_status tern_metric_update(tern_metric *metric, tern_tensor *preds,
                                                       tern_tensor *target);
/// What the metric is of all batches since it was made or reset: a temporary on the device, of the
/// shape that the constructor says. Waits for nothing. TERN_ERR_STATE before the first update.
TERN_API tern_tensor *tern_metric_compute(tern_metric *metric);
/// Likewise of a metric of one number, and waits for the device; NaN on failure, TERN_ERR_SHAPE
/// where it is of several.
TERN_API double tern_metric_value(tern_metric *metric);
/// Makes the states those of no batch.
TERN_API void tern_metric_reset(tern_metric *metric);
/// What it is called in logs and messages: "accuracy", "top5_accuracy", "f1", or the .name that it
/// was given. "" on failure.
TERN_API const char *tern_metric_name(const tern_metric *metric);
/// How many updates there were since it was made or reset; -1 on failure. Replays of a CUDA graph
/// are not counted.
TERN_API int64_t tern_metric_updates(const tern_metric *metric);
/// Moves the states, which stay there also after a reset. Returns the metric; NULL on failure,
/// when nothing has moved.
TERN_API tern_metric *tern_metric_to(tern_metric *metric, tern_device device);
/// Adds the states of `other`, a metric of another replica, which stays as it is; they come to this
/// one's device. TERN_ERR_ARG where it is another kind of metric, or has other options.
TERN_API TERN_NODISCARD tern_status tern_metric_merge(tern_metric *metric,
                                                      const tern_metric *other);

// ---- saving and loading -------------------------------------------------------------------------

/// Visits a metric as a part of an object of yours: "name.kind", ".updates" and the states. One of
/// another kind or of other options does not fit. Fails as tern_visit_part does.
TERN_API TERN_NODISCARD tern_status tern_visit_metric(tern_state_visitor *visitor, const char *name,
                                                      tern_metric *metric);
/// A metric as a part of a checkpoint, which has a reference; otherwise as tern_checkpoint_module.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_metric(tern_checkpoint *checkpoint,
                                                           const char *name, tern_metric *metric);

// ---- several ------------------------------------------------------------------------------------

/// Metrics in a list, at most.
#define TERN_METRICS 16

/// Metrics, by value; whoever is handed a list borrows them.
typedef struct tern_metric_list {
    int count;                     ///< 0 to TERN_METRICS
    tern_metric *at[TERN_METRICS]; ///< `count` of them
} tern_metric_list;

/// The list of `count` metrics. With NULL among them, or with too many (TERN_ERR_ARG), an error is
/// pending, and what is handed the list fails.
TERN_API tern_metric_list tern_metrics_make(int64_t count, tern_metric *const *metrics);
/// A list of metrics: `tern_metrics(accuracy, f1)`.
#define tern_metrics(...) TERN_ITEMS_(tern_metric *, (NULL), tern_metrics_make, __VA_ARGS__)
/// Gives back a reference of each.
TERN_API void tern_metrics_free(tern_metric_list list);

/// `tern_evaluate(net, loader, .criterion = criterion, .metrics = list, .loss = &loss)`.
typedef struct tern_evaluate_options {
    tern_module *criterion;   ///< called with what the net gives and y, or NULL
    tern_metric_list metrics; ///< reset, then updated with what the net gives and y
    double *loss;             ///< set to the mean loss of all samples, or NULL
    tern_reduction reduction; ///< what the criterion gives of a batch: MEAN, SUM or NONE
    char reserved_;
    tern_module *net;    ///< called with x
    tern_loader *loader; ///< whose next epoch is run
} tern_evaluate_options;
#define TERN_EVALUATE_DEFAULTS_                                                                    \
    .criterion = NULL, .metrics = {0, {NULL}}, .loss = NULL, .reduction = TERN_REDUCTION_MEAN
#define TERN_EVALUATE_FIELDS_ 2, 0, (net, loader), (module, loader)
TERN_API tern_evaluate_options tern_evaluate_defaults(void);
/// Runs the net over an epoch of the loader in evaluation mode and without recording. The modes of
/// all its modules, and the criterion's, are as before afterwards, also on failure. Batches that
/// are on another device than the metrics' first one fail as tern_metric_update does. The loss is a
/// mean over the samples: that of each batch, the mean of what the criterion gives, counts as often
/// as the batch has samples; with .reduction = TERN_REDUCTION_SUM the batches' sums are divided by
/// the number of samples. Waits for the device once, at the end. On failure `*loss` is NaN:
/// TERN_ERR_STATE for a loader that gives no batch, while an error is pending and while the calling
/// thread captures; TERN_ERR_ARG for a .loss without a .criterion; else what the loader, the net,
/// the criterion or a metric says.
TERN_API TERN_NODISCARD tern_status tern_evaluate_with(const tern_evaluate_options *options);
#define tern_evaluate(...)                                                                         \
    tern_status_of_(TERN_WITH_(tern_evaluate, tern_evaluate, TERN_EVALUATE, __VA_ARGS__))

// ---- metrics of your own ------------------------------------------------------------------------
//
//     typedef struct hits {
//         tern_metric base;
//         tern_tensor *hits, *count; // (): int64
//     } hits;
//
//     static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
//     {
//         hits *self = (hits *)metric;
//         tern_tensor *right = tern_sum_all(tern_lt_scalar(tern_abs(tern_sub(preds, target)), 1));
//         tern_add_(self->hits, right);
//         tern_add_scalar_(self->count, tern_numel(target));
//         return tern_error_code();
//     }
//     static tern_tensor *compute(tern_metric *metric)
//     {
//         hits *self = (hits *)metric;
//         return tern_div(self->hits, self->count);
//     }
//     static const tern_metric_class hits_class = {
//         .name = "hits", .size = sizeof(hits), .update = update, .compute = compute};
//
//     hits *self = (hits *)tern_metric_new(&hits_class, NULL);
//     if (tern_metric_add_state(&self->base, "hits", &self->hits, tern_dims(), TERN_INT64) || ..)

/// Takes a batch: changes the states in place, as its last step, so that it changes none where it
/// fails. Runs without recording; its temporaries die. `target` may be NULL where the class says
/// so. An error that is pending afterwards is a failure, whatever is returned.
typedef tern_status tern_metric_update_fn(tern_metric *self, tern_tensor *preds,
                                          tern_tensor *target);
/// What the metric is, of the states, likewise: a temporary, which stays; NULL on failure.
typedef tern_tensor *tern_metric_compute_fn(tern_metric *self);
/// Makes what is no state as it was; states are zero already.
typedef void tern_metric_reset_fn(tern_metric *self);
/// Adds the states of `other`, of the same class and description, to those of `self`, in place:
/// where sums are not all there is. Those of `other` may be on another device.
typedef tern_status tern_metric_merge_fn(tern_metric *self, const tern_metric *other);
/// Says what has to be saved besides states (state.h).
typedef tern_status tern_metric_visit_fn(tern_metric *self, tern_state_visitor *visitor);
/// Writes the options that make two metrics of a class different ones: "top_k=5". Less than 200
/// bytes.
typedef void tern_metric_describe_fn(const tern_metric *self, char *buffer, size_t size);
/// Frees what the metric holds besides states, but not `self`.
typedef void tern_metric_free_fn(tern_metric *self);

/// A kind of metric; static storage. Initialise it by name: members may be added in the middle.
typedef struct tern_metric_class {
    const char *name;                  ///< of the metrics, unless they are given one; required
    size_t size;                       ///< bytes of the struct that begins with a tern_metric
    tern_metric_update_fn *update;     ///< required
    tern_metric_compute_fn *compute;   ///< required
    tern_metric_reset_fn *reset;       ///< may be NULL
    tern_metric_merge_fn *merge;       ///< may be NULL: states are added
    tern_metric_visit_fn *visit;       ///< may be NULL: there are only states
    tern_metric_describe_fn *describe; ///< may be NULL: it has no options
    tern_metric_free_fn *free;         ///< may be NULL
    bool target_optional;              ///< `update` takes a target of NULL
} tern_metric_class;

/// The first member of every metric's struct.
struct tern_metric {
    const tern_metric_class *klass;        ///< set by tern_metric_new
    int64_t refs_;                         ///< the library's own
    struct tern_metric_private_ *private_; ///< likewise
};

/// Bytes of a metric's name, the final 0 included.
#define TERN_METRIC_NAME_SIZE 64

/// A metric with one reference and without states, the rest of its struct zeroed. `name` may be
/// NULL: the class's. NULL on failure: TERN_ERR_ARG for a name that is empty or too long.
TERN_API tern_metric *tern_metric_new(const tern_metric_class *metric_class, const char *name);
/// Adds a state, zeros of that shape and dtype, to a metric without updates, and sets `*slot`,
/// a member of its struct, to it; resetting, moving, merging, saving and freeing know it from now
/// on. A later move puts another tensor there. Names are those of state.h, but "kind" and
/// "updates". NULL for `metric` follows the rule of pending errors.
TERN_API TERN_NODISCARD tern_status tern_metric_add_state(tern_metric *metric, const char *name,
                                                          tern_tensor **slot, tern_shape shape,
                                                          tern_dtype dtype);

TERN_END_DECLS

#endif
