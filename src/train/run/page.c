// SPDX-License-Identifier: Apache-2.0
// The page: one file with its style, its script and the numbers that the script draws.
#include "train/run/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "train/run/page_run.h"

enum { MAX_RUNS = 32 };

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
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "folder %lld", (long long)i);
        if (!folders[i])
            return tern_null_error("run_page_write", name);
    }
    return TERN_OK;
}

tern_status tern_run_page_write(const char *path, int64_t count, const char *const *folders)
{
    tern_run *runs[MAX_RUNS] = {NULL};
    tern_status status = TERN_OK;
    int64_t opened = 0;
    const int saved = errno;
    TERN_TRY(check(path, count, folders));
    for (; !status && opened < count; opened += !status) {
        runs[opened] = tern_run_open("run_page_write", folders[opened]);
        status = runs[opened] ? TERN_OK : tern_error_code();
    }
    if (!status)
        status = tern_page_save(path, count, runs);
    while (opened > 0)
        tern_run_free(runs[--opened]);
    errno = saved;
    return status;
}
