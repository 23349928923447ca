// SPDX-License-Identifier: Apache-2.0
/// @file
/// A setting of a run: a name and what it is set to, as tern_script_settings gives the options of
/// a program and a log takes them.
///
///     const tern_setting lr = {.name = "lr", .type = TERN_SETTING_DOUBLE, .number = 1e-3};
///
/// A setting is a value of its own; its name and its text are borrowed from whoever made it.
/// Nothing here owns memory or fails. Threads: any.
#ifndef TERN_SETTING_H
#define TERN_SETTING_H

#include <tern/base.h>

TERN_BEGIN_DECLS

/// Which member of a tern_setting is its value.
typedef enum tern_setting_type {
    TERN_SETTING_UNSPECIFIED = 0, ///< none
    TERN_SETTING_INT,             ///< .integer
    TERN_SETTING_DOUBLE,          ///< .number
    TERN_SETTING_BOOL,            ///< .truth
    TERN_SETTING_TEXT             ///< .text
} tern_setting_type;

/// A name and a value.
typedef struct tern_setting {
    const char *name;       ///< as the options of a program are called, "batch-size"
    tern_setting_type type; ///< which of the others is the value
    int64_t integer;        ///< of TERN_SETTING_INT
    double number;          ///< of TERN_SETTING_DOUBLE
    bool truth;             ///< of TERN_SETTING_BOOL
    const char *text;       ///< of TERN_SETTING_TEXT
} tern_setting;

TERN_END_DECLS

#endif
