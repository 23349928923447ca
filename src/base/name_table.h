// SPDX-License-Identifier: Apache-2.0
// A hash table from names to indices. The names stay in the caller's array of structs.
#ifndef TERN_SRC_BASE_NAME_TABLE_H
#define TERN_SRC_BASE_NAME_TABLE_H

#include <stdint.h>
#include <tern/error.h>

// Zero it to begin; open addressing, at most two thirds full.
typedef struct tern_name_table {
    int32_t *slots;   // index of a name + 1, 0: free
    int64_t capacity; // a power of two, or 0
} tern_name_table;

// An array of structs of `stride` bytes, whose first member is the name.
typedef struct tern_named_array {
    const void *array;
    size_t stride;
} tern_named_array;

#define TERN_NAMED_ARRAY(array) ((tern_named_array){(array), sizeof *(array)})

// Grows the table for `wanted` names; it holds the first `count` then.
tern_status tern_name_table_reserve(tern_name_table *table, tern_named_array names, int64_t count,
                                    int64_t wanted);
// Adds name `index`, which is not there yet, to a table that has been grown for it.
void tern_name_table_add(tern_name_table *table, tern_named_array names, int64_t index);
// The index of a name, -1 when it is not there.
int64_t tern_name_table_find(const tern_name_table *table, tern_named_array names,
                             const char *name);
// Makes the table hold the first `count` names, after a change of the array.
void tern_name_table_rebuild(tern_name_table *table, tern_named_array names, int64_t count);
void tern_name_table_free(tern_name_table *table);

#endif
