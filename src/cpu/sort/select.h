// SPDX-License-Identifier: Apache-2.0
// The k smallest of many keys, of equal ones the first. A few are kept in order. Of more,
// candidates are collected, and when their memory is full all but k go: later keys must be below
// the largest that stayed.
#ifndef TERN_SRC_CPU_SORT_SELECT_H
#define TERN_SRC_CPU_SORT_SELECT_H

#include "cpu/sort/order.h"

#define SELECT_EXTRA 256 // candidates beyond 2 k
#define SELECT_RUN   32  // keys that are compared at once
#define SELECT_FEW   16  // a k at most for which they are kept in order

// In the order of their positions, or of their keys where k is small.
typedef struct candidates {
    sort_key *keys, *spare;
    int64_t *positions;
    int64_t count, k;
    sort_key limit; // of those still to come, once `limited`
    bool limited;
} candidates;

// How many there may be before all but k go.
static inline int64_t candidate_limit(int64_t k)
{
    return k <= SELECT_FEW ? k : 2 * k + SELECT_EXTRA;
}

static inline int64_t candidate_capacity(int64_t n, int64_t k)
{
    return min_int64(n, candidate_limit(k) + SELECT_RUN);
}

// The k-th smallest key, k from 1 on; by digits from the highest bits that differ down.
static sort_key find_kth(const sort_key *keys, int64_t n, int64_t k, sort_key *spare)
{
    for (;;) {
        const sort_key varying = varying_bits(keys, n);
        if (varying == 0)
            return keys[0];
        const int high = WORD_BITS - __builtin_clzll(varying);
        const int shift = high > DIGIT_BITS ? high - DIGIT_BITS : 0;
        int64_t count[DIGITS] = {0}, kept = 0;
        for (int64_t i = 0; i < n; i++)
            count[(keys[i] >> shift) % DIGITS]++;
        unsigned digit = 0;
        for (; count[digit] < k; digit++)
            k -= count[digit];
        for (int64_t i = 0; i < n; i++) {
            spare[kept] = keys[i];
            kept += (keys[i] >> shift) % DIGITS == digit;
        }
        keys = spare;
        n = kept;
    }
}

// Keeps k candidates.
static void drop_candidates(candidates *c)
{
    const sort_key limit = find_kth(c->keys, c->count, c->k, c->spare);
    int64_t equal = c->k, kept = 0;
    for (int64_t i = 0; i < c->count; i++)
        equal -= c->keys[i] < limit;
    for (int64_t i = 0; i < c->count; i++) {
        const sort_key key = c->keys[i];
        const bool same = key == limit && equal > 0;
        c->keys[kept] = key;
        c->positions[kept] = c->positions[i];
        kept += key < limit || same;
        equal -= same;
    }
    c->count = kept;
    c->limit = limit;
    c->limited = true;
}

static void insert_candidate(candidates *c, sort_key key, int64_t position)
{
    int64_t to = c->limited ? c->k - 1 : c->count++;
    for (; to > 0 && c->keys[to - 1] > key; to--) {
        c->keys[to] = c->keys[to - 1];
        c->positions[to] = c->positions[to - 1];
    }
    c->keys[to] = key;
    c->positions[to] = position;
    c->limited = c->count == c->k;
    c->limit = c->keys[c->k - 1];
}

static void insert_candidates(candidates *c, const sort_key *keys, int64_t n, int64_t position)
{
    for (int64_t i = 0; i < n; i++)
        if (!c->limited || keys[i] < c->limit)
            insert_candidate(c, keys[i], position + i);
}

static void collect_candidates(candidates *c, const sort_key *keys, int64_t n, int64_t position)
{
    for (int64_t i = 0; i < n; i++) {
        c->keys[c->count] = keys[i];
        c->positions[c->count] = position + i;
        c->count += !c->limited || keys[i] < c->limit;
    }
    if (c->count > candidate_limit(c->k))
        drop_candidates(c);
}

static void add_run(candidates *c, const sort_key *keys, int64_t n, int64_t position)
{
    bool any = !c->limited;
    for (int64_t i = 0; i < n; i++)
        any |= keys[i] < c->limit;
    if (any && c->k <= SELECT_FEW)
        insert_candidates(c, keys, n, position);
    else if (any)
        collect_candidates(c, keys, n, position);
}

// Adds keys that stand at `position` and behind it.
static void add_candidates(candidates *c, const sort_key *keys, int64_t n, int64_t position)
{
    for (int64_t i = 0; i < n; i += SELECT_RUN)
        add_run(c, keys + i, min_int64(n - i, SELECT_RUN), position + i);
}

#endif
