// SPDX-License-Identifier: Apache-2.0
// The page of runs that were read, and what is the same in every page, made from the files in
// page/.
#ifndef TERN_SRC_TRAIN_RUN_PAGE_H
#define TERN_SRC_TRAIN_RUN_PAGE_H

#include <tern/run.h>

extern const char tern_page_head[], tern_page_style[], tern_page_script[];

// Writes the page, whole or not at all.
tern_status tern_page_save(const char *path, int64_t count, tern_run *const *runs);

#endif
