// SPDX-License-Identifier: Apache-2.0
// random.h
#include "errors.h"

// ---- generators ---------------------------------------------------------------------------------

static bool made_and_freed(tern_generator *generator)
{
    tern_generator_free(generator);
    return generator != NULL;
}

CANNOT_FAIL(tern_manual_seed, "any number is a seed", (tern_manual_seed(7), 1))
CANNOT_FAIL(tern_generator_new, "only without memory, which the suite fault looks at",
            made_and_freed(tern_generator_new(1)))
CANNOT_FAIL(tern_generator_free, "NULL is fine", (tern_generator_free(NULL), 1))
CANNOT_FAIL(tern_generator_state_size, "a constant", tern_generator_state_size() > 0)
TAKES(tern_generator_free, "NULL", (tern_generator_free(NULL), 1))

static unsigned char state[16384];

REFUSES(tern_generator_seed, "a generator that is NULL", TERN_ERR_NULL,
        "generator_seed: generator is NULL", tern_generator_seed(NULL, 1))
REFUSES(tern_default_generator, "a device that does not exist", TERN_ERR_DEVICE,
        "default_generator: |cpu:2", tern_default_generator(tern_cpu(2)))
REFUSES(tern_default_generator, "CUDA where there is none", TERN_ERR_DEVICE,
        "default_generator: |cuda:0", tern_default_generator(tern_cuda(0)))
REFUSES(tern_generator_save, "a generator that is NULL", TERN_ERR_NULL,
        "generator_save: generator is NULL", tern_generator_save(NULL, state, sizeof state))
REFUSES(tern_generator_save, "a state that is NULL", TERN_ERR_NULL, "generator_save: state is NULL",
        tern_generator_save(f->generator, NULL, sizeof state))
REFUSES(tern_generator_save, "too little room", TERN_ERR_ARG, "generator_save: |bytes, not 8",
        tern_generator_save(f->generator, state, 8))
REFUSES(tern_generator_load, "a generator that is NULL", TERN_ERR_NULL,
        "generator_load: generator is NULL", tern_generator_load(NULL, state, sizeof state))
REFUSES(tern_generator_load, "a state that is NULL", TERN_ERR_NULL, "generator_load: state is NULL",
        tern_generator_load(f->generator, NULL, sizeof state))
REFUSES(tern_generator_load, "too few bytes", TERN_ERR_ARG, "generator_load: |bytes, not 8",
        tern_generator_load(f->generator, state, 8))
REFUSES(tern_generator_load, "bytes that are no state", TERN_ERR_FORMAT, "generator_load: ",
        (memset(state, 7, sizeof state), tern_generator_load(f->generator, state, sizeof state)))

static tern_status load_with_one_bit_turned(fixture *f)
{
    if (tern_generator_save(f->generator, state, sizeof state))
        return TERN_OK;
    state[tern_generator_state_size() / 2] ^= 4;
    return tern_generator_load(f->generator, state, sizeof state);
}

REFUSES(tern_generator_load, "a state with one bit turned", TERN_ERR_FORMAT,
        "generator_load: ", load_with_one_bit_turned(f))

REFUSES(tern_generator_to_torch, "a generator that is NULL", TERN_ERR_NULL,
        "generator_to_torch: generator is NULL", tern_generator_to_torch(NULL, state, sizeof state))
REFUSES(tern_generator_to_torch, "too little room", TERN_ERR_ARG,
        "generator_to_torch: there is room for 16 bytes, not for 5056",
        tern_generator_to_torch(f->generator, state, 16))
REFUSES(tern_generator_to_torch, "bytes that are NULL", TERN_ERR_NULL,
        "generator_to_torch: bytes is NULL",
        tern_generator_to_torch(f->generator, NULL, sizeof state))
REFUSES(tern_generator_from_torch, "a generator that is NULL", TERN_ERR_NULL,
        "generator_from_torch: generator is NULL",
        tern_generator_from_torch(NULL, state, TERN_TORCH_GENERATOR_SIZE))
REFUSES(tern_generator_from_torch, "bytes that are NULL", TERN_ERR_NULL,
        "generator_from_torch: bytes is NULL",
        tern_generator_from_torch(f->generator, NULL, TERN_TORCH_GENERATOR_SIZE))
REFUSES(tern_generator_from_torch, "too few bytes", TERN_ERR_FORMAT,
        "generator_from_torch: |5056 bytes, not 8",
        tern_generator_from_torch(f->generator, state, 8))
REFUSES(tern_generator_from_torch, "bytes that are no state", TERN_ERR_FORMAT,
        "generator_from_torch: these bytes are not PyTorch's",
        (memset(state, 7, sizeof state),
         tern_generator_from_torch(f->generator, state, TERN_TORCH_GENERATOR_SIZE)))

// ---- tensors ------------------------------------------------------------------------------------

