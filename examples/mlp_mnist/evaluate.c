// SPDX-License-Identifier: Apache-2.0
#include "evaluate.h"

#define MOST_CONFUSED 3

// Label and prediction of every sample of a batch, counted on the host.
static tern_status count_batch(evaluation *e, tern_tensor *logits, tern_tensor *labels)
{
    int64_t count = tern_numel(labels);
    tern_tensor *pairs[] = {tern_argmax(logits, 1, false), labels};
    tern_tensor *both = tern_to(tern_stack(pairs, 2, 0), tern_cpu(0)); // one copy for the two
    const int64_t *values = both ? tern_data(both) : NULL;
    for (int64_t i = 0; values && i < count; i++)
        e->confusion[values[count + i]][values[i]]++;
    return tern_error_code();
}

static int64_t count_all(const evaluation *e, bool correct_only)
{
    int64_t count = 0;
    for (int label = 0; label < CLASSES; label++)
        for (int prediction = 0; prediction < CLASSES; prediction++)
            if (!correct_only || label == prediction)
                count += e->confusion[label][prediction];
    return count;
}

tern_status evaluate(tern_module *net, tern_module *criterion, tern_loader *loader,
                     evaluation *result)
{
    tern_batch b;
    double loss = 0;
    *result = (evaluation){0};
    tern_module_eval(net);
    tern_no_grad {
        while (tern_loader_next(loader, &b)) {
            tern_tensor *logits = tern_forward(net, b.x);
            loss += tern_item(tern_loss(criterion, logits, b.y)) * (double)b.size;
            if (count_batch(result, logits, b.y))
                break;
        }
    }
    tern_module_train(net, true);
    int64_t count = count_all(result, false);
    result->loss = count ? loss / (double)count : 0;
    result->accuracy = count ? (double)count_all(result, true) / (double)count : 0;
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
