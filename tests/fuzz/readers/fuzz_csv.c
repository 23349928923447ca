// SPDX-License-Identifier: Apache-2.0
// CSV files, read in several ways; and files that are read like the first one.
#include <tern/tern.h>

#include "reader.h"

// A column, which is a comma of the file, takes as many bytes as 64 of another file may, with its
// name in an allocation of its own.
#define COLUMN 64

static tern_dataset *read_as(int way, tern_dataset *like)
{
    static const char *const names[] = {"0", NULL};
    switch (way) {
    case 0:
        return tern_data_csv(file_name, .like = like);
    case 1:
        return tern_data_csv(file_name, .header = false, .label_column = -1, .like = like);
    case 2:
        return tern_data_csv(file_name, .label = "l", .fill_empty = true, .missing = "NA",
                             .like = like);
    case 3:
        return tern_data_csv(file_name, .header = false, .label_column = 0,
                             .label_dtype = TERN_FLOAT64, .dtype = TERN_FLOAT64, .fill_empty = true,
                             .like = like);
    }
    return like ? NULL
                : tern_data_csv(file_name, .header = false, .separator = ';', .categories = names,
                                .label_column = -1);
}

// Whatever was read can be asked for.
static void use(tern_dataset *set)
{
    char name[64];
    tern_sample sample;
    const int64_t last = tern_dataset_count(set) - 1, classes = tern_dataset_class_count(set);
    must(last >= 0 && classes >= 0, "a dataset without rows");
    if (tern_dataset_item(set, last, &sample)) {
        must(memory_fails(), "the last row cannot be read");
        tern_error_clear();
        return;
    }
    must(tern_dataset_sample_name(set, last, name, sizeof name), "a row has no name");
    const int64_t *label = sample.y && classes > 0 ? tern_data(sample.y) : NULL;
    must(!label || (*label >= 0 && *label < classes), "a label is no class");
    if (classes > 0)
        (void)tern_dataset_class_name(set, classes - 1);
    tern_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    (void)file_of(data, nbytes);
    for (int way = 0; way < 5; way++) {
        tern_scope scope = tern_scope_open();
        begin_call();
        tern_dataset *set = read_as(way, NULL);
        end_call(!set, COLUMN * nbytes);
        if (set) {
            use(set);
            tern_dataset *again = way < 4 ? read_as(way, set) : NULL;
            must(again || way == 4 || memory_fails(), "a file is not like itself");
            tern_error_clear();
            tern_dataset_free(again);
        }
        tern_dataset_free(set);
        tern_scope_close(scope);
    }
    return 0;
}
