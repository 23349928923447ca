// SPDX-License-Identifier: Apache-2.0
#include "evaluate.h"

#define MOST_CONFUSED 3

tern_status evaluate(tern_module *net, tern_module *criterion, tern_loader *loader,
                     tern_metric *other, evaluation *result)
{
    *result = (evaluation){0};
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = CLASSES);
    tern_metric *matrix = tern_metric_confusion_matrix(.num_classes = CLASSES);
    tern_metric_list all = tern_metrics(accuracy, matrix);
    if (other)
        all.at[all.count++] = other;
    tern_scope scope = tern_scope_open();
    if (!tern_evaluate(net, loader, .criterion = criterion, .loss = &result->loss,
                       .metrics = all) &&
        !tern_to_host(tern_metric_compute(matrix), result->confusion, sizeof result->confusion))
        result->accuracy = tern_metric_value(accuracy);
    tern_scope_close(scope);
    tern_free(accuracy, matrix);
    return tern_error_code();
}

void evaluation_confusions_print(const evaluation *e, FILE *file)
{
    evaluation left = *e;
    fputs("most confused:", file);
    for (int n = 0; n < MOST_CONFUSED; n++) {
        int label = 0, prediction = 1;
        for (int i = 0; i < CLASSES; i++)
            for (int k = 0; k < CLASSES; k++)
                if (i != k && left.confusion[i][k] > left.confusion[label][prediction])
                    label = i, prediction = k;
        fprintf(file, "%s %d taken for %d (%lld times)", n ? "," : "", label, prediction,
                (long long)left.confusion[label][prediction]);
        left.confusion[label][prediction] = 0;
    }
    fputc('\n', file);
}
