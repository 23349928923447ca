// SPDX-License-Identifier: Apache-2.0
// init.h
#include "errors.h"

// A call that fills `t`: what each of them refuses.
#define FILLS(function, name, call)                                                                \
    NULL_AND_DEAD(function, "init_" name, "t", call(NULL), call(f->dead))                          \
    REFUSES(function, "an expanded tensor", TERN_ERR_STATE, "init_" name ": |expand",              \
            call(tern_expand(f->scalar, tern_dims(4, 3, 2))))
#define WITH_OPTIONS(name)                                                                         \
    REFUSES(tern_init_##name##_with, "options that are NULL", TERN_ERR_NULL,                       \
            "init_" #name ": options is NULL", tern_init_##name##_with(NULL))
#define DRAWS(name, call)                                                                          \
    FILLS(tern_init_##name##_with, #name, call)                                                    \
    WITH_OPTIONS(name)                                                                             \
    REFUSES(tern_init_##name##_with, "integers", TERN_ERR_DTYPE,                                   \
            "init_" #name ": |int64|floating", call(f->ints))                                      \
    REFUSES(tern_init_##name##_with, "a generator that was freed", TERN_ERR_STATE,                 \
            "init_" #name ": |generator|freed", with_freed_generator(f, #name))
#define OF_RANK(name, words, call, t)                                                              \
    REFUSES(tern_init_##name, "another rank", TERN_ERR_SHAPE, "init_" words, call(t))

// ---- the calls ----------------------------------------------------------------------------------

#define CONSTANT(t)        tern_init_constant(t, 1)
#define UNIFORM(t)         tern_init_uniform(t)
#define NORMAL(t)          tern_init_normal(t)
#define TRUNC_NORMAL(t)    tern_init_trunc_normal(t)
#define XAVIER_UNIFORM(t)  tern_init_xavier_uniform(t)
#define XAVIER_NORMAL(t)   tern_init_xavier_normal(t)
#define KAIMING_UNIFORM(t) tern_init_kaiming_uniform(t)
#define KAIMING_NORMAL(t)  tern_init_kaiming_normal(t)
#define ORTHOGONAL(t)      tern_init_orthogonal(t)
#define SPARSE(t)          tern_init_sparse(t, 0.5)
#define DIRAC(t)           tern_init_dirac(t)

static tern_tensor *with_freed_generator(fixture *f, const char *name)
{
    tern_generator *g = tern_generator_new(1);
    tern_generator_free(g);
    tern_tensor *t = f->x;
#define CALL(NAME, call)                                                                           \
    if (strcmp(name, NAME) == 0)                                                                   \
        return call;
    CALL("uniform", tern_init_uniform(t, .generator = g))
    CALL("normal", tern_init_normal(t, .generator = g))
    CALL("trunc_normal", tern_init_trunc_normal(t, .generator = g))
    CALL("xavier_uniform", tern_init_xavier_uniform(t, .generator = g))
    CALL("xavier_normal", tern_init_xavier_normal(t, .generator = g))
    CALL("kaiming_uniform", tern_init_kaiming_uniform(t, .generator = g))
    CALL("kaiming_normal", tern_init_kaiming_normal(t, .generator = g))
    CALL("orthogonal", tern_init_orthogonal(t, .generator = g))
    CALL("sparse", tern_init_sparse(t, 0.5, .generator = g))
#undef CALL
    return t;
}

FILLS(tern_init_constant, "constant", CONSTANT)
FILLS(tern_init_ones, "ones", tern_init_ones)
FILLS(tern_init_zeros, "zeros", tern_init_zeros)
FILLS(tern_init_eye, "eye", tern_init_eye)
FILLS(tern_init_dirac_with, "dirac", DIRAC)
WITH_OPTIONS(dirac)
DRAWS(uniform, UNIFORM)
DRAWS(normal, NORMAL)
DRAWS(trunc_normal, TRUNC_NORMAL)
DRAWS(xavier_uniform, XAVIER_UNIFORM)
DRAWS(xavier_normal, XAVIER_NORMAL)
DRAWS(kaiming_uniform, KAIMING_UNIFORM)
DRAWS(kaiming_normal, KAIMING_NORMAL)
DRAWS(orthogonal, ORTHOGONAL)
DRAWS(sparse, SPARSE)

// ---- shapes -------------------------------------------------------------------------------------

OF_RANK(xavier_uniform_with, "xavier_uniform: t is (3,)|at least 2", XAVIER_UNIFORM, f->vector)
OF_RANK(xavier_normal_with, "xavier_normal: t is (3,)|at least 2", XAVIER_NORMAL, f->vector)
OF_RANK(kaiming_uniform_with, "kaiming_uniform: t is ()|at least 2", KAIMING_UNIFORM, f->scalar)
OF_RANK(kaiming_normal_with, "kaiming_normal: t is (3,)|at least 2", KAIMING_NORMAL, f->vector)
OF_RANK(orthogonal_with, "orthogonal: t is (3,)|at least 2", ORTHOGONAL, f->vector)
OF_RANK(sparse_with, "sparse: t is (3,)|must have 2", SPARSE, f->vector)
OF_RANK(sparse_with, "sparse: t is (1, 1, 1|must have 2", SPARSE, f->deep)
OF_RANK(eye, "eye: t is (3,)|must have 2", tern_init_eye, f->vector)
OF_RANK(dirac_with, "dirac: t is (2, 3)|at least 3", DIRAC, f->x)
OF_RANK(dirac_with, "dirac: t is (1, 1, 1|at most 5", DIRAC, f->deep)
REFUSES(tern_init_dirac_with, "groups that do not divide the outputs", TERN_ERR_ARG,
        "init_dirac: groups is 2|1 outputs",
        tern_init_dirac(tern_reshape(f->x, tern_dims(1, 2, 3)), .groups = 2))
REFUSES(tern_init_dirac_with, "no groups", TERN_ERR_ARG, "init_dirac: groups is 0",
        tern_init_dirac(tern_reshape(f->x, tern_dims(1, 2, 3)), .groups = 0))
REFUSES(tern_init_dirac_with, "negative groups", TERN_ERR_ARG, "init_dirac: groups is -1",
        tern_init_dirac(tern_reshape(f->x, tern_dims(1, 2, 3)), .groups = -1))

// ---- numbers ------------------------------------------------------------------------------------

#define WRONG(name, what, words, ...)                                                              \
    REFUSES(tern_init_##name##_with, what, TERN_ERR_ARG, "init_" #name ": " words,                 \
            tern_init_##name(f->x, __VA_ARGS__))
REFUSES(tern_init_constant, "what the dtype does not hold", TERN_ERR_ARG,
        "init_constant: value|300|uint8", tern_init_constant(f->bytes, 300))
REFUSES(tern_init_constant, "NaN for integers", TERN_ERR_ARG, "init_constant: value|nan|int64",
        tern_init_constant(f->ints, NAN))
WRONG(uniform, "a above b", "a is 2 and b 1", 2, 1)
WRONG(uniform, "an end that is NaN", "a is nan", NAN)
WRONG(uniform, "an infinite end", "|b inf", 0, INFINITY)
WRONG(uniform, "ends beyond the dtype", "|1e+300|float32", 0, 1e300)
WRONG(normal, "a negative std", "|std -1", 0, -1)
WRONG(normal, "a mean that is NaN", "mean nan", NAN)
WRONG(trunc_normal, "a std of 0", "|std 0", .std = 0)
WRONG(trunc_normal, "a std that is NaN", "|std nan", .std = NAN)
WRONG(trunc_normal, "an infinite mean", "mean inf", .mean = INFINITY)
WRONG(trunc_normal, "a that is not below b", "a 2 is not below b 2", .a = 2)
WRONG(trunc_normal, "an end that is NaN", "|b nan", .b = NAN)
WRONG(trunc_normal, "a range without the distribution", "hardly any number from 3 to inf", .a = 3,
      .b = INFINITY)
WRONG(trunc_normal, "a range with hardly any of it", "hardly any number from 1 to 1e+06|std 0.01",
      .std = 0.01, .a = 1, .b = 1e6)
WRONG(xavier_uniform, "a negative gain", "gain is -1", -1)
WRONG(xavier_normal, "a gain that is NaN", "gain is nan", NAN)
WRONG(xavier_normal, "an infinite gain", "gain is inf", INFINITY)
WRONG(orthogonal, "a gain that is NaN", "gain is nan", NAN)
WRONG(kaiming_uniform, "a that is NaN", "a is nan", .a = NAN)
WRONG(kaiming_normal, "an infinite a", "a is inf", .a = INFINITY)
WRONG(kaiming_uniform, "what is no mode", "3 is no mode", .mode = (tern_fan_mode)3)
WRONG(kaiming_normal, "what is no mode", "9 is no mode", .mode = (tern_fan_mode)9)
WRONG(kaiming_uniform, "what is no nonlinearity", "7 is no nonlinearity",
      .nonlinearity = (tern_nonlinearity)7)
WRONG(kaiming_normal, "what is no nonlinearity", "99 is no nonlinearity",
      .nonlinearity = (tern_nonlinearity)99)
WRONG(sparse, "a negative sparsity", "sparsity is -0.5", -0.5)
WRONG(sparse, "a sparsity above 1", "sparsity is 1.5", 1.5)
WRONG(sparse, "a sparsity that is NaN", "sparsity is nan", NAN)
WRONG(sparse, "a negative std", "|std -1", 0.5, .std = -1)

// ---- fans and gains -----------------------------------------------------------------------------

static int no_gain(tern_nonlinearity nonlinearity, double slope)
{
    return isnan(tern_init_calculate_gain(nonlinearity, slope)) != 0;
}

NULL_AND_DEAD(tern_init_calculate_fan, "init_calculate_fan", "t",
              tern_init_calculate_fan(NULL, TERN_FAN_IN) == -1,
              tern_init_calculate_fan(f->dead, TERN_FAN_IN) == -1)
REFUSES(tern_init_calculate_fan, "one dimension", TERN_ERR_SHAPE,
        "init_calculate_fan: t is (3,)|at least 2",
        tern_init_calculate_fan(f->vector, TERN_FAN_IN) == -1)
REFUSES(tern_init_calculate_fan, "what is no mode", TERN_ERR_ARG,
        "init_calculate_fan: 5 is no mode", tern_init_calculate_fan(f->x, (tern_fan_mode)5) == -1)
REFUSES(tern_init_calculate_gain, "what is no nonlinearity", TERN_ERR_ARG,
        "init_calculate_gain: 7 is no nonlinearity", no_gain((tern_nonlinearity)7, 0))
REFUSES(tern_init_calculate_gain, "an infinite slope", TERN_ERR_ARG,
        "init_calculate_gain: slope is inf", no_gain(TERN_NONLINEARITY_LEAKY_RELU, INFINITY))
