// SPDX-License-Identifier: Apache-2.0
// Functions, files and lines of this process's code, from its debug information, by libdw
// (elfutils), which is opened when it is first needed. Only files of this machine are read.
#ifndef TERN_SRC_BASE_DEBUG_INFO_H
#define TERN_SRC_BASE_DEBUG_INFO_H

#include <stdbool.h>

typedef struct tern_debug_info tern_debug_info;

// What is known of an address. Strings live until the close; NULL where it is not known.
typedef struct tern_source {
    const char *function;
    const char *file; // as the compiler was given it
    int line;         // from 1; 0 when file is NULL
    const char *unit; // the source file that was compiled
} tern_source;

// NULL where there is no libdw, or no memory.
tern_debug_info *tern_debug_info_open(void);
void tern_debug_info_close(tern_debug_info *info); // NULL is fine

tern_source tern_debug_info_find(tern_debug_info *info, const void *code);

#endif
