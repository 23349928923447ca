// SPDX-License-Identifier: Apache-2.0
// What is logged of tensors.
#include <string.h>
#include <tern/autograd.h>
#include "image/image.h"
#include "io/json.h"
#include "tensor/factory.h"
#include "train/log/queue.h"
#include "train/log/ring.h"
#include "train/log/snapshot.h"

#define MAX_CLASSES 1000

static tern_status push_copy(const char *op, tern_logger *logger, tern_log_kind kind, int64_t step,
                             const tern_tensor *t, const char *tag)
{
    tern_log_payload *payload;
    TERN_TRY(tern_log_snapshot(logger, t, NULL, 0, &payload));
    return tern_logger_push_payload(op, logger, kind, step, payload, tag);
}

tern_status tern_logger_add_tensor_scalar(tern_logger *logger, const char *tag, tern_tensor *value,
                                          int64_t step)
{
    static const char op[] = "logger_add_tensor_scalar";
    tern_log_entry entry = {.kind = TERN_ENTRY_SCALAR, .step = step};
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, logger, tag, TERN_ENTRY_SCALAR, step));
    TERN_TRY(tern_log_check_tensor(op, "value", value));
    TERN_CHECK(value->numel == 1, TERN_ERR_SHAPE, "%s: %s has %lld elements, not one", op,
               tern_tensor_string(value), (long long)value->numel);
    if (tern_dev(value).type != TERN_CPU)
        return push_copy(op, logger, TERN_ENTRY_SCALAR, step, value, tag);
    TERN_TRY(tern_download_as(value, TERN_FLOAT64, &entry.value));
    return tern_logger_push(op, logger, entry, tag);
}

// ---- histograms ---------------------------------------------------------------------------------

tern_status tern_logger_add_histogram(tern_logger *logger, const char *tag, tern_tensor *values,
                                      int64_t step)
{
    static const char op[] = "logger_add_histogram";
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, logger, tag, TERN_ENTRY_HISTOGRAM, step));
    TERN_TRY(tern_log_check_tensor(op, "values", values));
    return push_copy(op, logger, TERN_ENTRY_HISTOGRAM, step, values, tag);
}

typedef struct each_parameter {
    tern_logger *logger;
    int64_t step;
} each_parameter;

static const char module_op[] = "logger_add_module_histograms";

static tern_status add_under(const each_parameter *each, const char *folder, const char *name,
                             const tern_tensor *t)
{
    char tag[TERN_NAME_SIZE + 16];
    (void)snprintf(tag, sizeof tag, "%s/%s", folder, name);
    return push_copy(module_op, each->logger, TERN_ENTRY_HISTOGRAM, each->step, t, tag);
}

// A gradient that a failed backward left is not there.
static tern_status add_parameter(const tern_module_entry *entry, void *user)
{
    const tern_tensor *t = entry->tensor;
    TERN_TRY(tern_log_check_tensor(module_op, "module", t));
    TERN_TRY(add_under(user, "weights", entry->name, t));
    return t->grad_state == TERN_GRAD_PRESENT ? add_under(user, "gradients", entry->name, t->grad)
                                              : TERN_OK;
}

tern_status tern_logger_add_module_histograms(tern_logger *logger, tern_module *module,
                                              int64_t step)
{
    each_parameter each = {logger, step};
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check(module_op, logger));
    TERN_CHECK(step >= 0, TERN_ERR_ARG, "%s: step is %lld, not 0 or more", module_op,
               (long long)step);
    if (!module)
        return tern_null_error(module_op, "module");
    return tern_module_each_parameter(module, add_parameter, &each);
}

// ---- images -------------------------------------------------------------------------------------

tern_status tern_logger_add_image_with(const tern_logger_add_image_options *o)
{
    static const char op[] = "logger_add_image";
    tern_log_payload *payload;
    if (!o)
        return tern_null_error(op, "options");
    if (!o->logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, o->logger, o->tag, TERN_ENTRY_IMAGE, o->step));
    TERN_TRY(tern_log_check_tensor(op, "image", o->image));
    TERN_TRY(tern_image_check_form(op, o->image, TERN_CHW));
    const size_t length = o->caption ? strlen(o->caption) : 0;
    TERN_CHECK(length == 0 || tern_utf8_valid(o->caption, length), TERN_ERR_ARG,
               "%s: .caption is not UTF-8", op);
    TERN_TRY(tern_log_snapshot(o->logger, o->image, NULL, length + 1, &payload));
    if (payload)
        memcpy(payload->bytes, length > 0 ? o->caption : "", length + 1);
    return tern_logger_push_payload(op, o->logger, TERN_ENTRY_IMAGE, o->step, payload, o->tag);
}

