// SPDX-License-Identifier: Apache-2.0
#include "io/locations.h"

#include <stdlib.h>
#include <string.h>
#include <tern/cuda.h>

#define LONGEST 64

static tern_status device_of(const char *op, const char *text, size_t length, tern_device *device)
{
    char name[LONGEST];
    TERN_CHECK(length > 0 && length < sizeof name, TERN_ERR_ARG,
               "%s: .map_location has no device in \"%.64s\"", op, text);
    memcpy(name, text, length);
    name[length] = 0;
    TERN_TRY(tern_device_parse(name, device));
    return TERN_OK;
}

static tern_status take_pair(tern_locations *l, const char *op, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    TERN_CHECK(equals && equals > text, TERN_ERR_ARG,
               "%s: .map_location has \"%.64s\", which is no pair like cuda:1=cuda:0", op, text);
    TERN_CHECK(l->count < TERN_MAX_LOCATIONS, TERN_ERR_ARG,
               "%s: .map_location has more than %d pairs", op, TERN_MAX_LOCATIONS);
    tern_location_pair *pair = &l->at[l->count++];
    pair->from = text;
    pair->length = (size_t)(equals - text);
    return device_of(op, equals + 1, length - pair->length - 1, &pair->to);
}

tern_status tern_locations_parse(tern_locations *l, const char *op, const char *text)
{
    *l = (tern_locations){.count = 0};
    if (!text)
        return TERN_OK;
    l->all = !strchr(text, '=') && !strchr(text, ',');
    if (l->all)
        return device_of(op, text, strlen(text), &l->at[0].to);
    for (;;) {
        const size_t length = strcspn(text, ",");
        TERN_TRY(take_pair(l, op, text, length));
        if (!text[length])
            return TERN_OK;
        text += length + 1;
    }
}

// PyTorch's "cuda" is its first device.
static bool same_location(const tern_location_pair *pair, const char *location)
{
    const bool first = strcmp(location, "cuda") == 0 && pair->length == 6;
    const char *whole = first ? "cuda:0" : location;
    return strlen(whole) == pair->length && memcmp(whole, pair->from, pair->length) == 0;
}

// The device of that name, when it is here.
static bool is_here(const char *location, tern_device *device)
{
    if (strcmp(location, "cpu") == 0)
        return *device = tern_cpu(0), true;
    if (strncmp(location, "cuda", 4) != 0 || !tern_cuda_is_available())
        return false;
    if (location[4] == 0)
        return *device = tern_cuda(0), true;
    const int index = location[4] == ':' && location[5] >= '0' && location[5] <= '9' &&
                              strspn(location + 5, "0123456789") == strlen(location + 5) &&
                              strlen(location + 5) < 4
                          ? atoi(location + 5)
                          : -1;
    return index >= 0 && index < tern_cuda_device_count()        ? *device = tern_cuda(index),
                                                            true : false;
}

tern_status tern_locations_find(const tern_locations *l, const tern_file *file, const char *name,
                                const char *location, tern_device *device)
{
    *device = l->all ? l->at[0].to : tern_cpu(0);
    if (l->all || !location)
        return TERN_OK;
    for (int i = 0; i < l->count; i++)
        if (same_location(&l->at[i], location))
            return *device = l->at[i].to, TERN_OK;
    if (is_here(location, device))
        return TERN_OK;
    const bool cuda = strncmp(location, "cuda", 4) == 0;
    return tern_error_raise(
        TERN_ERR_DEVICE,
        "%s: attempting to deserialize \"%.200s\" of %s on %s %.32s, but %s: read it with "
        ".map_location = \"cpu\"",
        file->op, name, file->path, cuda ? "CUDA device" : "device", location,
        cuda && tern_cuda_is_available() ? "this machine has fewer"
        : cuda                           ? "no CUDA device is available"
                                         : "tern has no such devices");
}
