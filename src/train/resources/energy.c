// SPDX-License-Identifier: Apache-2.0
// Energy counters of Linux' powercap: one a package, in microjoules, which begin again at 0 where
// they are full.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "train/resources/reading.h"

#define FOLDER "/sys/class/powercap/intel-rapl:"

// A whole number, -1 for none.
static int64_t read_number(const char *root, int counter, const char *name)
{
    char path[80], text[32];
    snprintf(path, sizeof path, FOLDER "%d/%s", counter, name);
    if (!tern_system_read(root, path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return -1;
    return strtoll(text, NULL, 10);
}

// Others are parts of packages, or, psys, have them as parts.
static bool is_package(const char *root, int counter)
{
    char path[80], text[32];
    snprintf(path, sizeof path, FOLDER "%d/name", counter);
    return tern_system_read(root, path, text, sizeof text) &&
           strncmp(text, "package", strlen("package")) == 0;
}

// What a counter has counted since it showed `before`.
static int64_t counted_since(int64_t before, int64_t now, int64_t range)
{
    if (now >= before)
        return now - before;
    return range > before ? range - before + now : -1;
}

tern_reading tern_energy_read(tern_resources_last *last, const char *root)
{
    const int before = last->counters;
    int64_t sum = 0;
    bool known = before > 0;
    int found = 0;
    for (int i = 0; i < TERN_RESOURCES_DEVICES; i++) {
        const int64_t now = is_package(root, i) ? read_number(root, i, "energy_uj") : -1;
        if (now < 0)
            continue;
        const int64_t range = read_number(root, i, "max_energy_range_uj");
        const int64_t counted = counted_since(last->microjoules[i], now, range);
        known = known && counted >= 0;
        sum += counted;
        last->microjoules[i] = now;
        found++;
    }
    last->counters = found;
    return known && found == before ? tern_reading_of((double)sum * 1e-6) : (tern_reading){0};
}
