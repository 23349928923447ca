// SPDX-License-Identifier: Apache-2.0
// Which option somebody meant who mistyped its name.
#include <string.h>
#include "train/script/words.h"

#define MAX_LENGTH 40

// How many letters have to be put in, taken out or changed to make one word of the other
// (Levenshtein's distance), for words of at most MAX_LENGTH letters.
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[MAX_LENGTH + 1]; // of the first letters of a to each beginning of b
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            const int changed = diagonal + (a[i - 1] != b[j - 1]);
            const int moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < moved ? changed : moved;
        }
    }
    return row[b_length];
}

// An abbreviation is as near as one wrong letter.
static int difference(const char *word, size_t length, const char *name)
{
    const size_t name_length = strlen(name);
    if (name_length > MAX_LENGTH)
        return MAX_LENGTH;
    const int apart = distance(word, length, name, name_length);
    return length >= 2 && strncmp(word, name, length) == 0 && apart > 1 ? 1 : apart;
}

const char *tern_option_nearest(const tern_option_list *list, const char *word)
{
    const size_t length = strcspn(word, "=");
    const char *nearest = NULL;
    if (length == 0 || length > MAX_LENGTH)
        return NULL;
    int min_apart = (int)(length + 2) / 3 + 1; // a third of the letters may be wrong
    for (int i = 0; i < list->count + 2; i++) {
        const char *const always[] = {"help", "version"};
        const char *name = i < list->count ? list->at[i]->name : always[i - list->count];
        if (!name || (i < list->count && list->at[i]->argument))
            continue;
        const int apart = difference(word, length, name);
        if (apart < min_apart) {
            min_apart = apart;
            nearest = name;
        }
    }
    return nearest;
}