#define DRAWS(name, make)                                                                          \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))                                                              \
    REFUSES(tern_##name##_with, "a dtype that does not exist", TERN_ERR_DTYPE,                     \
            #name ": 77 is no dtype", make(.dtype = (tern_dtype)77))                               \
    REFUSES(tern_##name##_with, "a device that does not exist", TERN_ERR_DEVICE, #name ": |cpu:2", \
            make(.device = tern_cpu(2)))
#define RAND(...)     tern_rand(tern_dims(2), __VA_ARGS__)
#define RANDN(...)    tern_randn(tern_dims(2), __VA_ARGS__)
#define RANDINT(...)  tern_randint(0, 2, tern_dims(2), __VA_ARGS__)
#define RANDPERM(...) tern_randperm(4, __VA_ARGS__)
DRAWS(rand, RAND)
DRAWS(randn, RANDN)
DRAWS(randint, RANDINT)
DRAWS(randperm, RANDPERM)
REFUSES(tern_rand_with, "integers", TERN_ERR_DTYPE, "rand: |int64|floating",
        RAND(.dtype = TERN_INT64))
REFUSES(tern_randn_with, "integers", TERN_ERR_DTYPE, "randn: |int64|floating",
        RANDN(.dtype = TERN_INT64))
REFUSES(tern_rand_with, "a negative size", TERN_ERR_SHAPE, "rand: |(-1,)", tern_rand(tern_dims(-1)))
REFUSES(tern_randn_with, "a negative size", TERN_ERR_SHAPE, "randn: |(-1,)",
        tern_randn(tern_dims(-1)))
REFUSES(tern_randint_with, "a negative size", TERN_ERR_SHAPE, "randint: |(-1,)",
        tern_randint(0, 2, tern_dims(-1)))
REFUSES(tern_randint_with, "a low that is not below high", TERN_ERR_ARG, "randint: low 3|high 3",
        tern_randint(3, 3, tern_dims(2)))
REFUSES(tern_randint_with, "bounds out of the range of the dtype", TERN_ERR_ARG,
        "randint: high - 1|256|uint8", tern_randint(0, 257, tern_dims(2), .dtype = TERN_UINT8))
REFUSES(tern_randint_with, "a gradient for integers", TERN_ERR_DTYPE, "randint: |int64|gradient",
        RANDINT(.requires_grad = true))
REFUSES(tern_randperm_with, "a negative number", TERN_ERR_SHAPE, "randperm: n -1",
        tern_randperm(-1))
REFUSES(tern_randperm_with, "bool", TERN_ERR_DTYPE, "randperm: dtype is bool",
        tern_randperm(2, .dtype = TERN_BOOL))
REFUSES(tern_randperm_with, "more numbers than the dtype holds", TERN_ERR_ARG,
        "randperm: |300|uint8", tern_randperm(300, .dtype = TERN_UINT8))

#define BERNOULLI_LIKE(t) tern_bernoulli_like(t, 0.5, NULL)
#define RANDINT_LIKE(t)   tern_randint_like(t, 0, 2)
#define LIKE(name, call)  NULL_AND_DEAD(tern_##name, #name, "t", call(NULL), call(f->dead))
LIKE(bernoulli_like, BERNOULLI_LIKE)
LIKE(rand_like, tern_rand_like)
LIKE(randn_like, tern_randn_like)
LIKE(randint_like, RANDINT_LIKE)
REFUSES(tern_bernoulli_like, "a p above 1", TERN_ERR_ARG, "bernoulli_like: p is 1.5",
        tern_bernoulli_like(f->x, 1.5, NULL))
REFUSES(tern_rand_like, "integers", TERN_ERR_DTYPE, "rand_like: |int64|floating",
        tern_rand_like(f->ints))
REFUSES(tern_randn_like, "integers", TERN_ERR_DTYPE, "randn_like: |int64|floating",
        tern_randn_like(f->ints))
REFUSES(tern_randint_like, "a low that is not below high", TERN_ERR_ARG,
        "randint_like: low 2|high 1", tern_randint_like(f->x, 2, 1))

// ---- in place -----------------------------------------------------------------------------------

#define UNIFORM(t)   tern_uniform_(t, 0, 1, f->generator)
#define NORMAL(t)    tern_normal_(t, 0, 1, f->generator)
#define BERNOULLI(t) tern_bernoulli_(t, 0.5, f->generator)
#define IN_PLACE(name, call)                                                                       \
    NULL_AND_DEAD(tern_##name, #name, "t", call(NULL), call(f->dead))                              \
    REFUSES(tern_##name, "a leaf that requires a gradient", TERN_ERR_STATE,                        \
            #name ": |leaf|tern_no_grad", call(f->leaf))                                           \
    REFUSES(tern_##name, "an expanded tensor", TERN_ERR_STATE, #name ": |(4, 3)|expand",           \
            call(tern_expand(f->vector, tern_dims(4, 3))))
IN_PLACE(uniform_, UNIFORM)
IN_PLACE(normal_, NORMAL)
IN_PLACE(bernoulli_, BERNOULLI)
REFUSES(tern_uniform_, "integers", TERN_ERR_DTYPE, "uniform_: |int64|floating", UNIFORM(f->ints))
REFUSES(tern_uniform_, "a low above high", TERN_ERR_ARG, "uniform_: low 2|high 1",
        tern_uniform_(f->x, 2, 1, NULL))
REFUSES(tern_uniform_, "a bound that is infinite", TERN_ERR_ARG, "uniform_: |inf",
        tern_uniform_(f->x, 0, INFINITY, NULL))
REFUSES(tern_normal_, "integers", TERN_ERR_DTYPE, "normal_: |int64|floating", NORMAL(f->ints))
REFUSES(tern_normal_, "a negative std", TERN_ERR_ARG, "normal_: |std -1",
        tern_normal_(f->x, 0, -1, NULL))
REFUSES(tern_normal_, "a mean that is NaN", TERN_ERR_ARG, "normal_: mean nan",
        tern_normal_(f->x, NAN, 1, NULL))
REFUSES(tern_bernoulli_, "a p below 0", TERN_ERR_ARG, "bernoulli_: p is -0.5",
        tern_bernoulli_(f->x, -0.5, NULL))
