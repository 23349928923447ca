// SPDX-License-Identifier: Apache-2.0
// Making, filling and freeing states: an array of entries and a hash table over their names.
#include "state/state.h"

#include <stddef.h>
#include <string.h>
#include "base/fork.h"
#include "base/hash.h"
#include "base/mem.h"
#include "tensor/header.h"

tern_state *tern_state_new(void)
{
    return tern_mem_alloc(sizeof(tern_state));
}

void tern_state_value_free(tern_state_value *value)
{
    if (value->type == TERN_STATE_TENSOR)
        tern_drop_as(value->tensor, TERN_STAMP_HOLDER);
    if (value->type == TERN_STATE_TEXT || value->type == TERN_STATE_BYTES)
        tern_mem_free(value->bytes.data, value->bytes.size + 1);
    value->type = TERN_STATE_UNSPECIFIED;
}

static tern_status check_not_freed(const char *function, const tern_state *state)
{
    TERN_CHECK(!state->freed, TERN_ERR_STATE, "%s: this state was freed already", function);
    return TERN_OK;
}

static tern_status check_not_loaded(const char *function, const tern_state *state)
{
    TERN_CHECK(atomic_load(&state->loads) == 0, TERN_ERR_STATE,
               "%s: this state is being loaded; call it afterwards", function);
    return TERN_OK;
}

void tern_state_free(tern_state *state)
{
    if (!state || check_not_freed("state_free", state) || check_not_loaded("state_free", state))
        return;
    for (int64_t i = state->count - 1; i >= 0; i--) {
        tern_state_value_free(&state->at[i].value);
        tern_mem_free_string(state->at[i].name);
    }
    tern_state_free(state->versions);
    tern_mem_free(state->at, (size_t)state->capacity * sizeof *state->at);
    tern_mem_free(state->places, (size_t)state->place_count * sizeof *state->places);
    state->freed = true;
    tern_mem_free_late(state, sizeof *state, offsetof(tern_state, at));
}

tern_status tern_check_state(const char *function, const tern_state *state)
{
    if (!state)
        return tern_null_error(function, "state");
    TERN_TRY(check_not_freed(function, state));
    return tern_fork_check();
}

tern_status tern_check_state_change(const char *function, const tern_state *state)
{
    TERN_TRY(tern_check_state(function, state));
    return check_not_loaded(function, state);
}

// ---- the table ----------------------------------------------------------------------------------

// The place of the name, or the free one where it would go. There is a free one.
static int64_t *place_of(const tern_state *state, const char *name, uint64_t hash)
{
    const int64_t mask = state->place_count - 1;
    for (int64_t at = (int64_t)(hash ^ hash >> 32) & mask;; at = (at + 1) & mask) {
        int64_t *place = &state->places[at];
        const tern_state_entry *entry = *place ? &state->at[*place - 1] : NULL;
        if (!entry || (entry->hash == hash && strcmp(entry->name, name) == 0))
            return place;
    }
}

static void fill_places(tern_state *state)
{
    memset(state->places, 0, (size_t)state->place_count * sizeof *state->places);
    for (int64_t i = 0; i < state->count; i++)
        *place_of(state, state->at[i].name, state->at[i].hash) = i + 1;
}

// Room for one more entry and its place.
static tern_status grow(tern_state *state)
{
    TERN_TRY(
        tern_mem_grow((void **)&state->at, &state->capacity, state->count + 1, sizeof *state->at));
    if (2 * (state->count + 1) <= state->place_count)
        return TERN_OK;
    const int64_t wider = state->place_count ? 2 * state->place_count : 64;
    int64_t *places = tern_mem_alloc((size_t)wider * sizeof *places);
    if (!places)
        return TERN_ERR_NOMEM;
    tern_mem_free(state->places, (size_t)state->place_count * sizeof *places);
    state->places = places;
    state->place_count = wider;
    fill_places(state);
    return TERN_OK;
}

tern_state_entry *tern_state_find(const tern_state *state, const char *name)
{
    if (state->count == 0)
        return NULL;
    const int64_t found = *place_of(state, name, tern_hash(name, strlen(name)));
    return found ? &state->at[found - 1] : NULL;
}

// ---- putting and removing -----------------------------------------------------------------------

static tern_status check_name(const char *function, const char *name)
{
    if (!name)
        return tern_null_error(function, "name");
    const size_t length = strlen(name);
    TERN_CHECK(length > 0 && length < TERN_STATE_NAME_SIZE, TERN_ERR_ARG,
               "%s: \"%.64s\" cannot be a name: it has %zu bytes, not 1 to %d", function, name,
               length, TERN_STATE_NAME_SIZE - 1);
    for (const char *at = name; *at; at++)
        TERN_CHECK((unsigned char)*at >= 0x20 && *at != 0x7F, TERN_ERR_ARG,
                   "%s: \"%.64s\" cannot be a name: it has a control character", function, name);
    return TERN_OK;
}

static tern_status add(tern_state *state, const char *name, tern_state_value value)
{
    TERN_TRY(grow(state));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    const uint64_t hash = tern_hash(name, strlen(name));
    *place_of(state, name, hash) = state->count + 1;
    state->at[state->count++] = (tern_state_entry){copy, hash, value};
    return TERN_OK;
}

tern_status tern_state_put(const char *function, tern_state *state, const char *name,
                           tern_state_value value)
{
    tern_status status = tern_check_state_change(function, state);
    if (!status)
        status = check_name(function, name);
    tern_state_entry *entry = status ? NULL : tern_state_find(state, name);
    if (entry) {
        tern_state_value_free(&entry->value);
        entry->value = value;
        return TERN_OK;
    }
    if (!status)
        status = add(state, name, value);
    if (status)
        tern_state_value_free(&value);
    return status;
}

tern_status tern_state_remove(tern_state *state, const char *name)
{
    TERN_TRY(tern_check_state_change("state_remove", state));
    if (!name)
        return tern_null_error("state_remove", "name");
    tern_state_entry *entry = tern_state_find(state, name);
    TERN_CHECK(entry, TERN_ERR_ARG, "state_remove: there is no \"%.64s\"", name);
    char *last_name = entry->name; // `name` may be this
    tern_state_value_free(&entry->value);
    const int64_t behind = state->count - 1 - (entry - state->at);
    memmove(entry, entry + 1, (size_t)behind * sizeof *entry);
    state->count--;
    fill_places(state);
    tern_mem_free_string(last_name);
    return TERN_OK;
}
