// SPDX-License-Identifier: Apache-2.0
#include "data/file/csv_schema.h"

#include "base/mem.h"

tern_csv_schema *tern_csv_schema_new(const char *path)
{
    tern_csv_schema *schema = tern_mem_alloc(sizeof *schema);
    if (!schema)
        return NULL;
    schema->refs = 1;
    schema->path = tern_mem_string(path);
    if (schema->path)
        return schema;
    tern_csv_schema_release(schema);
    return NULL;
}

tern_csv_schema *tern_csv_schema_retain(tern_csv_schema *schema)
{
    __atomic_fetch_add(&schema->refs, 1, __ATOMIC_RELAXED);
    return schema;
}

void tern_csv_schema_release(tern_csv_schema *schema)
{
    if (!schema || __atomic_sub_fetch(&schema->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int64_t i = 0; i < schema->count; i++)
        tern_text_set_free(&schema->features[i].texts);
    tern_mem_free(schema->features, (size_t)schema->count * sizeof *schema->features);
    tern_text_set_free(&schema->label.texts);
    tern_arena_free(&schema->arena);
    tern_mem_free_string(schema->path);
    tern_mem_free(schema, sizeof *schema);
}

void tern_csv_schema_finish(tern_csv_schema *schema, int64_t max_label)
{
    for (int64_t i = 0; i < schema->count; i++)
        tern_text_set_sort(&schema->features[i].texts);
    tern_text_set_sort(&schema->label.texts);
    if (schema->classes)
        schema->class_count =
            schema->label.kind == TERN_CSV_TEXTS ? schema->label.texts.count : max_label + 1;
    schema->finished = true;
}
