// SPDX-License-Identifier: Apache-2.0
// The one sentence that says what keeps a state from being loaded, and what was probably meant.
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "state/component.h"
#include "state/difference.h"

#define MOST_LISTED 8
// Leaves room for "...", and is less than an error's sentence has.
#define MOST_BYTES 504

// ---- names that are near ------------------------------------------------------------------------

#define MOST_EDITS    3
#define MOST_COMPARED 255

static int least(int a, int b)
{
    return a < b ? a : b;
}

// Levenshtein's distance of two names, at most MOST_COMPARED bytes each; row by row.
static int edits(const char *a, int a_length, const char *b, int b_length)
{
    int row[MOST_COMPARED + 1];
    for (int j = 0; j <= b_length; j++)
        row[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            const int above = row[j], changed = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = least(least(above, row[j - 1]) + 1, changed);
            diagonal = above;
        }
    }
    return row[b_length];
}

// The first of the nearest names within MOST_EDITS, or NULL.
static const char *nearest(const char *name, const tern_name_list *list)
{
    const char *found = NULL;
    int fewest = MOST_EDITS + 1;
    const int length = (int)strnlen(name, MOST_COMPARED + 1);
    for (int64_t i = 0; i < list->count && length <= MOST_COMPARED; i++) {
        const int other = (int)strnlen(list->at[i], MOST_COMPARED + 1);
        const int apart = other > length ? other - length : length - other;
        if (other > MOST_COMPARED || apart >= fewest)
            continue;
        const int distance = edits(name, length, list->at[i], other);
        if (distance < fewest) {
            fewest = distance;
            found = list->at[i];
        }
    }
    return found;
}

// ---- prefixes -----------------------------------------------------------------------------------

// "module." where `name` is "module." and `end`; its length, 0 where it does not end so.
static size_t prefix_length(const char *name, const char *end)
{
    const size_t length = strlen(name), behind = strlen(end);
    if (length <= behind + 1 || strcmp(name + length - behind, end) != 0)
        return 0;
    return name[length - behind - 1] == '.' ? length - behind : 0;
}

static bool all_begin_with(const tern_state_load_options *options, const char *begin, size_t length)
{
    for (int64_t i = 0; i < options->state->count; i++) {
        const char *name = tern_load_name(options, options->state->at[i].name);
        if (name && strncmp(name, begin, length) != 0)
            return false;
    }
    return true;
}

static bool all_missing_are_below(const tern_load_lists *lists, const char *begin, size_t length,
                                  const tern_state_load_options *options)
{
    char full[2 * TERN_STATE_NAME_SIZE];
    for (int64_t i = 0; i < lists->missing.count; i++) {
        snprintf(full, sizeof full, "%.*s%s", (int)length, begin, lists->missing.at[i]);
        if (!tern_load_find(options, full))
            return false;
    }
    return true;
}

// Says whether .strip or .prefix would make the names fit; false where neither does.
static bool advise_prefix(tern_writer *out, const tern_state_load_options *options,
                          const tern_load_lists *lists)
{
    const char *first = lists->missing.at[0];
    for (int64_t i = 0; i < lists->unexpected.count; i++) {
        const char *name = lists->unexpected.at[i];
        const int length = (int)prefix_length(name, first);
        if (length == 0 || length > 100)
            continue;
        if (all_begin_with(options, name, (size_t)length))
            tern_write(out,
                       "every name in the state begins with \"%.*s\": load it with .strip = "
                       "\"%s%.*s\"; ",
                       length, name, options->strip ? options->strip : "", length, name);
        else if (all_missing_are_below(lists, name, (size_t)length, options))
            tern_write(out,
                       "what is missing begins with \"%.*s\" in the state: load it with "
                       ".prefix = \"%s%.*s\"; ",
                       length, name, options->prefix ? options->prefix : "", length, name);
        else
            continue;
        return true;
    }
    return false;
}

// ---- components ---------------------------------------------------------------------------------

// Tried at most, as each goes over all names.
#define MOST_COMPONENTS 8

// Every missing name is one unexpected name without the component, each another one.
static bool all_missing_are_in(const tern_bare_names *unexpected, const tern_name_list *missing)
{
    for (int64_t i = 0; i < missing->count; i++) {
        tern_bare_name *found = tern_bare_names_find(unexpected, missing->at[i]);
        if (!found || found->twin >= 0)
            return false;
        found->twin = found->index; // it is taken
    }
    return true;
}

