// SPDX-License-Identifier: Apache-2.0
// Packed files of images, and the samples in them.
#include <stdlib.h>
#include <string.h>

#include "image_reader.h"

#define MOST_SAMPLES 8

static void use_sample(tern_dataset *set, int64_t index)
{
    char name[64];
    tern_sample sample;
    tern_scope scope = tern_scope_open();
    must(tern_dataset_sample_name(set, index, name, sizeof name), "a sample without a name");
    const bool failed = tern_dataset_item(set, index, &sample) != TERN_OK;
    must(failed == (tern_error_code() != TERN_OK), "a failure and a pending error differ");
    if (!failed) {
        const int64_t label = tern_item_int(sample.y);
        must(label >= 0 && label < tern_dataset_class_count(set), "a label that is no class");
        must(tern_numel(sample.x) <= 3 * MOST_PIXELS, "a wrong size");
    }
    tern_error_clear();
    tern_scope_close(scope);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    (void)file_of(data, nbytes);
    begin_call();
    tern_dataset *set = tern_data_packed(file_name, .max_pixels = MOST_PIXELS);
    end_call(!set, nbytes);
    for (int64_t i = 0; set && i < tern_dataset_count(set) && i < MOST_SAMPLES; i++)
        use_sample(set, i);
    for (int64_t i = 0; set && i < tern_dataset_class_count(set); i++)
        must(tern_dataset_class_name(set, i), "a class without a name");
    tern_dataset_free(set);
    return 0;
}
