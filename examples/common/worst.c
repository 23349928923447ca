// SPDX-License-Identifier: Apache-2.0
#include "worst.h"

#include <math.h>
#include <stdlib.h>

static void keep(worst *w, const mistake *m)
{
    if (w->capacity == 0 || (w->count == w->capacity && m->loss <= w->at[w->count - 1].loss))
        return;
    int64_t place = w->count < w->capacity ? w->count++ : w->count - 1;
    for (; place > 0 && w->at[place - 1].loss < m->loss; place--)
        w->at[place] = w->at[place - 1];
    w->at[place] = *m;
}

// `log_p` (N, classes) and `labels` (N) on the CPU.
static int64_t count_right(worst *w, const tern_batch *b, tern_tensor *log_p, tern_tensor *labels)
{
    const float *row = tern_data(log_p);
    const int64_t *label = tern_data(labels), classes = tern_shape_of(log_p).dim[1];
    int64_t right = 0;
    for (int64_t i = 0; i < b->size; i++, row += classes) {
        int64_t best = 0;
        for (int64_t k = 1; k < classes; k++)
            best = row[k] > row[best] ? k : best;
        right += best == label[i];
        if (best != label[i])
            keep(w, &(mistake){b->index[i], label[i], best, exp((double)row[best]),
                               -(double)row[label[i]]});
    }
    return right;
}

tern_status worst_find(worst *w, tern_module *net, tern_loader *loader)
{
    int64_t right = 0, all = 0;
    w->at = calloc((size_t)w->capacity + 1, sizeof *w->at);
    if (!w->at)
        return tern_error_raise(TERN_ERR_NOMEM, "no memory for the worst mistakes");
    (void)tern_module_train(net, false);
    tern_no_grad {
        tern_each_batch (b, loader) {
            tern_tensor *log_p = tern_log_softmax(tern_forward(net, b.x), 1);
            log_p = tern_to(log_p, tern_cpu(0));
            tern_tensor *labels = tern_to(b.y, tern_cpu(0));
            if (!log_p || !labels)
                break;
            right += count_right(w, &b, log_p, labels);
            all += b.size;
        }
    }
    w->accuracy = all > 0 ? (double)right / (double)all : 0;
    return tern_error_code();
}

static void print_class(tern_dataset *set, int64_t label, FILE *file)
{
    const char *name =
        label < tern_dataset_class_count(set) ? tern_dataset_class_name(set, label) : NULL;
    if (name)
        fputs(name, file);
    else
        fprintf(file, "class %lld", (long long)label);
}

void worst_print(const worst *w, tern_dataset *set, FILE *file)
{
    char path[4096];
    if (w->count > 0)
        fputs("the worst mistakes:\n", file);
    for (int64_t i = 0; i < w->count; i++) {
        const mistake *m = &w->at[i];
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

void worst_free(worst *w)
{
    free(w->at);
}
