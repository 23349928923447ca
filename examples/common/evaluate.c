// SPDX-License-Identifier: Apache-2.0
#include "evaluate.h"

#define MOST_CONFUSED 3

// Sums that stay on the device until the end.
typedef struct sums {
    tern_tensor *loss;      // float64 (), of all samples
    tern_tensor *confusion; // float32 (CLASSES, CLASSES), [label][prediction]
} sums;

static tern_tensor *one_hot(tern_tensor *classes)
{
    return tern_to_dtype(tern_one_hot(classes, CLASSES), TERN_FLOAT32);
}

static void add_batch(sums *s, tern_tensor *loss, tern_tensor *logits, const tern_batch *b)
{
    tern_tensor *labels = tern_transpose(one_hot(b->y), 0, 1);
    tern_tensor *predictions = one_hot(tern_argmax(logits, 1, false));
    tern_add_(s->loss, loss, (double)b->size);
    tern_add_(s->confusion, tern_matmul(labels, predictions), 1);
}

// The one place that waits for the device.
static void read_sums(const sums *s, evaluation *e)
{
    tern_tensor *confusion = tern_to(s->confusion, tern_cpu(0));
    const float *count = confusion ? tern_data(confusion) : NULL;
    for (int i = 0; count && i < CLASSES * CLASSES; i++)
        e->confusion[i / CLASSES][i % CLASSES] = (int64_t)count[i];
    e->loss = tern_item(s->loss);
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

static void run(tern_module *net, tern_module *criterion, tern_loader *loader, sums *s)
{
    tern_module_eval(net);
    tern_no_grad {
        tern_each_batch (b, loader) {
            tern_tensor *logits = tern_forward(net, b.x);
            add_batch(s, tern_loss(criterion, logits, b.y), logits, &b);
        }
    }
    tern_module_train(net, true);
}

tern_status evaluate(tern_module *net, tern_module *criterion, tern_loader *loader,
                     tern_device device, evaluation *result)
{
    *result = (evaluation){0};
    tern_scope scope = tern_scope_open();
    sums s = {tern_zeros(tern_dims(), .dtype = TERN_FLOAT64, .device = device),
              tern_zeros(tern_dims(CLASSES, CLASSES), .dtype = TERN_FLOAT32, .device = device)};
    run(net, criterion, loader, &s);
    read_sums(&s, result);
    tern_scope_close(scope);
    int64_t count = count_all(result, false);
    result->loss = count ? result->loss / (double)count : 0;
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
