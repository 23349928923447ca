// SPDX-License-Identifier: Apache-2.0
// Predictions and targets of classes, brought to the forms that are counted. What a kernel finds
// out of range goes to the device's fault record, and does not count.
#include "train/metric/classification.h"

#include <tern/ops.h>
#include "base/text.h"
#include "ops/launch.h"
#include "tensor/factory.h"

#define UPDATE "metric_update"

// ---- options ------------------------------------------------------------------------------------

static tern_metric_task task_of(const tern_metric_classification_options *o)
{
    if (o->task != TERN_TASK_UNSPECIFIED)
        return o->task;
    return o->num_classes  ? TERN_TASK_MULTICLASS
           : o->num_labels ? TERN_TASK_MULTILABEL
                           : TERN_TASK_BINARY;
}

static tern_status check_counts(const char *function, tern_metric_task task,
                                const tern_metric_classification_options *o)
{
    TERN_CHECK(task >= TERN_TASK_BINARY && task <= TERN_TASK_MULTILABEL, TERN_ERR_ARG,
               "%s: there is no task %d", function, (int)task);
    TERN_CHECK(task != TERN_TASK_MULTICLASS || o->num_classes >= 2, TERN_ERR_ARG,
               "%s: num_classes is %lld, but must be 2 or more", function,
               (long long)o->num_classes);
    TERN_CHECK(task != TERN_TASK_MULTILABEL || o->num_labels >= 2, TERN_ERR_ARG,
               "%s: num_labels is %lld, but must be 2 or more", function, (long long)o->num_labels);
    TERN_CHECK(task == TERN_TASK_MULTICLASS || o->num_classes == 0, TERN_ERR_ARG,
               "%s: num_classes is %lld, but the task is not multiclass", function,
               (long long)o->num_classes);
    TERN_CHECK(task == TERN_TASK_MULTILABEL || o->num_labels == 0, TERN_ERR_ARG,
               "%s: num_labels is %lld, but the task is not multilabel", function,
               (long long)o->num_labels);
    return TERN_OK;
}

tern_status tern_classification_make(const char *function, const char *name,
                                     const tern_metric_classification_options *o,
                                     tern_average average, tern_classification *out)
{
    if (!o)
        return tern_null_error(function, "options");
    const tern_metric_task task = task_of(o);
    TERN_TRY(check_counts(function, task, o));
    TERN_CHECK(o->threshold >= 0 && o->threshold <= 1, TERN_ERR_ARG,
               "%s: threshold is %g, but must be 0 to 1", function, o->threshold);
    TERN_CHECK(task == TERN_TASK_MULTICLASS || o->top_k == 1, TERN_ERR_ARG,
               "%s: top_k is %lld, but only multiclass tasks have more than one", function,
               (long long)o->top_k);
    TERN_CHECK(o->top_k >= 1 && (task != TERN_TASK_MULTICLASS || o->top_k <= o->num_classes),
               TERN_ERR_ARG, "%s: top_k is %lld, but must be 1 to num_classes, %lld", function,
               (long long)o->top_k, (long long)o->num_classes);
    TERN_CHECK(o->average >= TERN_AVERAGE_UNSPECIFIED && o->average <= TERN_AVERAGE_NONE,
               TERN_ERR_ARG, "%s: there is no average %d", function, (int)o->average);
    *out = (tern_classification){
        .name = name,
        .task = task,
        .classes = task == TERN_TASK_MULTICLASS   ? o->num_classes
                   : task == TERN_TASK_MULTILABEL ? o->num_labels
                                                  : 1,
        .threshold = o->threshold,
        .top_k = o->top_k,
        .average = o->average == TERN_AVERAGE_UNSPECIFIED ? average : o->average,
        .ignore_index = o->ignore_index,
    };
    return TERN_OK;
}

