// SPDX-License-Identifier: Apache-2.0
// Records as TensorBoard's events. The numbers of fields are those of its event.proto,
// summary.proto, histogram.proto and tensor.proto, and of its plugins' plugin_data.proto.
#include "train/log/events.h"

#include <stdio.h>
#include <string.h>
#include "train/log/event_file.h"
#include "train/log/picture.h"
#include "train/log/protobuf.h"

enum { EVENT_SUMMARY = 5, SUMMARY_VALUE = 1 };
enum {
    VALUE_TAG = 1,
    VALUE_SIMPLE = 2,
    VALUE_IMAGE = 4,
    VALUE_HISTOGRAM = 5,
    VALUE_TENSOR = 8,
    VALUE_METADATA = 9
};
enum { TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_FLOATS = 5, TENSOR_STRINGS = 8 };
enum { DT_FLOAT = 1, DT_STRING = 7 };

// ---- values -------------------------------------------------------------------------------------

// An event of one value, whose fields behind the tag are added between the two.
typedef struct value {
    int64_t event, summary, value;
} value;

static value begin_value(tern_log_bytes *to, const tern_log_record *record, const char *suffix)
{
    value v;
    v.event = tern_event_begin(to, record->time, record->step);
    v.summary = tern_pb_begin(to, EVENT_SUMMARY);
    v.value = tern_pb_begin(to, SUMMARY_VALUE);
    const int64_t tag = tern_pb_begin(to, VALUE_TAG);
    if (record->tag)
        tern_log_add_text(to, record->tag);
    tern_log_add_text(to, suffix);
    tern_pb_end(to, tag);
    return v;
}

static void end_value(tern_log_bytes *to, value v)
{
    tern_pb_end(to, v.value);
    tern_pb_end(to, v.summary);
    tern_event_end(to, v.event);
}

// The plugin of that name shows the value; its content is added between the two.
typedef struct plugin {
    int64_t metadata, data, content;
} plugin;

static plugin begin_plugin(tern_log_bytes *to, const char *name)
{
    enum { METADATA_PLUGIN = 1, PLUGIN_NAME = 1, PLUGIN_CONTENT = 2 };
    plugin p;
    p.metadata = tern_pb_begin(to, VALUE_METADATA);
    p.data = tern_pb_begin(to, METADATA_PLUGIN);
    tern_pb_add_text(to, PLUGIN_NAME, name);
    p.content = tern_pb_begin(to, PLUGIN_CONTENT);
    return p;
}

static void end_plugin(tern_log_bytes *to, plugin p)
{
    tern_pb_end(to, p.content);
    tern_pb_end(to, p.data);
    tern_pb_end(to, p.metadata);
}

static void add_size(tern_log_bytes *to, int64_t size)
{
    enum { SHAPE_DIM = 2, DIM_SIZE = 1 };
    const int64_t dim = tern_pb_begin(to, SHAPE_DIM);
    tern_pb_add_int(to, DIM_SIZE, size);
    tern_pb_end(to, dim);
}

// ---- each kind ----------------------------------------------------------------------------------

static void add_scalar(tern_log_bytes *to, const tern_log_record *record)
{
    const value v = begin_value(to, record, "");
    tern_pb_add_float(to, VALUE_SIMPLE, (float)record->value);
    end_value(to, v);
}

static void add_text(tern_log_bytes *to, const tern_log_record *record, const void *text,
                     int64_t count)
{
    const value v = begin_value(to, record, "/text_summary");
    end_plugin(to, begin_plugin(to, "text"));
    const int64_t tensor = tern_pb_begin(to, VALUE_TENSOR);
    tern_pb_add_int(to, TENSOR_DTYPE, DT_STRING);
    const int64_t shape = tern_pb_begin(to, TENSOR_SHAPE);
    add_size(to, 1);
    tern_pb_end(to, shape);
    tern_pb_add_bytes(to, TENSOR_STRINGS, text, count);
    tern_pb_end(to, tensor);
    end_value(to, v);
}

