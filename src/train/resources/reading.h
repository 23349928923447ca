// SPDX-License-Identifier: Apache-2.0
// Readings of files of the system, which tests put elsewhere.
#ifndef TERN_SRC_TRAIN_RESOURCES_READING_H
#define TERN_SRC_TRAIN_RESOURCES_READING_H

#include <tern/resources.h>

// Enough for what is looked for in /proc/cpuinfo, /proc/self/status and their like.
#define TERN_SYSTEM_FILE_SIZE 4096

// The beginning of the file root/path, up to `size` - 1 bytes and a 0. False: it cannot be read.
bool tern_system_read(const char *root, const char *path, char *text, size_t size);
// What follows `name` and blanks or a colon, at the beginning of a line; NULL: there is none.
const char *tern_system_find(const char *text, const char *name);

static inline tern_reading tern_reading_of(double value)
{
    return (tern_reading){.value = value, .known = true};
}

// Files are those below `root`: "" is the system's.
void tern_resources_read_below(tern_resources *resources, const char *root);
void tern_machine_read_below(tern_machine *machine, const char *root);

// Joules that the processors took since the last reading; not known of the first.
tern_reading tern_energy_read(tern_resources_last *last, const char *root);

// The host and the CUDA devices that are open.
void tern_device_memory_read(tern_resources *resources);

#endif
