// SPDX-License-Identifier: Apache-2.0
// The page: one file with its style, its script and the numbers that the script draws.
#include "train/run/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"

enum { MAX_RUNS = 32 };

// ---- texts --------------------------------------------------------------------------------------

static void put_bytes(tern_page *page, const char *bytes, size_t count)
{
    if (!page->status)
        page->status = tern_save_write(&page->save, bytes, count);
}

void tern_page_put(tern_page *page, const char *text)
{
    put_bytes(page, text, strlen(text));
}

void tern_page_format(tern_page *page, const char *format, ...)
{
    char text[TERN_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    tern_page_put(page, text);
}

void tern_page_string(tern_page *page, const char *text)
{
    tern_page_put(page, "\"");
    for (; *text; text++) {
        const size_t plain = strcspn(text, "\"\\<>&\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C"
                                           "\x0D\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19"
                                           "\x1A\x1B\x1C\x1D\x1E\x1F\x7F");
        put_bytes(page, text, plain);
        text += plain;
        if (!*text)
            break;
        char escaped[8];
        (void)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*text);
        tern_page_put(page, escaped);
    }
    tern_page_put(page, "\"");
}

void tern_page_escaped(tern_page *page, const char *text)
{
    for (; *text; text++) {
        const size_t plain = strcspn(text, "<>&\"'");
        put_bytes(page, text, plain);
        text += plain;
        if (!*text)
            break;
        tern_page_format(page, "&#%d;", *text);
    }
}

void tern_page_number(tern_page *page, double value)
{
    char text[32];
    if (isfinite(value)) {
        for (int digits = 9; digits <= 17; digits += 4) { // as few as give the same double
            (void)snprintf(text, sizeof text, "%.*g", digits, value);
            for (char *point = text; (point = strchr(point, ',')); point++)
                *point = '.';
            if (tern_text_double(text) == value)
                break;
        }
        tern_page_put(page, text);
    } else {
        tern_page_put(page, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
    }
}

// ---- the page -----------------------------------------------------------------------------------

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char *name_of(const tern_run *run)
{
    tern_run_info info;
    return tern_run_describe(run, &info) ? "" : info.name;
}

static void write_head(tern_page *page, int64_t count, tern_run *const *runs)
{
    tern_page_put(page, tern_page_head);
    tern_page_put(page, "<title>");
    for (int64_t i = 0; i < count; i++) {
        tern_page_put(page, i > 0 ? ", " : "");
        tern_page_escaped(page, name_of(runs[i]));
    }
    tern_page_put(page, "</title>\n<style>\n");
    tern_page_put(page, tern_page_style);
    tern_page_put(page,
                  "</style>\n</head>\n<body>\n<header class=\"top\"><div class=\"brand\"><b>"
                  "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\"><path d=\"M2 9c7-1 11 1 14 5 "
                  "3-4 7-6 14-5-5 1-9 4-11 9l-3 6-3-6C11 13 7 10 2 9z\"/></svg>tern</b></div>"
                  "</header>\n<main></main>\n<noscript><p>This page draws its curves by a script "
                  "of its own, which your browser does not run.</p></noscript>\n");
}

static void write_page(tern_page *page, int64_t count, tern_run *const *runs)
{
    write_head(page, count, runs);
    tern_page_put(page, "<script type=\"application/json\" id=\"data\">{\"written\":");
    tern_page_number(page, now());
    tern_page_put(page, ",\"tern\":");
    tern_page_string(page, tern_version());
    tern_page_put(page, ",\"runs\":[");
    for (int64_t i = 0; i < count; i++) {
        tern_page_put(page, i > 0 ? ",\n" : "\n");
        tern_page_run(page, runs[i]);
    }
    tern_page_put(page, "]}</script>\n<script>\n(() => {\n");
    tern_page_put(page, tern_page_script);
    tern_page_put(page, "})();\n</script>\n</body>\n</html>\n");
}

tern_status tern_page_save(const char *path, int64_t count, tern_run *const *runs)
{
    tern_page page = {.status = TERN_OK};
    TERN_TRY(tern_save_begin(&page.save, "run_page_write", path));
    write_page(&page, count, runs);
    if (!page.status)
        return tern_save_commit(&page.save);
    tern_save_abandon(&page.save);
    return page.status;
}

static tern_status check(const char *path, int64_t count, const char *const *folders)
{
    if (!path)
        return tern_null_error("run_page_write", "path");
    if (!folders)
        return tern_null_error("run_page_write", "folders");
    TERN_CHECK(count >= 1 && count <= MAX_RUNS, TERN_ERR_ARG,
               "run_page_write: a page shows 1 to %d runs, not %lld", MAX_RUNS, (long long)count);
    for (int64_t i = 0; i < count; i++)
        if (!folders[i])
            return tern_null_error("run_page_write", "a folder");
    return TERN_OK;
}

tern_status tern_run_page_write(const char *path, int64_t count, const char *const *folders)
{
    tern_run *runs[MAX_RUNS] = {NULL};
    tern_status status = TERN_OK;
    int64_t opened = 0;
    TERN_TRY(check(path, count, folders));
    for (; !status && opened < count; opened += !status) {
        runs[opened] = tern_run_read(folders[opened]);
        status = runs[opened] ? TERN_OK : tern_error_code();
    }
    if (!status)
        status = tern_page_save(path, count, runs);
    while (opened > 0)
        tern_run_free(runs[--opened]);
    return status;
}