static void add_image(tern_log_bytes *to, const tern_log_record *record,
                      const tern_log_image *image)
{
    enum { IMAGE_HEIGHT = 1, IMAGE_WIDTH = 2, IMAGE_COLORS = 3, IMAGE_PNG = 4 };
    const value v = begin_value(to, record, "");
    const int64_t field = tern_pb_begin(to, VALUE_IMAGE);
    tern_pb_add_int(to, IMAGE_HEIGHT, image->height);
    tern_pb_add_int(to, IMAGE_WIDTH, image->width);
    tern_pb_add_int(to, IMAGE_COLORS, image->channels);
    tern_pb_add_bytes(to, IMAGE_PNG, image->png, image->nbytes);
    tern_pb_end(to, field);
    end_value(to, v);
}

// Limits are right edges: an empty bin in front says where the first one begins.
static void add_bins(tern_log_bytes *to, const tern_log_histogram *h)
{
    enum { LIMITS = 6, COUNTS = 7 };
    const int64_t limits = tern_pb_begin(to, LIMITS);
    tern_pb_add_raw_double(to, h->left);
    for (int64_t i = 0; i < h->bins; i++)
        tern_pb_add_raw_double(to, h->limits[i]);
    tern_pb_end(to, limits);
    const int64_t counts = tern_pb_begin(to, COUNTS);
    tern_pb_add_raw_double(to, 0);
    for (int64_t i = 0; i < h->bins; i++)
        tern_pb_add_raw_double(to, (double)h->counts[i]);
    tern_pb_end(to, counts);
}

// Elements that are in no bin are told as a text.
static void add_left_out(tern_log_bytes *to, const tern_log_record *record)
{
    char text[100];
    const int length = snprintf(text, sizeof text, "%lld NaN and %lld infinite elements",
                                (long long)record->histogram.nan, (long long)record->histogram.inf);
    add_text(to, record, text, length);
}

static void add_histogram(tern_log_bytes *to, const tern_log_record *record)
{
    enum { MIN = 1, MAX = 2, NUM = 3, SUM = 4, SUM_SQUARES = 5 };
    const tern_log_histogram *h = &record->histogram;
    if (h->nan + h->inf > 0)
        add_left_out(to, record);
    if (h->bins == 0)
        return;
    const value v = begin_value(to, record, "");
    const int64_t field = tern_pb_begin(to, VALUE_HISTOGRAM);
    tern_pb_add_double(to, MIN, h->min);
    tern_pb_add_double(to, MAX, h->max);
    tern_pb_add_double(to, NUM, (double)h->count);
    tern_pb_add_double(to, SUM, h->sum);
    tern_pb_add_double(to, SUM_SQUARES, h->sum_squares);
    add_bins(to, h);
    tern_pb_end(to, field);
    end_value(to, v);
}

static void add_matrix(tern_log_bytes *to, const tern_log_record *record)
{
    const tern_log_matrix *matrix = &record->matrix;
    const int64_t side = tern_log_matrix_side(matrix->size);
    tern_log_bytes table = {0};
    add_image(to, record, &(tern_log_image){side, side, 3, matrix->png, matrix->nbytes, ""});
    if (matrix->size > TERN_LOG_TABLE_CLASSES)
        return;
    tern_log_matrix_table(&table, matrix);
    if (table.failed)
        to->failed = true;
    else
        add_text(to, record, table.data, table.count);
    tern_log_bytes_free(&table);
}

static void add_pr_curve(tern_log_bytes *to, const tern_log_record *record)
{
    enum { CURVE_THRESHOLDS = 2 };
    const tern_log_pr_curve *curve = &record->pr_curve;
    const value v = begin_value(to, record, "");
    const plugin p = begin_plugin(to, "pr_curves");
    tern_pb_add_int(to, CURVE_THRESHOLDS, curve->num_thresholds);
    end_plugin(to, p);
    const int64_t tensor = tern_pb_begin(to, VALUE_TENSOR);
    tern_pb_add_int(to, TENSOR_DTYPE, DT_FLOAT);
    const int64_t shape = tern_pb_begin(to, TENSOR_SHAPE);
    add_size(to, TERN_PR_ROWS);
    add_size(to, curve->num_thresholds);
    tern_pb_end(to, shape);
    const int64_t floats = tern_pb_begin(to, TENSOR_FLOATS);
    for (int64_t i = 0; i < TERN_PR_ROWS * curve->num_thresholds; i++)
        tern_pb_add_raw_float(to, (float)curve->rows[i]);
    tern_pb_end(to, floats);
    tern_pb_end(to, tensor);
    end_value(to, v);
}