void tern_classification_describe(const tern_classification *c, char *buffer, size_t size)
{
    static const char *const tasks[] = {[TERN_TASK_BINARY] = "binary",
                                        [TERN_TASK_MULTICLASS] = "multiclass",
                                        [TERN_TASK_MULTILABEL] = "multilabel"};
    static const char *const averages[] = {[TERN_AVERAGE_UNSPECIFIED] = "none",
                                           [TERN_AVERAGE_MICRO] = "micro",
                                           [TERN_AVERAGE_MACRO] = "macro",
                                           [TERN_AVERAGE_WEIGHTED] = "weighted",
                                           [TERN_AVERAGE_NONE] = "none"};
    tern_writer out = {.buffer = buffer, .size = size};
    tern_write(&out, "%s", tasks[c->task]);
    if (c->task != TERN_TASK_BINARY)
        tern_write(&out, ", %s=%lld, average=%s",
                   c->task == TERN_TASK_MULTICLASS ? "num_classes" : "num_labels",
                   (long long)c->classes, averages[c->average]);
    if (c->task == TERN_TASK_MULTICLASS)
        tern_write(&out, ", top_k=%lld", (long long)c->top_k);
    else
        tern_write(&out, ", threshold=%g", c->threshold);
    if (c->ignore_index != TERN_IGNORE_INDEX_UNSPECIFIED)
        tern_write(&out, ", ignore_index=%lld", (long long)c->ignore_index);
}

// ---- what is out of range -----------------------------------------------------------------------

// Bool, of the shape of `indices`, int64: whether they are 0 to limit - 1. The first one that is
// not is a fault: "accuracy: label of sample 3 is 12, but must be 0 to 9".
static tern_tensor *in_range(const char *name, const char *what, tern_tensor *indices,
                             int64_t limit)
{
    tern_tensor *list = tern_make_contiguous(indices); // faults name row-major elements
    const tern_device device = tern_dev(indices);
    tern_tensor *table = tern_ones(tern_dims(limit), .dtype = TERN_BOOL, .device = device);
    tern_tensor *found = tern_tensor_new(UPDATE, TERN_BOOL, device, tern_shape_get(indices));
    if (!list || !table || !found)
        return NULL;
    if (list->numel == 0)
        return found;
    const tern_strided y = tern_view_flat(found), x = tern_view_flat(table);
    const tern_strided index = tern_view_flat(list);
    tern_exec exec = tern_exec_of(device);
    exec.location = tern_fault_location(name, what, limit);
    if (tern_kernels_of(device)->gather(&exec, &y, &x, &index, 0) ||
        (device.type == TERN_CPU && tern_fault_poll(device)))
        return NULL;
    return found;
}

tern_tensor *tern_classification_bincount(tern_tensor *indices, tern_tensor *amounts, int64_t bins)
{
    const tern_device device = tern_dev(indices);
    tern_tensor *counts = tern_zeros(tern_dims(bins), .dtype = TERN_INT64, .device = device);
    tern_tensor *list = tern_make_contiguous(indices), *added = tern_make_contiguous(amounts);
    if (!counts || !list || !added)
        return NULL;
    if (list->numel == 0)
        return counts;
    const tern_strided y = tern_view_flat(counts), x = tern_view_flat(added);
    const tern_strided index = tern_view_flat(list);
    const tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->scatter_add(&exec, &y, &x, &index, 0, false) ? NULL : counts;
}

// ---- targets ------------------------------------------------------------------------------------

// Integers, as int64; of truths numbers of any dtype, and what has a fraction is -1.
static tern_tensor *integers(const tern_classification *c, const char *what, tern_tensor *t)
{
    const bool floating = tern_is_floating(t->dtype);
    TERN_CHECK_PTR(!floating || c->task != TERN_TASK_MULTICLASS, TERN_ERR_DTYPE,
                   UPDATE ": %s: %s is %s, but classes are integers", c->name, what,
                   tern_tensor_string(t));
    tern_tensor *whole = tern_to_dtype(t, TERN_INT64);
    if (!floating || !whole)
        return whole;
    tern_tensor *wrong = tern_ne(tern_to_dtype(whole, t->dtype), t);
    return wrong ? tern_masked_fill(whole, wrong, -1) : NULL;
}

tern_status tern_classification_target(const tern_classification *c, tern_tensor *target,
                                       tern_tensor **classes, tern_tensor **counts)
{
    const bool multiclass = c->task == TERN_TASK_MULTICLASS;
    tern_tensor *labels = integers(c, "target", target), *ignored = NULL;
    if (labels && c->ignore_index != TERN_IGNORE_INDEX_UNSPECIFIED) {
        ignored = tern_eq_scalar(labels, c->ignore_index);
        labels = tern_masked_fill(labels, ignored, 0);
    }
    if (!labels)
        return tern_error_code();
    *counts = in_range(c->name, multiclass ? "label of sample" : "target", labels,
                       multiclass ? c->classes : 2);
    if (*counts && ignored)
        *counts = tern_logical_and(*counts, tern_logical_not(ignored));
    *classes = *counts ? tern_where(*counts, labels, tern_zeros_like(labels)) : NULL;
    return *classes ? TERN_OK : tern_error_code();
}

