// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_FILE_PATH_H
#define TERN_SRC_DATA_FILE_PATH_H

#include <limits.h>
#include "base/error.h"

// Joins a directory and the name of a file in it; TERN_ERR_ARG for what is too long for a path.
tern_status tern_path_join(char path[PATH_MAX], const char *op, const char *directory,
                           const char *name);

// The name of a file without its directories.
const char *tern_path_name(const char *path);

#endif
