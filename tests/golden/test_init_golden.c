// SPDX-License-Identifier: Apache-2.0
// Initial values are PyTorch's, and leave the generator where PyTorch does; from the default
// generator and from one of the caller's.
#include "support/check.h"
#include "golden.h"

#define MOST_CASES 256
#define SEED       11

// ---- the calls of make_init.py, by its names ----------------------------------------------------

#define BY_NUMBERS(CALL)                                                                           \
    CALL("uniform", tern_init_uniform(t, .generator = g))                                          \
    CALL("uniform between", tern_init_uniform(t, -0.3, 0.9, .generator = g))                       \
    CALL("normal", tern_init_normal(t, .generator = g))                                            \
    CALL("normal of 0.02", tern_init_normal(t, -1, 0.02, .generator = g))                          \
    CALL("constant", tern_init_constant(t, 0.3))                                                   \
    CALL("ones", tern_init_ones(t))                                                                \
    CALL("zeros", tern_init_zeros(t))                                                              \
    CALL("eye", tern_init_eye(t))                                                                  \
    CALL("dirac", tern_init_dirac(t))                                                              \
    CALL("dirac of images", tern_init_dirac(t))                                                    \
    CALL("dirac in groups", tern_init_dirac(t, .groups = 2))                                       \
    CALL("trunc_normal", tern_init_trunc_normal(t, .generator = g))                                \
    CALL("trunc_normal of 0.02", tern_init_trunc_normal(t, .std = 0.02, .generator = g))           \
    CALL("trunc_normal of one side", tern_init_trunc_normal(t, .mean = 0.2, .std = 0.7, .a = 0.1,  \
                                                            .b = INFINITY, .generator = g))        \
    CALL("trunc_normal of a tail",                                                                 \
         tern_init_trunc_normal(t, .mean = -0.5, .std = 0.5, .a = 0.25, .b = 1.5, .generator = g)) \
    CALL("trunc_normal of a narrow part",                                                          \
         tern_init_trunc_normal(t, .a = 0.25, .b = 0.75, .generator = g))
#define BY_SIZES(CALL)                                                                             \
    CALL("xavier_uniform", tern_init_xavier_uniform(t, .generator = g))                            \
    CALL("xavier_uniform of relu",                                                                 \
         tern_init_xavier_uniform(t, tern_init_calculate_gain(TERN_NONLINEARITY_RELU, NAN),        \
                                  .generator = g))                                                 \
    CALL("xavier_normal", tern_init_xavier_normal(t, .generator = g))                              \
    CALL("xavier_normal of tanh",                                                                  \
         tern_init_xavier_normal(t, tern_init_calculate_gain(TERN_NONLINEARITY_TANH, NAN),         \
                                 .generator = g))                                                  \
    CALL("kaiming_uniform", tern_init_kaiming_uniform(t, .generator = g))                          \
    CALL("kaiming_uniform of a slope",                                                             \
         tern_init_kaiming_uniform(t, .a = 0.3, .mode = TERN_FAN_OUT, .generator = g))             \
    CALL("kaiming_uniform of sigmoid",                                                             \
         tern_init_kaiming_uniform(t, .a = 0.3, .nonlinearity = TERN_NONLINEARITY_SIGMOID,         \
                                   .generator = g))                                                \
    CALL("kaiming_uniform of tanh",                                                                \
         tern_init_kaiming_uniform(t, .nonlinearity = TERN_NONLINEARITY_TANH, .generator = g))     \
    CALL("kaiming_uniform of selu",                                                                \
         tern_init_kaiming_uniform(t, .nonlinearity = TERN_NONLINEARITY_SELU, .generator = g))     \
    CALL("kaiming_uniform of linear",                                                              \
         tern_init_kaiming_uniform(t, .nonlinearity = TERN_NONLINEARITY_LINEAR, .generator = g))   \
    CALL("kaiming_normal", tern_init_kaiming_normal(t, .generator = g))                            \
    CALL("kaiming_normal of relu",                                                                 \
         tern_init_kaiming_normal(t, .mode = TERN_FAN_OUT, .nonlinearity = TERN_NONLINEARITY_RELU, \
                                  .generator = g))                                                 \
    CALL("orthogonal", tern_init_orthogonal(t, .generator = g))                                    \
    CALL("orthogonal, high", tern_init_orthogonal(t, 1.5, .generator = g))                         \
    CALL("orthogonal, wide", tern_init_orthogonal(t, -0.5, .generator = g))                        \
    CALL("orthogonal of one row", tern_init_orthogonal(t, .generator = g))                         \
    CALL("sparse", tern_init_sparse(t, 0.35, .generator = g))                                      \
    CALL("sparse of 0.5", tern_init_sparse(t, 0.9, .std = 0.5, .generator = g))

