// SPDX-License-Identifier: Apache-2.0
#include "io/archive.h"

#include <string.h>
#include "base/mem.h"
#include "base/text.h"
#include "tensor/header.h"
#include "tensor/tensor.h"

#define MAX_VALUES (1 << 22)

static tern_named_array named_values(const tern_archive *c)
{
    return TERN_NAMED_ARRAY(c->values);
}

tern_status tern_archive_reserve(tern_archive *c, int64_t values, int64_t storages)
{
    TERN_TRY(tern_mem_grow((void **)&c->values, &c->capacity, values, sizeof *c->values));
    TERN_TRY(tern_name_table_reserve(&c->table, named_values(c), c->count, values));
    return tern_mem_grow((void **)&c->storages, &c->storage_capacity, storages,
                         sizeof *c->storages);
}

static tern_status check_name(const tern_archive *c, const char *name)
{
    const size_t length = strlen(name);
    TERN_CHECK(length > 0 && length < TERN_STATE_NAME_SIZE, TERN_ERR_FORMAT,
               "%s: %s has a name of %zu bytes, not 1 to %d: \"%.64s\"", c->file->op, c->file->path,
               length, TERN_STATE_NAME_SIZE - 1, name);
    for (const char *at = name; *at; at++)
        TERN_CHECK((unsigned char)*at >= 0x20 && *at != 0x7F, TERN_ERR_FORMAT,
                   "%s: %s has a name with the control character 0x%02x", c->file->op,
                   c->file->path, (unsigned char)*at);
    return TERN_OK;
}

tern_status tern_archive_add(tern_archive *c, tern_file_value value)
{
    TERN_TRY(check_name(c, value.name));
    TERN_CHECK(c->count < MAX_VALUES, TERN_ERR_FORMAT, "%s: %s has more than %d values",
               c->file->op, c->file->path, MAX_VALUES);
    TERN_TRY(tern_archive_reserve(c, c->count + 1, 0));
    TERN_CHECK(!tern_archive_find(c, value.name), TERN_ERR_FORMAT, "%s: %s has \"%.200s\" twice",
               c->file->op, c->file->path, value.name);
    c->values[c->count] = value;
    tern_name_table_add(&c->table, named_values(c), c->count++);
    return TERN_OK;
}

tern_status tern_archive_add_version(tern_archive *c, tern_file_version version)
{
    TERN_TRY(tern_mem_grow((void **)&c->versions, &c->version_capacity, c->version_count + 1,
                           sizeof *c->versions));
    c->versions[c->version_count++] = version;
    return TERN_OK;
}

int64_t tern_archive_add_storage(tern_archive *c, tern_file_storage storage)
{
    if (tern_mem_grow((void **)&c->storages, &c->storage_capacity, c->storage_count + 1,
                      sizeof *c->storages))
        return -1;
    c->storages[c->storage_count] = storage;
    return c->storage_count++;
}

tern_file_value *tern_archive_find(const tern_archive *c, const char *name)
{
    const int64_t found = tern_name_table_find(&c->table, named_values(c), name);
    return found < 0 ? NULL : &c->values[found];
}

void tern_archive_free(tern_archive *c)
{
    for (int64_t i = 0; i < c->storage_count; i++)
        tern_tensor_release(c->storages[i].tensor);
    tern_mem_free(c->values, (size_t)c->capacity * sizeof *c->values);
    tern_mem_free(c->versions, (size_t)c->version_capacity * sizeof *c->versions);
    tern_mem_free(c->storages, (size_t)c->storage_capacity * sizeof *c->storages);
    tern_name_table_free(&c->table);
    tern_arena_free(&c->arena);
    *c = (tern_archive){.file = NULL};
}
