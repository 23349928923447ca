// SPDX-License-Identifier: Apache-2.0
// The matrix product of every instruction set that the machine has.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>
#include "base/error.h"
#include "cpu/product/gemm.h"
#include <tern/memory.h>
#include <tern/threads.h>

typedef struct gemm_case {
    int64_t m, n, k, batch, pad; // pad: elements between rows, and between products
    bool a_turned, b_turned, bias, relu, accumulate, share_a, share_b;
} gemm_case;

#if defined(__x86_64__)
#define ISAS 3
// A build may be without them.
tern_gemm_f32_fn tern_gemm_f32_avx512 __attribute__((weak));
tern_gemm_f64_fn tern_gemm_f64_avx512 __attribute__((weak));
tern_gemm_scratch_f32_fn tern_gemm_scratch_f32_avx512 __attribute__((weak));
static const char *const isa_names[ISAS] = {"portable", "avx2", "avx512"};
static tern_gemm_f32_fn *const f32_fns[ISAS] = {tern_gemm_f32_portable, tern_gemm_f32_avx2,
                                                tern_gemm_f32_avx512};
static tern_gemm_f64_fn *const f64_fns[ISAS] = {tern_gemm_f64_portable, tern_gemm_f64_avx2,
                                                tern_gemm_f64_avx512};
static tern_gemm_scratch_f32_fn *const f32_rooms[ISAS] = {
    tern_gemm_scratch_f32_portable, tern_gemm_scratch_f32_avx2, tern_gemm_scratch_f32_avx512};
static bool machine_has(int isa)
{
    if (isa == 1)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return isa == 0 || (f32_fns[isa] && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl"));
}
#else
#define ISAS 1
static const char *const isa_names[ISAS] = {"portable"};
static tern_gemm_f32_fn *const f32_fns[ISAS] = {tern_gemm_f32_portable};
static tern_gemm_f64_fn *const f64_fns[ISAS] = {tern_gemm_f64_portable};
static tern_gemm_scratch_f32_fn *const f32_rooms[ISAS] = {tern_gemm_scratch_f32_portable};
static bool machine_has(int isa)
{
    return isa == 0;
}
#endif

static uint64_t random_state;

static uint32_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33);
}

static int64_t pages_of(int64_t nbytes)
{
    const int64_t page = sysconf(_SC_PAGESIZE);
    return (nbytes + page - 1) / page * page;
}

// Memory that ends at an unreadable page.
static void *edge_alloc(int64_t nbytes)
{
    const int64_t size = pages_of(nbytes), page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, (size_t)(size + page), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + size, (size_t)page, PROT_NONE), 0);
    return memory + size - nbytes;
}

static void edge_free(void *memory, int64_t nbytes)
{
    const int64_t size = pages_of(nbytes), page = sysconf(_SC_PAGESIZE);
    munmap((char *)memory + nbytes - size, (size_t)(size + page));
}

#define real       float
#define wide       double
#define CASE(name) f32_##name
#define GEMM_ARGS  tern_gemm_f32_args
#define GEMM_FN    tern_gemm_f32_fn
#define ROUNDING   0x1p-24
#include "gemm_case.h"
#undef real
#undef wide
#undef CASE
#undef GEMM_ARGS
#undef GEMM_FN
#undef ROUNDING

#define real       double
#define wide       long double
#define CASE(name) f64_##name
#define GEMM_ARGS  tern_gemm_f64_args
#define GEMM_FN    tern_gemm_f64_fn
#define ROUNDING   0x1p-53
#include "gemm_case.h"

static void check_both(const gemm_case *c)
{
    f32_check(c, f32_fns);
    f64_check(c, f64_fns);
}

static int64_t pick_size(int64_t limit)
{
    static const int64_t sizes[] = {0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  12,
                                    13,  14,  15,  16,  17,  27,  28,  29,  31,  32,  33,  41,
                                    47,  48,  49,  63,  64,  65,  97,  113, 127, 128, 129, 193,
                                    255, 256, 257, 399, 400, 401, 512, 799, 800, 801, 1031};
    int64_t size;
    do
        size = sizes[next_random() % (sizeof sizes / sizeof *sizes)];
    while (size > limit);
    return size;
}

static bool coin(void)
{
    return next_random() % 2;
}

static gemm_case random_case(int64_t work)
{
    gemm_case c = {.k = pick_size(work)};
    c.m = pick_size(c.k ? work / c.k : work);
    c.n = pick_size(c.k && c.m ? work / (c.k * c.m) : work);
    c.pad = coin() ? 0 : next_random() % 9;
    c.a_turned = coin();
    c.b_turned = coin();
    c.bias = coin();
    c.relu = coin();
    c.accumulate = coin();
    return c;
}

static void random_shapes_and_strides_match_a_triple_loop(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        const gemm_case c = random_case(1 << 18);
        check_both(&c);
    }
}

