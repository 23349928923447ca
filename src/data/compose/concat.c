// SPDX-License-Identifier: Apache-2.0
// Datasets one after the other, as torch.utils.data.ConcatDataset.
#include <tern/datasets.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/compose/inner.h"
#include "ops/op.h"
#include "tensor/header.h"

static const char op[] = "data_concat";

// One of them.
typedef struct part {
    tern_dataset *dataset;
    int64_t end; // of its samples: the number behind the last one
} part;

typedef struct concat {
    tern_dataset base;
    part *parts;
    int64_t count; // of parts
} concat;

static int64_t count_samples(const tern_dataset *dataset)
{
    const concat *self = (const concat *)dataset;
    return self->parts[self->count - 1].end;
}

static int64_t begin_of(const concat *self, int64_t number)
{
    return number > 0 ? self->parts[number - 1].end : 0;
}

// The part that has sample `index`: the first one that ends behind it.
static int64_t find(const concat *self, int64_t index)
{
    int64_t low = 0, high = self->count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (self->parts[middle].end > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    const concat *self = (const concat *)dataset;
    const int64_t number = find(self, index), inside = index - begin_of(self, number);
    const tern_sample_context own = tern_dataset_inner_context(context, (uint64_t)number);
    tern_dataset *inner = self->parts[number].dataset;
    TERN_TRY(tern_inner_check(op, inner, inside));
    return tern_dataset_make_sample(op, inner, &own, inside, out);
}

// ---- batches ------------------------------------------------------------------------------------

// A batch that is being made of batches of the parts: one below the other, then in the order that
// was asked for.
typedef struct joined {
    const concat *self;
    const tern_sample_context *context;
    const int64_t *index;
    int64_t count;
    int64_t *inside;      // (count): numbers in the part that is asked
    int64_t *row;         // (count): where the sample is among the rows so far
    int64_t rows, slices; // made
    tern_tensor **slice;  // (TERN_BATCH_TENSORS, count)
    int tensors;
} joined;

static tern_tensor **slices_of(const joined *j, int tensor)
{
    return j->slice + (size_t)tensor * (size_t)j->count;
}

static bool same_rows(const tern_tensor *a, const tern_tensor *b)
{
    bool same =
        a->rank == b->rank && a->dtype == b->dtype && tern_device_equal(tern_dev(a), tern_dev(b));
    for (int d = 1; same && d < a->rank; d++)
        same = a->size[d] == b->size[d];
    return same;
}

static tern_status check_fit(const joined *j, const tern_dataset *inner, const tern_batch *made)
{
    TERN_CHECK(made->count == j->tensors, TERN_ERR_SHAPE,
               "%s: samples of %s have %d tensors, but others of the batch have %d", op,
               tern_dataset_name(inner), made->count, j->tensors);
    for (int i = 0; i < j->tensors; i++) {
        const tern_tensor *first = slices_of(j, i)[0], *t = made->at[i];
        TERN_CHECK(same_rows(first, t), TERN_ERR_SHAPE,
                   "%s: %s gave tensor %d as %s %s on %s, which does not go into one batch with %s "
                   "%s on %s",
                   op, tern_dataset_name(inner), i, tern_dtype_name(t->dtype),
                   tern_shape_string(tern_shape_get(t)), tern_device_string(tern_dev(t)),
                   tern_dtype_name(first->dtype), tern_shape_string(tern_shape_get(first)),
                   tern_device_string(tern_dev(first)));
    }
    return TERN_OK;
}

static int64_t select_samples(joined *j, int64_t number, int64_t *max)
{
    const int64_t begin = begin_of(j->self, number), end = j->self->parts[number].end;
    int64_t count = 0;
    *max = 0;
    for (int64_t i = 0; i < j->count; i++) {
        if (j->index[i] < begin || j->index[i] >= end)
            continue;
        j->row[i] = j->rows + count;
        j->inside[count] = j->index[i] - begin;
        *max = j->inside[count] > *max ? j->inside[count] : *max;
        count++;
    }
    return count;
}

static tern_status add_part(joined *j, int64_t number)
{
    int64_t max;
    const int64_t count = select_samples(j, number, &max);
    if (count == 0)
        return TERN_OK;
    tern_dataset *inner = j->self->parts[number].dataset;
    const tern_sample_context own = tern_dataset_inner_context(j->context, (uint64_t)number);
    tern_batch made;
    TERN_TRY(tern_inner_check(op, inner, max));
    TERN_TRY(tern_dataset_fetch(op, inner, &own, j->inside, count, &made));
    if (j->slices == 0)
        j->tensors = made.count;
    else
        TERN_TRY(check_fit(j, inner, &made));
    for (int i = 0; i < j->tensors; i++)
        slices_of(j, i)[j->slices] = made.at[i];
    j->slices++;
    j->rows += count;
    return TERN_OK;
}

static tern_tensor *join(const joined *j, int tensor)
{
    tern_tensor *const *slices = slices_of(j, tensor);
    if (j->slices == 1) // in the order that was asked for already
        return slices[0];
    tern_tensor *all = tern_cat(slices, j->slices, 0);
    if (!all)
        return NULL;
    tern_tensor *rows =
        tern_from_data(tern_dims(j->count), j->row, .dtype = TERN_INT64, .device = tern_dev(all));
    return tern_index_select(all, 0, rows);
}

static tern_status make(joined *j, tern_batch *out)
{
    for (int64_t number = 0; number < j->self->count && j->rows < j->count; number++)
        TERN_TRY(add_part(j, number));
    for (; out->count < j->tensors; out->count++) {
        out->at[out->count] = join(j, out->count);
        if (!out->at[out->count])
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    joined j = {
        .self = (const concat *)dataset, .context = context, .index = index, .count = count};
    const size_t numbers = (size_t)count * sizeof(int64_t),
                 nbytes = 2 * numbers + TERN_BATCH_TENSORS * (size_t)count * sizeof(tern_tensor *);
    j.inside = tern_cache_alloc(nbytes);
    if (!j.inside)
        return TERN_ERR_NOMEM;
    j.row = j.inside + count;
    j.slice = (tern_tensor **)(j.row + count);
    tern_status status = make(&j, out);
    tern_cache_free(j.inside, nbytes);
    return status;
}

// ---- what the parts say -------------------------------------------------------------------------

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    const concat *self = (const concat *)dataset;
    const int64_t number = find(self, index);
    return tern_dataset_write_sample_name(self->parts[number].dataset,
                                          index - begin_of(self, number), buffer, size);
}

// Those of the first, where all have as many.
static int64_t class_count(const tern_dataset *dataset)
{
    const concat *self = (const concat *)dataset;
    const int64_t count = tern_dataset_class_count(self->parts[0].dataset);
    for (int64_t i = 1; count > 0 && i < self->count; i++) {
        const int64_t other = tern_dataset_class_count(self->parts[i].dataset);
        if (other != count)
            return other < 0 ? other : 0;
    }
    return count;
}

static const char *class_name(const tern_dataset *dataset, int64_t label)
{
    return tern_dataset_class_name(((const concat *)dataset)->parts[0].dataset, label);
}

static bool is_serial(const tern_dataset *dataset)
{
    const concat *self = (const concat *)dataset;
    bool serial = false;
    for (int64_t i = 0; i < self->count; i++)
        serial = serial || tern_dataset_is_serial(self->parts[i].dataset);
    return serial;
}

static tern_status visit(tern_dataset *dataset, tern_state_visitor *visitor)
{
    const concat *self = (const concat *)dataset;
    for (int64_t i = 0; i < self->count; i++)
        TERN_TRY(tern_visit_item(visitor, NULL, i, tern_inner_visit, self->parts[i].dataset));
    return TERN_OK;
}

static void release(tern_dataset *dataset)
{
    concat *self = (concat *)dataset;
    for (int64_t i = 0; i < self->count; i++)
        tern_dataset_release_internal(self->parts[i].dataset);
    tern_mem_free(self->parts, (size_t)self->count * sizeof *self->parts);
}

static tern_dataset *inner_at(const tern_dataset *dataset, int64_t i)
{
    const concat *self = (const concat *)dataset;
    return i < self->count ? self->parts[i].dataset : NULL;
}

static const tern_dataset_class concat_class = {
    .name = op,
    .size = sizeof(concat),
    .count = count_samples,
    .item = item,
    .get = get,
    .free = release,
    .visit = visit,
    .class_count = class_count,
    .class_name = class_name,
    .sample_name = sample_name,
    .is_serial = is_serial,
};

static tern_status measure(part *parts, int64_t count)
{
    int64_t end = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t samples = tern_dataset_count_for(op, parts[i].dataset);
        if (samples < 0)
            return tern_error_code();
        TERN_CHECK(!__builtin_add_overflow(end, samples, &end), TERN_ERR_ARG,
                   "%s: the datasets have more samples together than an int64 holds", op);
        parts[i].end = end;
    }
    return TERN_OK;
}

static tern_dataset *make_over(part *parts, int64_t count)
{
    if (measure(parts, count))
        return NULL;
    concat *self = (concat *)tern_dataset_new(&concat_class);
    if (!self)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        (void)tern_dataset_retain_internal(parts[i].dataset);
    self->parts = parts;
    self->count = count;
    self->base.inner_ = inner_at;
    return &self->base;
}

tern_dataset *tern_data_concat_new(int64_t count, tern_dataset *const *datasets)
{
    TERN_CHECK_PTR(count >= 1, TERN_ERR_ARG, "%s: count is %lld, but must be at least 1", op,
                   (long long)count);
    if (!datasets) {
        (void)tern_null_error(op, "datasets");
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        if (tern_check_dataset(op, datasets[i]))
            return NULL;
    part *parts = tern_mem_alloc((size_t)count * sizeof *parts);
    if (!parts)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        parts[i].dataset = datasets[i];
    tern_dataset *made = make_over(parts, count);
    if (!made)
        tern_mem_free(parts, (size_t)count * sizeof *parts);
    return made;
}
