// SPDX-License-Identifier: Apache-2.0
// Raising errors inside the library: one-line checks, the rule for NULL operands, and log lines.
// Every call here leaves errno as it was and takes no memory from the allocator.
#ifndef TERN_SRC_BASE_ERROR_H
#define TERN_SRC_BASE_ERROR_H

#include <stdarg.h>
#include <tern/error.h>

// In a function that returns a tern_status: fails it unless `condition` holds.
#define TERN_CHECK(condition, code, ...)                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return tern_error_raise(code, __VA_ARGS__);                                            \
    } while (0)

// The same in a function that returns a pointer.
#define TERN_CHECK_PTR(condition, code, ...)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            tern_error_raise(code, __VA_ARGS__);                                                   \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

// Hands a failure on: `status` is evaluated once.
#define TERN_TRY(status)                                                                           \
    do {                                                                                           \
        tern_status tern_try_ = (status);                                                          \
        if (tern_try_ != TERN_OK)                                                                  \
            return tern_try_;                                                                      \
    } while (0)

// The failure of a call that was given NULL: with an error pending its code, quietly; else raises
// "<function>: <argument> is NULL".
tern_status tern_null_error(const char *function, const char *argument);

// tern_error_raise for a list of arguments.
tern_status tern_error_raise_v(tern_status code, const char *format, va_list arguments)
    TERN_PRINTF_(2, 0);

// An error that is raised after the first call becomes pending as ever, but the log and TERN_TRAP
// only learn of it by the second, if it is still pending then: what raises an error that it may
// drop, or say better, holds it back. Not to be nested.
void tern_error_delay(void);
void tern_error_report(void);

// With TERN_TRAP=1 a SIGTRAP for the calling thread.
void tern_trap(void);

// Sends one line to the log callback; without one, the first warning of a format goes to stderr.
void tern_log_send(tern_log_level level, const char *format, ...) TERN_PRINTF_(2, 3);
void tern_log_send_v(tern_log_level level, const char *format, va_list arguments)
    TERN_PRINTF_(2, 0);

#endif
