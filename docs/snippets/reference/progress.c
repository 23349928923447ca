// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/progress.h, for the site.
#include "examples.h"

static FILE *file;

static void show_progress_new(void)
{
    // [tern_progress_new]
    tern_progress *p = tern_progress_new(file, .epochs = 5, .samples = 60000);
    tern_progress_begin(p, 1);
    // [/tern_progress_new]
    expect(!tern_error_pending());
    tern_progress_free(p);
}

static void show_progress_begin(void)
{
    tern_progress *p = tern_progress_new(file, .epochs = 5, .samples = 60000);
    // [tern_progress_begin]
    tern_progress_begin(p, 2, .done = 6400); // of an epoch that is resumed
    tern_progress_stop(p);                   // epoch 2/5  stopped after 6400 of 60000 samples
    // [/tern_progress_begin]
    expect(!tern_error_pending());
    tern_progress_free(p);
}

static void show_progress_show(void)
{
    tern_progress *p = tern_progress_new(file);
    tern_progress_begin(p, 1);
    // [tern_progress_show]
    tern_progress_show(p, "test accuracy", 0.9, .bold = true);
    tern_progress_end(p);
    // [/tern_progress_show]
    expect(!tern_error_pending());
    tern_progress_free(p);
}

static void show_interrupt_catch(void)
{
    int64_t steps = 0;
    // [tern_interrupt_catch]
    tern_interrupt_catch(.terminate = true);
    for (; steps < 100 && !tern_interrupted(); steps++)
        continue; // a step
    // [/tern_interrupt_catch]
    tern_interrupt_release();
    expect(steps == 100);
}

int progress_examples(void)
{
    file = tmpfile();
    show_progress_new();
    show_progress_begin();
    show_progress_show();
    show_interrupt_catch();
    expect(file && !fclose(file));
    return failures;
}
