// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_TRAIN_RUN_PAGE_BINS_H
#define TERN_SRC_TRAIN_RUN_PAGE_BINS_H

#include "train/run/page_text.h"
#include "train/run/run.h"

// Writes the histograms of a tag as an object of JSON, over bins that all of them share.
void tern_page_histograms(tern_page *page, const tern_run_entry *entry);

#endif
