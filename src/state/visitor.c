// SPDX-License-Identifier: Apache-2.0
// Visiting: names of parts and values, and what is there to be loaded.
#include "state/visitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/text.h"

static tern_status check_visit(const char *function, const tern_state_visitor *visitor,
                               const char *name)
{
    if (!visitor)
        return tern_null_error(function, "visitor");
    return name ? TERN_OK : tern_null_error(function, "name");
}

tern_status tern_visit_name(tern_state_visitor *visitor, const char *name)
{
    const size_t length = strlen(name), space = sizeof visitor->name - visitor->length;
    TERN_CHECK(length > 0, TERN_ERR_ARG, "visit: a name below \"%.64s\" is empty", visitor->name);
    TERN_CHECK(length < space, TERN_ERR_ARG,
               "visit: the full name of \"%.64s\" has %zu bytes, not "
               "1 to %d",
               name, visitor->length + length, TERN_STATE_NAME_SIZE - 1);
    memcpy(visitor->name + visitor->length, name, length + 1);
    return TERN_OK;
}

tern_state_entry *tern_visit_find(const tern_state_visitor *visitor)
{
    const tern_loading *loading = visitor->loading;
    const tern_key_match *match = tern_key_map_find(&loading->keys, visitor->name);
    return match ? &loading->options->state->at[match->index] : NULL;
}

tern_status tern_visit_mismatch(tern_state_visitor *visitor, tern_status code, const char *format,
                                ...)
{
    char why[TERN_MESSAGE_SIZE], sentence[TERN_MESSAGE_SIZE + TERN_STATE_NAME_SIZE + 4];
    va_list words;
    va_start(words, format);
    tern_text_format(why, sizeof why, format, words);
    va_end(words);
    snprintf(sentence, sizeof sentence, "\"%s\" %s", visitor->name, why);
    tern_load_lists *lists = &visitor->loading->lists;
    if (lists->mismatched.count == 0)
        lists->code = code; // the first
    return tern_key_list_add(&lists->mismatched, sentence);
}

int64_t tern_visit_version(const tern_state_visitor *visitor)
{
    if (!visitor->loading)
        return 1;
    char name[TERN_STATE_NAME_SIZE + 16];
    snprintf(name, sizeof name, "%.*sversion", (int)visitor->length, visitor->name);
    const tern_key_match *match = tern_key_map_find(&visitor->loading->versions, name);
    const tern_state *versions = visitor->loading->options->state->versions;
    return match ? versions->at[match->index].value.integer : 1;
}

// ---- names that become one ----------------------------------------------------------------------

// An entry that is visited again: under the name of the first time, or another one.
static tern_status check_alias(const tern_loading *loading, const tern_state_entry *entry,
                               const char *name)
{
    const tern_key *key = &loading->keys.keys[entry - loading->options->state->at];
    const char *first = key->alias ? key->alias : key->name;
    TERN_CHECK(strcmp(first, name) == 0, TERN_ERR_ARG,
               "%s: \"%.100s\" is ambiguous without the component \"%.64s\": the object has "
               "\"%.100s\" and \"%.100s\"",
               loading->function, entry->name, loading->options->strip_component, first, name);
    return TERN_OK;
}

// The entry that is visited under a name, the only one that has it, keeps it.
static tern_status take_alias(const tern_loading *loading, const char *name)
{
    const tern_state_entry *at = loading->options->state->at;
    const tern_key_match *match = tern_key_map_find(&loading->keys, name);
    tern_key *key = &loading->keys.keys[match->index];
    TERN_CHECK(match->duplicate < 0, TERN_ERR_ARG,
               "%s: \"%.100s\" is ambiguous: the state has \"%.100s\" and \"%.100s\" for it",
               loading->function, name, at[match->index].name, at[match->duplicate].name);
    if (strcmp(key->name, name) == 0)
        return TERN_OK;
    key->alias = tern_mem_string(name);
    return key->alias ? TERN_OK : TERN_ERR_NOMEM;
}

