// SPDX-License-Identifier: Apache-2.0
// Sorting keys. A word is what is moved: the upper bits of it are bits of a key, the lower ones the
// key's position, so that words are all different and sorting them is stable. Where a key has more
// bits than fit, words are sorted by the highest that differ, then each run of equal ones by the
// next.
#ifndef TERN_SRC_CPU_SORT_ORDER_H
#define TERN_SRC_CPU_SORT_ORDER_H

#include <string.h>

#include "base/integer.h"
#include "cpu/real.h"

#if REAL_IS_FLOAT
typedef uint32_t sort_key;
#define KEY_BITS     32
#define KEY_WORD(fn) fn##_32
#else
typedef uint64_t sort_key;
#define KEY_BITS     64
#define KEY_WORD(fn) fn##_64
#endif

#define WORD_BITS  64
#define RANK_BLOCK 32  // words that are sorted by counting, for each, those below it
#define MERGE_MAX  128 // words at most that are merged; more are sorted by digits
#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)
#define MAX_PASSES (WORD_BITS / DIGIT_BITS)
#define INSERT_MAX 8 // keys at most of a run that are inserted one by one

typedef struct key_order {
    const sort_key *keys;
    uint64_t *words, *spare; // of as many as there are keys
    int position_bits;       // at least 32
} key_order;

static inline int position_bits(int64_t n)
{
    return n <= (int64_t)1 << 32 ? 32 : WORD_BITS - __builtin_clzll((uint64_t)(n - 1));
}

static inline int64_t word_position(const key_order *o, uint64_t word)
{
    return (int64_t)(word & (((uint64_t)1 << o->position_bits) - 1));
}

// Whether a word holds its key.
static inline bool words_hold_keys(const key_order *o)
{
    return KEY_BITS + o->position_bits <= WORD_BITS;
}

// ---- few words ----------------------------------------------------------------------------------

// n <= block, a multiple of the vectors' elements; out may be `in`.
static inline __attribute__((always_inline)) void sort_by_rank(uint64_t *out, const uint64_t *in,
                                                               int64_t n, int block)
{
    int64_t word[RANK_BLOCK] = {0}, rank[RANK_BLOCK] = {0};
    for (int64_t i = 0; i < n; i++)
        word[i] = (int64_t)(in[i] ^ (uint64_t)1 << (WORD_BITS - 1));
    for (int64_t k = 0; k < n; k++) {
        const int64_t other = word[k];
        for (int i = 0; i < block; i++)
            rank[i] += word[i] > other;
    }
    for (int64_t i = 0; i < n; i++)
        out[rank[i]] = (uint64_t)word[i] ^ (uint64_t)1 << (WORD_BITS - 1);
}

static void sort_block(uint64_t *out, const uint64_t *in, int64_t n)
{
    if (n <= RANK_BLOCK / 4)
        sort_by_rank(out, in, n, RANK_BLOCK / 4);
    else if (n <= RANK_BLOCK / 2)
        sort_by_rank(out, in, n, RANK_BLOCK / 2);
    else
        sort_by_rank(out, in, n, RANK_BLOCK);
}

// Without a branch on what is compared, which no processor can predict.
static void merge(uint64_t *out, const uint64_t *a, const uint64_t *a_end, const uint64_t *b,
                  const uint64_t *b_end)
{
    while (a < a_end && b < b_end) {
        const bool second = *b < *a;
        *out++ = second ? *b : *a;
        b += second;
        a += !second;
    }
    memcpy(out, a, (size_t)(a_end - a) * sizeof *out);
    memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *out);
}

static void sort_by_merging(uint64_t *words, uint64_t *spare, int64_t n)
{
    int levels = 0;
    for (int64_t run = RANK_BLOCK; run < n; run *= 2)
        levels++;
    uint64_t *from = levels % 2 ? spare : words, *to = levels % 2 ? words : spare;
    for (int64_t i = 0; i < n; i += RANK_BLOCK)
        sort_block(from + i, words + i, min_int64(n - i, RANK_BLOCK));
    for (int64_t run = RANK_BLOCK; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            const int64_t middle = min_int64(i + run, n), end = min_int64(i + 2 * run, n);
            merge(to + i, from + i, from + middle, from + middle, from + end);
        }
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
}

// ---- many words ---------------------------------------------------------------------------------

// The bits by which words are sorted, as digits from the lowest on.
typedef struct digit_plan {
    int low, bits, passes; // bits of a digit
} digit_plan;

static digit_plan plan_digits(int low, int bits)
{
    const int passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    return (digit_plan){low, (bits + passes - 1) / passes, passes};
}

static inline unsigned digit_of(uint64_t word, const digit_plan *plan, int pass)
{
    return (unsigned)(word >> (plan->low + pass * plan->bits)) & ((1u << plan->bits) - 1);
}

// Where the first word of each digit goes; false where all words have one digit.
static bool find_offsets(int64_t *count, int64_t n)
{
    int64_t before = 0;
    for (int d = 0; d < DIGITS; d++) {
        const int64_t words = count[d];
        if (words == n)
            return false;
        count[d] = before;
        before += words;
    }
    return true;
}

