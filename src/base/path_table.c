// SPDX-License-Identifier: Apache-2.0
#include "base/path_table.h"

#include <string.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"

#define CAPACITY ((uint32_t)TERN_PATH_BLOCKS * TERN_PATH_BLOCK_ENTRIES)

// All under the lock of tern_paths.
static tern_path_entry *buckets[4096];
static uint32_t count;

static bool is_full(void)
{
    return count == CAPACITY;
}

// The next free entry, NULL when there is no memory for its block.
static tern_path_entry *next_entry(void)
{
    const uint32_t number = atomic_load_explicit(&tern_paths.first, memory_order_relaxed) + count;
    if (!tern_path_entry_of(number)) {
        tern_path_block *block = tern_mem_try(sizeof *block);
        if (!block)
            return NULL;
        tern_paths.blocks[count / TERN_PATH_BLOCK_ENTRIES] = block;
    }
    tern_path_entry *entry = tern_path_entry_of(number);
    entry->number = number;
    return entry;
}

static size_t text_size(const tern_path_entry *entry)
{
    return strlen(entry->name) + strlen(entry->class_name) + 2;
}

// Both strings in one block: the class first.
static bool copy_text(tern_path_entry *to, const char *name, const char *class_name)
{
    const size_t length = strlen(class_name) + 1;
    char *text = tern_mem_try(length + strlen(name) + 1);
    if (!text)
        return false;
    to->class_name = strcpy(text, class_name);
    to->name = strcpy(text + length, name);
    return true;
}

static tern_path_entry **find_bucket(uint32_t parent, const char *name, const char *class_name)
{
    uint64_t hash = tern_hash(&parent, sizeof parent);
    hash = tern_hash_append(hash, name, strlen(name) + 1);
    hash = tern_hash_append(hash, class_name, strlen(class_name));
    return &buckets[tern_hash_slot(hash, sizeof buckets / sizeof *buckets)];
}

static tern_path_entry *find(uint32_t parent, const char *name, const char *class_name)
{
    tern_path_entry *entry = *find_bucket(parent, name, class_name);
    while (entry && (entry->parent != parent || strcmp(entry->name, name) != 0 ||
                     strcmp(entry->class_name, class_name) != 0))
        entry = entry->next;
    return entry;
}

static tern_path_entry *add(uint32_t parent, const char *name, const char *class_name)
{
    tern_path_entry *entry = next_entry();
    if (!entry || !copy_text(entry, name, class_name))
        return NULL;
    tern_path_entry **bucket = find_bucket(parent, name, class_name);
    entry->parent = parent;
    entry->next = *bucket;
    *bucket = entry;
    count++;
    return entry;
}

static void forget_all(void)
{
    const uint32_t first = atomic_load_explicit(&tern_paths.first, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        const tern_path_entry *entry = tern_path_entry_of(first + i);
        tern_mem_free((void *)(uintptr_t)entry->class_name, text_size(entry));
    }
    for (int i = 0; i < TERN_PATH_BLOCKS; i++) {
        tern_mem_free(tern_paths.blocks[i], sizeof(tern_path_block));
        tern_paths.blocks[i] = NULL;
    }
    atomic_store_explicit(&tern_paths.first, first + count, memory_order_relaxed);
    memset(buckets, 0, sizeof buckets);
    count = 0;
}

// Empties a full table; false when there are no more numbers for what would be added.
static bool forget_when_full(void)
{
    if (!is_full())
        return true;
    if (atomic_load_explicit(&tern_paths.first, memory_order_relaxed) > UINT32_MAX - 2 * CAPACITY)
        return false;
    forget_all();
    return true;
}

static uint32_t known_or_none(uint32_t parent)
{
    return tern_path_is_known(parent) ? parent : 0;
}

// NULL: no memory, or no number left where *has_number is false.
static tern_path_entry *find_or_add(uint32_t parent, const char *name, const char *class_name,
                                    bool *has_number)
{
    tern_path_entry *entry = find(known_or_none(parent), name, class_name);
    *has_number = entry || forget_when_full();
    return entry || !*has_number ? entry : add(known_or_none(parent), name, class_name);
}

tern_status tern_path_child(uint32_t parent, const char *name, const char *class_name,
                            uint32_t *path)
{
    name = name ? name : "";
    bool has_number;
    tern_lock(&tern_paths.lock);
    const tern_path_entry *entry = find_or_add(parent, name, class_name, &has_number);
    *path = entry ? entry->number : parent;
    tern_unlock(&tern_paths.lock);
    TERN_CHECK(entry || !has_number, TERN_ERR_NOMEM, "no memory for the path of \"%s\" (%s)", name,
               class_name);
    return TERN_OK;
}

void tern_path_shutdown(void)
{
    tern_lock(&tern_paths.lock);
    forget_all();
    tern_unlock(&tern_paths.lock);
}
