// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over files and all files of folders: replay PATH... A finding ends it with a
// signal. As a test it is told how many files there must be at least: replay -n COUNT PATH...
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define MOST_FAILURES 60

static int count;

// Also with memory failing: each allocation once, of the first MOST_FAILURES. Nothing is left.
static void run_bytes(const uint8_t *bytes, size_t nbytes)
{
    (void)LLVMFuzzerTestOneInput(bytes, nbytes);
    const int64_t before = memory_in_use();
    for (int n = 1; n <= MOST_FAILURES; n++) {
        fail_allocation(n);
        (void)LLVMFuzzerTestOneInput(bytes, nbytes);
        const bool failed = memory_fails();
        fail_allocation(0);
        must(memory_in_use() == before, "memory was not given back");
        if (!failed)
            break;
    }
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    static uint8_t bytes[1 << 20];
    if (!file)
        return 1;
    const size_t nbytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    uint8_t *copy = copy_of(bytes, nbytes); // a byte too far is noticed
    run_bytes(copy, nbytes);
    free(copy);
    count++;
    return 0;
}

static int run(const char *path)
{
    char inside[4096];
    int failed = 0;
    DIR *list = opendir(path);
    if (!list)
        return run_file(path);
    for (struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] != '.') {
            snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
            failed |= run_file(inside);
        }
    closedir(list);
    return failed;
}

int main(int argc, char **argv)
{
    int least = 1, first = 1, failed = 0;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        least = atoi(argv[2]);
        first = 3;
    }
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = first; i < argc; i++)
        failed |= run(argv[i]);
    end_reader();
    printf("%d files\n", count);
    return failed || count < least;
}
