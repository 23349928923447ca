// SPDX-License-Identifier: Apache-2.0
// A file of a log: whole entries are gathered and appended by single write(2)s.
#ifndef TERN_SRC_TRAIN_LOG_FILE_H
#define TERN_SRC_TRAIN_LOG_FILE_H

#include <limits.h>
#include "train/log/bytes.h"

typedef struct tern_log_file {
    int fd;                  // -1: there is none
    char name[NAME_MAX + 1]; // in the folder
    int64_t size;            // bytes of whole entries in it
    tern_log_bytes pending;  // behind them
    int64_t entries;         // of `pending`
    int64_t unwritten;       // entries so far that could not be written
} tern_log_file;

// Opens `name` of the folder to append to; it is made where it is not there. False with errno.
bool tern_log_file_open(tern_log_file *file, const char *folder, const char *name);
// Appends what is pending, all or nothing. False, with errno, where that fails: it is lost.
bool tern_log_file_flush(tern_log_file *file);
// What is pending is lost.
void tern_log_file_close(tern_log_file *file);

#endif
