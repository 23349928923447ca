// SPDX-License-Identifier: Apache-2.0
#include "train/log/record.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "train/log/histogram.h"
#include "train/log/picture.h"
#include "train/log/snapshot.h"

static const char op[] = "logger";

void tern_log_scratch_free(tern_log_scratch *scratch)
{
    tern_mem_free(scratch->memory, scratch->nbytes);
    tern_image_bytes_free(&scratch->png);
    *scratch = (tern_log_scratch){0};
}

static void *take_scratch(tern_log_scratch *scratch, size_t nbytes)
{
    scratch->memory = tern_mem_alloc(nbytes);
    scratch->nbytes = scratch->memory ? nbytes : 0;
    return scratch->memory;
}

// ---- numbers ------------------------------------------------------------------------------------

static tern_status make_scalar(const tern_log_entry *entry, tern_log_record *record)
{
    record->value = entry->value;
    if (!entry->has_payload)
        return TERN_OK;
    const tern_tensor *t = tern_log_on_host(entry->payload->tensors[0], TERN_FLOAT64);
    if (!t)
        return TERN_ERR_NOMEM;
    record->value = *(const double *)tern_log_host_data(t);
    return TERN_OK;
}

// float32 holds every value of the small dtypes.
static tern_dtype exact_dtype(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64 || dtype == TERN_INT64 || dtype == TERN_INT32 ? TERN_FLOAT64
                                                                               : TERN_FLOAT32;
}

static tern_status make_histogram(int64_t bins, const tern_log_payload *payload,
                                  tern_log_record *record, tern_log_scratch *scratch)
{
    const tern_tensor *values = payload->tensors[0];
    const tern_tensor *t = tern_log_on_host(values, exact_dtype(values->dtype));
    double *edges = take_scratch(scratch, (size_t)(2 * bins + 1) * sizeof *edges);
    if (!t || !edges)
        return TERN_ERR_NOMEM;
    int64_t *counts = (int64_t *)(void *)(edges + bins + 1);
    tern_log_histogram_make(&record->histogram, t->dtype, tern_log_host_data(t), t->numel, bins,
                            edges, counts);
    return TERN_OK;
}

// ---- images -------------------------------------------------------------------------------------

static tern_status make_image(const tern_log_payload *payload, tern_log_record *record,
                              tern_log_scratch *scratch)
{
    const tern_tensor *t = tern_log_on_host(payload->tensors[0], payload->tensors[0]->dtype);
    tern_pixels pixels = {0};
    if (!t)
        return TERN_ERR_NOMEM;
    // it is on the host and contiguous: nothing of it is changed
    tern_tensor *image = (tern_tensor *)(uintptr_t)t;
    tern_status status = tern_pixels_from_tensor(&pixels, op, image, TERN_CHW);
    if (!status)
        status = tern_png_encode(op, &pixels, &scratch->png);
    record->image = (tern_log_image){pixels.height,     pixels.width,        pixels.channels,
                                     scratch->png.data, scratch->png.nbytes, payload->bytes};
    tern_pixels_free(&pixels);
    return status;
}

// ---- classifiers --------------------------------------------------------------------------------

static tern_status round_counts(int64_t *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        TERN_CHECK(from[i] > -0.5 && from[i] < 0x1p62, TERN_ERR_NUMERIC,
                   "%s: element %lld of the confusion matrix is %g, no count", op, (long long)i,
                   from[i]);
        to[i] = (int64_t)llround(from[i]);
    }
    return TERN_OK;
}

static tern_status make_matrix(const tern_log_payload *payload, tern_log_record *record,
                               tern_log_scratch *scratch)
{
    const tern_tensor *t = tern_log_on_host(payload->tensors[0], TERN_FLOAT64);
    if (!t)
        return TERN_ERR_NOMEM;
    int64_t *values = take_scratch(scratch, (size_t)t->numel * sizeof *values);
    if (!values)
        return TERN_ERR_NOMEM;
    TERN_TRY(round_counts(values, tern_log_host_data(t), t->numel));
    record->matrix = (tern_log_matrix){.size = t->size[0], .values = values};
    record->matrix.class_names = payload->count ? payload->class_names : NULL;
    TERN_TRY(tern_log_matrix_draw(op, &record->matrix, &scratch->png));
    record->matrix.png = scratch->png.data;
    record->matrix.nbytes = scratch->png.nbytes;
    return TERN_OK;
}

