// SPDX-License-Identifier: Apache-2.0
// Setting and getting values of each type.
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "state/state.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

const char *tern_state_type_name(tern_state_type type)
{
    static const char *const names[] = {
        [TERN_STATE_UNSPECIFIED] = "nothing", [TERN_STATE_TENSOR] = "a tensor",
        [TERN_STATE_INT] = "an integer",      [TERN_STATE_DOUBLE] = "a number",
        [TERN_STATE_TEXT] = "a text",         [TERN_STATE_BYTES] = "bytes",
    };
    return names[type];
}

// ---- setting ------------------------------------------------------------------------------------

tern_status tern_state_set_tensor(tern_state *state, const char *name, tern_tensor *tensor)
{
    TERN_TRY(tern_check_tensor("state_set_tensor", "tensor", tensor));
    return tern_state_put(
        "state_set_tensor", state, name,
        (tern_state_value){TERN_STATE_TENSOR, .tensor = tern_tensor_retain(tensor)});
}

tern_status tern_state_set_int(tern_state *state, const char *name, int64_t value)
{
    return tern_state_put("state_set_int", state, name,
                          (tern_state_value){TERN_STATE_INT, .integer = value});
}

tern_status tern_state_set_double(tern_state *state, const char *name, double value)
{
    return tern_state_put("state_set_double", state, name,
                          (tern_state_value){TERN_STATE_DOUBLE, .number = value});
}

static tern_status copy_bytes(tern_state_value *to, tern_state_type type, const void *bytes,
                              size_t size)
{
    TERN_CHECK(size < SIZE_MAX, TERN_ERR_NOMEM, "no memory for %zu bytes", size);
    char *data = tern_mem_alloc(size + 1);
    if (!data)
        return TERN_ERR_NOMEM;
    if (size > 0)
        memcpy(data, bytes, size);
    *to = (tern_state_value){type, .bytes = {data, size}};
    return TERN_OK;
}

static tern_status set_bytes(const char *function, tern_state *state, const char *name,
                             tern_state_type type, const void *bytes, size_t size)
{
    tern_state_value value;
    TERN_TRY(tern_check_state(function, state));
    TERN_TRY(copy_bytes(&value, type, bytes, size));
    return tern_state_put(function, state, name, value);
}

tern_status tern_state_set_text(tern_state *state, const char *name, const char *text)
{
    if (!text)
        return tern_null_error("state_set_text", "text");
    return set_bytes("state_set_text", state, name, TERN_STATE_TEXT, text, strlen(text));
}

tern_status tern_state_set_bytes(tern_state *state, const char *name, const void *bytes,
                                 size_t size)
{
    if (!bytes && size > 0)
        return tern_null_error("state_set_bytes", "bytes");
    return set_bytes("state_set_bytes", state, name, TERN_STATE_BYTES, bytes, size);
}

tern_status tern_state_value_copy(tern_state_value *to, const tern_state_value *from)
{
    if (from->type == TERN_STATE_TEXT || from->type == TERN_STATE_BYTES)
        return copy_bytes(to, from->type, from->bytes.data, from->bytes.size);
    *to = *from;
    if (to->type == TERN_STATE_TENSOR)
        tern_tensor_retain(to->tensor);
    return TERN_OK;
}

// ---- getting ------------------------------------------------------------------------------------

static tern_status find(const char *function, const tern_state *state, const char *name,
                        const tern_state_value **value)
{
    TERN_TRY(tern_check_state(function, state));
    if (!name)
        return tern_null_error(function, "name");
    const tern_state_entry *entry = tern_state_find(state, name);
    TERN_CHECK(entry, TERN_ERR_ARG, "%s: there is no \"%.64s\"", function, name);
    *value = &entry->value;
    return TERN_OK;
}

static tern_status wrong_type(const char *function, const char *name, const tern_state_value *value,
                              tern_state_type wanted)
{
    return tern_error_raise(TERN_ERR_ARG, "%s: \"%.64s\" is %s, not %s", function, name,
                            tern_state_type_name(value->type), tern_state_type_name(wanted));
}

