// SPDX-License-Identifier: Apache-2.0
// cuRAND: a device's words and numbers are those of the real library's CPU generator, stored here
// for a few positions and asked of the library itself where there is one (TERN_SIM_LIBCURAND names
// it).
#include "check_sim.h"

#include <dlfcn.h>

#include <curand.h>

enum { known_count = 6, many = 300000 };

// What curandCreateGeneratorHost of CUDA 13.0 gives with CURAND_ORDERING_PSEUDO_LEGACY.
static const struct known {
    unsigned long long seed, position;
    unsigned words[known_count];
    float uniforms[known_count], normals[known_count];
} knowns[] = {
    {0,
     0,
     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0x844515e1, 0xf08d6eaa},
     {0x1.989fa4p-2, 0x1.c2d38cp-1, 0x1.78af58p-1, 0x1.3601b8p-1, 0x1.088a2cp-1, 0x1.e11adep-1},
     {-0x1.d96d5ap-1, 0x1.fb7668p-1, -0x1.eda36ep-2, -0x1.3c373ap-1, -0x1.b38d5cp-2,
      0x1.114d98p+0}},
    {1234,
     5,
     {0x52fc7c75, 0xc7f33f17, 0x0f1539db, 0x8b438957, 0xec6a41f7, 0x71067dfe},
     {0x1.4bf1f2p-2, 0x1.8fe67ep-1, 0x1.e2a73cp-5, 0x1.168712p-1, 0x1.d8d484p-1, 0x1.c419f8p-2},
     {-0x1.24c204p-2, 0x1.047274p-2, 0x1.4f8e7cp-1, -0x1.053c2cp-1, 0x1.f4f21ap-1, 0x1.46e962p+0}},
    {0xdeadbeefcafef00dull, // across the end of the 65536 subsequences
     262143,
     {0xc59380c0, 0xceb65dbf, 0x33defe48, 0x6a03d4c4, 0xd2867fd5, 0xae5d6425},
     {0x1.8b2702p-1, 0x1.9d6cbcp-1, 0x1.9ef7f2p-3, 0x1.a80f54p-2, 0x1.a50dp-1, 0x1.5cbac8p-1},
     {0x1.afc126p-2, 0x1.401d1ep-1, 0x1.88d9d2p-3, -0x1.3164d2p+0, 0x1.2a9424p-1, -0x1.b91662p-1}},
    {77,
     123456789012ull,
     {0x912c5274, 0x90462d8a, 0xfdc66d41, 0xee1ce31a, 0xc218c093, 0xb8578c1d},
     {0x1.2258a4p-1, 0x1.208c5cp-1, 0x1.fb8cdap-1, 0x1.dc39c6p-1, 0x1.843182p-1, 0x1.70af18p-1},
     {-0x1.a82918p-2, -0x1.f66b3p-1, -0x1.cc12bp-5, 0x1.e9e09ap-4, -0x1.76414ap-1, -0x1.1cbc0cp-3}},
};

static cudaStream_t stream;
static curandGenerator_t generator;
static void *device;

static void begin_at(unsigned long long seed, unsigned long long position)
{
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, seed), 0);
    assert_int_equal(curandSetGeneratorOffset(generator, position), 0);
}

static void take(void *host, size_t count)
{
    assert_done(cudaMemcpyAsync(host, device, count * 4, cudaMemcpyDeviceToHost, stream));
    assert_done(cudaStreamSynchronize(stream));
}

// logf and sinf of another library may differ in the last place.
static bool near(float a, float b)
{
    return fabsf(a - b) <= 1e-6f * (1 + fabsf(b));
}

static void numbers_are_the_known_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof knowns / sizeof *knowns; i++) {
        const struct known *k = &knowns[i];
        unsigned words[known_count];
        float numbers[known_count];
        begin_at(k->seed, k->position);
        assert_int_equal(curandGenerate(generator, device, known_count), 0);
        take(words, known_count);
        assert_memory_equal(words, k->words, sizeof words);
        begin_at(k->seed, k->position);
        assert_int_equal(curandGenerateUniform(generator, device, known_count), 0);
        take(numbers, known_count);
        assert_memory_equal(numbers, k->uniforms, sizeof numbers);
        begin_at(k->seed, k->position);
        assert_int_equal(curandGenerateNormal(generator, device, known_count, 0, 1), 0);
        take(numbers, known_count);
        for (int j = 0; j < known_count; j++)
            assert_true(near(numbers[j], k->normals[j]));
    }
}

static void a_fill_goes_on_where_the_last_one_ended(void **state)
{
    (void)state;
    unsigned words[known_count];
    begin_at(knowns[1].seed, knowns[1].position);
    assert_int_equal(curandGenerate(generator, device, 1), 0);
    assert_int_equal(curandGenerate(generator, device, 2), 0);
    take(words, 2);
    assert_memory_equal(words, knowns[1].words + 1, 2 * sizeof *words);
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, knowns[1].seed), 0);
    assert_int_equal(curandGenerate(generator, device, 3), 0); // a seed leaves the position
    take(words, 3);
    assert_memory_equal(words, knowns[1].words + 3, 3 * sizeof *words);
}

