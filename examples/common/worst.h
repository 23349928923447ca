// SPDX-License-Identifier: Apache-2.0
// How right a net is, and the images that it is most wrong about.
#ifndef FOLDER_TRAIN_WORST_H
#define FOLDER_TRAIN_WORST_H

#include <stdio.h>
#include <tern/tern.h>

typedef struct mistake {
    int64_t index;            // of the sample
    int64_t label, predicted; // classes
    double probability;       // of what was predicted
    double loss;
} mistake;

typedef struct worst {
    int64_t capacity, count;
    mistake *at; // (count): the largest loss first
    double accuracy;
} worst;

// Runs the net in evaluation mode over the loader's epoch.
tern_status worst_find(worst *w, tern_module *net, tern_loader *loader);
// A line for each, with the file, or the number of an image that has none.
void worst_print(const worst *w, tern_dataset *set, FILE *file);
void worst_free(worst *w);

#endif
