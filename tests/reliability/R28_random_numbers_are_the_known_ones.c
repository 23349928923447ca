// SPDX-License-Identifier: Apache-2.0
// Random numbers against what the authors of the generators publish, and a million draws of each
// stream against generators written here from their definitions. TERN_TEST_DEVICE names another
// device than the CPU: dropout's draws are the same bits on all.
#include "base/mt19937.h"
#include "base/philox.h"
#include "support/check.h"

enum { MILLION = 1000000 };

static tern_device device;

// ---- Philox4x32-10 -----------------------------------------------------------------------------

// Random123's kat_vectors, philox4x32 10: counter, key, words.
static const struct {
    uint32_t counter[4], key[2], words[4];
} philox_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
     {UINT32_MAX, UINT32_MAX},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

// By the paper (Salmon et al., SC11): a round swaps the high and low halves of two products.
static void philox_by_definition(const uint32_t counter[4], const uint32_t key[2], uint32_t x[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    memcpy(x, counter, 4 * sizeof *x);
    for (int round = 0; round < 10; round++) {
        const uint64_t left = x[0] * UINT64_C(3528531795), right = x[2] * UINT64_C(3449720151);
        const uint32_t old1 = x[1], old3 = x[3];
        x[0] = (uint32_t)(right >> 32) ^ old1 ^ k0;
        x[1] = (uint32_t)(right & UINT32_MAX);
        x[2] = (uint32_t)(left >> 32) ^ old3 ^ k1;
        x[3] = (uint32_t)(left & UINT32_MAX);
        k0 += 2654435769u; // the golden ratio
        k1 += 3144134277u; // the square root of 3, less 1
    }
}

static uint64_t pair_of(const uint32_t *word)
{
    return word[0] | (uint64_t)word[1] << 32;
}

static void philox_gives_the_published_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof philox_answers / sizeof *philox_answers; i++) {
        const uint32_t *counter = philox_answers[i].counter, *key = philox_answers[i].key;
        tern_philox_block block = tern_philox(pair_of(key), pair_of(counter), pair_of(counter + 2));
        uint32_t own[4];
        philox_by_definition(counter, key, own);
        assert_memory_equal(block.word, philox_answers[i].words, sizeof block.word);
        assert_memory_equal(own, philox_answers[i].words, sizeof own);
    }
}

// Element e of call `id` is dropped when word e % 4 of counter (id, e / 4) under the seed, as a
// fraction of 2^32, is below p.
static void check_mask(const float *y, uint64_t seed, uint64_t id, double p)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int64_t e = 0; e < MILLION; e += 4) {
        const uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), (uint32_t)(e / 4), 0};
        uint32_t word[4];
        philox_by_definition(counter, key, word);
        for (int k = 0; k < 4; k++) {
            const float want = word[k] / 4294967296.0 < p ? 0 : (float)(1 / (1 - p));
            if (y[e + k] != want)
                fail_msg("element %lld of call %llu is %g, expected %g", (long long)e + k,
                         (unsigned long long)id, (double)y[e + k], (double)want);
        }
    }
}

static float *floats_of(tern_tensor *t)
{
    float *values = malloc(MILLION * sizeof *values);
    assert_non_null(values);
    assert_no_error();
    assert_int_equal(tern_to_host(t, values, MILLION * sizeof *values), TERN_OK);
    return values;
}

// Calls count from 0 after a seed; the backward drops what the forward dropped.
static void a_million_draws_of_dropout_are_those_of_the_definition(void **state)
{
    static const double chances[] = {0.1, 0.5, 0.9};
    (void)state;
    tern_scope scope = tern_scope_open();
    const uint64_t seed = UINT64_C(0x123456789abcdef0);
    tern_tensor *x = tern_ones(tern_dims(MILLION), .device = device, .requires_grad = true);
    tern_manual_seed(seed);
    for (uint64_t id = 0; id < 3; id++) {
        tern_tensor *y = tern_dropout(x, chances[id], true);
        float *values = floats_of(y);
        check_mask(values, seed, id, chances[id]);
        free(values);
        assert_int_equal(tern_backward(y, .gradient = tern_ones_like(y)), TERN_OK);
        values = floats_of(tern_grad(x));
        check_mask(values, seed, id, chances[id]);
        free(values);
        x = tern_ones(tern_dims(MILLION), .device = device, .requires_grad = true);
    }
    tern_scope_close(scope);
}