// Counts by the greatest threshold that a prediction reaches, i / (n - 1).
static tern_status count_predictions(double *positives, double *negatives, int64_t n,
                                     const double *labels, const double *predictions, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        TERN_CHECK(predictions[i] >= 0 && predictions[i] <= 1, TERN_ERR_NUMERIC,
                   "%s: prediction %lld is %g, not within 0 and 1", op, (long long)i,
                   predictions[i]);
        TERN_CHECK(labels[i] == 0 || labels[i] == 1, TERN_ERR_NUMERIC,
                   "%s: label %lld is %g, not 0 or 1", op, (long long)i, labels[i]);
        const int64_t at = (int64_t)floor(predictions[i] * (double)(n - 1));
        positives[at] += labels[i];
        negatives[at] += 1 - labels[i];
    }
    return TERN_OK;
}

static void fill_curve(double *rows, int64_t n)
{
    double *tp = rows, *fp = rows + n, *tn = rows + 2 * n, *fn = rows + 3 * n;
    double *precision = rows + 4 * n, *recall = rows + 5 * n;
    for (int64_t i = n - 2; i >= 0; i--) {
        tp[i] += tp[i + 1];
        fp[i] += fp[i + 1];
    }
    for (int64_t i = 0; i < n; i++) {
        tn[i] = fp[0] - fp[i];
        fn[i] = tp[0] - tp[i];
        precision[i] = tp[i] / fmax(1e-7, tp[i] + fp[i]);
        recall[i] = tp[i] / fmax(1e-7, tp[i] + fn[i]);
    }
}

static tern_status make_curve(const tern_log_payload *payload, tern_log_record *record,
                              tern_log_scratch *scratch)
{
    const int64_t n = payload->count;
    const tern_tensor *labels = tern_log_on_host(payload->tensors[0], TERN_FLOAT64);
    const tern_tensor *predictions = tern_log_on_host(payload->tensors[1], TERN_FLOAT64);
    double *rows = take_scratch(scratch, (size_t)(TERN_PR_ROWS * n) * sizeof *rows);
    if (!labels || !predictions || !rows)
        return TERN_ERR_NOMEM;
    TERN_TRY(count_predictions(rows, rows + n, n, tern_log_host_data(labels),
                               tern_log_host_data(predictions), labels->numel));
    fill_curve(rows, n);
    record->pr_curve = (tern_log_pr_curve){n, rows};
    return TERN_OK;
}

// ---- all ----------------------------------------------------------------------------------------

static tern_status make(int64_t bins, const tern_log_entry *entry, tern_log_record *record,
                        tern_log_scratch *scratch)
{
    switch (entry->kind) {
    case TERN_ENTRY_NONE:
    case TERN_ENTRY_PAGE:
        break;
    case TERN_ENTRY_SCALAR:
        return make_scalar(entry, record);
    case TERN_ENTRY_HISTOGRAM:
        return make_histogram(bins, entry->payload, record, scratch);
    case TERN_ENTRY_IMAGE:
        return make_image(entry->payload, record, scratch);
    case TERN_ENTRY_TEXT:
        record->text = entry->payload->bytes;
        break;
    case TERN_ENTRY_MATRIX:
        return make_matrix(entry->payload, record, scratch);
    case TERN_ENTRY_PR_CURVE:
        return make_curve(entry->payload, record, scratch);
    case TERN_ENTRY_SETTINGS:
        record->settings = (tern_log_settings){entry->payload->settings, entry->payload->count};
        break;
    }
    return TERN_OK;
}

bool tern_log_record_make(int64_t bins, const tern_log_entry *entry, tern_log_record *record,
                          tern_log_scratch *scratch)
{
    const tern_scope scope = tern_scope_open();
    *record = (tern_log_record){.kind = entry->kind, .tag = entry->tag, .time = entry->time};
    record->step = entry->step;
    const bool made = scope && !make(bins, entry, record, scratch);
    tern_scope_close(scope);
    return made;
}
