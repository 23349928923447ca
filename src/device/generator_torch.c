// SPDX-License-Identifier: Apache-2.0
// Generators as the bytes of torch.get_rng_state(), little-endian: seed (8), left (4), seeded (4),
// next (8), state words (8 each, of which 4 are used), three doubles of which the second is the
// waiting normal draw (24), whether there is one (4), 4 of padding, a float32 draw that waits (4),
// whether there is one (1), 3 of padding. `left` is 625 - next; before the first draw next is 0.
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/fork.h"
#include "device/capture.h"
#include "device/generator.h"

#define WORDS TERN_MT19937_WORDS

enum {
    AT_SEED = 0,
    AT_LEFT = 8,
    AT_SEEDED = 12,
    AT_NEXT = 16,
    AT_WORDS = 24,
    AT_NORMAL = AT_WORDS + 8 * WORDS + 8,
    AT_HAS_NORMAL = AT_WORDS + 8 * WORDS + 24,
    AT_HAS_FLOAT = AT_HAS_NORMAL + 12,
    SIZE = AT_HAS_FLOAT + 4
};
_Static_assert(SIZE == TERN_TORCH_GENERATOR_SIZE, "what the header says");

static tern_status check(const char *op, const tern_generator *generator, const void *bytes)
{
    if (!generator)
        return tern_null_error(op, "generator");
    if (!bytes)
        return tern_null_error(op, "bytes");
    TERN_TRY(tern_check_generator(op, generator));
    return tern_fork_check();
}

// ---- to PyTorch ---------------------------------------------------------------------------------

// Whether nothing was drawn since it was seeded.
static bool is_fresh(const tern_mt19937 *mt, uint64_t seed)
{
    tern_mt19937 fresh;
    tern_mt19937_seed(&fresh, seed);
    return mt->index == WORDS && memcmp(mt->state, fresh.state, sizeof fresh.state) == 0;
}

static void encode(unsigned char *bytes, const tern_mt19937 *mt, uint64_t seed)
{
    uint64_t normal;
    memcpy(&normal, &mt->normal, sizeof normal);
    memset(bytes, 0, SIZE);
    put_uint(bytes + AT_SEED, 8, seed);
    put_uint(bytes + AT_LEFT, 4, (uint64_t)(WORDS + 1 - mt->index));
    put_uint(bytes + AT_SEEDED, 4, 1);
    put_uint(bytes + AT_NEXT, 8, is_fresh(mt, seed) ? 0 : (uint64_t)mt->index);
    for (int i = 0; i < WORDS; i++)
        put_uint(bytes + AT_WORDS + 8 * i, 8, mt->state[i]);
    put_uint(bytes + AT_NORMAL, 8, mt->has_normal ? normal : 0);
    put_uint(bytes + AT_HAS_NORMAL, 4, mt->has_normal);
}

tern_status tern_generator_to_torch(const tern_generator *generator, void *bytes, size_t size)
{
    TERN_TRY(check("generator_to_torch", generator, bytes));
    TERN_CHECK(size >= TERN_TORCH_GENERATOR_SIZE, TERN_ERR_ARG,
               "generator_to_torch: there is room for %zu bytes, not for %d", size,
               TERN_TORCH_GENERATOR_SIZE);
    tern_generator *locked = (tern_generator *)(uintptr_t)generator; // its values stay
    tern_generator_lock(locked);
    const tern_mt19937 mt = generator->mt;
    const uint64_t seed = generator->seed;
    tern_generator_unlock(locked);
    TERN_CHECK(mt.index > 0, TERN_ERR_STATE,
               "generator_to_torch: PyTorch has no state in which all %d words are unused", WORDS);
    encode(bytes, &mt, seed);
    return TERN_OK;
}

// ---- from PyTorch -------------------------------------------------------------------------------

static tern_status decode(const unsigned char *bytes, tern_mt19937 *mt)
{
    const char *op = "generator_from_torch";
    const uint64_t left = little_endian(bytes + AT_LEFT, 4),
                   next = little_endian(bytes + AT_NEXT, 8);
    const uint64_t has_normal = little_endian(bytes + AT_HAS_NORMAL, 4),
                   normal = little_endian(bytes + AT_NORMAL, 8);
    TERN_CHECK(little_endian(bytes + AT_SEEDED, 4) == 1, TERN_ERR_FORMAT,
               "%s: these bytes are not PyTorch's, or of a generator without a seed", op);
    TERN_CHECK(left >= 1 && left <= WORDS && (left + next == WORDS + 1 || (left == 1 && next == 0)),
               TERN_ERR_FORMAT, "%s: %llu words are left after word %llu of %d", op,
               (unsigned long long)left, (unsigned long long)next, WORDS);
    TERN_CHECK(has_normal <= 1 && bytes[AT_HAS_FLOAT] == 0, TERN_ERR_FORMAT,
               "%s: these bytes have a normal draw waiting that tern does not have", op);
    for (int i = 0; i < WORDS; i++) {
        const uint64_t word = little_endian(bytes + AT_WORDS + 8 * i, 8);
        TERN_CHECK(word <= UINT32_MAX, TERN_ERR_FORMAT, "%s: word %d has more than 32 bits", op, i);
        mt->state[i] = (uint32_t)word;
    }
    mt->index = WORDS + 1 - (int)left;
    mt->has_normal = has_normal;
    memcpy(&mt->normal, &normal, sizeof normal);
    return TERN_OK;
}

tern_status tern_generator_from_torch(tern_generator *generator, const void *bytes, size_t size)
{
    const char *op = "generator_from_torch";
    TERN_TRY(check(op, generator, bytes));
    TERN_TRY(tern_capture_refuse(op, "replays would not load"));
    TERN_CHECK(size == SIZE, TERN_ERR_FORMAT, "%s: a state of PyTorch's has %d bytes, not %zu", op,
               (int)SIZE, size);
    tern_mt19937 mt;
    TERN_TRY(decode(bytes, &mt));
    tern_generator_lock(generator);
    generator->mt = mt;
    generator->seed = little_endian((const unsigned char *)bytes + AT_SEED, 8);
    generator->position = 0;
    tern_generator_unlock(generator);
    return TERN_OK;
}