// ---- MT19937 -----------------------------------------------------------------------------------

// The recurrence and the tempering of Matsumoto and Nishimura 1998, one word at a time.
typedef struct twister {
    uint32_t word[624];
    int at;
} twister;

static void twister_seed(twister *t, uint32_t seed)
{
    t->word[0] = seed;
    for (uint32_t i = 1; i < 624; i++)
        t->word[i] = 1812433253u * (t->word[i - 1] ^ t->word[i - 1] >> 30) + i;
    t->at = 0;
}

// init_by_array of the authors' mt19937ar.c (2002).
static void twister_seed_by_array(twister *t, const uint32_t *key, uint32_t length)
{
    uint32_t *w = t->word, i = 1, j = 0;
    twister_seed(t, 19650218);
    for (int k = 624; k > 0; k--) {
        w[i] = (w[i] ^ (w[i - 1] ^ w[i - 1] >> 30) * 1664525u) + key[j] + j;
        j = (j + 1) % length;
        if (++i == 624) {
            w[0] = w[623];
            i = 1;
        }
    }
    for (int k = 623; k > 0; k--) {
        w[i] = (w[i] ^ (w[i - 1] ^ w[i - 1] >> 30) * 1566083941u) - i;
        if (++i == 624) {
            w[0] = w[623];
            i = 1;
        }
    }
    w[0] = 0x80000000u;
}

static uint32_t twister_next(twister *t)
{
    uint32_t *w = t->word;
    const int i = t->at, next = (i + 1) % 624;
    const uint32_t y = (w[i] & 0x80000000u) | (w[next] & 0x7fffffffu);
    w[i] = w[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    uint32_t x = w[i];
    t->at = next;
    x ^= x >> 11;
    x ^= x << 7 & 0x9d2c5680u;
    x ^= x << 15 & 0xefc60000u;
    return x ^ x >> 18;
}

// The 10000th word of seed 5489, as the C++ standard gives it for std::mt19937.
static void mt19937_gives_the_word_of_the_standard(void **state)
{
    (void)state;
    tern_mt19937 generator;
    tern_mt19937_seed(&generator, 5489);
    for (int i = 0; i < 9999; i++)
        (void)tern_mt19937_u32(&generator);
    assert_int_equal(tern_mt19937_u32(&generator), 4123659995u);
}

// The first words of the authors' mt19937ar.out, seeded by the array 0x123, 0x234, 0x345, 0x456.
static void mt19937_gives_the_words_of_its_authors(void **state)
{
    static const uint32_t key[] = {0x123, 0x234, 0x345, 0x456};
    static const uint32_t words[] = {1067595299u, 955945823u, 477289528u, 4107218783u, 4228976476u};
    (void)state;
    twister own;
    tern_mt19937 generator = {.index = TERN_MT19937_WORDS};
    twister_seed_by_array(&own, key, 4);
    memcpy(generator.state, own.word, sizeof generator.state);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tern_mt19937_u32(&generator), words[i]);
        assert_int_equal(twister_next(&own), words[i]);
    }
}

// tern_rand takes the low 24 bits of a word, as a fraction.
static void a_million_uniform_numbers_are_those_of_the_definition(void **state)
{
    (void)state;
    twister own;
    tern_scope scope = tern_scope_open();
    tern_manual_seed(42);
    twister_seed(&own, 42);
    float *values = floats_of(tern_rand(tern_dims(MILLION)));
    for (int i = 0; i < MILLION; i++)
        assert_true(values[i] == (float)(twister_next(&own) & 0xffffffu) * 0x1p-24f);
    free(values);
    tern_scope_close(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_words),
        cmocka_unit_test(a_million_draws_of_dropout_are_those_of_the_definition),
        cmocka_unit_test(mt19937_gives_the_word_of_the_standard),
        cmocka_unit_test(mt19937_gives_the_words_of_its_authors),
        cmocka_unit_test(a_million_uniform_numbers_are_those_of_the_definition),
    };
    const char *name = getenv("TERN_TEST_DEVICE");
    if (name && strncmp(name, "cuda", 4) == 0 && cuda_missing())
        return cuda_missing();
    if (tern_device_parse(name ? name : "cpu", &device)) {
        tern_error_print(stderr);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
