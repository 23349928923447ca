// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define USUAL_COLUMNS  80
#define MOST_WORDS     6

double progress_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool has_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

void progress_begin(progress *p, int64_t epoch, int64_t epochs, int64_t total, bool quiet)
{
    const bool terminal = isatty(STDERR_FILENO) == 1;
    *p = (progress){.quiet = quiet,
                    .terminal = terminal,
                    .colour = terminal && has_colour(),
                    .epoch = epoch,
                    .epochs = epochs,
                    .total = total,
                    .started = progress_now()};
}

bool progress_due(const progress *p)
{
    return !p->quiet && p->terminal && progress_now() - p->drawn > REDRAW_SECONDS;
}

// ---- a line that fits ---------------------------------------------------------------------------

typedef struct words {
    char text[48];
    int rank; // the highest goes first where there is no room for all
    bool bold;
} words;

typedef struct line {
    words word[MOST_WORDS];
    int count;
} line;

__attribute__((format(printf, 4, 5))) static void add(line *l, int rank, bool bold,
                                                      const char *format, ...)
{
    words *w = &l->word[l->count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->text, sizeof w->text, format, arguments);
    va_end(arguments);
    w->rank = rank;
    w->bold = bold;
}

static int width_of(const line *l)
{
    int width = 2 * (l->count - 1);
    for (int i = 0; i < l->count; i++)
        width += (int)strlen(l->word[i].text);
    return width;
}

static void drop_one(line *l)
{
    int out = 0;
    for (int i = 1; i < l->count; i++)
        if (l->word[i].rank > l->word[out].rank)
            out = i;
    l->count--;
    memmove(&l->word[out], &l->word[out + 1], (size_t)(l->count - out) * sizeof l->word[0]);
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? USUAL_COLUMNS : size.ws_col;
}

// The last column stays free: some terminals wrap when it is written.
static void write_line(const progress *p, line *l)
{
    int width = p->terminal ? columns() - 1 : 1000;
    while (l->count > 1 && width_of(l) > width)
        drop_one(l);
    if (p->terminal)
        fputc('\r', stderr);
    for (int i = 0; i < l->count; i++) {
        const bool bold = p->colour && l->word[i].bold;
        fprintf(stderr, "%s%s%s%s", i ? "  " : "", bold ? "\033[1;32m" : "", l->word[i].text,
                bold ? "\033[0m" : "");
    }
    if (p->terminal) // over what an earlier line left
        fprintf(stderr, "%*s", width > width_of(l) ? width - width_of(l) : 0, "");
}

static line begin_line(const progress *p)
{
    line l = {.count = 0};
    add(&l, 0, false, "epoch %lld/%lld", (long long)p->epoch, (long long)p->epochs);
    return l;
}

static void add_figures(line *l, int64_t samples, double loss, double accuracy, double seconds)
{
    add(l, 1, false, "loss %.4f", loss);
    add(l, 3, false, "accuracy %.4f", accuracy);
    add(l, 5, false, "%.0f samples/s", seconds > 0 ? (double)samples / seconds : 0.0);
}

void progress_draw(progress *p, int64_t samples, double loss, double accuracy)
{
    p->drawn = progress_now();
    const double seconds = p->drawn - p->started;
    const double todo = (double)(p->total - samples + (p->epochs - p->epoch) * p->total);
    line l = begin_line(p);
    add(&l, 2, false, "%5.1f %%", 100.0 * (double)samples / (double)p->total);
    add_figures(&l, samples, loss, accuracy, seconds);
    add(&l, 4, false, "%.0f s left", seconds / (double)samples * todo);
    write_line(p, &l);
}

void progress_end(const progress *p, int64_t samples, double loss, double accuracy,
                  double test_accuracy)
{
    if (p->quiet)
        return;
    line l = begin_line(p);
    add_figures(&l, samples, loss, accuracy, progress_now() - p->started);
    add(&l, 0, true, "test accuracy %.4f", test_accuracy);
    write_line(p, &l);
    fputc('\n', stderr);
}

void progress_interrupt(const progress *p, int64_t samples)
{
    if (p->quiet)
        return;
    line l = begin_line(p);
    add(&l, 0, false, "stopped after %lld of %lld images", (long long)samples, (long long)p->total);
    write_line(p, &l);
    fputc('\n', stderr);
}