static void normals_take_mean_and_deviation(void **state)
{
    (void)state;
    float numbers[known_count];
    begin_at(knowns[0].seed, knowns[0].position);
    assert_int_equal(curandGenerateNormal(generator, device, known_count, 10, 0.5f), 0);
    take(numbers, known_count);
    for (int j = 0; j < known_count; j++)
        assert_true(near(numbers[j], 10 + 0.5f * knowns[0].normals[j]));
}

static void what_curand_refuses_is_refused(void **state)
{
    (void)state;
    curandGenerator_t made;
    assert_int_equal(curandGenerateNormal(generator, device, 5, 0, 1),
                     CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    assert_int_equal(curandSetGeneratorOrdering(generator, (curandOrdering_t)150),
                     CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY), 0);
    assert_int_equal(curandCreateGenerator(&made, (curandRngType_t)9), CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandGenerate(NULL, device, 1), CURAND_STATUS_NOT_INITIALIZED);
}

// The real library, its CPU generator.
static struct {
    int (*create)(void **, int);
    int (*destroy)(void *);
    int (*order)(void *, int);
    int (*seed)(void *, unsigned long long);
    int (*offset)(void *, unsigned long long);
    int (*words)(void *, void *, size_t);
    int (*uniform)(void *, void *, size_t);
    int (*normal)(void *, void *, size_t, float, float);
} real;

static bool open_real_library(void)
{
    const char *path = getenv("TERN_SIM_LIBCURAND");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return false;
#define FIND(member, name) *(void **)&real.member = dlsym(library, name)
    FIND(create, "curandCreateGeneratorHost");
    FIND(destroy, "curandDestroyGenerator");
    FIND(order, "curandSetGeneratorOrdering");
    FIND(seed, "curandSetPseudoRandomGeneratorSeed");
    FIND(offset, "curandSetGeneratorOffset");
    FIND(words, "curandGenerate");
    FIND(uniform, "curandGenerateUniform");
    FIND(normal, "curandGenerateNormal");
    return real.create && real.normal;
}

static void compare(unsigned long long seed, unsigned long long position, float *ours,
                    float *theirs)
{
    void *g;
    assert_int_equal(real.create(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10), 0);
    assert_int_equal(real.order(g, CURAND_ORDERING_PSEUDO_LEGACY), 0);
    assert_int_equal(real.seed(g, seed) || real.offset(g, position), 0);
    begin_at(seed, position);
    assert_int_equal(real.words(g, theirs, many), 0);
    assert_int_equal(curandGenerate(generator, device, many), 0);
    take(ours, many);
    assert_memory_equal(ours, theirs, many * 4);
    assert_int_equal(real.uniform(g, theirs, many - 1), 0);
    assert_int_equal(curandGenerateUniform(generator, device, many - 1), 0);
    take(ours, many - 1);
    assert_memory_equal(ours, theirs, (many - 1) * 4);
    assert_int_equal(real.normal(g, theirs, many, 0, 1), 0); // from an odd position
    assert_int_equal(curandGenerateNormal(generator, device, many, 0, 1), 0);
    take(ours, many);
    for (int i = 0; i < many; i++)
        assert_true(near(ours[i], theirs[i]));
    real.destroy(g);
}

static void numbers_are_those_of_the_real_library(void **state)
{
    (void)state;
    if (!open_real_library()) {
        print_message("no libcurand\n");
        skip();
    }
    float *ours = malloc(many * sizeof *ours), *theirs = malloc(many * sizeof *theirs);
    assert_non_null(ours);
    assert_non_null(theirs);
    compare(0, 0, ours, theirs);
    compare(0xdeadbeefcafef00dull, 123456789010ull, ours, theirs);
    free(ours);
    free(theirs);
}

static int set_up(void **state)
{
    (void)state;
    stream = new_stream(cudaStreamNonBlocking);
    return cudaMalloc(&device, many * 4) ||
           curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) ||
           curandSetStream(generator, stream) ||
           curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY);
}

static int tear_down(void **state)
{
    (void)state;
    return curandDestroyGenerator(generator) || cudaFree(device) || cudaStreamDestroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_known_ones),
        cmocka_unit_test(a_fill_goes_on_where_the_last_one_ended),
        cmocka_unit_test(normals_take_mean_and_deviation),
        cmocka_unit_test(what_curand_refuses_is_refused),
        cmocka_unit_test(numbers_are_those_of_the_real_library),
    };
    return run_cases(tests, set_up, tear_down);
}