// ---- values -------------------------------------------------------------------------------------

static tern_load_mark *mark_of(const tern_state_visitor *visitor, const tern_state_entry *entry)
{
    return &visitor->loading->marks[entry - visitor->loading->options->state->at];
}

static tern_status check_twice(tern_state_visitor *visitor, const tern_state_entry *entry)
{
    bool twice;
    if (visitor->mode == TERN_VISIT_SAVE) {
        twice = tern_state_find(visitor->into, visitor->name);
    } else {
        tern_load_mark *mark = mark_of(visitor, entry);
        twice = visitor->mode == TERN_VISIT_CHECK && *mark == TERN_LOAD_VISITED;
        *mark = TERN_LOAD_VISITED;
        if (twice)
            TERN_TRY(check_alias(visitor->loading, entry, visitor->name));
    }
    TERN_CHECK(!twice, TERN_ERR_ARG, "visit: \"%.100s\" is visited twice", visitor->name);
    return TERN_OK;
}

static bool fits(const tern_state_entry *entry, tern_state_type type)
{
    double number;
    return entry->value.type == type ||
           (type == TERN_STATE_DOUBLE && tern_state_value_double(&entry->value, &number));
}

static tern_status begin(tern_state_visitor *visitor, const char *name, tern_state_type type,
                         bool optional, const tern_state_entry **entry)
{
    *entry = NULL;
    TERN_TRY(check_visit("visit", visitor, name));
    TERN_TRY(tern_visit_name(visitor, name));
    if (visitor->mode == TERN_VISIT_SAVE)
        return check_twice(visitor, NULL);
    const tern_state_entry *found = tern_visit_find(visitor);
    if (!found && (optional || visitor->mode == TERN_VISIT_TAKE))
        return TERN_OK;
    if (!found)
        return tern_key_list_add(&visitor->loading->lists.missing, visitor->name);
    TERN_TRY(check_twice(visitor, found));
    if (visitor->mode == TERN_VISIT_CHECK)
        TERN_TRY(take_alias(visitor->loading, visitor->name));
    if (!fits(found, type))
        return tern_visit_mismatch(visitor, TERN_ERR_ARG, "is %s in the state and %s here",
                                   tern_state_type_name(found->value.type),
                                   tern_state_type_name(type));
    *entry = found;
    return TERN_OK;
}

tern_status tern_visit_begin(tern_state_visitor *visitor, const char *name, tern_state_type type,
                             const tern_state_entry **entry)
{
    return begin(visitor, name, type, false, entry);
}

tern_status tern_visit_begin_optional(tern_state_visitor *visitor, const char *name,
                                      tern_state_type type, const tern_state_entry **entry)
{
    return begin(visitor, name, type, true, entry);
}

// ---- parts --------------------------------------------------------------------------------------

static tern_status visit_below(tern_state_visitor *visitor, const char *name, tern_visit_fn *visit,
                               void *part)
{
    const size_t before = visitor->length;
    if (name) {
        TERN_TRY(tern_visit_name(visitor, name));
        visitor->length += strlen(name) + 1;
        TERN_CHECK(visitor->length < sizeof visitor->name, TERN_ERR_ARG,
                   "visit: the full name of \"%.64s\" has more than %d bytes", name,
                   TERN_STATE_NAME_SIZE - 1);
        strcpy(visitor->name + visitor->length - 1, ".");
    }
    tern_status status = visit(part, visitor);
    visitor->length = before;
    visitor->name[before] = 0;
    return status;
}

tern_status tern_visit_part(tern_state_visitor *visitor, const char *name, tern_visit_fn *visit,
                            void *part)
{
    TERN_TRY(check_visit("visit_part", visitor, ""));
    if (!visit)
        return tern_null_error("visit_part", "visit");
    return visit_below(visitor, name, visit, part);
}

