// SPDX-License-Identifier: Apache-2.0
// The values of a pickle: words, of which the first has the type and the length. A list or a
// dictionary has its first and last piece and the metadata of an OrderedDict; a piece has the next
// one, its length and its items.
#include <string.h>
#include "io/pickle.h"

#define MAX_WORDS (1u << 28)

// ---- memory -------------------------------------------------------------------------------------

// What the arena may have taken by now.
static int64_t allowed(const tern_pickle *p)
{
    return TERN_PICKLE_BASE + 3 * p->read;
}

static void *take(tern_pickle *p, size_t nbytes)
{
    const tern_arena *a = &p->arena;
    const size_t min = a->taken / 8 > 4096 ? a->taken / 8 : 4096; // of a block
    const size_t block = a->size - a->used < nbytes ? min + nbytes : 0;
    if ((int64_t)(a->taken + block) > allowed(p)) {
        tern_pickle_bad(p, "asks for more memory than %d bytes and 3 for each of the %lld read",
                        TERN_PICKLE_BASE, (long long)p->read);
        return NULL;
    }
    return tern_arena_alloc(&p->arena, nbytes);
}

static tern_status widen(tern_pickle *p, tern_pickle_words *words, uint32_t count)
{
    uint32_t wider = words->page_count ? 2 * words->page_count : 16;
    while (wider < count)
        wider *= 2;
    uint32_t **pages = take(p, wider * sizeof *pages);
    if (!pages)
        return TERN_ERR_NOMEM;
    if (words->page_count)
        memcpy(pages, words->pages, words->page_count * sizeof *pages);
    words->pages = pages;
    words->page_count = wider;
    return TERN_OK;
}

// Sees to it that word `at` is there.
static tern_status touch(tern_pickle *p, tern_pickle_words *words, uint32_t at)
{
    const uint32_t page = at / TERN_PICKLE_PAGE;
    if (page >= words->page_count)
        TERN_TRY(widen(p, words, page + 1));
    if (!words->pages[page])
        words->pages[page] = take(p, TERN_PICKLE_PAGE * sizeof(uint32_t));
    return words->pages[page] ? TERN_OK : TERN_ERR_NOMEM;
}

// `count` zeroed words; their place, or 0.
static uint32_t take_words(tern_pickle *p, uint32_t count)
{
    const uint32_t at = p->used ? p->used : TERN_PICKLE_FIRST_WORD;
    if (count > MAX_WORDS - at) {
        tern_pickle_bad(p, "has more values than can be");
        return 0;
    }
    for (uint32_t page = at / TERN_PICKLE_PAGE; page <= (at + count - 1) / TERN_PICKLE_PAGE; page++)
        if (touch(p, &p->heap, page * TERN_PICKLE_PAGE))
            return 0;
    p->used = at + count;
    return at;
}

tern_status tern_pickle_memo_set(tern_pickle *p, uint32_t index, tern_pickle_ref ref)
{
    if (index >= TERN_PICKLE_MEMO)
        return tern_pickle_bad(p, "stores value %lld, beyond %d", (long long)index,
                               TERN_PICKLE_MEMO);
    if (touch(p, &p->memo, index))
        return tern_error_code();
    p->memo.pages[index / TERN_PICKLE_PAGE][index % TERN_PICKLE_PAGE] = ref;
    return TERN_OK;
}

tern_pickle_ref tern_pickle_memo_get(tern_pickle *p, uint32_t index)
{
    const uint32_t page = index / TERN_PICKLE_PAGE;
    tern_pickle_ref ref = TERN_PICKLE_NO_VALUE;
    if (page < p->memo.page_count && p->memo.pages[page])
        ref = p->memo.pages[page][index % TERN_PICKLE_PAGE];
    if (ref == TERN_PICKLE_NO_VALUE)
        tern_pickle_bad(p, "takes value %lld, which it did not store", (long long)index);
    return ref;
}

// ---- making values ------------------------------------------------------------------------------

tern_pickle_ref tern_pickle_new(tern_pickle *p, tern_pickle_type type, uint32_t length,
                                uint32_t words)
{
    if (++p->values > TERN_PICKLE_VALUES) {
        tern_pickle_bad(p, "has more than %d values", TERN_PICKLE_VALUES);
        return TERN_PICKLE_NO_VALUE;
    }
    const uint32_t at = take_words(p, 1 + words);
    if (at)
        *tern_pickle_word(p, at) = (uint32_t)type | length << TERN_PICKLE_TYPE_BITS;
    return at;
}

void tern_pickle_put64(tern_pickle *p, uint32_t at, uint64_t value)
{
    *tern_pickle_word(p, at) = (uint32_t)value;
    *tern_pickle_word(p, at + 1) = (uint32_t)(value >> 32);
}

tern_pickle_ref tern_pickle_new_int(tern_pickle *p, int64_t value)
{
    if (value >= -(1 << 30) && value < 1 << 30)
        return TERN_PICKLE_SMALL | ((uint32_t)value & ~TERN_PICKLE_SMALL);
    const tern_pickle_ref ref = tern_pickle_new(p, TERN_PICKLE_INT, 0, 2);
    if (ref)
        tern_pickle_put64(p, ref + 1, (uint64_t)value);
    return ref;
}