// The value of that name and type, or NULL.
static const tern_state_value *typed(const char *function, const tern_state *state,
                                     const char *name, tern_state_type type)
{
    const tern_state_value *value = NULL;
    if (find(function, state, name, &value))
        return NULL;
    if (value->type == type)
        return value;
    (void)wrong_type(function, name, value, type);
    return NULL;
}

tern_tensor *tern_state_tensor(const tern_state *state, const char *name)
{
    const tern_state_value *value = typed("state_tensor", state, name, TERN_STATE_TENSOR);
    return value ? value->tensor : NULL;
}

tern_status tern_state_get_int(const tern_state *state, const char *name, int64_t *value)
{
    const tern_state_value *found = NULL;
    if (!value)
        return tern_null_error("state_get_int", "value");
    TERN_TRY(find("state_get_int", state, name, &found));
    if (found->type != TERN_STATE_INT)
        return wrong_type("state_get_int", name, found, TERN_STATE_INT);
    *value = found->integer;
    return TERN_OK;
}

bool tern_state_value_double(const tern_state_value *value, double *number)
{
    const int64_t exact = INT64_C(1) << 53;
    if (value->type == TERN_STATE_DOUBLE)
        *number = value->number;
    else if (value->type == TERN_STATE_INT && value->integer >= -exact && value->integer <= exact)
        *number = (double)value->integer;
    else
        return false;
    return true;
}

tern_status tern_state_get_double(const tern_state *state, const char *name, double *value)
{
    const tern_state_value *found = NULL;
    if (!value)
        return tern_null_error("state_get_double", "value");
    TERN_TRY(find("state_get_double", state, name, &found));
    if (!tern_state_value_double(found, value))
        return wrong_type("state_get_double", name, found, TERN_STATE_DOUBLE);
    return TERN_OK;
}

const char *tern_state_text(const tern_state *state, const char *name)
{
    const tern_state_value *value = typed("state_text", state, name, TERN_STATE_TEXT);
    return value ? value->bytes.data : NULL;
}

const void *tern_state_bytes(const tern_state *state, const char *name, size_t *size)
{
    if (!size) {
        tern_null_error("state_bytes", "size");
        return NULL;
    }
    const tern_state_value *value = typed("state_bytes", state, name, TERN_STATE_BYTES);
    if (!value)
        return NULL;
    *size = value->bytes.size;
    return value->bytes.data;
}

// ---- walking ------------------------------------------------------------------------------------

int64_t tern_state_count(const tern_state *state)
{
    return tern_check_state("state_count", state) ? -1 : state->count;
}

static const tern_state_entry *entry_at(const char *function, const tern_state *state,
                                        int64_t index)
{
    if (tern_check_state(function, state))
        return NULL;
    TERN_CHECK_PTR(index >= 0 && index < state->count, TERN_ERR_INDEX,
                   "%s: there is no value %lld of %lld", function, (long long)index,
                   (long long)state->count);
    return &state->at[index];
}

const char *tern_state_name_at(const tern_state *state, int64_t index)
{
    const tern_state_entry *entry = entry_at("state_name_at", state, index);
    return entry ? entry->name : NULL;
}

tern_state_type tern_state_type_at(const tern_state *state, int64_t index)
{
    const tern_state_entry *entry = entry_at("state_type_at", state, index);
    return entry ? entry->value.type : TERN_STATE_UNSPECIFIED;
}

tern_state_type tern_state_type_of(const tern_state *state, const char *name)
{
    if (tern_check_state("state_type_of", state))
        return TERN_STATE_UNSPECIFIED;
    if (!name) {
        tern_null_error("state_type_of", "name");
        return TERN_STATE_UNSPECIFIED;
    }
    const tern_state_entry *entry = tern_state_find(state, name);
    return entry ? entry->value.type : TERN_STATE_UNSPECIFIED;
}

// ---- versions of modules ------------------------------------------------------------------------

tern_status tern_state_set_version(tern_state *state, const char *module, int64_t version)
{
    char name[TERN_STATE_NAME_SIZE + 16];
    if (!state->versions)
        state->versions = tern_state_new();
    if (!state->versions)
        return TERN_ERR_NOMEM;
    snprintf(name, sizeof name, "%.*s%sversion", TERN_STATE_NAME_SIZE, module, *module ? "." : "");
    return tern_state_set_int(state->versions, name, version);
}
