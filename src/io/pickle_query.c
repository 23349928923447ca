// SPDX-License-Identifier: Apache-2.0
// Looking at the values of a pickle.
#include <string.h>
#include "base/hash.h"
#include "io/pickle.h"

tern_pickle_type tern_pickle_type_of(const tern_pickle *p, tern_pickle_ref ref)
{
    if (ref & TERN_PICKLE_SMALL)
        return TERN_PICKLE_INT;
    if (ref >= TERN_PICKLE_FIRST_WORD)
        return (tern_pickle_type)(*tern_pickle_word(p, ref) & ((1u << TERN_PICKLE_TYPE_BITS) - 1));
    if (ref == TERN_PICKLE_NONE_REF)
        return TERN_PICKLE_NONE;
    return ref <= TERN_PICKLE_TRUE_REF ? TERN_PICKLE_BOOL : TERN_PICKLE_GLOBAL;
}

uint32_t tern_pickle_length(const tern_pickle *p, tern_pickle_ref ref)
{
    return *tern_pickle_word(p, ref) >> TERN_PICKLE_TYPE_BITS;
}

uint64_t tern_pickle_get64(const tern_pickle *p, uint32_t at)
{
    return *tern_pickle_word(p, at) | (uint64_t)*tern_pickle_word(p, at + 1) << 32;
}

int64_t tern_pickle_int(const tern_pickle *p, tern_pickle_ref ref)
{
    if (ref & TERN_PICKLE_SMALL) // the sign is in the second bit
        return (int64_t)(ref & ~TERN_PICKLE_SMALL) - 2 * (int64_t)(ref & (TERN_PICKLE_SMALL >> 1));
    return ref < TERN_PICKLE_FIRST_WORD ? ref == TERN_PICKLE_TRUE_REF
                                        : (int64_t)tern_pickle_get64(p, ref + 1);
}

double tern_pickle_double(const tern_pickle *p, tern_pickle_ref ref)
{
    const uint64_t bits = tern_pickle_get64(p, ref + 1);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

unsigned char tern_pickle_byte_at(const tern_pickle *p, tern_pickle_ref text, uint32_t index)
{
    return (unsigned char)(*tern_pickle_word(p, text + 1 + index / 4) >> (8 * (index % 4)));
}

void tern_pickle_text(const tern_pickle *p, tern_pickle_ref ref, char *text, size_t size)
{
    uint32_t length = tern_pickle_length(p, ref);
    if (length > size - 1)
        length = (uint32_t)(size - 1);
    for (uint32_t i = 0; i < length; i++)
        text[i] = (char)tern_pickle_byte_at(p, ref, i);
    text[length] = 0;
}

bool tern_pickle_text_is(const tern_pickle *p, tern_pickle_ref ref, const char *text)
{
    if (tern_pickle_type_of(p, ref) != TERN_PICKLE_TEXT ||
        tern_pickle_length(p, ref) != strlen(text))
        return false;
    for (uint32_t i = 0; text[i]; i++)
        if (tern_pickle_byte_at(p, ref, i) != (unsigned char)text[i])
            return false;
    return true;
}

bool tern_pickle_same_key(const tern_pickle *p, tern_pickle_ref a, tern_pickle_ref b)
{
    if (tern_pickle_type_of(p, a) != tern_pickle_type_of(p, b))
        return false;
    if (tern_pickle_type_of(p, a) == TERN_PICKLE_INT)
        return tern_pickle_int(p, a) == tern_pickle_int(p, b);
    const uint32_t length = tern_pickle_length(p, a);
    if (tern_pickle_length(p, b) != length)
        return false;
    for (uint32_t i = 0; i < (length + 3) / 4; i++)
        if (*tern_pickle_word(p, a + 1 + i) != *tern_pickle_word(p, b + 1 + i))
            return false;
    return true;
}

uint32_t tern_pickle_hash_key(const tern_pickle *p, tern_pickle_ref key)
{
    uint64_t hash = TERN_HASH_INITIAL;
    if (tern_pickle_type_of(p, key) == TERN_PICKLE_INT) {
        const int64_t value = tern_pickle_int(p, key);
        hash = tern_hash(&value, sizeof value);
    } else {
        for (uint32_t i = 0; i < (tern_pickle_length(p, key) + 3) / 4; i++)
            hash = tern_hash_append(hash, tern_pickle_word(p, key + 1 + i), 4);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

tern_pickle_ref tern_pickle_item(const tern_pickle *p, tern_pickle_ref tuple, uint32_t index)
{
    return *tern_pickle_word(p, tuple + 1 + index);
}

tern_pickle_cursor tern_pickle_items(const tern_pickle *p, tern_pickle_ref container)
{
    const tern_pickle_type type = tern_pickle_type_of(p, container);
    if (type == TERN_PICKLE_TUPLE)
        return (tern_pickle_cursor){
            .of = p, .at = container + 1, .left = tern_pickle_length(p, container)};
    return (tern_pickle_cursor){
        .of = p, .pairs = type != TERN_PICKLE_LIST, .next = *tern_pickle_word(p, container + 1)};
}

bool tern_pickle_next(tern_pickle_cursor *c, tern_pickle_ref *key, tern_pickle_ref *item)
{
    if (c->left == 0) {
        if (!c->next)
            return false;
        c->at = c->next + 2;
        c->left = *tern_pickle_word(c->of, c->next + 1);
        c->next = *tern_pickle_word(c->of, c->next);
    }
    *key = c->pairs ? *tern_pickle_word(c->of, c->at) : TERN_PICKLE_NO_VALUE;
    *item = *tern_pickle_word(c->of, c->at + c->pairs);
    c->at += 1 + c->pairs;
    c->left -= 1 + c->pairs;
    c->index++;
    return true;
}

tern_pickle_ref tern_pickle_metadata(const tern_pickle *p, tern_pickle_ref dict)
{
    return *tern_pickle_word(p, dict + 3);
}

const tern_torch_dtype *tern_pickle_dtype(tern_pickle_ref global)
{
    const uint32_t count = (uint32_t)tern_torch_dtype_count;
    return global >= TERN_PICKLE_DTYPES && global < TERN_PICKLE_DTYPES + count
               ? &tern_torch_dtypes[global - TERN_PICKLE_DTYPES]
               : NULL;
}

const tern_torch_dtype *tern_pickle_storage_class(tern_pickle_ref global)
{
    const uint32_t count = (uint32_t)tern_torch_dtype_count;
    return global >= TERN_PICKLE_STORAGES && global < TERN_PICKLE_STORAGES + count
               ? &tern_torch_dtypes[global - TERN_PICKLE_STORAGES]
               : NULL;
}
