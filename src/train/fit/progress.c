// SPDX-License-Identifier: Apache-2.0
// The progress of a run: what it counts and shows, and when it is drawn.
#include "train/fit/progress_line.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "tensor/liveness.h"

#define REDRAW_NANOSECONDS 100000000
#define DECAY              0.9 // of what a reading counts, with each that follows

static tern_status check(const char *function, const tern_progress *p)
{
    if (!p)
        return tern_null_error(function, "progress");
    TERN_CHECK(!p->freed, TERN_ERR_STATE, "%s: this progress was freed already", function);
    return TERN_OK;
}

static void write_line(tern_progress *p, tern_progress_stage stage, int64_t now)
{
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_progress_write_line(p, stage, now);
    tern_cancel_restore(cancel_state);
    errno = saved;
}

// ---- making and freeing -------------------------------------------------------------------------

static bool has_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

static bool is_terminal(FILE *file)
{
    const int saved = errno;
    const bool terminal = isatty(fileno(file)) == 1;
    errno = saved;
    return terminal;
}

// A stream cannot say; nor can a loader that is not there.
static int64_t count_batches(const tern_loader *loader)
{
    if (!loader || tern_error_pending())
        return 0;
    tern_error_delay();
    const int64_t batches = tern_loader_batches(loader);
    if (batches < 0)
        tern_error_clear();
    tern_error_report();
    return batches < 0 ? 0 : batches;
}

tern_progress *tern_progress_new_with(const tern_progress_new_options *o)
{
    static const char op[] = "progress_new";
    if (!o || !o->file)
        return (void)tern_null_error(op, o ? "file" : "options"), NULL;
    TERN_CHECK_PTR(o->epochs >= 0, TERN_ERR_ARG, "%s: epochs is %lld, not 0 or more", op,
                   (long long)o->epochs);
    TERN_CHECK_PTR(o->samples >= 0, TERN_ERR_ARG, "%s: samples is %lld, not 0 or more", op,
                   (long long)o->samples);
    tern_progress *p = tern_mem_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->file = o->file;
    p->loader = o->loader;
    p->epochs = o->epochs;
    p->samples = o->samples;
    p->quiet = o->quiet;
    p->terminal = !p->quiet && is_terminal(o->file);
    p->colour = p->terminal && has_colour();
    p->batches = p->quiet ? 0 : count_batches(o->loader);
    return p;
}

static void end_open_line(tern_progress *p)
{
    const int saved = errno, cancel_state = tern_cancel_disable();
    if (p->open && fputc('\n', p->file) != EOF)
        (void)fflush(p->file);
    p->open = false;
    tern_cancel_restore(cancel_state);
    errno = saved;
}

void tern_progress_free(tern_progress *p)
{
    if (!p || check("progress_free", p))
        return;
    end_open_line(p);
    p->freed = true;
    tern_mem_free_deferred(p, sizeof *p, offsetof(tern_progress, quiet));
}

// ---- epochs and steps ---------------------------------------------------------------------------

void tern_progress_begin_with(const tern_progress_begin_options *o)
{
    static const char op[] = "progress_begin";
    if (!o) {
        (void)tern_null_error(op, "options");
        return;
    }
    tern_progress *p = o->progress;
    if (check(op, p))
        return;
    const int64_t now = tern_clock_now();
    p->between = p->last_step ? 1e-9 * (double)(now - p->last_step) : 0;
    p->epoch = o->epoch;
    p->done = p->before = o->done;
    p->began = now;
    p->drawn = p->last_step = p->steps = 0;
    p->figure_count = 0;
}

static bool is_due(const tern_progress *p, int64_t now)
{
    return now - p->drawn > REDRAW_NANOSECONDS;
}

bool tern_progress_due(const tern_progress *p)
{
    return !check("progress_due", p) && p->terminal && is_due(p, tern_clock_now());
}

