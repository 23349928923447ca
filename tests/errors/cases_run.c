// SPDX-License-Identifier: Apache-2.0
// run.h
#include "errors.h"

#include <stdlib.h>
#include <unistd.h>

#define NO_RUN(function, op, ...)                                                                  \
    REFUSES(function, "a run that is NULL", TERN_ERR_NULL, op ": run is NULL", __VA_ARGS__)

static tern_run_info info;
static tern_run_points points;
static tern_run_buckets buckets;
static tern_run_picture picture;
static tern_run_cells cells;
static tern_run_pr curve;

// ---- reading ------------------------------------------------------------------------------------

REFUSES(tern_run_read, "a folder that is NULL", TERN_ERR_NULL, "run_read: folder is NULL",
        tern_run_read(NULL))
REFUSES(tern_run_read, "a folder without a name", TERN_ERR_ARG,
        "run_read: the name of the folder is empty", tern_run_read(""))
REFUSES(tern_run_read, "a folder without a log", TERN_ERR_IO,
        "run_read: cannot open /proc/log.jsonl: No such file", tern_run_read("/proc"))
NO_RUN(tern_run_update, "run_update", tern_run_update(NULL) == -1)
CANNOT_FAIL(tern_run_free, "NULL is fine", (tern_run_free(NULL), 1))
TAKES(tern_run_free, "NULL", (tern_run_free(NULL), 1))
CANNOT_FAIL(tern_run_status_name, "another number is unknown",
            strcmp(tern_run_status_name((tern_run_status)9), "unknown") == 0)

// ---- NULL ---------------------------------------------------------------------------------------

NO_RUN(tern_run_describe, "run_describe", tern_run_describe(NULL, &info))
NO_RUN(tern_run_tags, "run_tags", tern_run_tags(NULL, TERN_RUN_SCALAR) == -1)
NO_RUN(tern_run_tag, "run_tag", tern_run_tag(NULL, TERN_RUN_SCALAR, 0))
NO_RUN(tern_run_curve, "run_curve", tern_run_curve(NULL, "x", &points))
NO_RUN(tern_run_histograms, "run_histograms", tern_run_histograms(NULL, "x") == -1)
NO_RUN(tern_run_histogram, "run_histogram", tern_run_histogram(NULL, "x", 0, &buckets))
NO_RUN(tern_run_image, "run_image", tern_run_image(NULL, "x", &picture))
NO_RUN(tern_run_text, "run_text", tern_run_text(NULL, "x"))
NO_RUN(tern_run_matrix, "run_matrix", tern_run_matrix(NULL, "x", &cells))
NO_RUN(tern_run_pr_curve, "run_pr_curve", tern_run_pr_curve(NULL, "x", &curve))
NO_RUN(tern_run_settings, "run_settings", tern_run_settings(NULL) == -1)
NO_RUN(tern_run_setting, "run_setting", tern_run_setting(NULL, 0).name)
NO_RUN(tern_run_facts, "run_facts", tern_run_facts(NULL) == -1)
NO_RUN(tern_run_fact_at, "run_fact_at", tern_run_fact_at(NULL, 0).name)

// ---- what a run has not -------------------------------------------------------------------------

static const char log_text[] =
    "{\"kind\":\"run\",\"time\":1,\"name\":\"a\"}\n"
    "{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"tag\":\"x\",\"value\":1}\n"
    "{\"kind\":\"histogram\",\"step\":1,\"time\":1,\"tag\":\"x\",\"min\":0,\"max\":0,\"count\":1,"
    "\"limits\":[0],\"counts\":[1]}\n"
    "{\"kind\":\"image\",\"step\":1,\"time\":1,\"tag\":\"x\",\"height\":1,\"width\":1,"
    "\"png\":\"iVBORw0KGgo=\"}\n"
    "{\"kind\":\"matrix\",\"step\":1,\"time\":1,\"tag\":\"x\",\"rows\":1,\"columns\":1,"
    "\"values\":[1],\"names\":null}\n"
    "{\"kind\":\"pr_curve\",\"step\":1,\"time\":1,\"tag\":\"x\",\"precision\":[1],"
    "\"recall\":[1]}\n";

static tern_run *run;

static void close_run(void)
{
    tern_run_free(run);
}

// Made once, for all cases, and freed when the program ends.
static const tern_run *a_run(void)
{
    char folder[] = "/tmp/tern-test-XXXXXX", path[64];
    if (run || !mkdtemp(folder))
        return run;
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    FILE *file = fopen(path, "w");
    if (file && fputs(log_text, file) >= 0 && fclose(file) == 0)
        run = tern_run_read(folder);
    unlink(path);
    rmdir(folder);
    atexit(close_run);
    return run;
}