tern_pickle_ref tern_pickle_new_double(tern_pickle *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const tern_pickle_ref ref = tern_pickle_new(p, TERN_PICKLE_DOUBLE, 0, 2);
    if (ref)
        tern_pickle_put64(p, ref + 1, bits);
    return ref;
}

static void put_byte(tern_pickle *p, tern_pickle_ref text, uint32_t index, unsigned char byte)
{
    *tern_pickle_word(p, text + 1 + index / 4) |= (uint32_t)byte << (8 * (index % 4));
}

tern_pickle_ref tern_pickle_read_text(tern_pickle *p, tern_pickle_type type, uint32_t length)
{
    const int64_t left = p->source.left + (int64_t)(p->source.have - p->source.next);
    if (length > TERN_PICKLE_TEXT_BYTES || length > left) {
        tern_pickle_bad(p, "has a text of %lld bytes, more than %lld", (long long)length,
                        (long long)(left < TERN_PICKLE_TEXT_BYTES ? left : TERN_PICKLE_TEXT_BYTES));
        return TERN_PICKLE_NO_VALUE;
    }
    p->read += length; // of which the memory may be
    const tern_pickle_ref ref = tern_pickle_new(p, type, length, (length + 3) / 4);
    p->read -= length;
    for (uint32_t i = 0; ref && i < length; i++) {
        unsigned char byte;
        if (tern_pickle_byte(p, &byte))
            return TERN_PICKLE_NO_VALUE;
        put_byte(p, ref, i, byte);
    }
    return ref;
}

tern_pickle_ref tern_pickle_new_text(tern_pickle *p, tern_pickle_type type, const char *text,
                                     size_t length)
{
    const uint32_t count = (uint32_t)length;
    const tern_pickle_ref ref = tern_pickle_new(p, type, count, (count + 3) / 4);
    for (uint32_t i = 0; ref && i < count; i++)
        put_byte(p, ref, i, (unsigned char)text[i]);
    return ref;
}

// The byte that the UTF-8 sequence at *at stands for, which is one or two bytes; -1: another one.
static int latin1_at(const tern_pickle *p, tern_pickle_ref text, uint32_t *at)
{
    const int first = tern_pickle_byte_at(p, text, (*at)++);
    if (first < 0x80)
        return first;
    if ((first != 0xC2 && first != 0xC3) || *at == tern_pickle_length(p, text))
        return -1;
    const int second = tern_pickle_byte_at(p, text, (*at)++);
    return second >= 0x80 && second < 0xC0 ? (first & 3) << 6 | (second & 0x3F) : -1;
}

tern_pickle_ref tern_pickle_new_latin1(tern_pickle *p, tern_pickle_ref text)
{
    const uint32_t nbytes = tern_pickle_length(p, text);
    uint32_t length = 0;
    for (uint32_t at = 0; at < nbytes; length++)
        if (latin1_at(p, text, &at) < 0)
            return TERN_PICKLE_NO_VALUE;
    const tern_pickle_ref ref = tern_pickle_new(p, TERN_PICKLE_BYTES, length, (length + 3) / 4);
    for (uint32_t i = 0, at = 0; ref && at < nbytes; i++)
        put_byte(p, ref, i, (unsigned char)latin1_at(p, text, &at));
    return ref;
}

tern_pickle_ref tern_pickle_unreadable(tern_pickle *p, const char *what)
{
    return tern_pickle_new_text(p, TERN_PICKLE_UNREADABLE, what, strlen(what));
}

tern_pickle_ref tern_pickle_new_tuple(tern_pickle *p, const tern_pickle_ref *items, uint32_t count)
{
    const tern_pickle_ref ref = tern_pickle_new(p, TERN_PICKLE_TUPLE, count, count);
    for (uint32_t i = 0; ref && i < count; i++)
        *tern_pickle_word(p, ref + 1 + i) = items[i];
    return ref;
}

tern_pickle_ref tern_pickle_new_container(tern_pickle *p, tern_pickle_type type)
{
    return tern_pickle_new(p, type, 0, 3);
}

void tern_pickle_set_metadata(tern_pickle *p, tern_pickle_ref dict, tern_pickle_ref metadata)
{
    *tern_pickle_word(p, dict + 3) = metadata;
}

tern_status tern_pickle_extend(tern_pickle *p, tern_pickle_ref container,
                               const tern_pickle_ref *items, uint32_t count)
{
    if (count == 0)
        return TERN_OK;
    const uint32_t chunk = take_words(p, 2 + count);
    if (!chunk)
        return tern_error_code();
    *tern_pickle_word(p, chunk + 1) = count;
    for (uint32_t i = 0; i < count; i++)
        *tern_pickle_word(p, chunk + 2 + i) = items[i];
    uint32_t *head = tern_pickle_word(p, container);
    const bool pairs = (*head & ((1u << TERN_PICKLE_TYPE_BITS) - 1)) != TERN_PICKLE_LIST;
    *head += (pairs ? count / 2 : count) << TERN_PICKLE_TYPE_BITS;
    uint32_t *last = tern_pickle_word(p, container + 2);
    *tern_pickle_word(p, *last ? *last : container + 1) = chunk;
    *last = chunk;
    return TERN_OK;
}
