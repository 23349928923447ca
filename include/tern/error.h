// SPDX-License-Identifier: Apache-2.0
/// @file
/// Errors are values. Nothing in tern exits, aborts or prints on its own.
///
/// A call that makes something returns NULL on failure, any other fallible call returns a
/// tern_status. The first failure stays pending in the calling thread, as a code and one sentence,
/// until it is printed, taken or cleared; the log callback sees it and every later failure. While
/// an error is pending, a call that is given NULL fails quietly with it, so a script may chain
/// calls and look once per step:
///
///     tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
///     if (tern_backward(loss) || tern_optim_step(opt))
///         return tern_error_print(stderr);
///
/// With `TERN_TRAP=1` in the environment the thread gets a SIGTRAP where an error becomes pending:
/// a debugger stops there, and a process without one ends.
///
/// Threads: everything here concerns the calling thread, except the log callback.
#ifndef TERN_ERROR_H
#define TERN_ERROR_H

#include <stdio.h>
#include <tern/base.h>

TERN_BEGIN_DECLS

/// What went wrong, in kinds. TERN_OK is 0, so `if (call())` reads "if it failed".
typedef enum tern_status {
    TERN_OK = 0,     ///< it worked
    TERN_ERR_NULL,   ///< a required argument is NULL
    TERN_ERR_ARG,    ///< an argument has a value that makes no sense
    TERN_ERR_SHAPE,  ///< shapes do not fit each other or the operation
    TERN_ERR_DTYPE,  ///< dtypes do not fit each other or the operation
    TERN_ERR_DEVICE, ///< operands on different devices, or no such device
    TERN_ERR_INDEX,  ///< an index or a label out of range
    TERN_ERR_STATE,  ///< the call does not fit the state of the object (dead, freed graph, ...)
    TERN_ERR_NOMEM,  ///< no memory
    TERN_ERR_IO,     ///< a file cannot be opened, read or written
    TERN_ERR_FORMAT, ///< a file is not what it should be
    TERN_ERR_UNSUPPORTED, ///< not available in this build or on this machine
    TERN_ERR_NUMERIC      ///< a value is not finite where it has to be
} tern_status;

/// Hands a status on for macros: gcc is silent when the value of a block in parentheses is thrown
/// away, but not when a function's is.
TERN_NODISCARD static inline tern_status tern_status_of_(tern_status status)
{
    return status;
}

/// The name of a code, for example "shape"; "unknown" for any other number. Static storage.
TERN_API const char *tern_status_name(tern_status code);

/// True while the calling thread has a pending error.
TERN_API bool tern_error_pending(void);

/// The code of the pending error, TERN_OK when there is none.
TERN_API tern_status tern_error_code(void);

/// The sentence of the pending error, "" when there is none. Valid until the thread's next error.
TERN_API const char *tern_error_message(void);

/// Writes where in the program the pending error was raised: the innermost call that is not tern's
/// own, as "train_step (train.c:42)"; at most `size` bytes with the final 0. Without debug
/// information or without libdw (elfutils), which is opened for this, it is the function and what
/// would give the line. The lines are looked up here, in files of this machine, in a thread that
/// ends again (libdw needs more stack than some threads have); that takes milliseconds. False, and
/// "", when no error is pending or its calls are not known (in a forked child). Where tern is
/// linked statically (libtern.a), its calls are told from the program's by debug information and by
/// names that begin with tern_. Thread-safe, waits for no device.
TERN_API bool tern_error_location(char *buffer, size_t size);

/// Writes "tern: <sentence>\n" to `file`, then "  at <location>\n" where there is one, and clears
/// the error. Returns the exit status for `main`: 1 when an error was pending, else 0 with nothing
/// written. NULL stands for stderr.
TERN_API int tern_error_print(FILE *file);

/// Copies the sentence into `buffer` (at most `size` bytes with the final 0; NULL with 0 to leave
/// it out), clears the error and returns its code, TERN_OK when there was none.
TERN_API tern_status tern_error_take(char *buffer, size_t size);

/// Forgets the pending error.
TERN_API void tern_error_clear(void);

/// Makes an error pending, for modules and operations of your own: a printf format whose result is
/// one sentence without a final newline. When one is pending already it stays and the new one only
/// goes to the log. Returns `code`, so that `return tern_error_raise(...)` reads well.
TERN_API tern_status tern_error_raise(tern_status code, const char *format, ...) TERN_PRINTF_(2, 3);

/// How loud a log line is.
typedef enum tern_log_level {
    TERN_LOG_UNSPECIFIED = 0, ///< no level
    TERN_LOG_ERROR,           ///< an error that became pending, in the thread of the callback
    TERN_LOG_LATER_ERROR,     ///< a failure that came while another error was pending
    TERN_LOG_WARN,            ///< something that works but is probably not meant
    TERN_LOG_INFO             ///< once-a-process facts
} tern_log_level;

/// Receives one line, without newline. May be called from any thread, never two at once, and with
/// cancellation disabled (tern/threads.h). At TERN_LOG_ERROR the error is pending already:
/// tern_error_location says where it was raised. It runs inside the call that failed, which may
/// hold locks: of tern it may use this header only.
typedef void tern_log_fn(tern_log_level level, const char *line, void *user);

/// Sets the process's log callback, which gets every line. With NULL (the start) warnings go to
/// stderr, each kind once, unless `TERN_LOG` is `off` in the environment; the rest is dropped.
/// When the call returns, the callback before is called no more and its `user` may be freed. Thread
/// safe.
TERN_API void tern_set_log(tern_log_fn *callback, void *user);

TERN_END_DECLS

#endif