// ---- several classes ----------------------------------------------------------------------------

tern_status tern_classification_check_scores(const tern_classification *c, const tern_tensor *preds,
                                             const tern_tensor *target)
{
    tern_shape expected = tern_shape_get(target);
    const bool multiclass = c->task == TERN_TASK_MULTICLASS;
    TERN_CHECK(tern_is_floating(preds->dtype), TERN_ERR_DTYPE,
               UPDATE ": %s: preds is %s, but scores are floating", c->name,
               tern_tensor_string(preds));
    TERN_CHECK(target->rank >= 1 && expected.rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
               UPDATE ": %s: target is %s, but must have 1 to %d dimensions", c->name,
               tern_tensor_string(target), TERN_MAX_RANK - 1);
    if (multiclass) {
        for (int i = expected.rank++; i > 1; i--)
            expected.dim[i] = expected.dim[i - 1];
        expected.dim[1] = c->classes;
    }
    TERN_CHECK(tern_shape_equal(tern_shape_get(preds), expected), TERN_ERR_SHAPE,
               UPDATE ": %s: preds is %s and target %s, but preds must be %s%s", c->name,
               tern_shape_string(tern_shape_get(preds)), tern_shape_string(tern_shape_get(target)),
               tern_shape_string(expected),
               multiclass ? ""
                          : "; .num_classes says that there are "
                            "several classes");
    TERN_CHECK(c->task != TERN_TASK_MULTILABEL ||
                   (target->rank >= 2 && target->size[1] == c->classes),
               TERN_ERR_SHAPE, UPDATE ": %s: target is %s, but must be (N, %lld, ..)", c->name,
               tern_shape_string(tern_shape_get(target)), (long long)c->classes);
    return TERN_OK;
}

// The class of the largest score; the target where that is among the top_k largest.
static tern_tensor *predicted(const tern_classification *c, tern_tensor *scores,
                              tern_tensor *target)
{
    tern_tensor *classes = NULL;
    if (c->top_k == 1)
        return tern_argmax(scores, 1, false);
    if (!tern_topk(scores, c->top_k, 1, true, &classes))
        return NULL;
    tern_tensor *equal = tern_eq(classes, tern_unsqueeze(target, 1));
    tern_tensor *among = equal ? tern_any(equal, tern_axes(1), false) : NULL;
    return among ? tern_where(among, target, tern_select(classes, 1, 0)) : NULL;
}

// Classes that are given as such.
static tern_status given_classes(const tern_classification *c, tern_tensor *preds,
                                 const tern_tensor *target, tern_class_samples *out)
{
    TERN_CHECK(tern_shape_equal(tern_shape_get(preds), tern_shape_get(target)), TERN_ERR_SHAPE,
               UPDATE ": %s: preds is %s and target %s, but must be (N, %lld, ..) and (N, ..), or "
                      "of one shape",
               c->name, tern_shape_string(tern_shape_get(preds)),
               tern_shape_string(tern_shape_get(target)), (long long)c->classes);
    TERN_CHECK(!tern_is_floating(preds->dtype), TERN_ERR_DTYPE,
               UPDATE ": %s: preds is %s, of target's shape, but classes are integers", c->name,
               tern_tensor_string(preds));
    TERN_CHECK(c->top_k == 1, TERN_ERR_SHAPE,
               UPDATE ": %s: preds is %s, but top_k needs scores (N, %lld, ..)", c->name,
               tern_tensor_string(preds), (long long)c->classes);
    out->preds = tern_to_dtype(preds, TERN_INT64);
    tern_tensor *fine =
        out->preds ? in_range(c->name, "prediction of sample", out->preds, c->classes) : NULL;
    out->counts = fine ? tern_logical_and(out->counts, fine) : NULL;
    return out->counts ? TERN_OK : tern_error_code();
}

static tern_tensor *flat(tern_tensor *t)
{
    return t ? tern_reshape(t, tern_dims(-1)) : NULL;
}

