// SPDX-License-Identifier: Apache-2.0
#include "state/key_map.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/callback.h"
#include "base/mem.h"

// One more byte than a name has, so that one that was cut is seen to be too long.
#define RENAMED_SIZE (TERN_STATE_NAME_SIZE + 1)
// A full name while its last component is still looked for; see tern_visit_version.
#define STRIPPED_SIZE (TERN_STATE_NAME_SIZE + 16)

// ---- renaming -----------------------------------------------------------------------------------

// What .strip asks for: the name without the prefix `user`, unless nothing comes after it.
static bool strip_prefix(const char *name, char *renamed, size_t size, void *user)
{
    const size_t length = strlen(user);
    if (strncmp(name, user, length) != 0 || !name[length])
        return false;
    snprintf(renamed, size, "%s", name + length);
    return true;
}

// What .strip_component asks for: the name without the component `user`, but for the last one.
static bool strip_component(const char *name, char *renamed, size_t size, void *user)
{
    const size_t length = strlen(user);
    size_t used = 0;
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        const size_t nbytes = (size_t)(dot - name) + 1;
        if (nbytes == length + 1 && memcmp(name, user, length) == 0)
            continue;
        memcpy(renamed + used, name, nbytes);
        used += nbytes;
    }
    snprintf(renamed + used, size - used, "%s", name);
    return true;
}

// Lets a function rename `name`, in place. A program's function may do anything.
static tern_status apply(const char *function, tern_rename_fn *rename_key, void *user, char *name)
{
    char renamed[RENAMED_SIZE] = "";
    const bool failed_before = tern_error_pending();
    tern_callback_begin();
    const bool changed = rename_key(name, renamed, sizeof renamed, user);
    tern_callback_end();
    if (!failed_before && tern_error_pending())
        return tern_error_code();
    if (!changed)
        return TERN_OK;
    const size_t length = strnlen(renamed, sizeof renamed);
    TERN_CHECK(length > 0, TERN_ERR_ARG, "%s: .rename gives \"%.64s\" an empty name", function,
               name);
    TERN_CHECK(length < TERN_STATE_NAME_SIZE, TERN_ERR_ARG,
               "%s: .rename gives \"%.64s\" a name of more than %d bytes", function, name,
               TERN_STATE_NAME_SIZE - 1);
    memcpy(name, renamed, length + 1);
    return TERN_OK;
}

// The name of an entry for the object, a new string; NULL where it does not count.
static tern_status name_for_object(const char *function, const tern_state_load_options *options,
                                   const char *name, char **result)
{
    char renamed[TERN_STATE_NAME_SIZE];
    const char *prefix = options->prefix ? options->prefix : "";
    const size_t length = strlen(prefix);
    *result = NULL;
    if (strncmp(name, prefix, length) != 0 || !name[length])
        return TERN_OK;
    strcpy(renamed, name + length);
    if (options->strip)
        TERN_TRY(apply(function, strip_prefix, (void *)(uintptr_t)options->strip, renamed));
    if (options->rename)
        TERN_TRY(apply(function, options->rename, options->user, renamed));
    *result = tern_mem_string(renamed);
    return *result ? TERN_OK : TERN_ERR_NOMEM;
}

// ---- tables of names ----------------------------------------------------------------------------

static tern_named_array named_matches(const tern_key_table *table)
{
    return TERN_NAMED_ARRAY(table->at);
}

static tern_key_match *find(const tern_key_table *table, const char *name)
{
    const int64_t found = tern_name_table_find(&table->table, named_matches(table), name);
    return found < 0 ? NULL : &table->at[found];
}

static tern_status append(tern_key_table *table, const char *name, int64_t index)
{
    const int64_t count = table->count + 1;
    TERN_TRY(tern_mem_grow((void **)&table->at, &table->capacity, count, sizeof *table->at));
    TERN_TRY(tern_name_table_reserve(&table->table, named_matches(table), table->count, count));
    table->at[table->count] = (tern_key_match){name, index, .duplicate = -1};
    tern_name_table_add(&table->table, named_matches(table), table->count++);
    return TERN_OK;
}

static tern_status add(tern_key_table *table, const char *name, int64_t index)
{
    tern_key_match *match = find(table, name);
    if (!match)
        return append(table, name, index);
    if (match->duplicate < 0)
        match->duplicate = index;
    return TERN_OK;
}

static void free_table(tern_key_table *table)
{
    tern_mem_free(table->at, (size_t)table->capacity * sizeof *table->at);
    tern_name_table_free(&table->table);
}

// ---- the map ------------------------------------------------------------------------------------

static void without_component(const tern_key_map *map, const char *name, char *stripped)
{
    (void)strip_component(name, stripped, STRIPPED_SIZE,
                          (void *)(uintptr_t)map->options->strip_component);
}

static tern_status add_entry(tern_key_map *map, const char *function, const char *name,
                             int64_t index)
{
    char stripped[STRIPPED_SIZE];
    tern_key *key = &map->keys[index];
    TERN_TRY(name_for_object(function, map->options, name, &key->name));
    if (!key->name)
        return TERN_OK;
    TERN_TRY(add(&map->renamed, key->name, index));
    if (!map->options->strip_component)
        return TERN_OK;
    without_component(map, key->name, stripped);
    key->stripped = tern_mem_string(stripped);
    return key->stripped ? add(&map->stripped, key->stripped, index) : TERN_ERR_NOMEM;
}

tern_status tern_key_map_make(tern_key_map *map, const char *function,
                              const tern_state_load_options *options, const tern_state *state)
{
    map->options = options;
    if (!state || state->count == 0)
        return TERN_OK;
    map->keys = tern_mem_alloc((size_t)state->count * sizeof *map->keys);
    if (!map->keys)
        return TERN_ERR_NOMEM;
    map->count = state->count;
    for (int64_t i = 0; i < state->count; i++)
        TERN_TRY(add_entry(map, function, state->at[i].name, i));
    return TERN_OK;
}

const tern_key_match *tern_key_map_find(const tern_key_map *map, const char *name)
{
    char stripped[STRIPPED_SIZE];
    const tern_key_match *match = find(&map->renamed, name);
    if (match || map->stripped.count == 0)
        return match;
    without_component(map, name, stripped);
    return find(&map->stripped, stripped);
}

void tern_key_map_free(tern_key_map *map)
{
    for (int64_t i = 0; i < map->count; i++) {
        tern_mem_free_string(map->keys[i].name);
        tern_mem_free_string(map->keys[i].stripped);
        tern_mem_free_string(map->keys[i].alias);
    }
    tern_mem_free(map->keys, (size_t)map->count * sizeof *map->keys);
    free_table(&map->renamed);
    free_table(&map->stripped);
    *map = (tern_key_map){0};
}

// ---- the component that makes a difference ------------------------------------------------------

// Bytes of the component that `name` begins with; 0 where it is the last one, which stays.
static size_t component_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

// The same but for components that are the first one of `name`.
static bool differ_by_first(const char *name, const char *other, char *component, size_t size)
{
    char stripped[STRIPPED_SIZE], other_stripped[STRIPPED_SIZE];
    const size_t length = component_length(name);
    if (length == 0 || length >= size)
        return false;
    memcpy(component, name, length);
    component[length] = 0;
    (void)strip_component(name, stripped, sizeof stripped, component);
    (void)strip_component(other, other_stripped, sizeof other_stripped, component);
    return strcmp(stripped, other_stripped) == 0;
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
