// SPDX-License-Identifier: Apache-2.0
#include "state/stripped_names.h"

#include <string.h>
#include "base/mem.h"

// A full name while its last component is still looked for; see tern_visit_version.
#define STRIPPED_SIZE (TERN_STATE_NAME_SIZE + 16)

// Bytes of the component that `name` begins with; 0 where it is the last one, which stays.
static size_t component_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

// `stripped` has STRIPPED_SIZE bytes.
static void strip(const char *component, const char *name, char *stripped)
{
    const size_t length = strlen(component);
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        const size_t nbytes = (size_t)(dot - name) + 1;
        if (nbytes == length + 1 && memcmp(name, component, length) == 0)
            continue;
        memcpy(stripped, name, nbytes);
        stripped += nbytes;
    }
    strcpy(stripped, name);
}

// ---- the table ----------------------------------------------------------------------------------

static tern_named_array named_entries(const tern_stripped_names *names)
{
    return TERN_NAMED_ARRAY(names->entries);
}

static tern_stripped_name *find(const tern_stripped_names *names, const char *stripped)
{
    const int64_t found = tern_name_table_find(&names->table, named_entries(names), stripped);
    return found < 0 ? NULL : &names->entries[found];
}

static tern_status append(tern_stripped_names *names, const char *stripped, int64_t index)
{
    const int64_t count = names->count + 1;
    TERN_TRY(
        tern_mem_grow((void **)&names->entries, &names->capacity, count, sizeof *names->entries));
    TERN_TRY(tern_name_table_reserve(&names->table, named_entries(names), names->count, count));
    char *name = tern_mem_string(stripped);
    if (!name)
        return TERN_ERR_NOMEM;
    names->entries[names->count] = (tern_stripped_name){name, index, .duplicate = -1};
    tern_name_table_add(&names->table, named_entries(names), names->count++);
    return TERN_OK;
}

tern_status tern_stripped_names_add(tern_stripped_names *names, const char *name, int64_t index)
{
    char stripped[STRIPPED_SIZE];
    strip(names->component, name, stripped);
    tern_stripped_name *entry = find(names, stripped);
    if (!entry)
        return append(names, stripped, index);
    if (entry->duplicate < 0)
        entry->duplicate = index;
    return TERN_OK;
}

const tern_stripped_name *tern_stripped_names_find(const tern_stripped_names *names,
                                                   const char *name)
{
    char stripped[STRIPPED_SIZE];
    if (names->count == 0)
        return NULL;
    strip(names->component, name, stripped);
    return find(names, stripped);
}

void tern_stripped_names_free(tern_stripped_names *names)
{
    for (int64_t i = 0; i < names->count; i++)
        tern_mem_free_string(names->entries[i].name);
    tern_mem_free(names->entries, (size_t)names->capacity * sizeof *names->entries);
    tern_name_table_free(&names->table);
    *names = (tern_stripped_names){0};
}

// ---- the component that makes a difference ------------------------------------------------------

// The same but for components that are the first one of `name`.
static bool differ_by_first(const char *name, const char *other, char *component, size_t size)
{
    char stripped[STRIPPED_SIZE], other_stripped[STRIPPED_SIZE];
    const size_t length = component_length(name);
    if (length == 0 || length >= size)
        return false;
    memcpy(component, name, length);
    component[length] = 0;
    strip(component, name, stripped);
    strip(component, other, other_stripped);
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
