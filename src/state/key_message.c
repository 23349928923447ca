// SPDX-License-Identifier: Apache-2.0
#include "state/key_message.h"

#include <stdio.h>
#include <string.h>
#include "base/integer.h"
#include "base/text.h"

#define MAX_LISTED 8
// Leaves room for "...", and is less than an error's message has.
#define MAX_BYTES 504

// ---- names that are near ------------------------------------------------------------------------

#define MAX_EDITS    3
#define MAX_COMPARED 255

// Levenshtein's distance of two names, at most MAX_COMPARED bytes each; row by row.
static int edits(const char *a, int a_length, const char *b, int b_length)
{
    int row[MAX_COMPARED + 1];
    for (int j = 0; j <= b_length; j++)
        row[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            const int above = row[j], changed = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = (int)min_int64(min_int64(above, row[j - 1]) + 1, changed);
            diagonal = above;
        }
    }
    return row[b_length];
}

// The first of the nearest names within MAX_EDITS, or NULL.
static const char *nearest(const char *name, const tern_key_list *list)
{
    const char *found = NULL;
    int fewest = MAX_EDITS + 1;
    const int length = (int)strnlen(name, MAX_COMPARED + 1);
    for (int64_t i = 0; i < list->count && length <= MAX_COMPARED; i++) {
        const int other = (int)strnlen(list->at[i], MAX_COMPARED + 1);
        const int apart = other > length ? other - length : length - other;
        if (other > MAX_COMPARED || apart >= fewest)
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

static bool all_begin_with(const tern_key_map *keys, const char *begin, size_t length)
{
    for (int64_t i = 0; i < keys->count; i++) {
        const char *name = keys->keys[i].name;
        if (name && strncmp(name, begin, length) != 0)
            return false;
    }
    return true;
}

// ---- options that help --------------------------------------------------------------------------

// Tried at most, as each goes over all names.
#define MAX_ATTEMPTS 8

// What is proposed, where it helps.
typedef struct adviser {
    tern_writer *out;
    const tern_load_caller *caller;
    const tern_key_map *keys;
    const tern_state_load_options *options;
    const tern_load_lists *lists;
    tern_load_try *attempt;
    int attempts;
    bool done;
} adviser;

static tern_status try_with(adviser *a, tern_load_option option, tern_state_load_options changed)
{
    if (!(a->caller->options & option) || a->attempts == MAX_ATTEMPTS)
        return TERN_OK;
    a->attempts++;
    changed.report = NULL;
    return a->attempt(a->caller, &changed, &a->done);
}

static void write_call(const adviser *a)
{
    const char *call = a->caller->call;
    tern_write(a->out, "load it with %s%s", call ? call : "", call ? " and " : "");
}

// With the first `length` bytes of a name taken away, or with only what begins so.
static tern_status try_prefix(adviser *a, const char *name, int length)
{
    const tern_state_load_options *o = a->options;
    char whole[2 * TERN_STATE_NAME_SIZE];
    tern_state_load_options changed = *o;
    const bool all = all_begin_with(a->keys, name, (size_t)length);
    const char *before = all ? o->strip : o->prefix;
    snprintf(whole, sizeof whole, "%s%.*s", before ? before : "", length, name);
    *(all ? &changed.strip : &changed.prefix) = whole;
    TERN_TRY(try_with(a, all ? TERN_LOAD_STRIP : TERN_LOAD_PREFIX, changed));
    if (!a->done)
        return TERN_OK;
    tern_write(a->out,
               all ? "every name in the state begins with \"%.*s\": "
                   : "what is missing begins with \"%.*s\" in the state: ",
               length, name);
    write_call(a);
    tern_write(a->out, ".%s = \"%.300s\"; ", all ? "strip" : "prefix", whole);
    return TERN_OK;
}

static tern_status try_prefixes(adviser *a)
{
    const tern_key_list *names = &a->lists->unexpected;
    for (int64_t i = 0; i < names->count && !a->done; i++) {
        const size_t length = prefix_length(names->at[i], a->lists->missing.at[0]);
        if (length > 0 && length <= 100)
            TERN_TRY(try_prefix(a, names->at[i], (int)length));
    }
    return TERN_OK;
}

static tern_status try_components(adviser *a)
{
    char component[100];
    const tern_key_list *names = &a->lists->unexpected;
    tern_state_load_options changed = *a->options;
    changed.strip_component = component;
    for (int64_t i = 0; i < names->count && !a->done && a->attempts < MAX_ATTEMPTS; i++) {
        if (!tern_component_between(a->lists->missing.at[0], names->at[i], component,
                                    sizeof component))
            continue;
        TERN_TRY(try_with(a, TERN_LOAD_STRIP_COMPONENT, changed));
    }
    if (!a->done)
        return TERN_OK;
    tern_write(a->out, "what is missing is in the state but for the component \"%s\": ", component);
    write_call(a);
    tern_write(a->out, ".strip_component = \"%s\"; ", component);
    return TERN_OK;
}

static tern_status try_convert(adviser *a)
{
    tern_state_load_options changed = *a->options;
    changed.convert = true;
    if (a->lists->mismatched.count == 0 || a->options->convert)
        return TERN_OK;
    TERN_TRY(try_with(a, TERN_LOAD_CONVERT, changed));
    if (!a->done)
        return TERN_OK;
    tern_write(a->out, "the dtypes differ: ");
    write_call(a);
    tern_write(a->out, ".convert = true; ");
    return TERN_OK;
}

static tern_status try_without_numbers(adviser *a)
{
    tern_state_load_options changed = *a->options;
    changed.object = a->caller->without_numbers;
    changed.report = NULL;
    if (a->lists->mismatched.count == 0 || !changed.object)
        return TERN_OK;
    TERN_TRY(a->attempt(a->caller, &changed, &a->done));
    if (a->done)
        tern_write(a->out, "load it with .numbers = false, which leaves the groups as they are; ");
    return TERN_OK;
}

// Says which option makes the state fit, where one does; `names` are errors.
static tern_status write_advice(adviser *a, bool names)
{
    if (names && a->lists->missing.count > 0) {
        TERN_TRY(try_prefixes(a));
        if (!a->done && !a->options->strip_component)
            TERN_TRY(try_components(a));
    }
    if (!a->done)
        TERN_TRY(try_without_numbers(a));
    return a->done ? TERN_OK : try_convert(a);
}

// ---- the message -------------------------------------------------------------------------------

typedef struct listing {
    const char *word; // "missing"
    const tern_key_list *list;
    const tern_key_list *near; // where a name may have been meant; NULL: the list is of sentences
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

// Entries up to MAX_LISTED, as long as the text is shorter than `max_bytes`.
static void write_list(tern_writer *out, const listing *what, int64_t max_bytes)
{
    const int64_t count = what->list->count;
    int64_t listed = 0;
    tern_write(out, "%s %lld:", what->word, (long long)count);
    for (; listed < count && listed < MAX_LISTED; listed++) {
        const int64_t before = out->length, left = count - listed > 1 ? 20 : 0;
        write_entry(out, what, listed);
        if (listed > 0 && out->length + left > max_bytes) {
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
        write_list(out, &what[i], out->length + (MAX_BYTES - out->length) / left);
        left--;
    }
}

// What is missing or unexpected is no error where .strict is false.
tern_status tern_load_raise(const tern_load_caller *caller, const tern_key_map *keys,
                            const tern_load_lists *lists, bool nothing, tern_load_try *attempt)
{
    static const tern_key_list none;
    const tern_state_load_options *options = keys->options;
    char text[4 * TERN_MESSAGE_SIZE] = "";
    tern_writer out = {.buffer = text, .size = sizeof text};
    const bool names = options->strict || nothing;
    const listing what[3] = {
        {"missing", names ? &lists->missing : &none, &lists->unexpected},
        {"unexpected", names ? &lists->unexpected : &none, &lists->missing},
        {"mismatched", lists->kind ? &none : &lists->mismatched, NULL},
    };
    int kinds = 0;
    for (int i = 0; i < 3; i++)
        kinds += what[i].list->count > 0;
    tern_write(&out, "%s: %s", caller->function,
               nothing && !options->strict ? "no name of the state is one here; " : "");
    if (lists->kind) // the cause of all else
        tern_write(&out, kinds ? "%.250s; " : "%.250s", lists->mismatched.at[lists->kind - 1]);
    else
        TERN_TRY(write_advice(&(adviser){.out = &out,
                                         .caller = caller,
                                         .keys = keys,
                                         .options = options,
                                         .lists = lists,
                                         .attempt = attempt},
                              names));
    write_lists(&out, what, kinds);
    const bool is_name = what[0].list->count + what[1].list->count > 0;
    return tern_error_raise(is_name ? TERN_ERR_ARG : lists->code, "%s", text);
}
