// SPDX-License-Identifier: Apache-2.0
#include "train/log/json_lines.h"

#include <math.h>
#include <string.h>
#include "train/log/json.h"

static void add_doubles(tern_log_bytes *to, const char *name, const double *at, int64_t count)
{
    tern_json_add_name(to, name);
    for (int64_t i = 0; i < count; i++) {
        tern_log_add_text(to, i ? "," : "[");
        tern_json_add_double(to, at[i]);
    }
    tern_log_add_text(to, count ? "]" : "[]");
}

static void add_integers(tern_log_bytes *to, const char *name, const int64_t *at, int64_t count)
{
    tern_json_add_name(to, name);
    for (int64_t i = 0; i < count; i++) {
        tern_log_add_text(to, i ? "," : "[");
        tern_log_add_integer(to, at[i]);
    }
    tern_log_add_text(to, count ? "]" : "[]");
}

static void add_integer(tern_log_bytes *to, const char *name, int64_t value)
{
    tern_json_add_name(to, name);
    tern_log_add_integer(to, value);
}

static void add_double(tern_log_bytes *to, const char *name, double value)
{
    tern_json_add_name(to, name);
    tern_json_add_double(to, value);
}

// ---- values of each kind ------------------------------------------------------------------------

static void add_scalar(tern_log_bytes *to, double value)
{
    add_double(to, "value", value);
    if (isfinite(value))
        return;
    tern_json_add_name(to, "text");
    tern_json_add_string(to, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void add_histogram(tern_log_bytes *to, const tern_log_histogram *h)
{
    const bool any = h->count > 0;
    add_double(to, "min", any ? h->min : NAN);
    add_double(to, "max", any ? h->max : NAN);
    add_integer(to, "count", h->count);
    add_double(to, "sum", h->sum);
    add_double(to, "sum_squares", h->sum_squares);
    add_integer(to, "nan", h->nan);
    add_integer(to, "inf", h->inf);
    add_doubles(to, "limits", h->limits, h->bins);
    add_integers(to, "counts", h->counts, h->bins);
}

// RFC 4648.
static void add_base64(tern_log_bytes *to, const uint8_t *bytes, int64_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int64_t i = 0; i < count; i += 3) {
        const int64_t left = count - i;
        const unsigned word = (unsigned)bytes[i] << 16 |
                              (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        const char four[] = {digits[word >> 18], digits[word >> 12 & 63],
                             left > 1 ? digits[word >> 6 & 63] : '=',
                             left > 2 ? digits[word & 63] : '='};
        tern_log_add(to, four, sizeof four);
    }
}

static void add_image(tern_log_bytes *to, const tern_log_image *image)
{
    add_integer(to, "height", image->height);
    add_integer(to, "width", image->width);
    tern_json_add_name(to, "png");
    tern_log_add_text(to, "\"");
    add_base64(to, image->png, image->nbytes);
    tern_log_add_text(to, "\"");
    if (!image->caption[0])
        return;
    tern_json_add_name(to, "text");
    tern_json_add_string(to, image->caption);
}

static void add_matrix(tern_log_bytes *to, const tern_log_matrix *matrix)
{
    add_integer(to, "rows", matrix->size);
    add_integer(to, "columns", matrix->size);
    add_integers(to, "values", matrix->values, matrix->size * matrix->size);
    tern_json_add_name(to, "names");
    for (int64_t i = 0; matrix->class_names && i < matrix->size; i++) {
        tern_log_add_text(to, i ? "," : "[");
        tern_json_add_string(to, matrix->class_names[i]);
    }
    tern_log_add_text(to, matrix->class_names ? "]" : "null");
}

static void add_pr_curve(tern_log_bytes *to, const tern_log_pr_curve *curve)
{
    static const char *const names[TERN_PR_ROWS] = {
        [TERN_PR_TRUE_POSITIVES] = "true_positives", [TERN_PR_FALSE_POSITIVES] = "false_positives",
        [TERN_PR_TRUE_NEGATIVES] = "true_negatives", [TERN_PR_FALSE_NEGATIVES] = "false_negatives",
        [TERN_PR_PRECISION] = "precision",           [TERN_PR_RECALL] = "recall",
    };
    const int64_t n = curve->num_thresholds;
    tern_json_add_name(to, "thresholds");
    for (int64_t i = 0; i < n; i++) {
        tern_log_add_text(to, i ? "," : "[");
        tern_json_add_double(to, (double)i / (double)(n - 1));
    }
    tern_log_add_text(to, "]");
    for (int row = 0; row < TERN_PR_ROWS; row++)
        add_doubles(to, names[row], curve->rows + row * n, n);
}

static void add_setting(tern_log_bytes *to, const tern_setting *setting)
{
    switch (setting->type) {
    case TERN_SETTING_UNSPECIFIED: // refused before
        break;
    case TERN_SETTING_INT:
        tern_log_add_integer(to, setting->integer);
        break;
    case TERN_SETTING_DOUBLE:
        tern_json_add_double(to, setting->number);
        break;
    case TERN_SETTING_BOOL:
        tern_log_add_text(to, setting->truth ? "true" : "false");
        break;
    case TERN_SETTING_TEXT:
        tern_json_add_string(to, setting->text);
        break;
    }
}

static void add_settings(tern_log_bytes *to, const tern_log_settings *settings)
{
    tern_json_add_name(to, "settings");
    for (int64_t i = 0; i < settings->count; i++) {
        tern_log_add_text(to, i ? "," : "{");
        tern_json_add_string(to, settings->at[i].name);
        tern_log_add_text(to, ":");
        add_setting(to, &settings->at[i]);
    }
    tern_log_add_text(to, settings->count ? "}" : "{}");
}

// ---- lines --------------------------------------------------------------------------------------

const char *tern_log_kind_name(tern_log_kind kind)
{
    switch (kind) {
    case TERN_ENTRY_NONE:
    case TERN_ENTRY_PAGE:
        break;
    case TERN_ENTRY_SCALAR:
        return "scalar";
    case TERN_ENTRY_HISTOGRAM:
        return "histogram";
    case TERN_ENTRY_IMAGE:
        return "image";
    case TERN_ENTRY_TEXT:
        return "text";
    case TERN_ENTRY_MATRIX:
        return "matrix";
    case TERN_ENTRY_PR_CURVE:
        return "pr_curve";
    case TERN_ENTRY_SETTINGS:
        return "settings";
    }
    return NULL;
}

static void add_value(tern_log_bytes *to, const tern_log_record *record)
{
    switch (record->kind) {
    case TERN_ENTRY_NONE:
    case TERN_ENTRY_PAGE:
        break;
    case TERN_ENTRY_SCALAR:
        add_scalar(to, record->value);
        break;
    case TERN_ENTRY_HISTOGRAM:
        add_histogram(to, &record->histogram);
        break;
    case TERN_ENTRY_IMAGE:
        add_image(to, &record->image);
        break;
    case TERN_ENTRY_TEXT:
        tern_json_add_name(to, "text");
        tern_json_add_string(to, record->text);
        break;
    case TERN_ENTRY_MATRIX:
        add_matrix(to, &record->matrix);
        break;
    case TERN_ENTRY_PR_CURVE:
        add_pr_curve(to, &record->pr_curve);
        break;
    case TERN_ENTRY_SETTINGS:
        add_settings(to, &record->settings);
        break;
    }
}

void tern_log_json(tern_log_bytes *to, const tern_log_record *record)
{
    const char *name = tern_log_kind_name(record->kind);
    if (!name)
        return;
    tern_log_add_text(to, "{\"kind\":\"");
    tern_log_add_text(to, name);
    tern_log_add_text(to, "\"");
    if (record->kind < TERN_ENTRY_SETTINGS)
        add_integer(to, "step", record->step);
    tern_json_add_name(to, "time");
    tern_log_add_time(to, record->time);
    if (record->tag) {
        tern_json_add_name(to, "tag");
        tern_json_add_string(to, record->tag);
    }
    add_value(to, record);
    tern_log_add_text(to, "}\n");
}
