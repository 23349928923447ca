// SPDX-License-Identifier: Apache-2.0
#include "base/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/integer.h"

#define PATH_SIZE 4096

// The first numbers of a file, each -1 where there is none ("max").
static void read_numbers(const char *directory, const char *name, long long *first,
                         long long *second)
{
    char path[PATH_SIZE + 32];
    *first = *second = -1;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fscanf(file, "%lld %lld", first, second) < 1)
        *first = -1;
    fclose(file);
}

// What one group may use: `time` microseconds of CPU time in every `period`; -1: no limit.
typedef void quota_fn(const char *directory, long long *time, long long *period);

static void quota_of_version_2(const char *directory, long long *time, long long *period)
{
    read_numbers(directory, "cpu.max", time, period);
}

static void quota_of_version_1(const char *directory, long long *time, long long *period)
{
    long long unused;
    read_numbers(directory, "cpu.cfs_quota_us", time, &unused);
    read_numbers(directory, "cpu.cfs_period_us", period, &unused);
}

static int min_cpus(int cpus, long long time, long long period)
{
    if (time <= 0 || period <= 0)
        return cpus;
    const long long quota = ceil_div(time, period);
    return quota < (cpus > 0 ? cpus : INT_MAX) ? (int)quota : cpus;
}

// Looks at a group and all above it. Where a container does not see the path of its group, the
// mount itself is that group.
static int climb(const char *mount, char *group, quota_fn *quota, int cpus)
{
    for (;;) {
        char directory[PATH_SIZE];
        long long time, period;
        snprintf(directory, sizeof directory, "%s%s", mount, group);
        quota(directory, &time, &period);
        cpus = min_cpus(cpus, time, period);
        char *slash = strrchr(group, '/');
        if (!slash)
            return cpus;
        *slash = '\0';
    }
}

static bool has_word(char *list, const char *word)
{
    char *rest = NULL;
    for (char *at = strtok_r(list, ",", &rest); at; at = strtok_r(NULL, ",", &rest))
        if (strcmp(at, word) == 0)
            return true;
    return false;
}

// A line is "number:controllers:path"; version 2 has the number 0 and no controllers.
static int look_at_line(char *line, const char *root, int cpus)
{
    char mount[PATH_SIZE];
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return cpus;
    *controllers++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (!*controllers)
        return climb(root, group, quota_of_version_2, cpus);
    if (!has_word(controllers, "cpu"))
        return cpus;
    snprintf(mount, sizeof mount, "%s/cpu", root);
    return climb(mount, group, quota_of_version_1, cpus);
}

int tern_cgroup_cpus(const char *groups, const char *root)
{
    char line[PATH_SIZE];
    int cpus = 0;
    FILE *file = fopen(groups, "re");
    while (file && fgets(line, sizeof line, file))
        cpus = look_at_line(line, root, cpus);
    if (file)
        fclose(file);
    return cpus;
}
