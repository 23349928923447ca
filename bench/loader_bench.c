// SPDX-License-Identifier: Apache-2.0
// Batches of a loader, for bench/loader.py.
//
//     loader_bench memory SAMPLES BATCH WORKERS SECONDS   of 784 float32 and a label, shuffled
//     loader_bench folder DIRECTORY BATCH WORKERS EPOCHS  of a folder of images
//
// Prints name and value pairs: batches or images a second; of memory the bytes a second of batches
// over those of one memcpy from memory to memory (`copy_share`); of a folder the share of one
// thread's time that reading and decoding its files takes (`decode_share`), without workers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tern/tern.h>

#include "base/clock.h"

enum { PIXELS = 784 };

static double seconds_since(int64_t start)
{
    return (double)(tern_clock_now() - start) * 1e-9;
}

static void check(void)
{
    if (tern_error_pending())
        exit(tern_error_print(stderr));
}

// ---- memory -------------------------------------------------------------------------------------

// Bytes a second of a copy of memory that no cache holds.
static double copy_rate(const char *from, size_t nbytes)
{
    char *to = malloc(nbytes);
    volatile char copied = 0;
    double best = 0;
    if (!to)
        exit(1);
    for (int round = 0; round < 5; round++) {
        const int64_t start = tern_clock_now();
        memcpy(to, from, nbytes);
        const double rate = (double)nbytes / seconds_since(start);
        best = rate > best ? rate : best;
        copied = to[nbytes / 2]; // so that it is not left out
    }
    free(to);
    (void)copied;
    return best;
}

static void bench_memory(int64_t samples, int64_t batch_size, int workers, double seconds)
{
    tern_tensor *x = tern_rand(tern_dims(samples, PIXELS));
    tern_tensor *y = tern_randint(0, 10, tern_dims(samples));
    tern_dataset *set = tern_data_tensors(x, y);
    tern_loader *loader =
        tern_loader_new(set, .batch_size = batch_size, .shuffle = true, .workers = workers);
    check();
    int64_t batches = 0;
    tern_each_batch (b, loader) // memory is taken
        continue;
    const int64_t start = tern_clock_now();
    do {
        tern_each_batch (b, loader)
            batches++;
    } while (seconds_since(start) < seconds && !tern_error_pending());
    const double rate = (double)batches / seconds_since(start);
    check();
    const double nbytes = (double)batch_size * (PIXELS * sizeof(float) + sizeof(int64_t));
    const double copy = copy_rate(tern_data(x), (size_t)samples * PIXELS * sizeof(float));
    printf("batches_per_second %.6g copy_share %.3f\n", rate, rate * nbytes / copy);
    tern_free(loader, set);
}

// ---- files --------------------------------------------------------------------------------------

static double read_all(tern_dataset *set)
{
    const int64_t start = tern_clock_now();
    for (int64_t i = 0; i < tern_dataset_count(set); i++) {
        const tern_scope scope = tern_scope_open();
        tern_sample sample;
        if (tern_dataset_item(set, i, &sample))
            check();
        tern_scope_close(scope);
    }
    return seconds_since(start);
}

static void bench_folder(const char *directory, int64_t batch_size, int workers, int epochs)
{
    tern_dataset *set = tern_data_image_folder(directory);
    check();
    tern_loader *loader =
        tern_loader_new(set, .batch_size = batch_size, .shuffle = true, .workers = workers);
    check();
    int64_t images = 0;
    const int64_t start = tern_clock_now();
    for (int epoch = 0; epoch < epochs; epoch++)
        tern_each_batch (b, loader)
            images += b.size;
    const double taken = seconds_since(start);
    check();
    printf("images_per_second %.6g", (double)images / taken);
    if (workers == 0)
        printf(" decode_share %.3f", read_all(set) * epochs / taken);
    printf("\n");
    tern_free(loader, set);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "memory") == 0)
        bench_memory(atoll(argv[2]), atoll(argv[3]), atoi(argv[4]), atof(argv[5]));
    else if (argc == 6 && strcmp(argv[1], "folder") == 0)
        bench_folder(argv[2], atoll(argv[3]), atoi(argv[4]), atoi(argv[5]));
    else
        return fprintf(stderr, "usage: loader_bench memory | folder ...\n"), 2;
    return 0;
}
