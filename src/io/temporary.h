// SPDX-License-Identifier: Apache-2.0
// Names of temporary files: ".NAME.tmp.PID.N" beside the file NAME that they will become.
#ifndef TERN_SRC_IO_TEMPORARY_H
#define TERN_SRC_IO_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>

// -1 when it would be too long for a path.
int tern_temporary_name(char temporary[PATH_MAX], const char *path, unsigned number);

// Locks a temporary file that was just made, until it is closed. False when another process took it
// for one that was left, and removed it.
bool tern_temporary_take(int fd);

// Removes the temporary files that nobody writes any more, of processes that were killed: those
// of `path`, or, with `is_pattern`, of all files whose names fit its last part (fnmatch(3)). What
// cannot be removed stays.
void tern_temporaries_remove(const char *path, bool is_pattern);

#endif
