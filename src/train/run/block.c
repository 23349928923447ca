// SPDX-License-Identifier: Apache-2.0
// Each line becomes one block, which the next one of its tag replaces.
#include "train/run/block.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

// More classes than this are no matrix to look at.
#define MAX_CLASSES 4096

// A block with `nbytes` behind it, which *data points to. NULL raises TERN_ERR_NOMEM.
static tern_run_block *make(const tern_run_record *record, size_t nbytes, void *data)
{
    const size_t all = sizeof(tern_run_block) + nbytes;
    tern_run_block *block = tern_mem_alloc(all);
    if (!block)
        return NULL;
    block->step = record->step;
    block->nbytes = all;
    *(void **)data = block + 1;
    return block;
}

// The last one of its kind is all that is kept, but of histograms.
static tern_status keep(tern_run *run, tern_run_kind kind, const tern_run_record *record,
                        tern_run_block *block)
{
    tern_run_entry *entry = block ? tern_run_entry_make(run, kind, record->tag) : NULL;
    if (!entry) {
        tern_mem_free(block, block ? block->nbytes : 0);
        return TERN_ERR_NOMEM;
    }
    if (kind != TERN_RUN_HISTOGRAM && entry->blocks_count > 0) {
        tern_mem_free(entry->blocks[0], entry->blocks[0]->nbytes);
        entry->blocks_count = 0;
    }
    tern_run_add_block(entry, block);
    return TERN_OK;
}

// ---- arrays of numbers --------------------------------------------------------------------------

// How many elements the array has at most; 0 where it is none.
static size_t elements(const tern_run_record *record, const char *key)
{
    const tern_run_member *m = tern_run_member_find(record, key);
    size_t count = 1;
    if (!m || m->type != '[')
        return 0;
    for (const char *at = m->begin; (at = memchr(at, ',', (size_t)(m->end - at))); at++)
        count++;
    return count;
}

// Finite numbers; *count is how many there are.
static tern_status numbers(const tern_run_record *record, const char *key, double *values,
                           int64_t *count)
{
    const tern_run_member *m = tern_run_member_find(record, key);
    bool first = true, another;
    if (!m || m->type != '[')
        return TERN_ERR_FORMAT;
    tern_json json = tern_run_json_of(m);
    TERN_TRY(tern_json_expect(&json, '['));
    for (*count = 0;; ++*count) {
        TERN_TRY(tern_json_next(&json, ']', &first, &another));
        if (!another)
            return TERN_OK;
        TERN_TRY(tern_json_number(&json, &values[*count]));
        if (!isfinite(values[*count]))
            return TERN_ERR_FORMAT;
    }
}

// ---- histograms ---------------------------------------------------------------------------------

static tern_status read_histogram(const tern_run_record *record, tern_run_buckets *b,
                                  double *limits, double *counts)
{
    int64_t count;
    TERN_TRY(numbers(record, "limits", limits, &b->buckets));
    TERN_TRY(numbers(record, "counts", counts, &count));
    if (count != b->buckets || !tern_run_number_member(record, "min", &b->min) ||
        !tern_run_number_member(record, "max", &b->max) ||
        !tern_run_number_member(record, "count", &b->count))
        return TERN_ERR_FORMAT;
    for (int64_t i = 0; i < count; i++)
        if (counts[i] < 0 || (i > 0 && limits[i] < limits[i - 1]))
            return TERN_ERR_FORMAT;
    if (!tern_run_integer_member(record, "nan", &b->nan))
        b->nan = 0;
    if (!tern_run_integer_member(record, "inf", &b->inf))
        b->inf = 0;
    b->step = record->step;
    b->limits = limits;
    b->counts = counts;
    return TERN_OK;
}

tern_status tern_run_take_histogram(tern_run *run, const tern_run_record *record)
{
    double *limits;
    const size_t left = elements(record, "limits"), right = elements(record, "counts");
    if (left == 0 || right == 0)
        return TERN_ERR_FORMAT;
    tern_run_block *block = make(record, (left + right) * sizeof *limits, &limits);
    if (!block)
        return TERN_ERR_NOMEM;
    const tern_status status = read_histogram(record, &block->is.buckets, limits, limits + left);
    if (!status)
        return keep(run, TERN_RUN_HISTOGRAM, record, block);
    tern_mem_free(block, block->nbytes);
    return status;
}

// ---- images and texts ---------------------------------------------------------------------------

// The beginning of every PNG file, and the letters of base64 alone: it goes into a page.
static bool is_png(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789+/";
    const size_t length = strlen(text), body = strspn(text, letters);
    return strncmp(text, "iVBORw0KGgo", 11) == 0 && length % 4 == 0 && length - body <= 2 &&
           strspn(text + body, "=") == length - body;
}