static void every_small_shape_matches_a_triple_loop(void **state)
{
    (void)state;
    for (int64_t s = 0; s < 17 * 35; s++) {
        for (int turns = 0; turns < 4; turns++) {
            const gemm_case c = {.m = s % 17,
                                 .n = s / 17,
                                 .k = 1 + s % 19,
                                 .pad = s % 3,
                                 .a_turned = turns & 1,
                                 .b_turned = turns & 2,
                                 .accumulate = s % 2,
                                 .bias = s % 5 == 0};
            check_both(&c);
        }
    }
}

static void a_batch_is_so_many_products(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        gemm_case c = random_case(1 << 14);
        c.batch = 2 + next_random() % 7;
        c.share_a = next_random() % 4 == 0;
        c.share_b = next_random() % 4 == 0;
        check_both(&c);
    }
}

// Longer than a block in each dimension, with both ways to lay out each operand.
static void blocks_join_without_a_seam(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{2061, 37, 9},   {5, 4131, 11},   {31, 45, 1777},
                                        {300, 1100, 70}, {270, 35, 1000}, {1, 4200, 830},
                                        {2, 140, 1700}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int turns = 0; turns < 4; turns++) {
            const gemm_case c = {.m = shapes[s][0],
                                 .n = shapes[s][1],
                                 .k = shapes[s][2],
                                 .pad = 1,
                                 .a_turned = turns & 1,
                                 .b_turned = turns & 2,
                                 .bias = true,
                                 .relu = turns == 0,
                                 .accumulate = turns == 3};
            check_both(&c);
        }
    }
}

// Rows a power of two apart share few sets of a cache: operands that more than ten tiles read are
// packed, and where a cache holds the lines of a few steps, those that more than 32 read.
static void crowded_operands_match_a_triple_loop(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{150, 345, 400}, {140, 320, 400}, {345, 150, 140},
                                        {470, 40, 100},  {40, 470, 100},  {131, 350, 601}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int64_t longest = shapes[s][0] > shapes[s][1] ? shapes[s][0] : shapes[s][1];
        for (int turns = 0; turns < 4; turns++) {
            const gemm_case c = {.m = shapes[s][0],
                                 .n = shapes[s][1],
                                 .k = shapes[s][2],
                                 .pad = 1024 - longest,
                                 .a_turned = turns & 1,
                                 .b_turned = turns & 2,
                                 .bias = true,
                                 .accumulate = turns == 1};
            check_both(&c);
        }
    }
}

static void layers_of_a_network_match_a_triple_loop(void **state)
{
    (void)state;
    static const int64_t batches[] = {1, 64};
    for (int i = 0; i < 2; i++) {
        const int64_t batch = batches[i];
        const gemm_case cases[] = {
            {.m = batch, .n = 512, .k = 784, .b_turned = true, .bias = true, .relu = true},
            {.m = batch, .n = 10, .k = 512, .b_turned = true, .bias = true},
            {.m = batch, .n = 784, .k = 512},
            {.m = batch, .n = 512, .k = 10},
            {.m = 512, .n = 784, .k = batch, .a_turned = true, .accumulate = true},
            {.m = 10, .n = 512, .k = batch, .a_turned = true},
        };
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
            check_both(&cases[j]);
    }
}

static void the_bits_are_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    static const gemm_case cases[] = {
        {.m = 64, .n = 512, .k = 784, .b_turned = true, .bias = true, .relu = true},
        {.m = 512, .n = 784, .k = 64, .a_turned = true, .accumulate = true},
        {.m = 512, .n = 260, .k = 500, .a_turned = true},
        {.m = 170, .n = 370, .k = 140, .pad = 654, .a_turned = true},
        {.m = 300, .n = 301, .k = 302, .b_turned = true},
        {.m = 1, .n = 1500, .k = 900},
        {.m = 1, .n = 1500, .k = 900, .b_turned = true},
        {.m = 1200, .n = 5, .k = 400, .b_turned = true},
        {.m = 40, .n = 50, .k = 60, .batch = 33, .b_turned = true},
        {.m = 280, .n = 290, .k = 300, .batch = 2, .a_turned = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f32_check_threads(&cases[i], f32_fns);
        f64_check_threads(&cases[i], f64_fns);
    }
}

// Each shape takes another way through the code.
static void nan_and_infinity_reach_what_depends_on_them(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{3, 5, 40}, {30, 70, 33}, {70, 30, 33}, {1, 40, 50}};
    static const float specials[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 48; i++) {
        const int64_t *shape = shapes[i / 12];
        const gemm_case c = {.m = shape[0],
                             .n = shape[1],
                             .k = shape[2],
                             .a_turned = i & 1,
                             .b_turned = i & 2,
                             .relu = i & 4,
                             .bias = true};
        f32_data f = f32_make(&c);
        f64_data g = f64_make(&c);
        const int64_t a_at = next_random() % f.a_count, b_at = next_random() % f.b_count;
        f.a[a_at] = specials[i % 3];
        g.a[a_at] = (double)specials[i % 3];
        f.b[b_at] = 0;
        g.b[b_at] = i % 5 ? 0 : INFINITY;
        f32_expect(&f);
        f64_expect(&g);
        for (int isa = 0; isa < ISAS && machine_has(isa); isa++) {
            f32_run(&f, f32_fns[isa]);
            f32_compare(&f, isa_names[isa]);
            f64_run(&g, f64_fns[isa]);
            f64_compare(&g, isa_names[isa]);
        }
        f32_drop(&f);
        f64_drop(&g);
    }
}

