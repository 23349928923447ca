// SPDX-License-Identifier: Apache-2.0
// What calls of a logger take of the thread that trains: a scalar, and a histogram of 784 x 512
// weights, with the writer's time for it (the flush).
// Usage: logging_bench FOLDER, which is not there yet.
#include <stdio.h>
#include <tern/tern.h>
#include <time.h>

#define SCALARS    100000
#define BATCH      8000 // that fit in the queue
#define HISTOGRAMS 100

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of the calls alone, with an empty queue at the start of each batch.
static double time_scalars(tern_logger *log)
{
    double seconds = 0;
    for (int64_t step = 0; step < SCALARS; step += BATCH) {
        (void)!tern_logger_flush(log);
        const double begun = now();
        for (int64_t i = 0; i < BATCH; i++)
            (void)!tern_logger_add_scalar(log, "train/loss", 0.1 * (double)i, step + i);
        seconds += now() - begun;
    }
    return seconds / SCALARS;
}

static double time_histograms(tern_logger *log, tern_tensor *weights, double *writer)
{
    double seconds = 0;
    *writer = 0;
    for (int64_t step = 0; step < HISTOGRAMS; step++) {
        (void)!tern_logger_flush(log);
        const double begun = now();
        (void)!tern_logger_add_histogram(log, "weights", weights, step);
        const double called = now();
        (void)!tern_logger_flush(log);
        seconds += called - begun;
        *writer += now() - called;
    }
    *writer /= HISTOGRAMS;
    return seconds / HISTOGRAMS;
}

int main(int argc, char **argv)
{
    tern_logger *log = argc == 2 ? tern_logger_new(argv[1]) : NULL;
    tern_tensor *weights = tern_randn(tern_dims(784, 512));
    double writer;
    if (!log || !weights)
        return argc == 2 ? tern_error_print(stderr) : 2;
    (void)time_scalars(log);
    const double scalar = time_scalars(log);
    (void)time_histograms(log, weights, &writer);
    const double histogram = time_histograms(log, weights, &writer);
    printf("scalar_ns %.0f histogram_us %.0f histogram_writer_us %.0f dropped %lld\n", 1e9 * scalar,
           1e6 * histogram, 1e6 * writer, (long long)tern_logger_dropped(log));
    tern_logger_free(log);
    return tern_error_print(stderr);
}
