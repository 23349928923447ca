// SPDX-License-Identifier: Apache-2.0
// What the format of a file cannot hold.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tern_file.h"

// ---- what a file says of itself -----------------------------------------------------------------

// tern_state_list begins with "path: format" and, where there are, ", metadata: ..". A long path is
// cut, and what is no text in it escaped.
static void read_first_line(const char *path, char *line, description *what)
{
    static const char mark[] = ", metadata: ";
    char before[1024];
    line[strcspn(line, "\n")] = 0;
    escaped(before, sizeof before, "%.200s: ", path);
    const size_t length = strlen(before);
    char *format = strlen(line) > length ? line + length : line;
    char *metadata = strstr(format, mark);
    snprintf(what->metadata, sizeof what->metadata, "%s",
             metadata ? metadata + sizeof mark - 1 : "");
    if (metadata)
        *metadata = 0;
    snprintf(what->format, sizeof what->format, "%s", format);
}

bool describe(const char *path, description *what)
{
    char *text = NULL;
    size_t size = 0;
    *what = (description){.format = ""};
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return tern_error_raise(TERN_ERR_NOMEM, "no memory for what %s says", path), false;
    const bool good = !tern_state_list(path, file);
    if (fclose(file) == 0 && good)
        read_first_line(path, text, what);
    free(text);
    return good;
}

// ---- tensors that are one -----------------------------------------------------------------------

typedef struct place {
    const void *data;
    int64_t index; // of the value
} place;

static int by_data(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const uintptr_t p = (uintptr_t)x->data, q = (uintptr_t)y->data;
    return p != q ? (p > q) - (p < q) : (x->index > y->index) - (x->index < y->index);
}

// Where the tensors with elements begin; how many there are.
static int64_t find_places(const tern_state *state, place *places)
{
    int64_t count = 0;
    for (int64_t i = 0; i < tern_state_count(state); i++) {
        if (tern_state_type_at(state, i) != TERN_STATE_TENSOR)
            continue;
        tern_tensor *t = tern_state_tensor(state, tern_state_name_at(state, i));
        if (tern_numel(t) > 0 && tern_device_of(t).type == TERN_CPU)
            places[count++] = (place){tern_data(t), i};
    }
    return count;
}

static void say_untied(const tern_state *state)
{
    place *places = calloc((size_t)tern_state_count(state) + 1, sizeof *places);
    if (!places) {
        say("no memory to see which tensors share elements");
        return;
    }
    const int64_t count = find_places(state, places);
    qsort(places, (size_t)count, sizeof *places, by_data);
    for (int64_t i = 1; i < count; i++)
        if (places[i].data == places[i - 1].data)
            say("\"%s\" and \"%s\" share their elements; each has its own now",
                tern_state_name_at(state, places[i - 1].index),
                tern_state_name_at(state, places[i].index));
    free(places);
}

// ---- all of it ----------------------------------------------------------------------------------

static void say_of_bytes(const tern_state *state)
{
    for (int64_t i = 0; i < tern_state_count(state); i++)
        if (tern_state_type_at(state, i) == TERN_STATE_BYTES)
            say("\"%s\" is bytes; now it is a tensor of uint8", tern_state_name_at(state, i));
}

// What else a file says of itself than who wrote it.
static bool says_more(const char *metadata)
{
    return metadata[0] && (strncmp(metadata, "format=", 7) != 0 || strchr(metadata, ','));
}

void say_what_is_lost(const arguments *given, const tern_state *state, const description *from,
                      const description *to)
{
    char *const *files = given->files;
    if (says_more(from->metadata))
        say("%s does not keep what %s has besides values: %s", files[1], files[0], from->metadata);
    if (strcmp(to->format, "PyTorch") == 0)
        say_of_bytes(state);
    if (strncmp(to->format, "np", 2) == 0)
        say_untied(state);
    if (strcmp(to->format, "npy") == 0 && strcmp(tern_state_name_at(state, 0), "array") != 0)
        say("npy has no names: \"%s\" is not kept", tern_state_name_at(state, 0));
}
