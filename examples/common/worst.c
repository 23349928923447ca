// SPDX-License-Identifier: Apache-2.0
#include "worst.h"

enum { LOSS, INDEX, LABEL, PREDICTED, PROBABILITY, COLUMNS };

typedef struct worst {
    tern_metric base;
    int64_t count;
    tern_tensor *table; // (count, COLUMNS): the largest loss first, 0 where there are fewer
    tern_tensor *seen;  // (): samples so far
} worst;

// (N, COLUMNS) of a batch; a sample that is right has no loss.
static tern_tensor *rows_of(const worst *self, tern_tensor *logits, tern_tensor *labels)
{
    tern_tensor *column[COLUMNS];
    tern_tensor *loss = tern_cross_entropy(logits, labels, .reduction = TERN_REDUCTION_NONE);
    column[PROBABILITY] = tern_max(tern_softmax(logits, 1), 1, false, &column[PREDICTED]);
    tern_tensor *wrong = tern_ne(column[PREDICTED], labels);
    column[LOSS] = tern_mul(loss, wrong);
    column[INDEX] =
        tern_add(tern_arange(0, (double)tern_numel(labels), 1, .device = tern_device_of(labels)),
                 self->seen);
    column[LABEL] = labels;
    for (int i = 0; i < COLUMNS; i++)
        column[i] = tern_to_dtype(column[i], TERN_FLOAT64);
    return tern_stack(column, COLUMNS, 1);
}

static tern_status update(tern_metric *metric, tern_tensor *logits, tern_tensor *labels)
{
    worst *self = (worst *)metric;
    tern_tensor *which, *rows[] = {self->table, rows_of(self, logits, labels)};
    tern_tensor *all = tern_cat(rows, 2, 0);
    if (!tern_topk(tern_select(all, 1, LOSS), self->count, 0, true, &which))
        return tern_error_code();
    tern_copy_(self->table, tern_index_select(all, 0, which));
    tern_add_scalar_(self->seen, tern_numel(labels));
    return tern_error_code();
}

static tern_tensor *compute(tern_metric *metric)
{
    return tern_clone(((worst *)metric)->table);
}

static void describe(const tern_metric *metric, char *buffer, size_t size)
{
    snprintf(buffer, size, "count=%lld", (long long)((const worst *)metric)->count);
}

static const tern_metric_class worst_class = {.name = "worst mistakes",
                                              .size = sizeof(worst),
                                              .update = update,
                                              .compute = compute,
                                              .describe = describe};

tern_metric *worst_mistakes(int64_t count)
{
    worst *self = (worst *)tern_metric_new(&worst_class, NULL);
    if (!self)
        return NULL;
    self->count = count;
    if (!tern_metric_add_state(&self->base, "table", &self->table, tern_dims(count, COLUMNS),
                               TERN_FLOAT64) &&
        !tern_metric_add_state(&self->base, "seen", &self->seen, tern_dims(), TERN_INT64))
        return &self->base;
    tern_metric_free(&self->base);
    return NULL;
}

int64_t worst_read(tern_metric *metric, mistake *mistakes)
{
    int64_t found = 0;
    const tern_scope scope = tern_scope_open();
    tern_tensor *table = tern_to(tern_metric_compute(metric), tern_cpu(0));
    const double *row = table ? tern_data(table) : NULL;
    for (; row && found < ((worst *)metric)->count && row[LOSS] > 0; row += COLUMNS)
        mistakes[found++] = (mistake){.index = (int64_t)row[INDEX],
                                      .label = (int64_t)row[LABEL],
                                      .predicted = (int64_t)row[PREDICTED],
                                      .probability = row[PROBABILITY],
                                      .loss = row[LOSS]};
    tern_scope_close(scope);
    return table ? found : -1;
}

// ---- in words -----------------------------------------------------------------------------------

static void print_class(tern_dataset *set, int64_t label, FILE *file)
{
    const char *name =
        label < tern_dataset_class_count(set) ? tern_dataset_class_name(set, label) : NULL;
    if (name)
        fputs(name, file);
    else
        fprintf(file, "class %lld", (long long)label);
}

void mistakes_print(const mistake *mistakes, int64_t count, tern_dataset *set, FILE *file)
{
    char path[4096];
    if (count > 0)
        fputs("the worst mistakes:\n", file);
    for (const mistake *m = mistakes; m < mistakes + count; m++) {
        if (tern_dataset_sample_name(set, m->index, path, sizeof path))
            fprintf(file, "  %s: ", path);
        else
            fprintf(file, "  image %lld: ", (long long)m->index);
        print_class(set, m->label, file);
        fputs(", taken for ", file);
        print_class(set, m->predicted, file);
        fprintf(file, " with %.1f %%\n", 100 * m->probability);
    }
}
