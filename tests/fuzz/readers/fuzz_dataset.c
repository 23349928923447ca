// SPDX-License-Identifier: Apache-2.0
// Files that datasets read when they are asked: npy and tokens; and those of CIFAR, whose names
// lead to the input. The first byte says which.
#include <stdio.h>
#include <stdlib.h>
#include <tern/tern.h>
#include <unistd.h>

#include "reader.h"

static const char *const linked[] = {"test_batch.bin", "test.bin"};
static char folder[64];

static void remove_folder(void)
{
    char path[128];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, linked[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    char path[128];
    snprintf(folder, sizeof folder, "/tmp/tern-fuzz-XXXXXX");
    must(mkdtemp(folder) != NULL, "there is no folder");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, linked[i]);
        must(symlink(file_name, path) == 0, "there is no link");
    }
    atexit(remove_folder);
}

static tern_dataset *read_as(int way)
{
    switch (way) {
    case 0:
        return tern_data_npy(file_name);
    case 1:
        return tern_data_npy(file_name, .labels = file_name);
    case 2:
        return tern_data_text(file_name, 3, .stride = 1);
    case 3:
        return tern_data_text(file_name, 2, .token_bytes = 4);
    case 4:
        return tern_data_cifar10(folder, TERN_TEST);
    }
    return tern_data_cifar100(folder, TERN_TEST, .coarse = way == 5);
}

static void use(tern_dataset *set)
{
    const int64_t count = tern_dataset_count(set);
    must(count >= 0, "there is no number of samples");
    for (int64_t i = 0; i < count && i < 3; i++) {
        char name[64];
        tern_sample sample;
        const int64_t index = i == 2 ? count - 1 : i;
        const bool failed = tern_dataset_item(set, index, &sample);
        must(failed == (tern_error_code() != TERN_OK), "a failure and an error are not the same");
        tern_error_clear();
        must(tern_dataset_sample_name(set, index, name, sizeof name), "a sample has no name");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (!folder[0])
        make_folder();
    if (nbytes == 0)
        return 0;
    (void)file_of(data + 1, nbytes - 1);
    tern_scope scope = tern_scope_open();
    begin_call();
    tern_dataset *set = read_as(data[0] % 7);
    end_call(!set, nbytes);
    if (set)
        use(set);
    tern_dataset_free(set);
    tern_scope_close(scope);
    return 0;
}
