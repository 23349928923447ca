// SPDX-License-Identifier: Apache-2.0
// States value by value, bit for bit.
#ifndef TERN_TESTS_SUPPORT_STATE_CHECK_H
#define TERN_TESTS_SUPPORT_STATE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tern/tern.h>

// The bytes of a value; to be freed.
static inline void *state_bytes(const tern_state *state, const char *name, size_t *size)
{
    const tern_state_type type = tern_state_type_of(state, name);
    tern_tensor *t = type == TERN_STATE_TENSOR ? tern_state_tensor(state, name) : NULL;
    const char *text = type == TERN_STATE_TEXT ? tern_state_text(state, name) : NULL;
    const void *raw = type == TERN_STATE_BYTES ? tern_state_bytes(state, name, size) : text;
    *size = t                          ? (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t))
            : text                     ? strlen(text)
            : type != TERN_STATE_BYTES ? sizeof(int64_t)
                                       : *size;
    void *bytes = calloc(*size + 1, 1);
    assert_non_null(bytes);
    if (t)
        assert_int_equal(tern_to_host(t, bytes, *size), TERN_OK);
    else if (raw)
        memcpy(bytes, raw, *size);
    else if (type == TERN_STATE_INT)
        assert_int_equal(tern_state_get_int(state, name, bytes), TERN_OK);
    else
        assert_int_equal(tern_state_get_double(state, name, bytes), TERN_OK);
    return bytes;
}

static inline bool is_same_value(const tern_state *a, const tern_state *b, const char *name)
{
    size_t size, other_size;
    void *bytes = state_bytes(a, name, &size), *other = state_bytes(b, name, &other_size);
    const bool same = tern_state_type_of(a, name) == tern_state_type_of(b, name) &&
                      size == other_size && memcmp(bytes, other, size) == 0;
    free(bytes);
    free(other);
    return same;
}

// The same names in the same order, and each value the same, or, with same = false, none.
static inline void check_states(const tern_state *a, const tern_state *b, bool same)
{
    assert_int_equal(tern_state_count(a), tern_state_count(b));
    for (int64_t i = 0; i < tern_state_count(a); i++) {
        const char *name = tern_state_name_at(a, i);
        assert_string_equal(name, tern_state_name_at(b, i));
        if (is_same_value(a, b, name) != same)
            fail_msg("%s is %s in both", name, same ? "not the same" : "the same");
    }
}

#endif
