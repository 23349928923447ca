// SPDX-License-Identifier: Apache-2.0
// Taking a component out of names: "features.module.0.weight" without "module" is
// "features.0.weight".
#include "state/component.h"

#include <string.h>
#include "base/hash.h"
#include "base/mem.h"

// A full name while its last component is still looked for; see tern_visit_version.
#define BARE_SIZE (TERN_STATE_NAME_SIZE + 16)

// Bytes of the component that `name` begins with; 0 where it is the last one, which stays.
static size_t component_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

// `bare` has room for BARE_SIZE bytes.
static void take_out(const char *component, const char *name, char *bare)
{
    const size_t length = strlen(component);
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        const size_t nbytes = (size_t)(dot - name) + 1;
        if (nbytes == length + 1 && memcmp(name, component, length) == 0)
            continue;
        memcpy(bare, name, nbytes);
        bare += nbytes;
    }
    strcpy(bare, name);
}

// ---- the table ----------------------------------------------------------------------------------

tern_status tern_bare_names_init(tern_bare_names *names, const char *component, int64_t count)
{
    int64_t place_count = 2;
    while (place_count < 2 * count)
        place_count *= 2;
    *names = (tern_bare_names){.component = component};
    names->places = tern_mem_alloc((size_t)place_count * sizeof *names->places);
    if (!names->places)
        return TERN_ERR_NOMEM;
    names->place_count = place_count;
    return TERN_OK;
}

void tern_bare_names_free(tern_bare_names *names)
{
    tern_mem_free(names->places, (size_t)names->place_count * sizeof *names->places);
    *names = (tern_bare_names){0};
}

// The place of a name without the component, or the free one where it would go.
static tern_bare_name *place_of(const tern_bare_names *names, const char *bare, uint64_t hash)
{
    char other[BARE_SIZE];
    const int64_t mask = names->place_count - 1;
    for (int64_t at = (int64_t)(hash ^ hash >> 32) & mask;; at = (at + 1) & mask) {
        tern_bare_name *place = &names->places[at];
        if (!place->name)
            return place;
        if (place->hash != hash)
            continue;
        take_out(names->component, place->name, other);
        if (strcmp(other, bare) == 0)
            return place;
    }
}

void tern_bare_names_add(tern_bare_names *names, const char *name, int64_t index)
{
    char bare[BARE_SIZE];
    take_out(names->component, name, bare);
    const uint64_t hash = tern_hash(bare, strlen(bare));
    tern_bare_name *place = place_of(names, bare, hash);
    if (!place->name)
        *place = (tern_bare_name){.name = name, .hash = hash, .index = index, .twin = -1};
    else if (place->twin < 0)
        place->twin = index;
}

tern_bare_name *tern_bare_names_find(const tern_bare_names *names, const char *name)
{
    char bare[BARE_SIZE];
    if (!names->places)
        return NULL;
    take_out(names->component, name, bare);
    tern_bare_name *place = place_of(names, bare, tern_hash(bare, strlen(bare)));
    return place->name ? place : NULL;
}

// ---- the component that makes a difference ------------------------------------------------------

// The same but for components that are the first one of `name`.
static bool differ_by_first(const char *name, const char *other, char *component, size_t size)
{
    char bare[BARE_SIZE], other_bare[BARE_SIZE];
    const size_t length = component_length(name);
    if (length == 0 || length >= size)
        return false;
    memcpy(component, name, length);
    component[length] = 0;
    take_out(component, name, bare);
    take_out(component, other, other_bare);
    return strcmp(bare, other_bare) == 0;
}

// Where the first components of the two differ, one of them is it.
bool tern_component_between(const char *a, const char *b, char *component, size_t size)
{
    size_t length = component_length(a);
    while (length > 0 && strncmp(a, b, length + 1) == 0) {
        a += length + 1;
        b += length + 1;
        length = component_length(a);
    }
    return differ_by_first(a, b, component, size) || differ_by_first(b, a, component, size);
}
