// SPDX-License-Identifier: Apache-2.0
// Generators as bytes, little-endian: magic (8), version (4), index (4), flags (4), zero (4),
// waiting normal draw (8), dropout's seed and Philox offset (8 each), seed and position of
// the stream for CUDA (8 each), state words (4 each), FNV-1a hash of all that (8). A default
// generator's state carries the draws of its device, so that one save brings back all random
// numbers of a run there.
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/hash.h"
#include "device/backend.h"
#include "device/capture.h"
#include "device/draws.h"
#include "device/generator.h"

#define MAGIC      "tern rng"
#define VERSION    2
#define HAS_NORMAL 1u
#define HAS_DRAWS  2u

enum {
    AT_VERSION = 8,
    AT_INDEX = 12,
    AT_FLAGS = 16,
    AT_ZERO = 20,
    AT_NORMAL = 24,
    AT_SEED = 32,
    AT_BASE = 40,
    AT_CUDA_SEED = 48,
    AT_POSITION = 56,
    AT_WORDS = 64,
    AT_HASH = AT_WORDS + 4 * TERN_MT19937_WORDS,
    STATE_SIZE = AT_HASH + 8
};

typedef struct saved_state {
    tern_mt19937 mt;
    uint64_t seed, position;
    bool has_draws;
    tern_draw_state draws;
} saved_state;

static void encode(unsigned char *bytes, const saved_state *s)
{
    uint64_t normal;
    memcpy(&normal, &s->mt.normal, sizeof normal);
    memcpy(bytes, MAGIC, 8);
    put_uint(bytes + AT_VERSION, 4, VERSION);
    put_uint(bytes + AT_INDEX, 4, (uint64_t)s->mt.index);
    put_uint(bytes + AT_FLAGS, 4,
             (s->mt.has_normal ? HAS_NORMAL : 0) | (s->has_draws ? HAS_DRAWS : 0));
    put_uint(bytes + AT_ZERO, 4, 0);
    put_uint(bytes + AT_NORMAL, 8, s->mt.has_normal ? normal : 0);
    put_uint(bytes + AT_SEED, 8, s->draws.seed);
    put_uint(bytes + AT_BASE, 8, s->draws.base);
    put_uint(bytes + AT_CUDA_SEED, 8, s->seed);
    put_uint(bytes + AT_POSITION, 8, s->position);
    for (int i = 0; i < TERN_MT19937_WORDS; i++)
        put_uint(bytes + AT_WORDS + 4 * i, 4, s->mt.state[i]);
    put_uint(bytes + AT_HASH, 8, tern_hash(bytes, AT_HASH));
}

static bool is_intact(const unsigned char *bytes)
{
    return little_endian(bytes + AT_HASH, 8) == tern_hash(bytes, AT_HASH) &&
           little_endian(bytes + AT_INDEX, 4) <= TERN_MT19937_WORDS &&
           !(little_endian(bytes + AT_FLAGS, 4) & ~(uint64_t)(HAS_NORMAL | HAS_DRAWS)) &&
           !little_endian(bytes + AT_ZERO, 4);
}

const char *tern_generator_state_fault(const void *state)
{
    const unsigned char *bytes = state;
    if (memcmp(bytes, MAGIC, 8) != 0)
        return "is not a generator's state";
    if (little_endian(bytes + AT_VERSION, 4) != VERSION)
        return "is of a version that this library does not read";
    return is_intact(bytes) ? NULL : "is damaged";
}

static tern_status decode(const unsigned char *bytes, saved_state *s)
{
    TERN_CHECK(!memcmp(bytes, MAGIC, 8), TERN_ERR_FORMAT,
               "generator_load: these bytes are not a generator's state");
    uint64_t version = little_endian(bytes + AT_VERSION, 4);
    TERN_CHECK(version == VERSION, TERN_ERR_FORMAT,
               "generator_load: the state is of version %llu, this library reads %d",
               (unsigned long long)version, VERSION);
    TERN_CHECK(is_intact(bytes), TERN_ERR_FORMAT, "generator_load: the state is damaged");
    uint64_t index = little_endian(bytes + AT_INDEX, 4), flags = little_endian(bytes + AT_FLAGS, 4);
    uint64_t normal = little_endian(bytes + AT_NORMAL, 8);
    memcpy(&s->mt.normal, &normal, sizeof normal);
    s->mt.index = (int)index;
    s->mt.has_normal = flags & HAS_NORMAL;
    s->has_draws = flags & HAS_DRAWS;
    s->draws.seed = little_endian(bytes + AT_SEED, 8);
    s->draws.base = little_endian(bytes + AT_BASE, 8);
    s->seed = little_endian(bytes + AT_CUDA_SEED, 8);
    s->position = little_endian(bytes + AT_POSITION, 8);
    for (int i = 0; i < TERN_MT19937_WORDS; i++)
        s->mt.state[i] = (uint32_t)little_endian(bytes + AT_WORDS + 4 * i, 4);
    return TERN_OK;
}

static tern_status check(const char *op, const tern_generator *generator, const void *state,
                         size_t size)
{
    if (!generator)
        return tern_null_error(op, "generator");
    if (!state)
        return tern_null_error(op, "state");
    TERN_TRY(tern_check_generator(op, generator));
    TERN_TRY(tern_fork_check());
    TERN_CHECK(size >= STATE_SIZE, TERN_ERR_ARG, "%s: a state has %d bytes, not %zu", op,
               (int)STATE_SIZE, size);
    return TERN_OK;
}

size_t tern_generator_state_size(void)
{
    return STATE_SIZE;
}

tern_status tern_generator_save(const tern_generator *generator, void *state, size_t size)
{
    TERN_TRY(check("generator_save", generator, state, size));
    saved_state s = {.has_draws = generator->device.type != TERN_DEVICE_UNSPECIFIED};
    tern_generator *locked = (tern_generator *)(uintptr_t)generator; // its values stay
    tern_generator_lock(locked);
    s.mt = generator->mt;
    s.seed = generator->seed;
    s.position = generator->position;
    tern_generator_unlock(locked);
    if (s.has_draws)
        TERN_TRY(tern_draw_save(generator->device, &s.draws));
    encode(state, &s);
    return TERN_OK;
}

static bool has_draws(const tern_generator *generator, const saved_state *s)
{
    return s->has_draws && generator->device.type != TERN_DEVICE_UNSPECIFIED;
}

// All but the draws.
static void take(tern_generator *generator, const saved_state *s)
{
    tern_generator_lock(generator);
    generator->mt = s->mt;
    generator->seed = s->seed;
    generator->position = s->position;
    tern_generator_unlock(generator);
}

tern_status tern_generator_load(tern_generator *generator, const void *state, size_t size)
{
    TERN_TRY(check("generator_load", generator, state, size));
    TERN_TRY(tern_capture_refuse("generator_load", "replays would not load"));
    saved_state s = {.has_draws = false};
    TERN_TRY(decode(state, &s));
    if (has_draws(generator, &s))
        TERN_TRY(tern_draw_load(generator->device, s.draws));
    take(generator, &s);
    return TERN_OK;
}

bool tern_generator_state_draws(const tern_generator *generator, const void *state,
                                tern_draw_state *draws)
{
    saved_state s = {.has_draws = false};
    if (decode(state, &s) || !has_draws(generator, &s))
        return false;
    *draws = s.draws;
    return true;
}

void tern_generator_take(tern_generator *generator, const void *state)
{
    saved_state s = {.has_draws = false};
    if (!decode(state, &s))
        take(generator, &s);
}
