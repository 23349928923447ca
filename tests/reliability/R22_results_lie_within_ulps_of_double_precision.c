// SPDX-License-Identifier: Apache-2.0
// What every operation computes, against the same in extended precision, under every instruction
// set of this machine. The operations are those of the public headers: one without a case fails.
// TERN_TEST_LONG=1 sweeps more densely.
#include "bounds.h"
#include "support/check.h"
#include "instruction_sets.h"
#include "support/instrumented.h"
#include "manifest.h"
#include "products.h"
#include "sweep.h"

static const char *include_dir;
static bool thorough;

static const case_list *const summing[] = {&reduction_cases, &product_cases};

// What is rounded exactly in float32 needs fewer numbers in 16 bits. The first chunk is landmarks.
static int64_t chunks_of(const op_case *c, int64_t chunks)
{
    if (INSTRUMENTED && !thorough)
        return 2;
    return c->ulps <= 1 && chunks == sweep_every_half() && !thorough ? 4 : chunks;
}

// Any numbers may go in, in one dimension.
static bool is_swept(const op_case *c)
{
    return c->reference == reference_each && c->setups[0].in[0].rank == 0;
}

static void elements_lie_within(tern_dtype dtype, int64_t chunks)
{
    static const case_list *const lists[] = {&elementwise_cases, &activation_cases};
    bool close = true;
    int swept = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        for (int i = 0; i < lists[k]->count; i++) {
            const op_case *c = &lists[k]->cases[i];
            if (!(c->dtypes & 1u << dtype) || !is_swept(c))
                continue;
            close = sweep_is_close(c, dtype, chunks_of(c, chunks)) && close;
            swept++;
        }
    }
    print_message("%d cases in %s, worst of those not exact: %.3f ulp\n", swept,
                  tern_dtype_name(dtype), sweep_worst(dtype));
    assert_true(swept > 60);
    assert_true(close);
}

static void elements_in_float32_lie_within_4_ulp_or_are_rounded_exactly(void **state)
{
    (void)state;
    elements_lie_within(TERN_FLOAT32, thorough ? 400 : 12);
}

static void elements_in_float64_lie_within_4_ulp_or_are_rounded_exactly(void **state)
{
    (void)state;
    elements_lie_within(TERN_FLOAT64, thorough ? 200 : 8);
}

static void every_float16_gives_the_rounded_result(void **state)
{
    (void)state;
    elements_lie_within(TERN_FLOAT16, sweep_every_half());
}

static void every_bfloat16_gives_the_rounded_result(void **state)
{
    (void)state;
    elements_lie_within(TERN_BFLOAT16, sweep_every_half());
}

static void sums_lie_within(tern_dtype dtype)
{
    bool within = true;
    int ran = 0;
    for (size_t k = 0; k < sizeof summing / sizeof *summing; k++) {
        for (int i = 0; i < summing[k]->count; i++) {
            const op_case *c = &summing[k]->cases[i];
            if (!(c->dtypes & 1u << dtype))
                continue;
            within = sums_are_within_bounds(c, dtype, thorough ? 4 : 3) && within;
            ran++;
        }
    }
    print_message("%d cases in %s, worst: %.3f of the bound\n", ran, tern_dtype_name(dtype),
                  bounds_worst(dtype));
    assert_true(ran > 60);
    assert_true(within);
}

static void sums_in_float32_lie_within_twice_their_terms(void **state)
{
    (void)state;
    sums_lie_within(TERN_FLOAT32);
}

static void sums_in_float64_lie_within_twice_their_terms(void **state)
{
    (void)state;
    sums_lie_within(TERN_FLOAT64);
}

// Batches of one and of many, few and many outputs, long sums: each takes another way.
static void products_and_their_gradients_lie_within_twice_their_terms(void **state)
{
    static const int sizes[][3] = {{1, 4099, 33},  {2, 300, 515},  {64, 784, 128}, {130, 517, 70},
                                   {33, 20, 1027}, {2051, 65, 10}, {7, 1, 9}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        FOR_EACH_INSTRUCTION_SET(set)
        {
            tern_scope scope = tern_scope_open();
            const int *n = sizes[i];
            double linear = check_linear(n[0], n[1], n[2]);
            double matmul = check_matmul(n[0], n[1], n[2]);
            print_message("%4d x %4d x %4d, %s: linear %.3f, matmul %.3f of the bound\n", n[0],
                          n[1], n[2], instruction_set_name(set), linear, matmul);
            tern_scope_close(scope);
        }
    }
}

static void every_operation_of_the_headers_is_measured(void **state)
{
    (void)state;
    check_manifest(include_dir);
}

static int seed(void **state)
{
    const char *text = getenv("TERN_TEST_SEED");
    (void)state;
    random_seed(text ? strtoull(text, NULL, 0) : 20241);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, seed)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(elements_in_float32_lie_within_4_ulp_or_are_rounded_exactly),
        TEST(elements_in_float64_lie_within_4_ulp_or_are_rounded_exactly),
        TEST(every_float16_gives_the_rounded_result),
        TEST(every_bfloat16_gives_the_rounded_result),
        TEST(sums_in_float32_lie_within_twice_their_terms),
        TEST(sums_in_float64_lie_within_twice_their_terms),
        TEST(products_and_their_gradients_lie_within_twice_their_terms),
        TEST(every_operation_of_the_headers_is_measured),
    };
    include_dir = argc > 1 ? argv[1] : "include";
    thorough = getenv("TERN_TEST_LONG") != NULL;
    for (int i = 0; i < INSTRUCTION_SETS; i++)
        printf("%s: %s\n", instruction_set_name(i),
               use_instruction_set(i) ? "measured" : "this machine lacks it");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