tern_status tern_visit_item(tern_state_visitor *visitor, const char *name, int64_t index,
                            tern_visit_fn *visit, void *part)
{
    char full[TERN_STATE_NAME_SIZE + 24];
    TERN_TRY(check_visit("visit_item", visitor, ""));
    if (!visit)
        return tern_null_error("visit_item", "visit");
    TERN_CHECK(!name || strlen(name) < TERN_STATE_NAME_SIZE, TERN_ERR_ARG,
               "visit_item: the name of the list is longer than %d bytes",
               TERN_STATE_NAME_SIZE - 1);
    snprintf(full, sizeof full, "%s%s%" PRId64, name ? name : "", name ? "." : "", index);
    return visit_below(visitor, full, visit, part);
}

// ---- looking ------------------------------------------------------------------------------------

bool tern_visit_is_loading(const tern_state_visitor *visitor)
{
    return visitor && visitor->mode != TERN_VISIT_SAVE;
}

bool tern_visit_is_taking(const tern_state_visitor *visitor)
{
    return visitor && visitor->mode == TERN_VISIT_TAKE;
}

// The value that is loaded under a name, or NULL. The name is put where the next one will be.
static const tern_state_value *peek(const tern_state_visitor *visitor, const char *name)
{
    if (check_visit("visit_peek", visitor, name) || visitor->mode == TERN_VISIT_SAVE)
        return NULL;
    tern_state_visitor *scratch = (tern_state_visitor *)(uintptr_t)visitor;
    if (tern_visit_name(scratch, name))
        return NULL;
    const tern_state_entry *entry = tern_visit_find(visitor);
    return entry ? &entry->value : NULL;
}

tern_state_type tern_visit_peek(const tern_state_visitor *visitor, const char *name)
{
    const tern_state_value *value = peek(visitor, name);
    return value ? value->type : TERN_STATE_UNSPECIFIED;
}

bool tern_visit_peek_int(const tern_state_visitor *visitor, const char *name, int64_t *value)
{
    const tern_state_value *found = peek(visitor, name);
    if (!found || found->type != TERN_STATE_INT || !value)
        return false;
    *value = found->integer;
    return true;
}

bool tern_visit_peek_double(const tern_state_visitor *visitor, const char *name, double *value)
{
    const tern_state_value *found = peek(visitor, name);
    return found && value && tern_state_value_double(found, value);
}

const char *tern_visit_peek_text(const tern_state_visitor *visitor, const char *name)
{
    const tern_state_value *found = peek(visitor, name);
    return found && found->type == TERN_STATE_TEXT ? found->bytes.data : NULL;
}

tern_tensor *tern_visit_peek_tensor(const tern_state_visitor *visitor, const char *name)
{
    const tern_state_value *found = peek(visitor, name);
    return found && found->type == TERN_STATE_TENSOR ? found->tensor : NULL;
}

tern_status tern_visit_refuse(tern_state_visitor *visitor, const char *name, const char *format,
                              ...)
{
    char why[TERN_MESSAGE_SIZE];
    TERN_TRY(check_visit("visit_refuse", visitor, name));
    if (!format)
        return tern_null_error("visit_refuse", "format");
    va_list words;
    va_start(words, format);
    tern_text_format(why, sizeof why, format, words);
    va_end(words);
    TERN_CHECK(visitor->mode == TERN_VISIT_CHECK, TERN_ERR_STATE,
               "visit_refuse: \"%.64s\" is refused (%s) where %s", name, why,
               visitor->mode == TERN_VISIT_SAVE ? "nothing is loaded"
                                                : "it was not when it was checked");
    TERN_TRY(tern_visit_name(visitor, name));
    const tern_state_entry *entry = tern_visit_find(visitor);
    if (entry && *mark_of(visitor, entry) == TERN_LOAD_UNVISITED)
        *mark_of(visitor, entry) = TERN_LOAD_REFUSED;
    return tern_visit_mismatch(visitor, TERN_ERR_ARG, "%s", why);
}
