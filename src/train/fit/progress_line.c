// SPDX-License-Identifier: Apache-2.0
// A line that fits into the terminal: words of ranks, of which the highest goes first.
#include "train/fit/progress_line.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"

#define USUAL_COLUMNS 80
#define MAX_COLUMNS   1000 // elsewhere than on a terminal too
#define MAX_WORDS     (TERN_PROGRESS_FIGURES + 5)
#define GAP           2

typedef enum rank {
    RANK_EPOCH,
    RANK_BOLD, // after the epoch, so that it stays where only one of them fits
    RANK_LOSS,
    RANK_PERCENT,
    RANK_WAITS, // where that is much
    RANK_FIGURE,
    RANK_LEFT,
    RANK_RATE,
    RANK_WAITS_LITTLE,
} rank;

#define MUCH_WAITING 0.1

typedef struct words {
    char text[64];
    rank rank;
    bool bold;
} words;

typedef struct line {
    words word[MAX_WORDS];
    int count;
} line;

static void add(line *l, rank r, const char *format, ...) TERN_PRINTF_(3, 4);

static void add(line *l, rank r, const char *format, ...)
{
    words *w = &l->word[l->count++];
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(w->text, sizeof w->text, format, arguments);
    va_end(arguments);
    w->rank = r;
    w->bold = r == RANK_BOLD;
}

// ---- what is in it ------------------------------------------------------------------------------

// What four digits behind the point would make 0 of, or do not end.
static bool needs_exponent(double value)
{
    return isfinite(value) && value != 0 && (fabs(value) < 1e-3 || fabs(value) >= 1e6);
}

static void add_figure(line *l, const tern_figure *f)
{
    const rank r = f->bold ? RANK_BOLD : strcmp(f->name, "loss") == 0 ? RANK_LOSS : RANK_FIGURE;
    if (isnan(f->value))
        add(l, r, "%s nan", f->name); // of whichever sign
    else if (needs_exponent(f->value))
        add(l, r, "%s %.3e", f->name, f->value);
    else
        add(l, r, "%s %.4f", f->name, f->value);
}

static void add_figures(line *l, const tern_progress *p, bool bold)
{
    for (int i = 0; i < p->figure_count; i++)
        if (p->figures[i].bold == bold)
            add_figure(l, &p->figures[i]);
}

static void add_rate(line *l, const tern_progress *p, double seconds)
{
    if (seconds > 0)
        add(l, RANK_RATE, "%.0f samples/s", (double)(p->done - p->before) / seconds);
}

// Of an ended epoch only where it is news: the data is slower than the training.
static void add_waiting(line *l, const tern_progress *p, bool ended)
{
    const double share = p->loader ? tern_loader_wait_share(p->loader) : 0;
    const bool much = share >= MUCH_WAITING;
    if (p->loader && (much || !ended))
        add(l, much ? RANK_WAITS : RANK_WAITS_LITTLE, "waits %.0f %%", 100 * share);
}

// How much of the epoch is done, and, in `own`, by this process; NAN: not known.
static double share_of(const tern_progress *p, double *own)
{
    *own = p->samples   ? (double)(p->done - p->before) / (double)p->samples
           : p->batches ? (double)p->steps / (double)p->batches
                        : (double)NAN;
    return p->samples   ? (double)p->done / (double)p->samples
           : p->batches ? (double)tern_loader_position(p->loader) / (double)p->batches
                        : (double)NAN;
}

