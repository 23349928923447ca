// SPDX-License-Identifier: Apache-2.0
#include "train/folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/save.h"
#include "io/temporary.h"

// Room for a step's name, and for a temporary name of it.
#define LONGEST_NAME (2 * TERN_STEP_NAME_SIZE)

// ---- making -------------------------------------------------------------------------------------

// All that is above the folder, then itself; one that another process makes meanwhile is fine.
static int make_all(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        const int failed = mkdir(path, 0777) && errno != EEXIST;
        *at = '/';
        if (failed)
            return -1;
    }
    return mkdir(path, 0777) && errno != EEXIST ? -1 : 0;
}

tern_status tern_folder_make(const char *op, const char *folder, char real[PATH_MAX])
{
    char path[PATH_MAX];
    struct stat facts;
    const size_t length = strlen(folder);
    TERN_CHECK(length > 0, TERN_ERR_ARG, "%s: the name of the folder is empty", op);
    TERN_CHECK(length + LONGEST_NAME < sizeof path, TERN_ERR_ARG,
               "%s: the name of the folder is too long", op);
    memcpy(path, folder, length + 1);
    TERN_CHECK(make_all(path) == 0, TERN_ERR_IO, "%s: cannot make the folder %s: %s", op, folder,
               tern_text_reason(errno));
    TERN_CHECK(realpath(folder, real) && stat(real, &facts) == 0, TERN_ERR_IO,
               "%s: cannot look at %s: %s", op, folder, tern_text_reason(errno));
    TERN_CHECK(S_ISDIR(facts.st_mode), TERN_ERR_IO, "%s: %s is a file, not a folder", op, folder);
    TERN_CHECK(strlen(real) + LONGEST_NAME < PATH_MAX, TERN_ERR_ARG,
               "%s: the name of the folder is too long", op);
    return TERN_OK;
}

// ---- names --------------------------------------------------------------------------------------

void tern_folder_path(const char *folder, const char *name, char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - LONGEST_NAME, folder, name);
}

void tern_folder_step_name(int64_t step, char name[TERN_STEP_NAME_SIZE])
{
    (void)snprintf(name, TERN_STEP_NAME_SIZE, "step-%08" PRId64 ".safetensors", step);
}

// The step of a file, -1 where the name is no file's.
static int64_t step_of(const char *name)
{
    char again[TERN_STEP_NAME_SIZE];
    if (strncmp(name, "step-", 5) != 0 || name[5] < '0' || name[5] > '9')
        return -1;
    const int64_t step = strtoll(name + 5, NULL, 10); // what it cannot be is named otherwise
    tern_folder_step_name(step, again);
    return strcmp(name, again) == 0 ? step : -1;
}

// ---- listing ------------------------------------------------------------------------------------

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

static tern_status add_step(tern_steps *steps, int64_t step)
{
    TERN_TRY(
        tern_mem_grow((void **)&steps->at, &steps->capacity, steps->count + 1, sizeof *steps->at));
    steps->at[steps->count++] = step;
    return TERN_OK;
}

static tern_status list(const char *op, const char *folder, DIR *open, tern_steps *steps)
{
    for (;;) {
        errno = 0;
        const struct dirent *file = readdir(open);
        TERN_CHECK(file || errno == 0, TERN_ERR_IO, "%s: cannot list %s: %s", op, folder,
                   tern_text_reason(errno));
        if (!file)
            return TERN_OK;
        if (step_of(file->d_name) >= 0)
            TERN_TRY(add_step(steps, step_of(file->d_name)));
    }
}

tern_status tern_folder_steps(const char *op, const char *folder, tern_steps *steps)
{
    DIR *open = opendir(folder);
    TERN_CHECK(open, TERN_ERR_IO, "%s: cannot open the folder %s: %s", op, folder,
               tern_text_reason(errno));
    tern_status status = list(op, folder, open, steps);
    closedir(open);
    if (!status && steps->count > 1)
        qsort(steps->at, (size_t)steps->count, sizeof *steps->at, compare);
    return status;
}

void tern_steps_free(tern_steps *steps)
{
    tern_mem_free(steps->at, (size_t)steps->capacity * sizeof *steps->at);
    *steps = (tern_steps){0};
}

// ---- the best one -------------------------------------------------------------------------------

// Where both names are one file already, renaming does nothing: the temporary one goes anyway.
bool tern_folder_link_best(const char *folder, const char *name)
{
    static _Atomic unsigned counter;
    char from[PATH_MAX], to[PATH_MAX], temporary[PATH_MAX];
    tern_folder_path(folder, name, from);
    tern_folder_path(folder, TERN_BEST_NAME, to);
    if (tern_temporary_name(temporary, to, atomic_fetch_add(&counter, 1)) || link(from, temporary))
        return false;
    const bool renamed = rename(temporary, to) == 0;
    unlink(temporary);
    return renamed && tern_folder_sync(folder) == 0;
}

void tern_folder_sweep(const char *folder)
{
    static const char *const names[] = {"step-*.safetensors", TERN_BEST_NAME};
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX];
        tern_folder_path(folder, names[i], path);
        tern_temporaries_remove(path, true);
    }
}
