// SPDX-License-Identifier: Apache-2.0
// Gives module paths their numbers.
#ifndef TERN_SRC_BASE_PATH_TABLE_H
#define TERN_SRC_BASE_PATH_TABLE_H

#include <stdint.h>
#include <tern/error.h>

// Sets *path to the number of the child of that name and class below `parent` (0: of a root): the
// same for the same three while it is known; NULL is no name. The strings are copied. A full table
// is emptied first, and a `parent` that is not known any more is none: the child is a root. When
// there are no numbers left *path is `parent`.
tern_status tern_path_child(uint32_t parent, const char *name, const char *class_name,
                            uint32_t *path);

// Frees all; no number is known afterwards.
void tern_path_shutdown(void);

#endif