static tern_status try_component(const char *component, const tern_load_lists *lists, bool *helps)
{
    tern_bare_names unexpected;
    TERN_TRY(tern_bare_names_init(&unexpected, component, lists->unexpected.count));
    for (int64_t i = 0; i < lists->unexpected.count; i++)
        tern_bare_names_add(&unexpected, lists->unexpected.at[i], i);
    *helps = all_missing_are_in(&unexpected, &lists->missing);
    tern_bare_names_free(&unexpected);
    return TERN_OK;
}

// Says whether .strip_component would make the names fit.
static tern_status advise_component(tern_writer *out, const tern_load_lists *lists)
{
    char component[100];
    bool helps = false;
    int64_t tried = 0;
    for (int64_t i = 0; i < lists->unexpected.count && tried < MOST_COMPONENTS && !helps; i++) {
        if (!tern_component_between(lists->missing.at[0], lists->unexpected.at[i], component,
                                    sizeof component))
            continue;
        TERN_TRY(try_component(component, lists, &helps));
        tried++;
    }
    if (helps)
        tern_write(out,
                   "what is missing is in the state but for the component \"%s\": load it with "
                   ".strip_component = \"%s\"; ",
                   component, component);
    return TERN_OK;
}

// Says which option would make the names fit.
static tern_status write_advice(tern_writer *out, const tern_state_load_options *options,
                                const tern_load_lists *lists)
{
    if (lists->missing.count == 0 || advise_prefix(out, options, lists) || options->strip_component)
        return TERN_OK;
    return advise_component(out, lists);
}

// ---- the sentence -------------------------------------------------------------------------------

typedef struct listing {
    const char *word; // "missing"
    const tern_name_list *list;
    const tern_name_list *near; // where a name may have been meant; NULL: the list is of sentences
} listing;

static void write_entry(tern_writer *out, const listing *what, int64_t index)
{
    const char *entry = what->list->at[index];
    const char *meant = what->near ? nearest(entry, what->near) : NULL;
    tern_write(out, index ? ", " : " ");
    if (!what->near)
        tern_write(out, "%.250s", entry);
    else if (meant)
        tern_write(out, "\"%.100s\" (is it \"%.100s\"?)", entry, meant);
    else
        tern_write(out, "\"%.100s\"", entry);
}

// Entries up to MOST_LISTED, as long as the text is shorter than `most`.
static void write_list(tern_writer *out, const listing *what, int64_t most)
{
    const int64_t count = what->list->count;
    int64_t listed = 0;
    tern_write(out, "%s %lld:", what->word, (long long)count);
    for (; listed < count && listed < MOST_LISTED; listed++) {
        const int64_t before = out->length, left = count - listed > 1 ? 20 : 0;
        write_entry(out, what, listed);
        if (listed > 0 && out->length + left > most) {
            out->length = before;
            out->buffer[before] = 0;
            break;
        }
    }
    if (listed < count)
        tern_write(out, " and %lld more", (long long)(count - listed));
}

static void write_lists(tern_writer *out, const listing *what, int kinds)
{
    for (int i = 0, left = kinds; i < 3; i++) {
        if (what[i].list->count == 0)
            continue;
        if (left < kinds)
            tern_write(out, "; ");
        write_list(out, &what[i], out->length + (MOST_BYTES - out->length) / left);
        left--;
    }
}

// What is missing or unexpected is no error where .strict is false.
tern_status tern_load_raise(const char *function, const tern_state_load_options *options,
                            const tern_load_lists *lists, bool nothing)
{
    static const tern_name_list none;
    char text[4 * TERN_SENTENCE_SIZE] = "";
    tern_writer out = {.buffer = text, .size = sizeof text};
    const bool names = options->strict || nothing;
    const listing what[3] = {
        {"missing", names ? &lists->missing : &none, &lists->unexpected},
        {"unexpected", names ? &lists->unexpected : &none, &lists->missing},
        {"mismatched", &lists->mismatched, NULL},
    };
    int kinds = 0;
    for (int i = 0; i < 3; i++)
        kinds += what[i].list->count > 0;
    tern_write(&out, "%s: %s", function,
               nothing && !options->strict ? "no name of the state is one here; " : "");
    if (names)
        TERN_TRY(write_advice(&out, options, lists));
    write_lists(&out, what, kinds);
    const bool is_name = what[0].list->count + what[1].list->count > 0;
    return tern_error_raise(is_name ? TERN_ERR_ARG : lists->code, "%s", text);
}
