// SPDX-License-Identifier: Apache-2.0
// What a net makes of a test set.
#ifndef COMMON_EVALUATE_H
#define COMMON_EVALUATE_H

#include <tern/tern.h>

#define CLASSES 10

typedef struct evaluation {
    double loss, accuracy;
    int64_t confusion[CLASSES][CLASSES]; // [label][prediction]
} evaluation;

// Runs the net over the loader's epoch in evaluation mode, without recording. Another metric, or
// NULL, sees it too.
tern_status evaluate(tern_module *net, tern_module *criterion, tern_loader *loader,
                     tern_metric *other, evaluation *result);

// Writes the pairs of classes that are taken for each other most often.
void evaluation_confusions_print(const evaluation *e, FILE *file);

#endif