static void an_empty_sum_needs_no_operands(void **state)
{
    (void)state;
    const float bias[3] = {1, -2, NAN};
    for (int isa = 0; isa < ISAS && machine_has(isa); isa++) {
        float c[2][4] = {{9, 9, 9, 9}, {9, 9, 9, 9}};
        tern_gemm_f32_args args = {
            .m = 2, .n = 3, .k = 0, .c = *c, .c_row = 4, .bias = bias, .relu = true};
        assert_int_equal(f32_fns[isa](&args), TERN_OK);
        for (int i = 0; i < 2; i++) {
            assert_true(c[i][0] == 1 && c[i][1] == 0 && isnan(c[i][2]) && c[i][3] == 9);
        }
        args.bias = NULL;
        args.accumulate = true;
        c[0][0] = 7;
        assert_int_equal(f32_fns[isa](&args), TERN_OK);
        assert_true(c[0][0] == 7 && c[1][1] == 0);
    }
}

static void *no_memory(size_t nbytes, size_t align, void *user)
{
    (void)nbytes;
    (void)align;
    (void)user;
    return NULL;
}

static void no_free(void *memory, size_t nbytes, void *user)
{
    (void)memory;
    (void)nbytes;
    (void)user;
}

static void without_memory_c_stays_as_it_was(void **state)
{
    (void)state;
    const gemm_case c = {.m = 1100, .n = 1100, .k = 200, .b_turned = true, .accumulate = true};
    f32_data d = f32_make(&c);
    memcpy(d.c, d.start, (size_t)d.c_count * sizeof(float));
    tern_memory_trim();
    assert_int_equal(tern_set_allocator(&(tern_allocator){no_memory, no_free, NULL}), TERN_OK);
    for (int isa = 0; isa < ISAS && machine_has(isa); isa++) {
        assert_int_equal(f32_fns[isa](&d.args), TERN_ERR_NOMEM);
        tern_error_clear();
        assert_memory_equal(d.c, d.start, (size_t)d.c_count * sizeof(float));
    }
    assert_int_equal(tern_set_allocator(NULL), TERN_OK);
    f32_drop(&d);
}

// Without any other memory, and nothing behind the scratch is written.
static void scratch_of_the_caller_is_enough(void **state)
{
    (void)state;
    enum { BEHIND = 64 };
    const gemm_case cases[] = {{.m = 300, .n = 400, .k = 700, .b_turned = true},
                               {.m = 20, .n = 30, .k = 90, .batch = 9, .b_turned = true},
                               {.m = 500, .n = 1100, .k = 70, .a_turned = true}};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        f32_data d = f32_make(&cases[i]);
        f32_expect(&d);
        d.args.threads = 3;
        for (int isa = 0; isa < ISAS && machine_has(isa); isa++) {
            const int64_t room = f32_rooms[isa](&d.args);
            float *scratch = malloc((size_t)(room + BEHIND) * sizeof *scratch);
            for (int64_t j = 0; j < BEHIND; j++)
                scratch[room + j] = 7;
            d.args.scratch = scratch;
            tern_memory_trim();
            assert_int_equal(tern_set_allocator(&(tern_allocator){no_memory, no_free, NULL}),
                             TERN_OK);
            f32_run(&d, f32_fns[isa]);
            assert_int_equal(tern_set_allocator(NULL), TERN_OK);
            f32_compare(&d, isa_names[isa]);
            for (int64_t j = 0; j < BEHIND; j++)
                assert_true(scratch[room + j] == 7);
            free(scratch);
        }
        f32_drop(&d);
    }
}

static int seed_and_one_thread(void **state)
{
    (void)state;
    const char *seed = getenv("TERN_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    return tern_set_num_threads(1) == TERN_OK ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup(name, seed_and_one_thread)

int main(void)
{
    const char *seed = getenv("TERN_TEST_SEED");
    printf("seed %s (TERN_TEST_SEED), instruction sets:", seed ? seed : "1");
    for (int isa = 0; isa < ISAS; isa++)
        printf(" %s%s", isa_names[isa],
               machine_has(isa) ? "" : " (skipped: this machine lacks it)");
    printf("\n");
    const struct CMUnitTest tests[] = {
        TEST(random_shapes_and_strides_match_a_triple_loop),
        TEST(every_small_shape_matches_a_triple_loop),
        TEST(a_batch_is_so_many_products),
        TEST(blocks_join_without_a_seam),
        TEST(crowded_operands_match_a_triple_loop),
        TEST(layers_of_a_network_match_a_triple_loop),
        TEST(the_bits_are_the_same_for_any_number_of_threads),
        TEST(nan_and_infinity_reach_what_depends_on_them),
        TEST(an_empty_sum_needs_no_operands),
        TEST(without_memory_c_stays_as_it_was),
        TEST(scratch_of_the_caller_is_enough),
    };
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