// ---- confusion matrices -------------------------------------------------------------------------

static tern_status check_matrix(const char *op, const tern_tensor *matrix)
{
    TERN_CHECK(matrix->rank == 2 && matrix->size[0] == matrix->size[1] && matrix->size[0] >= 1 &&
                   matrix->size[0] <= MAX_CLASSES,
               TERN_ERR_SHAPE, "%s: the matrix is %s, but must be (C, C), C from 1 to %d", op,
               tern_shape_string(tern_shape_get(matrix)), MAX_CLASSES);
    return TERN_OK;
}

// Bytes of the names, pointers included.
static tern_status measure_names(const char *op, const char *const *names, int64_t count,
                                 size_t *nbytes)
{
    *nbytes = 0;
    for (int64_t i = 0; names && i < count; i++) {
        if (!names[i])
            return tern_null_error(op, "a name of class_names");
        const size_t length = strlen(names[i]);
        TERN_CHECK(tern_utf8_valid(names[i], length), TERN_ERR_ARG,
                   "%s: the name of class %lld is not UTF-8", op, (long long)i);
        *nbytes += sizeof *names + length + 1;
    }
    return TERN_OK;
}

static void keep_names(tern_log_payload *payload, const char *const *names, int64_t count)
{
    const char **kept = (const char **)(void *)payload->bytes;
    char *text = payload->bytes + (size_t)count * sizeof *kept;
    for (int64_t i = 0; i < count; i++) {
        kept[i] = text;
        text = stpcpy(text, names[i]) + 1;
    }
    payload->class_names = kept;
    payload->count = count;
}

tern_status tern_logger_add_confusion_matrix(tern_logger *logger, const char *tag,
                                             tern_tensor *matrix, const char *const *class_names,
                                             int64_t step)
{
    static const char op[] = "logger_add_confusion_matrix";
    tern_log_payload *payload;
    size_t nbytes;
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, logger, tag, TERN_ENTRY_MATRIX, step));
    TERN_TRY(tern_log_check_tensor(op, "matrix", matrix));
    TERN_TRY(check_matrix(op, matrix));
    TERN_TRY(measure_names(op, class_names, matrix->size[0], &nbytes));
    TERN_TRY(tern_log_snapshot(logger, matrix, NULL, nbytes, &payload));
    if (payload && class_names)
        keep_names(payload, class_names, matrix->size[0]);
    return tern_logger_push_payload(op, logger, TERN_ENTRY_MATRIX, step, payload, tag);
}

// ---- precision-recall curves --------------------------------------------------------------------

tern_status tern_logger_add_pr_curve_with(const tern_logger_add_pr_curve_options *o)
{
    static const char op[] = "logger_add_pr_curve";
    tern_log_payload *payload;
    if (!o)
        return tern_null_error(op, "options");
    if (!o->logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, o->logger, o->tag, TERN_ENTRY_PR_CURVE, o->step));
    TERN_TRY(tern_log_check_tensor(op, "labels", o->labels));
    TERN_TRY(tern_log_check_tensor(op, "predictions", o->predictions));
    TERN_CHECK(o->labels->numel == o->predictions->numel, TERN_ERR_SHAPE,
               "%s: labels are %s, predictions %s", op,
               tern_shape_string(tern_shape_get(o->labels)),
               tern_shape_string(tern_shape_get(o->predictions)));
    TERN_CHECK(o->num_thresholds >= 2 && o->num_thresholds <= 127, TERN_ERR_ARG,
               "%s: .num_thresholds is %lld, not 2 to 127", op, (long long)o->num_thresholds);
    TERN_TRY(tern_log_snapshot(o->logger, o->labels, o->predictions, 0, &payload));
    if (payload)
        payload->count = o->num_thresholds;
    return tern_logger_push_payload(op, o->logger, TERN_ENTRY_PR_CURVE, o->step, payload, o->tag);
}