// ---- hyper-parameters ---------------------------------------------------------------------------

// A google.protobuf.Value.
static void add_setting_value(tern_log_bytes *to, int field, const tern_setting *setting)
{
    enum { NUMBER = 2, STRING = 3, BOOL = 4 };
    const int64_t begun = tern_pb_begin(to, field);
    switch (setting->type) {
    case TERN_SETTING_UNSPECIFIED: // refused before
        break;
    case TERN_SETTING_INT:
        tern_pb_add_double(to, NUMBER, (double)setting->integer);
        break;
    case TERN_SETTING_DOUBLE:
        tern_pb_add_double(to, NUMBER, setting->number);
        break;
    case TERN_SETTING_BOOL:
        tern_pb_add_int(to, BOOL, setting->truth);
        break;
    case TERN_SETTING_TEXT:
        tern_pb_add_text(to, STRING, setting->text);
        break;
    }
    tern_pb_end(to, begun);
}

// TensorBoard finds out by itself which settings differ between runs, and takes all scalars for
// metrics, where no run says what its experiment is.
static void add_settings(tern_log_bytes *to, const tern_log_record *record)
{
    enum { HPARAMS_START = 3, START_HPARAMS = 1, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
    const value v = begin_value(to, record, "_hparams_/session_start_info");
    const plugin p = begin_plugin(to, "hparams");
    const int64_t start = tern_pb_begin(to, HPARAMS_START);
    for (int64_t i = 0; i < record->settings.count; i++) {
        const int64_t entry = tern_pb_begin(to, START_HPARAMS);
        tern_pb_add_text(to, ENTRY_KEY, record->settings.at[i].name);
        add_setting_value(to, ENTRY_VALUE, &record->settings.at[i]);
        tern_pb_end(to, entry);
    }
    tern_pb_end(to, start);
    end_plugin(to, p);
    end_value(to, v);
}

void tern_log_events_end(tern_log_bytes *to, double time, tern_run_status status)
{
    enum { HPARAMS_END = 4, END_STATUS = 1, STATUS_SUCCESS = 1, STATUS_FAILURE = 2 };
    const tern_log_record record = {.kind = TERN_ENTRY_SETTINGS, .time = time};
    const value v = begin_value(to, &record, "_hparams_/session_end_info");
    const plugin p = begin_plugin(to, "hparams");
    const int64_t end = tern_pb_begin(to, HPARAMS_END);
    if (status == TERN_RUN_FINISHED || status == TERN_RUN_FAILED) // else it is unknown: 0
        tern_pb_add_int(to, END_STATUS,
                        status == TERN_RUN_FINISHED ? STATUS_SUCCESS : STATUS_FAILURE);
    tern_pb_end(to, end);
    end_plugin(to, p);
    end_value(to, v);
}

void tern_log_events(tern_log_bytes *to, const tern_log_record *record)
{
    switch (record->kind) {
    case TERN_ENTRY_NONE:
    case TERN_ENTRY_PAGE:
        break;
    case TERN_ENTRY_SCALAR:
        add_scalar(to, record);
        break;
    case TERN_ENTRY_HISTOGRAM:
        add_histogram(to, record);
        break;
    case TERN_ENTRY_IMAGE:
        add_image(to, record, &record->image);
        break;
    case TERN_ENTRY_TEXT:
        add_text(to, record, record->text, (int64_t)strlen(record->text));
        break;
    case TERN_ENTRY_MATRIX:
        add_matrix(to, record);
        break;
    case TERN_ENTRY_PR_CURVE:
        add_pr_curve(to, record);
        break;
    case TERN_ENTRY_SETTINGS:
        add_settings(to, record);
        break;
    }
}
