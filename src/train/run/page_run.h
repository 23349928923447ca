// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_TRAIN_RUN_PAGE_RUN_H
#define TERN_SRC_TRAIN_RUN_PAGE_RUN_H

#include "train/run/page_text.h"
#include "train/run/run.h"

// Writes a run as an object of JSON, its curves thinned.
void tern_page_run(tern_page *page, const tern_run *run);

#endif