static void sort_by_digits(uint64_t *words, uint64_t *spare, int64_t n, digit_plan plan)
{
    int64_t count[MAX_PASSES][DIGITS];
    uint64_t *from = words, *to = spare;
    memset(count, 0, (size_t)plan.passes * sizeof *count);
    for (int64_t i = 0; i < n; i++)
        for (int pass = 0; pass < plan.passes; pass++)
            count[pass][digit_of(words[i], &plan, pass)]++;
    for (int pass = 0; pass < plan.passes; pass++) {
        if (!find_offsets(count[pass], n))
            continue;
        for (int64_t i = 0; i < n; i++)
            to[count[pass][digit_of(from[i], &plan, pass)]++] = from[i];
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != words)
        memcpy(words, from, (size_t)n * sizeof *words);
}

// ---- keys ---------------------------------------------------------------------------------------

// The bits of keys that words hold: from `shift` on.
typedef struct key_window {
    int shift;
    digit_plan digits;
} key_window;

// `varying` has the bits in which keys differ, at least one.
static key_window find_window(const key_order *o, sort_key varying)
{
    const int capacity = WORD_BITS - o->position_bits;
    const int high = WORD_BITS - __builtin_clzll(varying), low = __builtin_ctzll(varying);
    const int shift = high > capacity ? high - capacity : 0, first = low > shift ? low : shift;
    return (key_window){shift, plan_digits(o->position_bits + first - shift, high - first)};
}

static inline uint64_t make_word(const key_order *o, sort_key key, int shift, int64_t position)
{
    return (uint64_t)(key >> shift) << o->position_bits | (uint64_t)position;
}

// Of a few words whose positions ascend, by all of their keys.
static void insert_run(const key_order *o, uint64_t *words, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const uint64_t word = words[i];
        const sort_key key = o->keys[word_position(o, word)];
        int64_t to = i;
        for (; to > 0 && o->keys[word_position(o, words[to - 1])] > key; to--)
            words[to] = words[to - 1];
        words[to] = word;
    }
}

static void sort_words(const key_order *o, int64_t first, int64_t n, digit_plan digits)
{
    if (n <= MERGE_MAX)
        sort_by_merging(o->words + first, o->spare + first, n);
    else
        sort_by_digits(o->words + first, o->spare + first, n, digits);
}

// How many words from `first` on, before `end`, hold the same bits of keys.
static int64_t run_length(const key_order *o, int64_t first, int64_t end)
{
    const uint64_t bits = o->words[first] >> o->position_bits;
    int64_t i = first + 1;
    while (i < end && o->words[i] >> o->position_bits == bits)
        i++;
    return i - first;
}

static void sort_run(const key_order *o, int64_t first, int64_t n);

// Of sorted words that hold part of their keys: sorts the runs by the rest.
static void sort_runs(const key_order *o, int64_t first, int64_t n)
{
    for (int64_t i = first, end = first + n; i < end;) {
        const int64_t length = run_length(o, i, end);
        if (length > 1)
            sort_run(o, i, length);
        i += length;
    }
}

// Sorts words of ascending positions by their keys, whatever bits of those they hold.
static void sort_run(const key_order *o, int64_t first, int64_t n)
{
    uint64_t *words = o->words + first;
    if (n <= INSERT_MAX) {
        insert_run(o, words, n);
        return;
    }
    const sort_key key = o->keys[word_position(o, words[0])];
    sort_key varying = 0;
    for (int64_t i = 1; i < n; i++)
        varying |= o->keys[word_position(o, words[i])] ^ key;
    if (varying == 0)
        return;
    const key_window window = find_window(o, varying);
    for (int64_t i = 0; i < n; i++) {
        const int64_t position = word_position(o, words[i]);
        words[i] = make_word(o, o->keys[position], window.shift, position);
    }
    sort_words(o, first, n, window.digits);
    if (window.shift > 0)
        sort_runs(o, first, n);
}

static sort_key varying_bits(const sort_key *keys, int64_t n)
{
    sort_key varying = 0;
    for (int64_t i = 0; i < n; i++)
        varying |= keys[i] ^ keys[0];
    return varying;
}

static void make_words(const key_order *o, int64_t first, int64_t end, int shift)
{
    ELEMENTWISE_LOOP
    for (int64_t i = first; i < end; i++)
        o->words[i] = make_word(o, o->keys[i], shift, i);
}

// Sorts the n keys: o->words tells their positions in order.
static void sort_keys(const key_order *o, int64_t n)
{
    if (n <= MERGE_MAX && words_hold_keys(o)) {
        make_words(o, 0, n, 0);
        sort_by_merging(o->words, o->spare, n);
        return;
    }
    const sort_key varying = varying_bits(o->keys, n);
    const key_window window = varying ? find_window(o, varying) : (key_window){0};
    make_words(o, 0, n, window.shift);
    if (varying == 0)
        return;
    sort_words(o, 0, n, window.digits);
    if (window.shift > 0)
        sort_runs(o, 0, n);
}

#endif