tern_status tern_run_take_image(tern_run *run, const tern_run_record *record)
{
    char *data;
    int64_t height, width;
    const char *png = tern_run_text_member(record, "png");
    const char *text = tern_run_text_member(record, "text");
    if (!png || !is_png(png) || !tern_run_integer_member(record, "height", &height) ||
        !tern_run_integer_member(record, "width", &width) || height <= 0 || width <= 0)
        return TERN_ERR_FORMAT;
    text = text ? text : "";
    const size_t size = strlen(png) + 1, text_size = strlen(text) + 1;
    tern_run_block *block = make(record, size + text_size, &data);
    if (!block)
        return TERN_ERR_NOMEM;
    memcpy(data, png, size);
    memcpy(data + size, text, text_size);
    block->is.picture = (tern_run_picture){record->step, height, width, data, data + size};
    return keep(run, TERN_RUN_IMAGE, record, block);
}

tern_status tern_run_take_text(tern_run *run, const tern_run_record *record)
{
    char *data;
    const char *text = tern_run_text_member(record, "text");
    if (!text)
        return TERN_ERR_FORMAT;
    tern_run_block *block = make(record, strlen(text) + 1, &data);
    if (!block)
        return TERN_ERR_NOMEM;
    memcpy(data, text, strlen(text) + 1);
    block->is.text = data;
    return keep(run, TERN_RUN_TEXT, record, block);
}

// ---- matrices -----------------------------------------------------------------------------------

// Texts, one behind the other, and where each begins.
static tern_status read_names(const tern_run_member *m, int64_t rows, const char **names,
                              char *bytes)
{
    bool first = true, another;
    tern_json json = tern_run_json_of(m);
    TERN_TRY(tern_json_expect(&json, '['));
    for (int64_t i = 0;; i++) {
        const char *name;
        TERN_TRY(tern_json_next(&json, ']', &first, &another));
        if (!another || i == rows)
            return another || i < rows ? TERN_ERR_FORMAT : TERN_OK;
        TERN_TRY(tern_json_string(&json, &name));
        const size_t size = strlen(name) + 1;
        names[i] = memcpy(bytes, name, size);
        bytes += size;
    }
}

static tern_status read_matrix(const tern_run_record *record, const tern_run_member *names,
                               tern_run_cells *c, double *values, size_t capacity)
{
    int64_t count;
    const char **texts = (const char **)(values + capacity);
    TERN_TRY(numbers(record, "values", values, &count));
    if (count != c->rows * c->columns)
        return TERN_ERR_FORMAT;
    for (int64_t i = 0; i < count; i++)
        if (values[i] < 0)
            return TERN_ERR_FORMAT;
    if (names)
        TERN_TRY(read_names(names, c->rows, texts, (char *)(texts + c->rows)));
    c->values = values;
    c->names = names ? texts : NULL;
    return TERN_OK;
}

tern_status tern_run_take_matrix(tern_run *run, const tern_run_record *record)
{
    double *values;
    tern_run_cells cells = {.step = record->step};
    const tern_run_member *names = tern_run_member_find(record, "names");
    if (!tern_run_integer_member(record, "rows", &cells.rows) ||
        !tern_run_integer_member(record, "columns", &cells.columns) || cells.rows < 1 ||
        cells.columns < 1 || cells.rows > MAX_CLASSES || cells.columns > MAX_CLASSES ||
        (names && names->type != '[' && names->type != 'n'))
        return TERN_ERR_FORMAT;
    names = names && names->type == '[' ? names : NULL;
    const size_t capacity = elements(record, "values");
    const size_t names_bytes = names ? (size_t)(names->end - names->begin) : 0;
    tern_run_block *block =
        make(record, capacity * sizeof *values + (size_t)cells.rows * sizeof(char *) + names_bytes,
             &values);
    if (!block)
        return TERN_ERR_NOMEM;
    const tern_status status = read_matrix(record, names, &cells, values, capacity);
    block->is.cells = cells;
    if (!status)
        return keep(run, TERN_RUN_MATRIX, record, block);
    tern_mem_free(block, block->nbytes);
    return status;
}

// ---- precision and recall -----------------------------------------------------------------------

tern_status tern_run_take_pr_curve(tern_run *run, const tern_run_record *record)
{
    double *values;
    int64_t count, also;
    const size_t left = elements(record, "precision"), right = elements(record, "recall");
    if (left == 0 || right == 0)
        return TERN_ERR_FORMAT;
    tern_run_block *block = make(record, (left + right) * sizeof *values, &values);
    if (!block)
        return TERN_ERR_NOMEM;
    tern_status status = numbers(record, "precision", values, &count);
    status = status ? status : numbers(record, "recall", values + left, &also);
    if (!status && count == also) {
        block->is.pr = (tern_run_pr){record->step, count, values, values + left};
        return keep(run, TERN_RUN_PR_CURVE, record, block);
    }
    tern_mem_free(block, block->nbytes);
    return status ? status : TERN_ERR_FORMAT;
}
