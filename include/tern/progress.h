// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a person sees of a run, and how a person ends it: a line that is drawn anew, and Ctrl-C.
///
///     tern_progress *p = tern_progress_new(stderr, .epochs = 5, .samples = 60000);
///     tern_interrupt_catch();
///     for (int epoch = 1; epoch <= 5 && !tern_interrupted(); epoch++) {
///         tern_progress_begin(p, epoch);
///         tern_each_batch (b, loader)
///             if (step(&b, &loss) || tern_progress_step(p, b.size, loss) || tern_interrupted())
///                 break;
///         tern_progress_end(p);
///     }
///     tern_interrupt_release();
///     tern_progress_free(p);
///
/// On a terminal the line is drawn in place, at most every 0.1 s and never wider than the terminal:
/// what matters least goes first. Elsewhere there is one line for each epoch. It has colours where
/// the terminal has them (TERM is neither unset nor "dumb") and NO_COLOR is unset or empty, and no
/// byte beyond ASCII but those of names that it is given. Between two drawings a step costs a look
/// at the clock, elsewhere than on a terminal not even that, and no device is waited for. What
/// cannot be written is passed over: a run does not end because its terminal did.
///
/// Threads: a progress is used by one thread at a time; any thread may ask tern_interrupted.
#ifndef TERN_PROGRESS_H
#define TERN_PROGRESS_H

#include <stdio.h>
#include <tern/error.h>
#include <tern/loader.h>
#include <tern/module.h>
#include <tern/options.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

// ---- the line -----------------------------------------------------------------------------------

/// The line of a run.
typedef struct tern_progress tern_progress;
TERN_REQUIRED_TYPE_(progress, tern_progress *)

/// The most figures that a line has; more are left out.
#define TERN_PROGRESS_FIGURES 24

/// `tern_progress_new(stderr, .epochs = 5, .samples = 60000, .loader = loader)`.
typedef struct tern_progress_new_options {
    int64_t epochs;            ///< of the run; 0: not known, and no time left is shown
    int64_t samples;           ///< of an epoch; 0: not known, and how much of it is done comes from
                               ///< the loader's batches, if that knows them
    const tern_loader *loader; ///< whose tern_loader_wait_share is shown, or NULL; borrowed
    bool quiet;                ///< nothing is written
    char reserved_;
    FILE *file; ///< where the line goes; borrowed
} tern_progress_new_options;
#define TERN_PROGRESS_NEW_DEFAULTS_ .epochs = 0, .samples = 0, .loader = NULL, .quiet = false
#define TERN_PROGRESS_NEW_FIELDS_   1, 0, (file), (file)
TERN_API tern_progress_new_options tern_progress_new_defaults(void);
/// A line of which nothing is drawn yet; freed with tern_progress_free. NULL on failure:
/// TERN_ERR_NULL without a file, TERN_ERR_ARG for a negative number.
TERN_API tern_progress *tern_progress_new_with(const tern_progress_new_options *options);
#define tern_progress_new(...)                                                                     \
    TERN_WITH_(tern_progress_new, tern_progress_new, TERN_PROGRESS_NEW, __VA_ARGS__)
/// Ends a line that is still drawn, and frees it. NULL is fine; one that was freed is
/// TERN_ERR_STATE, here and wherever it is used.
TERN_API void tern_progress_free(tern_progress *progress);

/// `tern_progress_begin(p, epoch)`, `tern_progress_begin(p, epoch, .done = samples)`.
typedef struct tern_progress_begin_options {
    int64_t done; ///< samples of the epoch that an earlier process has trained with
    char reserved_;
    tern_progress *progress; ///< whose epoch begins
    int64_t epoch;           ///< 1 or more
} tern_progress_begin_options;
#define TERN_PROGRESS_BEGIN_DEFAULTS_ .done = 0
#define TERN_PROGRESS_BEGIN_FIELDS_   2, 0, (progress, epoch), (progress, int64)
TERN_API tern_progress_begin_options tern_progress_begin_defaults(void);
/// An epoch begins, without figures. Fails, with an error pending, for NULL.
TERN_API void tern_progress_begin_with(const tern_progress_begin_options *options);
#define tern_progress_begin(...)                                                                   \
    TERN_WITH_(tern_progress_begin, tern_progress_begin, TERN_PROGRESS_BEGIN, __VA_ARGS__)

