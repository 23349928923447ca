// SPDX-License-Identifier: Apache-2.0
// Where the tensors of a file go: map_location.
#ifndef TERN_SRC_IO_LOCATIONS_H
#define TERN_SRC_IO_LOCATIONS_H

#include "io/archive.h"

#define TERN_MAX_LOCATIONS 64

// A pair of a map; the texts lie in the caller's.
typedef struct tern_location_pair {
    const char *from;
    size_t length; // of `from`
    tern_device to;
} tern_location_pair;

typedef struct tern_locations {
    bool all; // everything goes to at[0].to
    tern_location_pair at[TERN_MAX_LOCATIONS];
    int count;
} tern_locations;

// "cpu", or "cuda:1=cuda:0,cuda:2=cpu"; NULL: nothing is said. TERN_ERR_ARG, and TERN_ERR_DEVICE
// for a device that is not here.
tern_status tern_locations_parse(tern_locations *locations, const char *op, const char *text);
// Where what was saved on `location` goes (NULL: the file does not say); `name` is for the error.
tern_status tern_locations_find(const tern_locations *locations, const tern_file *file,
                                const char *name, const char *location, tern_device *device);

// A state of the values whose names fit `only` (NULL: all).
tern_state *tern_archive_load(tern_archive *archive, const tern_locations *locations,
                              const char *only);

#endif