static void add_left(line *l, const tern_progress *p, double seconds)
{
    double own;
    const double share = share_of(p, &own), epochs_left = (double)(p->epochs - p->epoch);
    if (!p->epochs || isnan(share) || own <= 0 || epochs_left < 0)
        return;
    const double left = seconds / own * (1 - share + epochs_left) + (epochs_left + 1) * p->between;
    const long long s = left > 0 && left < 1e15 ? (long long)(left + 0.5) : 0;
    if (s < 100)
        add(l, RANK_LEFT, "%lld s left", s);
    else if (s < 3600)
        add(l, RANK_LEFT, "%lld:%02lld left", s / 60, s % 60);
    else
        add(l, RANK_LEFT, "%lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
}

static void add_epoch(line *l, const tern_progress *p)
{
    if (p->epochs)
        add(l, RANK_EPOCH, "epoch %lld/%lld", (long long)p->epoch, (long long)p->epochs);
    else
        add(l, RANK_EPOCH, "epoch %lld", (long long)p->epoch);
}

static void add_stopped(line *l, const tern_progress *p)
{
    if (p->samples)
        add(l, RANK_BOLD, "stopped after %lld of %lld samples", (long long)p->done,
            (long long)p->samples);
    else
        add(l, RANK_BOLD, "stopped after %lld samples", (long long)p->done);
    l->word[l->count - 1].bold = false;
}

static line line_of(const tern_progress *p, tern_progress_stage stage, int64_t now)
{
    line l = {.count = 0};
    const bool ended = stage == TERN_PROGRESS_ENDED;
    const int64_t end = p->last_step ? p->last_step : now; // what is behind it is no training
    const double seconds = 1e-9 * (double)(end - p->began);
    double own;
    add_epoch(&l, p);
    if (stage == TERN_PROGRESS_STOPPED) {
        add_stopped(&l, p);
        return l;
    }
    const double share = share_of(p, &own);
    if (!ended && !isnan(share))
        add(&l, RANK_PERCENT, "%5.1f %%", 100 * share);
    add_figures(&l, p, false);
    add_rate(&l, p, seconds);
    add_waiting(&l, p, ended);
    if (!ended)
        add_left(&l, p, seconds);
    add_figures(&l, p, true);
    return l;
}

// ---- as wide as the terminal --------------------------------------------------------------------

// Columns that a text takes at most: some characters beyond ASCII take two.
static int width_of_text(const char *text)
{
    int width = 0;
    for (const char *byte = text; *byte; byte++)
        width += ((unsigned char)*byte & 0xC0) == 0x80 ? 0 : (unsigned char)*byte < 0x80 ? 1 : 2;
    return width;
}

static int width_of(const line *l)
{
    int width = GAP * (l->count - 1);
    for (int i = 0; i < l->count; i++)
        width += width_of_text(l->word[i].text);
    return width;
}

static void drop_one(line *l)
{
    int out = 0;
    for (int i = 1; i < l->count; i++)
        if (l->word[i].rank >= l->word[out].rank)
            out = i;
    if (l->count == 2 && l->word[1].rank == RANK_BOLD)
        out = 0; // what the line is read for
    l->count--;
    memmove(&l->word[out], &l->word[out + 1], (size_t)(l->count - out) * sizeof l->word[0]);
}

// Without its first word, "accuracy 0.9" of "test accuracy 0.9", or, of what is no figure, without
// its last.
static void shorten(words *w)
{
    char *first = strchr(w->text, ' '), *last = strrchr(w->text, ' ');
    if (w->bold && first)
        memmove(w->text, first + 1, strlen(first));
    else if (last)
        *last = 0;
    else
        w->text[0] = 0;
}

static void fit_into(line *l, int width)
{
    while (l->count > 1 && width_of(l) > width)
        drop_one(l);
    while (l->word[0].text[0] && width_of(l) > width)
        shorten(&l->word[0]);
}

// The last column stays free: some terminals wrap when it is written.
static int columns_of(const tern_progress *p)
{
    if (!p->terminal)
        return MAX_COLUMNS;
    const int columns = tern_terminal_columns(p->file, USUAL_COLUMNS);
    return (columns < MAX_COLUMNS ? columns : MAX_COLUMNS) - 1;
}

// In one piece, so that it does not flicker and no other output comes in between.
void tern_progress_write_line(tern_progress *p, tern_progress_stage stage, int64_t now)
{
    char text[4 * MAX_COLUMNS];
    const int width = columns_of(p);
    line l = line_of(p, stage, now);
    tern_writer out = {.buffer = text, .size = sizeof text};
    fit_into(&l, width);
    tern_write(&out, "%s", p->terminal ? "\r" : "");
    for (int i = 0; i < l.count; i++) {
        const bool bold = p->colour && l.word[i].bold;
        tern_write(&out, "%*s%s%s%s", i ? GAP : 0, "", bold ? "\033[1;32m" : "", l.word[i].text,
                   bold ? "\033[0m" : "");
    }
    if (p->terminal) // over what an earlier line left
        tern_write(&out, "%*s", width > width_of(&l) ? width - width_of(&l) : 0, "");
    if (stage != TERN_PROGRESS_DRAWN)
        tern_write(&out, "\n");
    p->open = stage == TERN_PROGRESS_DRAWN;
    (void)!fwrite(text, 1, strlen(text), p->file);
    (void)fflush(p->file);
}