// How many bytes of a name are kept: whole characters.
static size_t length_of(const char *name)
{
    const size_t size = strnlen(name, sizeof((tern_figure *)NULL)->name - 1);
    size_t length = 0;
    for (size_t used; length < size; length += used) {
        used = tern_utf8_length(name + length, size - length);
        if (used == 0)
            break;
    }
    return length;
}

static tern_figure *find(tern_progress *p, const char *name)
{
    const size_t length = length_of(name);
    for (int i = 0; i < p->figure_count; i++) {
        const char *known = p->figures[i].name;
        if (strncmp(known, name, length) == 0 && known[length] == 0)
            return &p->figures[i];
    }
    if (p->figure_count == TERN_PROGRESS_FIGURES)
        return NULL;
    tern_figure *new = &p->figures[p->figure_count++];
    snprintf(new->name, sizeof new->name, "%.*s", (int)length, name);
    return new;
}

void tern_progress_show_with(const tern_progress_show_options *o)
{
    static const char op[] = "progress_show";
    if (!o || (!o->name && o->progress)) {
        (void)tern_null_error(op, o ? "name" : "options");
        return;
    }
    tern_figure *figure = check(op, o->progress) ? NULL : find(o->progress, o->name);
    if (!figure)
        return;
    figure->value = o->value;
    figure->bold = o->bold;
}

static tern_status read_loss(tern_progress *p, tern_tensor *loss)
{
    const double value = tern_item(loss);
    TERN_TRY(tern_error_code());
    if (isfinite(value)) {
        p->loss = DECAY * p->loss + (1 - DECAY) * value;
        p->weight = DECAY * p->weight + (1 - DECAY);
    }
    tern_progress_show(p, "loss", isfinite(value) ? p->loss / p->weight : value);
    return TERN_OK;
}

static bool is_last_step(const tern_progress *p)
{
    return p->samples   ? p->done >= p->samples
           : p->batches ? tern_loader_position(p->loader) >= p->batches
                        : false;
}

tern_status tern_progress_step(tern_progress *p, int64_t samples, tern_tensor *loss)
{
    static const char op[] = "progress_step";
    TERN_TRY(check(op, p));
    TERN_CHECK(samples >= 0, TERN_ERR_ARG, "%s: samples is %lld, not 0 or more", op,
               (long long)samples);
    if (loss)
        TERN_TRY(tern_check_tensor(op, "loss", loss));
    p->done += samples;
    p->steps++;
    if (p->terminal || (!p->quiet && is_last_step(p)))
        p->last_step = tern_clock_now();
    if (!p->terminal || !is_due(p, p->last_step))
        return TERN_OK;
    if (loss)
        TERN_TRY(read_loss(p, loss));
    p->drawn = tern_clock_now();
    write_line(p, TERN_PROGRESS_DRAWN, p->drawn);
    return TERN_OK;
}

static void close_line(const char *function, tern_progress *p, tern_progress_stage stage)
{
    if (!check(function, p) && !p->quiet)
        write_line(p, stage, tern_clock_now());
}

void tern_progress_end(tern_progress *p)
{
    close_line("progress_end", p, TERN_PROGRESS_ENDED);
}

void tern_progress_stop(tern_progress *p)
{
    close_line("progress_stop", p, TERN_PROGRESS_STOPPED);
}

void tern_progress_note(tern_progress *p, const char *format, ...)
{
    char text[TERN_MESSAGE_SIZE];
    va_list arguments;
    if (check("progress_note", p))
        return;
    if (!format) {
        (void)tern_null_error("progress_note", "format");
        return;
    }
    if (p->quiet)
        return;
    va_start(arguments, format);
    tern_text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    end_open_line(p);
    const int saved = errno, cancel_state = tern_cancel_disable();
    (void)!fprintf(p->file, "%s\n", text);
    (void)fflush(p->file);
    tern_cancel_restore(cancel_state);
    errno = saved;
}
