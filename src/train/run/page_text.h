// SPDX-License-Identifier: Apache-2.0
// What a page is written with: texts stay texts, in JSON and in HTML.
#ifndef TERN_SRC_TRAIN_RUN_PAGE_TEXT_H
#define TERN_SRC_TRAIN_RUN_PAGE_TEXT_H

#include "io/save.h"

// Where the page is written to. After a failure, which is pending, nothing more is written.
typedef struct tern_page {
    tern_save save;
    tern_status status;
} tern_page;

void tern_page_put(tern_page *page, const char *text);
// As in the C locale; short texts.
void tern_page_format(tern_page *page, const char *format, ...) TERN_PRINTF_(2, 3);
// As a string of JSON in which no HTML begins or ends.
void tern_page_string(tern_page *page, const char *text);
// As text of HTML.
void tern_page_escaped(tern_page *page, const char *text);
// A number with all its digits; "nan", "inf" and "-inf" as strings.
void tern_page_number(tern_page *page, double value);
// Likewise with as many digits as a picture needs.
void tern_page_rounded(tern_page *page, double value);

#endif
