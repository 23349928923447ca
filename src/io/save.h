// SPDX-License-Identifier: Apache-2.0
// Writing a file so that its name always has a whole one: into a temporary file of its folder,
// which takes the name when everything is on the disk.
#ifndef TERN_SRC_IO_SAVE_H
#define TERN_SRC_IO_SAVE_H

#include <limits.h>
#include "base/error.h"

typedef struct tern_save {
    const char *op;
    const char *shown;        // the path, for messages; borrowed
    char path[PATH_MAX];      // links resolved
    char temporary[PATH_MAX]; // "" when there is none
    int fd;
    int64_t written;   // bytes so far, those in the buffer included
    size_t used;       // of the buffer
    char buffer[8192]; // small writes are gathered
} tern_save;

// Begins a file. After success tern_save_commit or tern_save_abandon is due.
tern_status tern_save_begin(tern_save *save, const char *op, const char *path);
// Appends bytes.
tern_status tern_save_write(tern_save *save, const void *data, size_t nbytes);
// Appends zeros up to a multiple of `alignment`.
tern_status tern_save_pad(tern_save *save, size_t alignment);
// Puts everything on the disk under the file's name, over what had it; on failure that is as it
// was, and the temporary file is gone.
tern_status tern_save_commit(tern_save *save);
// Puts the names in a folder on the disk, where it can be; -1 with errno where that fails.
int tern_folder_sync(const char *folder);
// Takes the temporary file away.
void tern_save_abandon(tern_save *save);

#endif
