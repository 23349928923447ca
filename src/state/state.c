// SPDX-License-Identifier: Apache-2.0
// Making, filling and freeing states: an array of entries and a hash table over their names.
#include "state/state.h"

#include <stddef.h>
#include <string.h>
#include "base/fork.h"
#include "base/mem.h"
#include "tensor/header.h"

tern_state *tern_state_new(void)
{
    return tern_mem_alloc(sizeof(tern_state));
}

void tern_state_value_free(tern_state_value *value)
{
    if (value->type == TERN_STATE_TENSOR)
        tern_tensor_release_as(value->tensor, TERN_STAMP_HOLDER);
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
    tern_name_table_free(&state->table);
    state->freed = true;
    tern_mem_free_deferred(state, sizeof *state, offsetof(tern_state, at));
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

static tern_named_array named_entries(const tern_state *state)
{
    return TERN_NAMED_ARRAY(state->at);
}

tern_state_entry *tern_state_find(const tern_state *state, const char *name)
{
    const int64_t found = tern_name_table_find(&state->table, named_entries(state), name);
    return found < 0 ? NULL : &state->at[found];
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
    const int64_t count = state->count + 1;
    TERN_TRY(tern_mem_grow((void **)&state->at, &state->capacity, count, sizeof *state->at));
    TERN_TRY(tern_name_table_reserve(&state->table, named_entries(state), state->count, count));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    state->at[state->count] = (tern_state_entry){copy, value};
    tern_name_table_add(&state->table, named_entries(state), state->count++);
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
    tern_name_table_rebuild(&state->table, named_entries(state), state->count);
    tern_mem_free_string(last_name);
    return TERN_OK;
}
