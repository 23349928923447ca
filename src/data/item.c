// SPDX-License-Identifier: Apache-2.0
// Single samples, and batches stacked of them.
#include <string.h>
#include <tern/ops.h>

#include "base/callback.h"
#include "base/path.h"
#include "data/dataset.h"
#include "data/turn.h"
#include "ops/op.h"
#include "tensor/header.h"
#include "tensor/scope.h"

// ---- one sample ---------------------------------------------------------------------------------

static tern_status fetch(const char *op, const tern_dataset *dataset,
                         const tern_sample_context *context, int64_t index, tern_sample *made)
{
    const bool failed_before = tern_error_pending();
    const tern_sample_context *outside = tern_dataset_set_context(context);
    tern_callback_begin();
    tern_dataset *stream = (tern_dataset *)(uintptr_t)dataset; // one thread asks it
    const bool turn = tern_turn_begin(dataset);
    tern_status status = stream->klass->next ? stream->klass->next(stream, context, index, made)
                                             : dataset->klass->item(dataset, context, index, made);
    if (turn)
        tern_turn_end(dataset);
    tern_callback_end();
    (void)tern_dataset_set_context(outside);
    TERN_TRY(tern_dataset_check_result(op, dataset, status, failed_before, "a sample"));
    if (dataset->klass->next && made->count == 0)
        return TERN_OK;
    return tern_dataset_check_tensors(op, tern_dataset_name(dataset), made->count, made->at);
}

static bool name_of_sample(const void *dataset, int64_t index, char *buffer, size_t size)
{
    return tern_dataset_write_sample_name(dataset, index, buffer, size);
}

tern_status tern_dataset_make_item(const char *op, const tern_dataset *dataset,
                                   const tern_sample_context *context, int64_t index,
                                   tern_sample *out)
{
    tern_sample made = {0};
    const tern_sample_position outside = tern_sample_of_thread;
    tern_sample_of_thread =
        (tern_sample_position){tern_dataset_name(dataset), index, name_of_sample, dataset};
    tern_status status = fetch(op, dataset, context, index, &made);
    tern_sample_of_thread = outside;
    *out = (tern_sample){0};
    if (status)
        return status;
    for (int i = made.count; i < TERN_BATCH_TENSORS; i++)
        made.at[i] = NULL;
    made.x = made.at[0];
    made.y = made.at[1];
    made.index = index;
    *out = made;
    return TERN_OK;
}

// ---- stacking -----------------------------------------------------------------------------------

// A batch that is being made of samples. What it is compared with is its own first sample.
typedef struct stack {
    const char *op;
    const tern_dataset *dataset;
    int64_t first;   // its number
    int64_t count;   // samples
    tern_batch *out; // its tensors are held
} stack;

static tern_shape without_first(const tern_tensor *t)
{
    tern_shape shape = {.rank = t->rank - 1};
    for (int i = 1; i < t->rank; i++)
        shape.dim[i - 1] = t->size[i];
    return shape;
}

// A tensor with a row for each sample. Not in the scope of the sample.
static tern_tensor *make_rows(const stack *s, const tern_tensor *t, int i)
{
    TERN_CHECK_PTR(t->rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "%s: sample %lld of %s: tensor %d has %d dimensions, and none is left for the "
                   "batch",
                   s->op, (long long)s->first, tern_dataset_name(s->dataset), i, t->rank);
    tern_shape shape = {.rank = t->rank + 1};
    shape.dim[0] = s->count;
    for (int d = 0; d < t->rank; d++)
        shape.dim[d + 1] = t->size[d];
    return tern_tensor_new("dataset_get", t->dtype, tern_dev(t), shape);
}

static tern_status begin_stack(stack *s, const tern_sample *sample)
{
    for (int i = 0; i < sample->count; i++) {
        s->out->at[i] = tern_tensor_retain(make_rows(s, sample->at[i], i));
        if (!s->out->at[i])
            return tern_error_code();
        s->out->count++;
    }
    return TERN_OK;
}

static bool fits(const tern_tensor *rows, const tern_tensor *t)
{
    return tern_shape_equal(without_first(rows), tern_shape_get(t)) && rows->dtype == t->dtype &&
           tern_device_equal(tern_dev(rows), tern_dev(t));
}