/// Whether the next tern_progress_step draws: only then figures are worth reading from a device.
/// False for NULL, with an error pending.
TERN_API bool tern_progress_due(const tern_progress *progress);

/// `tern_progress_show(p, "accuracy", 0.9)`, `tern_progress_show(p, "test accuracy", .9, .bold =
/// true)`.
typedef struct tern_progress_show_options {
    bool bold; ///< what the line is read for: it goes last, and is bold and green
    char reserved_;
    tern_progress *progress; ///< that shows it
    const char *name;        ///< "accuracy"; copied, of which 31 bytes count
    double value;            ///< any, shown as 0.1234, below 0.001 and from 1e6 on as 1.234e-05
} tern_progress_show_options;
#define TERN_PROGRESS_SHOW_DEFAULTS_ .bold = false
#define TERN_PROGRESS_SHOW_FIELDS_   3, 0, (progress, name, value), (progress, text, double)
TERN_API tern_progress_show_options tern_progress_show_defaults(void);
/// Sets a figure of the epoch, which stays in the line until it is set again or another epoch
/// begins. Figures stand in the order in which they came. Fails as tern_progress_begin.
TERN_API void tern_progress_show_with(const tern_progress_show_options *options);
#define tern_progress_show(...)                                                                    \
    TERN_WITH_(tern_progress_show, tern_progress_show, TERN_PROGRESS_SHOW, __VA_ARGS__)

/// Counts a step of so many samples, and draws the line where that is due: then the figure "loss"
/// becomes an average of what was read of `loss` so far, in which a reading counts 0.9 as much as
/// the one after it; one that is not finite is shown and does not count. `loss`, of one element on
/// any device, is read then and only then, which waits for it; NULL: the figure is as it was set.
/// Fails as tern_item; TERN_ERR_ARG for a negative number.
TERN_API TERN_NODISCARD tern_status tern_progress_step(tern_progress *progress, int64_t samples,
                                                       tern_tensor *loss);
/// Ends the line of the epoch with its figures, also elsewhere than on a terminal. Its rate is that
/// of the steps, without what came behind the last one. Fails as tern_progress_begin.
TERN_API void tern_progress_end(tern_progress *progress);
/// Ends it where the epoch was left: "epoch 2/5  stopped after 640 of 60000 samples".
TERN_API void tern_progress_stop(tern_progress *progress);
/// A line of its own, "resumed after step 1200", above the one that is drawn: a printf format
/// without a newline. Not where the progress is quiet.
TERN_API void tern_progress_note(tern_progress *progress, const char *format, ...)
    TERN_PRINTF_(2, 3);

// ---- interrupts ---------------------------------------------------------------------------------

/// `tern_interrupt_catch()`, `tern_interrupt_catch(.terminate = true)`.
typedef struct tern_interrupt_catch_options {
    bool terminate; ///< SIGTERM too, which batch systems send before they kill
    char reserved_;
} tern_interrupt_catch_options;
#define TERN_INTERRUPT_CATCH_DEFAULTS_ .terminate = false
#define TERN_INTERRUPT_CATCH_FIELDS_   0, 0, (), ()
TERN_API tern_interrupt_catch_options tern_interrupt_catch_defaults(void);
/// From now on the first SIGINT, which Ctrl-C sends, only makes tern_interrupted true, so that a
/// loop can end after its step. The second one does what it did before the call: it ends the
/// process at once, unless the program has a handler of its own. A signal that is ignored, as
/// SIGINT is for a job in the background of a shell, stays ignored. Calls nest: the outermost one
/// counts, and begins without an interrupt. Cannot fail but for NULL. Thread-safe.
TERN_API void tern_interrupt_catch_with(const tern_interrupt_catch_options *options);
#define tern_interrupt_catch(...)                                                                  \
    TERN_WITH_(tern_interrupt_catch, tern_interrupt_catch, TERN_INTERRUPT_CATCH, __VA_ARGS__)
/// Whether a signal has come since; it stays true after tern_interrupt_release, until the next
/// tern_interrupt_catch. One load.
TERN_API bool tern_interrupted(void);
/// Ends what tern_interrupt_catch began: signals do what they did before. Without one it does
/// nothing.
TERN_API void tern_interrupt_release(void);

TERN_END_DECLS

#endif
