// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (base/philox.h) for many groups of four words side by side.
#ifndef TERN_SRC_CPU_RANDOM_PHILOX_VEC_H
#define TERN_SRC_CPU_RANDOM_PHILOX_VEC_H

#include "cpu/vec.h"

// Each lane holds one word of a counter in its lower half; the upper half does not matter.
typedef vec_uint64 philox_vec;

#define PHILOX_LANES  (VEC_BYTES / 8)
#define PHILOX_VECS   4
#define PHILOX_GROUPS (PHILOX_VECS * PHILOX_LANES)
#define PHILOX_WORDS  (4 * PHILOX_GROUPS)

VEC_INLINE philox_vec philox_all(uint64_t x)
{
    return x - (philox_vec){0};
}

// The words of PHILOX_GROUPS groups from `group` on, in call `call` under `seed`.
static inline void philox_words(uint64_t seed, uint64_t call, uint64_t group, uint32_t *word)
{
    philox_vec c[PHILOX_VECS][4];
    philox_vec key0 = philox_all(seed), key1 = philox_all(seed >> 32);
    const philox_vec factor0 = philox_all(0xD2511F53u), factor1 = philox_all(0xCD9E8D57u);
    for (int v = 0; v < PHILOX_VECS; v++) {
        uint64_t lanes[PHILOX_LANES];
        for (int lane = 0; lane < PHILOX_LANES; lane++)
            lanes[lane] = group + (uint64_t)(v * PHILOX_LANES + lane);
        memcpy(&c[v][2], lanes, sizeof lanes);
        c[v][0] = philox_all(call);
        c[v][1] = philox_all(call >> 32);
        c[v][3] = c[v][2] >> 32;
    }
    for (int round = 0; round < 10; round++, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
        for (int v = 0; v < PHILOX_VECS; v++) {
            const philox_vec a = vec_multiply_uint32(c[v][0], factor0);
            const philox_vec b = vec_multiply_uint32(c[v][2], factor1);
            c[v][0] = (b >> 32) ^ c[v][1] ^ key0;
            c[v][1] = b;
            c[v][2] = (a >> 32) ^ c[v][3] ^ key1;
            c[v][3] = a;
        }
    }
    for (int v = 0; v < PHILOX_VECS; v++) {
        for (int k = 0; k < 4; k++) {
            uint64_t lanes[PHILOX_LANES];
            memcpy(lanes, &c[v][k], sizeof lanes);
            for (int lane = 0; lane < PHILOX_LANES; lane++)
                word[4 * (v * PHILOX_LANES + lane) + k] = (uint32_t)lanes[lane];
        }
    }
}

#endif
