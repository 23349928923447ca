// SPDX-License-Identifier: Apache-2.0
// What is the same in every page, made from the files in page/.
#ifndef TERN_SRC_TRAIN_RUN_PAGE_H
#define TERN_SRC_TRAIN_RUN_PAGE_H

extern const char tern_page_head[], tern_page_style[], tern_page_script[];

// Where the page is written to. After a failure, which is pending, nothing more is written.
typedef struct tern_page {
    tern_save save;
    tern_status status;
} tern_page;

// Writes the page of runs that were read, whole or not at all.
tern_status tern_page_save(const char *path, int64_t count, tern_run *const *runs);

void tern_page_put(tern_page *page, const char *text);
// As in the C locale; short texts.
void tern_page_format(tern_page *page, const char *format, ...) TERN_PRINTF_(2, 3);
// As a string of JSON in which no HTML begins or ends.
void tern_page_string(tern_page *page, const char *text);
// As text of HTML.
void tern_page_escaped(tern_page *page, const char *text);
// A number with all its digits; "nan", "inf" and "-inf" as strings.
void tern_page_number(tern_page *page, double value);

// A run as an object of JSON.
void tern_page_run(tern_page *page, const tern_run *run);
// The curve of a tag, thinned.
void tern_page_curve(tern_page *page, const tern_run *run, const char *tag, double started);
// The histograms of a tag, over bins that all of them share.
void tern_page_histograms(tern_page *page, const tern_run *run, const char *tag);

#endif