static tern_status check_fit(const stack *s, const tern_sample *sample)
{
    const char *name = tern_dataset_name(s->dataset);
    TERN_CHECK(sample->count == s->out->count, TERN_ERR_SHAPE,
               "%s: sample %lld of %s: it has %d tensor%s, but sample %lld has %d", s->op,
               (long long)sample->index, name, sample->count, sample->count == 1 ? "" : "s",
               (long long)s->first, s->out->count);
    for (int i = 0; i < sample->count; i++) {
        const tern_tensor *rows = s->out->at[i], *t = sample->at[i];
        if (fits(rows, t))
            continue;
        const bool apart = !tern_device_equal(tern_dev(rows), tern_dev(t));
        return tern_error_raise(
            apart                     ? TERN_ERR_DEVICE
            : rows->dtype == t->dtype ? TERN_ERR_SHAPE
                                      : TERN_ERR_DTYPE,
            "%s: sample %lld of %s: tensor %d is %s %s%s%s, but sample %lld gave %s %s%s%s", s->op,
            (long long)sample->index, name, i, tern_shape_string(tern_shape_get(t)),
            tern_dtype_name(t->dtype), apart ? " on " : "",
            apart ? tern_device_string(tern_dev(t)) : "", (long long)s->first,
            tern_shape_string(without_first(rows)), tern_dtype_name(rows->dtype),
            apart ? " on " : "", apart ? tern_device_string(tern_dev(rows)) : "");
    }
    return TERN_OK;
}

// Straight to host memory where that is all it takes.
static tern_status copy_row(tern_tensor *rows, int64_t row, tern_tensor *t)
{
    if (tern_dev(t).type != TERN_CPU || !t->contiguous)
        return tern_copy_(tern_select(rows, 0, row), t) ? TERN_OK : tern_error_code();
    const int64_t size = (int64_t)tern_dtype_size(t->dtype), nbytes = t->numel * size;
    const char *from = (const char *)t->storage->data + t->offset * size;
    if (nbytes > 0)
        memcpy((char *)rows->storage->data + row * nbytes, from, (size_t)nbytes);
    return TERN_OK;
}

static tern_status add_sample(stack *s, int64_t row, const tern_sample *sample)
{
    TERN_TRY(row == 0 ? begin_stack(s, sample) : check_fit(s, sample));
    for (int i = 0; i < sample->count; i++)
        TERN_TRY(copy_row(s->out->at[i], row, sample->at[i]));
    return TERN_OK;
}

// Its temporaries die here: a batch keeps one sample's at a time. False at the end of a stream.
static tern_status make_row(stack *s, const tern_sample_context *context, int64_t row,
                            int64_t index, bool *made)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_sample sample;
    tern_status status = tern_dataset_make_item(s->op, s->dataset, context, index, &sample);
    *made = !status && sample.count > 0;
    if (*made)
        status = add_sample(s, row, &sample);
    tern_scope_close(scope);
    return status;
}

// The tensors that were held become temporaries; on failure they die.
static tern_status let_go(tern_batch *out, tern_status status)
{
    for (int i = 0; i < out->count; i++) {
        if (!status)
            status = tern_scope_adopt(out->at[i]);
        if (status)
            tern_tensor_release(out->at[i]);
    }
    return status;
}

// The first rows, of the last samples of a stream.
static tern_status cut(tern_batch *out, int64_t rows)
{
    for (int i = 0; i < out->count; i++) {
        out->at[i] = tern_narrow(out->at[i], 0, 0, rows);
        if (!out->at[i])
            return tern_error_code();
    }
    return TERN_OK;
}

tern_status tern_dataset_stack(const char *op, const tern_dataset *dataset,
                               const tern_sample_context *context, const int64_t *index,
                               int64_t count, tern_batch *out)
{
    stack s = {.op = op, .dataset = dataset, .first = index[0], .count = count, .out = out};
    tern_status status = TERN_OK;
    int64_t rows = 0;
    bool made = true;
    while (made && rows < count && !status) {
        status = make_row(&s, context, rows, index[rows], &made);
        rows += made;
    }
    TERN_TRY(let_go(out, status));
    out->size = rows;
    return rows < count ? cut(out, rows) : TERN_OK;
}
