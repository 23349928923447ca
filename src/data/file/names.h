// SPDX-License-Identifier: Apache-2.0
// Names of classes, a line each, as data sets bring them in a file of text.
#ifndef TERN_SRC_DATA_FILE_NAMES_H
#define TERN_SRC_DATA_FILE_NAMES_H

#include <stdint.h>
#include "base/error.h"

typedef struct tern_class_names {
    char *text;        // all of them, each with a final 0
    size_t nbytes;     // of that
    const char **name; // (count)
    int64_t count;     // 0: there is no file
} tern_class_names;

// Reads `count` names; a file that is not there gives none. TERN_ERR_FORMAT for another number of
// them and for what is no UTF-8. On failure `names` is as before.
tern_status tern_class_names_read(tern_class_names *names, const char *op, const char *path,
                                  int64_t count);
// NULL where there is none.
const char *tern_class_names_at(const tern_class_names *names, int64_t label);
// A zeroed one is fine.
void tern_class_names_free(tern_class_names *names);

#endif
