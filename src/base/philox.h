// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10: four random words from a counter and a key, no state, so that every element of a
// tensor can have its own and a backward can have them again. J. Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC11. For C, C++ and CUDA.
#ifndef TERN_SRC_BASE_PHILOX_H
#define TERN_SRC_BASE_PHILOX_H

#include <stdint.h>

#ifdef __CUDACC__
#define TERN_PHILOX_INLINE static inline __host__ __device__
#else
#define TERN_PHILOX_INLINE static inline
#endif

typedef struct tern_philox_block {
    uint32_t word[4];
} tern_philox_block;

TERN_PHILOX_INLINE tern_philox_block tern_philox_round(tern_philox_block c, uint32_t key0,
                                                       uint32_t key1)
{
    uint64_t a = (uint64_t)0xD2511F53u * c.word[0];
    uint64_t b = (uint64_t)0xCD9E8D57u * c.word[2];
    tern_philox_block next;
    next.word[0] = (uint32_t)(b >> 32) ^ c.word[1] ^ key0;
    next.word[1] = (uint32_t)b;
    next.word[2] = (uint32_t)(a >> 32) ^ c.word[3] ^ key1;
    next.word[3] = (uint32_t)a;
    return next;
}

// The words of elements 4 * group to 4 * group + 3 in call `call` under `seed`: counter words 0 and
// 1 are the call, 2 and 3 the group, the key is the seed.
TERN_PHILOX_INLINE tern_philox_block tern_philox(uint64_t seed, uint64_t call, uint64_t group)
{
    tern_philox_block c;
    c.word[0] = (uint32_t)call;
    c.word[1] = (uint32_t)(call >> 32);
    c.word[2] = (uint32_t)group;
    c.word[3] = (uint32_t)(group >> 32);
    uint32_t key0 = (uint32_t)seed;
    uint32_t key1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        c = tern_philox_round(c, key0, key1);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return c;
}

// What a word is compared with: `word < threshold` with probability p (0 <= p <= 1), that is where
// word * 2^-32 < p. 64 bits, so that p = 1 takes every word.
TERN_PHILOX_INLINE uint64_t tern_philox_threshold(double p)
{
    double scaled = p * 4294967296.0; // exact
    uint64_t below = (uint64_t)scaled;
    return below + ((double)below < scaled);
}

#endif
