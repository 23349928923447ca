// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1

double progress_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *p, int64_t epoch, int64_t epochs, int64_t total, bool quiet)
{
    *p = (progress){.quiet = quiet,
                    .terminal = isatty(STDERR_FILENO) == 1,
                    .epoch = epoch,
                    .epochs = epochs,
                    .total = total,
                    .started = progress_now()};
}

bool progress_due(const progress *p)
{
    return !p->quiet && p->terminal && progress_now() - p->drawn > REDRAW_SECONDS;
}

static void draw_figures(const progress *p, int64_t samples, double loss, double accuracy)
{
    double seconds = progress_now() - p->started;
    fprintf(stderr, "epoch %lld/%lld  %5.1f %%  loss %.4f  accuracy %.4f  %.0f samples/s",
            (long long)p->epoch, (long long)p->epochs, 100.0 * (double)samples / (double)p->total,
            loss, accuracy, seconds > 0 ? (double)samples / seconds : 0.0);
}

void progress_draw(progress *p, int64_t samples, double loss, double accuracy)
{
    p->drawn = progress_now();
    double per_sample = (p->drawn - p->started) / (double)samples;
    double left = per_sample * (double)(p->total - samples + (p->epochs - p->epoch) * p->total);
    fputc('\r', stderr);
    draw_figures(p, samples, loss, accuracy);
    fprintf(stderr, "  %.0f s left  ", left);
}

void progress_end(progress *p, int64_t samples, double loss, double accuracy, double test_accuracy)
{
    if (p->quiet)
        return;
    if (p->terminal)
        fputc('\r', stderr);
    draw_figures(p, samples, loss, accuracy);
    fprintf(stderr, "  test accuracy %.4f\n", test_accuracy);
}
