// SPDX-License-Identifier: Apache-2.0
// Logs of runs, read in two parts as of a run that goes on, and the pages of what was read.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tern/run.h>

#include "reader.h"

static char folder[] = "/tmp/tern-fuzz-XXXXXX", log_path[64], page_path[64];

static void remove_folder(void)
{
    unlink(log_path);
    unlink(page_path);
    rmdir(folder);
}

// Its log is the input's file.
static void make_folder(void)
{
    must(mkdtemp(folder) && atexit(remove_folder) == 0, "there is no folder");
    snprintf(log_path, sizeof log_path, "%s/log.jsonl", folder);
    snprintf(page_path, sizeof page_path, "%s/run.html", folder);
    must(symlink(file_name, log_path) == 0, "the folder has no log");
}

// False where memory failed, which is forgotten; nothing else may.
static bool worked(bool works, const char *sentence)
{
    must(works || memory_fails(), sentence);
    must(works != tern_error_pending(), "a failure and a pending error are not the same");
    tern_error_clear();
    return works;
}

static void check_curve(const tern_run *run, const char *tag)
{
    tern_run_points points;
    if (tern_run_curve(run, tag, &points)) {
        tern_error_clear(); // a process that resumed took it back
        return;
    }
    for (int64_t i = 1; i < points.count; i++)
        must(points.steps[i] > points.steps[i - 1], "steps are not in order");
}

static void check_run(const tern_run *run)
{
    tern_run_info info;
    must(!tern_run_describe(run, &info), "a run has no facts");
    must(info.damaged >= 0 && info.damaged <= info.lines, "more lines are damaged than there are");
    for (int64_t i = 0; i < tern_run_tags(run, TERN_RUN_SCALAR); i++)
        check_curve(run, tern_run_tag(run, TERN_RUN_SCALAR, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    const char *const folders[] = {folder};
    if (!*log_path)
        make_folder();
    (void)file_of(data, nbytes / 2);
    tern_run *run = tern_run_read(folder);
    if (!worked(run, "what there is of a log is not read"))
        return 0;
    check_run(run);
    (void)file_of(data, nbytes);
    (void)worked(tern_run_update(run) >= 0, "the rest of a log is not read");
    check_run(run);
    tern_run_free(run);
    (void)worked(!tern_run_page_write(page_path, 1, folders), "a page is not written");
    return 0;
}
