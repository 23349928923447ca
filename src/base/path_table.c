// SPDX-License-Identifier: Apache-2.0
#include "base/path_table.h"

#include <string.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "base/path.h"

// All under the lock.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tern_path_entry *roots;
static uint32_t count;

static bool is_full(void)
{
    return count == (uint32_t)TERN_PATH_BLOCKS * TERN_PATH_BLOCK_ENTRIES;
}

// The next free place, NULL when there is no memory for its block.
static tern_path_entry *next_place(void)
{
    const uint32_t number = atomic_load_explicit(&tern_paths.first, memory_order_relaxed) + count;
    if (!tern_path_entry_of(number)) {
        tern_path_block *block = tern_mem_try(sizeof *block);
        if (!block)
            return NULL;
        atomic_store_explicit(&tern_paths.blocks[count / TERN_PATH_BLOCK_ENTRIES], block,
                              memory_order_release);
    }
    tern_path_entry *place = tern_path_entry_of(number);
    place->number = number;
    return place;
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

static tern_path_entry *find(tern_path_entry *entry, const char *name, const char *class_name)
{
    while (entry && (strcmp(entry->name, name) != 0 || strcmp(entry->class_name, class_name) != 0))
        entry = entry->next;
    return entry;
}

static tern_path_entry *add(tern_path_entry **list, uint32_t parent, const char *name,
                            const char *class_name)
{
    tern_path_entry *entry = next_place();
    if (!entry || !copy_text(entry, name, class_name))
        return NULL;
    entry->parent = parent;
    entry->next = *list;
    *list = entry;
    count++;
    return entry;
}

tern_status tern_path_child(uint32_t parent, const char *name, const char *class_name,
                            uint32_t *path)
{
    name = name ? name : "";
    *path = parent;
    tern_lock(&lock);
    tern_path_entry *above = tern_path_entry_of(parent);
    tern_path_entry **list = above ? &above->children : &roots;
    tern_path_entry *entry = find(*list, name, class_name);
    const bool room = entry || !is_full();
    if (!entry && room)
        entry = add(list, above ? parent : 0, name, class_name);
    if (entry)
        *path = entry->number;
    tern_unlock(&lock);
    TERN_CHECK(entry || !room, TERN_ERR_NOMEM, "no memory for the path of \"%s\" (%s)", name,
               class_name);
    return TERN_OK;
}

void tern_path_shutdown(void)
{
    tern_lock(&lock);
    const uint32_t first = atomic_load_explicit(&tern_paths.first, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        const tern_path_entry *entry = tern_path_entry_of(first + i);
        tern_mem_free((void *)(uintptr_t)entry->class_name, text_size(entry));
    }
    for (int i = 0; i < TERN_PATH_BLOCKS; i++)
        tern_mem_free(atomic_exchange_explicit(&tern_paths.blocks[i], NULL, memory_order_relaxed),
                      sizeof(tern_path_block));
    atomic_store_explicit(&tern_paths.first, first + count, memory_order_relaxed);
    roots = NULL;
    count = 0;
    tern_unlock(&lock);
}