static tern_tensor *fill(const golden_case *c, tern_tensor *t, tern_generator *g)
{
    const char *name = golden_text(c, "call");
#define CALL(NAME, call)                                                                           \
    if (strcmp(name, NAME) == 0)                                                                   \
        return call;
    BY_NUMBERS(CALL)
    BY_SIZES(CALL)
#undef CALL
    fail_msg("%s: the test makes no such call", name);
    return NULL;
}

// ---- comparing ----------------------------------------------------------------------------------

// What rounding to 16 bits adds to a difference.
static real last_bit(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16 ? 0x1p-10L : dtype == TERN_BFLOAT16 ? 0x1p-7L : 0;
}

static void compare(const golden_case *c, const tern_tensor *t)
{
    const real within = golden_number(c, "within", 0);
    array got = array_of_tensor(t), want = golden_to_array(golden_find_array(c, "values"));
    assert_true(got.dtype == want.dtype && tern_shape_equal(got.shape, want.shape));
    for (int64_t i = 0; i < got.numel; i++) {
        const real x = got.data[i], y = want.data[i];
        const real room = within > 0 ? within + last_bit(got.dtype) * fabsl(y) : 0;
        if (!(fabsl(x - y) <= room))
            fail_msg("%s: element %lld is %.12Lg, PyTorch has %.12Lg", c->name, (long long)i, x, y);
    }
    array_free(&got);
    array_free(&want);
}

static void check(const golden_case *c, tern_generator *g)
{
    const golden_array *values = golden_find_array(c, "values");
    tern_tensor *t = tern_full(values->shape, NAN, .dtype = values->dtype);
    assert_ptr_equal(fill(c, t, g), t);
    assert_no_error();
    compare(c, t);
    const float *next = tern_data(tern_rand(tern_dims(2), .generator = g));
    assert_memory_equal(next, golden_values(c, "next", TERN_FLOAT32, 2), 2 * sizeof *next);
}

static void values_and_the_draws_after_them_are_pytorchs(void **state)
{
    const golden_case *c = *state;
    tern_scope scope = tern_scope_open();
    tern_manual_seed(SEED);
    check(c, NULL);
    tern_generator *g = tern_generator_new(SEED);
    check(c, g);
    tern_generator_free(g);
    tern_scope_close(scope);
}

static void gains_are_pytorchs(void **state)
{
    const double *gains = golden_values(*state, "values", TERN_FLOAT64, 8);
    static const tern_nonlinearity of[] = {TERN_NONLINEARITY_LINEAR,  TERN_NONLINEARITY_LINEAR,
                                           TERN_NONLINEARITY_SIGMOID, TERN_NONLINEARITY_TANH,
                                           TERN_NONLINEARITY_RELU,    TERN_NONLINEARITY_LEAKY_RELU,
                                           TERN_NONLINEARITY_SELU};
    for (int i = 0; i < 7; i++)
        assert_true(tern_init_calculate_gain(of[i], NAN) == gains[i]);
    assert_true(tern_init_calculate_gain(TERN_NONLINEARITY_LEAKY_RELU, 0.2) == gains[7]);
}

int main(void)
{
    const golden_file *file = golden_read("init");
    static struct CMUnitTest tests[MOST_CASES];
    for (int i = 0; i < file->count && i < MOST_CASES; i++) {
        const golden_case *c = &file->cases[i];
        tests[i] = (struct CMUnitTest){
            .name = c->name,
            .test_func = golden_text(c, "call") ? values_and_the_draws_after_them_are_pytorchs
                                                : gains_are_pytorchs,
            .initial_state = (void *)(uintptr_t)c};
    }
    return _cmocka_run_group_tests("init", tests, (size_t)file->count, NULL, NULL);
}
