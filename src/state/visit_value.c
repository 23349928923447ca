// SPDX-License-Identifier: Apache-2.0
// Visiting numbers, texts, bytes and generators: what fits is in the state, so taking cannot fail.
#include <string.h>
#include "base/mem.h"
#include "device/generator.h"
#include "state/visitor.h"

static tern_status save_integer(tern_state_visitor *visitor, int64_t value)
{
    return tern_state_put("visit_int", visitor->into, visitor->name,
                          (tern_state_value){TERN_STATE_INT, .integer = value});
}

tern_status tern_visit_int(tern_state_visitor *visitor, const char *name, int64_t *value)
{
    const tern_state_entry *entry;
    if (!value)
        return tern_null_error("visit_int", "value");
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_INT, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return save_integer(visitor, *value);
    if (entry && visitor->mode == TERN_VISIT_TAKE)
        *value = entry->value.integer;
    return TERN_OK;
}

tern_status tern_visit_bool(tern_state_visitor *visitor, const char *name, bool *value)
{
    const tern_state_entry *entry;
    if (!value)
        return tern_null_error("visit_bool", "value");
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_INT, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return save_integer(visitor, *value);
    if (entry && (entry->value.integer < 0 || entry->value.integer > 1))
        return tern_visit_mismatch(visitor, TERN_ERR_ARG, "is %lld in the state, not 0 or 1",
                                   (long long)entry->value.integer);
    if (entry && visitor->mode == TERN_VISIT_TAKE)
        *value = entry->value.integer;
    return TERN_OK;
}

tern_status tern_visit_double(tern_state_visitor *visitor, const char *name, double *value)
{
    const tern_state_entry *entry;
    if (!value)
        return tern_null_error("visit_double", "value");
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_DOUBLE, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return tern_state_put("visit_double", visitor->into, visitor->name,
                              (tern_state_value){TERN_STATE_DOUBLE, .number = *value});
    if (entry && visitor->mode == TERN_VISIT_TAKE)
        (void)tern_state_value_double(&entry->value, value);
    return TERN_OK;
}

tern_status tern_visit_text(tern_state_visitor *visitor, const char *name, char *text, size_t size)
{
    const tern_state_entry *entry;
    if (!text)
        return tern_null_error("visit_text", "text");
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_TEXT, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return tern_state_set_text(visitor->into, visitor->name, text);
    if (!entry)
        return TERN_OK;
    const size_t needed = entry->value.bytes.size + 1;
    if (needed > size)
        return tern_visit_mismatch(visitor, TERN_ERR_ARG,
                                   "has %zu bytes in the state, more than the %zu there is room "
                                   "for",
                                   needed - 1, size > 0 ? size - 1 : 0);
    if (visitor->mode == TERN_VISIT_TAKE)
        memcpy(text, entry->value.bytes.data, needed);
    return TERN_OK;
}

tern_status tern_visit_kind(tern_state_visitor *visitor, const char *name, const char *kind)
{
    const tern_state_entry *entry;
    if (!kind)
        return tern_null_error("visit_kind", "kind");
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_TEXT, &entry));
    if (visitor->mode == TERN_VISIT_SAVE)
        return tern_state_set_text(visitor->into, visitor->name, kind);
    if (!entry || strcmp(entry->value.bytes.data, kind) == 0)
        return TERN_OK;
    tern_load_lists *lists = &visitor->loading->lists;
    if (!lists->kind)
        lists->kind = lists->mismatched.count + 1;
    return tern_visit_mismatch(visitor, TERN_ERR_ARG, "is %.64s in the state and %.64s here",
                               entry->value.bytes.data, kind);
}

// The bytes to be loaded; NULL where they are missing or do not fit.
static tern_status begin_bytes(tern_state_visitor *visitor, const char *name, size_t size,
                               const char **bytes)
{
    const tern_state_entry *entry;
    *bytes = NULL;
    TERN_TRY(tern_visit_begin(visitor, name, TERN_STATE_BYTES, &entry));
    if (!entry)
        return TERN_OK;
    if (entry->value.bytes.size != size)
        return tern_visit_mismatch(visitor, TERN_ERR_ARG, "has %zu bytes in the state and %zu here",
                                   entry->value.bytes.size, size);
    *bytes = entry->value.bytes.data;
    return TERN_OK;
}

tern_status tern_visit_bytes(tern_state_visitor *visitor, const char *name, void *bytes,
                             size_t size)
{
    const char *found;
    if (!bytes && size > 0)
        return tern_null_error("visit_bytes", "bytes");
    TERN_TRY(begin_bytes(visitor, name, size, &found));
    if (visitor->mode == TERN_VISIT_SAVE)
        return tern_state_set_bytes(visitor->into, visitor->name, bytes, size);
    if (found && size > 0 && visitor->mode == TERN_VISIT_TAKE)
        memcpy(bytes, found, size);
    return TERN_OK;
}

// ---- generators ---------------------------------------------------------------------------------

static tern_status save_generator(tern_state_visitor *visitor, const tern_generator *generator)
{
    const size_t size = tern_generator_state_size();
    void *bytes = tern_mem_alloc(size);
    if (!bytes)
        return TERN_ERR_NOMEM;
    tern_status status = tern_generator_save(generator, bytes, size);
    if (!status)
        status = tern_state_set_bytes(visitor->into, visitor->name, bytes, size);
    tern_mem_free(bytes, size);
    return status;
}

// Its draws are on a device: they are written with the tensors.
static tern_status check_draws(tern_loading *loading, const tern_generator *generator,
                               const char *bytes)
{
    tern_load_draws draws = {.device = generator->device};
    if (!tern_generator_state_draws(generator, bytes, &draws.next))
        return TERN_OK;
    TERN_TRY(tern_mem_grow((void **)&loading->draws, &loading->draw_capacity,
                           loading->draw_count + 1, sizeof *loading->draws));
    loading->draws[loading->draw_count++] = draws;
    return TERN_OK;
}

tern_status tern_visit_generator(tern_state_visitor *visitor, const char *name,
                                 tern_generator *generator)
{
    const size_t size = tern_generator_state_size();
    const char *bytes;
    if (!generator)
        return tern_null_error("visit_generator", "generator");
    TERN_TRY(tern_check_generator("visit_generator", generator));
    TERN_TRY(begin_bytes(visitor, name, size, &bytes));
    if (visitor->mode == TERN_VISIT_SAVE)
        return save_generator(visitor, generator);
    const char *wrong = bytes ? tern_generator_state_fault(bytes) : NULL;
    if (wrong)
        return tern_visit_mismatch(visitor, TERN_ERR_FORMAT, "%s", wrong);
    if (bytes && visitor->mode == TERN_VISIT_CHECK)
        return check_draws(visitor->loading, generator, bytes);
    if (bytes)
        tern_generator_take(generator, bytes);
    return TERN_OK;
}