tern_status tern_classification_classes(const tern_classification *c, tern_tensor *preds,
                                        tern_tensor *target, tern_class_samples *out)
{
    const bool scores = preds->rank == target->rank + 1;
    if (scores)
        TERN_TRY(tern_classification_check_scores(c, preds, target));
    TERN_TRY(tern_classification_target(c, target, &out->target, &out->counts));
    if (scores)
        out->preds = predicted(c, preds, out->target);
    else
        TERN_TRY(given_classes(c, preds, target, out));
    out->preds = flat(out->preds);
    out->target = flat(out->target);
    out->counts = flat(out->counts);
    return out->preds && out->target && out->counts ? TERN_OK : tern_error_code();
}

// ---- truths -------------------------------------------------------------------------------------

tern_tensor *tern_classification_probabilities(tern_tensor *scores, int dim, tern_tensor *counts)
{
    const bool narrow = scores->dtype == TERN_FLOAT16 || scores->dtype == TERN_BFLOAT16;
    tern_tensor *x = narrow ? tern_to_dtype(scores, TERN_FLOAT32) : scores;
    tern_tensor *inside = x ? tern_logical_and(tern_ge_scalar(x, 0), tern_le_scalar(x, 1)) : NULL;
    if (inside && counts)
        inside = tern_logical_or(inside,
                                 tern_logical_not(dim < 0 ? counts : tern_unsqueeze(counts, dim)));
    tern_tensor *all = inside ? tern_all(inside, TERN_ALL_AXES, false) : NULL;
    tern_tensor *squashed = all ? dim < 0 ? tern_sigmoid(x) : tern_softmax(x, dim) : NULL;
    return squashed ? tern_where(all, x, squashed) : NULL;
}

// (N, L, S), of a binary task (N, 1, S).
static tern_tensor *by_label(const tern_classification *c, tern_tensor *t)
{
    if (!t)
        return NULL;
    const int64_t n = tern_size(t, 0), columns = n ? t->numel / n / c->classes : 0;
    return tern_reshape(t, tern_dims(n, c->classes, columns));
}

static tern_status given_truths(const tern_classification *c, tern_tensor *preds,
                                tern_truth_samples *out)
{
    tern_tensor *given = integers(c, "preds", preds);
    tern_tensor *fine = given ? in_range(c->name, "prediction", given, 2) : NULL;
    out->preds = fine ? tern_eq_scalar(given, 1) : NULL;
    out->counts = fine ? tern_logical_and(out->counts, fine) : NULL;
    return out->preds && out->counts ? TERN_OK : tern_error_code();
}

static tern_status check_truths(const tern_classification *c, const tern_tensor *preds,
                                const tern_tensor *target)
{
    if (tern_is_floating(preds->dtype))
        return tern_classification_check_scores(c, preds, target);
    TERN_CHECK(
        target->rank >= 1 && tern_shape_equal(tern_shape_get(preds), tern_shape_get(target)) &&
            (c->task == TERN_TASK_BINARY || (target->rank >= 2 && target->size[1] == c->classes)),
        TERN_ERR_SHAPE, UPDATE ": %s: preds is %s and target %s, but both must be (N, %s..)",
        c->name, tern_shape_string(tern_shape_get(preds)),
        tern_shape_string(tern_shape_get(target)), c->task == TERN_TASK_BINARY ? "" : "L, ");
    return TERN_OK;
}

tern_status tern_classification_truths(const tern_classification *c, tern_tensor *preds,
                                       tern_tensor *target, tern_truth_samples *out)
{
    tern_tensor *truth, *probabilities;
    TERN_TRY(check_truths(c, preds, target));
    TERN_TRY(tern_classification_target(c, target, &truth, &out->counts));
    if (!tern_is_floating(preds->dtype)) {
        TERN_TRY(given_truths(c, preds, out));
    } else {
        probabilities = tern_classification_probabilities(preds, -1, NULL);
        out->preds = probabilities ? tern_gt_scalar(probabilities, c->threshold) : NULL;
    }
    out->preds = by_label(c, out->preds);
    out->target = by_label(c, tern_eq_scalar(truth, 1));
    out->counts = by_label(c, out->counts);
    return out->preds && out->target && out->counts ? TERN_OK : tern_error_code();
}
