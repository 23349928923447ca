// SPDX-License-Identifier: Apache-2.0
// gradcheck.h
#include "errors.h"

static tern_tensor *neg(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return tern_neg(inputs[0]);
}

static tern_tensor *as_float32(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return tern_to_dtype(inputs[0], TERN_FLOAT32);
}

static tern_tensor *no_rows(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return tern_slice(inputs[0], 0, 0, 0, 1);
}

static tern_tensor *counted(tern_tensor *const *inputs, void *user)
{
    int *calls = user;
    return tern_mul_scalar(inputs[0], (*calls)++);
}

static tern_tensor *longer_each_time(tern_tensor *const *inputs, void *user)
{
    int *calls = user;
    return tern_slice(tern_reshape(inputs[0], tern_dims(-1)), 0, 0, ++*calls, 1);
}

// float64 (2, 3) that requires a gradient, in the scope of the fixture.
static tern_tensor *leaf(fixture *f)
{
    return tern_set_requires_grad(tern_clone(f->doubles), true);
}

// One input; the function is neg unless said.
static tern_status check_of(tern_gradcheck_fn *function, tern_tensor *input, void *user)
{
    return tern_gradcheck(function, &input, 1, .user = user);
}

static tern_status calls_of(tern_gradcheck_fn *function, fixture *f)
{
    int calls = 0;
    return check_of(function, leaf(f), &calls);
}

#define WRONG(what, words, ...)                                                                    \
    REFUSES(tern_gradcheck_with, what, TERN_ERR_ARG, "gradcheck: " words,                          \
            tern_gradcheck(neg, &f->leaf, 1, __VA_ARGS__))
REFUSES(tern_gradcheck_with, "options that are NULL", TERN_ERR_NULL, "gradcheck: options is NULL",
        tern_gradcheck_with(NULL))
REFUSES(tern_gradcheck_with, "a function that is NULL", TERN_ERR_NULL,
        "gradcheck: function is NULL", tern_gradcheck(NULL, &f->leaf, 1))
REFUSES(tern_gradcheck_with, "inputs that are NULL", TERN_ERR_NULL, "gradcheck: inputs is NULL",
        tern_gradcheck(neg, NULL, 1))
REFUSES(tern_gradcheck_with, "no inputs", TERN_ERR_ARG, "gradcheck: count is 0",
        tern_gradcheck(neg, &f->leaf, 0))
WRONG("an eps of 0", "eps is 0", .eps = 0)
WRONG("an eps that is NaN", "eps is nan", .eps = NAN)
WRONG("a negative atol", "atol is -1", .atol = -1)
WRONG("an rtol that is NaN", "|rtol nan", .rtol = NAN)
NULL_AND_DEAD(tern_gradcheck_with, "gradcheck", "input 0", check_of(neg, NULL, NULL),
              check_of(neg, f->dead, NULL))
REFUSES(tern_gradcheck_with, "an input that is not float64", TERN_ERR_DTYPE,
        "gradcheck: input 0 is float32|float64", check_of(neg, f->leaf, NULL))
REFUSES(tern_gradcheck_with, "an input that is no leaf", TERN_ERR_STATE,
        "gradcheck: input 0 is no leaf", check_of(neg, tern_neg(leaf(f)), NULL))
REFUSES(tern_gradcheck_with, "inputs that require no gradient", TERN_ERR_ARG,
        "gradcheck: no element of an input requires a gradient", check_of(neg, f->doubles, NULL))
REFUSES(tern_gradcheck_with, "a result that is not float64", TERN_ERR_DTYPE,
        "gradcheck: the result is float32|float64", check_of(as_float32, leaf(f), NULL))
REFUSES(tern_gradcheck_with, "a result without elements", TERN_ERR_ARG,
        "gradcheck: the result is float64 (0, 3) on cpu:0, which has no elements",
        check_of(no_rows, leaf(f), NULL))
REFUSES(tern_gradcheck_with, "other values at each call", TERN_ERR_STATE,
        "gradcheck: two calls with the same inputs gave other values", calls_of(counted, f))
REFUSES(tern_gradcheck_with, "other shapes at each call", TERN_ERR_STATE,
        "gradcheck: two calls gave float64 (1,) and float64 (2,)", calls_of(longer_each_time, f))

#define MODULE(...) tern_gradcheck_module(f->net, __VA_ARGS__)
REFUSES(tern_gradcheck_module_with, "options that are NULL", TERN_ERR_NULL,
        "gradcheck_module: options is NULL", tern_gradcheck_module_with(NULL))
REFUSES(tern_gradcheck_module_with, "a module that is NULL", TERN_ERR_NULL,
        "gradcheck_module: module is NULL", tern_gradcheck_module(NULL, &f->x, 1))
REFUSES(tern_gradcheck_module_with, "inputs that are NULL", TERN_ERR_NULL,
        "gradcheck_module: inputs is NULL", MODULE(NULL, 1))
REFUSES(tern_gradcheck_module_with, "no inputs", TERN_ERR_ARG, "gradcheck_module: count is 0",
        MODULE(&f->x, 0))
REFUSES(tern_gradcheck_module_with, "an eps of 0", TERN_ERR_ARG, "gradcheck_module: eps is 0",
        MODULE(&f->x, 1, .eps = 0))
REFUSES(tern_gradcheck_module_with, "a module that is not float64", TERN_ERR_DTYPE,
        "gradcheck_module: parameter \"0.weight\" is float32", MODULE(&f->x, 1))
