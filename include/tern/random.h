// SPDX-License-Identifier: Apache-2.0
/// @file
/// Random numbers. The CPU generator is PyTorch's (mt19937): the same seed gives the same bits for
/// rand, uniform, randint, randperm and bernoulli, and randn within 2e-6. On a CUDA device fills
/// are cuRAND's (Philox4x32-10): for a seed other numbers than the CPU's, the same each time.
///
///     tern_manual_seed(42);
///     tern_tensor *x = tern_randn(tern_dims(6, 4));
///
/// Every device has a default generator, seeded with 67280421310721, as a new one in PyTorch is,
/// until told otherwise; a call draws from the one of its device unless `.generator` names another.
/// Dropout draws from Philox4x32-10, whose counter is the number of the call and of the element:
/// the same bits on every device. A tensor that a call makes is a temporary of the innermost scope;
/// failed calls return NULL or a status, with an error pending. Threads: default generators are
/// locked; a generator of your own is used by one thread at a time.
#ifndef TERN_RANDOM_H
#define TERN_RANDOM_H

#include <tern/generator.h>
#include <tern/scope.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// `tern_rand(tern_dims(2, 3), .dtype = TERN_FLOAT64)`: uniform in [0, 1).
typedef struct tern_rand_options {
    tern_dtype dtype;          ///< floating; the default dtype unless said
    tern_device device;        ///< the default device unless said
    bool requires_grad;        ///< a leaf that collects gradients; floating dtypes only
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    tern_shape shape; ///< sizes, each 0 or more
} tern_rand_options;

#define TERN_RAND_DEFAULTS_ TERN_TENSOR_DEFAULTS_, .generator = NULL
#define TERN_RAND_FIELDS_   1, 0, (shape), (shape)
TERN_API tern_rand_options tern_rand_defaults(void);
/// Uniform in [0, 1). TERN_ERR_DTYPE for a dtype that is not floating.
TERN_API tern_tensor *tern_rand_with(const tern_rand_options *options);
/// Normal with mean 0 and standard deviation 1; fails likewise.
TERN_API tern_tensor *tern_randn_with(const tern_rand_options *options);
#define tern_rand(...)  TERN_WITH_(tern_rand, tern_rand, TERN_RAND, __VA_ARGS__)
#define tern_randn(...) TERN_WITH_(tern_randn, tern_rand, TERN_RAND, __VA_ARGS__)

/// `tern_randint(0, 10, tern_dims(64))`: integers in [low, high).
typedef struct tern_randint_options {
    tern_dtype dtype;          ///< int64 unless said
    tern_device device;        ///< the default device unless said
    bool requires_grad;        ///< a leaf that collects gradients; floating dtypes only
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    int64_t low;      ///< the least value
    int64_t high;     ///< > low; one more than the largest value
    tern_shape shape; ///< sizes, each 0 or more
} tern_randint_options;
#define TERN_RANDINT_DEFAULTS_ TERN_RAND_DEFAULTS_
#define TERN_RANDINT_FIELDS_   3, 0, (low, high, shape), (int64, int64, shape)
TERN_API tern_randint_options tern_randint_defaults(void);
/// Integers in [low, high), all as likely. TERN_ERR_ARG for an empty range and for bounds that the
/// dtype does not hold.
TERN_API tern_tensor *tern_randint_with(const tern_randint_options *options);
#define tern_randint(...) TERN_WITH_(tern_randint, tern_randint, TERN_RANDINT, __VA_ARGS__)

/// `tern_randperm(60000)`: 0 ... n - 1 in random order.
typedef struct tern_randperm_options {
    tern_dtype dtype;          ///< int64 unless said
    tern_device device;        ///< the default device unless said
    bool requires_grad;        ///< a leaf that collects gradients; floating dtypes only
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    int64_t n; ///< >= 0
} tern_randperm_options;
#define TERN_RANDPERM_DEFAULTS_ TERN_RAND_DEFAULTS_
#define TERN_RANDPERM_FIELDS_   1, 0, (n), (int64)
TERN_API tern_randperm_options tern_randperm_defaults(void);
/// (n): 0 ... n - 1 in random order. TERN_ERR_ARG when the dtype does not hold every number below
/// n, TERN_ERR_DTYPE for bool.
TERN_API tern_tensor *tern_randperm_with(const tern_randperm_options *options);
#define tern_randperm(...) TERN_WITH_(tern_randperm, tern_randperm, TERN_RANDPERM, __VA_ARGS__)

/// `tern_multinomial(p, 5, .replacement = true)`: indices drawn by weights.
typedef struct tern_multinomial_options {
    bool replacement;          ///< an index may be drawn more than once
    tern_generator *generator; ///< the CPU's default unless said; borrowed
    char reserved_;
    tern_tensor *p;      ///< (C) or (N, C): weights of float32 or float64, in sum not 0 in any row
    int64_t num_samples; ///< of each row; >= 1
} tern_multinomial_options;
#define TERN_MULTINOMIAL_DEFAULTS_ .replacement = false, .generator = NULL
#define TERN_MULTINOMIAL_FIELDS_   2, 0, (p, num_samples), (tensor, int64)
TERN_API tern_multinomial_options tern_multinomial_defaults(void);
/// int64 (num_samples) or (N, num_samples), on the device of `p`: indices of a row, each as likely
/// as its weight's share of the row's sum, in the order of drawing. Drawn on the host, which waits
/// for `p`: PyTorch's bits of the CPU on every device. No gradient. TERN_ERR_NUMERIC for a weight
/// that is negative or not finite, and for a sum that is; TERN_ERR_ARG for more samples without
/// replacement than weights above 0 (PyTorch then draws impossible ones).
TERN_API tern_tensor *tern_multinomial_with(const tern_multinomial_options *options);
#define tern_multinomial(...)                                                                      \
    TERN_WITH_(tern_multinomial, tern_multinomial, TERN_MULTINOMIAL, __VA_ARGS__)

/// 1 with probability p, else 0, each element for itself: shape, dtype and device of `t`. 0 <= p <=
/// 1 (else TERN_ERR_ARG); generator NULL: the device's default.
TERN_API tern_tensor *tern_bernoulli_like(const tern_tensor *t, double p,
                                          tern_generator *generator);
/// Uniform in [0, 1): shape, dtype (floating, else TERN_ERR_DTYPE) and device of `t`.
TERN_API tern_tensor *tern_rand_like(const tern_tensor *t);
/// Normal with mean 0 and standard deviation 1, likewise.
TERN_API tern_tensor *tern_randn_like(const tern_tensor *t);
/// Integers in [low, high): shape, dtype and device of `t`; fails as tern_randint_with.
TERN_API tern_tensor *tern_randint_like(const tern_tensor *t, int64_t low, int64_t high);

/// Overwrites a floating `t` in place with numbers uniform in [low, high), from `generator` or the
/// device's default (NULL). Returns t. Not differentiable. TERN_ERR_ARG when low > high, or
/// when one of them or high - low is beyond the dtype's largest value; TERN_ERR_STATE for a leaf
/// that requires a gradient, outside of tern_no_grad.
TERN_API tern_tensor *tern_uniform_(tern_tensor *t, double low, double high,
                                    tern_generator *generator);
/// Likewise with normal numbers; TERN_ERR_ARG when std < 0.
TERN_API tern_tensor *tern_normal_(tern_tensor *t, double mean, double std,
                                   tern_generator *generator);
/// Likewise with 1 where a draw of probability p (0 to 1) says so, else 0; any dtype.
TERN_API tern_tensor *tern_bernoulli_(tern_tensor *t, double p, tern_generator *generator);

TERN_END_DECLS

#endif
