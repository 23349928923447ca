// SPDX-License-Identifier: Apache-2.0
// How wide the terminal is that a text goes to.
#ifndef TERN_SRC_BASE_TERMINAL_H
#define TERN_SRC_BASE_TERMINAL_H

#include <stdio.h>

// Columns of the terminal that `file` is, else what COLUMNS says, else `otherwise`. Keeps errno.
int tern_terminal_columns(FILE *file, int otherwise);

#endif
