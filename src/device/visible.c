// SPDX-License-Identifier: Apache-2.0
// What CUDA_VISIBLE_DEVICES has to do with the devices that were found. The driver reads its words
// up to the first that names no device, and finds none where two name the same one.
#include "device/visible.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *text;
    int length;
} word;

// The word after a comma, or at the beginning, without blanks.
static word read_word(const char *at)
{
    at += strspn(at, " ");
    word found = {at, (int)strcspn(at, ",")};
    while (found.length > 0 && at[found.length - 1] == ' ')
        found.length--;
    return found;
}

static const char *next_word(const char *at)
{
    at += strcspn(at, ",");
    return *at ? at + 1 : NULL;
}

static bool same_word(word a, word b)
{
    return a.length == b.length && memcmp(a.text, b.text, (size_t)a.length) == 0;
}

// A word that stands there twice, or an empty one.
static word find_twice(const char *list)
{
    for (const char *a = list; a; a = next_word(a))
        for (const char *b = next_word(a); b; b = next_word(b))
            if (same_word(read_word(a), read_word(b)))
                return read_word(a);
    return (word){"", 0};
}

void tern_visible_describe(char *text, size_t size, int count)
{
    const char *list = secure_getenv("CUDA_VISIBLE_DEVICES");
    *text = '\0';
    if (!list)
        return;
    int used = snprintf(text, size, "; CUDA_VISIBLE_DEVICES is \"%.128s\"", list);
    const char *at = *list ? list : NULL;
    for (int i = 0; i < count && at; i++)
        at = next_word(at);
    if (!at || used < 0 || (size_t)used >= size)
        return;
    const word twice = find_twice(list), none = read_word(at);
    if (count == 0 && twice.length)
        snprintf(text + used, size - (size_t)used, ", which names \"%.*s\" twice", twice.length,
                 twice.text);
    else
        snprintf(text + used, size - (size_t)used, ", in which \"%.*s\" names no device%s",
                 none.length, none.text, next_word(at) ? " and ends the list" : "");
}