REFUSES(tern_run_describe, "no place for it", TERN_ERR_NULL, "run_describe: info is NULL",
        tern_run_describe(a_run(), NULL))
REFUSES(tern_run_tags, "a kind that is none", TERN_ERR_ARG, "run_tags: 7 is no kind of a run",
        tern_run_tags(a_run(), (tern_run_kind)7) == -1)
REFUSES(tern_run_tag, "a kind that is none", TERN_ERR_ARG, "run_tag: 0 is no kind of a run",
        tern_run_tag(a_run(), TERN_RUN_KIND_UNSPECIFIED, 0))
REFUSES(tern_run_tag, "a number out of range", TERN_ERR_INDEX,
        "run_tag: there is no tag -1 of this kind, the run has 1",
        tern_run_tag(a_run(), TERN_RUN_SCALAR, -1))
REFUSES(tern_run_curve, "a tag that is NULL", TERN_ERR_NULL, "run_curve: tag is NULL",
        tern_run_curve(a_run(), NULL, &points))
REFUSES(tern_run_curve, "a tag that is not there", TERN_ERR_INDEX,
        "run_curve: the run a has no curve y", tern_run_curve(a_run(), "y", &points))
REFUSES(tern_run_curve, "no place for it", TERN_ERR_NULL, "run_curve: points is NULL",
        tern_run_curve(a_run(), "x", NULL))
REFUSES(tern_run_histograms, "a tag that is not there", TERN_ERR_INDEX,
        "run_histograms: the run a has no histogram y", tern_run_histograms(a_run(), "y") == -1)
REFUSES(tern_run_histogram, "a number out of range", TERN_ERR_INDEX,
        "run_histogram: there is no histogram 1 of x, 1 are kept",
        tern_run_histogram(a_run(), "x", 1, &buckets))
REFUSES(tern_run_histogram, "no place for it", TERN_ERR_NULL, "run_histogram: buckets is NULL",
        tern_run_histogram(a_run(), "x", 0, NULL))
REFUSES(tern_run_image, "a tag that is not there", TERN_ERR_INDEX,
        "run_image: the run a has no image y", tern_run_image(a_run(), "y", &picture))
REFUSES(tern_run_image, "no place for it", TERN_ERR_NULL, "run_image: picture is NULL",
        tern_run_image(a_run(), "x", NULL))
REFUSES(tern_run_text, "a tag that is not there", TERN_ERR_INDEX,
        "run_text: the run a has no text x", tern_run_text(a_run(), "x"))
REFUSES(tern_run_matrix, "no place for it", TERN_ERR_NULL, "run_matrix: cells is NULL",
        tern_run_matrix(a_run(), "x", NULL))
REFUSES(tern_run_pr_curve, "no place for it", TERN_ERR_NULL, "run_pr_curve: curve is NULL",
        tern_run_pr_curve(a_run(), "x", NULL))
REFUSES(tern_run_setting, "a number out of range", TERN_ERR_INDEX,
        "run_setting: there is no number 0, the run has 0", tern_run_setting(a_run(), 0).name)
REFUSES(tern_run_fact_at, "a number out of range", TERN_ERR_INDEX,
        "run_fact_at: there is no number 9, the run has 0", tern_run_fact_at(a_run(), 9).name)

// ---- the page -----------------------------------------------------------------------------------

REFUSES(tern_run_page_write, "a path that is NULL", TERN_ERR_NULL, "run_page_write: path is NULL",
        tern_run_page_write(NULL, 1, (const char *[]){"/proc"}))
REFUSES(tern_run_page_write, "folders that are NULL", TERN_ERR_NULL,
        "run_page_write: folders is NULL", tern_run_page_write("/proc/a", 1, NULL))
REFUSES(tern_run_page_write, "a folder that is NULL", TERN_ERR_NULL,
        "run_page_write: folder 0 is NULL",
        tern_run_page_write("/proc/a", 1, (const char *[]){NULL}))
REFUSES(tern_run_page_write, "no run", TERN_ERR_ARG,
        "run_page_write: a page shows 1 to 32 runs, not 0",
        tern_run_page_write("/proc/a", 0, (const char *[]){"/proc"}))
REFUSES(tern_run_page_write, "a folder without a log", TERN_ERR_IO,
        "run_page_write: cannot open /proc/log.jsonl: No such file",
        tern_run_page_write("/proc/a", 1, (const char *[]){"/proc"}))
